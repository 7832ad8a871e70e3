package port

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// compare opens what was read against what is written: field by field, or launch
// line by launch line.
func (s *Screen) compare(launches bool) {
	sh := &sheet{title: "raw against written", write: s.fieldDiff, differing: true, launchings: launches}
	if launches {
		sh.title, sh.write = "old launch lines against the new job", s.launchDiff
	}
	s.open(sh)
}

// pair draws an old and a new text one below the other, with lit what differs.
func (s *Screen) pair(margin, old, now string, w int) []string {
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
		for i, l := range lit(s.th, side.role, side.text, head, middle, w-ui.Width(margin)-3) {
			sign := side.sign
			if i > 0 {
				sign = "  "
			}
			out = append(out, margin+s.th.Paint(side.role, sign)+l)
		}
	}
	return out
}

// common is how many bytes two texts share at the start and at the end, cut at
// whole characters.
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

// fieldDiff compares, for each field of the file that is no plain copy, what was
// read with what is written.
func (s *Screen) fieldDiff(w int) (lines []string, first int) {
	doc := s.written.docs[s.doc]
	same := 0
	for i, l := range doc.lines {
		if !l.first {
			continue
		}
		f := s.field(l)
		here := i == s.at[s.doc]
		if f.Class == porter.Copied && !here {
			same++
			continue
		}
		if i <= s.at[s.doc] {
			first = len(lines)
		}
		mark, role := letter(f.Class)
		num := ui.Right(fmt.Sprint(i+1), 5)
		if here {
			num = s.th.Paint(ui.Accent, num)
		} else {
			num = s.th.Paint(ui.Muted, num)
		}
		lines = append(lines, num+" "+s.th.Paint(role, mark)+"  "+ui.Clean(f.Written))
		lines = append(lines, s.pair("         ", raw(f), f.Value, w)...)
		why := strings.Trim(f.Rule+": "+f.Why, ": ")
		if len(f.Evidence) > 0 {
			why = strings.Trim(place(f.Evidence[0])+" · "+why, "· ")
		}
		lines = append(lines, s.wrapped("         ", ui.Muted, why, w)...)
	}
	if same > 0 {
		lines = append(lines, "", s.th.Paint(ui.OK, fmt.Sprintf("      ✓ %d more fields of this file are written as they were read", same)))
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

// place is where a piece of evidence stands.
func place(e porter.Evidence) string {
	if e.Line == 0 {
		return e.Artifact
	}
	return fmt.Sprintf("%s:%d", e.Artifact, e.Line)
}

// launchDiff is the proof: what each old launch line gave its worker, against what
// the new job gives it.
func (s *Screen) launchDiff(w int) (lines []string, first int) {
	p := &s.written.res.Proof
	text, role := verdict(p)
	lines = s.wrapped(" ", role, text, w)
	for _, l := range p.Lines {
		who := l.Launches[0]
		if n := len(l.Launches); n > 1 {
			who += fmt.Sprintf(" and %d alike", n-1)
		}
		lines = append(lines, "", " "+s.th.Title.Render(ui.Clean(who))+s.th.Paint(ui.Muted, fmt.Sprintf("  now %s · %d kept, %d differ", ui.Clean(l.Step), l.Kept, len(l.Differences))))
		for _, d := range l.Grouped() {
			name := d.Name
			if d.To != "" {
				name += " → " + d.To
			}
			head := s.wrapped("                  ", ui.Plain, name, w)
			if len(head) > 0 {
				head[0] = "   " + s.th.Paint(ui.Muted, ui.Fit(d.Kind, 8)+ui.Fit(d.What, 7)) + strings.TrimLeft(head[0], " ")
			}
			lines = append(lines, head...)
			lines = append(lines, s.pair("                  ", d.Old, d.New, w)...)
			rule, role := d.Rule, ui.Muted
			if rule == "" {
				rule, role = "NO RULE: an error of the porter", ui.Bad
			}
			lines = append(lines, s.wrapped("                  ", role, rule, w)...)
		}
	}
	return lines, 0
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
func (s *Screen) targetDiff(targets []session.Target) func(w int) ([]string, int) {
	return func(w int) (lines []string, first int) {
		for _, t := range targets {
			text, role := standing(t)
			lines = append(lines, s.wrapped(" ", role, t.Path+": "+text, w)...)
			for _, d := range t.Diff {
				lines = append(lines, "   "+s.th.Paint(diffRole(d), ui.Fit(ui.Clean(d), max(w-4, 1))))
			}
			lines = append(lines, "")
		}
		return lines, 0
	}
}

func diffRole(line string) ui.Role {
	switch line[:min(len(line), 1)] {
	case "+":
		return ui.OK
	case "-":
		return ui.Bad
	case "@":
		return ui.Accent
	}
	return ui.Muted
}

// standing says what a file that would be written means for what is there.
func standing(t session.Target) (string, ui.Role) {
	switch {
	case t.Problem != "" && t.There:
		return "is there: " + t.Problem, ui.Warn
	case t.Problem != "":
		return t.Problem, ui.Bad
	case t.Same:
		return "is there and the same", ui.Muted
	case t.There:
		return fmt.Sprintf("is there: +%d −%d lines", t.Added, t.Removed), ui.Warn
	}
	return "new", ui.OK
}

// lit draws a text in lines of w cells, with the bytes between from and to lit.
func lit(th ui.Theme, role ui.Role, text string, from, to, w int) []string {
	var out []string
	for at := 0; at < len(text); {
		piece := ansi.Truncate(text[at:], max(w, 2), "")
		if piece == "" {
			break
		}
		end := at + len(piece)
		a, b := min(max(from, at), end), min(max(to, at), end)
		out = append(out, th.Paint(ui.Muted, text[at:a])+th.Style(role).Bold(true).Render(text[a:b])+th.Paint(ui.Muted, text[b:end]))
		at = end
	}
	return out
}
