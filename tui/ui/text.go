package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

// Clean removes control characters and line breaks from untrusted text.
func Clean(s string) string { return safetext.Clean(s) }

// Fit cuts or pads a styled line to exactly w cells.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(s) // only once: every line of every frame is fitted
	if n > w {    // may leave a cell free if a wide character does not fit
		s = ansi.Truncate(s, w, "…")
		n = Width(s)
	}
	return s + strings.Repeat(" ", max(w-n, 0))
}

// Right aligns a line at the right of w cells; a longer one is cut.
func Right(s string, w int) string {
	if Width(s) > w {
		return Fit(s, w)
	}
	return texttable.AlignRight(s, w)
}

// Width returns the number of cells of a styled text.
func Width(s string) int { return texttable.Width(s) }

// Box cuts and pads a block to exactly w × h cells.
func Box(s string, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	lines := strings.Split(s, "\n")
	out := make([]string, h)
	for i := range out {
		if i < len(lines) {
			out[i] = Fit(lines[i], w)
		} else {
			out[i] = strings.Repeat(" ", w)
		}
	}
	return strings.Join(out, "\n")
}

// Beside puts blocks of the same height side by side, separated by vertical rules.
func (t Theme) Beside(blocks ...string) string {
	sep := t.Rule.Render(" │ ")
	rows := strings.Split(blocks[0], "\n")
	for _, b := range blocks[1:] {
		for i, line := range strings.Split(b, "\n") {
			if i < len(rows) {
				rows[i] += sep + line
			}
		}
	}
	return strings.Join(rows, "\n")
}

// LeftRight puts one text at the left and one at the right of a line of w cells; the
// left one is cut first.
func LeftRight(left, right string, w int) string {
	r := Width(right)
	if r >= w {
		return Fit(right, w)
	}
	gap := 0
	if r > 0 {
		gap = 1
	}
	return Fit(left, w-r-gap) + strings.Repeat(" ", gap) + right
}

// Plural returns a count with its noun.
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Age formats a duration in coarse steps, so that an idle screen rarely changes.
func Age(d time.Duration) string {
	switch s := int(d.Seconds()); {
	case s < 5:
		return "now"
	case s < 60:
		return strconv.Itoa(s/5*5) + " s"
	case s < 3600:
		return strconv.Itoa(s/60) + " m"
	case s < 48*3600:
		return strconv.Itoa(s/3600) + " h"
	default:
		return strconv.Itoa(s/86400) + " d"
	}
}

// Ago formats a duration as "5 m ago" or "now".
func Ago(d time.Duration) string {
	if age := Age(d); age != "now" {
		return age + " ago"
	}
	return "now"
}

// Bytes formats a size in units of 1000, with one decimal below 100 of a unit.
func Bytes(n int64) string {
	x, unit := float64(n), "B"
	for _, u := range []string{"KB", "MB", "GB", "TB"} {
		if x < 999.5 { // rounded to 1000 otherwise
			break
		}
		x, unit = x/1000, u
	}
	if unit == "B" || x >= 99.95 {
		return fmt.Sprintf("%.0f %s", x, unit)
	}
	return fmt.Sprintf("%.1f %s", x, unit)
}

// Clock formats a duration as m:ss, or h:mm:ss.
func Clock(seconds float64) string {
	s := max(int(seconds+0.5), 0)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// OneLine returns an error's message in one line.
func OneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// WrapAtMost wraps a text to at most maxLines lines of w cells. It keeps line breaks. If
// lines were left out, it ends with an ellipsis.
func WrapAtMost(s string, w, maxLines int) []string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if wrapped := Wrap(line, w); len(wrapped) > 0 {
			lines = append(lines, wrapped...)
		} else if s != "" {
			lines = append(lines, "")
		}
	}
	if n := max(maxLines, 0); len(lines) > n {
		lines = lines[:n]
		if n > 0 {
			last := lines[n-1] + " …"
			lines[n-1] = Fit(last, min(Width(last), w))
		}
	}
	return lines
}

// PaintWrapped wraps a text to w cells and draws it in a role.
func (t Theme) PaintWrapped(r Role, text string, w int) []string {
	lines := Wrap(text, w)
	for i := range lines {
		lines[i] = t.Paint(r, lines[i])
	}
	return lines
}

// PaintMarked draws lines in a role, the first one after a mark of one cell.
func (t Theme) PaintMarked(r Role, mark string, lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out, mark = append(out, t.Paint(r, " "+mark+" "+l)), " "
	}
	return out
}

// TitledRule returns a horizontal rule with one text at the left and one at the right.
// The right one is left out if both do not fit.
func (t Theme) TitledRule(left, right string, w int) string {
	const lead = 1
	room := w - 2*lead - 2
	if Width(left) > room {
		left = Fit(left, max(room, 0))
	}
	if Width(left)+Width(right)+4 > room {
		right = ""
	}
	line, tail := t.RuleLine(lead)+" "+left+" ", t.RuleLine(lead)
	if right != "" {
		tail = " " + right + " " + tail
	}
	return line + t.RuleLine(w-Width(line)-Width(tail)) + tail
}

// Wrap breaks an untrusted text into lines of at most w cells: at spaces, or inside
// words that are longer than a line.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(Clean(s)) {
		if line != "" && Width(line)+1+Width(word) > w {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
		for Width(line) > w {
			head := ansi.Truncate(line, w, "")
			if head == "" { // a wide character in one cell
				break
			}
			lines = append(lines, head)
			line = line[len(head):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
