package engine

import (
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// progress tells the phase of a client that keeps no diary, as the external one, by
// its rows and the plan: its run would be ready until it ends.
func (w *watcher) progress(u *Update) {
	s := &u.Status
	foreign := w.l.Record.ID == ""
	switch {
	case foreign && (s.State != event.Unknown || u.At.Sub(s.Last) > quiet):
		return
	case !foreign && (!w.l.undiaried(s.State) || len(s.Phases) > 0):
		return
	case !foreign:
		last := s.Last
		w.marks(u)
		s.Last = later(s.Last, last)
	}
	if n := len(s.Phases); n > 0 {
		s.State, s.Since = phaseState(s.Phases[n-1], w.known.Levels, u.At)
	}
}

// undiaried says whether a run in this state may be further than its diary tells:
// the client keeps none, or, as with srtctl, nobody does.
func (l Located) undiaried(s event.State) bool {
	return s == event.Ready || s == event.Starting && l.Record.Launcher == string(plan.Srtctl)
}

// phaseState is what a phase does at a time by its marks, and since when.
func phaseState(m event.PhaseMark, levels []results.Level, now time.Time) (event.State, time.Time) {
	switch {
	case !m.Stop.IsZero():
		return event.Post, m.Stop
	case !m.Measure.IsZero():
		return event.Measuring, m.Measure
	}
	for _, l := range levels {
		if full := m.Ramp.Add(time.Duration(l.Ramp * float64(time.Second))); l.Phase == m.Phase && !now.Before(full) {
			return event.Settling, full
		}
	}
	return event.Ramp, m.Ramp
}

// progress is the same for the list of runs, by the figures so far.
func (s *Summary) progress(run results.Run) {
	if n := len(run.Phases); n > 0 && s.Located.undiaried(s.State) {
		s.State = event.Settling
		if w := run.Phases[n-1].Window; w != nil && w.End > w.Start {
			s.State = event.Measuring
		}
	}
}
