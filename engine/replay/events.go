package replay

// eventKind is a step of a phase.
type eventKind string

// The steps of a phase, in this order. Some are left out when a phase stops
// before it has reached them.
const (
	eventPhaseStart   eventKind = "phase_start"   // the ramp-up begins
	eventRampDone     eventKind = "ramp_done"     // the last user has started, settling begins
	eventSettlingDone eventKind = "settling_done" // the measurement begins
	eventStop         eventKind = "stop"          // no new request from here on; Reason says why
	eventDrained      eventKind = "drained"       // nothing is in flight any more
	eventPhaseEnd     eventKind = "phase_end"     // the phase's files are written
)

// stopReason says why a phase stopped.
type stopReason string

// The reasons to stop.
const (
	stopTimeout     stopReason = "timeout"     // the phase's time was up
	stopCriteria    stopReason = "criteria"    // all stop criteria held
	stopInterrupted stopReason = "interrupted" // the context ended
	stopFailed      stopReason = "failed"      // this client can't go on, for instance on a full disk
)

// phaseEvent is a phase's progress, plain data to be written to a file.
type phaseEvent struct {
	Kind        eventKind   `json:"kind"`
	Time        float64     `json:"time"` // the moment it was due or happened, Unix seconds
	Phase       int         `json:"phase_idx"`
	Concurrency int         `json:"concurrency"`
	Reason      stopReason  `json:"reason,omitempty"` // set from the stop on
	Counts      phaseCounts `json:"counts"`           // of this phase so far
	Stem        string      `json:"stem"`             // the name of the phase's files without suffix
}

// phaseCounts are requests and trajectories of a phase.
type phaseCounts struct {
	Successful   int `json:"successful"`
	Failed       int `json:"failed"`
	InFlight     int `json:"in_flight"`
	CutOff       int `json:"cut_off"` // in flight when the drain's time was up; they have no row
	Trajectories int `json:"trajectories"`
}
