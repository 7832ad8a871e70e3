package runs

import (
	"slices"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// TestUnknownLevel checks that an unknown number of users is no level of an external run.
func TestUnknownLevel(t *testing.T) {
	t.Parallel()
	var s Summary
	s.fillExternal(Ref{}, results.Run{Phases: []results.Phase{{Concurrency: 64}, {Index: 1}}})
	if !slices.Equal(s.Levels, []int{64}) {
		t.Errorf("%v", s.Levels)
	}
	s.fillExternal(Ref{}, results.Run{Phases: []results.Phase{{}}})
	if len(s.Levels) != 0 {
		t.Errorf("%v", s.Levels)
	}
}
