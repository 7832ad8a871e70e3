package parity

// wideWidth is the width from which the lines that don't fit below the table are beside it.
const wideWidth = 150

const (
	headHeight    = 2
	sidePaneWidth = 62
	minNotes      = 3
)

// lowerPane is the part that is shown completely if not all parts fit.
type lowerPane int

const (
	tablePane lowerPane = iota // the table, and the first notes below
	notesPane
	sidesPane
)

// layout has the positions and sizes of the parts of the body, in cells.
type layout struct {
	tableY, tableH, tableW int
	lowerH                 int  // lines below the table, without its title; 0 if they are beside it
	sideW                  int  // width of the lines beside the table; 0 if they are below
	showsAll               bool // notes and configuration are both visible
	gaugeHalf              int  // half of the length of a gauge
}

// arrangeLayout divides a body of w × h cells for the given numbers of table rows,
// lines of notes and lines of configuration. If not all fit in one column, the lines
// are beside the table in a wide terminal; otherwise pane selects what is below it.
// The notes keep at least three lines; the table scrolls if it does not fit.
func arrangeLayout(w, h, rows, notes, sides int, pane lowerPane) layout {
	l := layout{tableY: headHeight + 1, tableW: w, gaugeHalf: 5}
	room := max(h-headHeight-2, 0) // without the two rules
	switch {
	case rows+1+notes+1+sides <= room:
		l.showsAll, l.tableH = true, rows+1
	case w >= wideWidth:
		l.showsAll, l.sideW, l.tableW, l.tableH = true, sidePaneWidth, w-sidePaneWidth-3, room+1
		return l
	case pane == sidesPane:
		l.tableH = remainingHeight(room-sides, rows)
	case pane == notesPane:
		l.tableH = remainingHeight(room-notes, rows)
	default:
		l.tableH = min(rows+1, max(room-min(notes, minNotes), 0))
	}
	l.lowerH = room - l.tableH
	if w >= wideWidth {
		l.gaugeHalf = min((w-wideWidth)/4+8, 25)
	}
	return l
}

// remainingHeight returns the height of a table if height lines are left. It is 0 for fewer
// than four lines, which are too few for a table.
func remainingHeight(height, rows int) int {
	if height < 4 {
		return 0
	}
	return min(height, rows+1)
}
