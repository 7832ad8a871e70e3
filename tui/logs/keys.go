package logs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Typing reports whether a prompt is open, so that keys are text.
func (p *Pane) Typing() bool { return p.prompt.kind != noPrompt }

// Keys returns the current bindings: first the most useful ones, then the rest.
func (p *Pane) Keys() (first, rest []key.Binding) {
	if p.Typing() {
		return []key.Binding{ui.Bind("enter", "accept", "enter"), ui.Bind("esc", "cancel", "esc")}, nil
	}
	found, others := p.commands()
	return ui.Bindings(found), ui.Bindings(others)
}

func (p *Pane) commands() (first, rest []ui.Command) {
	const sidewaysStep = 16
	page := max(p.win.h, 1)
	prompt := func(kind promptKind, text string) func() tea.Cmd {
		return ui.NoCmd(func() { p.prompt.open(kind, text) })
	}
	nextMatch := func(back bool) func() tea.Cmd {
		return func() tea.Cmd { return p.searchNext(p.search.match, p.search.query, back) }
	}
	nextError := func(back bool) func() tea.Cmd {
		return func() tea.Cmd { return p.searchNext(engine.MatchErrors(), "an error", back) }
	}
	left, right := ui.Bind("←", "scroll sideways", "left"), ui.Bind("→", "scroll sideways", "right")
	if p.file {
		left.SetKeys("left", "h")
		right.SetKeys("right", "l")
	}
	scroll := func(by int) func() tea.Cmd { return func() tea.Cmd { return p.Scroll(by) } }
	first = []ui.Command{
		{Key: ui.Bind("/", "search", "/"), Do: prompt(searchPrompt, p.search.query)},
		{Key: ui.Bind("n", "next match", "n"), Do: nextMatch(false), Hidden: p.search.query == ""},
		{Key: ui.Bind("N", "previous match", "N"), Do: nextMatch(true), Hidden: p.search.query == ""},
	}
	return first, []ui.Command{
		{Key: ui.Bind("&", "filter", "&"), Do: prompt(filterPrompt, p.filter.text)},
		{Key: ui.Bind("e", "next error", "e"), Do: nextError(p.win.follow)}, // when following, search upwards
		{Key: ui.Bind("E", "previous error", "E"), Do: nextError(true)},
		{Key: ui.Bind("f", "follow", "f"), Do: func() tea.Cmd { return p.Follow(!p.win.follow) }},
		{Key: ui.Bind("w", "wrap lines", "w"), Do: p.toggleWrap},
		{Key: ui.Bind(":", "go to line", ":"), Do: prompt(linePrompt, "")},
		{Key: ui.Bind("y", "copy lines", "y"), Do: p.copyLines},
		{Key: ui.Bind("a", "original colors", "a"), Do: ui.NoCmd(func() { p.colors = !p.colors })},
		{Key: ui.Bind("↑", "scroll", "up", "k"), Do: scroll(-1)},
		{Key: ui.Bind("↓", "scroll", "down", "j"), Do: scroll(1)},
		{Key: ui.Bind("pgup", "page up", "pgup"), Do: scroll(-page)},
		{Key: ui.Bind("pgdn", "page down", "pgdown"), Do: scroll(page)},
		{Key: ui.Bind("home", "first line", "home", "g"), Do: p.toTop},
		{Key: ui.Bind("end", "last line", "end", "G"), Do: p.toEnd},
		{Key: left, Do: ui.NoCmd(func() { p.win.scrollSideways(-sidewaysStep) })},
		{Key: right, Do: ui.NoCmd(func() { p.scrollRight(sidewaysStep) })},
	}
}

// Key handles a key, for the prompt if one is open.
func (p *Pane) Key(msg tea.KeyPressMsg) tea.Cmd {
	defer p.draw()
	if p.Typing() {
		kind := p.prompt.kind
		return p.handlePrompt(kind, p.prompt.key(msg))
	}
	first, rest := p.commands()
	cmd, _ := ui.HandleKey(msg, append(first, rest...))
	return cmd
}

func (p *Pane) toggleWrap() tea.Cmd {
	p.win.toggleWrap()
	return p.load(p.win.currentTarget())
}

// scrollRight scrolls to the right unless lines are wrapped.
func (p *Pane) scrollRight(by int) {
	if !p.win.wrap {
		p.win.scrollSideways(by)
	}
}

func (p *Pane) toTop() tea.Cmd {
	if p.src.view == nil {
		return nil
	}
	return p.load(p.win.targetAt(p.src.view.Start(), 0))
}

func (p *Pane) toEnd() tea.Cmd {
	p.win.follow = true
	return p.load(p.win.endTarget())
}

// handlePrompt acts on a change of the prompt.
func (p *Pane) handlePrompt(kind promptKind, event promptEvent) tea.Cmd {
	text := p.prompt.input.Value()
	switch {
	case kind == searchPrompt && event == promptChanged:
		return p.searchFor(text)
	case kind == searchPrompt && event == promptCancelled:
		return p.searchFor("")
	case event != promptEntered:
	case kind == searchPrompt && p.search.match == nil && text != "": // not a regular expression: search for the text
		return p.searchFor(regexp.QuoteMeta(text))
	case kind == filterPrompt:
		return p.setFilter(text)
	case kind == linePrompt && text != "":
		return p.goTo(text)
	}
	return nil
}

// Paste inserts a pasted text into the prompt.
func (p *Pane) Paste(text string) tea.Cmd {
	if !p.Typing() {
		return nil
	}
	defer p.draw()
	p.prompt.input.Insert(text)
	return p.handlePrompt(p.prompt.kind, promptChanged)
}

// setFilter shows only the lines that match a regular expression, or all if it is empty.
func (p *Pane) setFilter(text string) tea.Cmd {
	f := lineFilter{text: text}
	if text != "" {
		var err error
		if f.match, err = engine.MatchRegexp(text); err != nil {
			return ui.ShowError(err)
		}
	}
	p.filter, p.search.found = f, nil
	return p.load(p.win.currentTarget())
}

// goTo moves to the line whose number is text.
func (p *Pane) goTo(text string) tea.Cmd {
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", " ", "").Replace(text), 10, 64)
	switch {
	case err != nil || n < 1:
		return ui.Send(ui.Toast{Text: fmt.Sprintf("go to line: %q is not a line number", text), Role: ui.Warn})
	case len(p.src.logs) != 1 || p.src.view == nil:
		return ui.Send(ui.Toast{Text: "go to line: merged logs have no line numbers", Role: ui.Warn})
	}
	p.src.location = nil
	return p.src.seek(n)
}

// copyLines copies the current match, or else the visible lines, to the clipboard.
// The terminal does not report whether it accepted them.
func (p *Pane) copyLines() tea.Cmd {
	lines := p.win.visibleLines()
	if p.search.found != nil && p.win.inView(*p.search.found) {
		lines = []engine.LogLine{*p.search.found}
	}
	if len(lines) == 0 {
		return ui.Send(ui.Toast{Text: "copy: no visible lines", Role: ui.Warn})
	}
	text := make([]string, 0, len(lines))
	for _, l := range lines {
		text = append(text, l.Text)
	}
	message := fmt.Sprintf("sent %d lines to the terminal's clipboard", len(lines))
	if len(lines) == 1 {
		message = "sent 1 line to the terminal's clipboard"
	}
	return ui.Send(ui.Copy{Text: strings.Join(text, "\n") + "\n", Message: message})
}
