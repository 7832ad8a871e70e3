package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Dialog is an open question. Keys count only once Armed: a question that opens
// by itself must not be answered by a key that was meant for something else.
type Dialog struct {
	Ask
	Armed bool
	Yes   bool // the choice under the cursor
}

// Draw draws the dialog as a box of at most w cells.
func (d Dialog) Draw(t Theme, w int) string {
	inner := min(max(w-8, 20), 72)
	var body []string
	for line := range strings.SplitSeq(d.Body, "\n") {
		body = append(body, wrap(Clean(line), inner)...)
	}
	choice := func(text string, on bool, r Role) string {
		if on {
			return t.Style(r).Reverse(true).Render(" " + text + " ")
		}
		return t.Paint(Muted, " "+text+" ")
	}
	r := Accent
	if d.Danger {
		r = Bad
	}
	buttons := choice(d.No, !d.Yes, Accent) + "  " + choice(d.Ask.Yes, d.Yes, r)
	content := t.Title.Render(Clean(d.Title)) + "\n\n" + strings.Join(body, "\n") + "\n\n" + buttons + "\n" + d.keys(t)
	return lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).BorderForeground(t.Style(r).GetForeground()).Padding(0, 2).Render(content)
}

// keys says how to answer, once an answer is taken.
func (d Dialog) keys(t Theme) string {
	if !d.Armed {
		return ""
	}
	return t.Paint(Muted, " ← → choose · enter · y / n")
}

// wrap breaks a text at spaces into lines of at most w cells.
func wrap(s string, w int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && Width(line)+1+Width(word) > w {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, Fit(line, min(Width(line), w)))
}

// Over lays a block over the middle of a frame of w × h cells.
func Over(frame, block string, w, h int) string {
	bw, bh := lipgloss.Size(block)
	x, y := max((w-bw)/2, 0), max((h-bh)/2, 0)
	comp := lipgloss.NewCompositor(lipgloss.NewLayer(frame), lipgloss.NewLayer(block).X(x).Y(y).Z(1))
	return Box(lipgloss.NewCanvas(w, h).Compose(comp).Render(), w, h) // a canvas leaves blanks at the ends out
}
