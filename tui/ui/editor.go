package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Editor is a text editor. Bytes that are not edited stay as they are: both kinds of
// line endings, tabs, invalid UTF-8, a missing newline at the end.
//
// The textarea of bubbles (v2.2.1) changes all of these and has no undo. In a text of 2,000
// lines it needs 170 ms to handle a key and draw the result; this one needs 0.3 ms.
type Editor struct {
	buffer
	cursor    Pos
	goalCell  int // cell that up and down move to in each line; -1: the cursor's
	top, left int // first visible line and cell
	w, h      int
	typing    bool // the next character extends the last edit
	marks     map[int]Role
	query     string // highlighted text
}

// SetText replaces the text and clears the undo history.
func (e *Editor) SetText(s string) {
	b := buffer{lines: strings.Split(s, "\n"), version: e.version + 1}
	*e = Editor{buffer: b, w: e.w, h: e.h, goalCell: -1, query: e.query}
}

// Text returns the text.
func (e *Editor) Text() string { return strings.Join(e.lines, "\n") }

// Lines returns the lines without their newlines. The caller must not change them.
func (e *Editor) Lines() []string { return e.lines }

// Version returns a number that increases with every change of the text.
func (e *Editor) Version() int { return e.version }

// Cursor returns the position of the cursor.
func (e *Editor) Cursor() Pos { return e.cursor }

// SetMarks sets the marks in the gutter, by line from 0.
func (e *Editor) SetMarks(marks map[int]Role) { e.marks = marks }

// SetSize sets the size in cells, including the gutter.
func (e *Editor) SetSize(w, h int) {
	e.w, e.h = w, h
	e.scrollToCursor()
}

// MoveTo moves the cursor to a position, or the nearest one that exists.
func (e *Editor) MoveTo(to Pos) {
	e.cursor, e.goalCell, e.typing = e.clamp(to), -1, false
	e.scrollToCursor()
}

// Centre scrolls so that the cursor's line is in the middle.
func (e *Editor) Centre() {
	e.top = max(min(e.cursor.Line-e.h/2, len(e.lines)-e.h), 0)
	e.scrollToCursor()
}

// Replace replaces the text between two positions as one edit, and moves the cursor
// to the end of the new text.
func (e *Editor) Replace(from, to Pos, text string) { e.MoveTo(e.replace(from, to, text, e.cursor)) }

// Paste inserts a text at the cursor. Its line breaks \n become those of the text around it.
func (e *Editor) Paste(text string) {
	e.cursor = e.clamp(e.cursor)
	e.Insert(strings.ReplaceAll(text, "\n", e.lineEnd()))
}

// lineEnd returns the line ending of the cursor's line, or of the line above if it is the last one.
func (e *Editor) lineEnd() string {
	at := e.cursor.Line
	if at == len(e.lines)-1 {
		at = max(at-1, 0)
	}
	if strings.HasSuffix(e.lines[at], "\r") {
		return "\r\n"
	}
	return "\n"
}

// Insert inserts a text at the cursor, unchanged.
func (e *Editor) Insert(text string) {
	if text != "" {
		e.Replace(e.cursor, e.cursor, text)
	}
}

// insertTyped inserts the text of a key. The characters of a word are one edit.
func (e *Editor) insertTyped(text string) {
	if e.typing && text != " " && e.extend(text, e.cursor) {
		e.MoveTo(endOf(e.cursor, text))
	} else {
		e.Insert(text)
	}
	e.typing = true
}

// Key handles a key. It returns false if the key has no function in an editor.
func (e *Editor) Key(msg tea.KeyPressMsg) bool {
	e.cursor = e.clamp(e.cursor)
	if e.handleMove(msg.String()) {
		return true
	}
	switch msg.String() {
	case "enter":
		e.breakLine()
	case "tab":
		e.Insert(strings.Repeat(" ", 2-e.cellOf(e.cursor)%2))
	case "shift+tab":
		if line := e.lines[e.cursor.Line]; strings.HasPrefix(line, " ") {
			n := min(2, indentation(line))
			at := e.cursor
			e.Replace(Pos{at.Line, 0}, Pos{at.Line, n}, "")
			e.MoveTo(Pos{at.Line, at.Col - n})
		}
	case "backspace":
		e.Replace(e.previous(e.cursor), e.cursor, "")
	case "delete", "ctrl+d":
		e.Replace(e.cursor, e.next(e.cursor), "")
	case "ctrl+k":
		to := Pos{e.cursor.Line, len(withoutCR(e.lines[e.cursor.Line]))}
		if to == e.cursor {
			to = e.next(e.cursor)
		}
		e.Replace(e.cursor, to, "")
	case "ctrl+z":
		if at, ok := e.undo(); ok {
			e.MoveTo(at)
		}
	case "ctrl+y":
		if at, ok := e.redo(); ok {
			e.MoveTo(at)
		}
	default:
		if msg.Text == "" {
			return false
		}
		e.insertTyped(msg.Text)
	}
	return true
}

