package port

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// form asks for the names of the files, with a summary of what goes into them.
func (s *Screen) form() string {
	labels := [2]string{"recipe", "workload"}
	lines := []string{s.factLine(), s.th.Titled(s.th.Title.Render("write the files"), "", s.w)}
	for i := range s.names {
		focused := i == s.name && !s.saving
		label := s.th.Paint(ui.Muted, ui.Fit(labels[i], 10))
		if focused {
			label = s.th.Paint(ui.Accent, ui.Fit(labels[i], 10))
		}
		note := s.target(i)
		lines = append(lines, "  "+label+s.names[i].Draw(s.th, max(s.w-15-ui.Width(note), 1), focused)+" "+note)
	}
	lines = append(lines, ui.Ends("  "+s.th.Paint(ui.Muted, ui.Fit("origin", 10)+ui.Clean(porter.ProvenancePath(s.names[0].Value()))), s.target(2)+"  ", s.w))
	if s.targetErr != nil {
		lines = append(lines, s.wrapped("            ", ui.Bad, s.targetErr.Error(), s.w)...)
	}
	gap := s.h >= 16
	if gap {
		lines = append(lines, "")
	}
	lines = append(lines, s.account()...)
	if gap {
		lines = append(lines, "")
	}
	if s.saving {
		lines = append(lines, "  "+s.th.Paint(ui.Muted, "writing …  esc gives it up"))
	} else if n := s.written.res.Open(porter.MustFix); n > 0 {
		lines = append(lines, s.wrapped("  ", ui.Warn, questions(n)+" must be answered before a run; the files can be written all the same", s.w)...)
	}
	return strings.Join(lines, "\n")
}

// target says what the name of a file means, as far as that is known.
func (s *Screen) target(i int) string {
	now := [2]string{s.names[0].Value(), s.names[1].Value()}
	if i >= len(s.targets) || now != s.checked {
		return ""
	}
	text, role := standing(s.targets[i])
	return s.th.Paint(role, ui.Fit(text, min(ui.Width(text), max(s.w/2-4, 1))))
}

// account sums up what goes into the files: fields by class, what is open, the proof.
func (s *Screen) account() []string {
	res := s.written.res
	counts := res.Summary()
	fields := make([]string, 0, len(classes))
	for _, c := range classes {
		if counts[c] > 0 {
			mark, role := letter(c)
			fields = append(fields, s.th.Paint(role, mark)+fmt.Sprintf(" %d %s", counts[c], c))
		}
	}
	var open []string
	for _, k := range []porter.TodoKind{porter.MustFix, porter.Confirm, porter.Note} {
		if n := res.Open(k); n > 0 {
			open = append(open, s.th.Paint(kindRole(k), fmt.Sprintf("%d %s", n, k)))
		}
	}
	if len(open) == 0 {
		open = []string{s.th.Paint(ui.OK, "✓ nothing")}
	}
	if n := len(res.Answered); n > 0 {
		open = append(open, s.th.Paint(ui.Muted, fmt.Sprintf("%d answered", n)))
	}
	text, role := verdict(&res.Proof)
	var out []string
	for _, row := range []struct {
		label string
		parts []string
	}{{fmt.Sprintf("%d fields", len(res.Fields)), fields}, {"open", open}} {
		out = append(out, flowed("  "+s.th.Paint(ui.Muted, ui.Fit(row.label, 12)), row.parts, s.w)...)
	}
	proof := s.wrapped("              ", role, text, s.w)
	if len(proof) > 0 {
		proof[0] = "  " + s.th.Paint(ui.Muted, ui.Fit("proof", 12)) + strings.TrimLeft(proof[0], " ")
	}
	return append(out, proof...)
}

// flowed are styled parts behind a label, in as many lines as they take.
func flowed(label string, parts []string, w int) []string {
	margin := strings.Repeat(" ", ui.Width(label))
	var out []string
	line := label
	for _, p := range parts {
		if line != label && line != margin && ui.Width(line)+ui.Width(p)+3 > w {
			out = append(out, line)
			line = margin
		}
		if line != label && line != margin {
			line += "   "
		}
		line += p
	}
	return append(out, line)
}
