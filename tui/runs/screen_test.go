package runs

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var now = time.Date(2026, 11, 30, 14, 2, 11, 0, time.UTC)

type fakeEngine struct {
	runs      []engine.Summary
	err       error
	cancelled []string
	block     chan struct{} // nil: answers at once
}

func (f *fakeEngine) Runs(ctx context.Context, _ []string) ([]engine.Summary, error) {
	if f.block != nil {
		select {
		case <-f.block:
		case <-ctx.Done():
		}
	}
	return f.runs, f.err
}

func (f *fakeEngine) Cancel(_ context.Context, l engine.RunRef) error {
	f.cancelled = append(f.cancelled, l.Dir)
	return nil
}

// figures returns the figures of a run that the list shows.
func figures(output, ttft, cache float64) results.Figures {
	return results.Figures{
		{Key: results.Primary, Value: output}, {Key: results.TTFT95, Value: ttft}, {Key: "cache_hit_rate", Value: cache},
	}
}

func fourRuns() []engine.Summary {
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	return []engine.Summary{
		{
			ID: "L20261130T133100-1a2b", Name: "dsv4-5p1d-c1010-parity", Dir: "/runs/1", Source: "local", State: event.Measuring,
			Since: at(2 * time.Second), Levels: []int{1010},
			Figures: figures(60573.2, 2.495, 0.967),
			Ref:     engine.RunRef{Dir: "/runs/1", Record: engine.Record{ID: "x", Name: "y"}},
			Status: event.Status{
				Last: at(2 * time.Second),
				Phases: []event.PhaseTimes{{
					Ramp: at(1861 * time.Second), Settling: at(852 * time.Second), Measuring: at(612 * time.Second),
				}},
			},
			Plan: []plan.Phase{{RampSeconds: 1009, SettlingSeconds: 240, TimeoutSeconds: 2400}},
		},
		{
			Name: "dsv4-5p1d/c1010", Dir: "/h/c1010", Source: "harness", State: event.Done, Since: at(50 * time.Hour),
			Levels: []int{1010}, Figures: figures(60822.2, 2.562, math.NaN()),
		},
		{
			ID: "L20261130T100000-ffff", Name: "qwen3-4p2d-v2", Dir: "/runs/3", Source: "local", State: event.Failed,
			Since: at(4 * time.Hour), Levels: []int{64, 768},
			Message: "prefill_2 exited with code 1 before the run's end; last log line: CUDA \x1b[31mout of memory",
		},
		{
			ID: "L20261130T140000-0000", Name: "dsv4-8p2d-c2048", Dir: "/runs/4", Source: "local", State: event.Pending,
			Since: at(2 * time.Minute), Levels: []int{2048},
		},
	}
}

func screen(f *fakeEngine) (*Screen, *tui.Model) {
	s := New(f, ui.NewTheme(true), nil)
	return s, tui.New(nil, s, tui.Options{Dark: true})
}

func loaded(f *fakeEngine) (*Screen, *tui.Model) {
	s, m := screen(f)
	s.Update(loadedMsg{runs: f.runs, at: now, err: f.err})
	return s, m
}

func TestFrames(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func() *tui.Model{
		"reading": func() *tui.Model { _, m := screen(&fakeEngine{}); return m },
		"empty":   func() *tui.Model { _, m := loaded(&fakeEngine{}); return m },
		"four":    func() *tui.Model { _, m := loaded(&fakeEngine{runs: fourRuns()}); return m },
		"failed": func() *tui.Model {
			s, m := loaded(&fakeEngine{runs: fourRuns()})
			press(s, "down", "down")
			return m
		},
		"filter": func() *tui.Model {
			s, m := loaded(&fakeEngine{runs: fourRuns()})
			press(s, "/", "d", "s", "v")
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frametest.Golden(t, name, make())
		})
	}
}

func press(s *Screen, keys ...string) (last tea.Msg) {
	for _, k := range frametest.Keys(keys...) {
		if cmd := s.Update(k); cmd != nil {
			last = cmd()
		}
	}
	return last
}

