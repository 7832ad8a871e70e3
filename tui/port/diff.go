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

// compare opens what was read against what is written: field by field, or launch line
// by launch line.
func (r *review) compare(launches bool) {
	sh := &sheet{title: "raw against written", write: r.files.diffLines}
	if launches {
		sh.title, sh.write = "old launch lines against the new job", r.files.proofLines
	}
	sh.other = func() { r.compare(!launches) }
	r.wizard.open(sh)
}

// pair draws an old and a new text one below the other, with lit what differs.
func pair(th ui.Theme, margin, old, now string, w int) []string {
	old, now = ui.Clean(old), ui.Clean(now)
	head, tail := common(old, now)
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
		for i, l := range lit(th, side.role, side.text, head, middle, w-ui.Width(margin)-3, unlimited, len(side.text)) {
			sign := side.sign
			if i > 0 {
				sign = "  "
			}
			out = append(out, margin+th.Paint(side.role, sign)+l)
		}
	}
	return out
}

// common is how many bytes two texts share at the start and at the end, cut at whole characters.
func common(a, b string) (head, tail int) {
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

// diffLines compare, for each field of the file that is shown that is no plain copy,
// what was read with what is written.
func (f *files) diffLines(th ui.Theme, w int) (lines []string, first int) {
	const margin = "         "
	same := 0
	for i, l := range f.docs[f.doc].lines {
		if !l.first {
			continue
		}
		field := f.field(l)
		here := i == f.at[f.doc]
		if field.Class == porter.Copied && !here {
			same++
			continue
		}
		if i <= f.at[f.doc] {
			first = len(lines)
		}
		mark, role := letter(field.Class)
		at := ui.Muted
		if here {
			at = ui.Accent
		}
		num := th.Paint(at, ui.Right(fmt.Sprint(i+1), 5))
		lines = append(lines, num+" "+th.Paint(role, mark)+"  "+ui.Clean(field.Written))
		lines = append(lines, pair(th, margin, raw(field), field.Value, w)...)
		why := strings.Trim(field.Rule+": "+field.Why, ": ")
		if len(field.Evidence) > 0 {
			why = strings.Trim(place(field.Evidence[0])+" · "+why, "· ")
		}
		lines = append(lines, wrapped(th, margin, ui.Muted, why, w)...)
	}
	if same > 0 {
		text := fmt.Sprintf("      ✓ %d more fields of this file are written as they were read", same)
		lines = append(lines, "", th.Paint(ui.OK, text))
	}
	return lines, first
}

// raw is what was read for a field, with its name.
func raw(f porter.Field) string {
	if len(f.Evidence) == 0 {
		return ""
	}
	e := f.Evidence[0]
	if e.Raw == "" || e.Key == "" || strings.HasPrefix(e.Raw, e.Key) {
		return e.Raw
	}
	return e.Key + " " + e.Raw
}

// proofLines are the proof: what each old launch line gave its worker, against what
// the new job gives it.
func (f *files) proofLines(th ui.Theme, w int) (lines []string, first int) {
	p := &f.res.Proof
	text, role := verdict(p)
	lines = wrapped(th, " ", role, text, w)
	for _, l := range p.Lines {
		who := l.Launches[0]
		if n := len(l.Launches); n > 1 {
			who += fmt.Sprintf(" and %d more like it", n-1)
		}
		sums := fmt.Sprintf("  now %s · %d unchanged, %d changed", ui.Clean(l.Step), l.Unchanged, len(l.Differences))
		lines = append(lines, "", " "+th.Title.Render(ui.Clean(who))+th.Paint(ui.Muted, sums))
		for _, d := range l.Grouped() {
			lines = append(lines, difference(th, d, w)...)
		}
	}
	return lines, 0
}

// difference draws one that a rule has made.
func difference(th ui.Theme, d porter.ProofRow, w int) []string {
	const margin = "                  "
	name := d.Name
	if d.To != "" {
		name += " → " + d.To
	}
	lines := wrapped(th, margin, ui.Plain, name, w)
	if len(lines) > 0 {
		lines[0] = "   " + th.Paint(ui.Muted, ui.Fit(d.Kind, 8)+ui.Fit(d.What, 7)) + strings.TrimLeft(lines[0], " ")
	}
	lines = append(lines, pair(th, margin, d.Old, d.New, w)...)
	if d.Rule == "" {
		return append(lines, wrapped(th, margin, ui.Bad, "UNEXPLAINED: a bug in the porter", w)...)
	}
	return append(lines, wrapped(th, margin, ui.Muted, d.Rule, w)...)
}

// verdict is the proof in a line.
func verdict(p *porter.Proof) (string, ui.Role) {
	switch {
	case p.Problem != "":
		return "⚠ " + p.Summary(), ui.Warn
	case len(p.Unexplained()) > 0:
		return "✗ " + p.Summary(), ui.Bad
	}
	return "✓ " + p.Summary(), ui.OK
}

// targetDiff compares the files that are there with those that would be written.
func targetDiff(targets []session.Target) *sheet {
	return &sheet{title: "there already", write: func(th ui.Theme, w int) (lines []string, first int) {
		for _, t := range targets {
			text, role := standing(t)
			lines = append(lines, wrapped(th, " ", role, t.Path+": "+text, w)...)
			for _, d := range t.Diff {
				role := cmp.Or(diffRoles[d[:min(len(d), 1)]], ui.Muted)
				lines = append(lines, "   "+th.Paint(role, ui.Fit(ui.Clean(d), max(w-4, 1))))
			}
			lines = append(lines, "")
		}
		return lines, 0
	}}
}

// diffRoles are the roles of a difference's lines, by how they begin.
var diffRoles = map[string]ui.Role{"+": ui.OK, "-": ui.Bad, "@": ui.Accent}

// standing says what a file that would be written means for what is there.
func standing(t session.Target) (string, ui.Role) {
	switch {
	case t.Problem != "" && t.Exists:
		return "is there: " + t.Problem, ui.Warn
	case t.Problem != "":
		return t.Problem, ui.Bad
	case t.Same:
		return "is there and the same", ui.Muted
	case t.Exists:
		return fmt.Sprintf("is there: +%d −%d lines", t.Added, t.Removed), ui.Warn
	}
	return "new", ui.OK
}

// lit draws a text in lines of w cells with the bytes between from and to lit, in at
// most n lines, up to the one in which the byte enough is passed.
func lit(th ui.Theme, role ui.Role, text string, from, to, w, n, enough int) []string {
	var out []string
	for at := 0; at < min(len(text), enough) && len(out) < n; {
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
