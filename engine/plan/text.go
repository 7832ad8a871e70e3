package plan

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

// Section is one part of a plan for display.
type Section struct {
	Title string
	Lines []string
}

// Sections returns the plan for display: nodes, phases, differences from the recipe, mounts and
// files, then every step and the batch script. Redact the plan first.
func (p *Plan) Sections() []Section {
	var out []Section
	add := func(title string, lines []string) {
		if len(lines) > 0 {
			out = append(out, Section{title, lines})
		}
	}
	add("NODES", mapStrings(p.Nodes, func(n Node) string {
		return texttable.AlignLeft(n.Name, 10) + " " + strings.Join(n.Roles, ", ")
	}))
	add("PHASES", mapStrings(p.Phases, func(ph Phase) string {
		if !ph.Known() {
			return fmt.Sprintf("%d  %d users  times unknown: no workload file", ph.Index, ph.Concurrency)
		}
		return fmt.Sprintf("%d  %d users  ramp %.1f s  settling %.1f s  timeout %.1f s",
			ph.Index, ph.Concurrency, ph.RampSeconds, ph.SettlingSeconds, ph.TimeoutSeconds)
	}))
	add("SUBSTITUTIONS: where this plan differs from the recipe", mapStrings(p.Substitutions, func(s Substitution) string {
		return fmt.Sprintf("%s %s → %s  (%s)", texttable.AlignLeft(s.What, 26), s.From, s.To, s.Why)
	}))
	add("SITE: values from the cluster file and the environment", mapStrings(p.Changes, func(c recipes.Change) string {
		return fmt.Sprintf("%s %q → %q  (%s)", texttable.AlignLeft(c.Field, 26), c.From, c.To, c.Origin)
	}))
	add("MOUNTS", mapStrings(p.Mounts, func(m Mount) string {
		return fmt.Sprintf("%s : %s  (%s)", m.Host, m.Container, m.Source)
	}))
	add("FILES", mapStrings(p.Files, func(f File) string {
		source := f.Source
		for _, d := range f.Defaults {
			source += fmt.Sprintf("; default %s: %s", d.Key, d.Value)
		}
		return fmt.Sprintf("%s  %d lines  (%s)", f.Path, strings.Count(f.Content, "\n"), source)
	}))
	for _, s := range p.Steps {
		add("STEP "+s.Name, s.lines())
	}
	if p.Script != "" {
		add("BATCH SCRIPT", strings.Split(strings.TrimSuffix(p.Script, "\n"), "\n"))
	}
	return out
}

// mapStrings returns line(v) for every item v.
func mapStrings[T any](in []T, line func(T) string) []string {
	out := make([]string, 0, len(in))
	for _, v := range in {
		out = append(out, line(v))
	}
	return out
}

func (s Step) lines() []string {
	nodes := strings.ReplaceAll(recipes.JoinInts(s.Nodes), ",", ", ")
	out := []string{fmt.Sprintf("nodes %s  %d tasks  log %s", nodes, s.Tasks, s.Log)}
	if r := s.Ready; r.Probe == ProbeExit {
		out = append(out, "ready: once it has exited with code 0")
	} else if r.Probe != ProbeNone {
		want := ""
		if r.Probe == ProbeHealth {
			want = fmt.Sprintf(" with %d prefill and %d decode workers", r.Prefill, r.Decode)
		}
		out = append(out, fmt.Sprintf("ready: %s %s%s, within %d s", r.Probe, r.Target, want, r.TimeoutSeconds))
	}
	out = append(out, "on exit: "+s.Failure)
	if s.StallSeconds > 0 {
		text := "stalled: after %g s without a request row or log line; the run continues"
		out = append(out, fmt.Sprintf(text, s.StallSeconds))
	}
	for _, f := range s.Fatal {
		out = append(out, "fatal log pattern: "+f)
	}
	for _, v := range s.Env {
		overrides := ""
		if v.Overrides != "" {
			overrides = ", overrides " + v.Overrides
		}
		out = append(out, fmt.Sprintf("env %s=%s  (%s%s)", v.Name, v.Value, v.Origin, overrides))
	}
	out = append(out, "$ "+CommandLine(s.Launch))
	if len(s.Shell) > 0 {
		out = append(out, "shell on its node: "+CommandLine(s.Shell))
	}
	return out
}
