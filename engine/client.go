package engine

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine/local/simulate"
	"github.com/agentperf/agentperf-tui/engine/replay"
)

// Replay runs the built-in client, see [replay.Run].
func (e *Engine) Replay(ctx context.Context, opt replay.Options) error {
	opt.Version, opt.Now = e.Version, e.now
	return replay.Run(ctx, opt)
}

// WriteReference writes the figures that a local run must have, see
// [simulate.WriteReference].
func (e *Engine) WriteReference(ctx context.Context, l RunRef, path string) error {
	return simulate.WriteReference(ctx, l.Dir, path)
}
