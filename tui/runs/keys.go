package runs

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var tableKeys = []key.Binding{ // handled by the table
	ui.Bind("↑ k", "up", "up", "k"), ui.Bind("↓ j", "down", "down", "j"),
	ui.Bind("pgup", "page up", "pgup", "ctrl+b"), ui.Bind("pgdn", "page down", "pgdown", "ctrl+f"),
	ui.Bind("g", "first", "home", "g"), ui.Bind("G", "last", "end", "G"),
}

// Keys returns the current bindings.
func (s *Screen) Keys() []key.Binding { return append(ui.Bindings(s.commands()), tableKeys...) }

func (s *Screen) commands() []ui.Command {
	open, compare := ui.Bind("enter", "open", "enter"), ui.Bind("c", "compare with…", "c")
	cancel := ui.Bind("x", "cancel", "x")
	run, ok := s.list.selected()
	open.SetEnabled(ok)
	compare.SetEnabled(ok)
	cancel.SetEnabled(ok)
	if ok && !cancellable(run) {
		cancel = ui.Disabled(cancel, "not running")
	}
	return []ui.Command{
		{Key: open, Do: s.open},
		{Key: ui.Bind("p", "port", "p"), Do: func() tea.Cmd { return ui.Send(ui.OpenPort{}) }},
		{Key: ui.Bind("n", "new from recipe", "n"), Do: ui.NoCmd(func() { s.typing = typingRecipe })},
		{Key: compare, Do: s.compare},
		{Key: ui.Bind("/", "filter", "/"), Do: ui.NoCmd(func() { s.typing = typingFilter })},
		{Key: cancel, Do: s.askCancel},
		{Key: ui.Bind("r", "refresh", "r"), Do: s.load},
	}
}

func (s *Screen) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.typing == typingFilter:
		s.typeFilter(msg)
		return nil
	case s.typing == typingRecipe:
		return s.typeRecipe(msg)
	case s.list.table.Key(msg):
		return nil
	}
	cmd, _ := ui.HandleKey(msg, s.commands())
	return cmd
}

func (s *Screen) typeFilter(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter":
		s.typing = typingNothing
	case "esc":
		s.typing = typingNothing
		s.list.filter.SetValue("")
	default:
		s.list.filter.Key(msg)
	}
	s.list.applyFilter(s.now)
}

func (s *Screen) typeRecipe(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		s.typing = typingNothing
	case "enter":
		s.typing = typingNothing
		if path := strings.TrimSpace(s.recipe.Value()); path != "" {
			return func() tea.Msg { return ui.OpenEdit{Recipe: session.ExpandHome(path)} }
		}
	default:
		s.recipe.Key(msg)
	}
	return nil
}

// Escape clears the filter and the reference. It never closes this screen: it is the last
// one, and pressing esc too often must not quit the program.
func (s *Screen) Escape() (tea.Cmd, bool) {
	if s.list.nothingToClear() {
		return ui.Send(ui.Toast{Text: "q quits; runs continue"}), true
	}
	return s.Leave(), true
}

// Leave clears the filter and the reference, or closes the screen if there is neither.
func (s *Screen) Leave() tea.Cmd {
	if s.list.nothingToClear() {
		return ui.Send(ui.Back{})
	}
	s.list.filter.SetValue("")
	s.list.reference = ""
	s.list.applyFilter(s.now)
	return nil
}

// compare makes the selected run the reference, or compares it with the reference.
func (s *Screen) compare() tea.Cmd {
	run, _ := s.list.selected()
	ref := s.list.reference
	if s.list.reference = ""; ref == "" {
		s.list.reference = run.Dir
	}
	s.list.applyFilter(s.now)
	if ref == "" || ref == run.Dir {
		return nil
	}
	return ui.Send(ui.OpenParity{Ref: ref, Cand: run.Dir})
}

func (s *Screen) askCancel() tea.Cmd {
	run, _ := s.list.selected()
	return ui.Send(ui.Ask{
		ID: "cancel " + run.Dir, Title: "Cancel this run?",
		Body: run.Name + " " + run.ID + " is " + ui.StateText(string(run.State)) + ". Its measurements are kept.",
		Yes:  "cancel run", No: "keep running", Danger: true,
	})
}
