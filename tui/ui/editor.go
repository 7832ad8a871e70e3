package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Pos is a place in a text: line and byte in it, both from 0.
type Pos struct{ Line, Col int }

// Editor is a small editor of lines. It keeps every byte that is not edited: line
// ends of both kinds, tabs, bytes that are no UTF-8, a missing last line end. It
// draws only the lines in view.
//
// Not bubbles' textarea (v2.2.1): it keeps none of these bytes, has no undo, and a
// key in a text of 2,000 lines takes it 170 ms with its frame, and this one 0.3 ms.
type Editor struct {
	lines     []string
	at        Pos
	goal      int // cell that up and down aim for; -1: where the cursor is
	top, left int // first line and cell in view
	w, h      int
	version   int
	done      []edit
	undone    []edit
	typing    bool // the last edit can take one more character
	marks     map[int]Role
	find      string // what is lit
}

// edit replaced a text by another.
type edit struct {
	from              Pos
	removed, inserted string
	at                Pos // of the cursor before
}

// maxUndo bounds what can be taken back.
const maxUndo = 1000

// SetText replaces everything and forgets what could be undone.
func (e *Editor) SetText(s string) {
	*e = Editor{lines: strings.Split(s, "\n"), w: e.w, h: e.h, version: e.version + 1, goal: -1, find: e.find}
}

// Text is the text, byte for byte.
func (e *Editor) Text() string { return strings.Join(e.lines, "\n") }

// Lines are the lines without their line feeds; not to be changed.
func (e *Editor) Lines() []string { return e.lines }

// Version grows with every change of the text.
func (e *Editor) Version() int { return e.version }

// Cursor is where the cursor stands.
func (e *Editor) Cursor() Pos { return e.at }

// Mark sets the signs in the gutter, by line from 0.
func (e *Editor) Mark(marks map[int]Role) { e.marks = marks }

// SetSize sets the size in cells, the gutter included.
func (e *Editor) SetSize(w, h int) {
	e.w, e.h = w, h
	e.reveal()
}

// Go moves the cursor to a place, or the nearest there is.
func (e *Editor) Go(to Pos) {
	e.at, e.goal, e.typing = e.clamp(to), -1, false
	e.reveal()
}

// Centre scrolls so that the cursor's line is in the middle.
func (e *Editor) Centre() {
	e.top = max(min(e.at.Line-e.h/2, len(e.lines)-e.h), 0)
	e.reveal()
}

// clamp is the nearest place where the cursor can stand.
func (e *Editor) clamp(p Pos) Pos {
	p = e.within(p)
	p.Col = min(p.Col, len(body(e.lines[p.Line])))
	return p
}

// within is the nearest place in the text.
func (e *Editor) within(p Pos) Pos {
	if len(e.lines) == 0 {
		e.lines = []string{""}
	}
	p.Line = min(max(p.Line, 0), len(e.lines)-1)
	p.Col = min(max(p.Col, 0), len(e.lines[p.Line]))
	return p
}

// body is a line without the carriage return of its end.
func body(line string) string { return strings.TrimSuffix(line, "\r") }

// Replace replaces what lies between two places, as one step that can be undone;
// the cursor goes to the end of the new text.
func (e *Editor) Replace(from, to Pos, text string) {
	from, to = e.within(from), e.within(to)
	ed := edit{from: from, inserted: text, removed: e.between(from, to), at: e.at}
	if ed.removed == text {
		return
	}
	e.undone = nil
	e.done = append(e.done, ed)
	if len(e.done) > maxUndo {
		e.done = slices.Delete(e.done, 0, len(e.done)-maxUndo)
	}
	e.splice(from, to, text)
	e.typing = false
}

// Insert types a text at the cursor, of a paste for instance.
func (e *Editor) Insert(text string) {
	if text != "" {
		e.Replace(e.at, e.at, text)
	}
}

func (e *Editor) between(from, to Pos) string {
	if from.Line == to.Line {
		return e.lines[from.Line][from.Col:to.Col]
	}
	parts := slices.Clone(e.lines[from.Line : to.Line+1])
	parts[0] = parts[0][from.Col:]
	parts[len(parts)-1] = parts[len(parts)-1][:to.Col]
	return strings.Join(parts, "\n")
}

func (e *Editor) splice(from, to Pos, text string) {
	joined := e.lines[from.Line][:from.Col] + text + e.lines[to.Line][to.Col:]
	e.lines = slices.Replace(e.lines, from.Line, to.Line+1, strings.Split(joined, "\n")...)
	e.version++
	e.at, e.goal = end(from, text), -1
	e.reveal()
}

// end is where a text ends that begins at a place.
func end(from Pos, text string) Pos {
	n := strings.Count(text, "\n")
	if n == 0 {
		return Pos{from.Line, from.Col + len(text)}
	}
	return Pos{from.Line + n, len(text) - strings.LastIndexByte(text, '\n') - 1}
}

// Undo takes the last edit back; false if there is none.
func (e *Editor) Undo() bool {
	if len(e.done) == 0 {
		return false
	}
	ed := e.done[len(e.done)-1]
	e.done, e.undone = e.done[:len(e.done)-1], append(e.undone, ed)
	e.splice(ed.from, end(ed.from, ed.inserted), ed.removed)
	e.Go(ed.at)
	return true
}

