package edit

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// A new recipe that was never saved is restored with its workload.
func TestRestoreOfNewRecipe(t *testing.T) {
	t.Parallel()
	d := &fakeEngine{files: map[string]string{}}
	s := New(d, ui.NewTheme(true), "/n.yaml", "")
	s.SetSize(80, 20)
	drive(s, s.Init())
	s.question.ignoresKeys = false
	press(s, "3")
	press(s, "x", "y")
	drive(s, s.Update(ui.Tick{}))
	want := [2]string{textOf(s, 0), textOf(s, 1)}
	s.Close()
	next := New(d, ui.NewTheme(true), "/n.yaml", "")
	defer next.Close()
	next.SetSize(80, 20)
	drive(next, next.Init())
	drive(next, next.Update(ui.Tick{}))
	if got := [2]string{textOf(next, 0), textOf(next, 1)}; got != want || next.question != nil {
		t.Errorf("restored %q, question %v", got, next.question)
	}
	if d.unsaved["/n.yaml"].Text != want[0] || d.unsaved["/n.workload.yaml"].Text != want[1] {
		t.Error("the backups are gone")
	}
	if press(next, "ctrl+s"); d.files["/n.yaml"] != want[0] || d.files["/n.workload.yaml"] != want[1] {
		t.Errorf("saved %q", d.files)
	}
}

// A new recipe does not overwrite the backup of its workload.
func TestNewRecipeKeepsBackupOfWorkload(t *testing.T) {
	t.Parallel()
	d := &fakeEngine{files: map[string]string{}}
	if err := d.KeepUnsaved(t.Context(), "/n.workload.yaml", "mine: 1\n", ""); err != nil {
		t.Fatal(err)
	}
	s := New(d, ui.NewTheme(true), "/n.yaml", "")
	defer s.Close()
	s.SetSize(80, 20)
	drive(s, s.Init())
	s.question.ignoresKeys = false
	press(s, "3")
	drive(s, s.Update(ui.Tick{}))
	if s.question == nil || d.unsaved["/n.workload.yaml"].Text != "mine: 1\n" {
		t.Fatalf("question %v, backup %q", s.question, d.unsaved["/n.workload.yaml"].Text)
	}
	s.question.ignoresKeys = false
	if press(s, "1"); textOf(s, workload) != "mine: 1\n" {
		t.Errorf("restored %q", textOf(s, workload))
	}
}

// A question about a backup waits for an open question, and the backup stays until then.
func TestRestoreQuestionWaits(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	if err := d.KeepUnsaved(t.Context(), "/w.yaml", "mine: 1\n", testWorkload); err != nil {
		t.Fatal(err)
	}
	found := s.texts.findUnsaved(workload)
	s.question = &question{Menu: ui.Menu{Items: []ui.Item{{Text: "another question"}}}}
	drive(s, found)
	press(s, "esc", "x")
	drive(s, tea.Batch(s.texts.backUp(), s.texts.leave()))
	if d.unsaved["/w.yaml"].Text != "mine: 1\n" {
		t.Errorf("backup %q", d.unsaved["/w.yaml"].Text)
	}
	if drive(s, s.Update(ui.Tick{})); s.question == nil || !strings.HasPrefix(s.question.Title, "Unsaved changes") {
		t.Errorf("question %+v", s.question)
	}
}

// After "keep mine" the backup is based on the version on disk.
func TestBackupAfterKeepMine(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	press(s, "x")
	d.files["/w.yaml"] = testWorkload + "seed: 1\n"
	drive(s, s.Update(ui.Tick{}))
	s.question.ignoresKeys = false
	press(s, "2")
	drive(s, s.Update(ui.Tick{}))
	if got := d.unsaved["/w.yaml"]; got.Base != d.files["/w.yaml"] || got.Text != textOf(s, workload) {
		t.Errorf("backup with base %q", got.Base)
	}
	s.Update(backedUpMsg{side: workload, version: s.texts.docs[workload].text.Version(), base: testWorkload})
	if s.texts.docs[workload].backup.version != -1 {
		t.Error("a backup from before the choice is current")
	}
}
