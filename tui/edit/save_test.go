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

// validWorkload is a workload that can be submitted.
var validWorkload = strings.NewReplacer("1548.0", "1549.0", "/TODO/", "/scratch/").Replace(testWorkload)

// pressWithoutRunning presses a key and returns its command without running it.
func pressWithoutRunning(t *testing.T, s *Screen, name string) tea.Cmd {
	t.Helper()
	cmd := s.Update(frametest.Keys(name)[0])
	if cmd == nil {
		t.Fatalf("%s returned no command", name)
	}
	return cmd
}

// Text typed during a save is saved by a second one, which starts after the first.
func TestSaveDuringSave(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, validWorkload)
	press(s, "#")
	first := pressWithoutRunning(t, s, "ctrl+s")
	press(s, "y")
	if sent := press(s, "ctrl+s"); len(sent) > 0 {
		t.Errorf("a second save started during the first: %v", sent)
	}
	sent := drive(s, first)
	if len(sent) != 1 || sent[0] != (ui.Toast{Text: "saved", Role: ui.OK}) {
		t.Errorf("sent %v", sent)
	}
	if s.Unsaved() || d.files["/w.yaml"] != textOf(s, workload) || !strings.Contains(d.files["/w.yaml"], "#y") {
		t.Errorf("not saved: %q", d.files["/w.yaml"])
	}
}

// The submit screen opens after the latest text was saved.
func TestSubmitDuringSave(t *testing.T) {
	t.Parallel()
	want := ui.OpenSubmit{Recipe: "/r.yaml", Workload: "/w.yaml"}
	for _, c := range []struct{ first, then string }{{"ctrl+s", "ctrl+r"}, {"ctrl+r", ""}, {"ctrl+r", "ctrl+r"}} {
		s, d := open(t, testRecipe, validWorkload)
		press(s, "down", "end", "0")
		first := pressWithoutRunning(t, s, c.first)
		press(s, "0")
		if c.then != "" {
			if sent := press(s, c.then); len(sent) > 0 {
				t.Errorf("%v: submitted before the save: %v", c, sent)
			}
		}
		sent := drive(s, first)
		if len(sent) != 1 || sent[0] != want || s.texts.afterSave != nil {
			t.Errorf("%v: sent %v", c, sent)
		}
		if !strings.Contains(d.files["/w.yaml"], "240.000") {
			t.Errorf("%v: the latest text is not saved: %q", c, d.files["/w.yaml"])
		}
	}
}

// The submit screen stays closed if an error is typed during the save.
func TestSubmitOfErrorTypedDuringSave(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, validWorkload)
	press(s, "down", "end", "0")
	first := pressWithoutRunning(t, s, "ctrl+r")
	press(s, "x")
	sent := drive(s, first)
	if toast, ok := sent[0].(ui.Toast); len(sent) != 1 || !ok || toast.Role != ui.Warn || s.texts.afterSave != nil {
		t.Errorf("sent %v", sent)
	}
}

// A read that began before a save does not restore the old text.
func TestOutdatedReadIsDropped(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, validWorkload)
	old := s.texts.docs[workload].read()()
	press(s, "#", "ctrl+s")
	now := textOf(s, workload)
	drive(s, s.Update(old))
	if got := textOf(s, workload); got != now {
		t.Fatalf("the old text was restored: %q", got)
	}
	press(s, "ctrl+z")
	if textOf(s, workload) == now {
		t.Error("undo does not work")
	}
	// Without edits, the results of two reads arrive in reverse order.
	press(s, "ctrl+s")
	old = s.texts.docs[workload].read()()
	d.files["/w.yaml"] = "theirs: 1\n"
	drive(s, s.texts.docs[workload].read())
	drive(s, s.Update(old))
	if got := textOf(s, workload); got != "theirs: 1\n" {
		t.Errorf("the older read replaced the text: %q", got)
	}
}

// Pasted lines get the line endings of the file, whichever of them the terminal sends.
func TestPastedLineEnds(t *testing.T) {
	t.Parallel()
	const pasted = "a: 1\rb: 2\r\nc: 3\nd: 4\r\r"
	for end, at := range map[string]ui.Pos{"\n": {}, "\r\n": {}, "\r\n at the end": {Line: 1000}} {
		lineEnd, _, atEnd := strings.Cut(end, " ")
		text := strings.ReplaceAll(testWorkload, "\n", lineEnd)
		s, _ := open(t, testRecipe, text)
		s.texts.docs[workload].text.MoveTo(at)
		drive(s, s.Update(tea.PasteMsg{Content: pasted}))
		want := strings.ReplaceAll("a: 1\nb: 2\nc: 3\nd: 4\n\n", "\n", lineEnd)
		if atEnd {
			want = text + want
		} else {
			want += text
		}
		if got := textOf(s, workload); got != want {
			t.Errorf("%q: got %q, want %q", end, got, want)
		}
	}
}

func TestSubmitWithOpenPlaceholder(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, strings.Replace(testWorkload, "1548.0", "1549.0", 1))
	sent := press(s, "ctrl+r")
	want := ui.Toast{Text: "can't submit: 1 open placeholder", Role: ui.Warn}
	if len(sent) != 1 || sent[0] != want {
		t.Errorf("sent %v, want %v", sent, want)
	}
}

// An open must-fix question of a port prevents a submission like a placeholder.
func TestSubmitWithOpenQuestion(t *testing.T) {
	t.Parallel()
	valid := strings.Replace(strings.Replace(testWorkload, "1548.0", "1549.0", 1), "/TODO/", "/data/", 1)
	s, d := open(t, testRecipe, valid)
	d.mu.Lock()
	d.question = "which nodes?"
	d.mu.Unlock()
	sent := press(s, "enter", "ctrl+r")
	want := ui.Toast{Text: "can't submit: 1 open must-fix question", Role: ui.Warn}
	if len(sent) != 1 || sent[0] != want {
		t.Errorf("sent %v, want %v", sent, want)
	}
}

// The workload is loaded from the path that the engine resolves. A workload that does not
// exist is not submitted.
func TestWorkloadBehindMount(t *testing.T) {
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
	if sent := press(s, "ctrl+r"); len(sent) != 1 || sent[0] != (ui.OpenSubmit{Recipe: "/here/r.yaml"}) {
		t.Errorf("without a workload: %v", sent)
	}
}

// A selector after the path is used to check and submit, but not to read and write the
// file.
func TestRecipeWithSelector(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() // with a colon in the name of an existing file, there is no selector
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
		t.Errorf("workload path %q", f.path)
	}
	if c, ok := s.checks.rule.binding(); !ok || c.Level != 1010 {
		t.Errorf("the rule checks %v: %s", c, s.checks.rule.unknown)
	}
	press(s, "end", " ", "#", "ctrl+s")
	if got := d.files[file]; !strings.HasPrefix(got, "base: #") {
		t.Errorf("saved %q", got)
	}
}
