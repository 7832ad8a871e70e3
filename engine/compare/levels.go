package compare

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// Curve gives throughput per GPU against speed per user, a point for each level
// of each run. The GPUs are those of the run's recipe, unless they are given;
// of a local run and of one whose recipe is not at hand they are unknown.
func (c *Comparer) Curve(ctx context.Context, runs []string, gpus int) ([]results.Point, error) {
	points := []results.Point{}
	for _, name := range runs {
		more, _, err := c.Levels(ctx, name, gpus)
		if err != nil {
			return nil, err
		}
		points = append(points, more...)
	}
	return points, nil
}

// Levels are a run's levels, as points of Curve, and which of them keep the
// configured service levels.
func (c *Comparer) Levels(ctx context.Context, name string, gpus int) ([]results.Point, []results.TierResult, error) {
	ref, err := c.runs.Find(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	run, err := c.runs.Results(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if gpus <= 0 {
		gpus = ref.GPUs()
	}
	return results.Curve(ref.Label(), run.Phases, gpus), results.TierResults(run.Phases, c.tiers), nil
}
