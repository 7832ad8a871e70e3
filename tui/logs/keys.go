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

// Typing says that keys are text now.
func (p *Pane) Typing() bool { return p.prompt.asked != askedNothing }

// Keys are the bindings that work now: the most useful, and the rest.
func (p *Pane) Keys() (first, rest []key.Binding) {
	if p.Typing() {
		return []key.Binding{ui.Bind("enter", "go", "enter"), ui.Bind("esc", "end it", "esc")}, nil
	}
	found, others := p.commands()
	return ui.Bindings(found), ui.Bindings(others)
}

func (p *Pane) commands() (first, rest []ui.Command) {
	const aside = 16
	page := max(p.win.h, 1)
	prompt := func(what asked, text string) func() tea.Cmd { return ui.NoCmd(func() { p.prompt.open(what, text) }) }
	hit := func(back bool) func() tea.Cmd {
		return func() tea.Cmd { return p.next(p.find.match, p.find.query, back) }
	}
	mistake := func(back bool) func() tea.Cmd {
		return func() tea.Cmd { return p.next(engine.MatchErrors(), "an error", back) }
	}
	left, right := ui.Bind("←", "long lines", "left"), ui.Bind("→", "long lines", "right")
	if p.file {
		left.SetKeys("left", "h")
		right.SetKeys("right", "l")
	}
	scroll := func(by int) func() tea.Cmd { return func() tea.Cmd { return p.Scroll(by) } }
	first = []ui.Command{
		{Key: ui.Bind("/", "search", "/"), Do: prompt(askedSearch, p.find.query)},
		{Key: ui.Bind("n", "next hit", "n"), Do: hit(false), Hidden: p.find.query == ""},
		{Key: ui.Bind("N", "hit before", "N"), Do: hit(true), Hidden: p.find.query == ""},
	}
	return first, []ui.Command{
		{Key: ui.Bind("&", "only lines with", "&"), Do: prompt(askedFilter, p.only.text)},
		{Key: ui.Bind("e", "next error", "e"), Do: mistake(p.win.follow)}, // from the end on there is none below
		{Key: ui.Bind("E", "error before", "E"), Do: mistake(true)},
		{Key: ui.Bind("f", "follow the log's end", "f"), Do: func() tea.Cmd { return p.Follow(!p.win.follow) }},
		{Key: ui.Bind("w", "wrap lines", "w"), Do: p.rewrap},
		{Key: ui.Bind(":", "go to line", ":"), Do: prompt(askedLine, "")},
		{Key: ui.Bind("y", "copy lines", "y"), Do: p.copied},
		{Key: ui.Bind("a", "the log's own colours", "a"), Do: ui.NoCmd(func() { p.colours = !p.colours })},
		{Key: ui.Bind("↑", "scroll", "up", "k"), Do: scroll(-1)},
		{Key: ui.Bind("↓", "scroll", "down", "j"), Do: scroll(1)},
		{Key: ui.Bind("pgup", "a page up", "pgup"), Do: scroll(-page)},
		{Key: ui.Bind("pgdn", "a page down", "pgdown"), Do: scroll(page)},
		{Key: ui.Bind("home", "to the beginning", "home", "g"), Do: p.toTop},
		{Key: ui.Bind("end", "to the end", "end", "G"), Do: p.toEnd},
		{Key: left, Do: ui.NoCmd(func() { p.win.shift(-aside) })},
		{Key: right, Do: ui.NoCmd(func() { p.shiftRight(aside) })},
	}
}

// Key handles a key, of a text too while one is typed.
func (p *Pane) Key(msg tea.KeyPressMsg) tea.Cmd {
	defer p.draw()
	if p.Typing() {
		what := p.prompt.asked
		return p.typed(what, p.prompt.key(msg))
	}
	first, rest := p.commands()
	cmd, _ := ui.HandleKey(msg, append(first, rest...))
	return cmd
}

func (p *Pane) rewrap() tea.Cmd {
	p.win.rewrap()
	return p.fetch(p.win.here())
}

// shiftRight shows more of long lines, which wrapped ones need not.
func (p *Pane) shiftRight(by int) {
	if !p.win.wrap {
		p.win.shift(by)
	}
}

func (p *Pane) toTop() tea.Cmd {
	if p.src.view == nil {
		return nil
	}
	return p.fetch(p.win.at(p.src.view.Start(), 0))
}

func (p *Pane) toEnd() tea.Cmd {
	p.win.follow = true
	return p.fetch(p.win.toEnd())
}

// typed does what a text is typed for.
func (p *Pane) typed(what asked, how typing) tea.Cmd {
	text := p.prompt.input.Value()
	switch {
	case what == askedSearch && how == changed:
		return p.searchFor(text)
	case what == askedSearch && how == cancelled:
		return p.searchFor("")
	case how != entered:
	case what == askedSearch && p.find.match == nil && text != "": // no expression: then it is a text
		return p.searchFor(regexp.QuoteMeta(text))
	case what == askedFilter:
		return p.filter(text)
	case what == askedLine && text != "":
		return p.goTo(text)
	}
	return nil
}

// Paste takes a text that was pasted.
func (p *Pane) Paste(text string) tea.Cmd {
	if !p.Typing() {
		return nil
	}
	defer p.draw()
	p.prompt.input.Insert(text)
	return p.typed(p.prompt.asked, changed)
}

// filter shows only lines that match a regular expression; all if it is empty.
func (p *Pane) filter(text string) tea.Cmd {
	f := filter{text: text}
	if text != "" {
		var err error
		if f.match, err = engine.MatchRegexp(text); err != nil {
			return ui.ShowError(err)
		}
	}
	p.only, p.find.hit = f, nil
	return p.fetch(p.win.here())
}

// goTo goes to a line by its number.
func (p *Pane) goTo(text string) tea.Cmd {
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", " ", "").Replace(text), 10, 64)
	switch {
	case err != nil || n < 1:
		return ui.Send(ui.Toast{Text: fmt.Sprintf("go to line %q: want a number from 1", text), Role: ui.Warn})
	case len(p.src.logs) != 1 || p.src.view == nil:
		return ui.Send(ui.Toast{Text: "lines have numbers in one log, not in a merged view", Role: ui.Warn})
	}
	p.src.at = nil
	return p.src.seek(n)
}

// copied puts the line that was found into the clipboard, or else the lines in
// view. Whether the terminal takes it can't be told.
func (p *Pane) copied() tea.Cmd {
	lines := p.win.shown()
	if p.find.hit != nil && p.win.inView(*p.find.hit) {
		lines = []engine.LogLine{*p.find.hit}
	}
	if len(lines) == 0 {
		return ui.Send(ui.Toast{Text: "copy: no line is in view", Role: ui.Warn})
	}
	text := make([]string, 0, len(lines))
	for _, l := range lines {
		text = append(text, l.Text)
	}
	said := fmt.Sprintf("%d lines sent to the terminal's clipboard", len(lines))
	if len(lines) == 1 {
		said = "the line was sent to the terminal's clipboard"
	}
	return ui.Send(ui.Copy{Text: strings.Join(text, "\n") + "\n", Message: said})
}
