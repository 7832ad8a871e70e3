package bench

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
)

// recorder says what happens, twice: as lines in the log for people, as events
// in the client's event log for watchers. An event is of kind info, its step is what
// was done, and its seconds are how long it took.
type recorder struct {
	log    io.Writer
	events *event.Appender // nil until it is open
	now    func() time.Time
	err    error // the first line or event that could not be written
}

func (r *recorder) say(format string, args ...any) {
	_, err := fmt.Fprintf(r.log, "[bench] "+format+"\n", args...)
	r.keep(err)
}

func (r *recorder) event(name string, data event.Data) {
	if r.events != nil {
		r.keep(r.events.Add(event.Info, name, data))
	}
}

func (r *recorder) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

// note is a fact, in both.
func (r *recorder) note(name, message string) {
	r.say("%s: %s", name, message)
	r.event(name, event.Data{Message: message})
}

// step does something and records its beginning, end and time.
func (r *recorder) step(name string, do func() error) error {
	begun := r.now()
	r.note(name, "started")
	err := do()
	took := r.now().Sub(begun).Seconds()
	message := fmt.Sprintf("done in %.1f s", took)
	if err != nil {
		message = fmt.Sprintf("failed after %.1f s: %s", took, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	r.say("%s: %s", name, message)
	r.event(name, event.Data{Message: message, Seconds: took})
	return err
}
