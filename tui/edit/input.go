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

// key gives a key to what is open on top, else to the screen's own bindings, else
// to what has the focus. What a pane asks for is a message.
func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	text := &s.texts.doc().text
	switch {
	case s.question != nil:
		asks, answered := s.question.Key(msg)
		if !answered {
			return nil
		}
		s.question = nil
		return s.perform(asks)
	case s.diff != nil:
		asks, closed := s.diff.Key(msg)
		if closed {
			s.diff = nil
		}
		return s.perform(asks)
	case s.finder.on:
		s.finder.Key(msg, text)
		return nil
	}
	if s.reading { // any key closes the description; esc does nothing else
		if s.reading = false; key.Matches(msg, closeKey, docKey) {
			return nil
		}
	}
	if s.comp != nil {
		open, taken := s.comp.Key(msg, text)
		if !open {
			s.comp = nil
		}
		if taken {
			return nil
		}
	}
	if cmd, taken := s.command(msg); taken {
		s.comp = nil
		return cmd
	}
	switch {
	case s.form.on:
		asks := s.form.Key(msg)
		if e, ok := s.form.entry(); ok { // the text of the field is the active one
			s.texts.active = e.side
		}
		return s.perform(asks)
	case s.focus == onText:
		return s.textKey(msg)
	case key.Matches(msg, textKey):
		s.focus = onText
	case key.Matches(msg, slashKey):
		s.focus = onText
		s.finder.open(text)
	case msg.String() == "n", msg.String() == "N":
		s.finder.search(text, msg.String() == "n", false)
	}
	return s.perform(s.problems.Key(msg))
}

// command handles the keys that work wherever the focus is.
func (s *Screen) command(msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	text := &s.texts.doc().text
	switch {
	case key.Matches(msg, saveKey):
		cmd = s.texts.saveThen(s.texts.then)
	case key.Matches(msg, submitKey):
		cmd = s.submit()
	case key.Matches(msg, fixKey):
		if s.question = fixes(s.describe().problems, s.problems.items, s.checks.rule); s.question == nil {
			cmd = ui.Send(ui.Toast{Text: "nothing that a program can fix", Role: ui.Muted})
		}
	case key.Matches(msg, nextKey):
		cmd = s.perform(s.problems.next(s.texts.active, text.Cursor().Line))
	case key.Matches(msg, otherKey):
		if s.texts.docs[workload].path != "" {
			s.texts.active = 1 - s.texts.active
		}
		s.toText()
	case key.Matches(msg, formKey) && s.form.on:
		s.toText()
	case key.Matches(msg, formKey):
		s.focus = onText
		s.texts.active = s.form.open(s.texts.active, text.Cursor().Line)
	case key.Matches(msg, docKey):
		s.reading = s.describe().known
	case key.Matches(msg, diffKey):
		cmd = s.perform(compareMsg{s.describe().side, onDisk})
	case key.Matches(msg, handKey):
		cmd = s.texts.doc().handOff()
	case key.Matches(msg, findKey) && !s.form.on:
		s.focus = onText
		s.finder.open(text)
	case key.Matches(msg, againKey) && s.finder.input.Value() != "":
		s.finder.search(text, true, false)
	default:
		return nil, false
	}
	return cmd, true
}

// textKey handles a key of the text.
func (s *Screen) textKey(msg tea.KeyPressMsg) tea.Cmd {
	d, table := s.texts.doc(), s.checks.table(s.texts.active)
	switch {
	case key.Matches(msg, listKey):
		s.focus, s.comp = onProblems, nil
		d.text.Highlight("")
		return nil
	case !d.loaded:
		return nil
	case key.Matches(msg, compKey):
		if s.comp = complete(table, &d.text, true, false); s.comp == nil {
			return ui.Send(ui.Toast{Text: "nothing known that could stand here", Role: ui.Muted})
		}
		return nil
	}
	before, meant := d.text.Version(), s.comp != nil && s.comp.meant
	d.text.Key(msg)
	s.comp = nil
	if d.text.Version() != before && (msg.Text != "" || msg.String() == "backspace") {
		s.comp = complete(table, &d.text, false, meant)
	}
	return nil
}

// toText gives the keys to the active text.
func (s *Screen) toText() {
	s.focus, s.form.on, s.form.typing = onText, false, false
}

func (s *Screen) paste(text string) {
	d := s.texts.doc()
	switch {
	case s.question != nil || s.diff != nil:
	case s.finder.on:
		s.finder.Paste(text, &d.text)
	case s.form.typing:
		s.form.Paste(text)
	case s.focus == onText && !s.form.on && d.loaded:
		s.comp = nil
		d.text.Insert(text)
	}
}

func (s *Screen) mouse(m ui.Mouse) (asks tea.Msg) {
	switch {
	case s.question != nil || s.form.on:
		return nil
	case s.diff != nil:
		s.diff.view.ScrollDown(m.Wheel)
		return nil
	}
	s.comp, s.reading = nil, false
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
		case !in(r) || !s.boxes.both && d.side != s.texts.active:
		case m.Wheel != 0:
			d.text.Scroll(m.Wheel)
		default:
			s.texts.active, s.focus = d.side, onText
			d.text.Click(m.X-r.x, m.Y-r.y)
		}
	}
	return nil
}
