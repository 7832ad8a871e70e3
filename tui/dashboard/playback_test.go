package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// tapeRig is a run that has ended and whose tape was played to its end.
func tapeRig(t *testing.T) *rig {
	t.Helper()
	e, err := engine.New(engine.Options{
		StateDir: t.TempDir(), OutputDir: t.TempDir(), Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, doneUpdate())
	r.f.tapes, r.s.playback.frame = e, 0
	r.send(frametest.Keys("p")...)
	return r
}

func (r *rig) state(want string) {
	r.t.Helper()
	if got := r.s.State().Text; !strings.Contains(got, want) {
		r.t.Errorf("state %q, want %q", got, want)
	}
}

func TestPlayback(t *testing.T) {
	t.Parallel()
	r := tapeRig(t)
	r.state("‖ playback 10×  2:29 of 2:29")
	r.send(frametest.Keys("<")...)
	r.state("‖ playback 10×  2:21 of 2:29")
	if v := r.s.View(); !strings.Contains(v, "measured so far") || !strings.Contains(v, "last 60 s") {
		t.Errorf("a moment before the end:\n%s", v)
	}
	r.send(frametest.Keys(">", ">")...)
	r.state("2:29 of 2:29")
	r.send(frametest.Keys("+", "+", "+", "+", "-")...)
	r.state("playback 50×")
	r.s.Update(frametest.Keys("space")[0]) // from the beginning, not yet played
	r.state("▶ playback 50×")
	late := r.s.playback.step(r.s.playback.play.From, 0)
	r.s.Update(frametest.Keys("space")[0]) // stops it
	r.run(late)
	r.state("‖ playback 50×  2:29 of 2:29")
	r.send(frametest.Keys("p")...)
	r.state("✓ done")
	if r.s.run.shown != r.s.run.live {
		t.Error("the tape is still shown")
	}
	r.send(frametest.Keys("p")...)
	r.state("2:29 of 2:29")
}

// Live updates do not disturb a tape.
func TestPlaybackIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := tapeRig(t)
	before := r.s.run.shown
	r.send(updatedMsg{update: doneUpdate(), any: true}, ui.Tick{Now: time.Now()})
	if r.s.run.shown != before {
		t.Error("an update has replaced the moment of the tape")
	}
}

func TestNoPlayback(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("p")...)
	if toast, ok := r.said().(ui.Toast); !ok || !strings.Contains(toast.Text, "not ended") {
		t.Errorf("p on a run that goes on said %v", r.said())
	}
	r = newRig(t, doneUpdate())
	r.send(frametest.Keys("p")...)
	if toast, ok := r.said().(ui.Toast); !ok || toast.Role != ui.Bad || r.s.playback.on {
		t.Errorf("p on a run without rows said %v", r.said())
	}
}

// Silence while a phase runs is said first, with since when.
func TestStallIsLoud(t *testing.T) {
	t.Parallel()
	r := newRig(t, stalledUpdate())
	r.state("STALLED")
	if st := r.s.State(); st.Role != ui.Bad {
		t.Errorf("state %+v", st)
	}
	if v := r.s.View(); !strings.Contains(v, "STALLED since 15:11:21") || !strings.Contains(v, "for 5:00") {
		t.Errorf("%s", v)
	}
}

// What is held says so, and since when.
func TestHeldDisplay(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("space")...)
	before := r.s.View()
	r.send(ui.Tick{Now: r.s.run.now.Add(40 * time.Second)})
	if r.s.View() != before {
		t.Error("a held display moves")
	}
	if st := r.s.State(); !strings.Contains(st.Text, "paused") || !strings.Contains(st.Age, "40 s ago") {
		t.Errorf("state %+v", st)
	}
}
