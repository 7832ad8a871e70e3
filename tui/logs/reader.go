package logs

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
)

// reader is the viewer without its looks: it takes what its commands have read, and
// decides what is to be read next.
type reader struct {
	file bool // shows a file, which need not grow; else logs
	src  source
	win  window
	read reading
	find search
	only filter
}

// filter leaves lines out.
type filter struct {
	text  string // a regular expression; empty: every line is shown
	match *engine.LogMatcher
}

// Settle reads what the window lacks since its size has changed.
func (r *reader) Settle() tea.Cmd {
	if r.read.now != nil || r.src.err != nil || r.src.at != nil || r.win.full() {
		return nil
	}
	return r.fetch(r.win.here())
}

func (m openedMsg) apply(r *reader) tea.Cmd {
	if m.gen != r.src.gen {
		return nil
	}
	if r.src.err = m.err; m.err != nil {
		return nil
	}
	r.src.view, r.src.changes, r.src.end = m.view, m.grown, m.end
	if len(r.src.logs) == 1 {
		r.src.index = r.src.view.NewIndex(0)
	}
	var first tea.Cmd
	switch at := r.src.at; {
	case at == nil:
		first = r.fetch(r.win.toEnd())
	case at.Line > 0:
		first = r.src.seek(at.Line)
	default:
		r.src.at = nil
		first = r.fetch(r.win.at(r.src.view.Start(), 0))
	}
	return tea.Batch(first, r.src.nextGrowth())
}

func (m grownMsg) apply(r *reader) tea.Cmd {
	if m.gen != r.src.gen {
		return nil
	}
	next := r.src.grew(m)
	for _, file := range m.restarted {
		r.find.leave()
		r.win.restarted(file)
	}
	switch {
	case len(m.restarted) > 0:
		return tea.Batch(next, r.fetch(r.win.here()))
	case r.read.now != nil:
		r.read.again = true
	case r.win.follow || r.win.bottom:
		return tea.Batch(next, r.fetch(r.win.here()))
	}
	return next
}

// fetch begins to read what is to be in view.
func (r *reader) fetch(w wish) tea.Cmd {
	if r.src.view == nil {
		return nil
	}
	return r.read.start(r.src.ctx, fetch{
		wish: w, view: r.src.view, match: r.only.match, index: r.src.index, lines: r.win.held(),
	})
}

func (m fetchedMsg) apply(r *reader) tea.Cmd {
	f := m.fetch
	switch {
	case f != r.read.now:
		return nil
	case m.err != nil:
		r.read.now, r.src.err = nil, m.err
		return nil
	}
	r.win.take(f.page(), len(f.before), f.wish)
	if r.read.looked = f.upAt; f.top {
		r.read.looked = f.downAt
	}
	if !m.done { // a filter leaves little: what there is so far is shown
		return f.run()
	}
	f.stop()
	r.read.now, r.src.err = nil, nil
	if f.down && r.win.atEnd() {
		r.win.follow = true
	}
	r.aim()
	if by := r.read.scrolls; by != 0 {
		r.read.scrolls = 0
		return r.Scroll(by)
	}
	if r.read.again && (r.win.follow || r.win.bottom) {
		return r.fetch(r.win.here())
	}
	return nil
}

// searchFor looks for what is being typed: in a file downwards from what is marked or
// the top of the window, in a log upwards from its end.
func (r *reader) searchFor(query string) tea.Cmd {
	r.find.set(query)
	from, back := r.win.bottomEdge(), true
	if r.file {
		from, back = r.win.place(r.win.first), false
		for _, l := range r.win.shown() {
			if r.find.points(l) {
				from = r.win.edge(&l, false)
			}
		}
	}
	return r.look(r.find.match, r.find.query, from, back)
}

// next searches on from what was found last, or from the window's edge.
func (r *reader) next(match *engine.LogMatcher, what string, back bool) tea.Cmd {
	return r.look(match, what, r.win.edge(r.find.hit, back), back)
}

// look starts a search for the nearest matching line from a place on.
func (r *reader) look(match *engine.LogMatcher, what string, from engine.LogPos, back bool) tea.Cmd {
	if match == nil || r.src.view == nil || from == nil {
		return nil
	}
	r.src.seeking = 0
	match = match.And(r.only.match)
	return r.find.start(r.src.ctx, find{view: r.src.view, match: match, what: what, at: from, back: back})
}

func (m foundMsg) apply(r *reader) tea.Cmd {
	f := m.find
	if f != r.find.now {
		return nil
	}
	switch {
	case m.err != nil:
		r.src.err = m.err
		r.find.stop()
		return nil
	case !r.find.take(m):
		return f.run()
	case m.line == nil:
		return nil
	}
	r.win.hold()
	if r.win.inView(*m.line) {
		r.aim()
		return nil
	}
	at := f.at // going back it is before the line
	if !f.back {
		at = at.Before(*m.line)
	}
	return r.fetch(r.win.at(at, r.win.h/2))
}

// aim scrolls sideways to what was found, or opened at.
func (r *reader) aim() {
	if !r.find.aim {
		return
	}
	r.find.aim = false
	for _, l := range r.win.shown() {
		if marks := r.find.marks(l, l.Text); len(marks) > 0 && r.find.points(l) {
			r.win.aim(l.Text, marks[0][0], marks[0][1])
		}
	}
}

func (m countedMsg) apply(r *reader) tea.Cmd {
	switch {
	case m.gen != r.src.gen || m.line != r.src.seeking: // given up
		return nil
	case m.err != nil:
		r.src.seeking, r.src.at, r.src.err = 0, nil, m.err
		return nil
	case !m.known:
		return r.src.seek(m.line)
	}
	at := r.src.at
	r.src.seeking, r.src.at = 0, nil
	if at == nil {
		return r.fetch(r.win.at(engine.LogPos{m.at}, 0))
	}
	if last := r.src.index.Last(); last < m.line {
		r.find.said = fmt.Sprintf("it has no line %d: it ends on line %d", m.line, last)
	} else {
		m.at = r.src.view.PartAt(m.at, r.find.point(m.at, *at))
	}
	return r.fetch(r.win.at(engine.LogPos{m.at}, r.win.h/3))
}

// Scroll moves the window by so many rows; up stops following, and reaching the end resumes it.
func (r *reader) Scroll(by int) tea.Cmd {
	switch {
	case r.src.view == nil || by == 0:
		return nil
	case r.read.now != nil:
		r.read.scrolls = min(max(r.read.scrolls+by, -10*r.win.h), 10*r.win.h)
		return nil
	}
	w, ok := r.win.by(by)
	if !ok {
		return nil
	}
	return r.fetch(w)
}

// Following says that new lines scroll into view.
func (r *reader) Following() bool { return r.win.follow }
