package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// A file that changes on disk is reloaded if it has no unsaved changes, and undo
// restores the old text.
func TestReloadOfChangedFile(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	for _, look := range []any{ui.Tick{}, ui.Resumed{}} {
		d.files["/w.yaml"] += "seed: 1\n"
		sent := drive(s, s.Update(look))
		if got := textOf(s, workload); got != d.files["/w.yaml"] || s.Unsaved() || len(sent) != 1 {
			t.Errorf("%T: %q, messages %v", look, got, sent)
		}
	}
	press(s, "ctrl+z", "ctrl+z")
	if got := textOf(s, workload); got != testWorkload {
		t.Errorf("undo gave %q", got)
	}
}

// If a file with unsaved changes changes on disk, the user chooses a version.
func TestChangedFileWithUnsavedChanges(t *testing.T) {
	t.Parallel()
	theirs := strings.Replace(testWorkload, "240.0", "200.0", 1)
	clash := strings.Replace(testWorkload, "1548.0", "1600.0", 1)
	mine := "x" + "phase_timeout_seconds"
	has := func(a, b string) func(string) bool {
		return func(s string) bool { return strings.Contains(s, a) && strings.Contains(s, b) }
	}
	for _, c := range []struct {
		name, theirs, key string
		want              func(text string) bool
		conflict, unsaved bool
	}{
		{"merged", theirs, "1", has(mine, "200.0"), false, true},
		{"mine", theirs, "2", has(mine, "240.0"), false, true},
		{"theirs", theirs, "3", func(s string) bool { return s == theirs }, false, false},
		{"a conflict", clash, "1", func(s string) bool { return strings.Contains(s, "<<<<<<< mine\n"+mine) }, true, true},
		{"emptied", "", "3", func(s string) bool { return s == "" }, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, d := open(t, testRecipe, testWorkload)
			press(s, "x")
			before := textOf(s, workload)
			d.files["/w.yaml"] = c.theirs
			cmd := s.Update(ui.Tick{})
			drive(s, cmd)
			if s.question == nil || strings.Contains(s.question.Items[0].Note, "no conflicts") == c.conflict {
				t.Fatalf("question %+v", s.question)
			}
			if press(s, "esc"); s.question != nil || textOf(s, workload) != before || d.files["/w.yaml"] != c.theirs {
				t.Fatal("esc changed the text or the file")
			}
			if drive(s, s.Update(ui.Tick{})); s.question != nil {
				t.Error("asked again without a new version")
			}
			press(s, "ctrl+s") // asks
			if d.files["/w.yaml"] != c.theirs {
				t.Fatal("the version on disk was overwritten")
			}
			press(s, c.key)
			if got := textOf(s, workload); !c.want(got) || s.Unsaved() != c.unsaved {
				t.Errorf("unsaved %v, text\n%s", s.Unsaved(), got)
			}
			if c.unsaved {
				press(s, "ctrl+s")
				if d.files["/w.yaml"] != textOf(s, workload) || s.Unsaved() {
					t.Errorf("not saved: %q", d.files["/w.yaml"])
				}
			}
		})
	}
}

// A file that changed between the last check and the save is not overwritten.
func TestSaveOfChangedFile(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	press(s, "x")
	d.files["/w.yaml"] = "theirs: 1\n"
	press(s, "ctrl+s")
	if s.question == nil || d.files["/w.yaml"] != "theirs: 1\n" {
		t.Fatalf("question %v, file %q", s.question, d.files["/w.yaml"])
	}
	frametest.Golden(t, "changed", tui.New(nil, s, tui.Options{Dark: true}))
}

// Saving creates a deleted file again, unless another program has done so.
func TestSaveOfDeletedFile(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"deleted": false, "created again": true} {
		s, d := open(t, testRecipe, testWorkload)
		delete(d.files, "/w.yaml")
		if sent := drive(s, s.Update(ui.Tick{})); len(sent) != 1 || !s.Unsaved() {
			t.Errorf("%s: messages %v", name, sent)
		}
		if again {
			d.files["/w.yaml"] = "theirs: 1\n"
		}
		if press(s, "ctrl+s"); again != (s.question != nil) || again != (d.files["/w.yaml"] == "theirs: 1\n") {
			t.Errorf("%s: %q, question %v", name, d.files["/w.yaml"], s.question)
		}
	}
}

// A question that opens by itself ignores keys at first.
func TestQuestionIgnoresKeysAtFirst(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	press(s, "x")
	d.files["/w.yaml"] = "theirs: 1\n"
	s.openQuestion(&question{Menu: ui.Menu{Items: []ui.Item{{Text: "bad"}}}}, nil)
	if press(s, "1", "enter", "esc"); s.question == nil {
		t.Error("answered too early")
	}
	s.Update(questionReadyMsg{s.question})
	if press(s, "esc"); s.question != nil {
		t.Error("not answered by esc")
	}
}

