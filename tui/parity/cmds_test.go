package parity

import (
	"slices"
	"testing"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// The first phase is only tried if a run has several phases, not after other errors.
func TestOnlyMissingPhaseIsRetried(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		many bool
		err  error
		want []int // phases that were tried
	}{
		{many: true, want: []int{engine.AnyPhase, 0}},
		{err: problem.New(problem.ResultsNotFound, "no request rows"), want: []int{engine.AnyPhase}},
	} {
		f := within()
		f.many, f.err = c.many, c.err
		newRig(t, f, "a", "b")
		var got []int
		for _, call := range f.calls {
			got = append(got, call.phase)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("with error %v: compared phases %v, want %v", c.err, got, c.want)
		}
	}
}
