package report

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/runs"
)

// Load reads all that is told of a run: figures, phases over time in buckets
// of so many seconds (0 chooses them), and which level keeps which of the service levels.
func Load(ctx context.Context, ref runs.Ref, tiers []results.Tier, bucketSeconds float64) (Run, error) {
	c, err := ref.Context()
	if err != nil {
		return Run{}, err
	}
	run, series, err := results.LoadSeries(ctx, ref.Logs, c, bucketSeconds)
	if err != nil {
		return Run{}, err
	}
	return Run{Name: ref.Label(), Run: run, Series: series, Tiers: results.TierResults(run.Phases, tiers)}, nil
}
