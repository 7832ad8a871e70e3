package logs

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// prompt is what is being typed.
type prompt int

const (
	nothing prompt = iota
	searching
	filtering
	goingTo
)

type keyMap struct {
	search, next, prev, filter, nextError, prevError, follow, wrap, colours, copy, line key.Binding
	up, down, pageUp, pageDown, top, end, left, right                                   key.Binding
}

func newKeys() keyMap {
	return keyMap{
		search: ui.Bind("/", "search", "/"), next: ui.Bind("n", "next hit", "n"), prev: ui.Bind("N", "hit before", "N"),
		filter: ui.Bind("&", "only lines with", "&"), nextError: ui.Bind("e", "next error", "e"), prevError: ui.Bind("E", "error before", "E"),
		follow: ui.Bind("f", "follow the log's end", "f"), wrap: ui.Bind("w", "wrap lines", "w"), colours: ui.Bind("a", "the log's own colours", "a"),
		copy: ui.Bind("y", "copy lines", "y"), line: ui.Bind(":", "go to line", ":"),
		up: ui.Bind("↑", "scroll", "up", "k"), down: ui.Bind("↓", "scroll", "down", "j"), pageUp: ui.Bind("pgup", "a page up", "pgup"), pageDown: ui.Bind("pgdn", "a page down", "pgdown"),
		top: ui.Bind("home", "to the beginning", "home", "g"), end: ui.Bind("end", "to the end", "end", "G"), left: ui.Bind("←", "long lines", "left"), right: ui.Bind("→", "long lines", "right"),
	}
}

// Typing says that keys are text now.
func (p *Pane) Typing() bool { return p.prompt != nothing }

// Keys are the bindings that work now: the most useful, and the rest.
func (p *Pane) Keys() (first, rest []key.Binding) {
	k := p.keys
	if p.Typing() {
		return []key.Binding{ui.Bind("enter", "go", "enter"), ui.Bind("esc", "end it", "esc")}, nil
	}
	first = []key.Binding{k.search}
	if p.query != "" {
		first = append(first, k.next, k.prev)
	}
	return first, []key.Binding{k.filter, k.nextError, k.prevError, k.follow, k.wrap, k.line, k.copy, k.colours, k.up, k.down, k.pageUp, k.pageDown, k.top, k.end, k.left, k.right}
}

// Key handles a key, of a text too while one is typed.
func (p *Pane) Key(msg tea.KeyPressMsg) tea.Cmd {
	defer p.draw()
	if p.Typing() {
		return p.typed(msg)
	}
	k := p.keys
	switch {
	case key.Matches(msg, k.search):
		p.ask(searching, p.query)
	case key.Matches(msg, k.filter):
		p.ask(filtering, p.only)
	case key.Matches(msg, k.line):
		p.ask(goingTo, "")
	case key.Matches(msg, k.next):
		return p.next(p.search, p.query, false)
	case key.Matches(msg, k.prev):
		return p.next(p.search, p.query, true)
	case key.Matches(msg, k.nextError):
		return p.next(engine.MatchErrors(), "an error", p.follow) // from the end on there is none below
	case key.Matches(msg, k.prevError):
		return p.next(engine.MatchErrors(), "an error", true)
	case key.Matches(msg, k.follow):
		return p.Follow(!p.follow)
	case key.Matches(msg, k.wrap):
		p.wrap, p.left, p.sub, p.staySub = !p.wrap, 0, 0, 0
		return p.refresh()
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
	k := p.keys
	switch {
	case key.Matches(msg, k.up):
		return p.Scroll(-1)
	case key.Matches(msg, k.down):
		return p.Scroll(1)
	case key.Matches(msg, k.pageUp):
		return p.Scroll(-p.Page())
	case key.Matches(msg, k.pageDown):
		return p.Scroll(p.Page())
	case key.Matches(msg, k.top) && p.view != nil:
		return p.jump(p.view.Start(), 0)
	case key.Matches(msg, k.end):
		return p.toEnd()
	case key.Matches(msg, k.left):
		p.left = max(p.left-aside, 0)
	case key.Matches(msg, k.right) && !p.wrap:
		p.left = min(p.left+aside, max(p.widest()-p.room()/2, 0))
	}
	return nil
}

func (p *Pane) widest() int {
	n := 0
	for _, l := range p.shown() {
		n = max(n, cellsOf(p.text(l)))
	}
	return n
}

func (p *Pane) ask(what prompt, text string) {
	p.prompt = what
	p.input.SetValue(text)
}

func (p *Pane) typed(msg tea.KeyPressMsg) tea.Cmd {
	was := p.prompt
	switch msg.String() {
	case "esc":
		p.prompt = nothing
		if was == searching {
			p.input.SetValue("")
			return p.typedSearch()
		}
	case "enter":
		p.prompt = nothing
		switch was {
		case filtering:
			return p.setFilter(p.input.Value())
		case goingTo:
			return p.goTo(p.input.Value())
		}
	default:
		if p.input.Key(msg) && was == searching {
			return p.typedSearch()
		}
	}
	return nil
}

// Paste takes a text that was pasted.
func (p *Pane) Paste(text string) tea.Cmd {
	if !p.Typing() {
		return nil
	}
	defer p.draw()
	p.input.Insert(text)
	if p.prompt == searching {
		return p.typedSearch()
	}
	return nil
}

// copied puts the line that was found into the clipboard, or else the lines in
// view. Whether the terminal takes it can't be told.
func (p *Pane) copied() tea.Cmd {
	lines := p.shown()
	if p.hit != nil && p.inView(*p.hit) {
		lines = []engine.LogLine{*p.hit}
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
