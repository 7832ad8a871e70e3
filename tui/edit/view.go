package edit

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// View draws the body.
func (s *Screen) View() string {
	b := s.boxes
	if b.all.w <= 0 || b.all.h <= 0 {
		return ""
	}
	rule := s.checks.rule
	if s.texts.docs[recipe].err != nil {
		rule.why = "no recipe is read"
	}
	tabs := ""
	switch d := s.texts.doc(); {
	case s.finder.on:
		tabs = s.finder.View(s.th, b.all.w)
	case s.form.on || s.diff != nil || !d.loaded:
		tabs = s.texts.tabs(s.th, b, "")
	default:
		tabs = s.texts.tabs(s.th, b, fmt.Sprintf("line %d ", d.text.Cursor().Line+1))
	}
	parts := []string{ui.Box(rule.View(s.th, b.bar.w), b.bar.w, b.bar.h), s.th.RuleLine(b.all.w), tabs}
	if b.text[recipe].h > 0 {
		parts = append(parts, s.main())
	}
	parts = append(parts, s.th.RuleLine(b.all.w))
	if b.list.h > 0 {
		parts = append(parts, s.bottom())
	}
	return s.over(strings.Join(parts, "\n"))
}

// over lays what is open on top over the body.
func (s *Screen) over(body string) string {
	w, h := s.boxes.all.w, s.boxes.all.h
	if s.comp != nil && !s.form.on && s.focus == onText {
		r, box := s.boxes.text[s.texts.active], s.comp.View(s.th, w)
		x, y := s.texts.doc().text.CaretCell()
		x, y = r.x+x-s.comp.typed-2, r.y+y+1
		if rows := strings.Count(box, "\n") + 1; y+rows > h { // above the line
			y -= rows + 1
		}
		body = ui.Overlay(body, box, x, y, w)
	}
	if s.reading {
		body = ui.OverlayCentred(body, s.describe().framed(s.th, w, h), w, h)
	}
	if s.question != nil {
		body = ui.OverlayCentred(body, s.question.View(s.th, w, h), w, h)
	}
	return body
}

// main is the texts in view, or one with the description of its field; the form or
// the comparison takes their place.
func (s *Screen) main() string {
	b := s.boxes
	text := func(of side) string {
		focused := of == s.texts.active && s.focus == onText && !s.form.on
		return s.texts.docs[of].View(s.th, b.text[of], focused)
	}
	var main string
	switch {
	case s.diff != nil:
		return s.diff.View(s.th)
	case s.form.on && b.both:
		return s.form.View(s.th, b.all.w, b.text[recipe].h, b, &s.problems)
	case s.form.on:
		main = s.form.View(s.th, b.text[recipe].w, b.text[recipe].h, b, &s.problems)
	case b.both:
		return s.th.Beside(text(recipe), text(workload))
	default:
		main = text(s.texts.active)
	}
	if b.doc.h > 1 {
		main = s.th.Beside(main, s.describe().View(s.th, b.doc.w, b.doc.h))
	}
	return main
}

// bottom is the list of problems, with the description of the field beside or above it.
func (s *Screen) bottom() string {
	b := s.boxes
	say := func(r ui.Role, text string) string { return ui.Box(" "+s.th.Paint(r, text), b.list.w, b.list.h) }
	var list string
	switch {
	case s.checks.err != nil:
		list = say(ui.Bad, "✗ not checked: "+ui.Clean(s.checks.err.Error()))
	case !s.texts.docs[recipe].loaded:
		list = say(ui.Muted, "nothing is checked without a recipe")
	case len(s.problems.items) > 0:
		list = s.problems.View(s.th, b.list.w, b.list.h, s.focus == onProblems && !s.form.on)
	case s.checks.checkAt == versions{}:
		list = say(ui.Muted, "checking …")
	default:
		list = say(ui.OK, "✓ no problems")
	}
	switch {
	case b.both:
		return s.th.Beside(list, s.describe().View(s.th, b.doc.w, b.doc.h))
	case b.doc.h == 1:
		return ui.Fit(" "+s.describe().line(s.th), b.all.w) + "\n" + list
	}
	return list
}
