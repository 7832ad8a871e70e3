package logs

import (
	"slices"

	"github.com/agentperf/agentperf-tui/engine"
)

// page is a run of lines that were read one after another.
type page struct {
	lines  []engine.LogLine
	head   engine.LogPos // before lines[0]
	top    bool          // the beginning of the logs is in lines
	bottom bool          // their end is
	number int64         // of lines[0], from 1; 0: not known
}

// wish is what is to be in view: lines around a place.
type wish struct {
	at    engine.LogPos // nil: the end
	above int           // lines to be read above it
	rows  int           // rows to go up from it
	sub   int           // or rows to leave out at it
	keeps bool          // the place is one that a change of size leaves alone
	down  bool          // it was asked for by scrolling down
}

// window is what is held of the logs, and the part of that which is in view. It
// reads nothing: it says what is to be read as a wish, and takes it as a page.
type window struct {
	page
	w, h  int // of the text in cells
	first int // of lines, at the top
	sub   int // rows of it that are above the window, when lines are wrapped
	// stay is the place at the top that scrolling and searching gave, and that a
	// change of size leaves alone: before lines[stayAt], staySub rows down.
	stay            engine.LogPos
	stayAt, staySub int

	follow bool // new lines scroll into view
	wrap   bool
	left   int // cells that are scrolled out at the left
}

// forget empties the window and follows what comes.
func (w *window) forget() { *w = window{w: w.w, h: w.h, wrap: w.wrap, follow: true} }

// held is how many lines are held: more than the window has, so that a change of
// size need not wait for the disk.
func (w *window) held() int {
	const spare = 64
	return max(w.h, 1) + spare
}

// toEnd is the wish for the end.
func (w *window) toEnd() wish { return wish{above: w.held(), rows: w.h, keeps: !w.follow} }

// at stops following and wishes for a place, with so many rows above it.
func (w *window) at(place engine.LogPos, above int) wish {
	w.follow = false
	return wish{at: place, above: above, rows: above, keeps: true}
}

// here is the wish for what is in view, which may have changed.
func (w *window) here() wish {
	if w.follow || w.stay == nil {
		return w.toEnd()
	}
	return wish{at: w.stay, sub: w.staySub}
}

// by is the wish for what is some rows further down; false if that is in view. Up
// stops following, going beyond the end resumes it.
func (w *window) by(rows int) (wish, bool) {
	switch {
	case rows < 0:
		w.follow = false
		return wish{at: w.place(w.first), sub: w.sub, above: -rows, rows: -rows, keeps: true}, true
	case w.follow:
		return wish{}, false
	case w.atEnd():
		w.follow = true
		return w.toEnd(), true
	}
	line, sub := w.first, w.sub+rows
	for line < len(w.lines)-1 && sub >= w.height(line) {
		sub -= w.height(line)
		line++
	}
	return wish{at: w.place(line), sub: min(sub, w.height(line)-1), keeps: true, down: true}, true
}

// take shows a page that was read around the place of a wish, before which are so
// many of its lines.
func (w *window) take(p page, before int, of wish) {
	w.page = p
	w.first, w.sub = before, of.sub
	w.climb(of.rows)
	w.settled()
	w.settle()
	if of.keeps {
		w.settled()
	}
}

// climb moves the top of the window up by rows, as far as lines go.
func (w *window) climb(rows int) {
	for rows > 0 && (w.sub > 0 || w.first > 0) {
		if w.sub == 0 {
			w.first--
			w.sub = w.height(w.first)
		}
		n := min(w.sub, rows)
		w.sub, rows = w.sub-n, rows-n
	}
}

// settle finds the top of the window among the lines that are held.
func (w *window) settle() {
	if w.follow {
		w.first, w.sub = len(w.lines), 0
		w.climb(w.h)
		return
	}
	w.first, w.sub = w.stayAt, 0
	if w.first < len(w.lines) {
		w.sub = min(w.staySub, w.height(w.first)-1)
	}
	if short := w.h - w.rowsFrom(w.first, w.sub); short > 0 && w.bottom {
		w.climb(short)
	}
}

