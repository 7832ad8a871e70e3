package runs

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine"
)

// Engine is what this screen needs.
type Engine interface {
	Runs(ctx context.Context, roots []string) ([]engine.Summary, error)
	Cancel(ctx context.Context, run engine.RunRef) error
}
