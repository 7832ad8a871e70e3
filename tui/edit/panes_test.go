package edit

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/merge"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// This file tests each pane without the screen.

func keyOf(name string) tea.KeyPressMsg { return frametest.Keys(name)[0].(tea.KeyPressMsg) }

func TestQuestionPane(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key    string
		chosen tea.Msg
		closed bool
	}{
		{"1", saveMsg{leaveMsg{}}, true},
		{"s", saveMsg{leaveMsg{}}, true},
		{"3", leaveMsg{}, true},
		{"enter", nil, true},
		{"esc", nil, true},
		{"down", nil, false},
		{"x", nil, false},
	} {
		q := leaveQuestion([]string{"r.yaml"})
		if chosen, closed := q.Key(keyOf(c.key)); chosen != c.chosen || closed != c.closed {
			t.Errorf("%s: %v %v, want %v %v", c.key, chosen, closed, c.chosen, c.closed)
		}
	}
	q := newRecipeQuestion("/n.yaml")
	if chosen, closed := q.Key(keyOf("esc")); chosen != (ui.Back{}) || !closed {
		t.Errorf("esc: %v %v", chosen, closed)
	}
	q.delayKeys()
	if _, closed := q.Key(keyOf("1")); closed || strings.Contains(q.View(ui.NewTheme(true), 80, 20), "esc goes back") {
		t.Error("answered before the delay")
	}
}

func TestProblemPane(t *testing.T) {
	t.Parallel()
	fix := &recipes.Edit{Op: recipes.OpUnset, Path: "a"}
	l := &problemList{}
	if l.Key(keyOf("enter")) != nil || l.goToNext(recipe, 0) != nil || l.click(0, 3) != nil {
		t.Error("an empty list returned a message")
	}
	l.set([]finding{
		{recipes.Diagnostic{Line: 2, Column: 3, Path: "a", Edit: fix}, recipe},
		{recipes.Diagnostic{Line: 9, Path: "b"}, workload},
		{recipes.Diagnostic{Path: "c", Edit: fix}, otherFile},
	})
	if got, want := l.Key(keyOf("enter")), (goToMsg{recipe, ui.Pos{Line: 1, Col: 2}}); got != want {
		t.Errorf("enter returned %v", got)
	}
	if m, ok := l.Key(keyOf("f")).(editMsg); !ok || m.side != recipe {
		t.Error("f returned no edit")
	}
	if got, want := l.goToNext(recipe, 1), (goToMsg{workload, ui.Pos{Line: 8}}); got != want {
		t.Errorf("next returned %v", got)
	}
	if got, want := l.goToNext(recipe, 1), (goToMsg{workload, ui.Pos{Line: 8}}); got != want {
		t.Errorf("next from another line returned %v", got)
	}
	if _, ok := l.Key(keyOf("f")).(ui.Toast); !ok {
		t.Error("f without an edit showed no toast")
	}
	if l.Key(keyOf("down")); l.Key(keyOf("down")) != nil || l.cursor != 2 || l.Key(keyOf("enter")) != nil {
		t.Errorf("cursor %d; enter on a finding in neither text returned a message", l.cursor)
	}
	l.set(l.items[:1])
	view := ansi.Strip(l.View(ui.NewTheme(true), 40, 2, true))
	lines := strings.Split(view, "\n")
	if l.cursor != 0 || len(lines) != 2 || !strings.HasPrefix(lines[0], "▸ · recipe:2     a:") {
		t.Errorf("cursor %d: %q", l.cursor, view)
	}
}

func TestFormPane(t *testing.T) {
	t.Parallel()
	r, _ := recipes.ParseRecipe("r", []byte(testRecipe))
	w, _ := recipes.ParseWorkload("w", []byte(testWorkload))
	f := &form{}
	f.setRows(formFieldsOf(r, w))
	if got := f.open(workload, 6); got != workload || f.rows[f.cursor].path != "phase_timeout_seconds" {
		t.Fatalf("opened on %v of %s", f.rows[f.cursor], got)
	}
	for _, k := range []string{"9", "9"} {
		if request := f.Key(keyOf(k)); request != nil {
			t.Errorf("%s returned %v", k, request)
		}
	}
	d := f.pending().applyTo(engine.Draft{Recipe: []byte(testRecipe), Workload: []byte(testWorkload)})
	want := strings.Replace(testWorkload, "1548.0", "99", 1)
	if string(d.Workload) != want || string(d.Recipe) != testRecipe {
		t.Errorf("while the value is typed the texts are\n%s\n%s", d.Recipe, d.Workload)
	}
	m, ok := f.Key(keyOf("enter")).(editMsg)
	if !ok || m.side != workload || f.typing || f.version != 3 {
		t.Errorf("enter returned %v, typing %v, %d changes", m, f.typing, f.version)
	}
	if f.Key(keyOf("enter")); f.Key(keyOf("enter")) != nil {
		t.Error("an unchanged value was set")
	}
	if got, want := f.Key(keyOf("esc")), (goToMsg{workload, ui.Pos{Line: 6}}); got != want || f.active {
		t.Errorf("esc returned %v", got)
	}
}

