package edit

import (
	"strconv"

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
	undoKey   = key.NewBinding(key.WithKeys("ctrl+z"), key.WithHelp("ctrl+z", "undo"))
	redoKey   = key.NewBinding(key.WithKeys("ctrl+y"), key.WithHelp("ctrl+y", "redo"))
	listKey   = key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "problems, then back"))

	goKey   = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "go there"))
	textKey = key.NewBinding(key.WithKeys("tab", "e", "i"), key.WithHelp("tab", "text"))
	makeKey = key.NewBinding(key.WithKeys("f"), key.WithHelp("f", "fix this"))
	upKey   = key.NewBinding(key.WithKeys("up", "k"), key.WithHelp("↑ k", "up"))
	downKey = key.NewBinding(key.WithKeys("down", "j"), key.WithHelp("↓ j", "down"))

	chooseKey = key.NewBinding(key.WithKeys("left", "right"), key.WithHelp("← →", "choose"))
	applyKey  = key.NewBinding(key.WithKeys("enter", "ctrl+f"), key.WithHelp("enter", "apply"))
	keepKey   = key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "leave as it is"))
)

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding {
	save, submit, fix, next, other, list := saveKey, submitKey, fixKey, nextKey, otherKey, goKey
	save.SetEnabled(s.sides[recipe].unsaved || s.sides[workload].unsaved)
	fix.SetEnabled(len(s.fixes()) > 0)
	next.SetEnabled(len(s.problems) > 0)
	list.SetEnabled(len(s.problems) > 0)
	other.SetEnabled(s.sides[workload].path != "")
	if why := s.notSubmittable(); why != "" {
		submit.SetEnabled(false)
		submit.SetHelp("ctrl+r", "submit ("+why+")")
	}
	switch s.focus {
	case onFixes:
		return []key.Binding{applyKey, chooseKey, keepKey}
	case onProblems:
		mk := makeKey
		mk.SetEnabled(s.fixable())
		return []key.Binding{list, mk, textKey, save, submit, fix, upKey, downKey}
	}
	return []key.Binding{save, submit, fix, other, next, undoKey, redoKey, listKey}
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
		return plural(errors, "error")
	case s.checked && s.todos > 0:
		return plural(s.todos, "open placeholder")
	}
	return ""
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	if s.focus == onFixes {
		return s.fixesKey(msg)
	}
	switch {
	case key.Matches(msg, saveKey):
		if cmd := s.save(); cmd != nil {
			return cmd
		}
		if s.saving() {
			return nil // saved again when that has ended, which says so
		}
		return ui.Do(ui.Toast{Text: "nothing to save", Role: ui.Muted})
	case key.Matches(msg, submitKey):
		return s.submitPair()
	case key.Matches(msg, fixKey):
		if len(s.fixes()) == 0 {
			return ui.Do(ui.Toast{Text: "the timeout rule holds: nothing to fix", Role: ui.OK})
		}
		s.focus, s.fix = onFixes, 0
		return nil
	case key.Matches(msg, nextKey):
		s.nextProblem()
		return nil
	case key.Matches(msg, otherKey):
		s.other()
		return nil
	}
	if s.focus == onProblems {
		return s.listKey(msg)
	}
	f := &s.sides[s.active]
	if key.Matches(msg, listKey) {
		s.focus = onProblems
		return nil
	}
	if !f.loaded {
		return nil
	}
	before := f.text.Version()
	f.text.Key(msg)
	if f.text.Version() != before {
		return s.changed()
	}
	return nil
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
	case key.Matches(msg, makeKey):
		return s.fixProblem()
	}
	return nil
}

func (s *Screen) fixesKey(msg tea.KeyPressMsg) tea.Cmd {
	fixes := s.fixes()
	if n, err := strconv.Atoi(msg.String()); err == nil && n >= 1 && n <= len(fixes) {
		s.fix = n - 1
		return s.apply()
	}
	switch {
	case msg.String() == "left":
		s.fix = (s.fix + len(fixes) - 1) % len(fixes)
	case msg.String() == "right", msg.String() == "tab":
		s.fix = (s.fix + 1) % len(fixes)
	case key.Matches(msg, applyKey):
		return s.apply()
	case key.Matches(msg, keepKey):
		s.focus = onText
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
	s.focus = onText
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
	s.active, s.focus = p.side, onText
	s.sides[s.active].text.Go(ui.Pos{Line: p.Line - 1, Col: max(p.Column-1, 0)})
	s.sides[s.active].text.Centre()
}

func (s *Screen) mouse(m ui.Mouse) {
	in := func(r rect) bool { return m.X >= r.x && m.X < r.x+r.w && m.Y >= r.y && m.Y < r.y+r.h }
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
