package parity

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	swapKey   = ui.Bind("s", "swap sides", "s")
	againKey  = ui.Bind("R", "compare again", "R")
	chooseKey = ui.Bind("enter", "choose", "enter")
	listKey   = ui.Bind("R", "list again", "R")
	moveKeys  = []key.Binding{ // as tables have them
		ui.Bind("↑", "row up", "up", "k"), ui.Bind("↓", "row down", "down", "j"),
		ui.Bind("pgup", "a page up", "pgup"), ui.Bind("pgdn", "a page down", "pgdown"),
		ui.Bind("home", "first row", "home", "g"), ui.Bind("end", "last row", "end", "G"),
	}
)

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding {
	switch {
	case s.picking():
		return append([]key.Binding{chooseKey, listKey}, moveKeys...)
	case s.err != nil:
		return []key.Binding{againKey, swapKey}
	}
	return append(ui.Bindings(s.commands()), moveKeys...)
}

// commands are the keys of a comparison.
func (s *Screen) commands() []ui.Command {
	sides := [...]string{"all notes", "both sides", "the table"}[s.lower]
	force := "force a verdict"
	if s.force {
		force = "no forced verdict"
	}
	return []ui.Command{
		{
			Key: ui.Bind("d", sides, "d"), Hidden: s.lay.all || s.view != viewFigures,
			Do: ui.NoCmd(func() { s.lower = (s.lower + 1) % (showSides + 1) }),
		},
		s.toView("r", "differences", viewFields),
		s.toView("t", "turns", viewTurns),
		s.toView("g", "TTFT drawn", viewSpread),
		s.toView("l", "levels", viewLevels),
		{Key: ui.Bind("m", "copy as Markdown", "m"), Do: s.copy, Name: "copy", Unavailable: s.noCopy()},
		{Key: ui.Bind("h", "HTML page", "h"), Do: s.writePage, Name: "HTML page", Unavailable: s.noCopy()},
		{Key: ui.Bind("f", force, "f"), Do: s.turnForce, Name: "force", Unavailable: s.noForce()},
		{Key: swapKey, Do: s.swap},
		{Key: ui.Bind("a", "add a reference", "a"), Do: s.add},
		{Key: ui.Bind("[ ]", "phase", "["), Do: func() tea.Cmd { return s.turnPhase(-1) }},
		{Key: ui.Bind("[ ]", "phase", "]"), Do: func() tea.Cmd { return s.turnPhase(1) }, Hidden: true},
		{Key: againKey, Do: s.compare},
	}
}

// toView shows a view, or the figures again when it is shown already.
func (s *Screen) toView(k, desc string, v view) ui.Command {
	if s.view == v {
		desc, v = "figures", viewFigures
	}
	return ui.Command{Key: ui.Bind(k, desc, k), Do: func() tea.Cmd {
		if s.view = v; v == viewLevels && s.curve == nil {
			return s.levels()
		}
		return nil
	}}
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	cmd, taken := ui.HandleKey(msg, s.commands())
	if !taken {
		s.more().Key(msg)
	}
	return cmd
}

func (s *Screen) copy() tea.Cmd {
	return ui.Send(ui.Copy{Text: s.c.Markdown(), Message: "the comparison is in the clipboard, as Markdown"})
}

func (s *Screen) noCopy() string {
	if s.c == nil {
		return "no comparison yet"
	}
	return ""
}

func (s *Screen) turnForce() tea.Cmd {
	s.force = !s.force
	return s.compare()
}

// noForce is why there is nothing to force.
func (s *Screen) noForce() string {
	switch {
	case s.force:
		return ""
	case s.c == nil:
		return "no comparison yet"
	case s.c.Verdict != engine.NotComparable:
		return "comparable"
	case s.c.Delta == nil:
		return "no difference to judge"
	}
	return ""
}

func (s *Screen) swap() tea.Cmd {
	s.ref, s.cand, s.refs, s.c, s.err = s.cand, s.ref, nil, nil, nil
	return s.compare()
}

func (s *Screen) add() tea.Cmd {
	s.adding = true
	s.fillPicker(s.runs)
	return s.list()
}

// turnPhase compares the next phase; one that does not exist is told by the engine.
func (s *Screen) turnPhase(by int) tea.Cmd {
	at := s.phase
	if at == engine.AnyPhase && s.c != nil {
		at = s.c.Candidate.Phase
	}
	if at+by < 0 {
		return ui.Send(ui.Toast{Text: "there is no phase before the first", Role: ui.Warn})
	}
	s.phase = at + by
	return s.compare()
}
