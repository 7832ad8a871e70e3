package ui

import (
	"slices"
	"strings"
)

// Pos is a position in a text: the line, and the byte in that line. Both count from 0.
type Pos struct{ Line, Col int }

// buffer holds the lines of a text and its undo history. Bytes that are not edited stay as they are.
type buffer struct {
	lines                []string
	version              int
	undoStack, redoStack []edit
}

// edit is the replacement of one piece of text by another.
type edit struct {
	from              Pos
	removed, inserted string
	cursorBefore      Pos
}

// maxUndo is the maximum number of edits that can be undone.
const maxUndo = 1000

// clamp returns the nearest valid cursor position.
func (b *buffer) clamp(p Pos) Pos {
	p = b.clampToText(p)
	p.Col = min(p.Col, len(withoutCR(b.lines[p.Line])))
	return p
}

// clampToText returns the nearest position in the text. It may be after a carriage return.
func (b *buffer) clampToText(p Pos) Pos {
	if len(b.lines) == 0 {
		b.lines = []string{""}
	}
	p.Line = min(max(p.Line, 0), len(b.lines)-1)
	p.Col = min(max(p.Col, 0), len(b.lines[p.Line]))
	return p
}

// withoutCR returns a line without its trailing carriage return.
func withoutCR(line string) string { return strings.TrimSuffix(line, "\r") }

// replace replaces the text between two positions. It returns the end of the new
// text, or cursor if nothing changes.
func (b *buffer) replace(from, to Pos, text string, cursor Pos) Pos {
	from, to = b.clampToText(from), b.clampToText(to)
	ed := edit{from: from, inserted: text, removed: b.between(from, to), cursorBefore: cursor}
	if ed.removed == text {
		return cursor
	}
	b.redoStack = nil
	b.undoStack = append(b.undoStack, ed)
	if len(b.undoStack) > maxUndo {
		b.undoStack = slices.Delete(b.undoStack, 0, len(b.undoStack)-maxUndo)
	}
	return b.splice(from, to, text)
}

// extend adds text to the last edit. It returns false if the cursor is not at the end of that edit.
func (b *buffer) extend(text string, cursor Pos) bool {
	n := len(b.undoStack)
	if n == 0 || cursor != endOf(b.undoStack[n-1].from, b.undoStack[n-1].inserted) {
		return false
	}
	b.undoStack[n-1].inserted += text
	b.splice(cursor, cursor, text)
	return true
}

func (b *buffer) between(from, to Pos) string {
	if from.Line == to.Line {
		return b.lines[from.Line][from.Col:to.Col]
	}
	parts := slices.Clone(b.lines[from.Line : to.Line+1])
	parts[0] = parts[0][from.Col:]
	parts[len(parts)-1] = parts[len(parts)-1][:to.Col]
	return strings.Join(parts, "\n")
}

func (b *buffer) splice(from, to Pos, text string) Pos {
	joined := b.lines[from.Line][:from.Col] + text + b.lines[to.Line][to.Col:]
	b.lines = slices.Replace(b.lines, from.Line, to.Line+1, strings.Split(joined, "\n")...)
	b.version++
	return endOf(from, text)
}

// endOf returns the end of a text that begins at a position.
func endOf(from Pos, text string) Pos {
	if last := strings.LastIndexByte(text, '\n'); last >= 0 {
		return Pos{from.Line + strings.Count(text, "\n"), len(text) - last - 1}
	}
	return Pos{from.Line, from.Col + len(text)}
}

// undo reverts the last edit and returns the cursor before it; false if there is none.
func (b *buffer) undo() (Pos, bool) {
	if len(b.undoStack) == 0 {
		return Pos{}, false
	}
	ed := b.undoStack[len(b.undoStack)-1]
	b.undoStack, b.redoStack = b.undoStack[:len(b.undoStack)-1], append(b.redoStack, ed)
	b.splice(ed.from, endOf(ed.from, ed.inserted), ed.removed)
	return ed.cursorBefore, true
}

// redo repeats the edit that was undone last and returns the end of the new text; false if
// there is none.
func (b *buffer) redo() (Pos, bool) {
	if len(b.redoStack) == 0 {
		return Pos{}, false
	}
	ed := b.redoStack[len(b.redoStack)-1]
	b.redoStack, b.undoStack = b.redoStack[:len(b.redoStack)-1], append(b.undoStack, ed)
	return b.splice(ed.from, endOf(ed.from, ed.removed), ed.inserted), true
}

// previous returns the position one character before p.
func (b *buffer) previous(p Pos) Pos {
	switch {
	case p.Col > 0:
		return Pos{p.Line, p.Col - lastCluster(b.lines[p.Line][:p.Col])}
	case p.Line > 0:
		return Pos{p.Line - 1, len(withoutCR(b.lines[p.Line-1]))}
	}
	return p
}

// next returns the position one character after p.
func (b *buffer) next(p Pos) Pos {
	rest := withoutCR(b.lines[p.Line])[p.Col:]
	switch {
	case rest != "":
		return Pos{p.Line, p.Col + firstCluster(rest)}
	case p.Line+1 < len(b.lines):
		return Pos{p.Line + 1, 0}
	}
	return p
}

// cellOf returns the cell of a position in its line.
func (b *buffer) cellOf(p Pos) int {
	line, n := b.lines[p.Line], 0
	for at := 0; at < p.Col; {
		g := glyphOf(line[at:])
		n, at = n+g.width, at+g.bytes
	}
	return n
}
