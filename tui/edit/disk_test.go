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

// What someone else writes to a file that was not edited here is read again at the
// next look, and one undo gives the old text.
func TestSomeoneElseWritesAnUneditedFile(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	for _, look := range []any{ui.Tick{}, ui.Resumed{}} {
		d.files["/w.yaml"] += "seed: 1\n"
		asked := drive(s, s.Update(look))
		if got := textOf(s, workload); got != d.files["/w.yaml"] || s.Unsaved() || len(asked) != 1 {
			t.Errorf("%T: %q, said %v", look, got, asked)
		}
	}
	press(s, "ctrl+z", "ctrl+z")
	if got := textOf(s, workload); got != testWorkload {
		t.Errorf("undone to %q", got)
	}
}

// Two versions are never mixed or lost without a choice.
func TestSomeoneElseWritesAnEditedFile(t *testing.T) {
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
				t.Fatalf("asked %+v", s.question)
			}
			if press(s, "esc"); s.question != nil || textOf(s, workload) != before || d.files["/w.yaml"] != c.theirs {
				t.Fatal("deciding later changed something")
			}
			if drive(s, s.Update(ui.Tick{})); s.question != nil {
				t.Error("asked again at once")
			}
			press(s, "ctrl+s") // which asks
			if d.files["/w.yaml"] != c.theirs {
				t.Fatal("their version is lost")
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

// A file that is written between the last look and the save is asked about.
func TestSavingWhatSomeoneElseJustWrote(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	press(s, "x")
	d.files["/w.yaml"] = "theirs: 1\n"
	press(s, "ctrl+s")
	if s.question == nil || d.files["/w.yaml"] != "theirs: 1\n" {
		t.Fatalf("asked %v, file %q", s.question, d.files["/w.yaml"])
	}
	frametest.Golden(t, "changed", tui.New(nil, s, tui.Options{Dark: true}))
}

// A file that is removed is written anew, unless somebody else has done so.
func TestAFileThatIsRemoved(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"gone": false, "there again": true} {
		s, d := open(t, testRecipe, testWorkload)
		delete(d.files, "/w.yaml")
		if asked := drive(s, s.Update(ui.Tick{})); len(asked) != 1 || !s.Unsaved() {
			t.Errorf("%s: said %v", name, asked)
		}
		if again {
			d.files["/w.yaml"] = "theirs: 1\n"
		}
		if press(s, "ctrl+s"); again != (s.question != nil) || again != (d.files["/w.yaml"] == "theirs: 1\n") {
			t.Errorf("%s: %q, menu %v", name, d.files["/w.yaml"], s.question)
		}
	}
}

// A menu that opens by itself is not answered by a key that was being typed.
func TestAMenuThatPopsUpWaits(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	press(s, "x")
	d.files["/w.yaml"] = "theirs: 1\n"
	s.openQuestion(&question{Menu: ui.Menu{Items: []ui.Item{{Text: "bad"}}}}, nil)
	if press(s, "1", "enter", "esc"); s.question == nil {
		t.Error("answered at once")
	}
	s.Update(questionReadyMsg{s.question})
	if press(s, "esc"); s.question != nil {
		t.Error("never answered")
	}
}

