package ui

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// glyph is one character of a line as it is drawn.
type glyph struct {
	text        string
	bytes       int
	width       int
	substituted bool // stands for a tab, a control character or invalid UTF-8
}

// glyphOf returns the first character of s, which must not be empty. Characters that would
// move the terminal's cursor or hide text are drawn as one visible cell.
func glyphOf(s string) glyph {
	if printableASCII(s[0]) && (len(s) == 1 || s[1] < utf8.RuneSelf) { // no combining character follows
		return glyph{s[:1], 1, 1, false}
	}
	c, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if c == "" {
		c = s[:1]
	}
	r, _ := utf8.DecodeRuneInString(c)
	switch {
	case c == "\t":
		return glyph{"→", len(c), 1, true}
	case r == utf8.RuneError, w < 1, Clean(c) != c, unicode.IsControl(r):
		return glyph{"·", len(c), 1, true}
	}
	return glyph{c, len(c), w, false}
}

// printableASCII reports whether a byte is a printable ASCII character.
func printableASCII(c byte) bool { return c >= ' ' && c < 0x7f }

// byteAt returns the byte offset in a line at a cell, or the line's length.
func byteAt(line string, cell int) int {
	line = withoutCR(line)
	at := 0
	for at < len(line) {
		g := glyphOf(line[at:])
		if cell -= g.width; cell < 0 {
			break
		}
		at += g.bytes
	}
	return at
}

// gutterWidth returns the width of the marks and line numbers.
func (e *Editor) gutterWidth() int { return 3 + max(len(strconv.Itoa(len(e.lines))), 3) }

// scrollToCursor scrolls so that the cursor is in view.
func (e *Editor) scrollToCursor() {
	if e.h <= 0 || e.w <= 0 {
		return
	}
	e.cursor = e.clamp(e.cursor)
	e.top = max(min(e.top, e.cursor.Line), e.cursor.Line-e.h+1, 0)
	room, cell := max(e.w-e.gutterWidth()-1, 1), e.cellOf(e.cursor)
	if cell < e.left || cell >= e.left+room {
		e.left = max(cell-room*2/3, 0)
	}
	if cell < room {
		e.left = 0
	}
}

// Draw draws the visible lines, each with its mark and number.
func (e *Editor) Draw(t Theme, focused bool) string {
	if e.w <= 0 || e.h <= 0 {
		return ""
	}
	num := e.gutterWidth() - 3
	if e.w < e.gutterWidth() {
		return Box("", e.w, e.h)
	}
	rows := make([]string, e.h)
	for y := range rows {
		i := e.top + y
		if i >= len(e.lines) {
			rows[y] = strings.Repeat(" ", e.w)
			continue
		}
		sign, caret, n := " ", -1, strconv.Itoa(i+1)
		if r, marked := e.marks[i]; marked {
			sign = t.Paint(r, Sign(r))
		}
		role := Muted
		if i == e.cursor.Line && focused {
			role, caret = Accent, e.cursor.Col
		}
		n = t.Paint(role, strings.Repeat(" ", max(num-len(n), 0))+n)
		rows[y] = sign + n + "  " + e.drawLine(t, e.lines[i], caret, e.w-e.gutterWidth())
	}
	return strings.Join(rows, "\n")
}

// Sign returns the mark of a role, which makes the role visible without colors.
func Sign(r Role) string {
	return map[Role]string{Bad: "✗", Warn: "⚠", OK: "✓", Plain: "·", Muted: "·", Accent: "·"}[r]
}

// drawLine draws one line in exactly w cells, from the first cell in view, with YAML
// syntax colors and highlighted matches.
func (e *Editor) drawLine(t Theme, s string, caret, w int) string {
	s = withoutCR(s)
	var out, run strings.Builder
	kinds, matches := spans(s), e.matches(s)
	var current syntaxStyle
	flush := func(next syntaxStyle) {
		if run.Len() > 0 {
			out.WriteString(t.paintSyntax(current, run.String()))
			run.Reset()
		}
		current = next
	}
	cell, drawn := 0, 0
	for at := 0; at < len(s); {
		g := glyphOf(s[at:])
		for len(kinds) > 1 && at >= kinds[0].to {
			kinds = kinds[1:]
		}
		for len(matches) > 0 && at >= matches[0].to {
			matches = matches[1:]
		}
		if cell-e.left+g.width > w {
			break
		}
		if cell >= e.left {
			style := syntaxStyle{kind: kinds[0].kind, highlighted: len(matches) > 0 && at >= matches[0].from}
			if g.substituted {
				style.kind = comment
			}
			if style != current || at == caret {
				flush(style)
			}
			if at == caret {
				out.WriteString(t.drawCursor(g.text))
			} else {
				run.WriteString(g.text)
			}
			drawn += g.width
		}
		cell, at = cell+g.width, at+g.bytes
	}
	flush(syntaxStyle{})
	if caret == len(s) && drawn < w {
		out.WriteString(t.drawCursor(" "))
		drawn++
	}
	return out.String() + strings.Repeat(" ", max(w-drawn, 0))
}

// CursorCell returns the cell of the drawn editor that the cursor is on.
func (e *Editor) CursorCell() (x, y int) {
	return e.gutterWidth() + e.cellOf(e.clamp(e.cursor)) - e.left, e.cursor.Line - e.top
}
