package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Column is one column of a table.
type Column struct {
	Title string
	Right bool // right-aligned, for numbers
	Min   int  // minimum width; columns are dropped if the table is too narrow
	Max   int  // maximum width, unless Flex is set; 0 for no limit
	// Drop is the order in which columns are dropped if there is no room: the highest
	// first; 0 is never dropped.
	Drop int
	Flex bool // takes the remaining width
}

// Cell is a text with a role.
type Cell struct {
	Text string
	Role Role
}

// Table is a table with a header and a cursor.
//
// The table of bubbles has columns of fixed width and one alignment, cells without
// roles, and takes four times as long to move the cursor (BenchmarkTable).
type Table struct {
	Columns []Column
	Rows    [][]Cell
	Cursor  int
	top     int
	w, h    int
}

// SetSize sets the size in cells, including the header, and keeps the cursor in view.
func (t *Table) SetSize(w, h int) {
	t.w, t.h = w, h
	t.Move(0)
}

// SetRows replaces the rows. The cursor keeps its row number.
func (t *Table) SetRows(rows [][]Cell) {
	t.Rows = rows
	t.Move(0)
}

// Move moves the cursor by a number of rows.
func (t *Table) Move(by int) {
	t.Cursor = min(max(t.Cursor+by, 0), max(len(t.Rows)-1, 0))
	body := max(t.h-1, 1)
	t.top = min(t.top, t.Cursor)
	t.top = max(t.top, t.Cursor-body+1)
	t.top = max(min(t.top, len(t.Rows)-body), 0)
}

// Key handles the keys that move the cursor; false for others.
func (t *Table) Key(msg tea.KeyPressMsg) bool {
	switch msg.String() {
	case "up", "k":
		t.Move(-1)
	case "down", "j":
		t.Move(1)
	case "pgup", "ctrl+b":
		t.Move(-t.Page())
	case "pgdown", "ctrl+f":
		t.Move(t.Page())
	case "home", "g":
		t.Move(-len(t.Rows))
	case "end", "G":
		t.Move(len(t.Rows))
	default:
		return false
	}
	return true
}

// Page returns the number of rows in view.
func (t *Table) Page() int { return max(t.h-1, 1) }

// RowAt returns the row drawn at line y of the table; false outside the rows.
func (t *Table) RowAt(y int) (int, bool) {
	i := t.top + y - 1
	return i, y >= 1 && i < len(t.Rows)
}

// Draw draws the header and the rows in view.
func (t *Table) Draw(th Theme) string {
	cols := t.layout()
	head := ""
	for _, c := range cols {
		head += "  " + align(t.Columns[c.i].Title, c.w, t.Columns[c.i].Right)
	}
	lines := []string{th.Paint(Muted, Fit(head, t.w))}
	for i := t.top; i < len(t.Rows) && len(lines) < t.h; i++ {
		lines = append(lines, t.drawRow(th, i, cols))
	}
	return Box(strings.Join(lines, "\n"), t.w, t.h)
}

// columnWidth is the index of a column and its width in cells.
type columnWidth struct{ i, w int }

// layout returns the columns that fit, with their widths.
func (t *Table) layout() []columnWidth {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = max(c.Min, Width(c.Title))
		if c.Flex {
			continue
		}
		for _, r := range t.Rows[min(t.top, len(t.Rows)):min(t.top+max(t.h, 1), len(t.Rows))] {
			if i < len(r) {
				widths[i] = max(widths[i], Width(r[i].Text))
			}
		}
		if c.Max > 0 {
			widths[i] = min(widths[i], c.Max)
		}
	}
	dropped := make([]bool, len(widths))
	spare := t.w
	for _, w := range widths {
		spare -= w + 2
	}
	for spare < 0 {
		worst := -1
		for i, c := range t.Columns {
			if c.Drop > 0 && !dropped[i] && (worst < 0 || c.Drop > t.Columns[worst].Drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		dropped[worst] = true
		spare += widths[worst] + 2
	}
	var out []columnWidth
	for i, c := range t.Columns {
		if dropped[i] {
			continue
		}
		w := widths[i]
		if c.Flex {
			w = max(w+spare, 4)
		}
		out = append(out, columnWidth{i, w})
	}
	return out
}

func (t *Table) drawRow(th Theme, i int, cols []columnWidth) string {
	selected := i == t.Cursor
	parts := make([]string, 0, len(cols))
	for _, c := range cols {
		cell := Cell{}
		if c.i < len(t.Rows[i]) {
			cell = t.Rows[i][c.i]
		}
		text := align(Clean(cell.Text), c.w, t.Columns[c.i].Right)
		if selected {
			text = th.Style(cell.Role).Inherit(th.Selected).Render(text)
		} else {
			text = th.Paint(cell.Role, text)
		}
		parts = append(parts, text)
	}
	mark, gap := "  ", "  "
	if selected {
		mark, gap = th.Selected.Render("▸ "), th.Selected.Render("  ")
	}
	line := mark + strings.Join(parts, gap)
	if n := t.w - Width(line); selected && n > 0 {
		line += th.Selected.Render(strings.Repeat(" ", n))
	}
	return Fit(line, t.w)
}

func align(s string, w int, right bool) string {
	if right {
		return Right(s, w)
	}
	return Fit(s, w)
}
