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
	s.review.root.SetValue(root)
	press(s, "enter", "tab", "e")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "1 of 2 candidates") || !strings.Contains(v, "231 KB") {
		t.Fatalf("drawn\n%s", v)
	}
	press(s, "down")
	want := filepath.Join(root, "b", filepath.Base(s.review.answer.input.Value()))
	if s.review.answer.input.Value() != want || !strings.Contains(ansi.Strip(s.View()), "2 of 2") {
		t.Errorf("the second is %s, want %s", s.review.answer.input.Value(), want)
	}
	press(s, "up", "up", "enter")
	if f, _ := s.porting.result.fieldOf(porter.Todo{File: porter.Workload, Path: "trajectory_path"}); f.Value != want {
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
	if s.sheet != nil || s.stage != reviewing {
		t.Error("it can't be closed")
	}
	s = New(tree{&lab{}}, ui.NewTheme(true), "")
	defer s.Close()
	s.SetSize(60, 12)
	s.chooser.err = fmt.Errorf("%s", long)
	if !strings.Contains(ansi.Strip(s.View()), "its end") {
		t.Errorf("drawn\n%s", s.View())
	}
}

// Any field can be set, also one that nothing was asked about.
func TestAnyFieldCanBeSet(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	s.review.files.goTo(porter.Recipe, "extra_mount")
	press(s, "e")
	if s.review.answer == nil || !strings.Contains(ansi.Strip(s.View()), "▸ set       extra_mount") {
		t.Fatalf("drawn\n%s", s.View())
	}
	if press(s, "enter"); len(s.porting.opt.Answers) != 0 {
		t.Errorf("as it was: %v", s.porting.opt.Answers)
	}
	press(s, "e", "backspace", ",", " ", "/", "d", "]")
	if v := ansi.Strip(s.View()); !strings.Contains(v, `written as ["/scratch:/scratch", /d]`) {
		t.Errorf("drawn\n%s", v)
	}
	press(s, "enter")
	if f := s.review.files.fieldHere(); f.Path != "extra_mount" || f.Class != porter.Copied ||
		!strings.Contains(f.Value, "/d") || f.Evidence[0].Artifact != "answer" {
		t.Errorf("set to %+v", f)
	}
	press(s, "k", "e")
	if _, ok := s.review.askable(); s.review.answer != nil != ok {
		t.Error("a line without a field has an input")
	}
}
