package edit

import (
	"fmt"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// problem is a finding with the text that it is in.
type problem struct {
	recipes.Diagnostic
	side int // -1: in neither text, such as the cluster file
}

func (p problem) role() ui.Role {
	switch p.Severity {
	case recipes.Error:
		return ui.Bad
	case recipes.Warning:
		return ui.Warn
	}
	return ui.Muted
}

// listed orders findings for the list: errors first, then warnings, then notes,
// each in the order of the files.
func listed(ds recipes.Diagnostics, recipePath, workloadPath string) []problem {
	out := make([]problem, 0, len(ds))
	for _, sev := range []recipes.Severity{recipes.Error, recipes.Warning, recipes.Note} {
		for _, d := range ds {
			if d.Severity != sev {
				continue
			}
			p := problem{d, -1}
			switch d.File {
			case recipePath:
				p.side = recipe
			case workloadPath:
				p.side = workload
			}
			out = append(out, p)
		}
	}
	return out
}

func count(ps []problem) (errors, warnings int) {
	for _, p := range ps {
		switch p.Severity {
		case recipes.Error:
			errors++
		case recipes.Warning:
			warnings++
		}
	}
	return errors, warnings
}

// marks are the worst findings of each line of a text, by line from 0.
func marks(ps []problem, which int) map[int]ui.Role {
	out := map[int]ui.Role{}
	for _, p := range ps {
		if _, ok := out[p.Line-1]; !ok && p.side == which && p.Line > 0 { // errors come first
			out[p.Line-1] = p.role()
		}
	}
	return out
}

// bar is the timeout rule, evaluated.
type bar struct {
	checks []recipes.TimeoutCheck
	why    string // why there are none
}

// binding is the check that decides: of the level that needs most.
func (b bar) binding() (recipes.TimeoutCheck, bool) {
	for _, c := range b.checks {
		if c.Binding {
			return c, true
		}
	}
	return recipes.TimeoutCheck{}, false
}

// evaluate applies the timeout rule to the texts as they stand.
func evaluate(d engine.Draft) bar {
	file, selector := recipes.SplitSelector(d.RecipePath)
	r, _, found := recipes.Select(file, d.Recipe, selector)
	if r == nil {
		return bar{why: "the recipe can't be read: " + firstError(found)}
	}
	if len(r.Benchmark.Levels) == 0 {
		return bar{why: "the recipe gives no concurrency"}
	}
	if d.WorkloadPath == "" {
		return bar{why: "there is no workload file"}
	}
	w, found := recipes.ParseWorkload(d.WorkloadPath, d.Workload)
	if w == nil {
		return bar{why: "the workload can't be read: " + firstError(found)}
	}
	return bar{checks: recipes.CheckTimeouts(w, r.Benchmark.Levels)}
}

func firstError(ds recipes.Diagnostics) string {
	for _, d := range ds {
		if d.Severity == recipes.Error {
			return fmt.Sprintf("line %d: %s", d.Line, d.Message)
		}
	}
	return "unknown"
}
