package logs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

type (
	foundMsg struct {
		find *find
		line *engine.LogLine // nil: not yet
		over bool            // nowhere
		err  error
	}
	countedMsg struct {
		gen  int
		at   engine.LogPos // nil: not yet
		line int64
		err  error
	}
)

func (foundMsg) log()   {}
func (countedMsg) log() {}

// find is a search under way. It is worked on by one command at a time.
type find struct {
	ctx     context.Context
	stop    context.CancelFunc
	view    *engine.LogView
	match   *engine.LogMatcher
	what    string
	at      engine.LogPos
	back    bool
	wrapped bool // has gone round the end
}

// look starts a search for the nearest matching line from a place on.
func (p *Pane) look(match *engine.LogMatcher, what string, from engine.LogPos, back bool) tea.Cmd {
	if p.finding != nil {
		p.finding.stop()
		p.finding = nil
	}
	if p.view == nil || from == nil {
		return nil
	}
	f := &find{view: p.view, match: engine.MatchBoth(match, p.filter), what: what, at: from, back: back}
	f.ctx, f.stop = context.WithCancel(p.ctx)
	p.finding, p.said, p.reached = f, "", from
	return f.run()
}

func (f *find) run() tea.Cmd {
	return func() tea.Msg {
		m := foundMsg{find: f}
		got, err := f.view.Step(f.ctx, engine.LogQuery{From: f.at, Back: f.back, Lines: 1, Match: f.match})
		if m.err = err; err != nil {
			return m
		}
		f.at = got.Reached
		switch {
		case len(got.Lines) > 0:
			m.line = &got.Lines[0]
		case got.End && f.wrapped:
			m.over = true
		case got.End:
			f.wrapped = true
			if f.at = f.view.Start(); f.back {
				f.at, m.err = f.view.End()
			}
		}
		return m
	}
}

func (p *Pane) onFound(m foundMsg) tea.Cmd {
	f := m.find
	if f != p.finding {
		return nil
	}
	switch {
	case m.err != nil:
		p.finding, p.err = nil, m.err
	case m.over:
		p.finding, p.hit, p.said = nil, nil, "nowhere"
	case m.line == nil:
		p.reached = f.at
		return f.run()
	default:
		f.stop()
		p.finding, p.hit = nil, m.line
		if f.wrapped {
			p.said = "round the end"
			if f.back {
				p.said = "round the beginning"
			}
		}
		at := f.at // going back it is before the line
		if !f.back {
			at = at.Before(*m.line)
		}
		p.hold()
		if p.inView(*m.line) {
			return nil
		}
		return p.jump(at, p.h/2)
	}
	f.stop()
	return nil
}

func same(a, b engine.LogLine) bool { return a.File == b.File && a.At == b.At }

// shown are the lines of which at least a row is in the window.
func (p *Pane) shown() []engine.LogLine {
	if p.first >= len(p.lines) { // a window without height
		return nil
	}
	last, rows := p.first, p.height(p.first)-p.sub
	for last < len(p.lines)-1 && rows < p.h {
		last++
		rows += p.height(last)
	}
	return p.lines[p.first : last+1]
}

func (p *Pane) inView(l engine.LogLine) bool {
	return slices.ContainsFunc(p.shown(), func(x engine.LogLine) bool { return same(x, l) })
}

// next searches on from what was found last, or from the window's edge.
func (p *Pane) next(match *engine.LogMatcher, what string, back bool) tea.Cmd {
	if match == nil {
		return nil
	}
	from := p.place(p.first)
	if !back && p.follow || back && (p.follow || p.hit == nil) {
		from = p.place(p.first + len(p.shown()))
	}
	if p.hit != nil {
		for i, l := range p.lines {
			if same(l, *p.hit) && back {
				from = p.place(i)
			} else if same(l, *p.hit) {
				from = p.place(i + 1)
			}
		}
	}
	return p.look(match, what, from, back)
}

// typedSearch searches for what has been typed, up from the window's last line.
func (p *Pane) typedSearch() tea.Cmd {
	p.query, p.search, p.hit, p.said = p.input.Value(), nil, nil, ""
	if p.finding != nil {
		p.finding.stop()
		p.finding = nil
	}
	if p.query == "" {
		return nil
	}
	m, err := engine.MatchRegexp(p.query)
	if err != nil {
		p.said = "no regular expression yet"
		return nil
	}
	p.search = m
	return p.look(m, p.query, p.place(p.first+len(p.shown())), true)
}

// setFilter shows only lines that match.
func (p *Pane) setFilter(text string) tea.Cmd {
	m, err := engine.MatchRegexp(text)
	switch {
	case text == "":
		m = nil
	case err != nil:
		return ui.Fail(err)
	}
	p.only, p.filter, p.hit = text, m, nil
	return p.refresh()
}

// goTo goes to a line by its number.
func (p *Pane) goTo(text string) tea.Cmd {
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", " ", "").Replace(text), 10, 64)
	switch {
	case text == "":
		return nil
	case err != nil || n < 1:
		return ui.Do(ui.Toast{Text: fmt.Sprintf("go to line %q: want a number from 1", text), Role: ui.Warn})
	case len(p.logs) != 1 || p.view == nil:
		return ui.Do(ui.Toast{Text: "lines have numbers in one log, not in a merged view", Role: ui.Warn})
	}
	if p.index == nil {
		p.index = p.view.NewIndex(0)
	}
	p.said = "counting lines"
	return p.countTo(n)
}

// countTo counts lines until the wanted one is known.
func (p *Pane) countTo(line int64) tea.Cmd {
	ctx, gen, index := p.ctx, p.gen, p.index
	return func() tea.Msg {
		m := countedMsg{gen: gen, line: line}
		at, ok, err := index.Find(ctx, line)
		if !ok && err == nil {
			var end bool
			if end, err = index.Step(ctx); err == nil && end {
				if at, ok, err = index.Find(ctx, line); !ok {
					at, ok = index.Counted(), true // there are not so many: the end
				}
			}
		}
		if m.err = err; ok {
			m.at = engine.LogPos{at}
		}
		return m
	}
}

func (p *Pane) onCounted(m countedMsg) tea.Cmd {
	switch {
	case m.gen != p.gen || p.said != "counting lines": // given up
		return nil
	case m.err != nil:
		p.said, p.err = "", m.err
		return nil
	case m.at == nil:
		return p.countTo(m.line)
	}
	p.said = ""
	return p.jump(m.at, 0)
}
