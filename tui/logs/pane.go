// Package logs is the log view: a part that a screen puts somewhere, and that
// shows one log, or several merged by time, through a window. It holds what is in
// view and nothing else; all reading is done by commands, step by step, and a
// newer wish ends the older one's work.
package logs

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Source is what the pane needs of the engine.
type Source interface {
	// LogView opens logs; the channel tells when one grows, until ctx ends.
	LogView(ctx context.Context, paths ...string) (*engine.LogView, <-chan engine.LogGrowth, error)
}

// Log is a log by the name that a user gives it.
type Log struct{ Name, Path string }

// Msg is a message of the pane's own commands.
type Msg interface{ log() }

type (
	openedMsg struct {
		gen   int
		view  *engine.LogView
		grown <-chan engine.LogGrowth
		end   engine.LogPos
		err   error
	}
	grownMsg struct {
		gen       int
		end       engine.LogPos
		restarted []int // logs that begin anew
		err       error
		more      bool
	}
)

func (openedMsg) log() {}
func (grownMsg) log()  {}

// Pane is the log view.
type Pane struct {
	src  Source
	th   ui.Theme
	keys keyMap
	base context.Context // ends with the screen
	w, h int

	logs   []Log // of the view; several are merged
	gen    int   // of the opening; answers of an older one are dropped
	ctx    context.Context
	cancel context.CancelFunc
	view   *engine.LogView
	grown  <-chan engine.LogGrowth
	end    engine.LogPos
	index  *engine.LogIndex // nil: not counted
	err    error

	lines   []engine.LogLine
	head    engine.LogPos // before lines[0]
	first   int           // of lines, at the top of the window
	sub     int           // rows of it that are above the window, when lines are wrapped
	top     bool          // the beginning of the log is in lines
	bottom  bool          // its end is
	number  int64         // of the line at the top, from 1; 0: not known
	fetched *fetch        // under way; nil: none
	looked  engine.LogPos // how far it is
	again   bool          // the log has grown since
	scrolls int           // rows to scroll once it has come
	// stay is the place at the top that scrolling and searching gave, and that a
	// change of size leaves alone: before lines[stayAt], staySub rows down.
	stay            engine.LogPos
	stayAt, staySub int

	follow  bool
	wrap    bool
	colours bool
	left    int // cells that are scrolled out at the left

	query   string
	search  *engine.LogMatcher
	only    string
	filter  *engine.LogMatcher
	finding *find         // under way; nil: none
	reached engine.LogPos // by it
	hit     *engine.LogLine
	said    string // how the last search ended, where it found nothing new
	prompt  prompt
	input   ui.Input
	rows    []string // drawn
}

// New makes a pane without a log; base bounds all of its work.
func New(base context.Context, src Source, th ui.Theme) *Pane {
	p := &Pane{src: src, th: th, keys: newKeys(), base: base, follow: true}
	p.cancel = func() {}
	return p
}

// Open leaves the logs that are open and opens others, at their end.
func (p *Pane) Open(logs ...Log) tea.Cmd {
	p.cancel()
	p.gen++
	p.logs, p.view, p.end, p.index, p.err = logs, nil, nil, nil, nil
	p.lines, p.head, p.first, p.sub, p.number, p.stay, p.stayAt, p.left = nil, nil, 0, 0, 0, nil, 0, 0
	p.top, p.bottom = false, false
	p.fetched, p.finding, p.hit, p.said, p.again, p.scrolls = nil, nil, nil, "", false, 0
	p.follow = true
	p.draw()
	ctx, cancel := context.WithCancel(p.base)
	p.ctx, p.cancel = ctx, cancel
	src, gen := p.src, p.gen
	paths := make([]string, 0, len(logs))
	for _, l := range logs {
		paths = append(paths, l.Path)
	}
	return func() tea.Msg {
		m := openedMsg{gen: gen}
		if m.view, m.grown, m.err = src.LogView(ctx, paths...); m.err != nil {
			return m
		}
		context.AfterFunc(ctx, m.view.Close)
		m.end, m.err = m.view.End()
		return m
	}
}

// Logs are those that are open.
func (p *Pane) Logs() []Log { return p.logs }

// SetTheme changes the colours.
func (p *Pane) SetTheme(th ui.Theme) {
	p.th = th
	p.draw()
}

// SetSize sets the size in cells; the line at the top stays where it is. Lines are
// held for a window somewhat larger; Settle reads what is missing beyond that.
func (p *Pane) SetSize(w, h int) {
	if w == p.w && h == p.h {
		return
	}
	p.w, p.h = w, h
	p.settle()
	p.draw()
}

// Settle reads what the window lacks since its size has changed.
func (p *Pane) Settle() tea.Cmd {
	if p.view == nil || p.fetched != nil || p.err != nil || p.full() {
		return nil
	}
	return p.refresh()
}

