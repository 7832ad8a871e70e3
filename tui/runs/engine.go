package runs

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine"
)

// Engine is the part of the engine that this screen uses.
type Engine interface {
	Runs(ctx context.Context, roots []string) ([]engine.Summary, error)
	Cancel(ctx context.Context, run engine.RunRef) error
}
