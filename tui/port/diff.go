package port

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// openComparison opens the comparison of before and after, by field or by launch line.
func (r *review) openComparison(launches bool) {
	sh := &sheet{title: "fields, before/after", render: r.files.fieldDiff}
	if launches {
		sh.title, sh.render = "launch lines, before/after", r.files.launchDiff
	}
	sh.toggle = func() { r.openComparison(!launches) }
	r.wizard.openSheet(sh)
}

// drawPair draws an old text above the new one, with the difference highlighted.
func drawPair(th ui.Theme, margin, old, now string, w int) []string {
	old, now = ui.Clean(old), ui.Clean(now)
	head, tail := commonAffixes(old, now)
	var out []string
	for _, side := range []struct {
		sign string
		role ui.Role
		text string
	}{{"− ", ui.Bad, old}, {"+ ", ui.OK, now}} {
		if side.text == "" {
			continue
		}
		middle := len(side.text) - tail
		for i, l := range highlight(th, side.role, side.text, head, middle, w-ui.Width(margin)-3, unlimited, len(side.text)) {
			sign := side.sign
			if i > 0 {
				sign = "  "
			}
			out = append(out, margin+th.Paint(side.role, sign)+l)
		}
	}
	return out
}

// commonAffixes returns the lengths of the common prefix and suffix of two texts, in bytes.
func commonAffixes(a, b string) (head, tail int) {
	ra, rb := []rune(a), []rune(b)
	n := 0
	for n < len(ra) && n < len(rb) && ra[n] == rb[n] {
		head += len(string(ra[n]))
		n++
	}
	for k := 1; k <= len(ra)-n && k <= len(rb)-n && ra[len(ra)-k] == rb[len(rb)-k]; k++ {
		tail += len(string(ra[len(ra)-k]))
	}
	return head, tail
}

// fieldDiff draws the fields of the active file before and after, without those that are
// copied unchanged.
func (f *files) fieldDiff(th ui.Theme, w int) (lines []string, first int) {
	const margin = "         "
	same := 0
	for i, l := range f.docs[f.active].lines {
		if !l.first {
			continue
		}
		field := f.fieldAt(l)
		selected := i == f.cursor[f.active]
		if field.Class == porter.Copied && !selected {
			same++
			continue
		}
		if i <= f.cursor[f.active] {
			first = len(lines)
		}
		mark, role := classMark(field.Class)
		numberRole := ui.Muted
		if selected {
			numberRole = ui.Accent
		}
		num := th.Paint(numberRole, ui.Right(fmt.Sprint(i+1), 5))
		lines = append(lines, num+" "+th.Paint(role, mark)+"  "+ui.Clean(field.Written))
		lines = append(lines, drawPair(th, margin, rawText(field), field.Value, w)...)
		why := strings.Trim(field.Rule+": "+field.Why, ": ")
		if len(field.Evidence) > 0 {
			why = strings.Trim(locationText(field.Evidence[0])+" · "+why, "· ")
		}
		lines = append(lines, wrapIndented(th, margin, ui.Muted, why, w)...)
	}
	if same > 0 {
		text := fmt.Sprintf("      ✓ %d more fields of this file are unchanged", same)
		lines = append(lines, "", th.Paint(ui.OK, text))
	}
	return lines, first
}

// rawText returns the text of a field in its artifact, with its key.
func rawText(f porter.Field) string {
	if len(f.Evidence) == 0 {
		return ""
	}
	e := f.Evidence[0]
	if e.Raw == "" || e.Key == "" || strings.HasPrefix(e.Raw, e.Key) {
		return e.Raw
	}
	return e.Key + " " + e.Raw
}

// launchDiff draws the environment and arguments of each worker, in the old launch line and in the new
// job. What is unaccounted for comes first, then what is asked.
func (f *files) launchDiff(th ui.Theme, w int) (lines []string, first int) {
	p := &f.res.Proof
	text, role := proofVerdict(p)
	lines = wrapIndented(th, " ", role, text, w)
	lines = append(lines, openTokens(th, p, w)...)
	for _, l := range p.Lines {
		if l.Problem != "" {
			continue // above
		}
		sums := fmt.Sprintf("%d unchanged, %d changed", l.Unchanged, len(l.Differences))
		if l.Step != "" {
			sums = "new step " + ui.Clean(l.Step) + " · " + sums
		}
		lines = append(lines, "", " "+th.Title.Render(ui.Clean(launchNames(l)))+th.Paint(ui.Muted, "  "+sums))
		for _, d := range l.Grouped() {
			lines = append(lines, launchDifference(th, d, w)...)
		}
	}
	return lines, 0
}

