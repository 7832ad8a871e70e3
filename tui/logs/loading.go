package logs

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
)

type fetchedMsg struct {
	fetch *fetch
	done  bool
	err   error
}

// loading is the state of reading lines for the window.
type loading struct {
	fetch       *fetch        // nil: none
	reached     engine.LogPos // how far it has read
	grown       bool          // the log has grown since the fetch began
	pendingRows int           // rows to scroll when the fetch is done
}

// start stops the current fetch and starts f.
func (l *loading) start(ctx context.Context, f fetch) tea.Cmd {
	l.stop()
	f.ctx, f.stop = context.WithCancel(ctx)
	f.start, f.end = slices.Clone(f.pos), slices.Clone(f.pos)
	*l = loading{fetch: &f}
	return f.run()
}

// stop stops the current fetch and reports whether there was one.
func (l *loading) stop() bool {
	if l.fetch == nil {
		return false
	}
	l.fetch.stop()
	l.fetch = nil
	return true
}

// fetch reads the lines around a target, in steps. Only one command at a time
// accesses it.
type fetch struct {
	target
	ctx    context.Context
	stop   context.CancelFunc
	view   *engine.LogView
	match  *engine.LogMatcher
	index  *engine.LogIndex
	wanted int // number of lines to read

	before, after    []engine.LogLine // before: in reverse order
	start, end       engine.LogPos
	hasStart, hasEnd bool
	number           int64
}

func (f *fetch) run() tea.Cmd {
	return func() tea.Msg {
		done, err := f.step()
		if done && err == nil && f.index != nil {
			f.number, err = f.index.Number(f.ctx, f.start[0])
		}
		return fetchedMsg{f, done, err}
	}
}

// step reads more lines and reports whether all are read.
func (f *fetch) step() (bool, error) {
	if f.pos == nil {
		end, err := f.view.End()
		if err != nil {
			return false, err
		}
		f.pos, f.start, f.end = end, end, end
	}
	for {
		q := engine.LogQuery{Match: f.match}
		switch n := f.linesAbove - len(f.before); {
		case n > 0 && !f.hasStart:
			q.From, q.Back, q.Lines = f.start, true, n
		case len(f.after) < f.wanted && !f.hasEnd:
			q.From, q.Lines = f.end, f.wanted-len(f.after)
		case len(f.before)+len(f.after) < f.wanted && !f.hasStart:
			q.From, q.Back, q.Lines = f.start, true, f.wanted-len(f.before)-len(f.after)
		default:
			return true, nil
		}
		got, err := f.view.Step(f.ctx, q)
		if err != nil {
			return false, err
		}
		if q.Back {
			f.before, f.start, f.hasStart = append(f.before, got.Lines...), got.Reached, got.End
		} else {
			f.after, f.end, f.hasEnd = append(f.after, got.Lines...), got.Reached, got.End
		}
		if len(got.Lines) < q.Lines && !got.End {
			return false, nil
		}
	}
}

// page returns the lines read so far, in the order of the log.
func (f *fetch) page() page {
	lines := slices.Clone(f.before)
	slices.Reverse(lines)
	return page{lines: append(lines, f.after...), start: f.start, hasStart: f.hasStart, hasEnd: f.hasEnd, number: f.number}
}
