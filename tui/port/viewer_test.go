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

// openViewerAt opens the viewer on a file of n numbered lines, at one of them.
func openViewerAt(t *testing.T, n, line int) *Screen {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d says hello\n", i+1)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "job.log"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	s := openScreen(t, &sampleEngine{}, sample)
	evidence := porter.Evidence{Artifact: "job.log", Line: line, Column: 6, Raw: fmt.Sprint(line)}
	drive(s, s.viewer.open(dir, []porter.Evidence{evidence}))
	return s
}

// lineNumbers returns the first and last visible line number, and checks each line.
func lineNumbers(t *testing.T, s *Screen) (first, last int) {
	t.Helper()
	for _, l := range strings.Split(ansi.Strip(s.View()), "\n")[1:] {
		var num, said int
		if _, err := fmt.Sscanf(strings.TrimPrefix(l, "▸"), "%d line %d", &num, &said); err != nil || num != said {
			t.Fatalf("line %q", l)
		}
		if first == 0 {
			first = num
		}
		last = num
	}
	return first, last
}

// All ways to a line show its number.
func TestViewerScrolls(t *testing.T) {
	t.Parallel()
	const n = 100000
	s := openViewerAt(t, n, 50000)
	if first, last := lineNumbers(t, s); first > 50000 || last < 50000 ||
		!strings.Contains(ansi.Strip(s.View()), "▸  50000  line 50000") {
		t.Fatalf("opened at lines %d to %d", first, last)
	}
	for range 300 {
		press(s, "pgdown")
	}
	if first, _ := lineNumbers(t, s); first < 58000 {
		t.Errorf("scrolled down to %d", first)
	}
	for range 900 {
		press(s, "pgup")
	}
	if first, _ := lineNumbers(t, s); first > 35000 {
		t.Errorf("scrolled up to %d", first)
	}
	press(s, "g")
	if first, _ := lineNumbers(t, s); first != 1 {
		t.Errorf("g went to line %d", first)
	}
	press(s, "G")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "line 100000 says") {
		t.Errorf("G shows\n%s", v)
	}
	drive(s, s.Update(ui.Mouse{Wheel: -3}))
	if v := ansi.Strip(s.View()); strings.Contains(v, "line 100000 says") {
		t.Error("the wheel did not scroll")
	}
}

func TestViewerSearches(t *testing.T) {
	t.Parallel()
	s := openViewerAt(t, 100000, 50000)
	look := func(keys ...string) string {
		press(s, keys...)
		return ansi.Strip(s.View())
	}
	word := func(w string) []string { return strings.Split(w, "") }
	press(s, "/")
	if !s.Typing() {
		t.Fatal("not typing, so q would leave")
	}
	press(s, word("line 8888")...)
	if v := look("enter"); !strings.Contains(v, "▸  88880  line 88880") {
		t.Errorf("first match:\n%s", v)
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
		t.Errorf("no match:\n%s", v)
	}
	if s.Leave(); s.viewer.shown() {
		t.Error("the viewer is still open")
	}
}

// An error is shown instead of the file. esc stops a read before it closes the viewer.
func TestViewerOpenFails(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	s.porting.dir = t.TempDir()
	press(s, "o")
	if v := ansi.Strip(s.View()); !s.viewer.shown() || !strings.Contains(v, "no such file") {
		t.Errorf("view\n%s", v)
	}
	s.viewer = newViewer(s.porting.ctx, blockedEngine{}, s.th)
	s.viewer.setSize(80, 20)
	cmd := s.viewer.open("/d", []porter.Evidence{{Artifact: "a"}})
	ended := make(chan any, 1)
	go func() { ended <- cmd() }()
	if _, did := s.Escape(); !did || !s.viewer.shown() {
		t.Error("the first esc closed the viewer")
	}
	s.Update(<-ended) // the read ended with its context
	if v := s.View(); strings.Contains(v, "context") {
		t.Errorf("the cancelled read is reported:\n%s", v)
	}
	if _, did := s.Escape(); did {
		t.Error("Escape handled a second time")
	}
	if s.Leave(); s.viewer.shown() || s.viewer.pane.View() == "" {
		t.Error("Leave did not close the viewer")
	}
}

// The selected artifact, or each location of the selected field, is opened.
func TestViewerOpensTheSelectedArtifact(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	s.review.files.goToField(porter.Recipe, "resources.prefill_workers")
	press(s, "o")
	if e := s.viewer.locations; len(e) != 5 || e[0].Artifact != "job.log" ||
		!strings.Contains(ansi.Strip(s.View()), "--nodelist gb300-r07-n09") {
		t.Fatalf("locations %v", e)
	}
	line := s.viewer.locations[0].Line
	press(s, "tab")
	if s.viewer.current != 1 || s.viewer.locations[1].Line == line {
		t.Errorf("next location %v", s.viewer.locations[s.viewer.current])
	}
	s.Leave()
	press(s, "tab", "tab", "down", "o")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "ctx_config.yaml") {
		t.Errorf("view\n%s", v)
	}
	s.Leave()
	for range s.porting.result.res.Artifacts {
		if a, _ := s.review.artifacts.current(); !a.Present {
			if asked := press(s, "o"); len(asked) != 1 || s.viewer.shown() {
				t.Errorf("missing artifact: %v", asked)
			}
		}
		press(s, "down")
	}
	for _, size := range [][2]int{{60, 8}, {0, 0}, {200, 50}} {
		s.SetSize(size[0], size[1])
		_ = s.View()
	}
}