// full says that the window has no gap that a line of the log could fill.
func (p *Pane) full() bool {
	return p.rowsFrom(p.first, p.sub) >= p.h || p.top && p.bottom
}

// settle finds the top of the window among the lines that are held.
func (p *Pane) settle() {
	if p.follow {
		p.first, p.sub = len(p.lines), 0
		p.climb(p.h)
		return
	}
	p.first, p.sub = p.stayAt, 0
	if p.first < len(p.lines) {
		p.sub = min(p.staySub, p.height(p.first)-1)
	}
	if short := p.h - p.rowsFrom(p.first, p.sub); short > 0 && p.bottom {
		p.climb(short)
	}
}

// settled makes the top of the window the place that stays.
func (p *Pane) settled() {
	p.stay, p.stayAt, p.staySub = p.place(p.first), p.first, p.sub
}

// Update takes a message of the pane's commands.
func (p *Pane) Update(msg Msg) tea.Cmd {
	defer p.draw()
	switch msg := msg.(type) {
	case openedMsg:
		return p.onOpened(msg)
	case grownMsg:
		return p.onGrown(msg)
	case fetchedMsg:
		return p.onFetched(msg)
	case foundMsg:
		return p.onFound(msg)
	case countedMsg:
		return p.onCounted(msg)
	}
	return nil
}

func (p *Pane) onOpened(m openedMsg) tea.Cmd {
	if m.gen != p.gen {
		return nil
	}
	if p.err = m.err; m.err != nil {
		return nil
	}
	p.view, p.grown, p.end = m.view, m.grown, m.end
	const small = 64 << 20 // counted in one step, so that lines have their numbers
	if len(p.logs) == 1 && p.end.Bytes() <= small {
		p.index = p.view.NewIndex(0)
	}
	return tea.Batch(p.toEnd(), p.nextGrowth())
}

// burst is how many growths go into one message at most.
const burst = 512

func (p *Pane) nextGrowth() tea.Cmd {
	ctx, gen, view, grown := p.ctx, p.gen, p.view, p.grown
	return func() tea.Msg {
		got, more := ui.Drain(ctx, grown, burst, func(engine.LogGrowth) int { return 1 })
		if ctx.Err() != nil { // the view is closed: a look at it would open its logs again
			return nil
		}
		m := grownMsg{gen: gen, more: more}
		for _, g := range got {
			m.err = g.Err
			if g.Restarted {
				view.Restart(g.File)
				m.restarted = append(m.restarted, g.File)
			}
		}
		var err error
		if m.end, err = view.End(); err != nil {
			m.err = err
		}
		return m
	}
}

func (p *Pane) onGrown(m grownMsg) tea.Cmd {
	if m.gen != p.gen {
		return nil
	}
	if p.err = m.err; m.end != nil {
		p.end = m.end
	}
	var next tea.Cmd
	if m.more {
		next = p.nextGrowth()
	}
	for _, file := range m.restarted {
		if p.index != nil {
			p.index = p.view.NewIndex(0)
		}
		p.hit, p.finding = nil, nil
		if p.stay != nil {
			p.stay[file], p.staySub = 0, 0
		}
	}
	switch {
	case len(m.restarted) > 0:
		p.fetched = nil // of what is gone
		return tea.Batch(next, p.refresh())
	case p.fetched != nil:
		p.again = true
		return next
	case p.follow || p.bottom:
		return tea.Batch(next, p.refresh())
	}
	return next
}

// Following says that new lines scroll into view.
func (p *Pane) Following() bool { return p.follow }

// Follow turns following the end on or off.
func (p *Pane) Follow(on bool) tea.Cmd {
	if on == p.follow {
		return nil
	}
	defer p.draw()
	if on {
		return p.toEnd()
	}
	p.hold()
	return nil
}

// hold stops following; what is in view stays.
func (p *Pane) hold() {
	if p.follow {
		p.follow = false
		p.settled()
	}
}

// place is the place before a line of the window.
func (p *Pane) place(i int) engine.LogPos {
	at := slices.Clone(p.head)
	for _, l := range p.lines[:min(i, len(p.lines))] {
		at = at.After(l)
	}
	return at
}

// Escape ends what is going on in the pane: a search under way, what was searched
// for, a filter. False: nothing is.
func (p *Pane) Escape() (tea.Cmd, bool) {
	defer p.draw()
	switch {
	case p.finding != nil:
		p.finding.stop()
		p.finding, p.said = nil, "stopped"
	case p.query != "" || p.hit != nil || p.said != "":
		p.query, p.search, p.hit, p.said = "", nil, nil, ""
	case p.only != "":
		p.only, p.filter = "", nil
		return p.refresh(), true
	default:
		return nil, false
	}
	return nil, true
}
