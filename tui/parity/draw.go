package parity

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// View draws the body.
func (s *Screen) View() string {
	switch {
	case s.picking():
		return s.viewPicker()
	case s.err != nil:
		lines := ui.Wrap(ui.OneLine(s.err), s.w-6)
		return s.th.Paint(ui.Bad, " ✗ these two can't be compared") + "\n\n   " + strings.Join(lines, "\n   ")
	case s.c == nil:
		return s.th.Paint(ui.Muted, " reading both sides …")
	}
	l := s.lay
	text, role := summary(*s.c)
	if s.busy {
		text, role = "comparing again …", ui.Muted
	}
	of := ""
	if n := len(s.refs); n > 0 {
		of = fmt.Sprintf("1 of %d · ", n+1)
	}
	head := " " + s.th.Paint(ui.Muted, "reference ") + of + sideText(s.c.Reference) +
		"\n " + s.th.Paint(ui.Muted, "candidate ") + sideText(s.c.Candidate)
	again := "" // a run that is still at work may be comparable later
	if s.c.Verdict == engine.NotComparable {
		again = s.th.Paint(ui.Muted, "R compares again")
	}
	rule := s.th.TitledRule(s.th.Paint(role, text), again, s.w)
	if s.view != viewFigures {
		return head + "\n" + rule + "\n" + s.viewMore(s.w, max(s.h-headLines-1, 0))
	}
	if l.aside > 0 {
		side := ui.Box(strings.Join(s.below(l.aside), "\n"), l.aside, l.table)
		return head + "\n" + rule + "\n" + s.th.Beside(s.table.Draw(s.th), side)
	}
	title := "notes"
	switch {
	case l.all:
		title = "notes, and what makes the two the same configuration"
	case s.lower == showSides:
		title = "what makes the two the same configuration"
	}
	lines := s.below(s.w - 2)
	more := ""
	if len(lines) > l.below {
		lines, more = lines[:l.below], "d shows more"
		if s.lower != showTable {
			more = "more in a larger window"
		}
	}
	parts := []string{head, rule}
	if l.table > 0 {
		parts = append(parts, s.table.Draw(s.th))
	}
	parts = append(parts, s.th.TitledRule(title, s.th.Paint(ui.Muted, more), s.w), " "+strings.Join(lines, "\n "))
	return strings.Join(parts, "\n")
}

// below is what is said beside the table: notes, sides, or both.
func (s *Screen) below(w int) []string {
	switch {
	case s.lay.all:
		return append(append(s.viewNotes(w), ""), s.viewSides(w)...)
	case s.lower == showSides:
		return s.viewSides(w)
	}
	return s.viewNotes(w)
}

// viewNotes is what stands in the way of a verdict, what is said of the row under
// the cursor, and the notes.
func (s *Screen) viewNotes(w int) []string {
	var out []string
	add := func(mark, text string, role ui.Role) {
		for i, l := range ui.Wrap(text, w-2) {
			if i > 0 {
				mark = " "
			}
			out = append(out, s.th.Paint(role, mark+" "+l))
		}
	}
	if s.c.Verdict == engine.NotComparable || s.c.Forced {
		for _, r := range s.c.Reasons {
			add("⚠", r, ui.Warn)
		}
	}
	if i := s.table.Cursor; i < len(s.lines) {
		add("▸", s.lines[i].detail, ui.Plain)
	}
	for _, n := range s.c.Notes {
		add("·", n, ui.Muted)
	}
	return out
}

// viewSides is the table of what identifies the two.
func (s *Screen) viewSides(w int) []string {
	const name = 15
	column := max((w-name-3)/2, 4)
	cut := func(v string) string {
		v = ui.Clean(cmp.Or(v, "-"))
		if n := ui.Width(v); n > column-1 { // the end of a path tells more than its beginning
			v = ansi.TruncateLeft(v, n-column+2, "…")
		}
		return ui.Fit(v, column)
	}
	out := []string{s.th.Paint(ui.Muted, ui.Fit("", name+2)+ui.Fit("REFERENCE", column)+"CANDIDATE")}
	for _, id := range identities(*s.c) {
		out = append(out, ui.Fit(id.name, name)+s.th.Paint(id.role, ui.Fit(id.mark, 2))+cut(id.ref)+cut(id.cand))
	}
	return out
}
