package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

func TestPhaseState(t *testing.T) {
	t.Parallel()
	plan := []results.PlannedPhase{{Phase: 0, Ramp: 30, Timeout: 300}, {Phase: 1, Ramp: 60, Timeout: 300}, {Phase: 2}}
	second := event.PhaseTimes{Phase: 1, Ramp: runstest.Noon}
	measured, stopped, unplanned := second, second, second
	unplanned.Phase = 2
	measured.Measuring = runstest.Noon.Add(90 * time.Second)
	stopped.Measuring, stopped.Stop = measured.Measuring, runstest.Noon.Add(5*time.Minute)
	for _, c := range []struct {
		name  string
		mark  event.PhaseTimes
		after time.Duration
		want  event.State
		since time.Duration
	}{
		{"ramp", second, 59 * time.Second, event.Ramp, 0},
		{"times unknown", unplanned, time.Hour, event.Ramp, 0},
		{"settling", second, time.Minute, event.Settling, time.Minute},
		{"measuring", measured, 2 * time.Minute, event.Measuring, 90 * time.Second},
		{"stopped", stopped, 6 * time.Minute, event.Post, 5 * time.Minute},
	} {
		if got, since := phaseState(c.mark, plan, runstest.Noon.Add(c.after)); got != c.want ||
			!since.Equal(runstest.Noon.Add(c.since)) {
			t.Errorf("%s: %s since %v, want %s since %v", c.name, got, since, c.want, runstest.Noon.Add(c.since))
		}
	}
}

// The state of a run whose client writes no events is inferred from its request rows.
func TestClientWithoutEvents(t *testing.T) {
	t.Parallel()
	b, w := bench(t)
	l := b.AddRun(t, "L1", "x", runstest.Host, runstest.StateEvent(event.Ready))
	dir := filepath.Join(l.Logs, "agentperf")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	row := ""
	for i, at := range []time.Duration{-40 * time.Second, -5 * time.Second} {
		begin := float64(runstest.Noon.Add(at).UnixNano()) / 1e9
		row += fmt.Sprintf(`{"phase_idx":0,"concurrency":4,"conversation_idx":%d,"user_id":%d,"request_id":"a%d",`+
			`"start_time":%f,"end_time":%f,"success":true}`+"\n", i, i, i, begin, begin+1)
	}
	if err := os.WriteFile(filepath.Join(dir, results.RequestsFile), []byte(row), 0o644); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(l.Dir, rundir.LockFile))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	updates, err := w.Watch(t.Context(), l, Options{Interval: time.Millisecond, UntilDone: true})
	if err != nil {
		t.Fatal(err)
	}
	for u := range updates {
		if len(u.Run.Phases) == 0 || u.Status.Last.IsZero() { // rows and events are read concurrently
			continue
		}
		if u.Status.State != event.Measuring || len(u.Status.Phases) != 1 || u.Status.Phases[0].Concurrency != 4 {
			t.Errorf("%s, %+v", u.Status.State, u.Status.Phases)
		}
		return
	}
	t.Fatal("no update with a phase")
}
