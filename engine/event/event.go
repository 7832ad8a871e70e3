// Package event writes and reads the event log of a run: one JSON object per line, in files of the
// log directory. The orchestrator appends to one file and the client to another; all other
// processes only read. The state of a run is computed from these events alone, so that any
// number of watchers can start and stop at any time.
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

// version is the version of the format, field v of every event.
const version = 1

// Files of the log directory that hold events. Each has one writer.
const (
	FileName       = "events.jsonl"        // written by the orchestrator
	ClientFileName = "events.client.jsonl" // written by the client
)

// ClientStep is the step whose exit ends the run.
const ClientStep = "client"

// State is the state of a run.
type State string

// The states of a run, in the order of a successful one.
const (
	Pending   State = "pending"   // submitted, no resources yet
	Starting  State = "starting"  // servers are starting
	Ready     State = "ready"     // servers are healthy, the client is starting
	Ramp      State = "ramp"      // users are starting one after another
	Settling  State = "settling"  // all users are active, not measured yet
	Measuring State = "measuring" // in the measuring window
	Post      State = "post"      // drain, statistics, roll-up, shutdown
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Timeout   State = "timeout" // the job reached its time limit
	Unknown   State = "unknown" // can't be determined now
)

// Final reports whether a run in this state has ended.
func (s State) Final() bool {
	return s == Done || s == Failed || s == Cancelled || s == Timeout
}

// Kind is the kind of an event.
type Kind string

// The kinds of events, each with the fields of Data that it sets.
const (
	RunState  Kind = "run_state"  // State, Message; ExitCode if final
	StepStart Kind = "step_start" // PID, Log
	StepReady Kind = "step_ready" // Seconds since its start
	StepExit  Kind = "step_exit"  // ExitCode, Message
	Health    Kind = "health"     // Have, Want
	Phase     Kind = "phase"      // Phase, Concurrency, State or Message, counts
	Stall     Kind = "stall"      // Message, Seconds without output; 0: output has resumed
	Info      Kind = "info"       // Message; also Seconds and ExitCode if Step is an action of package bench
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

// Data is the union of the fields of all kinds of events.
type Data struct {
	State       State   `json:"state,omitempty"`
	Message     string  `json:"message,omitempty"`
	ExitCode    *int    `json:"exit_code,omitempty"`
	PID         int     `json:"pid,omitempty"`
	Log         string  `json:"log,omitempty"`     // file in the log directory
	Seconds     float64 `json:"seconds,omitempty"` // a duration; see the kinds
	Have        *Count  `json:"have,omitempty"`
	Want        *Count  `json:"want,omitempty"`
	Phase       *int    `json:"phase,omitempty"`
	Concurrency int     `json:"level,omitempty"` // concurrent users of the phase
	Active      int     `json:"active,omitempty"`
	Requests    int     `json:"requests,omitempty"`
	Failures    int     `json:"failures,omitempty"`
	Cut         int     `json:"cut,omitempty"` // requests cancelled at the end of the drain
}

// Count is the number of healthy workers of each role.
type Count struct {
	Prefill int `json:"prefill"`
	Decode  int `json:"decode"`
}

// Appender writes events to a file. It must be the file's only writer. It is safe for
// concurrent use.
type Appender struct {
	mu  sync.Mutex
	f   *os.File
	seq int64
	now func() time.Time
}

// OpenAppender opens or creates an event log and continues its sequence numbers. It
// terminates an incomplete last line, so that the next event starts on a new line.
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

// Add appends one event with a single write.
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

// Parse parses one line.
func Parse(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(smallfile.TrimBOM(line), &e); err != nil {
		return Event{}, problem.Errorf(problem.RunUnreadable, "parse event: %w", err)
	}
	if e.Kind == "" || e.V < 1 {
		return Event{}, problem.Errorf(problem.RunUnreadable, "parse event: kind or version is missing in %.80q", line)
	}
	return e, nil
}

// ReadLogs reads all events from a run's log directory, sorted by time. Missing event logs
// are not an error.
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

// maxLogMiB is about a hundred times the size of the event log of a long run.
const maxLogMiB = 64

// ReadFile reads all events of an event log. It skips lines that are not events, because
// the last line may be incomplete. It returns [smallfile.ErrTooLarge] for a file of more
// than 64 MiB.
func ReadFile(path string) ([]Event, error) {
	data, err := smallfile.Read(path, maxLogMiB)
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
