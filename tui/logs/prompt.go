package logs

import (
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// asked is what a text is typed for.
type asked int

const (
	askedNothing asked = iota
	askedSearch
	askedFilter
	askedLine
)

// prompt is a text that is being typed.
type prompt struct {
	asked asked
	input ui.Input
}

// typing is what a key has done to the text of a prompt.
type typing int

const (
	unchanged typing = iota
	changed
	entered
	cancelled
)

func (p *prompt) open(what asked, text string) {
	p.asked = what
	p.input.SetValue(text)
}

// key handles a key; the prompt is closed once the text is entered or cancelled.
func (p *prompt) key(msg tea.KeyPressMsg) typing {
	switch msg.String() {
	case "esc":
		p.asked = askedNothing
		return cancelled
	case "enter":
		p.asked = askedNothing
		return entered
	}
	if p.input.Key(msg) {
		return changed
	}
	return unchanged
}

// view draws the prompt with a field of so many cells.
func (p *prompt) view(th ui.Theme, field int) string {
	names := map[asked]string{askedSearch: "search: ", askedFilter: "only lines with: ", askedLine: "go to line: "}
	return names[p.asked] + p.input.Draw(th, field, true)
}
