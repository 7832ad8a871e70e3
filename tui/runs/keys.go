package runs

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	openKey   = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "open"))
	portKey   = key.NewBinding(key.WithKeys("p"), key.WithHelp("p", "port"))
	newKey    = key.NewBinding(key.WithKeys("n"), key.WithHelp("n", "new from recipe"))
	withKey   = key.NewBinding(key.WithKeys("c"), key.WithHelp("c", "compare with…"))
	filterKey = key.NewBinding(key.WithKeys("/"), key.WithHelp("/", "filter"))
	cancelKey = key.NewBinding(key.WithKeys("x"), key.WithHelp("x", "cancel"))
	reloadKey = key.NewBinding(key.WithKeys("r"), key.WithHelp("r", "read again"))
	upKey     = key.NewBinding(key.WithKeys("up", "k"), key.WithHelp("↑ k", "up"))
	downKey   = key.NewBinding(key.WithKeys("down", "j"), key.WithHelp("↓ j", "down"))
	pageUp    = key.NewBinding(key.WithKeys("pgup", "ctrl+b"), key.WithHelp("pgup", "page up"))
	pageDown  = key.NewBinding(key.WithKeys("pgdown", "ctrl+f"), key.WithHelp("pgdn", "page down"))
	homeKey   = key.NewBinding(key.WithKeys("home", "g"), key.WithHelp("g", "first"))
	endKey    = key.NewBinding(key.WithKeys("end", "G"), key.WithHelp("G", "last"))
)

// bindings are those that make sense now; cancelling a run that has ended says
// why it can't be.
func (s *Screen) bindings() []key.Binding {
	open, with, cancel := openKey, withKey, cancelKey
	run, ok := s.selected()
	open.SetEnabled(ok)
	with.SetEnabled(ok)
	cancel.SetEnabled(ok && cancellable(run))
	if ok && !cancellable(run) {
		cancel.SetHelp("x", "cancel (it has ended)")
	}
	return []key.Binding{open, portKey, newKey, with, filterKey, cancel, reloadKey, upKey, downKey, pageUp, pageDown, homeKey, endKey}
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
	case key.Matches(msg, upKey):
		s.table.Move(-1)
	case key.Matches(msg, downKey):
		s.table.Move(1)
	case key.Matches(msg, pageUp):
		s.table.Move(-s.table.Page())
	case key.Matches(msg, pageDown):
		s.table.Move(s.table.Page())
	case key.Matches(msg, homeKey):
		s.table.Move(-len(s.shown))
	case key.Matches(msg, endKey):
		s.table.Move(len(s.shown))
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
		s.filter.SetValue("")
	default:
		s.filter.Key(msg)
	}
	s.show()
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
	if s.filter.Value() == "" && s.marked == "" {
		return ui.Do(ui.Toast{Text: "q leaves the workbench; runs go on"}), true
	}
	return s.Leave(), true
}

// Leave gives up a filter or a mark first.
func (s *Screen) Leave() tea.Cmd {
	if s.filter.Value() == "" && s.marked == "" {
		return ui.Do(ui.Back{})
	}
	s.filter.SetValue("")
	s.marked = ""
	s.show()
	return nil
}

// compare marks the run under the cursor, or opens the comparison with the one
// that is marked.
func (s *Screen) compare() tea.Cmd {
	run, ok := s.selected()
	if !ok {
		return nil
	}
	if s.marked == "" || s.marked == run.Dir {
		s.marked = map[bool]string{true: run.Dir}[s.marked == ""]
		s.show()
		return nil
	}
	ref := s.marked
	s.marked = ""
	s.show()
	return ui.Do(ui.OpenParity{Ref: ref, Cand: run.Dir})
}

func (s *Screen) askCancel() tea.Cmd {
	run, ok := s.selected()
	if !ok || !cancellable(run) {
		return nil
	}
	return ui.Do(ui.Ask{
		ID: "cancel " + run.Dir, Title: "Cancel this run?", Body: run.Name + " " + run.ID + " is " + string(run.State) + ". What was measured so far is kept.",
		Yes: "cancel it", No: "let it run", Danger: true,
	})
}
