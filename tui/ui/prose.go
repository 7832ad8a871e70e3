package ui

import "strings"

// OneLine is an error that may have several causes, in one line.
func OneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Prose is a text of somebody else in at most so many lines of w cells; its own line
// breaks stay, and an ellipsis says that there is more.
func Prose(s string, w, most int) []string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if wrapped := Wrap(line, w); len(wrapped) > 0 {
			lines = append(lines, wrapped...)
		} else if s != "" {
			lines = append(lines, "")
		}
	}
	if n := max(most, 0); len(lines) > n {
		lines = lines[:n]
		if n > 0 {
			lines[n-1] = Fit(lines[n-1], min(Width(lines[n-1]), w-2)) + " …"
		}
	}
	return lines
}

// Wrapped are the lines of a text in a role.
func (t Theme) Wrapped(r Role, text string, w int) []string {
	lines := Wrap(text, w)
	for i := range lines {
		lines[i] = t.Paint(r, lines[i])
	}
	return lines
}

// Marked are lines in a role, with a mark of one cell before the first.
func (t Theme) Marked(r Role, mark string, lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out, mark = append(out, t.Paint(r, " "+mark+" "+l)), " "
	}
	return out
}

// Titled is a thin rule with a text in it at the left and one at the right; the
// right one goes first where both don't fit.
func (t Theme) Titled(left, right string, w int) string {
	const lead = 1
	room := w - 2*lead - 2
	if Width(left) > room {
		left = Fit(left, max(room, 0))
	}
	if Width(left)+Width(right)+4 > room {
		right = ""
	}
	line, tail := t.Line(lead)+" "+left+" ", t.Line(lead)
	if right != "" {
		tail = " " + right + " " + tail
	}
	return line + t.Line(w-Width(line)-Width(tail)) + tail
}
