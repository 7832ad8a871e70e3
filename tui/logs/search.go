package logs

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
)

type foundMsg struct {
	find *find
	line *engine.LogLine // nil: not yet
	over bool            // no match anywhere
	err  error
}

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

// spot is what a file was opened at, as bytes of the file.
type spot struct{ from, to int64 }

// search is what is searched for, and what is pointed to.
type search struct {
	query   string
	match   *engine.LogMatcher
	now     *find         // under way; nil: none
	reached engine.LogPos // by it
	hit     *engine.LogLine
	spot    *spot  // pointed to while nothing is found
	aim     bool   // what is pointed to has yet to be brought into view sideways
	said    string // how the last search ended, where it found nothing new
}

// set takes what is typed.
func (s *search) set(query string) {
	s.stop()
	s.query, s.match, s.hit, s.said = query, nil, nil, ""
	if query == "" {
		return
	}
	m, err := engine.MatchRegexp(query)
	if err != nil {
		s.said = "no regular expression yet"
		return
	}
	s.match = m
}

func (s *search) start(ctx context.Context, f find) tea.Cmd {
	s.stop()
	f.ctx, f.stop = context.WithCancel(ctx)
	s.now, s.said, s.reached = &f, "", f.at
	return f.run()
}

// stop ends a search under way; false: there was none.
func (s *search) stop() bool {
	if s.now == nil {
		return false
	}
	s.now.stop()
	s.now = nil
	return true
}

// clear forgets what was searched for and found; false: there was nothing.
func (s *search) clear() bool {
	any := s.query != "" || s.hit != nil || s.said != ""
	s.query, s.match, s.hit, s.said = "", nil, nil, ""
	return any
}

// leave forgets what was found in the logs that were open; the same can be searched
// for in the next ones.
func (s *search) leave() {
	s.stop()
	s.hit, s.spot, s.aim, s.said = nil, nil, false, ""
}

// take takes what a step of the search has come to; false: it has to go on.
func (s *search) take(m foundMsg) bool {
	f := m.find
	switch {
	case m.over:
		s.hit, s.said = nil, "nowhere"
	case m.line == nil:
		s.reached = f.at
		return false
	case f.wrapped && f.back:
		s.said = "round the beginning"
	case f.wrapped:
		s.said = "round the end"
	}
	s.hit, s.aim = m.line, m.line != nil
	s.stop()
	return true
}

// point marks a place in a line that begins at a byte, and says at which byte it is.
func (s *search) point(line int64, at Place) int64 {
	from, length := line, 0
	if at.Column > 0 {
		from, length = line+int64(at.Column)-1, at.Length
	}
	s.spot, s.aim = &spot{from, from + int64(length)}, true
	return from
}

// points says whether a line is the one that is pointed to.
func (s *search) points(l engine.LogLine) bool {
	switch {
	case s.hit != nil:
		return same(l, *s.hit)
	case s.spot != nil:
		return s.spot.from >= l.At && s.spot.from < l.Next
	}
	return false
}

// marks are the parts of a line's text that are to be lit.
func (s *search) marks(l engine.LogLine, text string) [][]int {
	if s.match != nil || s.spot == nil {
		return s.match.Marks(text)
	}
	if lo, hi := l.Span(s.spot.from, s.spot.to); hi > lo {
		return [][]int{{lo, hi}}
	}
	return nil
}

func same(a, b engine.LogLine) bool { return a.File == b.File && a.At == b.At }
