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
	ask, ok := r.said().(ui.Ask)
	if !ok || !ask.Danger || !strings.Contains(ask.Body, "phase 1, measuring for 10:12") {
		t.Fatalf("x said %+v", r.said())
	}
	r.send(ui.Answer{ID: ask.ID, Yes: false})
	if r.f.cancelled != 0 {
		t.Fatal("No cancels")
	}
	r.f.cancelErr = errors.New("supervisor 17 was asked to end and has not yet")
	r.send(ui.Answer{ID: ask.ID, Yes: true})
	if toast, ok := r.said().(ui.Toast); r.f.cancelled != 1 || !ok || toast.Role != ui.Bad && !strings.Contains(
		toast.Text, "asked",
	) {
		t.Errorf("cancelled %d times, said %v", r.f.cancelled, r.left)
	}
}

// A key that can't do anything says why, in the help and when it is pressed.
func TestDisabledKeysSayWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		update engine.Update
		change func(*Screen)
		want   string
	}{
		"ended":   {doneUpdate(), nil, "it has ended"},
		"foreign": {measuringUpdate(), func(s *Screen) { s.run.ref.Record.ID = "" }, "not started here"},
		"asked":   {measuringUpdate(), func(s *Screen) { s.run.cancelling = true }, "under way"},
		"unknown": {measuringUpdate(), func(s *Screen) { s.run.live.Status.State = event.Unknown }, "its state is unknown"},
	} {
		r := newRig(t, c.update)
		if c.change != nil {
			c.change(r.s)
		}
		r.send(frametest.Keys("x")...)
		if toast, ok := r.said().(ui.Toast); !ok || !strings.Contains(toast.Text, c.want) {
			t.Errorf("%s: x said %v, want %s", name, r.said(), c.want)
		}
		found := false
		for _, k := range r.s.Keys() {
			found = found || !k.Enabled() && strings.Contains(k.Help().Desc, c.want)
		}
		if !found {
			t.Errorf("%s: no help says %s", name, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	r := newRig(t, bringUpUpdate())
	r.send(frametest.Keys("c")...)
	if _, ok := r.said().(ui.Toast); !ok {
		t.Errorf("c without figures said %v", r.said())
	}
	r = newRig(t, doneUpdate())
	r.send(frametest.Keys("c")...)
	if got := r.said(); got != (ui.OpenParity{Cand: "/runs/592210"}) {
		t.Errorf("c said %v", got)
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	if v := r.s.View(); r.s.log.step != "client" || !strings.Contains(v, "request 17 of conversation 4") {
		t.Fatalf("log %s:\n%s", r.s.log.step, v)
	}
	if v := r.s.View(); strings.Contains(v, "\x1b[31mred") {
		t.Error("a log's escape reached the screen")
	}
	r.send(frametest.Keys("l", "l", "l", "l", "L")...)
	if want := []string{"client", "decode_0", "job", "prefill_2", "client", "prefill_2"}; !slices.Equal(r.f.opened, want) {
		t.Errorf("opened %v, want %v", r.f.opened, want)
	}
	// The steps' pane opens the log of the step under the cursor.
	r.send(frametest.Keys("s", "down", "down", "down", "down", "down", "down", "down", "enter")...)
	if r.s.log.step != "decode_0" || r.s.steps.open {
		t.Errorf("enter opened %s, the pane is open: %v", r.s.log.step, r.s.steps.open)
	}
	r.send(frametest.Keys("s", "home", "enter")...)
	if toast, ok := r.said().(ui.Toast); !ok || !strings.Contains(toast.Text, "no log") {
		t.Errorf("enter on a step without a log said %v", r.said())
	}
}

// Before the client runs, the job's log tells most; a log that was chosen stays.
func TestLogPickedByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, bringUpUpdate())
	r.s.log.files = nil
	r.send(filesListedMsg{files: r.f.files[2:]})
	if r.s.log.step != "job" {
		t.Fatalf("log %s", r.s.log.step)
	}
	r.send(filesListedMsg{files: r.f.files})
	if r.s.log.step != "client" {
		t.Errorf("log %s once the client runs", r.s.log.step)
	}
	r.send(frametest.Keys("l")...)
	r.send(filesListedMsg{files: r.f.files})
	if r.s.log.step != "decode_0" {
		t.Errorf("log %s, though another was chosen", r.s.log.step)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("space")...)
	before := r.s.View()
	r.send(updatedMsg{update: doneUpdate(), any: true})
	if r.s.View() != before {
		t.Error("the body changes while paused")
	}
	if st := r.s.State(); !strings.Contains(st.Text, "done") || !strings.Contains(st.Text, "paused") {
		t.Errorf("state %q hides what is the case", st.Text)
	}
	r.send(frametest.Keys("space")...)
	if r.s.View() == before {
		t.Error("going on shows nothing new")
	}
}

func TestPhases(t *testing.T) {
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
	r.send(ui.Mouse{X: 3, Y: r.s.lay.stepsY + 3})
	if r.s.steps.table.Cursor != 2 || !r.s.steps.focused {
		t.Errorf("a click goes to step %d", r.s.steps.table.Cursor)
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

// blocked is an engine of which every call blocks.
type blocked struct{ until chan struct{} }

func (b blocked) wait() { <-b.until }

func (b blocked) Find(context.Context, string) (engine.RunRef, error) {
	b.wait()
	return engine.RunRef{}, nil
}

func (b blocked) Watch(context.Context, engine.RunRef, engine.WatchOptions) (<-chan engine.Update, error) {
	b.wait()
	return nil, nil
}

func (b blocked) Phases(engine.RunRef) ([]plan.Phase, error) {
	b.wait()
	return nil, nil
}

func (b blocked) Tiers() []results.Tier {
	b.wait()
	return nil
}

func (b blocked) LogFiles(engine.RunRef) ([]engine.LogFile, error) {
	b.wait()
	return nil, nil
}

func (b blocked) LogView(context.Context, ...string) (*logview.View, <-chan logview.Growth, error) {
	b.wait()
	return nil, nil, nil
}

func (b blocked) Playback(context.Context, engine.RunRef) (*engine.Playback, error) {
	b.wait()
	return nil, errors.New("gone")
}

func (b blocked) Cancel(context.Context, engine.RunRef) error {
	b.wait()
	return nil
}

// No message makes the screen itself wait for the engine.
func TestBlockedEngine(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	eng := blocked{make(chan struct{})}
	defer close(eng.until)
	r.s.eng, r.s.log.pane = eng, logs.New(r.s.ctx, eng, r.s.th)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.s.Init()
		for _, m := range append(frametest.Keys(
			"s", "enter", "l", "L", "x", "c", "/", "esc", "space", "t", "[", "z", "f", "n", "pgup", "end", "p", "+", "<",
		),
			foundMsg{ref: r.f.located}, updatedMsg{update: measuringUpdate(), any: true, more: true},
			filesListedMsg{files: r.f.files},
			ui.Answer{ID: "cancel", Yes: true}, ui.Tick{Now: at(9000)}, ui.Resumed{}, tea.PasteMsg{Content: "x"}) {
			r.s.Update(m)
			r.s.View()
		}
	}()
	select {
	case <-done:
	case <-time.After(frametest.Timeout):
		t.Fatal("Update waits for the engine")
	}
}

// Every binding is a key that a terminal sends.
func TestBindingsExist(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("s", "/", "E", "enter")...)
	seen := map[string]bool{}
	for _, b := range r.s.Keys() {
		for _, k := range b.Keys() {
			if k == " " || k == "" || seen[k] {
				t.Errorf("binding %q never matches, or another does first", k)
			}
			seen[k] = true
		}
	}
}

// Nothing is left running once the screen is closed.
func TestClose(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.s.run.updates = make(chan engine.Update)
	cmd := nextUpdate(r.s.ctx, r.s.run.updates)
	r.s.Close()
	if m, ok := cmd().(updatedMsg); !ok || m.any || m.more {
		t.Errorf("a closed screen's watch answers %v", m)
	}
}
