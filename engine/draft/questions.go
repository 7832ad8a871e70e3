package draft

import (
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
)

// PortReports finds and reads the reports of ported recipes.
type PortReports interface {
	// Report returns the path of the report of a recipe, which may not exist.
	Report(recipe string) string
	// Questions returns the open questions of the port of a recipe, judged by the recipe and the
	// workload as they are now. A recipe without a report has none. If w is nil, all questions about
	// the workload count as open.
	Questions(r *recipes.Recipe, w *recipes.Workload) ([]check.Question, error)
}

// questions returns the open questions of the port of a pair. A report that can't be read is a
// question too.
func (d *Drafts) questions(p *Pair) []check.Question {
	if d.opt.PortReports == nil || p.Recipe == nil {
		return nil
	}
	open, err := d.opt.PortReports.Questions(p.Recipe, p.Workload)
	if err != nil {
		return []check.Question{{MustFix: true, Message: "its questions are unknown: " + err.Error()}}
	}
	return open
}