// Redo makes the last edit that was taken back again; false if there is none.
func (e *Editor) Redo() bool {
	if len(e.undone) == 0 {
		return false
	}
	ed := e.undone[len(e.undone)-1]
	e.undone, e.done = e.undone[:len(e.undone)-1], append(e.done, ed)
	e.splice(ed.from, end(ed.from, ed.removed), ed.inserted)
	e.typing = false
	return true
}

// typed inserts what one key gave; the characters of a word are one step.
func (e *Editor) typed(text string) {
	if n := len(e.done); e.typing && n > 0 && e.at == end(e.done[n-1].from, e.done[n-1].inserted) && text != " " {
		e.done[n-1].inserted += text
		e.splice(e.at, e.at, text)
		return
	}
	e.Insert(text)
	e.typing = true
}

// Key handles a key of an editor; false if it means nothing to one.
func (e *Editor) Key(msg tea.KeyPressMsg) bool {
	e.at = e.clamp(e.at)
	if e.walk(msg.String()) {
		return true
	}
	switch msg.String() {
	case "enter":
		e.breakLine()
	case "tab":
		e.Insert(strings.Repeat(" ", 2-e.cell(e.at)%2))
	case "shift+tab":
		if lead := e.lines[e.at.Line]; strings.HasPrefix(lead, " ") {
			n := min(2, len(lead)-len(strings.TrimLeft(lead, " ")))
			at := e.at
			e.Replace(Pos{at.Line, 0}, Pos{at.Line, n}, "")
			e.Go(Pos{at.Line, at.Col - n})
		}
	case "backspace":
		e.Replace(e.back(), e.at, "")
	case "delete", "ctrl+d":
		e.Replace(e.at, e.forth(), "")
	case "ctrl+k":
		to := Pos{e.at.Line, len(body(e.lines[e.at.Line]))}
		if to == e.at {
			to = e.forth()
		}
		e.Replace(e.at, to, "")
	case "ctrl+z":
		e.Undo()
	case "ctrl+y":
		e.Redo()
	default:
		if msg.Text == "" {
			return false
		}
		e.typed(msg.Text)
	}
	return true
}

// breakLine starts a new line with the indentation of this one and its kind of
// line end.
func (e *Editor) breakLine() {
	line := e.lines[e.at.Line]
	lead := line[:min(len(line)-len(strings.TrimLeft(line, " ")), e.at.Col)]
	feed := "\n"
	if strings.HasSuffix(line, "\r") {
		feed = "\r\n"
	}
	e.Insert(feed + lead)
}

// walk handles the keys that move the cursor.
func (e *Editor) walk(key string) bool {
	switch key {
	case "left":
		e.Go(e.back())
	case "right":
		e.Go(e.forth())
	case "up":
		e.vertical(-1)
	case "down":
		e.vertical(1)
	case "pgup":
		e.vertical(-max(e.h-1, 1))
	case "pgdown":
		e.vertical(max(e.h-1, 1))
	case "home":
		lead := len(e.lines[e.at.Line]) - len(strings.TrimLeft(e.lines[e.at.Line], " "))
		if e.at.Col == lead {
			lead = 0
		}
		e.Go(Pos{e.at.Line, lead})
	case "end", "ctrl+e":
		e.Go(Pos{e.at.Line, len(e.lines[e.at.Line])})
	case "ctrl+home":
		e.Go(Pos{})
	case "ctrl+end":
		e.Go(Pos{len(e.lines), 0})
	default:
		return false
	}
	return true
}

func (e *Editor) back() Pos {
	switch {
	case e.at.Col > 0:
		return Pos{e.at.Line, e.at.Col - lastCluster(e.lines[e.at.Line][:e.at.Col])}
	case e.at.Line > 0:
		return Pos{e.at.Line - 1, len(body(e.lines[e.at.Line-1]))}
	}
	return e.at
}

func (e *Editor) forth() Pos {
	rest := body(e.lines[e.at.Line])[e.at.Col:]
	switch {
	case rest != "":
		return Pos{e.at.Line, e.at.Col + firstCluster(rest)}
	case e.at.Line+1 < len(e.lines):
		return Pos{e.at.Line + 1, 0}
	}
	return e.at
}

func (e *Editor) vertical(by int) {
	goal := e.goal
	if goal < 0 {
		goal = e.cell(e.at)
	}
	line := min(max(e.at.Line+by, 0), len(e.lines)-1)
	e.Go(Pos{line, byteAt(e.lines[line], goal)})
	e.goal = goal
}

// Click moves the cursor to a cell of the drawn editor.
func (e *Editor) Click(x, y int) {
	e.at = e.clamp(e.at)
	line := min(e.top+y, len(e.lines)-1)
	e.Go(Pos{line, byteAt(e.lines[line], max(x-e.gutter(), 0)+e.left)})
}

// Scroll moves the view, and the cursor with it where it would leave.
func (e *Editor) Scroll(by int) {
	e.at = e.clamp(e.at)
	e.top = max(min(e.top+by, len(e.lines)-e.h), 0)
	line := min(max(e.at.Line, e.top), e.top+max(e.h, 1)-1)
	if line != e.at.Line {
		e.vertical(line - e.at.Line)
	}
}
