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

// titles is the width of the list of sections; a screen narrower than wide has
// only the section's title instead.
const (
	titles = 26
	wide   = 90
)

func (s *Screen) head() []string {
	what := s.th.Paint(ui.Muted, "no plan while there are errors")
	if s.plan != nil {
		what = ui.Clean(s.summary())
	}
	ds := s.pair.Report.Diagnostics
	var stands string
	switch e, w := ds.Errors(), ds.Warnings(); {
	case e > 0:
		stands = s.th.Paint(ui.Bad, "✗ "+plural(e, "error")+", "+plural(w, "warning")) + s.th.Paint(ui.Muted, "   q back to the editor")
	case s.gate != nil:
		stands = s.th.Paint(ui.Warn, "⚠ ") + ui.Clean(s.gate.Error())
	case w > 0:
		stands = s.th.Paint(ui.Warn, "⚠ "+plural(w, "warning")+": ") + ui.Clean(first(ds, recipes.Warning))
	default:
		stands = s.th.Paint(ui.OK, "✓ nothing stands against it")
	}
	target := fmt.Sprintf("target %s", s.target)
	if s.target == plan.Local {
		target += fmt.Sprintf(": %d users, a phase of %.0f s", s.scale.Users, s.scale.Seconds)
		if s.plan != nil {
			target += fmt.Sprintf("; %d things differ from the recipe: see SWAPS", len(s.plan.Swaps))
		}
	}
	return []string{ui.Fit("  "+what, s.w), ui.Fit("  "+stands, s.w), s.th.Paint(ui.Muted, ui.Fit("  "+target, s.w)), s.th.Line(s.w)}
}

func first(ds recipes.Diagnostics, sev recipes.Severity) string {
	for _, d := range ds {
		if d.Severity == sev {
			return d.Path + ": " + d.Message
		}
	}
	return ""
}

// problems lists the findings, as many as fit.
func (s *Screen) problems(rows int) []string {
	var out []string
	for _, d := range s.pair.Report.Diagnostics {
		mark := map[recipes.Severity]string{recipes.Error: s.th.Paint(ui.Bad, "✗"), recipes.Warning: s.th.Paint(ui.Warn, "⚠"), recipes.Note: s.th.Paint(ui.Muted, "·")}[d.Severity]
		out = append(out, ui.Fit("  "+mark+" "+ui.Clean(fmt.Sprintf("%s:%d  %s: %s", d.File, d.Line, d.Path, d.Message)), s.w))
		if d.Fix != "" {
			out = append(out, s.th.Paint(ui.Muted, ui.Fit("      "+ui.Clean(d.Fix), s.w)))
		}
	}
	if len(out) > rows && rows > 0 {
		out = append(out[:rows-1], s.th.Paint(ui.Muted, fmt.Sprintf("  … %d lines more", len(out)-rows+1)))
	}
	return out
}

func (s *Screen) paneRows() int { return max(s.h-headRows, 1) }

// paneWidth is the width of a section's lines.
func (s *Screen) paneWidth() int {
	if s.w < wide {
		return s.w
	}
	return s.w - titles - 3
}

// panes are the list of sections and the lines of the one under the cursor.
func (s *Screen) panes() string {
	rows, w := s.paneRows(), s.paneWidth()
	view := ui.Box(strings.Join(s.flow(rows), "\n"), w, rows)
	if s.w < wide {
		return view
	}
	var list []string
	from := max(min(s.at-rows/2, len(s.sections)-rows), 0)
	for i := from; i < len(s.sections) && len(list) < rows; i++ {
		text := ui.Fit(" "+s.title(i), titles)
		if i == s.at {
			text = s.th.Selected.Render(ui.Fit("▸"+s.title(i), titles))
		}
		list = append(list, text)
	}
	return ui.Beside(s.th.Rule.Render(" │ "), ui.Box(strings.Join(list, "\n"), titles, rows), view)
}

func (s *Screen) title(i int) string {
	title, _, _ := strings.Cut(s.sections[i].Title, ":")
	return ui.Clean(title)
}

// flow is the plan from the section under the cursor on, as much as fits.
func (s *Screen) flow(rows int) []string {
	var out []string
	for i := s.at; i < len(s.sections) && len(out) < s.top+rows; i++ {
		if i > s.at {
			out = append(out, "")
		}
		role := ui.Accent
		if i > s.at {
			role = ui.Muted
		}
		out = append(out, s.th.Paint(role, ui.Clean(s.sections[i].Title)))
		out = append(out, s.body(i)...)
	}
	return out[min(s.top, len(out)):]
}

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// body is a section's lines at the width of its pane: long ones, commands mostly,
// are broken at the width, so that nothing of what will run is out of sight.
func (s *Screen) body(i int) []string {
	if i >= len(s.sections) {
		return nil
	}
	w := max(s.paneWidth(), 10)
	var out []string
	for _, l := range s.sections[i].Lines {
		rest := []rune(ui.Clean(l))
		if len(rest) == 0 {
			out = append(out, "")
		}
		for indent := ""; len(rest) > 0; indent = "    " {
			n := min(len(rest), w-len(indent))
			out = append(out, indent+string(rest[:n]))
			rest = rest[n:]
		}
	}
	return out
}
