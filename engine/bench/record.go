package bench

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
)

// recorder writes to the log and to the client's event log. All events are of kind info. Their Step
// is the name of an action, and Seconds is its duration.
type recorder struct {
	log    io.Writer
	events *event.Appender // nil until the event log is open
	now    func() time.Time
	err    error // first write error
}

func (r *recorder) logf(format string, args ...any) {
	_, err := fmt.Fprintf(r.log, "[bench] "+format+"\n", args...)
	r.keepErr(err)
}

func (r *recorder) event(name string, data event.Data) {
	if r.events != nil {
		r.keepErr(r.events.Add(event.Info, name, data))
	}
}

func (r *recorder) keepErr(err error) {
	if r.err == nil {
		r.err = err
	}
}

// report writes a message to the log and to the event log.
func (r *recorder) report(name, message string) {
	r.logf("%s: %s", name, message)
	r.event(name, event.Data{Message: message})
}

// step calls do and records its start, end and duration.
func (r *recorder) step(name string, do func() error) error {
	begun := r.now()
	r.report(name, "started")
	err := do()
	took := r.now().Sub(begun).Seconds()
	message := fmt.Sprintf("done in %.1f s", took)
	if err != nil {
		message = fmt.Sprintf("failed after %.1f s: %s", took, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	r.logf("%s: %s", name, message)
	r.event(name, event.Data{Message: message, Seconds: took})
	return err
}
