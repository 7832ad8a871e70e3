package parity

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// Engine is the part of the engine that the screen uses.
type Engine interface {
	Parity(ctx context.Context, ref, cand string, phase int, opt engine.ComparisonOptions) (engine.Comparison, error)
	References(ctx context.Context, names []string, phase int) ([]engine.Side, error)
	RunCurve(ctx context.Context, run string, gpus int) ([]results.Point, []results.TierResult, error)
	Runs(ctx context.Context, roots []string) ([]engine.Summary, error)
	WriteComparison(dir string, c engine.Comparison) (string, error)
}
