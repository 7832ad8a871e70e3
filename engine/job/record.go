package job

import (
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentperf/agentperf-tui/engine/event"
)

// recorder writes what happens to the event log and to the orchestrator's log. The
// first error of the event log is kept: a run whose records can't be written is
// reported as such at its end, and goes on until then.
type recorder struct {
	events *event.Appender
	log    io.Writer
	now    func() time.Time
	err    error
}

func (r *recorder) event(kind event.Kind, step string, data event.Data) {
	if err := r.events.Add(kind, step, data); err != nil && r.err == nil {
		r.err = err
		r.say("ERROR", err.Error())
	}
}

func (r *recorder) state(s event.State, why string, code *int) {
	r.event(event.RunState, "", event.Data{State: s, Message: why, ExitCode: code})
}

// say writes a line in srt-slurm's form.
func (r *recorder) say(severity, msg string) {
	at := r.now().Format("2006-01-02 15:04:05")
	if _, err := fmt.Fprintf(r.log, "%s [%s] %s\n", at, severity, msg); err != nil && r.err == nil {
		r.err = fmt.Errorf("write the orchestrator's log: %w", err)
	}
}

// room is what a file system must have left to count as not full, in bytes: below
// that, logs and rows are cut off somewhere.
const room = 1 << 20

// full says whether the file system of a folder is full. One that does not tell counts as not full.
func full(dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false
	}
	return st.Bavail*uint64(st.Bsize) < room || st.Files > 0 && st.Ffree == 0
}

// shorten is a line as a message quotes it.
func shorten(l string) string {
	if len(l) > 200 {
		return strings.ToValidUTF8(l[:200], "") + "…"
	}
	return l
}
