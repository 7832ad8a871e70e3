package edit

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	saveKey   = key.NewBinding(key.WithKeys("ctrl+s"), key.WithHelp("ctrl+s", "save"))
	submitKey = key.NewBinding(key.WithKeys("ctrl+r"), key.WithHelp("ctrl+r", "submit"))
	fixKey    = key.NewBinding(key.WithKeys("ctrl+f"), key.WithHelp("ctrl+f", "fix"))
	nextKey   = key.NewBinding(key.WithKeys("ctrl+n"), key.WithHelp("ctrl+n", "next problem"))
	otherKey  = key.NewBinding(key.WithKeys("ctrl+t"), key.WithHelp("ctrl+t", "file"))
	formKey   = key.NewBinding(key.WithKeys("ctrl+o"), key.WithHelp("ctrl+o", "form"))
	textsKey  = key.NewBinding(key.WithKeys("ctrl+o", "esc"), key.WithHelp("ctrl+o", "text"))
	findKey   = key.NewBinding(key.WithKeys("ctrl+w"), key.WithHelp("ctrl+w", "find"))
	againKey  = key.NewBinding(key.WithKeys("f3"), key.WithHelp("f3", "find again"))
	docKey    = key.NewBinding(key.WithKeys("f2", "ctrl+p"), key.WithHelp("ctrl+p", "what this field is"))
	compKey   = key.NewBinding(key.WithKeys("ctrl+space", "ctrl+@"), key.WithHelp("ctrl+space", "complete"))
	diffKey   = key.NewBinding(key.WithKeys("ctrl+g"), key.WithHelp("ctrl+g", "differences"))
	handKey   = key.NewBinding(key.WithKeys("ctrl+x"), key.WithHelp("ctrl+x", "$EDITOR"))
	undoKey   = key.NewBinding(key.WithKeys("ctrl+z"), key.WithHelp("ctrl+z", "undo"))
	redoKey   = key.NewBinding(key.WithKeys("ctrl+y"), key.WithHelp("ctrl+y", "redo"))
	listKey   = key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "problems, then back"))

	goKey    = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "go there"))
	textKey  = key.NewBinding(key.WithKeys("tab", "e", "i"), key.WithHelp("tab", "text"))
	makeKey  = key.NewBinding(key.WithKeys("f"), key.WithHelp("f", "fix this"))
	slashKey = key.NewBinding(key.WithKeys("/"), key.WithHelp("/", "find"))
	upKey    = key.NewBinding(key.WithKeys("up", "k"), key.WithHelp("↑ k", "up"))
	downKey  = key.NewBinding(key.WithKeys("down", "j"), key.WithHelp("↓ j", "down"))

	chooseKey = key.NewBinding(key.WithKeys("up", "down"), key.WithHelp("↑ ↓", "choose"))
	applyKey  = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "do it"))
	closeKey  = key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "close"))
	valueKey  = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "change the value"))
	setKey    = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "set it; empty takes it out"))
	againstK  = key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "disk or port"))
	scrollKey = key.NewBinding(key.WithKeys("up", "down"), key.WithHelp("↑ ↓", "scroll"))
)

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding {
	save, submit, next, other, list := saveKey, submitKey, nextKey, otherKey, goKey
	save.SetEnabled(s.Unsaved())
	next.SetEnabled(len(s.problems) > 0)
	list.SetEnabled(len(s.problems) > 0)
	other.SetEnabled(s.sides[workload].path != "")
	if why := s.notSubmittable(); why != "" {
		submit.SetEnabled(false)
		submit.SetHelp("ctrl+r", "submit ("+why+")")
	}
	switch {
	case s.menu != nil:
		return []key.Binding{applyKey, chooseKey, closeKey}
	case !s.sides[recipe].loaded:
		return nil
	case s.diff != nil:
		return []key.Binding{againstK, other, scrollKey, closeKey}
	case s.find.on || s.reading:
		return []key.Binding{closeKey}
	case s.form.typing:
		return []key.Binding{setKey, closeKey}
	case s.focus == onForm:
		return []key.Binding{valueKey, textsKey, save, submit, fixKey, docKey, diffKey, upKey, downKey}
	case s.focus == onProblems:
		mk := makeKey
		mk.SetEnabled(s.cursor < len(s.problems) && s.problems[s.cursor].Edit != nil)
		return []key.Binding{list, mk, textKey, slashKey, save, submit, fixKey, formKey, diffKey, upKey, downKey}
	}
	return []key.Binding{save, fixKey, other, formKey, submit, next, diffKey, findKey, docKey, compKey, handKey, undoKey, redoKey, againKey, listKey}
}

