package job

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/logline"
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

// causeBytes is how much of a log's end is looked through for why a step failed.
const causeBytes = 256 << 10

// cause is what a step's log tells of its failure, as the end of a sentence: the
// first line that looks like why, for what follows it is mostly its consequence;
// else the last one. Empty for an empty log; a log that can't be read says so.
func cause(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "; its log: " + err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "; its log: " + err.Error()
	}
	buf := make([]byte, min(info.Size(), causeBytes))
	n, err := f.ReadAt(buf, info.Size()-int64(len(buf)))
	if err != nil && err != io.EOF {
		return "; its log: " + err.Error()
	}
	return causeIn(buf[:n])
}

// causeIn looks through the text of a log.
func causeIn(log []byte) string {
	line, explains := logline.Cause(log)
	switch {
	case line == "":
		return ""
	case explains:
		return "; its log says: " + shorten(line)
	}
	return "; its log ends: " + shorten(line)
}
