package event

import (
	"slices"
	"time"
)

// Status is what the events of a run add up to. Its zero value is a run of which
// nothing is known yet.
type Status struct {
	State          State        `json:"state"`
	Message        string       `json:"message,omitempty"` // why, when it failed
	Since          time.Time    `json:"since,omitzero"`    // of the state
	Last           time.Time    `json:"last,omitzero"`     // of the newest event
	Started        time.Time    `json:"started,omitzero"`  // of the first event
	ExitCode       *int         `json:"exit_code,omitempty"`
	ClientExitCode *int         `json:"client_exit_code,omitempty"` // the client's own code
	Have           Count        `json:"have"`
	Want           Count        `json:"want"`
	Steps          []StepStatus `json:"steps"`
	Phases         []PhaseTimes `json:"phases"`
	StalledSince   time.Time    `json:"stalled_since,omitzero"` // of a client that says nothing while it should; zero: it does
	Queue          *QueueEntry  `json:"queue,omitempty"`        // what the scheduler says; nil where none is asked
}

// QueueEntry is a job as the scheduler shows it, with the age of that word. No event
// says it: whoever judges a run adds it to what the events add up to.
type QueueEntry struct {
	State  string    `json:"state,omitempty"`  // the scheduler's word; empty: it has no such job
	Reason string    `json:"reason,omitempty"` // why it waits
	Start  time.Time `json:"start,omitzero"`   // expected while it waits; zero: not known
	Nodes  string    `json:"nodes,omitempty"`
	// Position is its place among the Waiting jobs of its partitions, from 1 by
	// priority; 0: not known.
	Position int       `json:"position,omitempty"`
	Waiting  int       `json:"waiting,omitempty"`
	At       time.Time `json:"at,omitzero"`     // of the answer; zero: there never was one
	Error    string    `json:"error,omitempty"` // why there is no newer one: an outage
}

// StepStatus is one step's part of a run.
type StepStatus struct {
	Name     string    `json:"name"`
	State    string    `json:"state"` // starting, ready, exited
	Started  time.Time `json:"started,omitzero"`
	Seconds  float64   `json:"ready_after_seconds,omitempty"`
	ExitCode *int      `json:"exit_code,omitempty"`
	Message  string    `json:"message,omitempty"`
	Log      string    `json:"log,omitempty"`
}

// PhaseTimes is what the client said of a phase: when each part of it began.
type PhaseTimes struct {
	Phase       int       `json:"phase"`
	Concurrency int       `json:"level"`
	Ramp        time.Time `json:"ramp,omitzero"`
	Settling    time.Time `json:"settling,omitzero"`
	Measuring   time.Time `json:"measuring,omitzero"`
	Stop        time.Time `json:"stop,omitzero"`
	Reason      string    `json:"stop_reason,omitempty"`
	Cut         int       `json:"cut"`
}

// Apply folds one event in. Events of the two files may come in any order
// between them, in order within each.
func (s *Status) Apply(e Event) {
	if s.Started.IsZero() || e.T.Before(s.Started) {
		s.Started = e.T
	}
	if e.T.After(s.Last) {
		s.Last = e.T
	}
	switch e.Kind {
	case RunState:
		s.state(e)
		if e.Data.ExitCode != nil {
			s.ExitCode = e.Data.ExitCode
		}
	case StepStart:
		s.Steps = append(s.Steps, StepStatus{Name: e.Step, State: "starting", Started: e.T, Log: e.Data.Log})
	case StepReady:
		if st := s.step(e.Step); st != nil {
			st.State, st.Seconds = "ready", e.Data.Seconds
		}
	case StepExit:
		if st := s.step(e.Step); st != nil {
			st.State, st.ExitCode, st.Message = "exited", e.Data.ExitCode, e.Data.Message
		}
		if e.Step == ClientStep {
			s.ClientExitCode = e.Data.ExitCode
		}
	case Health:
		if e.Data.Have != nil {
			s.Have = *e.Data.Have
		}
		if e.Data.Want != nil {
			s.Want = *e.Data.Want
		}
	case Phase:
		s.phase(e)
	case Stall:
		s.StalledSince = time.Time{}
		if e.Data.Seconds > 0 {
			s.StalledSince = e.T.Add(-time.Duration(e.Data.Seconds * float64(time.Second)))
		}
	}
}

// state takes the newer word: the orchestrator's end is final, and a client's
// word that arrives late does not undo it.
func (s *Status) state(e Event) {
	if s.State.Final() && !e.Data.State.Final() || e.T.Before(s.Since) && !e.Data.State.Final() {
		return
	}
	s.State, s.Since = e.Data.State, e.T
	if s.State.Final() {
		s.StalledSince = time.Time{}
	}
	if e.Data.Message != "" {
		s.Message = e.Data.Message
	}
}

func (s *Status) step(name string) *StepStatus {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if s.Steps[i].Name == name {
			return &s.Steps[i]
		}
	}
	return nil
}

func (s *Status) phase(e Event) {
	if e.Data.Phase == nil {
		return
	}
	i := slices.IndexFunc(s.Phases, func(p PhaseTimes) bool { return p.Phase == *e.Data.Phase })
	if i < 0 {
		i = len(s.Phases)
		s.Phases = append(s.Phases, PhaseTimes{Phase: *e.Data.Phase, Concurrency: e.Data.Concurrency})
	}
	p := &s.Phases[i]
	switch e.Data.State {
	case Ramp:
		*p = PhaseTimes{Phase: p.Phase, Concurrency: e.Data.Concurrency, Ramp: e.T}
	case Settling:
		p.Settling = e.T
	case Measuring:
		p.Measuring = e.T
	case Post:
		p.Stop, p.Reason, p.Cut = e.T, e.Data.Message, e.Data.Cut
	}
	if e.Data.State != "" { // the phase's reason to stop is no message about the run
		s.state(Event{T: e.T, Data: Data{State: e.Data.State}})
	}
}
