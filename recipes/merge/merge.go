// Package merge compares texts line by line and merges two versions of a text.
package merge

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Op is the type of a line in a comparison.
type Op byte

// The types of lines: in both texts, in the old text only, in the new text only.
const (
	Unchanged Op = ' '
	Removed   Op = '-'
	Added     Op = '+'
)

// Line is a line of a comparison, without its line ending.
type Line struct {
	Op       Op
	Text     string
	Old, New int // line number in each text, from 1; 0 if the text does not have it
}

// Compare returns the lines of both texts in order.
func Compare(old, new string) []Line {
	edits := udiff.Lines(old, new)
	var out []Line
	a, b, at := 1, 1, 0
	add := func(op Op, text string) {
		for _, l := range splitLines(text) {
			line := Line{Op: op, Text: strings.TrimRight(l, "\r\n")}
			if op != Added {
				line.Old = a
				a++
			}
			if op != Removed {
				line.New = b
				b++
			}
			out = append(out, line)
		}
	}
	for _, e := range edits {
		add(Unchanged, old[at:e.Start])
		add(Removed, old[e.Start:e.End])
		add(Added, e.New)
		at = e.End
	}
	add(Unchanged, old[at:])
	return out
}

// splitLines splits a text after its line endings.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n")
}

// ThreeWay merges two versions of a text. Where both versions change the same lines differently, the
// result contains both, between the conflict markers of git. It returns the number of such conflicts.
func ThreeWay(base, mine, theirs string) (text string, conflicts int) {
	mineLeft, theirLeft := udiff.Lines(base, mine), udiff.Lines(base, theirs)
	var out strings.Builder
	at := 0
	for len(mineLeft) > 0 || len(theirLeft) > 0 {
		from, to := firstSpan(mineLeft, theirLeft)
		var mineEdits, theirEdits []udiff.Edit
		for grown := true; grown; { // collect all edits that overlap the span
			grown = false
			for _, side := range []struct{ left, taken *[]udiff.Edit }{
				{&mineLeft, &mineEdits}, {&theirLeft, &theirEdits},
			} {
				for len(*side.left) > 0 && touches((*side.left)[0], from, to) {
					e := (*side.left)[0]
					*side.left, *side.taken = (*side.left)[1:], append(*side.taken, e)
					to, grown = max(to, e.End), true
				}
			}
		}
		out.WriteString(base[at:from])
		mineText, theirText := applyEdits(base, from, to, mineEdits), applyEdits(base, from, to, theirEdits)
		switch {
		case len(theirEdits) == 0 || mineText == theirText:
			out.WriteString(mineText)
		case len(mineEdits) == 0:
			out.WriteString(theirText)
		default:
			conflicts++
			out.WriteString("<<<<<<< mine\n" + withLineEnd(mineText) +
				"=======\n" + withLineEnd(theirText) + ">>>>>>> on disk\n")
		}
		at = to
	}
	out.WriteString(base[at:])
	return out.String(), conflicts
}

// firstSpan returns the span of the first edit of a and b.
func firstSpan(a, b []udiff.Edit) (from, to int) {
	if len(b) == 0 || len(a) > 0 && a[0].Start <= b[0].Start {
		return a[0].Start, a[0].End
	}
	return b[0].Start, b[0].End
}

// touches reports whether an edit overlaps a span. An insertion at an end of the span or of
// the edit counts as an overlap.
func touches(e udiff.Edit, from, to int) bool {
	return e.Start < to || e.Start == to && (e.Start == e.End || from == to || e.Start == from)
}

// applyEdits returns a span of a text with edits applied.
func applyEdits(base string, from, to int, edits []udiff.Edit) string {
	var out strings.Builder
	for _, e := range edits {
		out.WriteString(base[from:e.Start])
		out.WriteString(e.New)
		from = e.End
	}
	return out.String() + base[from:to]
}

// withLineEnd returns a text whose last line ends with a newline.
func withLineEnd(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
