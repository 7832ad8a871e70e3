package logs

import (
	"slices"

	"github.com/agentperf/agentperf-tui/engine"
)

// page is a sequence of lines that were read.
type page struct {
	lines    []engine.LogLine
	start    engine.LogPos // position before lines[0]
	hasStart bool          // lines[0] is the first line of the logs
	hasEnd   bool          // the last line is the last one of the logs
	number   int64         // line number of lines[0], from 1; 0: unknown
}

// target is what to show: the lines around a position.
type target struct {
	pos         engine.LogPos // nil: the end of the logs
	linesAbove  int           // lines to read above pos
	rowsAbove   int           // rows to show above pos
	firstRow    int           // rows of the line at pos to skip
	anchors     bool          // makes the new top the anchor
	scrollsDown bool          // scrolled down by the user
}

// window is a page of lines in memory, and the visible part of it. It does not read:
// it returns what to read as a target, and shows the page that was read.
type window struct {
	page
	w, h     int // size of the text in cells
	first    int // index in lines of the line at the top
	firstRow int // first visible row of that line, when wrapped
	// anchor is the position at the top after the last scroll or search. It stays at
	// the top when the size changes. It is row anchorRow of lines[anchorLine].
	anchor                engine.LogPos
	anchorLine, anchorRow int

	follow bool // new lines scroll into view
	wrap   bool
	column int // first visible cell, when not wrapped
}

// reset empties the window and follows the end.
func (w *window) reset() { *w = window{w: w.w, h: w.h, wrap: w.wrap, follow: true} }

// capacity returns the number of lines to keep in memory: more than are visible, so
// that small changes of size need no read.
func (w *window) capacity() int {
	const spare = 64
	return max(w.h, 1) + spare
}

// endTarget returns the target for the end of the logs.
func (w *window) endTarget() target {
	return target{linesAbove: w.capacity(), rowsAbove: w.h, anchors: !w.follow}
}

// targetAt stops following and returns the target for a position, with rows above it.
func (w *window) targetAt(pos engine.LogPos, above int) target {
	w.follow = false
	return target{pos: pos, linesAbove: above, rowsAbove: above, anchors: true}
}

// currentTarget returns the target for the visible lines, which may have changed.
func (w *window) currentTarget() target {
	if w.follow || w.anchor == nil {
		return w.endTarget()
	}
	return target{pos: w.anchor, firstRow: w.anchorRow}
}

// scrollTarget returns the target for scrolling down by rows; false if there is
// nothing to do. Scrolling up stops following; scrolling past the end resumes it.
func (w *window) scrollTarget(rows int) (target, bool) {
	switch {
	case rows < 0:
		w.follow = false
		t := target{pos: w.posBefore(w.first), firstRow: w.firstRow, anchors: true}
		t.linesAbove, t.rowsAbove = -rows, -rows
		return t, true
	case w.follow:
		return target{}, false
	case w.atEnd():
		w.follow = true
		return w.endTarget(), true
	}
	line, row := w.first, w.firstRow+rows
	for line < len(w.lines)-1 && row >= w.height(line) {
		row -= w.height(line)
		line++
	}
	return target{pos: w.posBefore(line), firstRow: min(row, w.height(line)-1), anchors: true, scrollsDown: true}, true
}

// show shows a page that was read for a target. The line at the target's position is
// lines[before].
func (w *window) show(p page, before int, t target) {
	w.page = p
	w.first, w.firstRow = before, t.firstRow
	w.moveTopUp(t.rowsAbove)
	w.setAnchor()
	w.restoreTop()
	if t.anchors {
		w.setAnchor()
	}
}

// moveTopUp moves the top of the window up by rows, at most to the first line in memory.
func (w *window) moveTopUp(rows int) {
	for rows > 0 && (w.firstRow > 0 || w.first > 0) {
		if w.firstRow == 0 {
			w.first--
			w.firstRow = w.height(w.first)
		}
		n := min(w.firstRow, rows)
		w.firstRow, rows = w.firstRow-n, rows-n
	}
}

// restoreTop sets the top of the window from the anchor, or from the end when following.
func (w *window) restoreTop() {
	if w.follow {
		w.first, w.firstRow = len(w.lines), 0
		w.moveTopUp(w.h)
		return
	}
	w.first, w.firstRow = w.anchorLine, 0
	if w.first < len(w.lines) {
		w.firstRow = min(w.anchorRow, w.height(w.first)-1)
	}
	if short := w.h - w.rowsFrom(w.first, w.firstRow); short > 0 && w.hasEnd {
		w.moveTopUp(short)
	}
}

