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
		rule.unknown = "recipe not loaded"
	}
	tabs := ""
	switch d := s.texts.activeDoc(); {
	case s.finder.active:
		tabs = s.finder.View(s.th, b.all.w)
	case s.form.active || s.diff != nil || !d.loaded:
		tabs = s.texts.tabs(s.th, b, "")
	default:
		tabs = s.texts.tabs(s.th, b, fmt.Sprintf("line %d ", d.text.Cursor().Line+1))
	}
	parts := []string{ui.Box(rule.View(s.th, b.bar.w), b.bar.w, b.bar.h), s.th.RuleLine(b.all.w), tabs}
	if b.text[recipe].h > 0 {
		parts = append(parts, s.drawMain())
	}
	parts = append(parts, s.th.RuleLine(b.all.w))
	if b.list.h > 0 {
		parts = append(parts, s.drawBottom())
	}
	return s.drawOverlays(strings.Join(parts, "\n"))
}

// drawOverlays draws the panes that are open on top over the body.
func (s *Screen) drawOverlays(body string) string {
	w, h := s.boxes.all.w, s.boxes.all.h
	if s.completion != nil && !s.form.active && s.focus == onText {
		r, box := s.boxes.text[s.texts.active], s.completion.View(s.th, w)
		x, y := s.texts.activeDoc().text.CursorCell()
		x, y = r.x+x-s.completion.prefixLen-2, r.y+y+1
		if rows := strings.Count(box, "\n") + 1; y+rows > h { // above the line
			y -= rows + 1
		}
		body = ui.Overlay(body, box, x, y, w)
	}
	if s.describing {
		body = ui.OverlayCentred(body, s.describeLine().framed(s.th, w, h), w, h)
	}
	if s.question != nil {
		body = ui.OverlayCentred(body, s.question.View(s.th, w, h), w, h)
	}
	return body
}

// drawMain draws the texts in view, with the description of the field if there is room;
// or the form or the comparison instead.
func (s *Screen) drawMain() string {
	b := s.boxes
	text := func(which side) string {
		focused := which == s.texts.active && s.focus == onText && !s.form.active
		return s.texts.docs[which].View(s.th, b.text[which], focused)
	}
	var main string
	switch {
	case s.diff != nil:
		return s.diff.View(s.th)
	case s.form.active && b.sideBySide:
		return s.form.View(s.th, b.all.w, b.text[recipe].h, b, &s.problems)
	case s.form.active:
		main = s.form.View(s.th, b.text[recipe].w, b.text[recipe].h, b, &s.problems)
	case b.sideBySide:
		return s.th.Beside(text(recipe), text(workload))
	default:
		main = text(s.texts.active)
	}
	if b.desc.h > 1 {
		main = s.th.Beside(main, s.describeLine().View(s.th, b.desc.w, b.desc.h))
	}
	return main
}

// drawBottom draws the list of problems, with the description of the field beside or above it.
func (s *Screen) drawBottom() string {
	b := s.boxes
	message := func(r ui.Role, text string) string { return ui.Box(" "+s.th.Paint(r, text), b.list.w, b.list.h) }
	var list string
	switch {
	case s.checks.err != nil:
		list = message(ui.Bad, "✗ not checked: "+ui.Clean(s.checks.err.Error()))
	case !s.texts.docs[recipe].loaded:
		list = message(ui.Muted, "no recipe loaded")
	case len(s.problems.items) > 0:
		list = s.problems.View(s.th, b.list.w, b.list.h, s.focus == onProblems && !s.form.active)
	case s.checks.checkedVersions == versions{}:
		list = message(ui.Muted, "checking …")
	default:
		list = message(ui.OK, "✓ no problems")
	}
	switch {
	case b.sideBySide:
		return s.th.Beside(list, s.describeLine().View(s.th, b.desc.w, b.desc.h))
	case b.desc.h == 1:
		return ui.Fit(" "+s.describeLine().line(s.th), b.all.w) + "\n" + list
	}
	return list
}
