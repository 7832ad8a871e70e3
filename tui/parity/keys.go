package parity

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	swapKey        = ui.Bind("s", "swap sides", "s")
	refreshKey     = ui.Bind("R", "refresh", "R")
	chooseKey      = ui.Bind("enter", "choose", "enter")
	refreshListKey = ui.Bind("R", "refresh", "R")
	moveKeys       = []key.Binding{ // handled by ui.Table
		ui.Bind("↑", "up", "up", "k"), ui.Bind("↓", "down", "down", "j"),
		ui.Bind("pgup", "page up", "pgup"), ui.Bind("pgdn", "page down", "pgdown"),
		ui.Bind("home", "first row", "home", "g"), ui.Bind("end", "last row", "end", "G"),
	}
)

// Keys returns the current bindings.
func (s *Screen) Keys() []key.Binding {
	switch {
	case s.picking():
		return append([]key.Binding{chooseKey, refreshListKey}, moveKeys...)
	case s.err != nil:
		return []key.Binding{refreshKey, swapKey}
	}
	return append(ui.Bindings(s.commands()), moveKeys...)
}

// commands returns the key bindings of a comparison.
func (s *Screen) commands() []ui.Command {
	lowerPaneName := [...]string{"all notes", "configuration", "table"}[s.lowerPane]
	force := "force a verdict"
	if s.force {
		force = "undo force"
	}
	return []ui.Command{
		{
			Key: ui.Bind("d", lowerPaneName, "d"), Hidden: s.layout.showsAll || s.view != figuresView,
			Do: ui.NoCmd(func() { s.lowerPane = (s.lowerPane + 1) % (sidesPane + 1) }),
		},
		s.viewCommand("r", "differences", fieldsView),
		s.viewCommand("t", "turns", turnsView),
		s.viewCommand("g", "TTFT distribution", distributionView),
		s.viewCommand("l", "levels", levelsView),
		{Key: ui.Bind("m", "copy as Markdown", "m"), Do: s.copyMarkdown, Name: "copy", Unavailable: s.copyUnavailable()},
		{Key: ui.Bind("h", "HTML page", "h"), Do: s.writePage, Name: "HTML page", Unavailable: s.copyUnavailable()},
		{Key: ui.Bind("f", force, "f"), Do: s.toggleForce, Name: "force", Unavailable: s.forceUnavailable()},
		{Key: swapKey, Do: s.swapSides},
		{Key: ui.Bind("a", "add a reference", "a"), Do: s.addReference},
		{Key: ui.Bind("[ ]", "phase", "["), Do: func() tea.Cmd { return s.changePhase(-1) }},
		{Key: ui.Bind("[ ]", "phase", "]"), Do: func() tea.Cmd { return s.changePhase(1) }, Hidden: true},
		{Key: refreshKey, Do: s.compare},
	}
}

// viewCommand returns the command that opens a view, or returns from it to the figures.
func (s *Screen) viewCommand(k, desc string, v view) ui.Command {
	if s.view == v {
		desc, v = "figures", figuresView
	}
	return ui.Command{Key: ui.Bind(k, desc, k), Do: func() tea.Cmd {
		if s.view = v; v == levelsView && s.curve == nil {
			return s.loadLevels()
		}
		return nil
	}}
}

func (s *Screen) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	cmd, taken := ui.HandleKey(msg, s.commands())
	if !taken {
		s.activeTable().Key(msg)
	}
	return cmd
}

func (s *Screen) copyMarkdown() tea.Cmd {
	return ui.Send(ui.Copy{Text: s.c.Markdown(), Message: "sent the comparison to the terminal's clipboard as Markdown"})
}

func (s *Screen) copyUnavailable() string {
	if s.c == nil {
		return "no comparison yet"
	}
	return ""
}

func (s *Screen) toggleForce() tea.Cmd {
	s.force = !s.force
	return s.compare()
}

// forceUnavailable returns why a verdict can't be forced; empty if it can.
func (s *Screen) forceUnavailable() string {
	switch {
	case s.force:
		return ""
	case s.c == nil:
		return "no comparison yet"
	case s.c.Verdict != engine.NotComparable:
		return "already comparable"
	}
	return s.c.NoVerdict()
}

func (s *Screen) swapSides() tea.Cmd {
	s.ref, s.cand, s.refs, s.c, s.err = s.cand, s.ref, nil, nil, nil
	return s.compare()
}

func (s *Screen) addReference() tea.Cmd {
	s.addingReference = true
	s.fillPicker(s.runs)
	return s.listRuns()
}

// changePhase compares another phase. The engine reports a phase that does not exist.
func (s *Screen) changePhase(by int) tea.Cmd {
	at := s.phase
	if at == engine.AnyPhase && s.c != nil {
		at = s.c.Candidate.Phase
	}
	if at+by < 0 {
		return ui.Send(ui.Toast{Text: "this is the first phase", Role: ui.Warn})
	}
	s.phase = at + by
	return s.compare()
}