// notSubmittable is why the pair can't be submitted now; empty if it can. While
// the latest text is not checked yet nothing speaks against it: the submit screen
// checks once more.
func (s *Screen) notSubmittable() string {
	errors, _ := count(s.problems)
	switch {
	case !s.sides[recipe].loaded:
		return "no recipe"
	case s.checked && errors > s.todos:
		return ui.Plural(errors, "error")
	case s.checked && s.todos > 0:
		return ui.Plural(s.todos, "open placeholder")
	}
	return ""
}

// key gives a key to what is open on top, else to the screen's own bindings, else
// to what has the focus.
func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.menu != nil:
		return s.menuKey(msg)
	case s.diff != nil:
		return s.diffKey(msg)
	case s.find.on:
		return s.findKey(msg)
	}
	if s.reading { // any key closes the description; esc does nothing else
		if s.reading = false; key.Matches(msg, closeKey, docKey) {
			return nil
		}
	}
	if s.comp != nil {
		if cmd, taken := s.compKey(msg); taken {
			return cmd
		}
	}
	if cmd, taken := s.command(msg); taken {
		s.comp = nil
		return cmd
	}
	switch s.focus {
	case onProblems:
		return s.listKey(msg)
	case onForm:
		return s.formKey(msg)
	}
	return s.textKey(msg)
}

// command handles the keys that work wherever the focus is.
func (s *Screen) command(msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	switch {
	case key.Matches(msg, saveKey):
		if cmd := s.save(); cmd != nil || s.saving() { // saved again when that has ended, which says so
			return cmd, true
		}
		return ui.Do(ui.Toast{Text: "nothing to save", Role: ui.Muted}), true
	case key.Matches(msg, submitKey):
		return s.submitPair(), true
	case key.Matches(msg, fixKey):
		return s.fixMenu(), true
	case key.Matches(msg, nextKey):
		s.nextProblem()
	case key.Matches(msg, otherKey):
		s.other()
	case key.Matches(msg, formKey):
		s.toggleForm()
	case key.Matches(msg, docKey):
		_, s.reading = s.field()
	case key.Matches(msg, diffKey):
		which, _ := s.subject()
		return s.compareWith(which, onDisk), true
	case key.Matches(msg, handKey):
		return s.handOff(), true
	case key.Matches(msg, findKey) && !s.form.on:
		s.beginFind()
	case key.Matches(msg, againKey) && s.find.input.Value() != "":
		s.search(true, false)
	default:
		return nil, false
	}
	return nil, true
}

// textKey handles a key of the text.
func (s *Screen) textKey(msg tea.KeyPressMsg) tea.Cmd {
	f := &s.sides[s.active]
	if key.Matches(msg, listKey) {
		s.focus, s.comp = onProblems, nil
		f.text.Search("")
		return nil
	}
	if !f.loaded {
		return nil
	}
	if key.Matches(msg, compKey) {
		s.offer(true)
		if s.comp == nil {
			return ui.Do(ui.Toast{Text: "nothing known that could stand here", Role: ui.Muted})
		}
		return nil
	}
	before := f.text.Version()
	f.text.Key(msg)
	if f.text.Version() == before {
		s.comp = nil
		return nil
	}
	if msg.Text != "" || msg.String() == "backspace" {
		s.offer(false)
	} else {
		s.comp = nil
	}
	return s.changed()
}

