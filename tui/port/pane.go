package port

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// pane is a part of the wizard that has the body for itself.
type pane interface {
	// keys are the bindings that work now; typing says that others are text.
	keys() []key.Binding
	typing() bool
	key(msg tea.KeyPressMsg) tea.Cmd
	paste(text string) tea.Cmd
	mouse(m ui.Mouse) tea.Cmd
	view(th ui.Theme) string
}

// inert is a pane that only draws, to be embedded.
type inert struct{}

func (inert) keys() []key.Binding         { return nil }
func (inert) typing() bool                { return false }
func (inert) key(tea.KeyPressMsg) tea.Cmd { return nil }
func (inert) paste(string) tea.Cmd        { return nil }
func (inert) mouse(ui.Mouse) tea.Cmd      { return nil }

// paneMsg is what a command of a pane comes back with: it changes the pane that asked.
type paneMsg interface{ apply(s *Screen) tea.Cmd }

// wizard is what panes ask of the screen.
type wizard interface {
	begin(dir string) tea.Cmd              // to port a directory
	show(places []porter.Evidence) tea.Cmd // of artifacts, in the viewer
	open(text *sheet)
	nameFiles() tea.Cmd // to write them
	goBack()            // from there to the review
}
