package edit

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// finder searches a text.
type finder struct {
	active         bool // the query is being typed
	input          ui.Input
	match, matches int
	start          ui.Pos // cursor when the search began
}

func (f *finder) open(text *ui.Editor) {
	f.active, f.start = true, text.Cursor()
	f.input.SetValue(f.input.Value())
	f.search(text, true, true)
}

// search goes to the next or previous match.
func (f *finder) search(text *ui.Editor, forward, includeCursor bool) {
	text.Highlight(f.input.Value())
	f.match, f.matches = text.FindNext(forward, includeCursor)
}

// Key handles a key while the query is typed.
func (f *finder) Key(msg tea.KeyPressMsg, text *ui.Editor) {
	switch msg.String() {
	case "enter", "down", "ctrl+w", "f3":
		f.search(text, true, false)
	case "up", "shift+f3":
		f.search(text, false, false)
	case "esc":
		f.active = false
		text.Highlight("")
	default:
		if f.input.Key(msg) {
			f.searchFromStart(text)
		}
	}
}

// Paste inserts a text into the query.
func (f *finder) Paste(s string, text *ui.Editor) {
	f.input.Insert(s)
	f.searchFromStart(text)
}

// searchFromStart searches from the position of the cursor when the search was opened.
func (f *finder) searchFromStart(text *ui.Editor) {
	text.MoveTo(f.start)
	f.search(text, true, true)
}

// View draws the search in a line of w cells.
func (f *finder) View(th ui.Theme, w int) string {
	status := th.Paint(ui.Muted, "type to search")
	switch {
	case f.matches > 0:
		status = th.Paint(ui.Muted, fmt.Sprintf("%d of %d", f.match, f.matches))
	case f.input.Value() != "":
		status = th.Paint(ui.Warn, "no match")
	}
	status += th.Paint(ui.Muted, " · enter next · ↑ previous · esc ")
	label := " " + th.Paint(ui.Accent, "find ")
	return ui.LeftRight(label+f.input.Draw(th, max(w-ui.Width(label)-ui.Width(status)-2, 8), true), status, w)
}