func (s *Screen) listKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, upKey):
		s.cursor = max(s.cursor-1, 0)
	case key.Matches(msg, downKey):
		s.cursor = max(min(s.cursor+1, len(s.problems)-1), 0)
	case key.Matches(msg, goKey):
		s.visit()
	case key.Matches(msg, textKey):
		s.focus = onText
	case key.Matches(msg, slashKey):
		s.beginFind()
	case msg.String() == "n", msg.String() == "N":
		s.search(msg.String() == "n", false)
	case key.Matches(msg, makeKey):
		if s.cursor >= len(s.problems) || s.problems[s.cursor].Edit == nil || s.problems[s.cursor].side < 0 {
			return ui.Do(ui.Toast{Text: "this one needs a person: enter goes there", Role: ui.Muted})
		}
		return s.fixProblem(s.problems[s.cursor])
	}
	return nil
}

// submitPair saves what is not saved, and opens the submit screen then.
func (s *Screen) submitPair() tea.Cmd {
	if why := s.notSubmittable(); why != "" {
		s.submit = false
		return ui.Do(ui.Toast{Text: "not to be submitted: " + why, Role: ui.Warn})
	}
	s.submit = true
	cmd := s.save()
	if cmd == nil && !s.saving() {
		return s.openSubmit()
	}
	return cmd
}

// openSubmit opens the submit screen on what is saved.
func (s *Screen) openSubmit() tea.Cmd {
	s.submit = false
	o := ui.OpenSubmit{Recipe: s.sides[recipe].path}
	if f := &s.sides[workload]; f.loaded {
		o.Workload = f.path
	}
	return ui.Do(o)
}

// other switches to the other text.
func (s *Screen) other() {
	if s.sides[workload].path != "" {
		s.active = 1 - s.active
	}
	s.focus, s.form.on, s.form.typing = onText, false, false
}

// nextProblem goes to the problem after the one last gone to.
func (s *Screen) nextProblem() {
	if len(s.problems) == 0 {
		return
	}
	if p := s.problems[s.cursor]; p.side == s.active && s.sides[s.active].text.Cursor().Line == p.Line-1 {
		s.cursor = (s.cursor + 1) % len(s.problems)
	}
	s.visit()
}

// visit moves the text cursor to the problem under the list's.
func (s *Screen) visit() {
	if len(s.problems) == 0 {
		return
	}
	p := s.problems[s.cursor]
	if p.side < 0 || p.Line < 1 {
		return
	}
	s.active, s.focus, s.form.on, s.form.typing = p.side, onText, false, false
	s.sides[s.active].text.Go(ui.Pos{Line: p.Line - 1, Col: max(p.Column-1, 0)})
	s.sides[s.active].text.Centre()
}

func (s *Screen) mouse(m ui.Mouse) {
	if s.menu != nil || s.form.on {
		return
	}
	if s.diff != nil {
		s.diff.top = max(min(s.diff.top+m.Wheel, len(s.diff.rows)-1), 0)
		return
	}
	s.comp, s.reading = nil, false
	in := func(r rect) bool { return m.In(r.x, r.y, r.w, r.h) }
	if in(s.boxes.list) {
		if m.Wheel != 0 {
			s.cursor = max(min(s.cursor+m.Wheel, len(s.problems)-1), 0)
		} else if i := listTop(s.cursor, len(s.problems), s.boxes.list.h) + m.Y - s.boxes.list.y; i < len(s.problems) {
			s.cursor = i
			s.visit()
		}
		return
	}
	for i := range s.sides {
		r := s.boxes.text[i]
		if !in(r) || !s.boxes.both && i != s.active {
			continue
		}
		if m.Wheel != 0 {
			s.sides[i].text.Scroll(m.Wheel)
		} else {
			s.active, s.focus = i, onText
			s.sides[i].text.Click(m.X-r.x, m.Y-r.y)
		}
	}
}
