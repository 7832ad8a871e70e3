package edit

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// goToMsg moves the cursor to a position of a text.
type goToMsg struct {
	side side
	at   ui.Pos
}

// handleKey passes a key to the pane that is open on top, or to the screen's own
// bindings, or to the pane with the focus.
func (s *Screen) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	text := &s.texts.activeDoc().text
	switch {
	case s.question != nil:
		request, answered := s.question.Key(msg)
		if !answered {
			return nil
		}
		s.question = nil
		return s.handlePaneMsg(request)
	case s.diff != nil:
		request, closed := s.diff.Key(msg)
		if closed {
			s.diff = nil
		}
		return s.handlePaneMsg(request)
	case s.finder.active:
		s.finder.Key(msg, text)
		return nil
	}
	if s.describing { // any key closes the description, and esc has no other effect
		if s.describing = false; key.Matches(msg, closeKey, describeKey) {
			return nil
		}
	}
	if s.completion != nil {
		open, handled := s.completion.Key(msg, text)
		if !open {
			s.completion = nil
		}
		if handled {
			return nil
		}
	}
	if cmd, handled := s.handleShortcut(msg); handled {
		s.completion = nil
		return cmd
	}
	switch {
	case s.form.active:
		request := s.form.Key(msg)
		if e, ok := s.form.current(); ok { // the text of this field becomes active
			s.texts.active = e.side
		}
		return s.handlePaneMsg(request)
	case s.focus == onText:
		return s.handleTextKey(msg)
	case key.Matches(msg, enterTextKey):
		s.focus = onText
	case key.Matches(msg, slashKey):
		s.focus = onText
		s.finder.open(text)
	case msg.String() == "n", msg.String() == "N":
		s.finder.search(text, msg.String() == "n", false)
	}
	return s.handlePaneMsg(s.problems.Key(msg))
}

// handleShortcut handles the keys that work with any focus.
func (s *Screen) handleShortcut(msg tea.KeyPressMsg) (cmd tea.Cmd, handled bool) {
	text := &s.texts.activeDoc().text
	switch {
	case key.Matches(msg, saveKey):
		cmd = s.texts.saveThen(s.texts.afterSave)
	case key.Matches(msg, submitKey):
		cmd = s.submit()
	case key.Matches(msg, fixKey):
		if s.question = fixMenu(s.describeLine().problems, s.problems.items, s.checks.rule); s.question == nil {
			cmd = ui.Send(ui.Toast{Text: "no suggested changes", Role: ui.Muted})
		}
	case key.Matches(msg, nextKey):
		cmd = s.handlePaneMsg(s.problems.goToNext(s.texts.active, text.Cursor().Line))
	case key.Matches(msg, otherTextKey):
		if s.texts.docs[workload].path != "" {
			s.texts.active = 1 - s.texts.active
		}
		s.focusText()
	case key.Matches(msg, formKey) && s.form.active:
		s.focusText()
	case key.Matches(msg, formKey):
		s.focus = onText
		s.texts.active = s.form.open(s.texts.active, text.Cursor().Line)
	case key.Matches(msg, describeKey):
		s.describing = s.describeLine().known
	case key.Matches(msg, diffKey):
		cmd = s.handlePaneMsg(compareMsg{s.describeLine().side, baseDisk})
	case key.Matches(msg, externalKey):
		cmd = s.texts.activeDoc().openExternalEditor()
	case key.Matches(msg, findKey) && !s.form.active:
		s.focus = onText
		s.finder.open(text)
	case key.Matches(msg, findNextKey) && s.finder.input.Value() != "":
		s.finder.search(text, true, false)
	default:
		return nil, false
	}
	return cmd, true
}

// handleTextKey handles a key while the text has the focus.
func (s *Screen) handleTextKey(msg tea.KeyPressMsg) tea.Cmd {
	d, table := s.texts.activeDoc(), s.checks.fieldTable(s.texts.active)
	switch {
	case key.Matches(msg, leaveTextKey):
		s.focus, s.completion = onProblems, nil
		d.text.Highlight("")
		return nil
	case !d.loaded:
		return nil
	case key.Matches(msg, completeKey):
		if s.completion = newCompletion(table, &d.text, true, false); s.completion == nil {
			return ui.Send(ui.Toast{Text: "no completions", Role: ui.Muted})
		}
		return nil
	}
	before, explicit := d.text.Version(), s.completion != nil && s.completion.explicit
	d.text.Key(msg)
	s.completion = nil
	if d.text.Version() != before && (msg.Text != "" || msg.String() == "backspace") {
		s.completion = newCompletion(table, &d.text, false, explicit)
	}
	return nil
}

// focusText moves the focus to the active text.
func (s *Screen) focusText() {
	s.focus, s.form.active, s.form.typing = onText, false, false
}

func (s *Screen) handlePaste(text string) {
	d := s.texts.activeDoc()
	switch {
	case s.question != nil || s.diff != nil:
	case s.finder.active:
		s.finder.Paste(text, &d.text)
	case s.form.typing:
		s.form.Paste(text)
	case s.focus == onText && !s.form.active && d.loaded:
		s.completion = nil
		d.text.Paste(text)
	}
}

func (s *Screen) handleMouse(m ui.Mouse) (request tea.Msg) {
	switch {
	case s.question != nil || s.form.active:
		return nil
	case s.diff != nil:
		s.diff.view.ScrollDown(m.Wheel)
		return nil
	}
	s.completion, s.describing = nil, false
	in := func(r rect) bool { return m.In(r.x, r.y, r.w, r.h) }
	switch list := s.boxes.list; {
	case in(list) && m.Wheel == 0:
		return s.problems.click(m.Y-list.y, list.h)
	case in(list):
		s.problems.move(m.Wheel)
		return nil
	}
	for i := range s.texts.docs {
		r, d := s.boxes.text[i], &s.texts.docs[i]
		switch {
		case !in(r) || !s.boxes.sideBySide && d.side != s.texts.active:
		case m.Wheel != 0:
			d.text.Scroll(m.Wheel)
		default:
			s.texts.active, s.focus = d.side, onText
			d.text.Click(m.X-r.x, m.Y-r.y)
		}
	}
	return nil
}
