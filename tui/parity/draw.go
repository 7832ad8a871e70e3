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
		return s.th.Paint(ui.Bad, " ✗ comparison failed") + "\n\n   " + strings.Join(lines, "\n   ")
	case s.c == nil:
		return s.th.Paint(ui.Muted, " loading both sides …")
	}
	lay := s.layout
	text, role := summary(*s.c)
	if s.comparing {
		text, role = "comparing …", ui.Muted
	}
	referenceCount := ""
	if n := len(s.refs); n > 0 {
		referenceCount = fmt.Sprintf("1 of %d · ", n+1)
	}
	head := " " + s.th.Paint(ui.Muted, "reference ") + referenceCount + sideText(s.c.Reference) +
		"\n " + s.th.Paint(ui.Muted, "candidate ") + sideText(s.c.Candidate)
	refreshHint := "" // a run that has not ended may become comparable
	if s.c.Verdict == engine.NotComparable {
		refreshHint = s.th.Paint(ui.Muted, "R refreshes")
	}
	rule := s.th.TitledRule(s.th.Paint(role, text), refreshHint, s.w)
	if s.view != figuresView {
		return head + "\n" + rule + "\n" + s.viewOther(s.w, max(s.h-headHeight-1, 0))
	}
	if lay.sideW > 0 {
		side := ui.Box(strings.Join(s.lowerLines(lay.sideW), "\n"), lay.sideW, lay.tableH)
		return head + "\n" + rule + "\n" + s.th.Beside(s.table.Draw(s.th), side)
	}
	title := "notes"
	switch {
	case lay.showsAll:
		title = "notes and configuration"
	case s.lowerPane == sidesPane:
		title = "configuration"
	}
	lines := s.lowerLines(s.w - 2)
	moreHint := ""
	if len(lines) > lay.lowerH {
		lines, moreHint = lines[:lay.lowerH], "d shows more"
		if s.lowerPane != tablePane {
			moreHint = "enlarge the terminal for more"
		}
	}
	parts := []string{head, rule}
	if lay.tableH > 0 {
		parts = append(parts, s.table.Draw(s.th))
	}
	parts = append(parts, s.th.TitledRule(title, s.th.Paint(ui.Muted, moreHint), s.w), " "+strings.Join(lines, "\n "))
	return strings.Join(parts, "\n")
}

// lowerLines returns the lines below or beside the table: the notes, the configuration, or both.
func (s *Screen) lowerLines(w int) []string {
	switch {
	case s.layout.showsAll:
		return append(append(s.viewNotes(w), ""), s.viewSides(w)...)
	case s.lowerPane == sidesPane:
		return s.viewSides(w)
	}
	return s.viewNotes(w)
}

// viewNotes returns the reasons why the sides are not comparable, the detail of the
// selected row, and the notes.
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
	if i := s.table.Cursor; i < len(s.rows) {
		add("▸", s.rows[i].detail, ui.Plain)
	}
	for _, n := range s.c.Notes {
		add("·", n, ui.Muted)
	}
	return out
}

// viewSides returns a table of the configuration of both sides.
func (s *Screen) viewSides(w int) []string {
	all := properties(*s.c)
	nameWidth := 15
	for _, id := range all {
		nameWidth = max(nameWidth, min(ui.Width(id.name)+1, w/3))
	}
	column := max((w-nameWidth-3)/2, 4)
	cut := func(v string) string {
		v = ui.Clean(cmp.Or(v, "-"))
		if n := ui.Width(v); n > column-1 { // keep the end, which distinguishes paths
			v = ansi.TruncateLeft(v, n-column+2, "…")
		}
		return ui.Fit(v, column)
	}
	out := []string{s.th.Paint(ui.Muted, ui.Fit("", nameWidth+2)+ui.Fit("REFERENCE", column)+"CANDIDATE")}
	for _, p := range all {
		out = append(out, ui.Fit(p.name, nameWidth)+s.th.Paint(p.role, ui.Fit(p.mark, 2))+cut(p.ref)+cut(p.cand))
	}
	return out
}
