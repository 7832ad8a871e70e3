package runs

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	openKey   = ui.Bind("enter", "open", "enter")
	portKey   = ui.Bind("p", "port", "p")
	newKey    = ui.Bind("n", "new from recipe", "n")
	withKey   = ui.Bind("c", "compare with…", "c")
	filterKey = ui.Bind("/", "filter", "/")
	cancelKey = ui.Bind("x", "cancel", "x")
	reloadKey = ui.Bind("r", "read again", "r")
	upKey     = ui.Bind("↑ k", "up", "up", "k")
	downKey   = ui.Bind("↓ j", "down", "down", "j")
	pageUp    = ui.Bind("pgup", "page up", "pgup", "ctrl+b")
	pageDown  = ui.Bind("pgdn", "page down", "pgdown", "ctrl+f")
	homeKey   = ui.Bind("g", "first", "home", "g")
	endKey    = ui.Bind("G", "last", "end", "G")
)

// Keys are the bindings; cancelling a run that has ended says why it can't be.
func (s *Screen) Keys() []key.Binding {
	open, with, cancel := openKey, withKey, cancelKey
	run, ok := s.list.selected()
	open.SetEnabled(ok)
	with.SetEnabled(ok)
	cancel.SetEnabled(ok)
	if ok && !cancellable(run) {
		cancel = ui.Disabled(cancel, "it has ended")
	}
	return []key.Binding{
		open, portKey, newKey, with, filterKey, cancel, reloadKey, upKey, downKey, pageUp, pageDown, homeKey, endKey,
	}
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	switch s.typing {
	case typingFilter:
		s.typeFilter(msg)
		return nil
	case typingRecipe:
		return s.typeRecipe(msg)
	}
	switch {
	case s.list.table.Key(msg):
	case key.Matches(msg, openKey):
		return s.open()
	case key.Matches(msg, portKey):
		return ui.Do(ui.OpenPort{})
	case key.Matches(msg, newKey):
		s.typing = typingRecipe
	case key.Matches(msg, withKey):
		return s.compare()
	case key.Matches(msg, filterKey):
		s.typing = typingFilter
	case key.Matches(msg, reloadKey):
		return s.load()
	case key.Matches(msg, cancelKey):
		return s.askCancel()
	}
	return nil
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
	s.list.show(s.now)
}

func (s *Screen) typeRecipe(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		s.typing = typingNothing
	case "enter":
		s.typing = typingNothing
		if path := strings.TrimSpace(s.recipe.Value()); path != "" {
			return func() tea.Msg { return ui.OpenEdit{Recipe: session.Home(path)} }
		}
	default:
		s.recipe.Key(msg)
	}
	return nil
}

// Escape gives up a filter or a mark. Nothing is behind this screen, and esc is
// pressed once too often on the way back to it: q leaves the workbench.
func (s *Screen) Escape() (tea.Cmd, bool) {
	if s.list.plain() {
		return ui.Do(ui.Toast{Text: "q leaves the workbench; runs go on"}), true
	}
	return s.Leave(), true
}

// Leave gives up a filter or a mark first.
func (s *Screen) Leave() tea.Cmd {
	if s.list.plain() {
		return ui.Do(ui.Back{})
	}
	s.list.filter.SetValue("")
	s.list.marked = ""
	s.list.show(s.now)
	return nil
}

// compare marks the run under the cursor, or opens the comparison with the one
// that is marked.
func (s *Screen) compare() tea.Cmd {
	run, ok := s.list.selected()
	if !ok {
		return nil
	}
	ref := s.list.marked
	if s.list.marked = ""; ref == "" {
		s.list.marked = run.Dir
	}
	s.list.show(s.now)
	if ref == "" || ref == run.Dir {
		return nil
	}
	return ui.Do(ui.OpenParity{Ref: ref, Cand: run.Dir})
}

func (s *Screen) askCancel() tea.Cmd {
	run, ok := s.list.selected()
	if !ok || !cancellable(run) {
		return nil
	}
	return ui.Do(ui.Ask{
		ID: "cancel " + run.Dir, Title: "Cancel this run?",
		Body: run.Name + " " + run.ID + " is " + string(run.State) + ". What was measured so far is kept.",
		Yes:  "cancel it", No: "let it run", Danger: true,
	})
}
