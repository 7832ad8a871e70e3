package ui

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// glyph is a character of a line as it is drawn.
type glyph struct {
	text  string
	bytes int
	width int
	alien bool // drawn as a sign: a tab, a control character, no UTF-8
}

// glyphOf is the first character of a text that is not empty. What would move
// the cursor or hide something is drawn as one visible cell.
func glyphOf(s string) glyph {
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

// byteAt is the byte of a line at a cell, or its end.
func byteAt(line string, cell int) int {
	line = body(line)
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

// cell is the cell of a place in its line.
func (e *Editor) cell(p Pos) int {
	line, n := e.lines[p.Line], 0
	for at := 0; at < p.Col; {
		g := glyphOf(line[at:])
		n, at = n+g.width, at+g.bytes
	}
	return n
}

// gutter is the width of signs and line numbers.
func (e *Editor) gutter() int { return 3 + max(len(strconv.Itoa(len(e.lines))), 3) }

// reveal scrolls so that the cursor is in view.
func (e *Editor) reveal() {
	if e.h <= 0 || e.w <= 0 {
		return
	}
	e.at = e.clamp(e.at)
	e.top = max(min(e.top, e.at.Line), e.at.Line-e.h+1, 0)
	room, cell := max(e.w-e.gutter()-1, 1), e.cell(e.at)
	if cell < e.left || cell >= e.left+room {
		e.left = max(cell-room*2/3, 0)
	}
	if cell < room {
		e.left = 0
	}
}

// Draw draws the lines in view, with signs and numbers before them.
func (e *Editor) Draw(t Theme, focused bool) string {
	num := e.gutter() - 3
	rows := make([]string, 0, e.h)
	for i := e.top; i < len(e.lines) && len(rows) < e.h; i++ {
		r, marked := e.marks[i]
		sign := " "
		if marked {
			sign = t.Paint(r, Sign(r))
		}
		n := Right(strconv.Itoa(i+1), num)
		if i == e.at.Line && focused {
			n = t.Paint(Accent, n)
		} else {
			n = t.Paint(Muted, n)
		}
		caret := -1
		if i == e.at.Line && focused {
			caret = e.at.Col
		}
		rows = append(rows, sign+n+"  "+e.line(t, e.lines[i], caret, e.w-e.gutter()))
	}
	return Box(strings.Join(rows, "\n"), e.w, e.h)
}

// Sign is the mark of a role, so that nothing is said by colour alone.
func Sign(r Role) string {
	switch r {
	case Bad:
		return "✗"
	case Warn:
		return "⚠"
	case OK:
		return "✓"
	}
	return "·"
}

// line draws one line from the first cell in view; a comment is muted.
func (e *Editor) line(t Theme, s string, caret, w int) string {
	s = body(s)
	comment := commentStart(s)
	var out, run strings.Builder
	muted := false
	flush := func() {
		if muted {
			out.WriteString(t.Paint(Muted, run.String()))
		} else {
			out.WriteString(run.String())
		}
		run.Reset()
	}
	cell := 0
	for at := 0; at < len(s) && cell < e.left+w; {
		g := glyphOf(s[at:])
		if cell >= e.left {
			if m := g.alien || comment >= 0 && at >= comment; m != muted || at == caret {
				flush()
				muted = m
			}
			if at == caret {
				out.WriteString(t.Caret(g.text))
			} else {
				run.WriteString(g.text)
			}
		}
		cell, at = cell+g.width, at+g.bytes
	}
	flush()
	if caret == len(s) {
		out.WriteString(t.Caret(" "))
	}
	return Fit(out.String(), w)
}

// commentStart is where a YAML comment begins in a line; -1 without one.
func commentStart(s string) int {
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t'):
			return i
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" [{,:", s[i-1]) >= 0):
			quote = c
		}
	}
	return -1
}
