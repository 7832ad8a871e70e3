package watch

import (
	"errors"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// Update is one message of a watch: the events since the last update, and the current status
// and results.
type Update struct {
	At     time.Time
	Events []event.Event // new ones, by time
	Status event.Status
	Run    results.Run      // results so far
	Series []results.Series // time series of the phases, in the order of Run.Phases
	// Recent holds the figures of the last minute of the newest phase; nil before the first request.
	Recent       *results.Recent
	LastActivity time.Time // when the client last wrote a request row or log line; zero: not yet
	Done         bool      // this is the last update
	Err          error     // a file could not be read; the watch continues
}

// minStall is the shortest time without output that counts as a stall. If requests take long,
// it is three times the 99th percentile of their latency.
const minStall = time.Minute

// StalledSince returns the time of the last output of a stalled client, which has written neither a
// request row nor a log line during a phase. It is zero if the client is not stalled. A stall that
// the orchestrator has recorded takes precedence.
func (u Update) StalledSince(now time.Time) time.Time {
	if since := u.Status.StalledSince; !since.IsZero() && !u.Status.State.Final() {
		return since
	}
	switch u.Status.State {
	case event.Ramp, event.Settling, event.Measuring:
	case event.Unknown: // an external run with incomplete output, which may have ended
		if n := len(u.Run.Phases); n == 0 || !u.Run.Phases[n-1].Provisional {
			return time.Time{}
		}
	default:
		return time.Time{}
	}
	if u.LastActivity.IsZero() {
		return time.Time{}
	}
	limit := minStall
	if n := len(u.Run.Phases); n > 0 {
		if latency := u.Run.Phases[n-1].Figures.Get(results.Latency99).Value; latency > 0 && latency < 3600 {
			limit = max(limit, time.Duration(3*latency*float64(time.Second)))
		}
	}
	if now.Sub(u.LastActivity) < limit {
		return time.Time{}
	}
	return u.LastActivity
}

// setFigures sets the results at a time; zero: the time of the last request.
func (u *Update) setFigures(a *results.Aggregator, now time.Time) {
	a.SetRunning(!now.IsZero())
	u.Run = a.Snapshot(now)
	for _, p := range u.Run.Phases {
		series, err := a.Series(p.Index, 0)
		u.Series = append(u.Series, series)
		u.Err = errors.Join(u.Err, err)
	}
	if n := len(u.Run.Phases); n > 0 {
		recent, err := a.Recent(u.Run.Phases[n-1].Index, recentSeconds, now)
		if u.Err = errors.Join(u.Err, err); !recent.Until.IsZero() {
			u.Recent = &recent
		}
	}
}

// recentSeconds is the length of the period of Update.Recent.
const recentSeconds = 60
