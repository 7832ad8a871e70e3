package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// validWorkload is a workload without anything against submitting it.
var validWorkload = strings.NewReplacer("1548.0", "1549.0", "/TODO/", "/scratch/").Replace(testWorkload)

// pressWithoutRunning presses a key and keeps what it started from running.
func pressWithoutRunning(t *testing.T, s *Screen, name string) tea.Cmd {
	t.Helper()
	cmd := s.Update(frametest.Keys(name)[0])
	if cmd == nil {
		t.Fatalf("%s starts nothing", name)
	}
	return cmd
}

// What is typed while a save runs is saved by the next one, which begins when the
// first has ended.
func TestSavingDuringASave(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, validWorkload)
	press(s, "#")
	first := pressWithoutRunning(t, s, "ctrl+s")
	press(s, "y")
	if asked := press(s, "ctrl+s"); len(asked) > 0 {
		t.Errorf("a second save while the first runs: %v", asked)
	}
	asked := drive(s, first)
	if len(asked) != 1 || asked[0] != (ui.Toast{Text: "saved", Role: ui.OK}) {
		t.Errorf("asked %v", asked)
	}
	if s.Unsaved() || d.files["/w.yaml"] != textOf(s, workload) || !strings.Contains(d.files["/w.yaml"], "#y") {
		t.Errorf("not saved: %q", d.files["/w.yaml"])
	}
}

// The submit screen opens on what is typed, not on what was typed when the save
// began.
func TestSubmittingDuringASave(t *testing.T) {
	t.Parallel()
	want := ui.OpenSubmit{Recipe: "/r.yaml", Workload: "/w.yaml"}
	for _, c := range []struct{ first, then string }{{"ctrl+s", "ctrl+r"}, {"ctrl+r", ""}, {"ctrl+r", "ctrl+r"}} {
		s, d := open(t, testRecipe, validWorkload)
		press(s, "down", "end", "0")
		first := pressWithoutRunning(t, s, c.first)
		press(s, "0")
		if c.then != "" {
			if asked := press(s, c.then); len(asked) > 0 {
				t.Errorf("%v: asked at once: %v", c, asked)
			}
		}
		asked := drive(s, first)
		if len(asked) != 1 || asked[0] != want || s.texts.afterSave != nil {
			t.Errorf("%v: asked %v", c, asked)
		}
		if !strings.Contains(d.files["/w.yaml"], "240.000") {
			t.Errorf("%v: submitted without what was typed last: %q", c, d.files["/w.yaml"])
		}
	}
}

// An error that is typed while the save runs keeps the submit screen closed.
func TestSubmittingAnErrorTypedDuringTheSave(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, validWorkload)
	press(s, "down", "end", "0")
	first := pressWithoutRunning(t, s, "ctrl+r")
	press(s, "x")
	asked := drive(s, first)
	if toast, ok := asked[0].(ui.Toast); len(asked) != 1 || !ok || toast.Role != ui.Warn || s.texts.afterSave != nil {
		t.Errorf("asked %v", asked)
	}
}

// A read that began before an edit and its save does not bring the old text back.
func TestAStaleReadIsDropped(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, validWorkload)
	old := s.texts.docs[workload].read()()
	press(s, "#", "ctrl+s")
	now := textOf(s, workload)
	drive(s, s.Update(old))
	if got := textOf(s, workload); got != now {
		t.Fatalf("the old text is back: %q", got)
	}
	press(s, "ctrl+z")
	if textOf(s, workload) == now {
		t.Error("undo is gone")
	}
	// Nothing is edited, and of two reads the later one is taken first.
	press(s, "ctrl+s")
	old = s.texts.docs[workload].read()()
	d.files["/w.yaml"] = "theirs: 1\n"
	drive(s, s.texts.docs[workload].read())
	drive(s, s.Update(old))
	if got := textOf(s, workload); got != "theirs: 1\n" {
		t.Errorf("the older read holds: %q", got)
	}
}

func TestPastedLineEnds(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, testWorkload)
	s.texts.docs[workload].text.MoveTo(ui.Pos{})
	drive(s, s.Update(tea.PasteMsg{Content: "a: 1\rb: 2\r\nc: 3\nd: 4\r\r"}))
	if got, want := textOf(s, workload), "a: 1\nb: 2\nc: 3\nd: 4\n\n"+testWorkload; got != want {
		t.Errorf("pasted %q", got)
	}
}

func TestOpenPlaceholdersAreNotSubmitted(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, strings.Replace(testWorkload, "1548.0", "1549.0", 1))
	asked := press(s, "ctrl+r")
	want := ui.Toast{Text: "not to be submitted: 1 open placeholder", Role: ui.Warn}
	if len(asked) != 1 || asked[0] != want {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

// The workload is where the engine sees it, and one that is not there is not
// handed on.
func TestTheWorkloadBehindAMount(t *testing.T) {
	t.Parallel()
	d := &fakeEngine{workloadPath: "/host/w.yaml", files: map[string]string{
		"/here/r.yaml": testRecipe, "/host/w.yaml": validWorkload, "/here/w.yaml": "another",
	}}
	s := New(d, ui.NewTheme(true), "/here/r.yaml", "")
	defer s.Close()
	s.SetSize(80, 20)
	drive(s, s.Init())
	if f := &s.texts.docs[workload]; f.path != "/host/w.yaml" || !f.loaded {
		t.Errorf("found %q %v", f.path, f.err)
	}

	d = &fakeEngine{files: map[string]string{"/here/r.yaml": testRecipe}}
	s = New(d, ui.NewTheme(true), "/here/r.yaml", "")
	defer s.Close()
	s.SetSize(80, 20)
	drive(s, s.Init())
	if asked := press(s, "ctrl+r"); len(asked) != 1 || asked[0] != (ui.OpenSubmit{Recipe: "/here/r.yaml"}) {
		t.Errorf("without a workload: %v", asked)
	}
}

// One recipe of several is named behind a colon: the file is read and written, the
// selector stays in what is checked and submitted.
func TestOneRecipeOfSeveral(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() // the name of a file that is there would win over the selector
	file := filepath.Join(dir, "r.yaml")
	indented := "base:\n  " + strings.ReplaceAll(strings.TrimSuffix(testRecipe, "\n"), "\n", "\n  ") +
		"\noverride_big:\n  benchmark:\n    concurrency: 1010\n"
	if err := os.WriteFile(file, []byte(indented), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &fakeEngine{files: map[string]string{file: indented, filepath.Join(dir, "w.yaml"): validWorkload}}
	s := New(d, ui.NewTheme(true), file+":override_big", "")
	defer s.Close()
	s.SetSize(80, 20)
	drive(s, s.Init())
	if f := &s.texts.docs[recipe]; !f.loaded || f.file != file || f.path != file+":override_big" {
		t.Fatalf("read %q as %q: %v", f.file, f.path, f.err)
	}
	if f := &s.texts.docs[workload]; f.path != filepath.Join(dir, "w.yaml") {
		t.Errorf("the workload is looked for as %q", f.path)
	}
	if c, ok := s.checks.rule.binding(); !ok || c.Level != 1010 {
		t.Errorf("the rule is about %v: %s", c, s.checks.rule.unknown)
	}
	press(s, "end", " ", "#", "ctrl+s")
	if got := d.files[file]; !strings.HasPrefix(got, "base: #") {
		t.Errorf("saved %q", got)
	}
}
