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

// looks is how often in a row the log dir must be missing: a file system may show
// an old listing for a moment.
const looks = 3

// guard looks after what no step tells, for as long as the run lasts: that its
// folder is there, and that its client is heard.
func (j *run) guard() {
	tick := time.NewTicker(markerEvery)
	defer tick.Stop()
	missing := 0
	for {
		select {
		case <-j.watching.Done():
			return
		case <-tick.C:
		}
		if _, err := os.Stat(j.LogDir); errors.Is(err, fs.ErrNotExist) {
			missing++
		} else {
			missing = 0
		}
		if missing == looks {
			send(j.watching, j.fatal, fatalLine{line: "the run's folder was removed while it ran: " + j.LogDir})
			return
		}
	}
}

// listen tells when a client has been silent for longer than its plan allows, and
// when it is heard again: silent is no request row and no line of its log. The run
// goes on: a client that waits for one long answer may be well.
func (j *run) listen(client *started) {
	most := time.Duration(client.step.StallSeconds * float64(time.Second))
	if most <= 0 {
		return
	}
	tick := time.NewTicker(min(markerEvery, most))
	defer tick.Stop()
	stalled := false
	size, since := int64(-1), time.Now()
	for {
		select {
		case <-j.watching.Done():
			return
		case <-client.proc.Done():
			return
		case <-tick.C:
		}
		if now := j.written(client); now != size {
			size, since = now, time.Now()
			if stalled {
				stalled = false
				send(j.watching, j.silent, 0)
			}
		}
		if silent := time.Since(since); silent >= most && !stalled {
			stalled = true
			send(j.watching, j.silent, silent)
		}
	}
}

// send hands a value over, unless ctx ends before anybody takes it.
func send[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// stall records how long the client has been silent; 0: it is heard again.
func (j *run) stall(client *started, silent time.Duration) {
	if silent == 0 {
		j.rec.say("INFO", client.step.Name+" is heard again")
		j.rec.event(event.Stall, client.step.Name, event.Data{Message: "heard again"})
		return
	}
	why := fmt.Sprintf("no request has ended and no line has come for %.0f s", silent.Seconds())
	j.rec.say("WARNING", client.step.Name+": "+why)
	j.rec.event(event.Stall, client.step.Name, event.Data{Message: why, Seconds: silent.Seconds()})
}

// written is how much there is of the client's log and rows.
func (j *run) written(client *started) int64 {
	n := int64(0)
	for _, name := range []string{client.step.Log, filepath.Join("agentperf", results.RequestsFile)} {
		if info, err := os.Stat(filepath.Join(j.LogDir, name)); err == nil {
			n += info.Size()
		}
	}
	return n
}
