package submit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
)

// reports are port reports that all have these open questions.
type reports []string

func (reports) Report(recipe string) string { return recipe + ".report" }

func (r reports) Open(_, workload string) ([]string, error) {
	if workload != "" {
		return nil, errors.New("no workload was given")
	}
	return r, nil
}

// Open questions of a port prevent a submission to any target.
func TestGateRejectsOpenQuestions(t *testing.T) {
	t.Parallel()
	_, s := bench(t)
	p, pl := pairFor(t, s)
	for _, c := range []struct {
		name      string
		reports   PortReports
		todos     int
		allowTodo bool
		want      string
	}{
		{"no port", nil, 0, false, ""},
		{"all questions answered", reports{}, 0, false, ""},
		{
			"open questions",
			reports{"give the GPUs", "give the nodes"},
			0, false,
			"2 must-fix questions of the port are open (first: give the GPUs)",
		},
		{"open questions, allowed", reports{"give the GPUs"}, 0, true, ""},
		{"placeholders", reports{}, 1, false, "open placeholders"},
		{"placeholders, allowed", reports{}, 1, true, ""},
	} {
		s.opt.PortReports, p.Report.Todos = c.reports, c.todos
		p.Report.Diagnostics = slices.Repeat(recipes.Diagnostics{{Severity: recipes.Error}}, c.todos)
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
