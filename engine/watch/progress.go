package watch

import (
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/runs"
)

// progress tells the phase of a client that writes no events, as the external one, by
// its rows and the plan: its run would be ready until it ends.
func (f *follower) progress(u *Update) {
	s := &u.Status
	external := f.run.Record.ID == ""
	switch {
	case external && (s.State != event.Unknown || u.At.Sub(s.Last) > runs.Quiet):
		return
	case !external && (!f.run.EventsLag(s.State) || len(s.Phases) > 0):
		return
	case !external:
		last := s.Last
		f.marks(u)
		s.Last = later(s.Last, last)
	}
	if n := len(s.Phases); n > 0 {
		s.State, s.Since = phaseState(s.Phases[n-1], f.levels, u.At)
	}
}

// marks tells when the phases of another tool's run began and were measured, by its
// rows and windows: it has no events.
func (f *follower) marks(u *Update) {
	var last time.Time
	u.Status.Phases = nil
	for _, p := range u.Run.Phases {
		s := spanOf(f.fold, p)
		if s.first.IsZero() {
			continue
		}
		u.Status.Phases = append(u.Status.Phases, s.mark(u.At))
		u.Status.Started, last = earlier(u.Status.Started, s.first), later(last, s.last)
	}
	if !last.IsZero() {
		u.Status.Last = last
	}
}
