package ui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Menu is a short list of choices, drawn over a screen.
//
// The list component of bubbles has pages instead of scrolling, can't choose by number, and has
// a fixed height.
type Menu struct {
	Title  string
	Body   string // may be empty; may have several lines
	Items  []Item
	Cursor int // index of an item
	Footer string
}

// Item is one line of a menu.
type Item struct {
	Text string
	Note string // after the text, muted
	Role Role
}

// Key handles a key: the number of an item or enter chooses an item, esc closes the
// menu. Choice is the index of the chosen item, or -1.
func (m *Menu) Key(msg tea.KeyPressMsg) (choice int, closed bool) {
	n := len(m.Items)
	if d, err := strconv.Atoi(msg.String()); err == nil && d >= 1 && d <= n {
		return d - 1, true
	}
	switch msg.String() {
	case "up", "k", "left", "shift+tab":
		m.Cursor = (m.Cursor + n - 1) % max(n, 1)
	case "down", "j", "right", "tab":
		m.Cursor = (m.Cursor + 1) % max(n, 1)
	case "enter":
		if n > 0 {
			return m.Cursor, true
		}
		return -1, true
	case "esc", "q":
		return -1, true
	}
	return -1, false
}

// Draw draws the menu as a box of at most w × h cells. A long list is scrolled to the cursor.
func (m Menu) Draw(t Theme, w, h int) string {
	inner := min(max(w-8, 20), 96)
	var lines []string
	for _, l := range WrapAtMost(m.Title, inner, 2) {
		lines = append(lines, t.Title.Render(l))
	}
	rows := max(min(len(m.Items), h-2-len(lines)-4), 1)
	if m.Body != "" {
		room := max(h-2-len(lines)-rows-3, 1)
		lines = append(lines, WrapAtMost(m.Body, inner, room)...)
	}
	lines = append(lines, "")
	top := max(min(m.Cursor-rows/2, len(m.Items)-rows), 0)
	for i := top; i < min(top+rows, len(m.Items)); i++ {
		it := m.Items[i]
		number := "  "
		if i < 9 {
			number = fmt.Sprintf("%d ", i+1)
		}
		text := Clean(it.Text)
		note := ""
		if it.Note != "" {
			note = "  " + Clean(it.Note)
		}
		text = Fit(text, min(Width(text), inner-4))
		note = Fit(note, min(Width(note), max(inner-4-Width(text), 0)))
		if i == m.Cursor {
			lines = append(lines, t.Paint(Accent, "▸ "+number)+t.Selected.Render(text)+t.Paint(Muted, note))
		} else {
			lines = append(lines, t.Paint(Muted, "  "+number)+t.Paint(it.Role, text)+t.Paint(Muted, note))
		}
	}
	foot := m.Footer
	if foot == "" {
		foot = "↑ ↓ choose · enter select · esc close"
	}
	lines = append(lines, "", t.Paint(Muted, Fit(foot, min(Width(foot), inner))))
	return t.Framed(strings.Join(lines, "\n"))
}

// Framed returns a block in a thin frame, to be drawn over a screen.
func (t Theme) Framed(block string) string { return t.bordered(block, Accent, 1) }

func (t Theme) bordered(block string, r Role, pad int) string {
	s := lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).BorderForeground(t.Style(r).GetForeground())
	return s.Padding(0, pad).Render(block)
}

// Overlay draws a block over a frame that is w cells wide. The upper left corner of the
// block is at x, y, or nearer to the origin if it would not fit there.
func Overlay(frame, block string, x, y, w int) string {
	rows, over := strings.Split(frame, "\n"), strings.Split(block, "\n")
	bw := Width(over[0])
	x = max(min(x, w-bw), 0)
	y = max(min(y, len(rows)-len(over)), 0)
	for i, l := range over {
		if y+i >= len(rows) {
			break
		}
		left, right := ansi.Truncate(rows[y+i], x, ""), ansi.TruncateLeft(rows[y+i], x+bw, "")
		if Width(right) > w-x-bw { // it begins with half a wide character
			right = ansi.TruncateLeft(rows[y+i], x+bw+1, "")
		}
		gap := strings.Repeat(" ", max(w-x-bw-Width(right), 0))
		rows[y+i] = Fit(left, x) + "\x1b[m" + l + "\x1b[m" + gap + right
	}
	return strings.Join(rows, "\n")
}

// OverlayCentred draws a block over the middle of a frame of w × h cells.
func OverlayCentred(frame, block string, w, h int) string {
	return Overlay(frame, block, (w-Width(strings.SplitN(block, "\n", 2)[0]))/2, (h-strings.Count(block, "\n")-1)/2, w)
}
