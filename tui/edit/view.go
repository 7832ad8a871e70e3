package edit

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// View draws the body.
func (s *Screen) View() string {
	b := s.boxes
	if s.w <= 0 || s.h <= 0 {
		return ""
	}
	parts := []string{ui.Box(s.barText(), b.bar.w, b.bar.h), s.th.Line(s.w), s.tabs()}
	if b.text[recipe].h > 0 {
		parts = append(parts, s.texts())
	}
	parts = append(parts, s.th.Line(s.w))
	if b.list.h > 0 {
		parts = append(parts, s.bottom())
	}
	return s.over(strings.Join(parts, "\n"))
}

// over lays what is open on top over the body.
func (s *Screen) over(body string) string {
	if s.comp != nil && s.focus == onText {
		r, box := s.boxes.text[s.active], s.compBox()
		x, y := s.sides[s.active].text.CaretCell()
		x, y = r.x+x-s.comp.typed-2, r.y+y+1
		if h := strings.Count(box, "\n") + 1; y+h > s.h { // above the line
			y -= h + 1
		}
		body = ui.Put(body, box, x, y, s.w)
	}
	if s.reading {
		body = ui.Centre(body, s.docBox(s.w, s.h), s.w, s.h)
	}
	if s.menu != nil {
		box := s.menu.Menu
		if s.menu.cold { // says how to answer once an answer is taken
			box.Foot = " "
		}
		body = ui.Centre(body, box.Draw(s.th, s.w, s.h), s.w, s.h)
	}
	return body
}

// texts are the texts in view, or one with the description of its field.
func (s *Screen) texts() string {
	sep := s.th.Rule.Render(" │ ")
	r := s.boxes.text[recipe]
	switch {
	case s.diff != nil:
		return s.diffText(s.w, r.h)
	case s.boxes.both && s.form.on:
		return s.formText(s.w, r.h)
	case s.boxes.both:
		return ui.Beside(sep, s.text(recipe), s.text(workload))
	}
	main := s.text(s.active)
	if s.form.on {
		main = s.formText(r.w, r.h)
	}
	if s.boxes.doc.h > 1 {
		return ui.Beside(sep, main, ui.Box(strings.Join(s.doc(s.boxes.doc.w), "\n"), s.boxes.doc.w, s.boxes.doc.h))
	}
	return main
}

func (s *Screen) text(which int) string {
	f, r := &s.sides[which], s.boxes.text[which]
	switch {
	case f.err != nil:
		lines := ui.Wrap(f.err.Error(), r.w-4)
		return ui.Box("\n  "+s.th.Paint(ui.Bad, strings.Join(lines, "\n  ")), r.w, r.h)
	case !f.loaded:
		return ui.Box("\n  "+s.th.Paint(ui.Muted, "reading "+ui.Clean(f.path)+" …"), r.w, r.h)
	}
	return f.text.Draw(s.th, which == s.active && s.focus == onText)
}

// tabs name the texts; a dot marks one that is not saved.
func (s *Screen) tabs() string {
	if s.find.on {
		return s.findLine()
	}
	title := func(which int) string {
		f := &s.sides[which]
		name := f.name()
		if which == s.active {
			name = s.th.Title.Render(ui.Clean(name))
		} else {
			name = s.th.Paint(ui.Muted, ui.Clean(name))
		}
		if f.unsaved {
			name += s.th.Paint(ui.Warn, " ●")
		}
		if f.theirs != nil {
			name += s.th.Paint(ui.Warn, " ⚠ changed on disk")
		}
		return " " + name
	}
	if s.boxes.both {
		l, r := s.boxes.text[recipe].w, s.boxes.text[workload].w
		return ui.Fit(title(recipe), l) + s.th.Rule.Render(" │ ") + ui.Fit(title(workload), r)
	}
	line := title(recipe)
	if s.sides[workload].path != "" {
		line += s.th.Rule.Render("  │ ") + title(workload)
	}
	if s.form.on || s.diff != nil || !s.sides[s.active].loaded {
		return ui.Fit(line, s.w)
	}
	at := s.sides[s.active].text.Cursor()
	return ui.Ends(line, s.th.Paint(ui.Muted, fmt.Sprintf("line %d ", at.Line+1)), s.w)
}

// barText is the timeout rule: both sides, what is left or lacks, and below it
// what would make it hold.
func (s *Screen) barText() string {
	c, ok := s.bar.binding()
	if !ok {
		why := s.bar.why
		switch {
		case s.sides[recipe].err != nil:
			why = "no recipe is read"
		case s.barAt == versions{}:
			why = "…"
		}
		return " " + s.th.Paint(ui.Muted, "phase timeout  ") + s.th.Paint(ui.Warn, "? unknown: ") + ui.Clean(why)
	}
	if !c.Known {
		return " " + s.th.Paint(ui.Muted, "phase timeout  ") + s.th.Paint(ui.Warn, "? unknown: "+strings.Join(c.Unknown, ", ")+" is no valid number") +
			"\n " + s.th.Paint(ui.Muted, "needs "+c.Formula)
	}
	return s.rule(c) + "\n" + s.consequence(c)
}

