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

// reading is what is on its way into the window.
type reading struct {
	now     *fetch        // nil: nothing
	looked  engine.LogPos // how far it is
	again   bool          // the log has grown since
	scrolls int           // rows to scroll once it has come
}

// start begins to read in place of what is being read.
func (r *reading) start(ctx context.Context, f fetch) tea.Cmd {
	r.stop()
	f.ctx, f.stop = context.WithCancel(ctx)
	f.upAt, f.downAt = slices.Clone(f.at), slices.Clone(f.at)
	*r = reading{now: &f}
	return f.run()
}

// stop gives up what is being read; false: nothing is.
func (r *reading) stop() bool {
	if r.now == nil {
		return false
	}
	r.now.stop()
	r.now = nil
	return true
}

// fetch is the reading of what is in view around a place. It is worked on by one
// command at a time, and by nobody else meanwhile.
type fetch struct {
	wish
	ctx   context.Context
	stop  context.CancelFunc
	view  *engine.LogView
	match *engine.LogMatcher
	index *engine.LogIndex
	lines int // wanted in all

	before, after []engine.LogLine // before: the nearest first
	upAt, downAt  engine.LogPos
	top, bottom   bool
	number        int64
}

func (f *fetch) run() tea.Cmd {
	return func() tea.Msg {
		done, err := f.step()
		if done && err == nil && f.index != nil {
			f.number, err = f.index.Number(f.ctx, f.upAt[0])
		}
		return fetchedMsg{f, done, err}
	}
}

// step reads on; false if it has not all yet.
func (f *fetch) step() (bool, error) {
	if f.at == nil {
		end, err := f.view.End()
		if err != nil {
			return false, err
		}
		f.at, f.upAt, f.downAt = end, end, end
	}
	for {
		q := engine.LogQuery{Match: f.match}
		switch n := f.above - len(f.before); {
		case n > 0 && !f.top:
			q.From, q.Back, q.Lines = f.upAt, true, n
		case len(f.after) < f.lines && !f.bottom:
			q.From, q.Lines = f.downAt, f.lines-len(f.after)
		case len(f.before)+len(f.after) < f.lines && !f.top:
			q.From, q.Back, q.Lines = f.upAt, true, f.lines-len(f.before)-len(f.after)
		default:
			return true, nil
		}
		got, err := f.view.Step(f.ctx, q)
		if err != nil {
			return false, err
		}
		if q.Back {
			f.before, f.upAt, f.top = append(f.before, got.Lines...), got.Reached, got.End
		} else {
			f.after, f.downAt, f.bottom = append(f.after, got.Lines...), got.Reached, got.End
		}
		if len(got.Lines) < q.Lines && !got.End {
			return false, nil
		}
	}
}

// page is what was read, in the order of the log.
func (f *fetch) page() page {
	lines := slices.Clone(f.before)
	slices.Reverse(lines)
	return page{lines: append(lines, f.after...), head: f.upAt, top: f.top, bottom: f.bottom, number: f.number}
}
