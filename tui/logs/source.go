package logs

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Source is the part of the engine that the pane uses.
type Source interface {
	// LogView opens logs. Until ctx ends, the channel reports their growth.
	LogView(ctx context.Context, paths ...string) (*engine.LogView, <-chan engine.LogGrowth, error)
}

// Log is a log with the name shown to the user.
type Log struct{ Name, Path string }

// Location is where a file is opened. It is marked.
type Location struct {
	Line   int64 // from 1; 0: the beginning of the file, without a mark
	Column int   // first byte of the mark in the line, from 1; 0: no part of the line
	Length int   // of the mark in bytes
}

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
		restarted []int // logs that were truncated or replaced
		err       error
		more      bool
	}
	countedMsg struct {
		gen   int
		line  int64
		at    int64 // first byte of the line, or the end if it does not exist
		known bool  // false: more steps are needed
		err   error
	}
)

// source holds the open logs.
type source struct {
	eng        Source
	parent     context.Context // ends when the screen closes
	logs       []Log           // several are merged by time
	gen        int             // incremented by close; messages of an older one are dropped
	ctx        context.Context
	cancel     context.CancelFunc
	view       *engine.LogView
	growth     <-chan engine.LogGrowth
	end        engine.LogPos
	index      *engine.LogIndex // nil for merged logs
	location   *Location        // where to open; nil: at the end, or already there
	wantedLine int64            // number of the line to go to; 0: none
	err        error
}

// open closes the open logs and opens others.
func (s *source) open(logs []Log) tea.Cmd {
	s.close()
	ctx, cancel := context.WithCancel(s.parent)
	*s = source{eng: s.eng, parent: s.parent, logs: logs, gen: s.gen, ctx: ctx, cancel: cancel}
	eng, gen := s.eng, s.gen
	paths := make([]string, 0, len(logs))
	for _, l := range logs {
		paths = append(paths, l.Path)
	}
	return func() tea.Msg {
		m := openedMsg{gen: gen}
		if m.view, m.grown, m.err = eng.LogView(ctx, paths...); m.err != nil {
			return m
		}
		context.AfterFunc(ctx, m.view.Close)
		m.end, m.err = m.view.End()
		return m
	}
}

// nameWidth returns the width of the column of log names in a window of w cells.
func (s *source) nameWidth(w int) int {
	if len(s.logs) < 2 {
		return 0
	}
	n := 0
	for _, l := range s.logs {
		n = max(n, ui.Width(l.Name))
	}
	return min(n, 12, w/4) + 2
}

// name returns the name of the open logs for the title.
func (s *source) name(file bool) string {
	switch n := len(s.logs); {
	case n == 1 && file:
		return ui.Clean(s.logs[0].Name)
	case n == 1:
		return ui.Clean(s.logs[0].Name) + " log"
	case n > 1:
		return fmt.Sprintf("%d logs merged", n)
	}
	return "log"
}

// close stops all commands on the open logs. Their messages will be dropped.
func (s *source) close() {
	s.cancel()
	s.gen++
}

// maxGrowths limits the number of reports of growth in one message.
const maxGrowths = 512

func (s *source) nextGrowth() tea.Cmd {
	ctx, gen, view, changes := s.ctx, s.gen, s.view, s.growth
	return func() tea.Msg {
		got, more := ui.Drain(ctx, changes, maxGrowths, func(engine.LogGrowth) int { return 1 })
		if ctx.Err() != nil { // the view is closed; View.End would reopen its logs
			return nil
		}
		m := grownMsg{gen: gen, more: more}
		for _, g := range got {
			m.err = g.Err
			if g.Restarted {
				view.Reopen(g.File)
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

// handleGrowth handles the growth of logs and returns a command that waits for more.
func (s *source) handleGrowth(m grownMsg) tea.Cmd {
	if s.err = m.err; m.end != nil {
		s.end = m.end
	}
	if len(m.restarted) > 0 && s.index != nil {
		s.index = s.view.NewIndex(0)
	}
	if !m.more {
		return nil
	}
	return s.nextGrowth()
}

// seek returns a command that counts lines, up to the given one or the limit of a step.
func (s *source) seek(line int64) tea.Cmd {
	s.wantedLine = line
	ctx, gen, index := s.ctx, s.gen, s.index
	return func() tea.Msg {
		m := countedMsg{gen: gen, line: line}
		m.at, m.known, m.err = index.Seek(ctx, line)
		return m
	}
}
