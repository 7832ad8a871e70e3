package port

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// viewing opens the viewer on a file of n numbered lines, at one of them.
func viewing(t *testing.T, n, line int) *Screen {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d says hello\n", i+1)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "job.log"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, &lab{}, sample)
	place := porter.Evidence{Artifact: "job.log", Line: line, Column: 6, Raw: fmt.Sprint(line)}
	drive(s, s.viewer.open(dir, []porter.Evidence{place}))
	return s
}

// numbersOf are the first and last number in view; each line must bear its own.
func numbersOf(t *testing.T, s *Screen) (first, last int) {
	t.Helper()
	for _, l := range strings.Split(ansi.Strip(s.View()), "\n")[1:] {
		var num, said int
		if _, err := fmt.Sscanf(strings.TrimPrefix(l, "▸"), "%d line %d", &num, &said); err != nil || num != said {
			t.Fatalf("drawn %q", l)
		}
		if first == 0 {
			first = num
		}
		last = num
	}
	return first, last
}

// However one gets to a line, it bears its number.
func TestViewerScrollsAnywhere(t *testing.T) {
	t.Parallel()
	const n = 100000
	s := viewing(t, n, 50000)
	if first, last := numbersOf(t, s); first > 50000 || last < 50000 ||
		!strings.Contains(ansi.Strip(s.View()), "▸  50000  line 50000") {
		t.Fatalf("opened at %d to %d", first, last)
	}
	for range 300 {
		press(s, "pgdown")
	}
	if first, _ := numbersOf(t, s); first < 58000 {
		t.Errorf("scrolled down to %d", first)
	}
	for range 900 {
		press(s, "pgup")
	}
	if first, _ := numbersOf(t, s); first > 35000 {
		t.Errorf("scrolled up to %d", first)
	}
	press(s, "g")
	if first, _ := numbersOf(t, s); first != 1 {
		t.Errorf("g goes to %d", first)
	}
	press(s, "G")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "line 100000 says") {
		t.Errorf("G shows\n%s", v)
	}
	drive(s, s.Update(ui.Mouse{Wheel: -3}))
	if v := ansi.Strip(s.View()); strings.Contains(v, "line 100000 says") {
		t.Error("the wheel does nothing")
	}
}

func TestViewerSearches(t *testing.T) {
	t.Parallel()
	s := viewing(t, 100000, 50000)
	look := func(keys ...string) string {
		press(s, keys...)
		return ansi.Strip(s.View())
	}
	word := func(w string) []string { return strings.Split(w, "") }
	press(s, "/")
	if !s.Typing() {
		t.Fatal("a text is typed, and q would leave")
	}
	press(s, word("line 8888")...)
	if v := look("enter"); !strings.Contains(v, "▸  88880  line 88880") {
		t.Errorf("first hit:\n%s", v)
	}
	if v := look("n"); !strings.Contains(v, "▸  88881  line 88881") {
		t.Errorf("next match:\n%s", v)
	}
	if v := look("N", "N"); !strings.Contains(v, "▸   8888  line 8888 ") {
		t.Errorf("previous match:\n%s", v)
	}
	press(s, "/", "ctrl+u")
	press(s, word("no such text")...)
	if v := look("enter"); !strings.Contains(v, "/no such text · no match") {
		t.Errorf("no hit:\n%s", v)
	}
	if s.Leave(); s.viewer.shown() {
		t.Error("the viewer is still there")
	}
}

// What can't be opened is said where it would be; leaving ends a read first.
func TestViewerThatCanNotRead(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	s.porting.dir = t.TempDir()
	press(s, "o")
	if v := ansi.Strip(s.View()); !s.viewer.shown() || !strings.Contains(v, "no such file") {
		t.Errorf("drawn\n%s", v)
	}
	s.viewer = newViewer(s.porting.ctx, blocked{}, s.th)
	s.viewer.setSize(80, 20)
	cmd := s.viewer.open("/d", []porter.Evidence{{Artifact: "a"}})
	ended := make(chan any, 1)
	go func() { ended <- cmd() }()
	if _, did := s.Escape(); !did || !s.viewer.shown() {
		t.Error("the first esc closes")
	}
	s.Update(<-ended) // the read has ended with the context
	if v := s.View(); strings.Contains(v, "context") {
		t.Errorf("what was given up is told:\n%s", v)
	}
	if _, did := s.Escape(); did {
		t.Error("the second esc ends something more")
	}
	if s.Leave(); s.viewer.shown() || s.viewer.pane.View() == "" {
		t.Error("the second esc stays")
	}
}

// The artifact of the selected one of the list is opened, and each place of a field.
func TestViewerOfWhatIsSelected(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	s.review.files.goTo(porter.Recipe, "resources.prefill_workers")
	press(s, "o")
	if e := s.viewer.places; len(e) != 5 || e[0].Artifact != "job.log" ||
		!strings.Contains(ansi.Strip(s.View()), "--nodelist gb300-r07-n09") {
		t.Fatalf("places %v", e)
	}
	line := s.viewer.places[0].Line
	press(s, "tab")
	if s.viewer.at != 1 || s.viewer.places[1].Line == line {
		t.Errorf("the next place is %v", s.viewer.places[s.viewer.at])
	}
	s.Leave()
	press(s, "tab", "tab", "down", "o")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "ctx_config.yaml") {
		t.Errorf("drawn\n%s", v)
	}
	s.Leave()
	for range s.porting.result.res.Artifacts {
		if a, _ := s.review.artifacts.here(); !a.Present {
			if asked := press(s, "o"); len(asked) != 1 || s.viewer.shown() {
				t.Errorf("a missing one: %v", asked)
			}
		}
		press(s, "down")
	}
	for _, size := range [][2]int{{60, 8}, {0, 0}, {200, 50}} {
		s.SetSize(size[0], size[1])
		_ = s.View()
	}
}
