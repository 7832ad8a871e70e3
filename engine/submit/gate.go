package submit

import (
	"errors"
	"fmt"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/plan"
)

// errTodos says that a recipe still has placeholders of a port.
var errTodos = errors.New("open placeholders: give the real values, or submit all the same with --allow-todo")

// Ports knows the reports of the ports that recipes come from.
type Ports interface {
	// Report is where the report of a recipe lies, or would.
	Report(recipe string) string
	// Open lists the must-fix questions of a port that nobody has answered. A recipe
	// without a report has none; an empty workload is one that is not seen here.
	Open(recipe, workload string) ([]string, error)
}

// Gate says what stands against submitting a planned pair: nil is nothing. It is
// asked before the user is.
func (s *Submitter) Gate(p *draft.Pair, pl *plan.Plan, allowTodo bool) error {
	switch {
	case !p.Report.OnlyTodos():
		return ErrInvalid
	case p.Report.Todos > 0 && !allowTodo:
		return errTodos
	}
	if err := s.launcher(pl.Target).gate(p, pl); err != nil || allowTodo || s.opt.Ports == nil {
		return err
	}
	workload := "" // only the compute nodes have it
	if p.Workload != nil {
		workload = p.Workload.File
	}
	open, err := s.opt.Ports.Open(p.Recipe.File, workload)
	if err == nil && len(open) > 0 {
		err = fmt.Errorf("the port left %d must-fix questions open, the first is: %s; answer it, or submit all "+
			"the same with --allow-todo", len(open), open[0])
	}
	return err
}
