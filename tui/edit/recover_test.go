package edit

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// A recipe that was begun and never saved comes back with its workload when the
// program starts again.
func TestARecipeThatWasNeverSavedSurvives(t *testing.T) {
	t.Parallel()
	d := &disk{files: map[string]string{}}
	s := New(d, ui.NewTheme(true), "/n.yaml", "")
	s.SetSize(80, 20)
	drive(s, s.Init())
	s.menu.cold = false
	press(s, "3")
	press(s, "x", "y")
	drive(s, s.Update(ui.Tick{}))
	want := [2]string{s.sides[0].text.Text(), s.sides[1].text.Text()}
	s.Close()
	next := New(d, ui.NewTheme(true), "/n.yaml", "")
	defer next.Close()
	next.SetSize(80, 20)
	drive(next, next.Init())
	drive(next, next.Update(ui.Tick{}))
	if got := [2]string{next.sides[0].text.Text(), next.sides[1].text.Text()}; got != want || next.menu != nil {
		t.Errorf("came back %q, menu %v", got, next.menu)
	}
	if d.unsaved["/n.yaml"].Text != want[0] || d.unsaved["/n.workload.yaml"].Text != want[1] {
		t.Error("kept no more")
	}
	if press(next, "ctrl+s"); d.files["/n.yaml"] != want[0] || d.files["/n.workload.yaml"] != want[1] {
		t.Errorf("saved %q", d.files)
	}
}

// What is kept of a workload is not overwritten by a recipe that is begun.
func TestBeginningAsksForWhatIsKept(t *testing.T) {
	t.Parallel()
	d := &disk{files: map[string]string{}}
	if err := d.KeepUnsaved(t.Context(), "/n.workload.yaml", "mine: 1\n", ""); err != nil {
		t.Fatal(err)
	}
	s := New(d, ui.NewTheme(true), "/n.yaml", "")
	defer s.Close()
	s.SetSize(80, 20)
	drive(s, s.Init())
	s.menu.cold = false
	press(s, "3")
	drive(s, s.Update(ui.Tick{}))
	if s.menu == nil || d.unsaved["/n.workload.yaml"].Text != "mine: 1\n" {
		t.Fatalf("menu %v, kept %q", s.menu, d.unsaved["/n.workload.yaml"].Text)
	}
	s.menu.cold = false
	if press(s, "1"); s.sides[workload].text.Text() != "mine: 1\n" {
		t.Errorf("taken back %q", s.sides[workload].text.Text())
	}
}

// An offer that met another question is made when that is answered, and what it is
// about is neither overwritten nor forgotten until then.
func TestAnOfferThatHadToWait(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	if err := d.KeepUnsaved(t.Context(), "/w.yaml", "mine: 1\n", testWorkload); err != nil {
		t.Fatal(err)
	}
	found := s.recover(workload)
	s.menu = &menu{Menu: ui.Menu{Items: []ui.Item{{Text: "another question"}}}}
	drive(s, found)
	press(s, "esc", "x")
	drive(s, tea.Batch(s.keep(), s.left()))
	if d.unsaved["/w.yaml"].Text != "mine: 1\n" {
		t.Errorf("kept %q", d.unsaved["/w.yaml"].Text)
	}
	if drive(s, s.Update(ui.Tick{})); s.menu == nil || !strings.HasPrefix(s.menu.Title, "Unsaved work") {
		t.Errorf("asked %+v", s.menu)
	}
}

// What was decided about someone else's version holds after a crash too.
func TestKeepMineSurvives(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	press(s, "x")
	d.files["/w.yaml"] = testWorkload + "seed: 1\n"
	drive(s, s.Update(ui.Tick{}))
	s.menu.cold = false
	press(s, "2")
	drive(s, s.Update(ui.Tick{}))
	if got := d.unsaved["/w.yaml"]; got.Base != d.files["/w.yaml"] || got.Text != s.sides[workload].text.Text() {
		t.Errorf("kept on %q", got.Base)
	}
	s.takeKept(keptMsg{which: workload, version: s.sides[workload].text.Version(), base: testWorkload})
	if s.sides[workload].kept != -1 {
		t.Error("a write from before the choice counts")
	}
}
