package runs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// A plan with a step on a node that it does not have is an error. A run that has ended has no
// shells.
func TestShells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		nodes []int
		last  event.State
		n     int
		says  string
	}{
		"one node":           {[]int{0}, event.Unknown, 1, ""},
		"run has ended":      {[]int{0}, event.Done, 0, ""},
		"index too large":    {[]int{7}, event.Unknown, 0, "no node for step"},
		"index is negative":  {[]int{-1}, event.Unknown, 0, "no node for step"},
		"step without nodes": {nil, event.Unknown, 0, "no node for step"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := runstest.New(t)
			l := b.AddRun(t, "L1", "x", "elsewhere", runstest.StateEvent(c.last))
			p := plan.Plan{
				Nodes: []plan.Node{{Name: "n1"}},
				Steps: []plan.Step{{Name: "decode_0", Nodes: c.nodes, Shell: []string{"bash"}}},
			}
			if err := smallfile.WriteJSON(filepath.Join(l.Dir, rundir.BoundFile), p, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := b.Shells(l)
			if len(got) != c.n || c.says == "" && err != nil || c.says != "" &&
				(err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
