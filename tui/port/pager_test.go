package port

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// paged opens the pager on a file of n numbered lines, at one of them.
func paged(t *testing.T, n, line int) *Screen {
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
	s.pager = &pager{eng: session.Session{}, w: s.w, h: s.h, path: dir, mark: -1, places: []porter.Evidence{{Artifact: "job.log", Line: line, Column: 6, Raw: fmt.Sprint(line)}}}
	drive(s, s.pager.open(s.ctx))
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

// However one gets to a line, it bears its number; of a large file a part is held.
func TestPagerScrollsAnywhere(t *testing.T) {
	t.Parallel()
	const n = 100000
	s := paged(t, n, 50000)
	if first, last := numbersOf(t, s); first > 50000 || last < 50000 || !strings.Contains(ansi.Strip(s.View()), "▸  50000  line 50000") {
		t.Fatalf("opened at %d to %d", first, last)
	}
	for range 300 {
		press(s, "pgdown")
	}
	if first, _ := numbersOf(t, s); first < 58000 || len(s.pager.rows) > 2*maxRows+20000 {
		t.Errorf("scrolled down to %d, %d rows", first, len(s.pager.rows))
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

func TestPagerSearches(t *testing.T) {
	t.Parallel()
	s := paged(t, 100000, 50000)
	look := func(keys ...string) string {
		press(s, keys...)
		return ansi.Strip(s.View())
	}
	word := func(w string) []string { return strings.Split(w, "") }
	press(s, "/")
	if !s.Typing() {
		t.Fatal("a text is typed, and q would leave")
	}
	press(s, word("LINE 8888")...)
	if v := look("enter"); !strings.Contains(v, "▸  88880  line 88880") {
		t.Errorf("first hit:\n%s", v)
	}
	if v := look("n"); !strings.Contains(v, "▸  88881  line 88881") {
		t.Errorf("next hit:\n%s", v)
	}
	if v := look("N", "N"); !strings.Contains(v, "▸   8888  line 8888 ") {
		t.Errorf("hit before:\n%s", v)
	}
	press(s, "/")
	press(s, word("nowhere")...)
	if v := look("enter"); !strings.Contains(v, `"nowhere" is not found from here`) {
		t.Errorf("no hit:\n%s", v)
	}
	if s.Leave(); s.pager != nil {
		t.Error("the pager is still there")
	}
}

// What can't be opened is said where it would be; leaving ends a read first.
func TestPagerThatCanNotRead(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	s.dir = t.TempDir()
	press(s, "o")
	if v := ansi.Strip(s.View()); s.pager == nil || !strings.Contains(v, "no such file") {
		t.Errorf("drawn\n%s", v)
	}
	s.pager = &pager{eng: blocked{}, w: 80, h: 20, path: "/d", mark: -1, places: []porter.Evidence{{Artifact: "a"}}}
	cmd := s.pager.open(s.ctx)
	ended := make(chan any, 1)
	go func() { ended <- cmd() }()
	if s.Leave(); s.pager == nil {
		t.Error("the first esc closes")
	}
	late := (<-ended).(pageMsg)
	if late.err == nil {
		t.Error("the read goes on")
	}
	s.Update(late)
	if s.pager.err != nil {
		t.Errorf("what was given up is told: %v", s.pager.err)
	}
	if s.Leave(); s.pager != nil {
		t.Error("the second esc stays")
	}
}

// The artifact of the selected one of the list is opened, and each place of a field.
func TestPagerOfWhatIsSelected(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	s.goTo(porter.Recipe, "resources.prefill_workers")
	press(s, "o")
	if e := s.pager.places; len(e) != 5 || e[0].Artifact != "job.log" || !strings.Contains(ansi.Strip(s.View()), "--nodelist gb300-r07-n09") {
		t.Fatalf("places %v", e)
	}
	line := s.pager.places[0].Line
	press(s, "tab")
	if s.pager.at != 1 || s.pager.places[1].Line == line {
		t.Errorf("the next place is %v", s.pager.places[s.pager.at])
	}
	s.Leave()
	press(s, "tab", "tab", "down", "o")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "ctx_config.yaml") {
		t.Errorf("drawn\n%s", v)
	}
	s.Leave()
	for range s.written.res.Artifacts {
		if a, _ := s.chosenArtifact(); !a.Present {
			if asked := press(s, "o"); len(asked) != 1 || s.pager != nil {
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

// The index of the datasets is made once, not anew with every answer.
func TestDatasetsAreIndexedOnce(t *testing.T) {
	t.Parallel()
	eng := &lab{}
	s := open(t, eng, sample)
	root := t.TempDir()
	for _, d := range []string{"a", "b"} {
		if err := os.CopyFS(filepath.Join(root, d), os.DirFS(sample+"/datasets")); err != nil {
			t.Fatal(err)
		}
	}
	press(s, "s")
	s.search.SetValue(root)
	press(s, "enter", "tab", "e")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "1 of 2 candidates") || !strings.Contains(v, "231 KB") {
		t.Fatalf("drawn\n%s", v)
	}
	press(s, "down")
	want := filepath.Join(root, "b", filepath.Base(s.answer.Value()))
	if s.answer.Value() != want || !strings.Contains(ansi.Strip(s.View()), "2 of 2") {
		t.Errorf("the second is %s, want %s", s.answer.Value(), want)
	}
	press(s, "up", "up", "enter")
	if f, _ := s.fieldOf(porter.Todo{File: porter.Workload, Path: "trajectory_path"}); f.Value != want {
		t.Errorf("written is %s, want %s", f.Value, want)
	}
	if last := eng.ports[len(eng.ports)-1]; last.Datasets == nil {
		t.Error("the answer makes the index anew")
	}
}

// An error of several lines is shown whole.
func TestLongErrorsAreShownWhole(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	long := strings.Repeat("a long reason, ", 30) + "and its end"
	if cmd := s.fail(fmt.Errorf("%s", long)); cmd != nil || !strings.Contains(ansi.Strip(s.View()), "its end") {
		t.Errorf("drawn\n%s", s.View())
	}
	s.Leave()
	if s.sheet != nil || s.stage != looking {
		t.Error("it can't be closed")
	}
	s = New(tree{&lab{}}, ui.NewTheme(true), "")
	defer s.Close()
	s.SetSize(60, 12)
	s.err = fmt.Errorf("%s", long)
	if !strings.Contains(ansi.Strip(s.View()), "its end") {
		t.Errorf("drawn\n%s", s.View())
	}
}

// Any field can be set, also one that nothing was asked about.
func TestAnyFieldCanBeSet(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	s.goTo(porter.Recipe, "extra_mount")
	press(s, "e")
	if s.answer == nil || !strings.Contains(ansi.Strip(s.View()), "▸ set       extra_mount") {
		t.Fatalf("drawn\n%s", s.View())
	}
	if press(s, "enter"); len(s.opt.Answers) != 0 {
		t.Errorf("as it was: %v", s.opt.Answers)
	}
	press(s, "e", "backspace", ",", " ", "/", "d", "]")
	if v := ansi.Strip(s.View()); !strings.Contains(v, `written as ["/scratch:/scratch", /d]`) {
		t.Errorf("drawn\n%s", v)
	}
	press(s, "enter")
	if f := s.field(s.here()); f.Path != "extra_mount" || f.Class != porter.Copied || !strings.Contains(f.Value, "/d") || f.Evidence[0].Artifact != "answer" {
		t.Errorf("set to %+v", f)
	}
	press(s, "k", "e")
	if _, ok := s.askable(); s.answer != nil != ok {
		t.Error("a line without a field has an input")
	}
}
