package logs

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
)

type foundMsg struct {
	job     *searchJob
	line    *engine.LogLine // nil: none so far
	noMatch bool            // the whole log was searched
	err     error
}

// searchJob is a running search. Only one command at a time accesses it.
type searchJob struct {
	ctx     context.Context
	stop    context.CancelFunc
	view    *engine.LogView
	match   *engine.LogMatcher
	label   string
	pos     engine.LogPos
	back    bool
	wrapped bool // has passed one end of the log and continues at the other
}

func (f *searchJob) run() tea.Cmd {
	return func() tea.Msg {
		m := foundMsg{job: f}
		got, err := f.view.Step(f.ctx, engine.LogQuery{From: f.pos, Back: f.back, Lines: 1, Match: f.match})
		if m.err = err; err != nil {
			return m
		}
		f.pos = got.Reached
		switch {
		case len(got.Lines) > 0:
			m.line = &got.Lines[0]
		case got.End && f.wrapped:
			m.noMatch = true
		case got.End:
			f.wrapped = true
			if f.pos = f.view.Start(); f.back {
				f.pos, m.err = f.view.End()
			}
		}
		return m
	}
}

// byteRange is the location that a file was opened at, in bytes of the file.
type byteRange struct{ from, to int64 }

// search holds the query, the last match, and the location that a file was opened at.
type search struct {
	query   string
	match   *engine.LogMatcher
	job     *searchJob    // the running search; nil: none
	reached engine.LogPos // how far the job has searched
	found   *engine.LogLine
	opened  *byteRange // marked while there is no match
	reveal  bool       // scroll sideways to the mark when its line is loaded
	status  string     // shown after the query
}

// setQuery sets the query and drops the last match.
func (s *search) setQuery(query string) {
	s.stop()
	s.query, s.match, s.found, s.status = query, nil, nil, ""
	if query == "" {
		return
	}
	m, err := engine.MatchRegexp(query)
	if err != nil {
		s.status = "not a valid regular expression"
		return
	}
	s.match = m
}

func (s *search) startJob(ctx context.Context, f searchJob) tea.Cmd {
	s.stop()
	f.ctx, f.stop = context.WithCancel(ctx)
	s.job, s.status, s.reached = &f, "", f.pos
	return f.run()
}

// stop stops the running search and reports whether there was one.
func (s *search) stop() bool {
	if s.job == nil {
		return false
	}
	s.job.stop()
	s.job = nil
	return true
}

// clear removes the query and the match and reports whether there was anything to remove.
func (s *search) clear() bool {
	active := s.query != "" || s.found != nil || s.status != ""
	s.query, s.match, s.found, s.status = "", nil, nil, ""
	return active
}

// resetForOpen drops the match and the mark before other logs are opened. The query
// is kept.
func (s *search) resetForOpen() {
	s.stop()
	s.found, s.opened, s.reveal, s.status = nil, nil, false, ""
}

// handleStep handles the result of a step and reports whether the search has ended.
func (s *search) handleStep(m foundMsg) bool {
	f := m.job
	switch {
	case m.noMatch:
		s.found, s.status = nil, "no match"
	case m.line == nil:
		s.reached = f.pos
		return false
	case f.wrapped && f.back:
		s.status = "continued from the end"
	case f.wrapped:
		s.status = "continued from the beginning"
	}
	s.found, s.reveal = m.line, m.line != nil
	s.stop()
	return true
}

// setOpened marks a location in the line that begins at byte line, and returns its first byte.
func (s *search) setOpened(line int64, at Location) int64 {
	from, length := line, 0
	if at.Column > 0 {
		from, length = line+int64(at.Column)-1, at.Length
	}
	s.opened, s.reveal = &byteRange{from, from + int64(length)}, true
	return from
}

// isCurrent reports whether a line is the current match or the opened location.
func (s *search) isCurrent(l engine.LogLine) bool {
	switch {
	case s.found != nil:
		return sameLine(l, *s.found)
	case s.opened != nil:
		return s.opened.from >= l.At && s.opened.from < l.Next
	}
	return false
}

// highlights returns the highlighted parts of a line's text, as pairs of byte indexes.
func (s *search) highlights(l engine.LogLine, text string) [][]int {
	if s.match != nil || s.opened == nil {
		return s.match.Marks(text)
	}
	if lo, hi := l.Span(s.opened.from, s.opened.to); hi > lo {
		return [][]int{{lo, hi}}
	}
	return nil
}

func sameLine(a, b engine.LogLine) bool { return a.File == b.File && a.At == b.At }
