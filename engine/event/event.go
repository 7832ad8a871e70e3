// Package event is the event log of a run: what happened, one JSON object a line, in files of the
// log dir. The orchestrator appends to one file and the client to another; everyone else only
// reads. A run's state is a fold over these events, so that a watcher that dies loses nothing and
// any other can take over. The package knows nothing of what makes the events happen.
package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// version is the format's version, the v of every event.
const version = 1

// Files of the log dir that hold events: one writer each.
const (
	FileName       = "events.jsonl"        // the orchestrator's
	ClientFileName = "events.client.jsonl" // the client's
)

// ClientStep is the step whose end is the run's.
const ClientStep = "client"

// State is the one enumeration of run states.
type State string

// The states of a run, in the order in which a good one passes through them.
const (
	Pending   State = "pending"   // submitted, no resources yet
	Starting  State = "starting"  // servers come up
	Ready     State = "ready"     // servers are healthy, the client starts
	Ramp      State = "ramp"      // users start one after another
	Settling  State = "settling"  // all users are active, nothing counts yet
	Measuring State = "measuring" // the measured window
	Post      State = "post"      // drain, statistics, roll-up, shutdown
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Timeout   State = "timeout" // the job's wall clock ended
	Unknown   State = "unknown" // nothing answers for it now
)

// Final says whether a state is an end.
func (s State) Final() bool {
	return s == Done || s == Failed || s == Cancelled || s == Timeout
}

// Kind is what an event tells of.
type Kind string

// The kinds. Data says which of its fields each of them fills.
const (
	RunState  Kind = "run_state"  // State, Message, ExitCode at the end
	StepStart Kind = "step_start" // PID, Log
	StepReady Kind = "step_ready" // Seconds since its start
	StepExit  Kind = "step_exit"  // ExitCode, Message
	Health    Kind = "health"     // Have, Want
	Phase     Kind = "phase"      // Phase, Level, State or Message, counts
	Stall     Kind = "stall"      // Message, Seconds of silence; 0: the client is heard again
	Info      Kind = "info"       // Message; Seconds and ExitCode of what the client's step did
)

// Event is one line of the event log.
type Event struct {
	V    int       `json:"v"`
	T    time.Time `json:"t"`   // UTC
	Seq  int64     `json:"seq"` // from 1 in each file, without gaps
	Kind Kind      `json:"kind"`
	Step string    `json:"step,omitempty"`
	Data Data      `json:"data"`
}

// Data is the union of what events carry; a kind fills its own fields.
type Data struct {
	State       State   `json:"state,omitempty"`
	Message     string  `json:"message,omitempty"`
	ExitCode    *int    `json:"exit_code,omitempty"`
	PID         int     `json:"pid,omitempty"`
	Log         string  `json:"log,omitempty"`     // file in the log dir
	Seconds     float64 `json:"seconds,omitempty"` // s
	Have        *Count  `json:"have,omitempty"`
	Want        *Count  `json:"want,omitempty"`
	Phase       *int    `json:"phase,omitempty"`
	Concurrency int     `json:"level,omitempty"` // users of the phase
	Active      int     `json:"active,omitempty"`
	Requests    int     `json:"requests,omitempty"`
	Failures    int     `json:"failures,omitempty"`
	Cut         int     `json:"cut,omitempty"` // requests in flight that the stop cut off
}

// Count is a number of healthy workers by role.
type Count struct {
	Prefill int `json:"prefill"`
	Decode  int `json:"decode"`
}

// Appender writes events to one file. It is the file's only writer, safe for use
// by several goroutines.
type Appender struct {
	mu  sync.Mutex
	f   *os.File
	seq int64
	now func() time.Time
}

// OpenAppender opens an event log and goes on after its last event. A last line that was
// only half written is ended first, so that it can't swallow the next one.
func OpenAppender(path string, now func() time.Time) (*Appender, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open event log: %w", err)
	}
	a := &Appender{f: f, now: now}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read event log: %w", err), f.Close())
	}
	for _, e := range parseAll(data) {
		a.seq = max(a.seq, e.Seq)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		if _, err := f.WriteString("\n"); err != nil {
			return nil, errors.Join(fmt.Errorf("terminate the last event: %w", err), f.Close())
		}
	}
	return a, nil
}

// Add appends one event, in one write.
func (a *Appender) Add(kind Kind, step string, data Data) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seq++
	line, err := json.Marshal(Event{V: version, T: a.now().UTC(), Seq: a.seq, Kind: kind, Step: step, Data: data})
	if err != nil {
		return problem.Errorf(problem.Internal, "encode event: %w", err)
	}
	if _, err := a.f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("append event: %w", err)
	}
	return nil
}

// Close closes the file.
func (a *Appender) Close() error { return a.f.Close() }

// Parse reads one line.
func Parse(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, problem.Errorf(problem.RunUnreadable, "parse event: %w", err)
	}
	if e.Kind == "" || e.V < 1 {
		return Event{}, problem.Errorf(problem.RunUnreadable, "parse event: kind or version is missing in %.80q", line)
	}
	return e, nil
}

// ReadLogs reads all events of a run's log dir, by time; there may be none yet.
func ReadLogs(dir string) ([]Event, error) {
	var all []Event
	for _, name := range []string{FileName, ClientFileName} {
		es, err := ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		all = append(all, es...)
	}
	slices.SortStableFunc(all, func(a, b Event) int { return a.T.Compare(b.T) })
	return all, nil
}

// maxLog is a hundred times the event log of a long run, in MiB.
const maxLog = 64

// ReadFile reads all events of an event log. A line that is not an event is skipped:
// the last one may be half written at this moment. A file of more than 64 MiB is an
// error, [smallfile.ErrTooLarge].
func ReadFile(path string) ([]Event, error) {
	data, err := smallfile.Read(path, maxLog)
	if err != nil {
		return nil, fmt.Errorf("read event log: %w", err)
	}
	return parseAll(data), nil
}

func parseAll(data []byte) []Event {
	var out []Event
	for line := range bytes.Lines(data) {
		if e, err := Parse(line); err == nil {
			out = append(out, e)
		}
	}
	return out
}