// settled makes the top of the window the place that stays.
func (w *window) settled() {
	w.stay, w.stayAt, w.staySub = w.place(w.first), w.first, w.sub
}

// hold stops following; what is in view stays.
func (w *window) hold() {
	if w.follow {
		w.follow = false
		w.settled()
	}
}

// restarted tells that a log begins anew.
func (w *window) restarted(file int) {
	if w.stay != nil {
		w.stay[file], w.staySub = 0, 0
	}
}

// full says that the window has no gap that a line of the log could fill.
func (w *window) full() bool {
	return w.rowsFrom(w.first, w.sub) >= w.h || w.top && w.bottom
}

// atEnd says that the last row is in the window.
func (w *window) atEnd() bool { return w.bottom && w.rowsFrom(w.first, w.sub) <= w.h }

// rowsFrom is how many rows there are from a row of a line on, at most a window and one more.
func (w *window) rowsFrom(line, sub int) int {
	n := -sub
	for i := line; i < len(w.lines) && n <= w.h; i++ {
		n += w.height(i)
	}
	return n
}

// height is how many rows a line takes.
func (w *window) height(i int) int {
	if !w.wrap {
		return 1
	}
	return max((cellsOf(textOf(w.lines[i]))+w.w-1)/w.w, 1)
}

// place is the place before a line.
func (w *window) place(i int) engine.LogPos {
	at := slices.Clone(w.head)
	for _, l := range w.lines[:min(i, len(w.lines))] {
		at = at.After(l)
	}
	return at
}

// lineNumber is the number of a line, from 1; 0: not known.
func (w *window) lineNumber(i int) int64 {
	n := w.number
	for k := 1; k <= min(i, len(w.lines)-1) && n > 0; k++ {
		if !w.lines[k].Continued {
			n++
		}
	}
	return n
}

// shown are the lines of which at least a row is in the window.
func (w *window) shown() []engine.LogLine {
	if w.first >= len(w.lines) { // a window without height
		return nil
	}
	last, rows := w.first, w.height(w.first)-w.sub
	for last < len(w.lines)-1 && rows < w.h {
		last++
		rows += w.height(last)
	}
	return w.lines[w.first : last+1]
}

func (w *window) inView(l engine.LogLine) bool {
	return slices.ContainsFunc(w.shown(), func(x engine.LogLine) bool { return same(x, l) })
}

// edge is where a search goes on: behind or before a line that is held, or else at
// the edge of the window.
func (w *window) edge(from *engine.LogLine, back bool) engine.LogPos {
	if from != nil {
		for i, l := range w.lines {
			if same(l, *from) && back {
				return w.place(i)
			} else if same(l, *from) {
				return w.place(i + 1)
			}
		}
	}
	if w.follow || back && from == nil {
		return w.bottomEdge()
	}
	return w.place(w.first)
}

// bottomEdge is the place behind the last line in view.
func (w *window) bottomEdge() engine.LogPos { return w.place(w.first + len(w.shown())) }

// rewrap turns the wrapping of lines on or off.
func (w *window) rewrap() { w.wrap, w.left, w.sub, w.staySub = !w.wrap, 0, 0, 0 }

// shift scrolls sideways.
func (w *window) shift(by int) {
	if w.left = max(w.left+by, 0); by < 0 {
		return
	}
	widest := 0
	for _, l := range w.shown() {
		widest = max(widest, cellsOf(textOf(l)))
	}
	w.left = min(w.left, max(widest-w.w/2, 0))
}

// aim scrolls sideways to a part of a text unless it is in view.
func (w *window) aim(text string, from, to int) {
	lo, hi := cellsOf(text[:from]), cellsOf(text[:to])
	switch {
	case w.wrap || lo >= w.left && hi <= w.left+w.w:
	case hi <= w.w:
		w.left = 0
	default:
		w.left = max(lo-w.w/4, 0)
	}
}
