package dashboard

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// While the display is paused or scrolled back, the log stays. The more relevant log is
// opened when the display follows again.
func TestLogStaysWhilePausedOrScrolled(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][2]string{
		"paused": {"space", "space"}, "scrolled": {"up", "f"}, "scrolled, then end": {"up", "end"},
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
				t.Fatalf("log %s, following %v", r.s.log.step, r.s.log.pane.Following())
			}
			r.send(frametest.Keys(keys[1])...)
			if r.s.log.step != "client" || !r.s.log.pane.Following() {
				t.Errorf("afterwards: log %s, following %v", r.s.log.step, r.s.log.pane.Following())
			}
		})
	}
}

// esc clears a search of the log before it closes the screen.
func TestEscapeClearsTheSearchFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("/", "s", "e", "e", "d", "enter")...)
	if v := ansi.Strip(r.s.View()); !strings.Contains(
		v, "▸  Seed: 42",
	) || !strings.Contains(v, "/seed") || r.s.log.pane.Following() {
		t.Fatalf("not found:\n%s", v)
	}
	if _, did := r.s.Escape(); !did || strings.Contains(ansi.Strip(r.s.View()), "/seed") {
		t.Error("Escape did not clear the search")
	}
	if _, did := r.s.Escape(); did {
		t.Error("Escape handled a second time")
	}
}

// m merges all logs by time, and pressed again returns to the previous log.
func TestMergeLogs(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("l", "l", "m")...)
	if v := ansi.Strip(r.s.View()); !strings.Contains(v, "4 logs merged") || !strings.Contains(v, "client   │ ") {
		t.Errorf("not merged:\n%s", v)
	}
	r.send(frametest.Keys("m")...)
	if v := ansi.Strip(r.s.View()); !strings.Contains(v, "job log") || !strings.Contains(v, "Sweep Orchestrator") {
		t.Errorf("not the previous log:\n%s", v)
	}
}

// A state from a file may contain control characters.
func TestControlCharactersAreRemovedFromState(t *testing.T) {
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

// esc closes the list of steps that is shown instead of the figures.
func TestEscapeClosesTheSteps(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.s.SetSize(80, 20)
	r.send(frametest.Keys("s")...)
	if _, did := r.s.Escape(); !did || r.s.stepsShown() {
		t.Errorf("handled %v, steps shown: %v", did, r.s.stepsShown())
	}
	if _, did := r.s.Escape(); did {
		t.Error("Escape handled a second time")
	}
}
