package event

import (
	"slices"
	"time"
)

// Status is the status of a run, computed from its events with [Status.Apply]. The zero
// value is the status before the first event.
type Status struct {
	State          State        `json:"state"`
	Message        string       `json:"message,omitempty"` // reason of a failure
	Since          time.Time    `json:"since,omitzero"`    // when the state began
	Last           time.Time    `json:"last,omitzero"`     // time of the newest event
	Started        time.Time    `json:"started,omitzero"`  // time of the first event
	ExitCode       *int         `json:"exit_code,omitempty"`
	ClientExitCode *int         `json:"client_exit_code,omitempty"` // exit code of the client itself
	Have           Count        `json:"have"`                       // healthy workers
	Want           Count        `json:"want"`                       // all workers of the plan
	Steps          []StepStatus `json:"steps"`
	Phases         []PhaseTimes `json:"phases"`
	StalledSince   time.Time    `json:"stalled_since,omitzero"` // last output of a stalled client; zero: not stalled
	Queue          *QueueEntry  `json:"queue,omitempty"`        // the job in the queue of Slurm; nil for other runs
}

// QueueEntry is a job in the queue of the scheduler, with the age of this information. It
// is not part of the events; the code that resolves the status of a run adds it.
type QueueEntry struct {
	State  string    `json:"state,omitempty"`  // the scheduler's name of the state; empty: no such job
	Reason string    `json:"reason,omitempty"` // why it is pending
	Start  time.Time `json:"start,omitzero"`   // expected start of a pending job; zero: unknown
	Nodes  string    `json:"nodes,omitempty"`
	// Position is its rank by priority, from 1, among the Waiting pending jobs of its
	// partitions; 0: unknown.
	Position int       `json:"position,omitempty"`
	Waiting  int       `json:"waiting,omitempty"`
	At       time.Time `json:"at,omitzero"`     // when Slurm answered; zero: never
	Error    string    `json:"error,omitempty"` // why there is no newer answer
}

// StepStatus is the status of one step.
type StepStatus struct {
	Name     string    `json:"name"`
	State    string    `json:"state"` // starting, ready, exited
	Started  time.Time `json:"started,omitzero"`
	Seconds  float64   `json:"ready_after_seconds,omitempty"`
	ExitCode *int      `json:"exit_code,omitempty"`
	Message  string    `json:"message,omitempty"`
	Log      string    `json:"log,omitempty"`
}

// PhaseTimes holds the times at which each part of a phase began, as reported by the client.
type PhaseTimes struct {
	Phase       int       `json:"phase"`
	Concurrency int       `json:"level"`
	Ramp        time.Time `json:"ramp,omitzero"`
	Settling    time.Time `json:"settling,omitzero"`
	Measuring   time.Time `json:"measuring,omitzero"`
	Stop        time.Time `json:"stop,omitzero"`
	Reason      string    `json:"stop_reason,omitempty"`
	Cut         int       `json:"cut"` // requests cancelled at the end of the drain
}

// Apply updates the status with one event. Events of one file must come in order; those of
// the two files may be interleaved in any way.
func (s *Status) Apply(e Event) {
	if s.Started.IsZero() || e.T.Before(s.Started) {
		s.Started = e.T
	}
	if e.T.After(s.Last) {
		s.Last = e.T
	}
	switch e.Kind {
	case RunState:
		s.setState(e)
		if e.Data.ExitCode != nil {
			s.ExitCode = e.Data.ExitCode
		}
	case StepStart:
		s.Steps = append(s.Steps, StepStatus{Name: e.Step, State: "starting", Started: e.T, Log: e.Data.Log})
	case StepReady:
		if st := s.findStep(e.Step); st != nil {
			st.State, st.Seconds = "ready", e.Data.Seconds
		}
	case StepExit:
		if st := s.findStep(e.Step); st != nil {
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
		s.applyPhase(e)
	case Stall:
		s.StalledSince = time.Time{}
		if e.Data.Seconds > 0 {
			s.StalledSince = e.T.Add(-time.Duration(e.Data.Seconds * float64(time.Second)))
		}
	}
}

// setState changes the state unless the event is older than the current state. A final
// state, which the orchestrator writes, is never replaced by a late event of the client.
func (s *Status) setState(e Event) {
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

func (s *Status) findStep(name string) *StepStatus {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if s.Steps[i].Name == name {
			return &s.Steps[i]
		}
	}
	return nil
}

func (s *Status) applyPhase(e Event) {
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
		p.Stop, p.Reason = e.T, e.Data.Message
	}
	p.Cut = max(p.Cut, e.Data.Cut) // counted during the drain, after Post
	if e.Data.State != "" {        // without Message, which explains the stop of the phase, not of the run
		s.setState(Event{T: e.T, Data: Data{State: e.Data.State}})
	}
}
