package edit

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// goToMsg asks to go to a place of a text.
type goToMsg struct {
	side side
	at   ui.Pos
}

// handleKey gives a key to what is open on top, else to the screen's own bindings, else
// to what has the focus. What a pane asks for is a message.
func (s *Screen) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	text := &s.texts.activeDoc().text
	switch {
	case s.question != nil:
		asks, answered := s.question.Key(msg)
		if !answered {
			return nil
		}
		s.question = nil
		return s.handlePaneMsg(asks)
	case s.diff != nil:
		asks, closed := s.diff.Key(msg)
		if closed {
			s.diff = nil
		}
		return s.handlePaneMsg(asks)
	case s.finder.active:
		s.finder.Key(msg, text)
		return nil
	}
	if s.describing { // any key closes the description; esc does nothing else
		if s.describing = false; key.Matches(msg, closeKey, describeKey) {
			return nil
		}
	}
	if s.completion != nil {
		open, taken := s.completion.Key(msg, text)
		if !open {
			s.completion = nil
		}
		if taken {
			return nil
		}
	}
	if cmd, taken := s.handleShortcut(msg); taken {
		s.completion = nil
		return cmd
	}
	switch {
	case s.form.active:
		asks := s.form.Key(msg)
		if e, ok := s.form.current(); ok { // the text of the field is the active one
			s.texts.active = e.side
		}
		return s.handlePaneMsg(asks)
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

// handleShortcut handles the keys that work wherever the focus is.
func (s *Screen) handleShortcut(msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	text := &s.texts.activeDoc().text
	switch {
	case key.Matches(msg, saveKey):
		cmd = s.texts.saveThen(s.texts.afterSave)
	case key.Matches(msg, submitKey):
		cmd = s.submit()
	case key.Matches(msg, fixKey):
		if s.question = fixMenu(s.describeLine().problems, s.problems.items, s.checks.rule); s.question == nil {
			cmd = ui.Send(ui.Toast{Text: "nothing that a program can fix", Role: ui.Muted})
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

// handleTextKey handles a key of the text.
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
			return ui.Send(ui.Toast{Text: "nothing known that could stand here", Role: ui.Muted})
		}
		return nil
	}
	before, meant := d.text.Version(), s.completion != nil && s.completion.explicit
	d.text.Key(msg)
	s.completion = nil
	if d.text.Version() != before && (msg.Text != "" || msg.String() == "backspace") {
		s.completion = newCompletion(table, &d.text, false, meant)
	}
	return nil
}

// focusText gives the keys to the active text.
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
		d.text.Insert(text)
	}
}

func (s *Screen) handleMouse(m ui.Mouse) (asks tea.Msg) {
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
