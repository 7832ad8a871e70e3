package submit

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Open questions of a port prevent a submission to any target.
func TestGateRejectsOpenQuestions(t *testing.T) {
	t.Parallel()
	_, s := bench(t)
	p, pl := pairFor(t, s)
	for _, c := range []struct {
		name             string
		todos, questions int
		allowTodo        bool
		want             string
	}{
		{"no port, or all questions answered", 0, 0, false, ""},
		{"open questions", 0, 2, false, "open must-fix questions of the port: 2 (first: give the GPUs)"},
		{"open questions, allowed", 0, 1, true, ""},
		{"placeholders", 1, 0, false, "open placeholders"},
		{"both", 1, 1, false, "open placeholders"},
		{"both, allowed", 1, 1, true, ""},
	} {
		p.Report.Todos, p.Report.Questions = c.todos, c.questions
		p.Report.Diagnostics = recipes.Diagnostics{{Severity: recipes.Warning, Rule: "port-question"}}
		for range c.todos {
			p.Report.Diagnostics = append(p.Report.Diagnostics, recipes.Diagnostic{Severity: recipes.Error, Rule: "todo"})
		}
		for range c.questions {
			p.Report.Diagnostics = append(p.Report.Diagnostics, recipes.Diagnostic{
				Severity: recipes.Error, Rule: "port-question", Message: "give the GPUs",
			})
		}
		for _, target := range []plan.Target{plan.Slurm, plan.Srtctl} {
			pl.Target = target
			err := s.Gate(p, pl, c.allowTodo)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, to %s: %v, want %q", c.name, target, err, c.want)
			}
			if c.want == "" {
				continue
			}
			if _, aerr := s.Apply(t.Context(), p, pl, c.allowTodo); aerr == nil || aerr.Error() != err.Error() {
				t.Errorf("%s, to %s: submitted: %v", c.name, target, aerr)
			}
		}
	}
}
