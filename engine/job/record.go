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

// recorder writes to the event log and to the orchestrator's log. It keeps the first error,
// which Run returns at the end; until then the run continues.
type recorder struct {
	events *event.Appender
	out    io.Writer
	now    func() time.Time
	err    error
}

func (r *recorder) event(kind event.Kind, step string, data event.Data) {
	if err := r.events.Add(kind, step, data); err != nil && r.err == nil {
		r.err = err
		r.logLine("ERROR", err.Error())
	}
}

func (r *recorder) setState(s event.State, reason string, code *int) {
	r.event(event.RunState, "", event.Data{State: s, Message: reason, ExitCode: code})
}

// logLine writes a line in the format of srt-slurm.
func (r *recorder) logLine(severity, msg string) {
	at := r.now().Format("2006-01-02 15:04:05")
	if _, err := fmt.Fprintf(r.out, "%s [%s] %s\n", at, severity, msg); err != nil && r.err == nil {
		r.err = fmt.Errorf("write the orchestrator's log: %w", err)
	}
}

// minFreeBytes is the free space below which a file system counts as full, because logs and
// request rows may be truncated.
const minFreeBytes = 1 << 20

// diskFull reports whether the file system of a directory is full. It returns false if that is
// unknown.
func diskFull(dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false
	}
	return st.Bavail*uint64(st.Bsize) < minFreeBytes || st.Files > 0 && st.Ffree == 0
}

// truncateLine shortens a log line for a message.
func truncateLine(l string) string {
	if len(l) > 200 {
		return strings.ToValidUTF8(l[:200], "") + "…"
	}
	return l
}

// causeBytes is how much of the end of a log is searched for the cause of a failure.
const causeBytes = 256 << 10

// failureCause returns the cause of a step's failure from its log, as the end of a message:
// the line that [logline.Cause] finds, or the error if the log can't be read. It is empty
// for an empty log.
func failureCause(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "; log: " + err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "; log: " + err.Error()
	}
	buf := make([]byte, min(info.Size(), causeBytes))
	n, err := f.ReadAt(buf, info.Size()-int64(len(buf)))
	if err != nil && err != io.EOF {
		return "; log: " + err.Error()
	}
	return causeFromLog(buf[:n])
}

// causeFromLog returns the cause of a failure from the text of a log.
func causeFromLog(log []byte) string {
	line, explains := logline.Cause(log)
	switch {
	case line == "":
		return ""
	case explains:
		return "; log: " + truncateLine(line)
	}
	return "; last log line: " + truncateLine(line)
}
