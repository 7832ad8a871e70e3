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

func (fetchedMsg) log() {}

// fetch is the reading of what is in view around a place. It is worked on by one
// command at a time, and by nobody else meanwhile.
type fetch struct {
	ctx   context.Context
	stop  context.CancelFunc
	view  *engine.LogView
	match *engine.LogMatcher
	index *engine.LogIndex
	at    engine.LogPos // nil: the end
	above int           // lines wanted above it
	h     int

	before, after []engine.LogLine // before: the nearest first
	upAt, downAt  engine.LogPos
	top, bottom   bool
	number        int64

	// What is to be done once it has come.
	aboveRows int  // rows to go up from the place
	sub       int  // rows to leave out at the place
	keeps     bool // the place is one that a change of size leaves alone
	down      bool // it was asked for by scrolling down
}

// start begins to read what is in view around a place.
func (p *Pane) start(f fetch) tea.Cmd {
	if p.fetched != nil {
		p.fetched.stop()
	}
	if p.view == nil {
		return nil
	}
	f.ctx, f.stop = context.WithCancel(p.ctx)
	f.view, f.match, f.h, f.index = p.view, p.filter, p.held(), p.index
	f.upAt, f.downAt = slices.Clone(f.at), slices.Clone(f.at)
	p.fetched, p.looked, p.again, p.scrolls = &f, nil, false, 0
	return f.run()
}

func (f *fetch) run() tea.Cmd {
	return func() tea.Msg {
		done, err := f.step()
		if done && err == nil && f.index != nil {
			err = f.count()
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
		case len(f.after) < f.h && !f.bottom:
			q.From, q.Lines = f.downAt, f.h-len(f.after)
		case len(f.before)+len(f.after) < f.h && !f.top:
			q.From, q.Back, q.Lines = f.upAt, true, f.h-len(f.before)-len(f.after)
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

// count finds the number of the first line that was read.
func (f *fetch) count() error {
	for f.index.Counted() < f.upAt[0] {
		if done, err := f.index.Step(f.ctx); err != nil {
			return err
		} else if done {
			break
		}
	}
	n, ok, err := f.index.Line(f.ctx, f.upAt[0])
	if ok {
		f.number = n
	}
	return err
}

func (p *Pane) onFetched(m fetchedMsg) tea.Cmd {
	f := m.fetch
	if f != p.fetched {
		return nil
	}
	if m.err != nil {
		p.fetched, p.err = nil, m.err
		return nil
	}
	if !m.done { // a filter leaves little: what there is so far is shown
		p.take(f)
		return f.run()
	}
	f.stop()
	p.fetched, p.err = nil, nil
	p.take(f)
	if f.down && p.atEnd() {
		p.follow = true
	}
	if by := p.scrolls; by != 0 {
		p.scrolls = 0
		return p.Scroll(by)
	}
	if p.again && (p.follow || p.bottom) {
		return p.refresh()
	}
	return nil
}

// take shows what a fetch has read.
func (p *Pane) take(f *fetch) {
	p.lines = slices.Clone(f.before)
	slices.Reverse(p.lines)
	p.lines = append(p.lines, f.after...)
	p.head, p.top, p.bottom, p.number = f.upAt, f.top, f.bottom, f.number
	p.first, p.sub = len(f.before), f.sub
	p.climb(f.aboveRows)
	p.settled()
	p.settle()
	if f.keeps {
		p.settled()
	}
	if p.looked = f.upAt; f.top {
		p.looked = f.downAt
	}
}

// climb moves the top of the window up by rows, as far as lines go.
func (p *Pane) climb(rows int) {
	for rows > 0 && (p.sub > 0 || p.first > 0) {
		if p.sub == 0 {
			p.first--
			p.sub = p.height(p.first)
		}
		n := min(p.sub, rows)
		p.sub, rows = p.sub-n, rows-n
	}
}

// atEnd says that the last row is in the window.
func (p *Pane) atEnd() bool { return p.bottom && p.rowsFrom(p.first, p.sub) <= p.h }

// rowsFrom is how many rows there are from a row of a line on, at most a window
// and one more.
func (p *Pane) rowsFrom(line, sub int) int {
	n := -sub
	for i := line; i < len(p.lines) && n <= p.h; i++ {
		n += p.height(i)
	}
	return n
}

// toEnd goes to the end and follows it.
func (p *Pane) toEnd() tea.Cmd {
	p.follow = true
	return p.start(fetch{above: p.held(), aboveRows: p.h})
}

// refresh reads anew what is in view.
func (p *Pane) refresh() tea.Cmd {
	if p.follow || p.stay == nil {
		return p.toEndQuietly()
	}
	return p.start(fetch{at: p.stay, sub: p.staySub})
}

// toEndQuietly is toEnd without a change of whether the end is followed.
func (p *Pane) toEndQuietly() tea.Cmd {
	return p.start(fetch{above: p.held(), aboveRows: p.h, keeps: !p.follow})
}

// jump goes to a place, with so many rows above it.
func (p *Pane) jump(at engine.LogPos, above int) tea.Cmd {
	p.follow = false
	return p.start(fetch{at: at, above: above, aboveRows: above, keeps: true})
}

// Scroll moves the window by so many rows; up stops following, and reaching the
// end resumes it.
func (p *Pane) Scroll(by int) tea.Cmd {
	if p.view == nil || by == 0 {
		return nil
	}
	if p.fetched != nil {
		p.scrolls = min(max(p.scrolls+by, -10*p.h), 10*p.h)
		return nil
	}
	if by < 0 {
		p.follow = false
		return p.start(fetch{at: p.place(p.first), sub: p.sub, above: -by, aboveRows: -by, keeps: true})
	}
	if p.follow {
		return nil
	}
	if p.atEnd() {
		return p.toEnd()
	}
	line, sub := p.first, p.sub+by
	for line < len(p.lines)-1 && sub >= p.height(line) {
		sub -= p.height(line)
		line++
	}
	return p.start(fetch{at: p.place(line), sub: min(sub, p.height(line)-1), keeps: true, down: true})
}

// held is how many lines are held: more than the window has, so that a change of
// size need not wait for the disk.
func (p *Pane) held() int {
	const spare = 64
	return max(p.h, 1) + spare
}

// Page is how many rows are in view.
func (p *Pane) Page() int { return max(p.h, 1) }

// height is how many rows a line of the window takes.
func (p *Pane) height(i int) int {
	if !p.wrap {
		return 1
	}
	return max((cellsOf(p.text(p.lines[i]))+p.room()-1)/p.room(), 1)
}
