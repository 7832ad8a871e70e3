package watch

import (
	"errors"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// Update is what a watcher is told: the events since the last update, and the
// whole state as it stands.
type Update struct {
	At     time.Time
	Events []event.Event // new ones, by time
	Status event.Status
	Run    results.Run      // figures so far
	Series []results.Series // the phases over time, in the order of Run.Phases
	// Recent are the figures of the last minute of the newest phase; nil before the first request.
	Recent       *results.Recent
	LastActivity time.Time // when the client last wrote a request row or a line of its log; zero before it has
	Done         bool      // the last update: nothing more will come
	Err          error     // a file could not be read; the watch goes on
}

// minStall is how long the client of a phase that runs may say nothing, at least:
// where requests take long, it is three times what the slowest hundredth takes.
const minStall = time.Minute

// StalledSince is since when a phase that runs has been silent, neither a request having ended nor a
// line having come of the client; zero as long as that is no alarm. What the run's own orchestrator
// says of it, by the limit that its plan has, comes first.
func (u Update) StalledSince(now time.Time) time.Time {
	if since := u.Status.StalledSince; !since.IsZero() && !u.Status.State.Final() {
		return since
	}
	switch u.Status.State {
	case event.Ramp, event.Settling, event.Measuring:
	case event.Unknown: // another tool's run, whose outputs are unfinished
		if len(u.Run.Phases) == 0 {
			return time.Time{}
		}
	default:
		return time.Time{}
	}
	if u.LastActivity.IsZero() {
		return time.Time{}
	}
	most := minStall
	if n := len(u.Run.Phases); n > 0 {
		if slow := u.Run.Phases[n-1].Figures.Get(results.Latency99).Value; slow > 0 && slow < 3600 {
			most = max(most, time.Duration(3*slow*float64(time.Second)))
		}
	}
	if now.Sub(u.LastActivity) < most {
		return time.Time{}
	}
	return u.LastActivity
}

// setFigures fills in what a fold tells at a time; zero: the time of the last request.
func (u *Update) setFigures(f *results.Aggregator, now time.Time) {
	u.Run = f.Snapshot(now)
	for _, p := range u.Run.Phases {
		series, err := f.Series(p.Index, 0)
		u.Series = append(u.Series, series)
		u.Err = errors.Join(u.Err, err)
	}
	if n := len(u.Run.Phases); n > 0 {
		recent, err := f.Recent(u.Run.Phases[n-1].Index, recentSeconds, now)
		if u.Err = errors.Join(u.Err, err); !recent.Until.IsZero() {
			u.Recent = &recent
		}
	}
}

// recentSeconds is what "recent" means.
const recentSeconds = 60
