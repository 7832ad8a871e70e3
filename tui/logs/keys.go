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

type keyMap struct {
	search, next, prev, filter, nextError, prevError, follow, wrap, colours, copy, line key.Binding
	up, down, pageUp, pageDown, top, end, left, right                                   key.Binding
}

func newKeys() keyMap {
	return keyMap{
		search:    ui.Bind("/", "search", "/"),
		next:      ui.Bind("n", "next hit", "n"),
		prev:      ui.Bind("N", "hit before", "N"),
		filter:    ui.Bind("&", "only lines with", "&"),
		nextError: ui.Bind("e", "next error", "e"),
		prevError: ui.Bind("E", "error before", "E"),
		follow:    ui.Bind("f", "follow the log's end", "f"),
		wrap:      ui.Bind("w", "wrap lines", "w"),
		colours:   ui.Bind("a", "the log's own colours", "a"),
		copy:      ui.Bind("y", "copy lines", "y"),
		line:      ui.Bind(":", "go to line", ":"),
		up:        ui.Bind("↑", "scroll", "up", "k"),
		down:      ui.Bind("↓", "scroll", "down", "j"),
		pageUp:    ui.Bind("pgup", "a page up", "pgup"),
		pageDown:  ui.Bind("pgdn", "a page down", "pgdown"),
		top:       ui.Bind("home", "to the beginning", "home", "g"),
		end:       ui.Bind("end", "to the end", "end", "G"),
		left:      ui.Bind("←", "long lines", "left"),
		right:     ui.Bind("→", "long lines", "right"),
	}
}

// Typing says that keys are text now.
func (p *Pane) Typing() bool { return p.prompt.asked != askedNothing }

// Keys are the bindings that work now: the most useful, and the rest.
func (p *Pane) Keys() (first, rest []key.Binding) {
	k := p.keys
	if p.Typing() {
		return []key.Binding{ui.Bind("enter", "go", "enter"), ui.Bind("esc", "end it", "esc")}, nil
	}
	first = []key.Binding{k.search}
	if p.find.query != "" {
		first = append(first, k.next, k.prev)
	}
	return first, []key.Binding{
		k.filter, k.nextError, k.prevError, k.follow, k.wrap, k.line, k.copy, k.colours,
		k.up, k.down, k.pageUp, k.pageDown, k.top, k.end, k.left, k.right,
	}
}

// Key handles a key, of a text too while one is typed.
func (p *Pane) Key(msg tea.KeyPressMsg) tea.Cmd {
	defer p.draw()
	if p.Typing() {
		what := p.prompt.asked
		return p.typed(what, p.prompt.key(msg))
	}
	k := p.keys
	switch {
	case key.Matches(msg, k.search):
		p.prompt.open(askedSearch, p.find.query)
	case key.Matches(msg, k.filter):
		p.prompt.open(askedFilter, p.only.text)
	case key.Matches(msg, k.line):
		p.prompt.open(askedLine, "")
	case key.Matches(msg, k.next):
		return p.next(p.find.match, p.find.query, false)
	case key.Matches(msg, k.prev):
		return p.next(p.find.match, p.find.query, true)
	case key.Matches(msg, k.nextError):
		return p.next(engine.MatchErrors(), "an error", p.win.follow) // from the end on there is none below
	case key.Matches(msg, k.prevError):
		return p.next(engine.MatchErrors(), "an error", true)
	case key.Matches(msg, k.follow):
		return p.Follow(!p.win.follow)
	case key.Matches(msg, k.wrap):
		p.win.rewrap()
		return p.fetch(p.win.here())
	case key.Matches(msg, k.colours):
		p.colours = !p.colours
	case key.Matches(msg, k.copy):
		return p.copied()
	default:
		return p.scrollKey(msg)
	}
	return nil
}

func (p *Pane) scrollKey(msg tea.KeyPressMsg) tea.Cmd {
	const aside = 16
	k, page := p.keys, max(p.win.h, 1)
	switch {
	case key.Matches(msg, k.up):
		return p.Scroll(-1)
	case key.Matches(msg, k.down):
		return p.Scroll(1)
	case key.Matches(msg, k.pageUp):
		return p.Scroll(-page)
	case key.Matches(msg, k.pageDown):
		return p.Scroll(page)
	case key.Matches(msg, k.top) && p.src.view != nil:
		return p.fetch(p.win.at(p.src.view.Start(), 0))
	case key.Matches(msg, k.end):
		p.win.follow = true
		return p.fetch(p.win.toEnd())
	case key.Matches(msg, k.left):
		p.win.shift(-aside)
	case key.Matches(msg, k.right) && !p.win.wrap:
		p.win.shift(aside)
	}
	return nil
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
			return ui.Fail(err)
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
		return ui.Do(ui.Toast{Text: fmt.Sprintf("go to line %q: want a number from 1", text), Role: ui.Warn})
	case len(p.src.logs) != 1 || p.src.view == nil:
		return ui.Do(ui.Toast{Text: "lines have numbers in one log, not in a merged view", Role: ui.Warn})
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
		return ui.Do(ui.Toast{Text: "copy: no line is in view", Role: ui.Warn})
	}
	text := make([]string, 0, len(lines))
	for _, l := range lines {
		text = append(text, l.Text)
	}
	said := fmt.Sprintf("%d lines sent to the terminal's clipboard", len(lines))
	if len(lines) == 1 {
		said = "the line was sent to the terminal's clipboard"
	}
	return ui.Do(ui.Copy{Text: strings.Join(text, "\n") + "\n", Said: said})
}
