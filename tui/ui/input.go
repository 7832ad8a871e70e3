package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Input is one line of text that is being typed. It has no blinking cursor, so
// that nothing moves while nobody types.
//
// Not bubbles' textinput (v2.2.1): it edits by rune, so that backspace takes the
// accent and leaves the letter; its cursor counts runes where wide characters take
// two cells; ctrl+w takes a whole path; ctrl+v starts a program that reads the
// clipboard; and of a paste it keeps marks that reorder text.
type Input struct {
	before, after string // around the cursor
}

// SetValue replaces the text; the cursor goes to its end.
func (i *Input) SetValue(s string) { i.before, i.after = s, "" }

// Value is the text.
func (i *Input) Value() string { return i.before + i.after }

// Insert types a text, of a paste for instance. Line breaks and control characters are left out.
func (i *Input) Insert(s string) { i.before += Clean(s) }

// Key handles a key of a text; false if it means nothing to one.
func (i *Input) Key(msg tea.KeyPressMsg) bool {
	switch msg.String() {
	case "left":
		i.move(lastCluster(i.before), 0)
	case "right":
		i.move(0, firstCluster(i.after))
	case "home", "ctrl+a":
		i.before, i.after = "", i.Value()
	case "end", "ctrl+e":
		i.SetValue(i.Value())
	case "backspace":
		i.before = i.before[:len(i.before)-lastCluster(i.before)]
	case "delete", "ctrl+d":
		i.after = i.after[firstCluster(i.after):]
	case "ctrl+u":
		i.before = ""
	case "ctrl+k":
		i.after = ""
	case "ctrl+w":
		cut := strings.TrimRight(i.before, "/ ")
		i.before = cut[:strings.LastIndexAny(cut, "/ ")+1]
	default:
		if msg.Text == "" {
			return false
		}
		i.Insert(msg.Text)
	}
	return true
}

// move takes bytes over the cursor: to the left or to the right.
func (i *Input) move(left, right int) {
	all, at := i.Value(), len(i.before)-left+right
	i.before, i.after = all[:at], all[at:]
}

// Draw draws the part around the cursor in w cells.
func (i *Input) Draw(t Theme, w int, focused bool) string {
	before, after := Clean(i.before), Clean(i.after)
	if !focused {
		return Fit(before+after, w)
	}
	at, rest := " ", ""
	if n := firstCluster(after); n > 0 {
		at, rest = after[:n], after[n:]
	}
	if over := Width(before) + Width(at) - w; over > 0 {
		before = ansi.TruncateLeft(before, over+1, "…")
	}
	return Fit(before+t.drawCursor(at)+rest, w)
}

// caret draws what is under a text cursor.
func (t Theme) drawCursor(s string) string { return t.styles[Accent].Reverse(true).Render(s) }

// firstCluster is the length in bytes of the first character as a person sees it.
func firstCluster(s string) int {
	c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(c)
}

// lastCluster is the same for the last one. It starts some bytes before the end,
// so that a long text costs no more than a short one.
func lastCluster(s string) int {
	from := max(len(s)-64, 0)
	for from > 0 && from < len(s) && s[from]&0xc0 == 0x80 { // inside a rune
		from++
	}
	n := 0
	for from < len(s) {
		n = max(firstCluster(s[from:]), 1)
		from += n
	}
	return n
}
