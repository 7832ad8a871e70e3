package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/smallfile"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// bench is an engine with folders of its own and a clock that stands.
func bench(t *testing.T) *Engine {
	t.Helper()
	state := t.TempDir()
	e, err := New(Options{StateDir: state, OutputDir: t.TempDir(), Getenv: func(string) string { return "" }, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// run makes a run folder with a record, phases and the given diary.
func (e *Engine) run(t *testing.T, id, name, host string, events ...event.Event) Located {
	t.Helper()
	rec := rundir.Record{Version: 1, ID: id, Name: name, Launcher: "local", Host: host, Created: noon.Add(-time.Hour), Levels: []int{4}, Dir: filepath.Join(e.Paths.Output, id)}
	if err := os.MkdirAll(rundir.Logs(rec.Dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, v := range map[string]any{rundir.RecordFile: rec, rundir.PhasesFile: []plan.Phase{{Level: 4, TimeoutSeconds: 60}}} {
		if err := smallfile.WriteJSON(filepath.Join(rec.Dir, file), v, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.registry.Add(rec); err != nil {
		t.Fatal(err)
	}
	at := noon.Add(-time.Minute)
	diary, err := event.Append(filepath.Join(rundir.Logs(rec.Dir), event.FileName), func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if err := diary.Add(ev.Kind, ev.Step, ev.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := diary.Close(); err != nil {
		t.Fatal(err)
	}
	return Located{Dir: rec.Dir, Logs: rundir.Logs(rec.Dir), Record: rec}
}

func said(s event.State) event.Event {
	return event.Event{Kind: event.RunState, Data: event.Data{State: s}}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		elsewhere, held bool
		created         time.Duration // before now
		after           time.Duration // now, after the last event
		events          []event.Event
		want            event.State
		says            string
		log             string // of the job
	}{
		{name: "its end is final", events: []event.Event{said(event.Measuring), said(event.Done)}, want: event.Done},
		{name: "alive", held: true, events: []event.Event{said(event.Measuring)}, want: event.Measuring},
		{name: "alive, nothing said yet", held: true, want: event.Starting},
		{name: "dead without a word", events: []event.Event{said(event.Measuring)}, want: event.Failed, says: "without a word"},
		{name: "submitted a moment ago", created: time.Second, want: event.Pending},
		{name: "never started", created: time.Hour, want: event.Failed, says: "without a word"},
		{name: "on another machine, talking", elsewhere: true, events: []event.Event{said(event.Measuring)}, want: event.Measuring},
		{name: "on another machine, silent", elsewhere: true, after: time.Hour, events: []event.Event{said(event.Measuring)}, want: event.Unknown, says: "other"},
		{name: "dead of a full disk", log: "at work\nagentperf-tui: append event: no space left on device\n", events: []event.Event{said(event.Measuring)}, want: event.Failed, says: "its log says: agentperf-tui: append event: no space left"},
		{name: "dead, and its log is calm", log: "at work\n", events: []event.Event{said(event.Measuring)}, want: event.Failed, says: "without a word"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := bench(t)
			host := e.host
			if c.elsewhere {
				host = "other"
			}
			l := e.run(t, "L1", "a", host, c.events...)
			l.Record.Created = noon.Add(-c.created)
			if err := os.WriteFile(filepath.Join(l.Logs, "sweep_L1.log"), []byte(c.log), 0o644); err != nil {
				t.Fatal(err)
			}
			e.now = func() time.Time { return noon.Add(c.after) }
			if c.held {
				lock := flock.New(filepath.Join(l.Dir, rundir.LockFile))
				if err := lock.Lock(); err != nil {
					t.Fatal(err)
				}
				defer lock.Close()
			}
			s, err := e.State(l)
			if err != nil || s.State != c.want || !strings.Contains(s.Message, c.says) {
				t.Errorf("%s %q, %v; want %s with %q", s.State, s.Message, err, c.want, c.says)
			}
		})
	}
}

// A run that ends between the look at its diary and the look at its lock is not
// called dead: its last word counts.
func TestJudgeReadsTheLastWord(t *testing.T) {
	t.Parallel()
	e := bench(t)
	l := e.run(t, "L1", "a", e.host, said(event.Measuring), said(event.Done))
	stale := event.Status{State: event.Measuring}
	if s := e.judge(l, stale); s.State != event.Done {
		t.Errorf("judged %s", s.State)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	e := bench(t)
	a := e.run(t, "L1-aaaa", "dsv4", e.host)
	e.run(t, "L2-bbbb", "dsv4-long", e.host)
	for in, want := range map[string]string{
		"L1-aaaa": "L1-aaaa", "dsv4_": "L1-aaaa", "dsv4-l": "L2-bbbb", a.Dir: "L1-aaaa", a.Logs: "L1-aaaa",
	} {
		l, err := e.Find(t.Context(), in)
		if err != nil || l.Record.ID != want {
			t.Errorf("%s found %q, %v; want %s", in, l.Record.ID, err, want)
		}
	}
	for in, says := range map[string]string{"": "empty", "dsv4": "matches 2 runs: dsv4-long_L2-bbbb, dsv4_L1-aaaa", "nothing": "2 runs known here", filepath.Join(a.Dir, rundir.RecordFile): "a file"} {
		if _, err := e.Find(t.Context(), in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", in, err, says)
		}
	}
}

func TestRunsKeepsWhatCanNotBeRead(t *testing.T) {
	t.Parallel()
	e := bench(t)
	good, broken, gone := e.run(t, "L1", "good", e.host, said(event.Done)), e.run(t, "L2", "broken", e.host, said(event.Done)), e.run(t, "L3", "gone", e.host)
	if err := os.WriteFile(filepath.Join(broken.Dir, rundir.PhasesFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(gone.Dir); err != nil {
		t.Fatal(err)
	}
	runs, err := e.Runs(t.Context(), nil)
	got := map[string]event.State{}
	for _, r := range runs {
		got[r.ID] = r.State
	}
	if len(runs) != 3 || got["L1"] != event.Done || got["L2"] != event.Done || got["L3"] != event.Unknown {
		t.Errorf("runs %v", got)
	}
	if err == nil || !strings.Contains(err.Error(), "L2") {
		t.Errorf("the broken run is not told of: %v", err)
	}
	if err := e.Cancel(t.Context(), good); err != nil {
		t.Errorf("cancelling a run that has ended: %v", err)
	}
	if runs, err := e.Runs(t.Context(), []string{"/no/such/root"}); !errors.Is(err, fs.ErrNotExist) || len(runs) != 3 {
		t.Errorf("a root that is not there: %v, and %d runs beside it", err, len(runs))
	}
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                    "",
		"band_percent: 1.5\n": "",
		"tiers: [{name: a, speed_floor_tok_s: 40, ttft_ceiling_s: 5}]": "",
		"band_percent: -1\n":   "more than 0",
		"band_percent: .nan\n": "more than 0",
		"bandpercent: 1\n":     "known keys",
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readConfig(path); fmt.Sprint(err) != "<nil>" && says == "" || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
