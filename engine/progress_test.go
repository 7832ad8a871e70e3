package engine

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
)

func TestPhaseState(t *testing.T) {
	t.Parallel()
	plan := []results.Level{{Phase: 0, Ramp: 30}, {Phase: 1, Ramp: 60}}
	second := event.PhaseMark{Phase: 1, Ramp: noon}
	measured, stopped := second, second
	measured.Measure = noon.Add(90 * time.Second)
	stopped.Measure, stopped.Stop = measured.Measure, noon.Add(5*time.Minute)
	for _, c := range []struct {
		name  string
		mark  event.PhaseMark
		after time.Duration
		want  event.State
		since time.Duration
	}{
		{"users start", second, 59 * time.Second, event.Ramp, 0},
		{"all are active", second, time.Minute, event.Settling, time.Minute},
		{"the window is open", measured, 2 * time.Minute, event.Measuring, 90 * time.Second},
		{"it is closed", stopped, 6 * time.Minute, event.Post, 5 * time.Minute},
	} {
		if got, since := phaseState(c.mark, plan, noon.Add(c.after)); got != c.want || !since.Equal(noon.Add(c.since)) {
			t.Errorf("%s: %s since %v, want %s since %v", c.name, got, since, c.want, noon.Add(c.since))
		}
	}
}

// A client without a diary of its own: what its rows tell is what the run does.
func TestAClientWithoutADiary(t *testing.T) {
	t.Parallel()
	e := bench(t)
	l := e.run(t, "L1", "x", e.host, event.Event{Kind: event.RunState, Data: event.Data{State: event.Ready}})
	dir := filepath.Join(l.Logs, "agentperf")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	row := ""
	for i, at := range []time.Duration{-40 * time.Second, -5 * time.Second} {
		begin := float64(noon.Add(at).UnixNano()) / 1e9
		row += fmt.Sprintf(`{"phase_idx":0,"concurrency":4,"conversation_idx":%d,"user_id":%d,"request_id":"a%d","start_time":%f,"end_time":%f,"success":true}`+"\n", i, i, i, begin, begin+1)
	}
	if err := os.WriteFile(filepath.Join(dir, results.RequestsFile), []byte(row), 0o644); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(l.Dir, rundir.LockFile))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	updates, err := e.Watch(t.Context(), l, WatchOptions{Interval: time.Millisecond, UntilDone: true})
	if err != nil {
		t.Fatal(err)
	}
	for u := range updates {
		if len(u.Run.Phases) == 0 || u.Status.Last.IsZero() { // rows and diary are read side by side
			continue
		}
		if u.Status.State != event.Measuring || len(u.Status.Phases) != 1 || u.Status.Phases[0].Level != 4 {
			t.Errorf("%s, %+v", u.Status.State, u.Status.Phases)
		}
		return
	}
	t.Fatal("no update with a phase")
}
