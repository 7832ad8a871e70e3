package logs

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
)

// reader is the viewer without drawing and keys. It handles the results of its
// commands and decides what to read next.
type reader struct {
	file    bool // shows one file of any kind, not logs
	src     source
	win     window
	loading loading
	search  search
	filter  lineFilter
}

// lineFilter hides the lines that do not match.
type lineFilter struct {
	text  string // a regular expression; empty: show all lines
	match *engine.LogMatcher
}

// Fill reads the lines that are missing after a change of size.
func (r *reader) Fill() tea.Cmd {
	if r.loading.fetch != nil || r.src.err != nil || r.src.location != nil || r.win.isFull() {
		return nil
	}
	return r.load(r.win.currentTarget())
}

func (m openedMsg) apply(r *reader) tea.Cmd {
	if m.gen != r.src.gen {
		return nil
	}
	if r.src.err = m.err; m.err != nil {
		return nil
	}
	r.src.view, r.src.growth, r.src.end = m.view, m.grown, m.end
	if len(r.src.logs) == 1 {
		r.src.index = r.src.view.NewIndex(0)
	}
	var first tea.Cmd
	switch at := r.src.location; {
	case at == nil:
		first = r.load(r.win.endTarget())
	case at.Line > 0:
		first = r.src.seek(at.Line)
	default:
		r.src.location = nil
		first = r.load(r.win.targetAt(r.src.view.Start(), 0))
	}
	return tea.Batch(first, r.src.nextGrowth())
}

func (m grownMsg) apply(r *reader) tea.Cmd {
	if m.gen != r.src.gen {
		return nil
	}
	next := r.src.handleGrowth(m)
	for _, file := range m.restarted {
		r.search.resetForOpen()
		r.win.handleRestart(file)
	}
	switch {
	case len(m.restarted) > 0:
		return tea.Batch(next, r.load(r.win.currentTarget()))
	case r.loading.fetch != nil:
		r.loading.grown = true
	case r.win.follow || r.win.hasEnd:
		return tea.Batch(next, r.load(r.win.currentTarget()))
	}
	return next
}

// load starts to read the lines of a target.
func (r *reader) load(t target) tea.Cmd {
	if r.src.view == nil {
		return nil
	}
	return r.loading.start(r.src.ctx, fetch{
		target: t, view: r.src.view, match: r.filter.match, index: r.src.index, wanted: r.win.capacity(),
	})
}

func (m fetchedMsg) apply(r *reader) tea.Cmd {
	f := m.fetch
	switch {
	case f != r.loading.fetch:
		return nil
	case m.err != nil:
		r.loading.fetch, r.src.err = nil, m.err
		return nil
	}
	r.win.show(f.page(), len(f.before), f.target)
	if r.loading.reached = f.start; f.hasStart {
		r.loading.reached = f.end
	}
	if !m.done { // a filter can take long: show the matches so far
		return f.run()
	}
	f.stop()
	r.loading.fetch, r.src.err = nil, nil
	if f.scrollsDown && r.win.atEnd() {
		r.win.follow = true
	}
	r.revealFound()
	if by := r.loading.pendingRows; by != 0 {
		r.loading.pendingRows = 0
		return r.Scroll(by)
	}
	if r.loading.grown && (r.win.follow || r.win.hasEnd) {
		return r.load(r.win.currentTarget())
	}
	return nil
}

// searchFor searches while the query is typed: in a file downwards from the mark or
// the top of the window, in logs upwards from the bottom of the window.
func (r *reader) searchFor(query string) tea.Cmd {
	r.search.setQuery(query)
	from, back := r.win.visibleEnd(), true
	if r.file {
		from, back = r.win.posBefore(r.win.first), false
		for _, l := range r.win.visibleLines() {
			if r.search.isCurrent(l) {
				from = r.win.searchStart(&l, false)
			}
		}
	}
	return r.startSearch(r.search.match, r.search.query, from, back)
}

// searchNext searches from the last match, or else from the edge of the window.
func (r *reader) searchNext(match *engine.LogMatcher, what string, back bool) tea.Cmd {
	return r.startSearch(match, what, r.win.searchStart(r.search.found, back), back)
}

// startSearch starts a search for the nearest matching line from a position.
func (r *reader) startSearch(match *engine.LogMatcher, what string, from engine.LogPos, back bool) tea.Cmd {
	if match == nil || r.src.view == nil || from == nil {
		return nil
	}
	r.src.wantedLine = 0
	match = match.And(r.filter.match)
	return r.search.startJob(r.src.ctx, searchJob{view: r.src.view, match: match, label: what, pos: from, back: back})
}

func (m foundMsg) apply(r *reader) tea.Cmd {
	f := m.job
	if f != r.search.job {
		return nil
	}
	switch {
	case m.err != nil:
		r.src.err = m.err
		r.search.stop()
		return nil
	case !r.search.handleStep(m):
		return f.run()
	case m.line == nil:
		return nil
	}
	r.win.unfollow()
	if r.win.inView(*m.line) {
		r.revealFound()
		return nil
	}
	at := f.pos // searching back, it is the start of the line
	if !f.back {
		at = at.Before(*m.line)
	}
	return r.load(r.win.targetAt(at, r.win.h/2))
}

// revealFound scrolls sideways to the match, or to the location the file was opened at.
func (r *reader) revealFound() {
	if !r.search.reveal {
		return
	}
	r.search.reveal = false
	for _, l := range r.win.visibleLines() {
		if marks := r.search.highlights(l, l.Text); len(marks) > 0 && r.search.isCurrent(l) {
			r.win.revealBytes(l.Text, marks[0][0], marks[0][1])
		}
	}
}

func (m countedMsg) apply(r *reader) tea.Cmd {
	switch {
	case m.gen != r.src.gen || m.line != r.src.wantedLine: // stopped
		return nil
	case m.err != nil:
		r.src.wantedLine, r.src.location, r.src.err = 0, nil, m.err
		return nil
	case !m.known:
		return r.src.seek(m.line)
	}
	at := r.src.location
	r.src.wantedLine, r.src.location = 0, nil
	if at == nil {
		return r.load(r.win.targetAt(engine.LogPos{m.at}, 0))
	}
	if last := r.src.index.Last(); last < m.line {
		r.search.status = fmt.Sprintf("no line %d: the last line is %d", m.line, last)
	} else {
		m.at = r.src.view.PartAt(m.at, r.search.setOpened(m.at, *at))
	}
	return r.load(r.win.targetAt(engine.LogPos{m.at}, r.win.h/3))
}

// Scroll scrolls down by a number of rows, or up if it is negative. Scrolling up stops following;
// reaching the end resumes it.
func (r *reader) Scroll(by int) tea.Cmd {
	switch {
	case r.src.view == nil || by == 0:
		return nil
	case r.loading.fetch != nil:
		r.loading.pendingRows = min(max(r.loading.pendingRows+by, -10*r.win.h), 10*r.win.h)
		return nil
	}
	t, ok := r.win.scrollTarget(by)
	if !ok {
		return nil
	}
	return r.load(t)
}

// Following reports whether new lines scroll into view.
func (r *reader) Following() bool { return r.win.follow }
