package parity

// wide is from where the sides and the notes stand beside the table.
const wide = 150

const (
	headLines  = 2
	asideWidth = 62
)

// layout is where things go, in cells of the body.
type layout struct {
	tableY, table, tableW int
	below                 int // lines below the table, its title not counted; 0 when they stand beside it
	aside                 int // width of what stands beside
}

// arrange divides a body of w × h cells for so many rows and lines of notes. The
// table scrolls before the notes shrink below three lines; what is left over goes
// to the notes.
func arrange(w, h, rows, notes int) layout {
	l := layout{tableY: headLines + 1, tableW: w}
	room := max(h-headLines-1, 0)
	if w >= wide {
		l.aside, l.tableW, l.table = asideWidth, w-asideWidth-3, room
		return l
	}
	least := min(notes, 3)
	l.table = min(rows+1, max(room-1-least, 0))
	l.below = max(room-1-l.table, 0)
	return l
}