// setAnchor makes the top of the window the anchor.
func (w *window) setAnchor() {
	w.anchor, w.anchorLine, w.anchorRow = w.posBefore(w.first), w.first, w.firstRow
}

// unfollow stops following. The visible lines stay.
func (w *window) unfollow() {
	if w.follow {
		w.follow = false
		w.setAnchor()
	}
}

// handleRestart moves the anchor to the start of a log that was truncated or replaced.
func (w *window) handleRestart(file int) {
	if w.anchor != nil {
		w.anchor[file], w.anchorRow = 0, 0
	}
}

// isFull reports whether the window is filled, or shows all lines of the logs.
func (w *window) isFull() bool {
	return w.rowsFrom(w.first, w.firstRow) >= w.h || w.hasStart && w.hasEnd
}

// atEnd reports whether the last row of the logs is visible.
func (w *window) atEnd() bool { return w.hasEnd && w.rowsFrom(w.first, w.firstRow) <= w.h }

// rowsFrom returns the number of rows from a row of a line to the end of the lines in memory. It
// stops counting when they exceed the height of the window.
func (w *window) rowsFrom(line, row int) int {
	n := -row
	for i := line; i < len(w.lines) && n <= w.h; i++ {
		n += w.height(i)
	}
	return n
}

// height returns the number of rows of a line.
func (w *window) height(i int) int {
	if !w.wrap {
		return 1
	}
	return max((cellWidth(lineText(w.lines[i]))+w.w-1)/w.w, 1)
}

// posBefore returns the position before a line.
func (w *window) posBefore(i int) engine.LogPos {
	at := slices.Clone(w.start)
	for _, l := range w.lines[:min(i, len(w.lines))] {
		at = at.After(l)
	}
	return at
}

// lineNumber returns the number of a line, from 1; 0: unknown.
func (w *window) lineNumber(i int) int64 {
	n := w.number
	for k := 1; k <= min(i, len(w.lines)-1) && n > 0; k++ {
		if !w.lines[k].Continued {
			n++
		}
	}
	return n
}

// visibleLines returns the lines with at least one visible row.
func (w *window) visibleLines() []engine.LogLine {
	if w.first >= len(w.lines) { // the window has no rows
		return nil
	}
	last, rows := w.first, w.height(w.first)-w.firstRow
	for last < len(w.lines)-1 && rows < w.h {
		last++
		rows += w.height(last)
	}
	return w.lines[w.first : last+1]
}

func (w *window) inView(l engine.LogLine) bool {
	return slices.ContainsFunc(w.visibleLines(), func(x engine.LogLine) bool { return sameLine(x, l) })
}

// searchStart returns where a search continues: after or before the last match if it
// is in memory, or else at an edge of the window.
func (w *window) searchStart(from *engine.LogLine, back bool) engine.LogPos {
	if from != nil {
		for i, l := range w.lines {
			if sameLine(l, *from) && back {
				return w.posBefore(i)
			} else if sameLine(l, *from) {
				return w.posBefore(i + 1)
			}
		}
	}
	if w.follow || back && from == nil {
		return w.visibleEnd()
	}
	return w.posBefore(w.first)
}

// visibleEnd returns the position after the last visible line.
func (w *window) visibleEnd() engine.LogPos { return w.posBefore(w.first + len(w.visibleLines())) }

// toggleWrap turns line wrapping on or off.
func (w *window) toggleWrap() { w.wrap, w.column, w.firstRow, w.anchorRow = !w.wrap, 0, 0, 0 }

// scrollSideways scrolls by cells, to the right if by is positive.
func (w *window) scrollSideways(by int) {
	if w.column = max(w.column+by, 0); by < 0 {
		return
	}
	widest := 0
	for _, l := range w.visibleLines() {
		widest = max(widest, cellWidth(lineText(l)))
	}
	w.column = min(w.column, max(widest-w.w/2, 0))
}

// revealBytes scrolls sideways until the bytes [from, to) of text are visible.
func (w *window) revealBytes(text string, from, to int) {
	lo, hi := cellWidth(text[:from]), cellWidth(text[:to])
	switch {
	case w.wrap || lo >= w.column && hi <= w.column+w.w:
	case hi <= w.w:
		w.column = 0
	default:
		w.column = max(lo-w.w/4, 0)
	}
}