// Unsaved changes are backed up, offered when the file is opened again, and removed from
// the backup when they are saved.
func TestUnsavedChangesAreBackedUp(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	press(s, "x")
	if u := d.unsaved["/w.yaml"]; u.Text != textOf(s, workload) || u.Base != testWorkload || len(d.unsaved) != 1 {
		t.Fatalf("backups %v", d.unsaved)
	}
	for name, c := range map[string]struct {
		key, disk, want string
		backup          bool
	}{
		"restored":  {"enter", testWorkload, "xphase_timeout_seconds: 1548.0", true},
		"esc":       {"esc", testWorkload, "xphase_timeout_seconds: 1548.0", true},
		"merged":    {"1", testWorkload + "seed: 1\n", "seed: 1", true},
		"discarded": {"2", testWorkload, "\nphase_timeout_seconds: 1548.0", false},
	} {
		again := &fakeEngine{files: map[string]string{"/r.yaml": testRecipe, "/w.yaml": c.disk}}
		if err := again.KeepUnsaved(t.Context(), "/w.yaml", d.unsaved["/w.yaml"].Text, testWorkload); err != nil {
			t.Fatal(err)
		}
		next := New(again, ui.NewTheme(true), "/r.yaml", "/w.yaml")
		next.SetSize(80, 20)
		drive(next, next.Init())
		if next.question == nil || !strings.Contains(next.question.Body, "Nov 30 at 14:03") {
			t.Fatalf("%s: question %v", name, next.question)
		}
		if name == "merged" {
			frametest.Golden(t, "unsaved", tui.New(nil, next, tui.Options{Dark: true}))
		}
		press(next, c.key)
		if got := textOf(next, workload); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
		if _, backup := again.unsaved["/w.yaml"]; backup != c.backup {
			t.Errorf("%s: backup %v", name, backup)
		}
		if press(next, "ctrl+s"); len(again.unsaved) > 0 {
			t.Errorf("%s: backup not removed by the save", name)
		}
		next.Close()
	}
}

// The question about unsaved changes names a process that has the file open. While a
// disk hangs, no second read is started.
func TestUnsavedChangesOfAnotherProcess(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, testWorkload)
	backup := engine.Unsaved{PID: 42, WriterRunning: true, Base: testWorkload}
	s.Update(recoveredMsg{side: workload, ok: true, backup: backup, merged: testWorkload})
	if s.question == nil || !strings.Contains(s.question.Body, "Process 42") {
		t.Errorf("question %+v", s.question)
	}
	if s.texts.checkDisk() == nil || s.texts.checkDisk() != nil {
		t.Error("a second read was started")
	}
}

// The user's editor gets a copy of the text, and its result is one edit.
func TestExternalEditor(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	script := filepath.Join(t.TempDir(), "ed")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho 'seed: 1' >> \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.editor = script
	sent := press(s, "ctrl+x")
	exec, ok := sent[0].(ui.Exec)
	if !ok {
		t.Fatalf("sent %v", sent)
	}
	drive(s, s.Update(exec.Done(exec.Program.Run())))
	if got := textOf(s, workload); got != testWorkload+"seed: 1\n" || d.files["/w.yaml"] != testWorkload {
		t.Errorf("text %q, file %q", got, d.files["/w.yaml"])
	}
	if press(s, "ctrl+z"); textOf(s, workload) != testWorkload {
		t.Error("undo did not restore the text")
	}
	d.editor = "'"
	if sent := press(s, "ctrl+x"); len(sent) != 1 || sent[0].(ui.Toast).Role != ui.Bad {
		t.Errorf("an invalid EDITOR: %v", sent)
	}
}

// A recipe that does not exist can be created from an example.
func TestNewRecipe(t *testing.T) {
	t.Parallel()
	d := &fakeEngine{files: map[string]string{}}
	s := New(d, ui.NewTheme(true), "/n.yaml", "")
	defer s.Close()
	s.SetSize(80, 20)
	drive(s, s.Init())
	if s.question == nil || s.State().Text != "not loaded" || strings.Contains(s.View(), "checking") {
		t.Fatalf("state %v, question %v", s.State(), s.question)
	}
	if sent := press(s, "1"); len(sent) != 1 || sent[0] != (ui.Back{}) {
		t.Errorf("go back: %v", sent)
	}
	s.openQuestion(newRecipeQuestion("/n.yaml"), nil)
	s.question.ignoresKeys = false
	press(s, "3")
	if len(d.files) > 0 || !s.Unsaved() {
		t.Errorf("written before the save: %v", d.files)
	}
	press(s, "ctrl+s")
	r, w := d.files["/n.yaml"], d.files["/n.workload.yaml"]
	if !strings.Contains(r, "schema: 2") || !strings.Contains(w, "phase_timeout_seconds") || s.Unsaved() {
		t.Errorf("saved %v", d.files)
	}
}
