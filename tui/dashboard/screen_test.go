package dashboard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

func TestCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("x")...)
	ask, ok := r.lastSent().(ui.Ask)
	if !ok || !ask.Danger || !strings.Contains(ask.Body, "phase 1, measuring for 10:12") {
		t.Fatalf("x sent %+v", r.lastSent())
	}
	r.send(ui.Answer{ID: ask.ID, Yes: false})
	if r.f.cancelled != 0 {
		t.Fatal("answering no cancelled the run")
	}
	r.f.cancelErr = errors.New("supervisor 17 has not ended")
	r.send(ui.Answer{ID: ask.ID, Yes: true})
	if toast, ok := r.lastSent().(ui.Toast); r.f.cancelled != 1 || !ok || toast.Role != ui.Bad && !strings.Contains(
		toast.Text, "cancelling",
	) {
		t.Errorf("cancelled %d times, sent %v", r.f.cancelled, r.sent)
	}
}

// A disabled key shows the reason in the help and when it is pressed.
func TestDisabledKeysShowTheReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		update engine.Update
		change func(*Screen)
		want   string
	}{
		"ended":      {doneUpdate(), nil, "run has ended"},
		"external":   {measuringUpdate(), func(s *Screen) { s.run.ref.Record.ID = "" }, "external run"},
		"cancelling": {measuringUpdate(), func(s *Screen) { s.run.cancelling = true }, "already cancelling"},
		"unknown":    {measuringUpdate(), func(s *Screen) { s.run.latest.Status.State = event.Unknown }, "state unknown"},
	} {
		r := newRig(t, c.update)
		if c.change != nil {
			c.change(r.s)
		}
		r.send(frametest.Keys("x")...)
		if toast, ok := r.lastSent().(ui.Toast); !ok || !strings.Contains(toast.Text, c.want) {
			t.Errorf("%s: x sent %v, want %s", name, r.lastSent(), c.want)
		}
		found := false
		for _, k := range r.s.Keys() {
			found = found || !k.Enabled() && strings.Contains(k.Help().Desc, c.want)
		}
		if !found {
			t.Errorf("%s: no key hint has the reason %s", name, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	r := newRig(t, bringUpUpdate())
	r.send(frametest.Keys("c")...)
	if _, ok := r.lastSent().(ui.Toast); !ok {
		t.Errorf("c without figures sent %v", r.lastSent())
	}
	r = newRig(t, doneUpdate())
	r.send(frametest.Keys("c")...)
	if got := r.lastSent(); got != (ui.OpenParity{Cand: "/runs/592210"}) {
		t.Errorf("c sent %v", got)
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	if v := r.s.View(); r.s.log.step != "client" || !strings.Contains(v, "request 17 of conversation 4") {
		t.Fatalf("log %s:\n%s", r.s.log.step, v)
	}
	if v := r.s.View(); strings.Contains(v, "\x1b[31mred") {
		t.Error("a control sequence of the log is on screen")
	}
	r.send(frametest.Keys("l", "l", "l", "l", "L")...)
	if want := []string{"client", "decode_0", "job", "prefill_2", "client", "prefill_2"}; !slices.Equal(r.f.opened, want) {
		t.Errorf("opened %v, want %v", r.f.opened, want)
	}
	// enter in the list of steps opens the log of the selected step.
	r.send(frametest.Keys("s", "down", "down", "down", "down", "down", "down", "down", "enter")...)
	if r.s.log.step != "decode_0" || r.s.steps.open {
		t.Errorf("enter opened %s, steps open: %v", r.s.log.step, r.s.steps.open)
	}
	r.send(frametest.Keys("s", "home", "enter")...)
	if toast, ok := r.lastSent().(ui.Toast); !ok || !strings.Contains(toast.Text, "no log") {
		t.Errorf("enter on a step without a log sent %v", r.lastSent())
	}
}

// The job's log is open before the client runs. A log chosen by the user stays.
func TestLogIsPickedAutomatically(t *testing.T) {
	t.Parallel()
	r := newRig(t, bringUpUpdate())
	r.s.log.files = nil
	r.send(filesListedMsg{files: r.f.files[2:]})
	if r.s.log.step != "job" {
		t.Fatalf("log %s", r.s.log.step)
	}
	r.send(filesListedMsg{files: r.f.files})
	if r.s.log.step != "client" {
		t.Errorf("log %s when the client runs", r.s.log.step)
	}
	r.send(frametest.Keys("l")...)
	r.send(filesListedMsg{files: r.f.files})
	if r.s.log.step != "decode_0" {
		t.Errorf("log %s, but another was chosen", r.s.log.step)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("space")...)
	before := r.s.View()
	r.send(updatedMsg{update: doneUpdate(), hasUpdate: true})
	if r.s.View() != before {
		t.Error("the paused body changed")
	}
	if st := r.s.State(); !strings.Contains(st.Text, "done") || !strings.Contains(st.Text, "paused") {
		t.Errorf("state %q, want done and paused", st.Text)
	}
	r.send(frametest.Keys("space")...)
	if r.s.View() == before {
		t.Error("the body did not change when resumed")
	}
}

func TestPhaseKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	for _, step := range []struct {
		key  string
		want int
	}{{"", 1}, {"[", 0}, {"[", 1}, {"]", 0}, {"]", 1}} {
		if step.key != "" {
			r.send(frametest.Keys(step.key)...)
		}
		if p, _ := r.s.run.current(); p.index != step.want {
			t.Errorf("after %q phase %d, want %d", step.key, p.index, step.want)
		}
	}
}

func TestMouse(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(ui.Mouse{X: 3, Y: 30, Wheel: -3})
	if r.s.log.pane.Following() {
		t.Error("the wheel does not scroll the log")
	}
	r.send(frametest.Keys("s")...)
	r.send(ui.Mouse{X: 3, Y: r.s.layout.stepsY + 3})
	if r.s.steps.table.Cursor != 2 || !r.s.steps.focused {
		t.Errorf("a click selected step %d", r.s.steps.table.Cursor)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(ui.Tick{Now: at(2600 + 1249 + 700)})
	st := r.s.State()
	if st.Text != "● measuring" || st.Age != "requests 25 s ago · events 11 m ago" {
		t.Errorf("state %+v", st)
	}
}

// blockedEngine is an engine whose calls all block.
type blockedEngine struct{ until chan struct{} }

func (b blockedEngine) wait() { <-b.until }

func (b blockedEngine) Find(context.Context, string) (engine.RunRef, error) {
	b.wait()
	return engine.RunRef{}, nil
}

func (b blockedEngine) Watch(context.Context, engine.RunRef, engine.WatchOptions) (<-chan engine.Update, error) {
	b.wait()
	return nil, nil
}

func (b blockedEngine) Phases(engine.RunRef) ([]plan.Phase, error) {
	b.wait()
	return nil, nil
}

func (b blockedEngine) Tiers() []results.Tier {
	b.wait()
	return nil
}

func (b blockedEngine) LogFiles(engine.RunRef) ([]engine.LogFile, error) {
	b.wait()
	return nil, nil
}

func (b blockedEngine) LogView(context.Context, ...string) (*logview.View, <-chan logview.Growth, error) {
	b.wait()
	return nil, nil, nil
}

func (b blockedEngine) Playback(context.Context, engine.RunRef) (*engine.Playback, error) {
	b.wait()
	return nil, errors.New("closed")
}

func (b blockedEngine) Cancel(context.Context, engine.RunRef) error {
	b.wait()
	return nil
}

// No message blocks Update while the engine blocks.
func TestBlockedEngine(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	eng := blockedEngine{make(chan struct{})}
	defer close(eng.until)
	r.s.eng, r.s.log.pane = eng, logs.New(r.s.ctx, eng, r.s.th)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.s.Init()
		for _, m := range append(frametest.Keys(
			"s", "enter", "l", "L", "x", "c", "/", "esc", "space", "t", "[", "z", "f", "n", "pgup", "end", "p", "+", "<",
		),
			foundMsg{ref: r.f.ref}, updatedMsg{update: measuringUpdate(), hasUpdate: true, more: true},
			filesListedMsg{files: r.f.files},
			ui.Answer{ID: "cancel", Yes: true}, ui.Tick{Now: at(9000)}, ui.Resumed{}, tea.PasteMsg{Content: "x"}) {
			r.s.Update(m)
			r.s.View()
		}
	}()
	select {
	case <-done:
	case <-time.After(frametest.Timeout):
		t.Fatal("Update blocks")
	}
}

// All bindings can be reached.
func TestBindingsAreReachable(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("s", "/", "E", "enter")...)
	seen := map[string]bool{}
	for _, b := range r.s.Keys() {
		for _, k := range b.Keys() {
			if k == " " || k == "" || seen[k] {
				t.Errorf("binding %q never matches", k)
			}
			seen[k] = true
		}
	}
}

// Close stops the watch.
func TestCloseStopsTheWatch(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.s.run.updates = make(chan engine.Update)
	cmd := nextUpdate(r.s.ctx, r.s.run.updates)
	r.s.Close()
	if m, ok := cmd().(updatedMsg); !ok || m.hasUpdate || m.more {
		t.Errorf("update after Close: %v", m)
	}
}