// openTokens draws the lines that were not read and the parts of others that are unaccounted for, then
// the parts that open questions are about.
func openTokens(th ui.Theme, p *porter.Proof, w int) []string {
	var unaccounted, asked []string
	for _, l := range p.Lines {
		name := launchNames(l)
		if len(l.Lines) > 0 {
			name += fmt.Sprintf(" (job.log:%d)", l.Lines[0])
		}
		if l.Problem != "" {
			unaccounted = append(unaccounted, wrapIndented(th, "   ", ui.Plain, name+": not read: "+l.Problem, w)...)
		}
		for _, d := range l.Differences {
			switch text := name + ": " + d.What + " " + d.Name; {
			case d.Rule == "" && d.Old != "":
				unaccounted = append(unaccounted, wrapIndented(th, "   ", ui.Plain, text+" = "+d.Old, w)...)
			case d.Rule == "":
				unaccounted = append(unaccounted, wrapIndented(th, "   ", ui.Plain, text, w)...)
			case d.Asked:
				asked = append(asked, wrapIndented(th, "   ", ui.Plain, text+" · "+d.Rule, w)...)
			}
		}
	}
	var out []string
	if len(unaccounted) > 0 {
		out = append(append(out, "", " "+th.Paint(ui.Bad, "unaccounted")), unaccounted...)
	}
	if len(asked) > 0 {
		out = append(append(out, "", " "+th.Paint(ui.Warn, "asked")), asked...)
	}
	return out
}

// launchNames returns the launches of a line.
func launchNames(l porter.ProofLine) string {
	if n := len(l.Launches); n > 1 {
		return fmt.Sprintf("%s and %d more", l.Launches[0], n-1)
	}
	return l.Launches[0]
}

// launchDifference draws a difference of launch lines with its rule.
func launchDifference(th ui.Theme, d porter.ProofRow, w int) []string {
	const margin = "                    "
	name := d.Name
	if d.To != "" {
		name += " → " + d.To
	}
	lines := wrapIndented(th, margin, ui.Plain, name, w)
	if len(lines) > 0 {
		lines[0] = "   " + th.Paint(ui.Muted, ui.Fit(d.Kind, 8)+ui.Fit(d.What, 9)) + strings.TrimLeft(lines[0], " ")
	}
	lines = append(lines, drawPair(th, margin, d.Old, d.New, w)...)
	if d.Rule == "" {
		return append(lines, wrapIndented(th, margin, ui.Bad, "UNEXPLAINED: a bug in the porter", w)...)
	}
	return append(lines, wrapIndented(th, margin, ui.Muted, d.Rule, w)...)
}

// proofVerdict returns the result of the proof as one line.
func proofVerdict(p *porter.Proof) (string, ui.Role) {
	switch {
	case p.Problem == "" && (p.Unaccounted > 0 || len(p.Unexplained()) > 0):
		return "✗ " + p.Summary(), ui.Bad
	case !p.Complete():
		return "⚠ " + p.Summary(), ui.Warn
	}
	return "✓ " + p.Summary(), ui.OK
}

// targetDiff returns the comparison of existing files with those that would be written.
func targetDiff(targets []session.Target) *sheet {
	return &sheet{title: "existing files", render: func(th ui.Theme, w int) (lines []string, first int) {
		for _, t := range targets {
			text, role := targetStatus(t)
			lines = append(lines, wrapIndented(th, " ", role, t.Path+": "+text, w)...)
			for _, d := range t.Diff {
				role := cmp.Or(diffRoles[d[:min(len(d), 1)]], ui.Muted)
				lines = append(lines, "   "+th.Paint(role, ui.Fit(ui.Clean(d), max(w-4, 1))))
			}
			lines = append(lines, "")
		}
		return lines, 0
	}}
}

// diffRoles are the roles of the lines of a diff, by their first character.
var diffRoles = map[string]ui.Role{"+": ui.OK, "-": ui.Bad, "@": ui.Accent}

// targetStatus returns whether a file exists, and how it would change.
func targetStatus(t session.Target) (string, ui.Role) {
	switch {
	case t.Problem != "" && t.Exists:
		return "exists: " + t.Problem, ui.Warn
	case t.Problem != "":
		return t.Problem, ui.Bad
	case t.Same:
		return "exists, unchanged", ui.Muted
	case t.Exists:
		return fmt.Sprintf("exists: +%d −%d lines", t.Added, t.Removed), ui.Warn
	}
	return "new", ui.OK
}

// highlight draws a text in lines of w cells with the bytes between from and to
// highlighted. It stops after n lines, or once the first until bytes are drawn.
func highlight(th ui.Theme, role ui.Role, text string, from, to, w, n, until int) []string {
	var out []string
	for at := 0; at < min(len(text), until) && len(out) < n; {
		piece := ansi.Truncate(text[at:], max(w, 2), "")
		if piece == "" {
			break
		}
		end := at + len(piece)
		a, b := min(max(from, at), end), min(max(to, at), end)
		middle := th.Style(role).Bold(true).Render(text[a:b])
		out = append(out, th.Paint(ui.Muted, text[at:a])+middle+th.Paint(ui.Muted, text[b:end]))
		at = end
	}
	return out
}
