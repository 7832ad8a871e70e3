package logs

import (
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// promptKind is the purpose of a prompt.
type promptKind int

const (
	noPrompt promptKind = iota
	searchPrompt
	filterPrompt
	linePrompt
)

// prompt is a text field, open while kind is not noPrompt.
type prompt struct {
	kind  promptKind
	input ui.Input
}

// promptEvent is the effect of a key on a prompt.
type promptEvent int

const (
	promptIdle promptEvent = iota
	promptChanged
	promptEntered
	promptCancelled
)

func (p *prompt) open(kind promptKind, text string) {
	p.kind = kind
	p.input.SetValue(text)
}

// key handles a key. Enter and esc close the prompt.
func (p *prompt) key(msg tea.KeyPressMsg) promptEvent {
	switch msg.String() {
	case "esc":
		p.kind = noPrompt
		return promptCancelled
	case "enter":
		p.kind = noPrompt
		return promptEntered
	}
	if p.input.Key(msg) {
		return promptChanged
	}
	return promptIdle
}

// draw draws the prompt with a field of the given width in cells.
func (p *prompt) draw(th ui.Theme, field int) string {
	names := map[promptKind]string{searchPrompt: "search: ", filterPrompt: "filter: ", linePrompt: "go to line: "}
	return names[p.kind] + p.input.Draw(th, field, true)
}
