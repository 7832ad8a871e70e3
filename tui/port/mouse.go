package port

import (
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// todoRow leaves the line under the selected question out of a row of the body, so
// that rows and questions go together: that line belongs to the question above it.
func (s *Screen) todoRow(y int) int {
	if y-s.boxes.todos.y > s.todo-s.todoTop() {
		return y - s.belowRows()
	}
	return y
}

func (s *Screen) mouse(m ui.Mouse) tea.Cmd {
	switch {
	case s.viewer.shown():
		return s.viewer.pane.Scroll(m.Wheel)
	case s.sheet != nil:
		s.sheet.scroll(m.Wheel)
		return nil
	case s.stage == choosing:
		s.chooseMouse(m)
	case s.stage == looking && s.answer == nil && s.search == nil:
		s.lookMouse(m)
		return s.fetch()
	}
	return nil
}

func (s *Screen) chooseMouse(m ui.Mouse) {
	if m.Wheel != 0 {
		s.row = max(min(s.row+m.Wheel, len(s.rows)-1), 0)
	} else if i := s.rowTop() + m.Y - s.head(); m.Y >= s.head() && i < len(s.rows) {
		s.row = i
	}
}

func (s *Screen) lookMouse(m ui.Mouse) {
	in := func(r rect) bool { return m.In(r.x, r.y, r.w, r.h) }
	by := func(p pane, top int, r rect) {
		s.pane = p
		if m.Wheel != 0 {
			s.move(m.Wheel)
			return
		}
		cursor := map[pane]int{onFile: s.at[s.doc], onTodos: s.todo, onArtifacts: s.artifact}[p]
		s.move(top + m.Y - r.y - cursor)
	}
	switch {
	case in(s.boxes.file) && s.pane == onArtifacts && !s.boxes.wide:
		by(onArtifacts, s.artifactTop(), s.boxes.file)
	case in(s.boxes.file):
		by(onFile, s.top[s.doc], s.boxes.file)
	case in(s.boxes.todos):
		if s.pane == onTodos {
			m.Y = s.todoRow(m.Y)
		}
		by(onTodos, s.todoTop(), s.boxes.todos) // the first in view as it was drawn
	case in(s.boxes.artifacts):
		by(onArtifacts, s.artifactTop(), s.boxes.artifacts)
	}
}