func TestFinderPane(t *testing.T) {
	t.Parallel()
	var text ui.Editor
	text.SetText("one\ntwo\none\n")
	var f finder
	f.open(&text)
	f.Paste("one", &text)
	if f.match != 1 || f.matches != 2 || !strings.Contains(ansi.Strip(f.View(ui.NewTheme(true), 80)), "1 of 2") {
		t.Errorf("%d of %d", f.match, f.matches)
	}
	if f.Key(keyOf("enter"), &text); text.Cursor().Line != 2 {
		t.Errorf("enter moved the cursor to %v", text.Cursor())
	}
	if f.Key(keyOf("esc"), &text); f.active {
		t.Error("esc did not close the search")
	}
}

func TestCompletionPane(t *testing.T) {
	t.Parallel()
	var text ui.Editor
	text.SetText("model:\n  p")
	text.MoveTo(ui.Pos{Line: 1, Col: 3})
	c := newCompletion(schema.Recipe(2), &text, false, false)
	if c == nil || len(c.items) != 2 {
		t.Fatalf("completion %+v", c)
	}
	if open, taken := c.Key(keyOf("enter"), &text); open || taken {
		t.Error("enter was handled by a list that opened by itself")
	}
	c.Key(keyOf("down"), &text)
	if open, taken := c.Key(keyOf("enter"), &text); open || !taken || text.Text() != "model:\n  path: " {
		t.Errorf("enter gave %q", text.Text())
	}
}

// A comparison scrolls to its last line, and follows changes of the theme and the width.
func TestDiffPane(t *testing.T) {
	t.Parallel()
	var old, now strings.Builder
	for i := range 100 {
		fmt.Fprintf(&old, "old %d\n", i)
		fmt.Fprintf(&now, "new %d\n", i)
	}
	var d diffView
	d.setSize(ui.NewTheme(true), 60, 20)
	rows := collapseUnchanged(merge.Compare(old.String(), now.String()))
	d.handleDiff(diffMsg{rows: rows, added: 100, removed: 100}, ui.NewTheme(true))
	for _, c := range []struct{ key, first, last string }{
		{"", "old 0", "old 17"},
		{"end", "new 82", "new 99"},
		{"up", "new 81", "new 98"},
		{"home", "old 0", "old 17"},
		{"pgdown", "old 18", "old 35"},
	} {
		if c.key != "" {
			if request, closed := d.Key(keyOf(c.key)); request != nil || closed {
				t.Errorf("%s returned %v, closed %v", c.key, request, closed)
			}
		}
		lines := strings.Split(ansi.Strip(d.View(ui.NewTheme(true))), "\n")
		if len(lines) != 20 || !strings.Contains(lines[2]+" ", c.first+" ") || !strings.Contains(lines[19]+" ", c.last+" ") {
			t.Errorf("after %q:\n%s", c.key, strings.Join(lines, "\n"))
		}
	}
	if request, _ := d.Key(keyOf("tab")); request != (compareMsg{0, basePort}) {
		t.Errorf("tab returned %v", request)
	}
	if _, closed := d.Key(keyOf("esc")); !closed {
		t.Error("esc did not close the comparison")
	}
	before := d.View(ui.NewTheme(true))
	if d.render(ui.NewTheme(false)); d.View(ui.NewTheme(true)) == before {
		t.Error("the rows have the colours of the old theme")
	}
	if d.setSize(ui.NewTheme(true), 14, 20); !strings.Contains(ansi.Strip(d.View(ui.NewTheme(true))), "- o…") {
		t.Errorf("narrow:\n%s", ansi.Strip(d.View(ui.NewTheme(true))))
	}
}

func TestDocumentPane(t *testing.T) {
	t.Parallel()
	d := &document{path: "/r.yaml", side: recipe}
	th, r := ui.NewTheme(true), rect{w: 40, h: 3}
	if view := ansi.Strip(d.View(th, r, true)); !strings.Contains(view, "reading /r.yaml") {
		t.Errorf("before it is loaded: %q", view)
	}
	d.load(readMsg{path: "/r.yaml", file: "/r.yaml", text: "# head\na: 1\n"})
	if d.updateUnsaved(); d.unsaved || d.text.Cursor().Line != 1 {
		t.Errorf("loaded: unsaved %v, cursor %v", d.unsaved, d.text.Cursor())
	}
	m := d.edit(func([]byte) ([]byte, error) { return []byte("# head\na: 2\n"), nil })().(editedMsg)
	if _, ok := d.handleEdited(m); !ok || d.text.Text() != m.text {
		t.Errorf("changed to %q", d.text.Text())
	}
	if _, ok := d.handleEdited(m); ok {
		t.Error("a change of an older text was accepted")
	}
	if d.updateUnsaved(); !d.unsaved || !strings.Contains(ansi.Strip(d.title(th, true)), "r.yaml ●") {
		t.Errorf("unsaved %v", d.unsaved)
	}
}
