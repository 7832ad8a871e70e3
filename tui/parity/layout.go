package parity

// wide is from where the sides and the notes stand beside the table if they do not fit below it.
const wide = 150

const (
	headLines  = 2
	asideWidth = 62
	leastNotes = 3
)

// lower is what is to be seen whole where there is no room for all of it.
type lower int

const (
	showTable lower = iota // and the first notes
	showNotes
	showSides
)

// layout is where things go, in cells of the body.
type layout struct {
	tableY, table, tableW int
	below                 int  // lines below the table, its title not counted; 0 when they stand beside it
	aside                 int  // width of what stands beside
	all                   bool // sides and notes are both in view
	gauge                 int  // cells from the middle of a gauge to its end
}

// arrange divides a body of w × h cells for a table of so many rows, so many lines
// of notes and of sides. All of it in one column where it fits, else the sides and
// notes beside the table, else one of them below it: the table scrolls before the
// notes shrink below three lines, and more than that when they are asked for.
func arrange(w, h, rows, notes, sides int, show lower) layout {
	l := layout{tableY: headLines + 1, tableW: w, gauge: 5}
	room := max(h-headLines-2, 0) // and two rules
	switch {
	case rows+1+notes+1+sides <= room:
		l.all, l.table = true, rows+1
	case w >= wide:
		l.all, l.aside, l.tableW, l.table = true, asideWidth, w-asideWidth-3, room+1
		return l
	case show == showSides:
		l.table = rest(room-sides, rows)
	case show == showNotes:
		l.table = rest(room-notes, rows)
	default:
		l.table = min(rows+1, max(room-min(notes, leastNotes), 0))
	}
	l.below = room - l.table
	if w >= wide {
		l.gauge = min((w-wide)/4+8, 25)
	}
	return l
}

// rest is the height of a table that gets what something else left: none rather
// than a header with hardly a row.
func rest(left, rows int) int {
	if left < 4 {
		return 0
	}
	return min(left, rows+1)
}
