package watch

import (
	"context"
	"os"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/follow"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/runs"
)

// FollowLog sends the lines of a log, starting at offset from. It closes the channel when the run
// has ended or ctx ends. It continues while the state of the run is unknown.
func (w *Watcher) FollowLog(ctx context.Context, ref runs.Ref, path string, from int64) (<-chan follow.Chunk, error) {
	stop := make(chan struct{})
	chunks, err := follow.File(ctx, path, follow.Options{From: from, Stop: stop, FinalPartial: true})
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(stop)
		tick := time.NewTicker(pollInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if s, err := runs.ReadStatus(ref.Logs); err == nil && w.logEnded(ref, w.status.Resolve(ref, s), path) {
				return
			}
		}
	}()
	return chunks, nil
}

// LogView opens one log, or several logs merged by time. The channel reports growth until ctx
// ends.
func (*Watcher) LogView(ctx context.Context, paths ...string) (*logview.View, <-chan logview.Growth, error) {
	return logview.Watch(ctx, logview.NewView(time.Local, paths...))
}

// pollInterval is how often FollowLog checks whether the run has ended.
const pollInterval = 2 * time.Second

// logEnded reports whether a log is complete: its run has ended or, for an external run,
// neither the log nor the request rows have changed for [runs.QuietPeriod].
func (w *Watcher) logEnded(ref runs.Ref, s event.Status, path string) bool {
	if ref.Record.ID != "" {
		return w.status.Ended(ref, s, true)
	}
	for _, p := range []string{path, results.RequestsPath(results.OutputDir(ref.Logs))} {
		if info, err := os.Stat(p); err == nil && w.now().Sub(info.ModTime()) <= runs.QuietPeriod {
			return false
		}
	}
	return true
}