// What was typed is written down without being saved, is offered at the next
// opening, and is gone when it is saved.
func TestUnsavedWorkSurvives(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	press(s, "x")
	if u := d.unsaved["/w.yaml"]; u.Text != textOf(s, workload) || u.Base != testWorkload || len(d.unsaved) != 1 {
		t.Fatalf("kept %v", d.unsaved)
	}
	for name, c := range map[string]struct {
		key, disk, want string
		kept            bool
	}{
		"taken back": {"enter", testWorkload, "xphase_timeout_seconds: 1548.0", true},
		"left open":  {"esc", testWorkload, "xphase_timeout_seconds: 1548.0", true},
		"merged":     {"1", testWorkload + "seed: 1\n", "seed: 1", true},
		"not wanted": {"2", testWorkload, "\nphase_timeout_seconds: 1548.0", false},
	} {
		again := &fakeEngine{files: map[string]string{"/r.yaml": testRecipe, "/w.yaml": c.disk}}
		if err := again.KeepUnsaved(t.Context(), "/w.yaml", d.unsaved["/w.yaml"].Text, testWorkload); err != nil {
			t.Fatal(err)
		}
		next := New(again, ui.NewTheme(true), "/r.yaml", "/w.yaml")
		next.SetSize(80, 20)
		drive(next, next.Init())
		if next.question == nil || !strings.Contains(next.question.Body, "Nov 30 at 14:03") {
			t.Fatalf("%s: not offered: %v", name, next.question)
		}
		if name == "merged" {
			frametest.Golden(t, "unsaved", tui.New(nil, next, tui.Options{Dark: true}))
		}
		press(next, c.key)
		if got := textOf(next, workload); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
		if _, kept := again.unsaved["/w.yaml"]; kept != c.kept {
			t.Errorf("%s: kept %v", name, kept)
		}
		if press(next, "ctrl+s"); len(again.unsaved) > 0 {
			t.Errorf("%s: still kept after the save", name)
		}
		next.Close()
	}
}

// Unsaved work of a program that still runs is said to be that, and a disk that
// hangs is asked once.
func TestUnsavedWorkElsewhere(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, testWorkload)
	kept := engine.Unsaved{PID: 42, WriterRunning: true, Base: testWorkload}
	s.Update(recoveredMsg{side: workload, ok: true, backup: kept, merged: testWorkload})
	if s.question == nil || !strings.Contains(s.question.Body, "process 42") {
		t.Errorf("asked %+v", s.question)
	}
	if s.texts.checkDisk() == nil || s.texts.checkDisk() != nil {
		t.Error("looked twice at once")
	}
}

// The user's editor gets a copy, and what it leaves is one step to undo.
func TestTheUsersEditor(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	script := filepath.Join(t.TempDir(), "ed")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho 'seed: 1' >> \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.editor = script
	asked := press(s, "ctrl+x")
	exec, ok := asked[0].(ui.Exec)
	if !ok {
		t.Fatalf("asked %v", asked)
	}
	drive(s, s.Update(exec.Done(exec.Program.Run())))
	if got := textOf(s, workload); got != testWorkload+"seed: 1\n" || d.files["/w.yaml"] != testWorkload {
		t.Errorf("text %q, file %q", got, d.files["/w.yaml"])
	}
	if press(s, "ctrl+z"); textOf(s, workload) != testWorkload {
		t.Error("not undone by one step")
	}
	d.editor = "'"
	if asked := press(s, "ctrl+x"); len(asked) != 1 || asked[0].(ui.Toast).Role != ui.Bad {
		t.Errorf("a broken EDITOR: %v", asked)
	}
}

// A recipe that is not there can be begun; one that can't be read is said so.
func TestARecipeThatIsNotThere(t *testing.T) {
	t.Parallel()
	d := &fakeEngine{files: map[string]string{}}
	s := New(d, ui.NewTheme(true), "/n.yaml", "")
	defer s.Close()
	s.SetSize(80, 20)
	drive(s, s.Init())
	if s.question == nil || s.State().Text != "not read" || strings.Contains(s.View(), "checking") {
		t.Fatalf("state %v, menu %v", s.State(), s.question)
	}
	if asked := press(s, "1"); len(asked) != 1 || asked[0] != (ui.Back{}) {
		t.Errorf("going back: %v", asked)
	}
	s.openQuestion(newRecipeQuestion("/n.yaml"), nil)
	s.question.ignoresKeys = false
	press(s, "3")
	if len(d.files) > 0 || !s.Unsaved() {
		t.Errorf("written before it is saved: %v", d.files)
	}
	press(s, "ctrl+s")
	r, w := d.files["/n.yaml"], d.files["/n.workload.yaml"]
	if !strings.Contains(r, "schema: 2") || !strings.Contains(w, "phase_timeout_seconds") || s.Unsaved() {
		t.Errorf("saved %v", d.files)
	}
}