// breakLine starts a new line with the indentation and the line ending of this one.
func (e *Editor) breakLine() {
	line := e.lines[e.cursor.Line]
	indent := line[:min(indentation(line), e.cursor.Col)]
	e.Insert(e.lineEnd() + indent)
}

// indentation returns the number of spaces at the start of a line.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// handleMove handles the keys that move the cursor; false for others.
func (e *Editor) handleMove(key string) bool {
	switch key {
	case "left":
		e.MoveTo(e.previous(e.cursor))
	case "right":
		e.MoveTo(e.next(e.cursor))
	case "up":
		e.moveLines(-1)
	case "down":
		e.moveLines(1)
	case "pgup":
		e.moveLines(-max(e.h-1, 1))
	case "pgdown":
		e.moveLines(max(e.h-1, 1))
	case "home":
		to := indentation(e.lines[e.cursor.Line])
		if e.cursor.Col == to {
			to = 0
		}
		e.MoveTo(Pos{e.cursor.Line, to})
	case "end", "ctrl+e":
		e.MoveTo(Pos{e.cursor.Line, len(e.lines[e.cursor.Line])})
	case "ctrl+home":
		e.MoveTo(Pos{})
	case "ctrl+end":
		e.MoveTo(Pos{len(e.lines), 0})
	default:
		return false
	}
	return true
}

// moveLines moves the cursor up or down.
func (e *Editor) moveLines(by int) {
	goal := e.goalCell
	if goal < 0 {
		goal = e.cellOf(e.cursor)
	}
	line := min(max(e.cursor.Line+by, 0), len(e.lines)-1)
	e.MoveTo(Pos{line, byteAt(e.lines[line], goal)})
	e.goalCell = goal
}

// Click moves the cursor to a cell of the drawn editor.
func (e *Editor) Click(x, y int) {
	e.cursor = e.clamp(e.cursor)
	line := min(e.top+y, len(e.lines)-1)
	e.MoveTo(Pos{line, byteAt(e.lines[line], max(x-e.gutterWidth(), 0)+e.left)})
}

// Scroll moves the view, and the cursor if it would be out of view.
func (e *Editor) Scroll(by int) {
	e.cursor = e.clamp(e.cursor)
	e.top = max(min(e.top+by, len(e.lines)-e.h), 0)
	line := min(max(e.cursor.Line, e.top), e.top+max(e.h, 1)-1)
	if line != e.cursor.Line {
		e.moveLines(line - e.cursor.Line)
	}
}

// match is a match of the query in a line, in bytes.
type match struct{ from, to int }

// Highlight sets the query that is highlighted and that FindNext searches for. Letter
// case matters only if the query has a capital letter. An empty query matches nothing.
func (e *Editor) Highlight(query string) { e.query = query }

// FindNext moves the cursor to the next or previous match and wraps around. With
// includeCursor, a match at the cursor is the next one. FindNext returns the number of the
// match, counted from 1, and the number of matches, or 0, 0 if there are none.
func (e *Editor) FindNext(forward, includeCursor bool) (number, total int) {
	var places []Pos
	for y, l := range e.lines {
		for _, m := range e.matches(withoutCR(l)) {
			places = append(places, Pos{y, m.from})
		}
	}
	if len(places) == 0 {
		return 0, 0
	}
	after := func(p Pos) bool {
		at := e.cursor
		return p.Line > at.Line || p.Line == at.Line && (p.Col > at.Col || includeCursor && p.Col == at.Col)
	}
	first := 0
	for first < len(places) && !after(places[first]) {
		first++
	}
	i := first % len(places)
	if !forward {
		if i = first - 1; i >= 0 && places[i] == e.cursor {
			i--
		}
		i = (i + len(places)) % len(places)
	}
	e.MoveTo(places[i])
	e.Centre()
	return i + 1, len(places)
}

// matches returns the matches of the query in a line.
func (e *Editor) matches(line string) []match {
	query := e.query
	if query == "" {
		return nil
	}
	if lower := strings.ToLower(line); strings.ToLower(query) == query && len(lower) == len(line) {
		line = lower
	}
	var out []match
	for at := 0; ; {
		i := strings.Index(line[at:], query)
		if i < 0 {
			return out
		}
		out = append(out, match{at + i, at + i + len(query)})
		at += i + len(query)
	}
}
