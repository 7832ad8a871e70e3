package dashboard

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/tui/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// A log that ends while its run goes on is opened again, unless somebody reads in
// it; one of a run that is done is not.
func TestLogComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	tick := func(want int) {
		t.Helper()
		n := len(r.f.opened)
		r.send(ui.Tick{Now: at(9000)})
		if got := len(r.f.opened) - n; got != want {
			t.Errorf("a tick opens %d logs (%v), want %d", got, r.f.opened, want)
		}
	}
	tick(1)
	r.f.logs["client"] = lines("anew")
	tick(1)
	if r.s.log.list.Len() != 1 || r.s.log.step != "client" {
		t.Errorf("%d lines of %s", r.s.log.list.Len(), r.s.log.step)
	}
	r.send(frametest.Keys("space")...)
	tick(0)
	r.send(frametest.Keys("space")...)
	tick(1)
	r.send(frametest.Keys("up")...)
	tick(0)
	r.send(frametest.Keys("f")...)
	tick(1)
	r.send(updatedMsg{update: doneUpdate(), any: true})
	tick(0)
}

// What is in the log's pane stays while the display is paused or older lines are
// read, and the log that tells more comes once it moves on.
func TestLogIsHeld(t *testing.T) {
	t.Parallel()
	job := []engine.LogFile{{Step: "job", Path: "x/job.log"}}
	for name, keys := range map[string][2]string{"paused": {"space", "space"}, "reads": {"up", "f"}, "scrolls back": {"up", "end"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, bringUpUpdate())
			all := r.f.files
			r.s.log.step = ""
			r.send(filesListedMsg{files: job})
			if r.s.log.step != "job" {
				t.Fatalf("log %s", r.s.log.step)
			}
			r.send(frametest.Keys(keys[0])...)
			before := r.s.log.list.Draw(r.s.th)
			r.send(filesListedMsg{files: all})
			if r.s.log.step != "job" || r.s.log.list.Draw(r.s.th) != before || r.s.log.list.Following() {
				t.Fatalf("log %s, follows %v", r.s.log.step, r.s.log.list.Following())
			}
			r.send(frametest.Keys(keys[1])...)
			if r.s.log.step != "client" || !r.s.log.list.Following() {
				t.Errorf("then log %s, follows %v", r.s.log.step, r.s.log.list.Following())
			}
		})
	}
}

// The count of a search is of the lines that are there now.
func TestHitsAreOfWhatIsThere(t *testing.T) {
	t.Parallel()
	r := newRig(t, measuringUpdate())
	r.send(frametest.Keys("/", "s", "e", "e", "d", "enter")...)
	hits := func(want string) {
		t.Helper()
		if !strings.Contains(ansi.Strip(r.s.View()), want+" lines with seed") {
			t.Errorf("want %s hits:\n%s", want, ansi.Strip(r.s.View()))
		}
	}
	hits("1")
	r.send(logReadMsg{gen: r.s.log.gen, lines: []ui.LogLine{{Text: "a seed"}, {Text: "another seed"}}})
	hits("3")
	r.send(frametest.Keys("l")...)
	hits("0")
	if !slices.Contains(r.f.opened, "decode_0") {
		t.Errorf("opened %v", r.f.opened)
	}
}

// A state is a text of the run's files, like any other.
func TestStateIsCleaned(t *testing.T) {
	t.Parallel()
	u := bringUpUpdate()
	u.Status.Steps, u.Status.State = nil, event.State("st\x1b[5mrange\x07")
	r := newRig(t, u)
	if v := r.s.View() + r.s.State().Text; strings.Contains(v, "\x1b[5m") || strings.Contains(v, "\x07") || !strings.Contains(v, "range") {
		t.Errorf("%q", v)
	}
}
