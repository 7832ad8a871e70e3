package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Input is a text field of one line. Its cursor does not blink, so that an idle screen is
// not redrawn.
//
// The textinput of bubbles (v2.2.1) edits by rune: backspace removes an accent and
// leaves the letter, and the cursor is misplaced after wide characters. Its ctrl+w
// removes a whole path, its ctrl+v starts a program that reads the clipboard, and it
// keeps pasted bidirectional controls.
type Input struct {
	before, after string // the text on each side of the cursor
}

// SetValue replaces the text and moves the cursor to its end.
func (i *Input) SetValue(s string) { i.before, i.after = s, "" }

// Value returns the text.
func (i *Input) Value() string { return i.before + i.after }

// Insert inserts a text, such as a paste, without line breaks and control characters.
func (i *Input) Insert(s string) { i.before += Clean(s) }

// Key handles a key. It returns false if the key has no function in a text field.
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

// move moves the cursor by a number of bytes to the left or to the right.
func (i *Input) move(left, right int) {
	all, at := i.Value(), len(i.before)-left+right
	i.before, i.after = all[:at], all[at:]
}

// Draw draws the text in w cells, scrolled to the cursor.
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

// drawCursor draws the character under a text cursor.
func (t Theme) drawCursor(s string) string { return t.styles[Accent].Reverse(true).Render(s) }

// firstCluster returns the length in bytes of the first grapheme cluster.
func firstCluster(s string) int {
	c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(c)
}

// lastCluster returns the length in bytes of the last grapheme cluster. It looks at the last
// 64 bytes only, so that the time does not depend on the length of the text.
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
