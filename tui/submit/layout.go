package submit

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// headRows are the lines that answer the screen's question: what will run, what
// stands against it, and how it differs from the recipe; then a rule.
const headRows = 4

// wide is the least width at which the list of sections stands beside the one under
// the cursor; narrower, that one's title tells how many there are.
const wide = 90

func (s *Screen) head() []string {
	what := s.th.Paint(ui.Muted, "no plan while there are errors")
	if s.plan != nil {
		what = ui.Clean(s.summary())
	}
	return []string{ui.Fit("  "+what, s.w), ui.Fit("  "+s.stands(), s.w), ui.Fit("  "+s.th.Paint(ui.Muted, ui.Clean(s.where())), s.w), s.th.Line(s.w)}
}

// stands is what stands against the submit, in one line; the sections tell more.
func (s *Screen) stands() string {
	ds := s.pair.Report.Diagnostics
	e, w := ds.Errors(), ds.Warnings()
	bad := func(text string) string { return s.th.Paint(ui.Bad, "✗ ") + ui.Clean(text) }
	switch {
	case e > 0:
		return s.th.Paint(ui.Bad, "✗ "+ui.Plural(e, "error")+", "+ui.Plural(w, "warning")) + s.th.Paint(ui.Muted, "   e edit them, or q back")
	case s.cluster.err != nil:
		return bad(s.cluster.err.Error())
	case s.gate != nil:
		return s.th.Paint(ui.Warn, "⚠ ") + ui.Clean(s.gate.Error())
	case w > 0:
		return s.th.Paint(ui.Warn, "⚠ "+ui.Plural(w, "warning")+": ") + ui.Clean(first(ds, recipes.Warning))
	}
	return s.th.Paint(ui.OK, "✓ nothing stands against it")
}

// where is the target, and what it says of this run.
func (s *Screen) where() string {
	text := fmt.Sprintf("target %s", s.target)
	switch {
	case s.plan == nil:
	case s.target == plan.Local:
		text += fmt.Sprintf(": %d users, a phase of %.0f s; %d things differ from the recipe: see SWAPS", s.scale.Users, s.scale.Seconds, len(s.plan.Substitutions))
	case s.asking():
		text += ": asking the cluster…"
	case s.cluster.err == nil && len(s.cluster.notes) > 0: // the last word is when it would start
		text += ": " + s.cluster.notes[len(s.cluster.notes)-1]
	}
	return text
}

func first(ds recipes.Diagnostics, sev recipes.Severity) string {
	for _, d := range ds {
		if d.Severity == sev {
			return d.Path + ": " + d.Message
		}
	}
	return ""
}

func (s *Screen) paneRows() int { return max(s.h-headRows, 1) }

// listWidth is the width of the list of sections, which shows each name whole; 0
// where there is no room for a list.
func (s *Screen) listWidth() int {
	if s.w < wide {
		return 0
	}
	w := 0
	for i := range s.sections {
		w = max(w, ui.Width(s.name(i))+2)
	}
	return min(w, s.w/3)
}

// paneWidth is the width of a section's lines.
func (s *Screen) paneWidth() int {
	if list := s.listWidth(); list > 0 {
		return s.w - list - 3
	}
	return s.w
}

// panes are the list of sections and the lines of the one under the cursor.
func (s *Screen) panes() string {
	rows, list := s.paneRows(), s.listWidth()
	view := ui.Box(strings.Join(s.flow(rows), "\n"), s.paneWidth(), rows)
	if list == 0 {
		return view
	}
	var names []string
	from := max(min(s.at-rows/2, len(s.sections)-rows), 0)
	for i := from; i < len(s.sections) && len(names) < rows; i++ {
		text := ui.Fit(" "+s.name(i), list)
		if i == s.at {
			text = s.th.Selected.Render(ui.Fit("▸"+s.name(i), list))
		}
		names = append(names, text)
	}
	return ui.Beside(s.th.Rule.Render(" │ "), ui.Box(strings.Join(names, "\n"), list, rows), view)
}

// name is a section's title without its explanation.
func (s *Screen) name(i int) string {
	name, _, _ := strings.Cut(s.sections[i].title, ":")
	return ui.Clean(name)
}

// flow is the plan from the section under the cursor on, as much as fits.
func (s *Screen) flow(rows int) []string {
	var out []string
	for i := s.at; i < len(s.sections) && len(out) < s.top+rows; i++ {
		title := s.th.Paint(ui.Muted, ui.Clean(s.sections[i].title))
		if i == s.at {
			title = s.th.Paint(ui.Accent, ui.Clean(s.sections[i].title))
			if s.listWidth() == 0 {
				title = ui.Ends(title, s.th.Paint(ui.Muted, fmt.Sprintf("%d of %d", i+1, len(s.sections))), s.w)
			}
		} else {
			out = append(out, "")
		}
		out = append(append(out, title), s.body(i)...)
	}
	return out[min(s.top, len(out)):]
}

// body is a section's lines at the width of its pane.
func (s *Screen) body(i int) []string {
	var out []string
	for _, l := range s.sections[i].lines {
		out = append(out, l.rows(s.th, s.paneWidth())...)
	}
	return out
}
