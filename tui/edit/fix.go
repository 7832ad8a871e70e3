package edit

import (
	tea "charm.land/bubbletea/v2"
)

func (s *Screen) apply() tea.Cmd { s.focus = onText; return nil }