func TestKeysOpenScreens(t *testing.T) {
	t.Parallel()
	s, _ := loaded(&fakeEngine{runs: fourRuns()})
	s.SetSize(120, 36)
	for _, c := range []struct {
		keys []string
		want tea.Msg
	}{
		{[]string{"enter"}, ui.OpenRun{Run: "/runs/1"}},
		{[]string{"down", "enter"}, ui.OpenRun{Run: "/h/c1010"}},
		{[]string{"p"}, ui.OpenPort{}},
		{[]string{"c", "down", "c"}, ui.OpenParity{Ref: "/h/c1010", Cand: "/runs/3"}},
		{[]string{"n", "r", ".", "y", "enter"}, ui.OpenEdit{Recipe: "r.y"}},
	} {
		if got := press(s, c.keys...); got != c.want {
			t.Errorf("%v opened %#v, want %#v", c.keys, got, c.want)
		}
	}
}

func TestCancelAsksFirst(t *testing.T) {
	t.Parallel()
	f := &fakeEngine{runs: fourRuns()}
	s, _ := loaded(f)
	ask, ok := press(s, "x").(ui.Ask)
	if !ok || !ask.Danger {
		t.Fatalf("x sent %#v", ask)
	}
	if cmd := s.Update(ui.Answer{ID: ask.ID}); cmd != nil {
		t.Error("the answer No cancelled the run")
	}
	s.Update(ui.Answer{ID: ask.ID, Yes: true})()
	if len(f.cancelled) != 1 || f.cancelled[0] != "/runs/1" {
		t.Errorf("cancelled %v", f.cancelled)
	}
	if got := press(s, "down", "x"); got != nil {
		t.Errorf("x on an external run sent %#v", got)
	}
}

func TestCursorStaysOnItsRun(t *testing.T) {
	t.Parallel()
	s, _ := loaded(&fakeEngine{runs: fourRuns()})
	press(s, "down", "down")
	runs := append([]engine.Summary{{ID: "L1", Name: "new", Dir: "/runs/9"}}, fourRuns()...)
	s.Update(loadedMsg{runs: runs, at: now})
	if r, _ := s.list.selected(); r.Dir != "/runs/3" {
		t.Errorf("the cursor moved to %s", r.Dir)
	}
}

func TestLoadErrorIsShownOnce(t *testing.T) {
	t.Parallel()
	s, _ := screen(&fakeEngine{})
	msg := loadedMsg{runs: fourRuns(), at: now, err: errors.New("permission denied")}
	if s.Update(msg) == nil {
		t.Error("the error was not shown")
	}
	if s.Update(msg) != nil {
		t.Error("the same error was shown again")
	}
	if len(s.list.shown) != 4 {
		t.Errorf("%d runs are listed", len(s.list.shown))
	}
}

// An engine that does not answer never blocks a key, and gets no second request.
func TestBlockedEngine(t *testing.T) {
	t.Parallel()
	f := &fakeEngine{runs: fourRuns(), block: make(chan struct{})}
	s, m := screen(f)
	load := s.Init()
	answered := make(chan tea.Msg, 1)
	go func() { answered <- load() }()
	press(s, "down", "up", "/", "x", "esc")
	if s.Update(ui.Tick{Now: now}) != nil || s.load() != nil {
		t.Error("a second load was started")
	}
	frametest.Frame(t, m, 80, 24)
	s.Close() // cancels the call
	if _, ok := (<-answered).(loadedMsg); !ok {
		t.Error("the call did not end when the screen was closed")
	}
}

func TestIdleListIsRarelyRefreshed(t *testing.T) {
	t.Parallel()
	s, _ := loaded(&fakeEngine{runs: fourRuns()[1:3]})
	for i := 1; i < idleTicks; i++ {
		if s.Update(ui.Tick{Now: now}) != nil {
			t.Fatalf("tick %d refreshed the list", i)
		}
	}
	if s.Update(ui.Tick{Now: now}) == nil {
		t.Error("the list is never refreshed")
	}
}
