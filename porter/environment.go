package porter

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// environment sets the variables of the workers or the frontend according to the tables in package rules.
type environment struct {
	*porting
	process rules.Process
	base    string // recipe field
}

func (e *environment) fields(vars []harness.Var) {
	renames := rules.Renames(e.process, vars)
	written := map[string]bool{}
	for _, v := range vars {
		rule := rules.VariableOf(e.process, v.Name)
		switch {
		case rule.Action == rules.Drop:
			e.drop(e.base, v.Name, "drop", rule.Why, v.At)
			continue
		case rule.Action == "" && renames[v.Name] != "":
			e.drop(e.base, v.Name, "replaced by "+renames[v.Name], rules.WhyReplaced, v.At)
			continue
		}
		name := v.Name
		text, from := e.rewritePath(v.Value, v.At)
		if rule.Action == rules.Rename {
			name = rule.To
			from.class = Translated
			from.rule = rules.Join("rename "+rule.Name+" → "+rule.To, from.rule)
			from.why = rules.Join(rule.Why, from.why)
		}
		written[name] = true
		e.setRecipeEntry(e.base, name, quoted(text), from)
		e.askValue(recipes.Join(e.base, name), text, v)
	}
	for _, r := range rules.Added(e.process) {
		if !written[r.Name] {
			from := origin{class: Default, rule: "add " + r.Name + "=" + r.To, why: r.Why}
			e.setRecipeEntry(e.base, r.Name, quoted(r.To), from)
		}
	}
}

// askValue asks about the value of a variable. Processes with the same value share a question.
func (e *environment) askValue(path, text string, v harness.Var) {
	ask := func(kind TodoKind, topic, message string) {
		e.askOnce(topic+" "+v.Name+"="+text, topic,
			Todo{Kind: kind, File: Recipe, Path: path, Message: message, Evidence: evidence(v.At)})
	}
	if v.HasCommas {
		ask(Note, "commas", fmt.Sprintf("srun splits --export at every comma, so the old job got %q; "+
			"the intended value %q is written", secret.Redact(v.Name, v.Truncated), secret.Redact(v.Name, v.Value)))
	}
	if v.UnquotedSpace {
		ask(Confirm, "space",
			"the value contains an unquoted space in the launch line: confirm that it is part of the value")
	}
	e.askPath(path, text, v.At)
	e.askVariable(path, text, v.At)
}

// askPath asks about an absolute path in an engine config or an environment, and about an old
// prefix that is not at the beginning of a value. There is one question about each path.
func (p *porting) askPath(path, text string, at Evidence) {
	ask := func(topic, message string) {
		p.askOnce(topic+" "+text, topic,
			Todo{Kind: Confirm, File: Recipe, Path: path, Message: message, Evidence: evidence(at)})
	}
	switch {
	case !strings.HasPrefix(text, "/") || path == clientEnv+".AGENTPERF_BASE_PATH": // a path of URLs
	case p.isMounted(text) || p.run.Params["CONTAINER_MOUNTS"].Text == "":
		ask("readable", "confirm that the compute containers can read this path; copy it if it belongs to another user")
	default:
		ask("readable",
			"no extra_mount covers this path, so only the image can contain it: confirm that it does, or mount it")
	}
	if old := p.rewrites.FindInside(text); old != "" {
		ask("inside", fmt.Sprintf("contains %s, but only prefixes are rewritten: correct it by hand if necessary", old))
	}
}

// askBareNames asks about variables that came from the submitting shell.
func (e *environment) askBareNames(l *harness.Launch) {
	for _, v := range l.BareNames {
		if rules.VariableOf(e.process, v.Text).Action != rules.Drop {
			e.askOnce("export "+v.Text, "export "+v.Text, Todo{
				Kind: Confirm, File: Recipe, Path: e.base, Evidence: evidence(v.At), Steps: []string{l.Name()},
				Message: fmt.Sprintf("--export names %s without a value; it came from the submitting shell: add it if it is needed",
					safetext.Clip(v.Text, 60)),
			})
		}
	}
}

// compareWorkers asks about variables in which the workers of a role differ from the first one,
// whose environment is written. Dropped variables are ignored.
func (e *environment) compareWorkers(ws []*harness.Launch) {
	first := ws[0].Env
	want := make(map[string]harness.Var, len(first))
	for _, v := range first {
		want[v.Name] = v
	}
	quote := func(v harness.Var) string {
		return fmt.Sprintf("%q", safetext.Clip(secret.Redact(v.Name, v.Value), 60))
	}
	const unset = "not set"
	var report diffReport
	for _, w := range ws[1:] {
		if !w.HasEnv && ws[0].HasEnv {
			e.askOnce(e.base+" list", "list", Todo{
				Kind: Confirm, File: Recipe, Path: e.base, Evidence: evidence(w.At("", "", 0)), Steps: []string{w.Name()},
				Message: fmt.Sprintf("no list of variables in the launch line, unlike that of %s, which is written: confirm that "+
					"it was the same", ws[0].Name()),
			})
			continue
		}
		have := map[string]bool{}
		for _, v := range w.Env {
			have[v.Name] = true
			ref, known := want[v.Name]
			if known && ref.Value == v.Value || rules.IsDropped(v.Name) {
				continue
			}
			firstValue := unset
			if known {
				firstValue = quote(ref)
			}
			report.add(v.Name, w.Name(), quote(v), firstValue, v.At)
		}
		for _, v := range first {
			if !have[v.Name] && !rules.IsDropped(v.Name) {
				report.add(v.Name, w.Name(), unset, quote(v), v.At)
			}
		}
	}
	firstWorker := ws[0].Name()
	for _, d := range report.rows {
		name := d.name
		if r := rules.VariableOf(rules.Worker, name); r.Action == rules.Rename {
			name = r.To
		}
		e.ask(Confirm, Recipe, recipes.Join(e.base, name), "differs", evidence(d.at),
			"%s differs in %s (%s, but %s in %s): a role has one environment; that of %s is written",
			strings.Join(d.workers, ", "), d.name, d.other, d.first, firstWorker, firstWorker)
	}
}

// diffReport collects differences. Workers that differ in the same way share one row.
type diffReport struct{ rows []diffRow }

type diffRow struct {
	name, other, first string
	workers            []string
	at                 Evidence
}

func (r *diffReport) add(name, worker, other, first string, at Evidence) {
	for i := range r.rows {
		if d := &r.rows[i]; d.name == name && d.other == other {
			if len(d.workers) < 16 {
				d.workers = append(d.workers, worker)
			}
			return
		}
	}
	if len(r.rows) < maxProblems {
		r.rows = append(r.rows, diffRow{name, other, first, []string{worker}, at})
	}
}
