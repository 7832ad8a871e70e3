package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// missingLimit is how many times in a row the log directory must be missing before it
// counts as removed, because a network file system may briefly show an old listing.
const missingLimit = 3

// watchLogDir fails the run if its log directory is removed.
func (j *orchestrator) watchLogDir() {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	missing := 0
	for {
		select {
		case <-j.watchCtx.Done():
			return
		case <-tick.C:
		}
		if _, err := os.Stat(j.LogDir); errors.Is(err, fs.ErrNotExist) {
			missing++
		} else {
			missing = 0
		}
		if missing == missingLimit {
			send(j.watchCtx, j.fatalLines, fatalLine{line: "the run directory was removed during the run: " + j.LogDir})
			return
		}
	}
}

// watchStall reports when the client has written neither a request row nor a log line for
// longer than the plan allows, and when its output resumes. The run continues, because the
// client may be waiting for a long request.
func (j *orchestrator) watchStall(client *runningStep) {
	limit := time.Duration(client.step.StallSeconds * float64(time.Second))
	if limit <= 0 {
		return
	}
	tick := time.NewTicker(min(pollInterval, limit))
	defer tick.Stop()
	stalled := false
	size, since := int64(-1), time.Now()
	for {
		select {
		case <-j.watchCtx.Done():
			return
		case <-client.proc.Done():
			return
		case <-tick.C:
		}
		if now := j.outputSize(client); now != size {
			size, since = now, time.Now()
			if stalled {
				stalled = false
				send(j.watchCtx, j.stalls, 0)
			}
		}
		if silent := time.Since(since); silent >= limit && !stalled {
			stalled = true
			send(j.watchCtx, j.stalls, silent)
		}
	}
}

// send sends v on a channel. It returns false if ctx ends first.
func send[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// recordStall records for how long the client has written nothing; 0: its output has resumed.
func (j *orchestrator) recordStall(client *runningStep, silent time.Duration) {
	if silent == 0 {
		j.rec.logLine("INFO", client.step.Name+" writes output again")
		j.rec.event(event.Stall, client.step.Name, event.Data{Message: "output resumed"})
		return
	}
	reason := fmt.Sprintf("no request completed and no log line written for %.0f s", silent.Seconds())
	j.rec.logLine("WARNING", client.step.Name+": "+reason)
	j.rec.event(event.Stall, client.step.Name, event.Data{Message: reason, Seconds: silent.Seconds()})
}

// outputSize returns the size of the client's log and request rows in bytes.
func (j *orchestrator) outputSize(client *runningStep) int64 {
	n := int64(0)
	for _, name := range []string{client.step.Log, filepath.Join("agentperf", results.RequestsFile)} {
		if info, err := os.Stat(filepath.Join(j.LogDir, name)); err == nil {
			n += info.Size()
		}
	}
	return n
}
