package watch

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/follow"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/runs"
)

// FollowLog streams the lines of a log from a byte on, until the run has ended or ctx is done; a
// state that is not known is waited out. The channel is closed at the end.
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

// LogView opens logs for looking at them: one, or several merged by time. The
// channel tells when one grows, until ctx ends.
func (*Watcher) LogView(ctx context.Context, paths ...string) (*logview.View, <-chan logview.Growth, error) {
	return logview.Watch(ctx, logview.NewView(time.Local, paths...))
}

// pollInterval is how often a followed log asks whether its run has ended.
const pollInterval = 2 * time.Second

// logEnded says that nothing more comes to a log: its run has ended or, in another
// tool's folder, neither it nor the requests have grown for a while.
func (w *Watcher) logEnded(ref runs.Ref, s event.Status, path string) bool {
	if ref.Record.ID != "" {
		return w.status.Ended(ref, s, true)
	}
	for _, p := range []string{path, filepath.Join(ref.Logs, "agentperf", results.RequestsFile)} {
		if info, err := os.Stat(p); err == nil && w.now().Sub(info.ModTime()) <= runs.QuietPeriod {
			return false
		}
	}
	return true
}
