package edit

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// problem is a finding with the text that it is in.
type problem struct {
	recipes.Diagnostic
	side side
}

func (p problem) role() ui.Role {
	roles := map[recipes.Severity]ui.Role{recipes.Error: ui.Bad, recipes.Warning: ui.Warn, recipes.Note: ui.Muted}
	return roles[p.Severity]
}

// sign is the mark of its severity in its colour.
func (p problem) sign(th ui.Theme) string { return th.Paint(p.role(), ui.Sign(p.role())) }

// listed orders findings for the list: errors first, then warnings, then notes,
// each in the order of the files.
func listed(ds recipes.Diagnostics, recipePath, workloadPath string) []problem {
	out := make([]problem, 0, len(ds))
	for _, d := range ds.BySeverity() {
		p := problem{d, elsewhere}
		switch d.File {
		case recipePath:
			p.side = recipe
		case workloadPath:
			p.side = workload
		}
		out = append(out, p)
	}
	return out
}

// marks are the worst findings of each line of a text, by line from 0.
func marks(ps []problem, of side) map[int]ui.Role {
	out := map[int]ui.Role{}
	for _, p := range ps {
		if _, ok := out[p.Line-1]; !ok && p.side == of && p.Line > 0 { // errors come first
			out[p.Line-1] = p.role()
		}
	}
	return out
}

// problemList is the list of what is wrong, with a cursor.
type problemList struct {
	items []problem
	at    int
}

func (l *problemList) set(items []problem) {
	l.items = items
	l.move(0)
}

func (l *problemList) move(by int) { l.at = max(min(l.at+by, len(l.items)-1), 0) }

// current is the problem under the cursor.
func (l *problemList) current() (problem, bool) {
	if l.at < len(l.items) {
		return l.items[l.at], true
	}
	return problem{}, false
}

// next goes to the problem under the cursor, or the one after it if it is the one
// on this line, from 0, of a text.
func (l *problemList) next(of side, line int) (asks tea.Msg) {
	p, ok := l.current()
	if !ok {
		return nil
	}
	if p.side == of && p.Line == line+1 {
		l.at = (l.at + 1) % len(l.items)
	}
	return l.items[l.at].place()
}

// on are the problems of a line, from 0, of a text.
func (l *problemList) on(of side, line int) (out []problem) {
	for _, p := range l.items {
		if p.side == of && p.Line == line+1 {
			out = append(out, p)
		}
	}
	return out
}

func (l *problemList) count() (errors, warnings int) {
	for _, p := range l.items {
		switch p.Severity {
		case recipes.Error:
			errors++
		case recipes.Warning:
			warnings++
		}
	}
	return errors, warnings
}

// Key handles a key: it may ask to go to the problem, or to fix it.
func (l *problemList) Key(msg tea.KeyPressMsg) (asks tea.Msg) {
	p, ok := l.current()
	switch {
	case key.Matches(msg, upKey):
		l.move(-1)
	case key.Matches(msg, downKey):
		l.move(1)
	case key.Matches(msg, goKey) && ok:
		return p.place()
	case key.Matches(msg, makeKey) && p.fixable():
		return p.fix()
	case key.Matches(msg, makeKey):
		return ui.Toast{Text: "this one needs a person: enter goes there", Role: ui.Muted}
	}
	return nil
}

// place is where the problem is; nil if that is in neither text.
func (p problem) place() tea.Msg {
	if p.side == elsewhere || p.Line < 1 {
		return nil
	}
	return goToMsg{p.side, ui.Pos{Line: p.Line - 1, Col: max(p.Column-1, 0)}}
}

// top is the first item in view in h rows.
func (l *problemList) top(h int) int { return max(min(l.at-h/2, len(l.items)-h), 0) }

// click goes to the problem in a row of the list that is drawn in h rows.
func (l *problemList) click(y, h int) (asks tea.Msg) {
	if i := l.top(h) + y; i < len(l.items) {
		l.at = i
		return l.items[i].place()
	}
	return nil
}

// View draws the list; the cursor only if it is focused.
func (l *problemList) View(th ui.Theme, w, h int, focused bool) string {
	lines := make([]string, 0, h)
	for i := l.top(h); i < len(l.items) && len(lines) < h; i++ {
		p := l.items[i]
		text := ui.Clean(p.Message)
		if p.Path != "" {
			text = ui.Clean(p.Path) + ": " + text
		}
		mark := "  "
		if i == l.at && focused {
			mark, text = th.Paint(ui.Accent, "▸ "), th.Selected.Render(text)
		}
		where := th.Paint(ui.Muted, ui.Fit(fmt.Sprintf("%s:%d", p.side, p.Line), 12))
		lines = append(lines, ui.Fit(mark+p.sign(th)+" "+where+" "+text, w))
	}
	return ui.Box(strings.Join(lines, "\n"), w, h)
}
