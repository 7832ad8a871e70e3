// Package merge compares texts line by line and brings two versions of one text
// together. It knows nothing of what the lines mean.
package merge

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Op says what a line of a comparison is.
type Op byte

// The lines of a comparison: in both texts, in the old one only, in the new one only.
const (
	Unchanged Op = ' '
	Removed   Op = '-'
	Added     Op = '+'
)

// Line is a line of a comparison, without its line end.
type Line struct {
	Op       Op
	Text     string
	Old, New int // its number in each text, from 1; 0: it is not there
}

// Compare lists all lines of two texts in order.
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

// lines splits a text behind its line ends.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n")
}

// ThreeWay brings two versions of a text together. Where both changed the same lines in different ways
// both stand in the result, between the marks that git uses, and count as a conflict.
func ThreeWay(base, mine, theirs string) (text string, conflicts int) {
	ours, others := udiff.Lines(base, mine), udiff.Lines(base, theirs)
	var out strings.Builder
	at := 0
	for len(ours) > 0 || len(others) > 0 {
		from, to := firstSpan(ours, others)
		var a, b []udiff.Edit
		for grown := true; grown; { // all that touches what is taken already
			grown = false
			for _, side := range []struct{ left, taken *[]udiff.Edit }{{&ours, &a}, {&others, &b}} {
				for len(*side.left) > 0 && touches((*side.left)[0], from, to) {
					e := (*side.left)[0]
					*side.left, *side.taken = (*side.left)[1:], append(*side.taken, e)
					to, grown = max(to, e.End), true
				}
			}
		}
		out.WriteString(base[at:from])
		x, y := applyEdits(base, from, to, a), applyEdits(base, from, to, b)
		switch {
		case len(b) == 0 || x == y:
			out.WriteString(x)
		case len(a) == 0:
			out.WriteString(y)
		default:
			conflicts++
			out.WriteString("<<<<<<< mine\n" + withLineEnd(x) + "=======\n" + withLineEnd(y) + ">>>>>>> on disk\n")
		}
		at = to
	}
	out.WriteString(base[at:])
	return out.String(), conflicts
}

// next is the span of the first of the edits that are left.
func firstSpan(a, b []udiff.Edit) (from, to int) {
	if len(b) == 0 || len(a) > 0 && a[0].Start <= b[0].Start {
		return a[0].Start, a[0].End
	}
	return b[0].Start, b[0].End
}

// touches says whether an edit is of the same lines as a span, or where one of the
// two is an insertion.
func touches(e udiff.Edit, from, to int) bool {
	return e.Start < to || e.Start == to && (e.Start == e.End || from == to || e.Start == from)
}

// applied is a span of a text with edits made in it.
func applyEdits(base string, from, to int, edits []udiff.Edit) string {
	var out strings.Builder
	for _, e := range edits {
		out.WriteString(base[from:e.Start])
		out.WriteString(e.New)
		from = e.End
	}
	return out.String() + base[from:to]
}

// ended is a text with an end to its last line.
func withLineEnd(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
