package submit

import (
	"context"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/recipes"
)

func TestWithDeadlineAbandonsHangingRead(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{})
	defer close(hangs)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if got := withDeadline(ctx, 1, func(int) int { <-hangs; return 2 }); got != 1 {
		t.Errorf("got %d", got)
	}
	if got := withDeadline(t.Context(), 1, func(v int) int { return v + 1 }); got != 2 {
		t.Errorf("got %d", got)
	}
}

// A dataset that only the compute nodes have is recorded without a hash. There is no hash of all
// datasets then, since it would be that of other contents.
func TestDatasetOnComputeNodesOnly(t *testing.T) {
	t.Parallel()
	_, s := bench(t)
	p, pl := pairFor(t, s)
	p.Workload = &recipes.Workload{TrajectoryPath: p.Recipe.File, AssignmentsPath: "/compute/nodes/only"}
	id := s.identify(t.Context(), p, pl, nil)
	if len(id.Datasets) != 2 || id.Datasets[0].SHA256 == "" || id.Datasets[1].Path != "/compute/nodes/only" ||
		id.Datasets[1].SHA256 != "" || id.DatasetHash() != "" {
		t.Errorf("%+v", id.Datasets)
	}
}
