package watch

import (
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// A stall is reported only during a phase, and only after longer than requests take.
func TestStalledSince(t *testing.T) {
	t.Parallel()
	slow := results.Run{Phases: []results.Phase{{Figures: results.Figures{{Key: "e2e_p99_s", Value: 50}}}}}
	live := slow
	live.Phases = []results.Phase{{Figures: slow.Phases[0].Figures, Provisional: true}}
	for name, c := range map[string]struct {
		state event.State
		run   results.Run
		after time.Duration
		want  bool
	}{
		"measuring":        {event.Measuring, results.Run{}, 61 * time.Second, true},
		"just spoke":       {event.Measuring, results.Run{}, 59 * time.Second, false},
		"slow requests":    {event.Measuring, slow, 140 * time.Second, false},
		"too slow even so": {event.Measuring, slow, 151 * time.Second, true},
		"ramp":             {event.Ramp, results.Run{}, time.Hour, true},
		"starting":         {event.Starting, results.Run{}, time.Hour, false},
		"done":             {event.Done, slow, time.Hour, false},
		"other tool's":     {event.Unknown, live, time.Hour, true},
		"its phase ended":  {event.Unknown, slow, time.Hour, false},
		"nothing yet":      {event.Unknown, results.Run{}, time.Hour, false},
	} {
		u := Update{LastActivity: runstest.Noon, Run: c.run, Status: event.Status{State: c.state}}
		if got := u.StalledSince(runstest.Noon.Add(c.after)); got.Equal(runstest.Noon) != c.want {
			t.Errorf("%s: stalled since %v, want %v", name, got, c.want)
		}
	}
	recorded := event.Status{State: event.Ready, StalledSince: runstest.Noon}
	if s := (Update{Status: recorded}).StalledSince(runstest.Noon); !s.Equal(runstest.Noon) {
		t.Errorf("recorded by the run: %v", s)
	}
	recorded.State = event.Failed
	if s := (Update{Status: recorded}).StalledSince(runstest.Noon); !s.IsZero() {
		t.Errorf("recorded, run ended: %v", s)
	}
	if s := (Update{Status: event.Status{State: event.Measuring}}).StalledSince(runstest.Noon); !s.IsZero() {
		t.Errorf("no activity: %v", s)
	}
}
