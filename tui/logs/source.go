package logs

import (
	"context"
	"fmt"

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

// Place is where a file is opened. What is at it is marked.
type Place struct {
	Line   int64 // from 1; 0: the file's beginning, and nothing is marked
	Column int   // first byte of what is marked in the line, from 1; 0: the line alone
	Length int   // of that in bytes
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
		restarted []int // logs that begin anew
		err       error
		more      bool
	}
	countedMsg struct {
		gen   int
		line  int64
		at    int64 // where it begins, or the end if there is no such line
		known bool  // else counting has to go on
		err   error
	}
)

// source is what is open.
type source struct {
	eng     Source
	base    context.Context // ends with the screen
	logs    []Log           // of the view; several are merged
	gen     int             // of the opening; answers of an older one are dropped
	ctx     context.Context
	cancel  context.CancelFunc
	view    *engine.LogView
	changes <-chan engine.LogGrowth
	end     engine.LogPos
	index   *engine.LogIndex // of a single log
	at      *Place           // where to begin; nil: at the end, or it has begun
	seeking int64            // number of the line that is looked for; 0: none
	err     error
}

// open leaves what is open and opens logs.
func (s *source) open(logs []Log) tea.Cmd {
	s.close()
	ctx, cancel := context.WithCancel(s.base)
	*s = source{eng: s.eng, base: s.base, logs: logs, gen: s.gen, ctx: ctx, cancel: cancel}
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

// nameWidth is the column of logs' names in a merged view of w cells.
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

// name is what is open, as the title says it.
func (s *source) name(file bool) string {
	switch n := len(s.logs); {
	case n == 1 && file:
		return ui.Clean(s.logs[0].Name)
	case n == 1:
		return ui.Clean(s.logs[0].Name) + " log"
	case n > 1:
		return fmt.Sprintf("%d logs by time", n)
	}
	return "log"
}

// close ends all work on what is open; its answers are dropped.
func (s *source) close() {
	s.cancel()
	s.gen++
}

// burst is how many growths go into one message at most.
const burst = 512

func (s *source) nextGrowth() tea.Cmd {
	ctx, gen, view, changes := s.ctx, s.gen, s.view, s.changes
	return func() tea.Msg {
		got, more := ui.Drain(ctx, changes, burst, func(engine.LogGrowth) int { return 1 })
		if ctx.Err() != nil { // the view is closed: a look at it would open its logs again
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

// grew takes the growth of a log and waits for the next one.
func (s *source) grew(m grownMsg) tea.Cmd {
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

// seek counts lines for a step, to find the wanted one.
func (s *source) seek(line int64) tea.Cmd {
	s.seeking = line
	ctx, gen, index := s.ctx, s.gen, s.index
	return func() tea.Msg {
		m := countedMsg{gen: gen, line: line}
		m.at, m.known, m.err = index.Seek(ctx, line)
		return m
	}
}
