package port

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// The datasets are indexed once, not again with each answer.
func TestDatasetsAreIndexedOnce(t *testing.T) {
	t.Parallel()
	eng := &sampleEngine{}
	s := openScreen(t, eng, sample)
	root := t.TempDir()
	for _, d := range []string{"a", "b"} {
		if err := os.CopyFS(filepath.Join(root, d), os.DirFS(sample+"/datasets")); err != nil {
			t.Fatal(err)
		}
	}
	press(s, "s")
	s.review.datasetRoot.SetValue(root)
	press(s, "enter", "tab", "e")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "1 of 2 candidates") || !strings.Contains(v, "238 KB") {
		t.Fatalf("view\n%s", v)
	}
	press(s, "down")
	want := filepath.Join(root, "b", filepath.Base(s.review.answer.input.Value()))
	if s.review.answer.input.Value() != want || !strings.Contains(ansi.Strip(s.View()), "2 of 2") {
		t.Errorf("second candidate %s, want %s", s.review.answer.input.Value(), want)
	}
	press(s, "up", "up", "enter")
	if f, _ := s.porting.result.fieldFor(porter.Todo{File: porter.Workload, Path: "trajectory_path"}); f.Value != want {
		t.Errorf("field is %s, want %s", f.Value, want)
	}
	if last := eng.portCalls[len(eng.portCalls)-1]; last.Datasets == nil {
		t.Error("the answer indexed the datasets again")
	}
}

// An error of several lines is shown completely.
func TestLongErrorsAreShownCompletely(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	long := strings.Repeat("a long reason, ", 30) + "and its end"
	if cmd := s.showError(fmt.Errorf("%s", long)); cmd != nil || !strings.Contains(ansi.Strip(s.View()), "its end") {
		t.Errorf("view\n%s", s.View())
	}
	s.Leave()
	if s.sheet != nil || s.stage != reviewing {
		t.Error("Leave did not close the error")
	}
	s = New(directoryEngine{&sampleEngine{}}, ui.NewTheme(true), "")
	defer s.Close()
	s.SetSize(60, 12)
	s.chooser.err = fmt.Errorf("%s", long)
	if !strings.Contains(ansi.Strip(s.View()), "its end") {
		t.Errorf("view\n%s", s.View())
	}
}

// Any field can be set, even without a question about it.
func TestAnyFieldCanBeSet(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	s.review.files.goToField(porter.Recipe, "extra_mount")
	press(s, "e")
	if s.review.answer == nil || !strings.Contains(ansi.Strip(s.View()), "▸ set       extra_mount") {
		t.Fatalf("view\n%s", s.View())
	}
	if press(s, "enter"); len(s.porting.opt.Answers) != 0 {
		t.Errorf("an unchanged value became an answer: %v", s.porting.opt.Answers)
	}
	press(s, "e", "backspace", ",", " ", "/", "d", "]")
	if v := ansi.Strip(s.View()); !strings.Contains(v, `written as ["/scratch:/scratch", /d]`) {
		t.Errorf("view\n%s", v)
	}
	press(s, "enter")
	if f := s.review.files.currentField(); f.Path != "extra_mount" || f.Class != porter.Copied ||
		!strings.Contains(f.Value, "/d") || f.Evidence[0].Artifact != "answer" {
		t.Errorf("set to %+v", f)
	}
	press(s, "k", "e")
	if _, ok := s.review.answerable(); s.review.answer != nil != ok {
		t.Error("a line without a field can be answered")
	}
}

// A must-fix question about the run has no value: it is accepted.
func TestAcceptMustFixWithoutValue(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bm", "c1010")
	if err := os.CopyFS(dir, os.DirFS(sample)); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "job.log")
	text, err := os.ReadFile(log)
	if err == nil {
		err = os.WriteFile(log, []byte(strings.ReplaceAll(string(text), " e2e ", " gen_only ")), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := openScreen(t, &sampleEngine{}, dir)
	press(s, "tab")
	before := s.porting.result.res.CountOpen(porter.MustFix)
	for i, q := range s.review.questions.todos {
		placeholder := strings.HasPrefix(q.ID, "workload:") && q.Kind == porter.MustFix
		if can := s.porting.result.res.CanAccept(q); can == placeholder {
			t.Errorf("%s %s can be accepted: %v", q.Kind, q.ID, can)
		}
		if strings.HasPrefix(q.ID, "run#argument 5") {
			press(s, slices.Repeat([]string{"down"}, i)...)
		}
	}
	if q, _ := s.review.questions.current(); !strings.HasPrefix(q.ID, "run#argument 5") || q.Kind != porter.MustFix {
		t.Fatalf("question %+v", q)
	}
	press(s, "a")
	if n := s.porting.result.res.CountOpen(porter.MustFix); n != before-1 {
		t.Errorf("%d must-fix questions, before %d", n, before)
	}
}
