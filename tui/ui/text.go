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

// Clean is a text of somebody else, safe to draw on one line.
func Clean(s string) string { return safetext.Clean(s) }

// Fit cuts or pads a styled line to exactly w cells.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(s) // once: every line of every frame comes through here
	if n > w {    // a wide character that has no room leaves a cell
		s = ansi.Truncate(s, w, "…")
		n = Width(s)
	}
	return s + strings.Repeat(" ", max(w-n, 0))
}

// Right pads a line on the left to w cells; a longer one is cut.
func Right(s string, w int) string {
	if Width(s) > w {
		return Fit(s, w)
	}
	return texttable.Right(s, w)
}

// Width is the number of cells that a styled text takes.
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

// Beside puts blocks side by side with a thin rule between; each must already be
// a box of h lines.
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

// Ends puts one text at the left and one at the right of a line of w cells; the
// left one is cut first.
func Ends(left, right string, w int) string {
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

// Plural is a count with its noun.
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Age is a duration in coarse steps, so that it does not change all the time.
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

// Ago is Age as a part of a sentence.
func Ago(d time.Duration) string {
	if age := Age(d); age != "now" {
		return age + " ago"
	}
	return "now"
}

// Clock is a length of time as m:ss, or h:mm:ss.
func Clock(seconds float64) string {
	s := max(int(seconds+0.5), 0)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
