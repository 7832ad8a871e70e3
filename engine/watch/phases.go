package watch

import (
	"math"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/runs"
)

// phaseSpan holds the times of a phase: its first and last request, and its measuring window.
// Unknown times are zero.
type phaseSpan struct {
	phase, concurrency        int
	first, last, measure, end time.Time
}

func spanOf(a *results.Aggregator, p results.Phase) phaseSpan {
	s := phaseSpan{phase: p.Index, concurrency: p.Concurrency}
	s.first, s.last = a.PhaseSpan(p.Index)
	if w := p.Window; w != nil && w.End > w.Start {
		s.measure = fromUnix(w.Start)
		if w.Source != results.Estimated { // the end of an estimated window is the current time
			s.end = fromUnix(w.End)
		}
	}
	return s
}

// times returns the times of a phase that were known at time t, without events.
func (s phaseSpan) times(t time.Time) event.PhaseTimes {
	m := event.PhaseTimes{Phase: s.phase, Concurrency: s.concurrency, Ramp: s.first}
	if !s.measure.IsZero() && !t.Before(s.measure) {
		m.Measuring = s.measure
	}
	if !s.end.IsZero() && !t.Before(s.end) {
		m.Stop = s.end
	}
	return m
}

// phaseState returns the state of a phase and when that state began.
func phaseState(m event.PhaseTimes, planned []results.PlannedPhase, now time.Time) (event.State, time.Time) {
	switch {
	case !m.Stop.IsZero():
		return event.Post, m.Stop
	case !m.Measuring.IsZero():
		return event.Measuring, m.Measuring
	}
	for _, p := range planned {
		rampEnd := m.Ramp.Add(time.Duration(p.Ramp * float64(time.Second)))
		if p.Phase == m.Phase && p.Timeout > 0 && !now.Before(rampEnd) {
			return event.Settling, rampEnd
		}
	}
	return event.Ramp, m.Ramp
}

// fromUnix converts seconds since the Unix epoch to a time.
func fromUnix(s float64) time.Time {
	whole, fraction := math.Modf(s)
	return time.Unix(int64(whole), int64(fraction*1e9))
}

// earlier returns the earlier of two times. A zero a is ignored.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// inferPhase sets the state of a run whose client writes no events, such as the external
// client, from its request rows and the plan. Otherwise its state would stay ready until it ends.
func (f *follower) inferPhase(u *Update) {
	s := &u.Status
	external := f.run.Record.ID == ""
	switch {
	case external && (s.State != event.Unknown || u.At.Sub(s.Last) > runs.QuietPeriod):
		return
	case !external && (!f.run.EventsLag(s.State) || len(s.Phases) > 0):
		return
	case !external:
		last := s.Last
		f.inferPhaseTimes(u)
		s.Last = later(s.Last, last)
	}
	if n := len(s.Phases); n > 0 {
		s.State, s.Since = phaseState(s.Phases[n-1], f.context.Planned, u.At)
	}
}

// inferPhaseTimes sets the phase times of a run without client events from its request rows and
// measuring windows.
func (f *follower) inferPhaseTimes(u *Update) {
	var last time.Time
	u.Status.Phases = nil
	for _, p := range u.Run.Phases {
		s := spanOf(f.aggregator, p)
		if s.first.IsZero() {
			continue
		}
		u.Status.Phases = append(u.Status.Phases, s.times(u.At))
		u.Status.Started, last = earlier(u.Status.Started, s.first), later(last, s.last)
	}
	if !last.IsZero() {
		u.Status.Last = last
	}
}
