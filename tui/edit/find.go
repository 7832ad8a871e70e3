package edit

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// find is the search in the text.
type find struct {
	on      bool // being typed
	input   ui.Input
	nth, of int
	from    ui.Pos // where the cursor was when it began
}

func (s *Screen) beginFind() {
	s.find.on, s.find.from = true, s.sides[s.active].text.Cursor()
	s.focus = onText
	s.find.input.SetValue(s.find.input.Value())
	s.search(true, true)
}

// search goes to the next place, or the one before.
func (s *Screen) search(forward, here bool) {
	e := &s.sides[s.active].text
	e.Search(s.find.input.Value())
	s.find.nth, s.find.of = e.Found(forward, here)
}

func (s *Screen) findKey(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter", "down", "ctrl+w", "f3":
		s.search(true, false)
	case "up", "shift+f3":
		s.search(false, false)
	case "esc":
		s.find.on = false
		s.sides[s.active].text.Search("")
	default:
		if s.find.input.Key(msg) {
			s.typedFind()
		}
	}
	return nil
}

// typedFind searches from where the search began.
func (s *Screen) typedFind() {
	s.sides[s.active].text.Go(s.find.from)
	s.search(true, true)
}

// findLine is the search as it is typed.
func (s *Screen) findLine() string {
	said := s.th.Paint(ui.Muted, "what is to be found")
	switch {
	case s.find.of > 0:
		said = s.th.Paint(ui.Muted, fmt.Sprintf("%d of %d", s.find.nth, s.find.of))
	case s.find.input.Value() != "":
		said = s.th.Paint(ui.Warn, "not found")
	}
	said += s.th.Paint(ui.Muted, " · enter next · ↑ previous · esc ")
	label := " " + s.th.Paint(ui.Accent, "find ")
	return ui.Ends(label+s.find.input.Draw(s.th, max(s.w-ui.Width(label)-ui.Width(said)-2, 8), true), said, s.w)
}
