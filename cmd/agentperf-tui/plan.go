package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/safetext"
	"github.com/agentperf/agentperf-tui/recipes"
)

// scaleFlags bind what target local plays of a run.
func scaleFlags(cmd *cobra.Command) *plan.LocalScale {
	s := &plan.LocalScale{}
	cmd.Flags().IntVar(&s.Users, "users", plan.DefaultUsers, "launcher local: users of the highest level")
	cmd.Flags().Float64Var(&s.Seconds, "seconds", plan.DefaultSeconds, "launcher local: length of a phase, its timeout")
	return s
}

// target reads --launcher.
func target(launcher string) (plan.Target, error) {
	switch launcher {
	case "slurm":
		return plan.Slurm, nil
	case "local":
		return plan.Local, nil
	case "srtctl":
		return "", badInput(fmt.Errorf("launcher srtctl: this version does not hand recipes to srtctl yet; run srtctl apply yourself, watch and results read its output"))
	}
	return "", badInput(fmt.Errorf("launcher %q: want slurm or local", launcher))
}

// planned loads and plans; with errors in the files these are printed and the
// exit code is 1.
func (a *app) planned(cmd *cobra.Command, args []string, f *engine.Files, flag, launcher string, scale plan.LocalScale) (*engine.Engine, *engine.Pair, *plan.Plan, error) {
	to, err := target(launcher)
	if err != nil {
		return nil, nil, nil, err
	}
	e, p, err := a.load(cmd, args, f, flag)
	if err != nil {
		return nil, nil, nil, err
	}
	if p.Recipe == nil || !p.Report.OnlyTodos() {
		if a.json {
			err = a.print(checkDocument(p))
		} else {
			err = a.diagnostics(p.Report.Diagnostics)
		}
		if err == nil {
			err = exitError{code: 1, err: engine.ErrInvalid}
		}
		return nil, nil, nil, err
	}
	pl, err := e.Plan(p, engine.PlanOptions{Target: to, Local: scale})
	return e, p, pl, err
}

func dryRunCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "dry-run RECIPE", Short: "Show the whole plan of a run; write nothing", Args: usage(cobra.MaximumNArgs(1)),
		Long: "Show everything that a run will do: nodes by role, mounts, files, each step's\nenvironment with its origin and its command, and the batch script. Secrets are\nhidden. {node:0} and the like stand for what is known only in the job.",
	}
	f, flag := files(cmd)
	launcher := cmd.Flags().String("launcher", "slurm", "slurm or local")
	scale := scaleFlags(cmd)
	cmd.Flags().StringVar(&a.outputDir, "output-dir", "", "base of run folders")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, p, pl, err := a.planned(cmd, args, f, *flag, *launcher, *scale)
		if err != nil {
			return err
		}
		pl = pl.Redacted()
		if a.json {
			return a.print(pl)
		}
		for _, d := range p.Report.Diagnostics {
			if d.Severity != recipes.Note {
				if err := a.note("%s\n", safetext.Clean(d.String())); err != nil {
					return err
				}
			}
		}
		return a.planText(pl)
	}
	return cmd
}

func (a *app) planText(p *plan.Plan) error {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(safetext.Clean(fmt.Sprintf(format, args...)) + "\n") }
	line("plan %s  target %s  model %s  %d nodes of %d GPUs", p.Name, p.Target, p.Model, len(p.Nodes), p.GPUsPerNode)
	line("image %s", p.Image)
	b.WriteString("\nNODES\n")
	for _, n := range p.Nodes {
		line("  %-10s %s", n.Name, strings.Join(n.Roles, ", "))
	}
	section := func(title string, n int) bool {
		if n > 0 {
			b.WriteString("\n" + title + "\n")
		}
		return n > 0
	}
	if section("PHASES", len(p.Phases)) {
		for _, ph := range p.Phases {
			line("  %d  %d users  ramp %.1f s  settling %.1f s  timeout %.1f s", ph.Index, ph.Level, ph.RampSeconds, ph.SettleSeconds, ph.TimeoutSeconds)
		}
	}
	if section("SWAPS: what this target does instead of what the recipe says", len(p.Swaps)) {
		for _, s := range p.Swaps {
			line("  %-24s %s → %s  (%s)", s.What, s.From, s.To, s.Why)
		}
	}
	if section("FROM THE CLUSTER FILE AND THE ENVIRONMENT", len(p.Changes)) {
		for _, c := range p.Changes {
			line("  %-24s %q → %q  (%s)", c.Field, c.From, c.To, c.Origin)
		}
	}
	if section("MOUNTS", len(p.Mounts)) {
		for _, m := range p.Mounts {
			line("  %s : %s  (%s)", m.Host, m.Container, m.Source)
		}
	}
	if section("FILES", len(p.Files)) {
		for _, f := range p.Files {
			line("  %s  %d bytes  (%s)", f.Path, len(f.Content), f.Source)
		}
	}
	b.WriteString("\nSTEPS\n")
	for _, s := range p.Steps {
		stepText(line, s)
	}
	if p.Script != "" {
		b.WriteString("\nBATCH SCRIPT\n")
		for l := range strings.SplitSeq(strings.TrimSuffix(p.Script, "\n"), "\n") {
			line("  %s", l)
		}
	}
	return a.say("%s", b.String())
}

func stepText(line func(string, ...any), s plan.Step) {
	nodes := make([]string, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		nodes = append(nodes, fmt.Sprint(n))
	}
	line("  %s  nodes %s  %d tasks  log %s", s.Name, strings.Join(nodes, ","), s.Tasks, s.Log)
	if r := s.Ready; r.Probe != plan.ProbeNone {
		want := ""
		if r.Probe == plan.ProbeHealth {
			want = fmt.Sprintf(" with %d prefill and %d decode workers", r.Prefill, r.Decode)
		}
		line("    ready: %s %s%s, within %d s", r.Probe, r.Target, want, r.TimeoutSeconds)
	}
	line("    on exit: %s", s.Failure)
	for _, v := range s.Env {
		beats := ""
		if v.Beats != "" {
			beats = ", beats " + v.Beats
		}
		line("    env %s=%s  (%s%s)", v.Name, v.Value, v.Origin, beats)
	}
	line("    $ %s", plan.CommandLine(s.Launch))
}
