package runs

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Shell is a command line that opens a shell beside a running step, on its first node.
type Shell struct {
	Step string `json:"step"`
	Node string `json:"node"`
	Line string `json:"line"`
}

// Shells returns the shells of a run's steps. There are none before the nodes of the run are
// known, for a run that has ended, for an external run, and if the plan belongs to another user.
func (s *Store) Shells(ref Ref) ([]Shell, error) {
	out := []Shell{}
	if ref.Record.ID == "" {
		return out, nil
	}
	if s, err := s.State(ref); err != nil || s.State.Final() {
		return out, err
	}
	var p plan.Plan
	err := rundir.ReadPlan(ref.Dir, &p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("shells of %s: %w", ref.Label(), err)
	}
	for _, s := range p.Steps {
		if len(s.Shell) == 0 || len(p.Placeholders()) > 0 {
			continue
		}
		if len(s.Nodes) == 0 || s.Nodes[0] < 0 || s.Nodes[0] >= len(p.Nodes) {
			return out, problem.Errorf(problem.RunUnreadable, "shells of %s: the plan has no node for step %q",
				ref.Label(), s.Name)
		}
		out = append(out, Shell{Step: s.Name, Node: p.Nodes[s.Nodes[0]].Name, Line: plan.CommandLine(s.Shell)})
	}
	return out, nil
}
