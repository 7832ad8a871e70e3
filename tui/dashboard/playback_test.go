package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// playbackRig returns a rig whose run has ended and was played back to its end.
func playbackRig(t *testing.T) *rig {
	t.Helper()
	e, err := engine.New(engine.Options{
		StateDir: t.TempDir(), OutputDir: t.TempDir(), Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, doneUpdate())
	r.f.playbackEngine, r.s.playback.interval = e, 0
	r.send(frametest.Keys("p")...)
	return r
}

func (r *rig) wantState(want string) {
	r.t.Helper()
	if got := r.s.State().Text; !strings.Contains(got, want) {
		r.t.Errorf("state %q, want %q", got, want)
	}
}

func TestPlayback(t *testing.T) {
	t.Parallel()
	r := playbackRig(t)
	r.wantState("‖ playback 10×  2:29 of 2:29")
	r.send(frametest.Keys("<")...)
	r.wantState("‖ playback 10×  2:21 of 2:29")
	if v := r.s.View(); !strings.Contains(v, "~ so far") || !strings.Contains(v, "last 60 s") {
		t.Errorf("before the end:\n%s", v)
	}
	r.send(frametest.Keys(">", ">")...)
	r.wantState("2:29 of 2:29")
	r.send(frametest.Keys("+", "+", "+", "+", "-")...)
	r.wantState("playback 50×")
	r.s.Update(frametest.Keys("space")[0]) // restarts from the beginning
	r.wantState("▶ playback 50×")
	late := r.s.playback.showAt(r.s.playback.source.From, 0)
	r.s.Update(frametest.Keys("space")[0]) // pauses
	r.run(late)
	r.wantState("‖ playback 50×  2:29 of 2:29")
	r.send(frametest.Keys("p")...)
	r.wantState("✓ done")
	if r.s.run.shown != r.s.run.latest {
		t.Error("the playback is still shown")
	}
	r.send(frametest.Keys("p")...)
	r.wantState("2:29 of 2:29")
}

// Live updates do not change a playback.
func TestPlaybackIgnoresLiveUpdates(t *testing.T) {
	t.Parallel()
	r := playbackRig(t)
	before := r.s.run.shown
	r.send(updatedMsg{update: doneUpdate(), hasUpdate: true}, ui.Tick{Now: time.Now()})
	if r.s.run.shown != before {
		t.Error("a live update replaced that of the playback")
	}
}

func TestPlaybackUnavailable(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("p")...)
	if toast, ok := r.lastSent().(ui.Toast); !ok || !strings.Contains(toast.Text, "not ended") {
		t.Errorf("p on a run that has not ended sent %v", r.lastSent())
	}
	r = newRig(t, doneUpdate())
	r.send(frametest.Keys("p")...)
	if toast, ok := r.lastSent().(ui.Toast); !ok || toast.Role != ui.Bad || r.s.playback.active {
		t.Errorf("p on a run without request rows sent %v", r.lastSent())
	}
}

// A stall is shown in the state and the headline, with its start.
func TestStallIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, stalledUpdate())
	r.wantState("STALLED")
	if st := r.s.State(); st.Role != ui.Bad {
		t.Errorf("state %+v", st)
	}
	if v := r.s.View(); !strings.Contains(v, "STALLED since 15:11:21") || !strings.Contains(v, "for 5:00") {
		t.Errorf("%s", v)
	}
}

// A paused display shows that it is paused, and since when.
func TestPausedDisplay(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("space")...)
	before := r.s.View()
	r.send(ui.Tick{Now: r.s.run.now.Add(40 * time.Second)})
	if r.s.View() != before {
		t.Error("the paused body changed")
	}
	if st := r.s.State(); !strings.Contains(st.Text, "paused") || !strings.Contains(st.Age, "40 s ago") {
		t.Errorf("state %+v", st)
	}
}
