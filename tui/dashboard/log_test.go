package dashboard

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// What is in the log's pane stays while the display is paused or older lines are
// read, and the log that tells more comes once it moves on.
func TestLogIsHeld(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][2]string{
		"paused": {"space", "space"}, "reads": {"up", "f"}, "scrolls back": {"up", "end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, bringUpUpdate())
			all := r.f.files
			job := all[2:3]
			r.s.log.step = ""
			r.send(filesListedMsg{files: job})
			if r.s.log.step != "job" {
				t.Fatalf("log %s", r.s.log.step)
			}
			r.send(frametest.Keys(keys[0])...)
			before := r.s.log.pane.View()
			r.send(filesListedMsg{files: all})
			if r.s.log.step != "job" || r.s.log.pane.View() != before || r.s.log.pane.Following() {
				t.Fatalf("log %s, follows %v", r.s.log.step, r.s.log.pane.Following())
			}
			r.send(frametest.Keys(keys[1])...)
			if r.s.log.step != "client" || !r.s.log.pane.Following() {
				t.Errorf("then log %s, follows %v", r.s.log.step, r.s.log.pane.Following())
			}
		})
	}
}

// esc ends a search of the log before it leaves the screen.
func TestEscapeEndsTheSearchFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("/", "s", "e", "e", "d", "enter")...)
	if v := ansi.Strip(r.s.View()); !strings.Contains(
		v, "▸  Seed: 42",
	) || !strings.Contains(v, "/seed") || r.s.log.pane.Following() {
		t.Fatalf("not found:\n%s", v)
	}
	if _, did := r.s.Escape(); !did || strings.Contains(ansi.Strip(r.s.View()), "/seed") {
		t.Error("esc does not end the search")
	}
	if _, did := r.s.Escape(); did {
		t.Error("a second esc does not leave")
	}
}

// All logs in one, by the times in their lines, and back to the one before.
func TestMergeLogs(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("l", "l", "m")...)
	if v := ansi.Strip(r.s.View()); !strings.Contains(v, "4 logs merged") || !strings.Contains(v, "client   │ ") {
		t.Errorf("not merged:\n%s", v)
	}
	r.send(frametest.Keys("m")...)
	if v := ansi.Strip(r.s.View()); !strings.Contains(v, "job log") || !strings.Contains(v, "Sweep Orchestrator") {
		t.Errorf("not back:\n%s", v)
	}
}

// A state is a text of the run's files, like any other.
func TestStateIsCleaned(t *testing.T) {
	t.Parallel()
	u := bringUpUpdate()
	u.Status.Steps, u.Status.State = nil, event.State("st\x1b[5mrange\x07")
	r := newRig(t, u)
	if v := r.s.View() + r.s.State().Text; strings.Contains(
		v, "\x1b[5m",
	) || strings.Contains(v, "\x07") || !strings.Contains(v, "range") {
		t.Errorf("%q", v)
	}
}

// esc closes the list of steps where it stands instead of the figures.
func TestEscClosesTheSteps(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.s.SetSize(80, 20)
	r.send(frametest.Keys("s")...)
	if _, did := r.s.Escape(); !did || r.s.stepsShown() {
		t.Errorf("did %v, the steps still there: %v", did, r.s.stepsShown())
	}
	if _, did := r.s.Escape(); did {
		t.Error("a second one does something too")
	}
}
