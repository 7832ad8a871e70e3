package watch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

const harnessRun = "../../testdata/bm_agentperf_dsv4_5p1d/c1010"

func playback(t *testing.T, dir string) *Playback {
	t.Helper()
	p, err := New(nil, nil).Playback(t.Context(), external(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func (p *Playback) at(t *testing.T, when time.Time) Update {
	t.Helper()
	u, err := p.At(t.Context(), when)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// At shows only what was on disk at the time. At the end it shows the final results.
func TestPlayback(t *testing.T) {
	t.Parallel()
	p := playback(t, harnessRun)
	if d := p.To.Sub(p.From); d < 100*time.Second || d > 200*time.Second {
		t.Fatalf("it lasts %v", d)
	}
	total := func(u Update) int {
		if len(u.Run.Phases) == 0 {
			return 0
		}
		return u.Run.Phases[0].Total
	}
	states := map[event.State]bool{}
	before := -1
	var middle Update
	for i := range 11 {
		when := p.From.Add(time.Duration(i) * p.To.Sub(p.From) / 10)
		u := p.at(t, when)
		states[u.Status.State] = true
		if n := total(u); n < before {
			t.Errorf("at %v: %d rows, %d before", when, n, before)
		} else {
			before = n
		}
		if u.Done != (i == 10) || !u.At.Equal(when) {
			t.Errorf("at %v: done %v, at %v", when, u.Done, u.At)
		}
		if i == 5 {
			middle = u
		}
	}
	for _, s := range []event.State{event.Ramp, event.Measuring, event.Done} {
		if !states[s] {
			t.Errorf("never %s: %v", s, states)
		}
	}
	if w := middle.Run.Phases[0].Window; w == nil || w.Source != results.Estimated ||
		math.Abs(w.Start-1789001249) > 1e-3 || w.End > seconds(middle.At)+1e-3 {
		t.Errorf("in the middle the window is %+v", w)
	}
	if u := p.at(t, p.From.Add(-time.Hour)); total(u) != 0 || u.Status.State != event.Starting {
		t.Errorf("before its beginning: %d rows, %s", total(u), u.Status.State)
	}
}

// At does not depend on the time of the previous call.
func TestPlaybackSeeks(t *testing.T) {
	t.Parallel()
	p := playback(t, harnessRun)
	middle := p.at(t, p.From.Add(p.To.Sub(p.From)/2))
	want, err := results.Load(t.Context(), harnessRun, results.RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	last := p.at(t, p.To)
	if got, want := last.Run.Phases[0].Text(), want.Phases[0].Text(); got != want {
		t.Errorf("at the end:\n%s\nwant\n%s", got, want)
	}
	again := p.at(t, middle.At) // back
	if got, want := again.Run.Phases[0].Text(), middle.Run.Phases[0].Text(); got != want {
		t.Errorf("back in the middle:\n%s\nwant\n%s", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.At(ctx, p.To); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// timedRows returns twenty rows of half a second each, one row of an earlier start of the client,
// and three rows with a wrong time in between.
func timedRows(second func(float64) float64) string {
	const odd = `{"phase_idx":0,"concurrency":4,"user_id":1,"start_time":%f,"end_time":3.1e9,"success":true}` + "\n"
	rows := fmt.Sprintf(odd, second(0)) + `{"start_time":5,"end_time":6,"user_id":0,"success":true}` + "\n"
	for i := range 20 {
		s := second(float64(i))
		rows += fmt.Sprintf(`{"phase_idx":0,"concurrency":4,"conversation_id":"a","conversation_idx":%d,"user_id":0,`+
			`"request_id":"r","start_time":%f,"end_time":%f,"server_output_tokens":10,"success":true}`+"\n", i, s, s+0.5)
		if i == 10 || i == 19 {
			rows += fmt.Sprintf(odd, s)
		}
	}
	return rows
}

// Playback of a run of this program uses its event log, and ignores rows of an earlier start of
// the client.
func TestPlaybackUsesEventLog(t *testing.T) {
	t.Parallel()
	noon := runstest.Noon
	l := runstest.New(t).AddRun(t, "L1", "x", runstest.Host, runstest.StateEvent(event.Starting))
	second := func(s float64) float64 { return seconds(noon) + s }
	log, err := event.OpenAppender(filepath.Join(l.Logs, event.ClientFileName), func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	zero := 0
	for _, err := range []error{
		log.Add(event.StepStart, "client", event.Data{}),
		log.Add(event.Phase, "client", event.Data{Phase: &zero, Concurrency: 4, State: event.Measuring}),
		log.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	rows := timedRows(second)
	if err := os.MkdirAll(filepath.Join(l.Logs, "agentperf"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.Logs, "agentperf", results.RequestsFile),
		[]byte(strings.TrimSuffix(rows, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	p := playback(t, l.Dir)
	if !p.From.Equal(noon.Add(-time.Minute)) || p.To.Before(noon.Add(19*time.Second)) ||
		p.To.After(noon.Add(time.Minute)) {
		t.Fatalf("from %v to %v", p.From, p.To)
	}
	u := p.at(t, noon.Add(-time.Second))
	if u.Status.State != event.Starting || len(u.Run.Phases) != 0 || len(u.Events) != 1 {
		t.Errorf("before the client: %s, %d phases, %d events", u.Status.State, len(u.Run.Phases), len(u.Events))
	}
	u = p.at(t, noon.Add(4600*time.Millisecond))
	if u.Status.State != event.Measuring || len(u.Run.Phases) != 1 || u.Run.Phases[0].Total != 5 || len(u.Events) != 2 {
		t.Errorf("after five rows: %s, %+v, %d events", u.Status.State, u.Run.Phases, len(u.Events))
	}
	if u = p.at(t, p.To); len(u.Run.Phases) != 1 || u.Run.Phases[0].Total != 20 {
		t.Errorf("at the end: %+v", u.Run.Phases)
	}
}

func TestPlaybackNeedsRows(t *testing.T) {
	t.Parallel()
	b, w := bench(t)
	l := b.AddRun(t, "L2", "x", runstest.Host, runstest.StateEvent(event.Starting))
	if _, err := w.Playback(t.Context(), l); err == nil {
		t.Error("a run without outputs was played back")
	}
	if err := os.MkdirAll(filepath.Join(l.Logs, "agentperf"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.Logs, "agentperf", results.RequestsFile), []byte("{}\nnonsense\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Playback(t.Context(), l); err == nil || !strings.Contains(err.Error(), "request rows") {
		t.Errorf("rows without times: %v", err)
	}
}

// A too large statistics file is skipped.
func TestPlaybackSkipsTooLargeFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "c")
	if err := os.CopyFS(dir, os.DirFS(harnessRun)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "agentperf", "*__phase*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("statistics %v, %v", names, err)
	}
	for _, name := range names {
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, 32<<20); err != nil {
			t.Fatal(err)
		}
	}
	if p := playback(t, dir); len(p.stats) != 0 {
		t.Errorf("%d statistics were read", len(p.stats))
	}
	run, err := results.Load(t.Context(), dir, results.RunContext{})
	if err != nil || !strings.Contains(fmt.Sprint(run.Warnings), "file too large") {
		t.Errorf("%v: %v", err, run.Warnings)
	}
}