func (s *Screen) rule(c recipes.TimeoutCheck) string {
	op, verdict := "≥", s.th.Paint(ui.OK, "✓ slack "+seconds(c.Slack))
	if !c.OK {
		op, verdict = "<", s.th.Paint(ui.Bad, "✗ short by "+seconds(-c.Slack))
	}
	sum := fmt.Sprintf("%s %s %s = %s", number(c.Timeout), op, c.Formula, number(c.Need))
	levels := fmt.Sprintf("level %d", c.Level)
	if n := len(s.bar.checks); n > 1 {
		levels = fmt.Sprintf("binding level %d of %d", c.Level, n)
	}
	long := " " + s.th.Paint(ui.Muted, "phase timeout  ") + sum + "   " + verdict
	right := s.th.Paint(ui.Muted, levels) + " "
	switch {
	case ui.Width(long)+ui.Width(right) < s.w:
		return ui.Ends(long, right, s.w)
	case ui.Width(long) <= s.w:
		return long
	}
	return " " + verdict + "  " + sum
}

// consequence is what follows: the fixes, or what is left for the measurement.
func (s *Screen) consequence(c recipes.TimeoutCheck) string {
	if c.OK {
		text := number(c.Measurement) + " s left for the measurement"
		if len(c.Assumed) > 0 {
			text += " · assumed, not in the file: " + strings.Join(c.Assumed, ", ")
		}
		return " " + s.th.Paint(ui.Muted, text)
	}
	hint := s.th.Key.Render("ctrl+f") + s.th.KeyText.Render(" apply ")
	parts := make([]string, len(c.Fixes))
	for i, k := range c.Fixes {
		parts[i] = short(k)
	}
	line := " " + s.th.Paint(ui.Muted, "fix ")
	for i, p := range parts {
		sep, rest := "", ""
		if i > 0 {
			sep = s.th.Rule.Render(" · ")
		}
		if n := len(parts) - i - 1; n > 0 {
			rest = fmt.Sprintf(" +%d", n)
		}
		if i > 0 && ui.Width(line+sep+p+rest)+ui.Width(hint)+2 > s.w {
			line += s.th.Paint(ui.Muted, fmt.Sprintf(" +%d", len(parts)-i))
			break
		}
		line += sep + p
	}
	return ui.Ends(line, hint, s.w)
}

// short is a fix with the name that fits into a line with four others.
func short(k recipes.Knob) string {
	names := map[string]string{
		"phase_timeout_seconds": "timeout", "user_spawn_rate": "rate", "settling_time_seconds": "settle",
		"min_measurement_seconds": "measure", "concurrency": "users",
	}
	name, ok := names[k.Key]
	if !ok {
		name = k.Key
	}
	return name + " " + k.Op + " " + k.Value
}

func number(f float64) string {
	s := fmt.Sprintf("%.3f", f)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func seconds(f float64) string { return number(f) + " s" }

// bottom is the list of problems, with the description of the field beside or
// above it.
func (s *Screen) bottom() string {
	b := s.boxes
	list := s.list()
	switch {
	case b.both:
		return ui.Beside(s.th.Rule.Render(" │ "), list, ui.Box(strings.Join(s.doc(b.doc.w), "\n"), b.doc.w, b.doc.h))
	case b.doc.h == 1:
		return ui.Fit(" "+strings.Join(s.docLine(), "  "), s.w) + "\n" + list
	}
	return list
}

// listTop is the first row of the list that is drawn.
func listTop(cursor, n, h int) int { return max(min(cursor-h/2, n-h), 0) }

func (s *Screen) list() string {
	r := s.boxes.list
	switch {
	case s.checkErr != nil:
		return ui.Box(" "+s.th.Paint(ui.Bad, "✗ not checked: "+ui.Clean(s.checkErr.Error())), r.w, r.h)
	case !s.sides[recipe].loaded:
		return ui.Box(" "+s.th.Paint(ui.Muted, "nothing is checked without a recipe"), r.w, r.h)
	case len(s.problems) == 0 && s.checkAt == versions{}:
		return ui.Box(" "+s.th.Paint(ui.Muted, "checking …"), r.w, r.h)
	case len(s.problems) == 0:
		return ui.Box(" "+s.th.Paint(ui.OK, "✓ no problems"), r.w, r.h)
	}
	top := listTop(s.cursor, len(s.problems), r.h)
	lines := make([]string, 0, r.h)
	for i := top; i < len(s.problems) && len(lines) < r.h; i++ {
		p := s.problems[i]
		sign := s.th.Paint(p.role(), ui.Sign(p.role()))
		where := fmt.Sprintf("%s:%d", textOf(p), p.Line)
		text := ui.Clean(p.Message)
		if p.Path != "" {
			text = ui.Clean(p.Path) + ": " + text
		}
		mark := "  "
		if i == s.cursor && s.focus == onProblems {
			mark = s.th.Paint(ui.Accent, "▸ ")
			text = s.th.Selected.Render(text)
		}
		lines = append(lines, ui.Fit(mark+sign+" "+s.th.Paint(ui.Muted, ui.Fit(where, 12))+" "+text, r.w))
	}
	return ui.Box(strings.Join(lines, "\n"), r.w, r.h)
}

// textOf names the text of a problem in a word.
func textOf(p problem) string {
	switch p.side {
	case recipe:
		return "recipe"
	case workload:
		return "workload"
	}
	return "cluster"
}
