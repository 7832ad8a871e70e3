package edit

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// finding is a diagnostic with the text that it is in.
type finding struct {
	recipes.Diagnostic
	side side
}

func (p finding) role() ui.Role {
	roles := map[recipes.Severity]ui.Role{recipes.Error: ui.Bad, recipes.Warning: ui.Warn, recipes.Note: ui.Muted}
	return roles[p.Severity]
}

// sign returns the mark of the severity in its color.
func (p finding) sign(th ui.Theme) string { return th.Paint(p.role(), ui.Sign(p.role())) }

// sortFindings returns findings in the order of the list: errors, warnings, notes, each in
// the order of the files.
func sortFindings(ds recipes.Diagnostics, recipePath, workloadPath string) []finding {
	out := make([]finding, 0, len(ds))
	for _, d := range ds.BySeverity() {
		p := finding{d, otherFile}
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

// lineMarks returns the role of the most severe finding of each line of a text. Lines count from 0.
func lineMarks(ps []finding, which side) map[int]ui.Role {
	out := map[int]ui.Role{}
	for _, p := range ps {
		if _, ok := out[p.Line-1]; !ok && p.side == which && p.Line > 0 { // errors come first
			out[p.Line-1] = p.role()
		}
	}
	return out
}

// problemList is the list of findings with a cursor.
type problemList struct {
	items  []finding
	cursor int
}

func (l *problemList) set(items []finding) {
	l.items = items
	l.move(0)
}

func (l *problemList) move(by int) { l.cursor = max(min(l.cursor+by, len(l.items)-1), 0) }

// current returns the finding under the cursor.
func (l *problemList) current() (finding, bool) {
	if l.cursor < len(l.items) {
		return l.items[l.cursor], true
	}
	return finding{}, false
}

// goToNext returns the message that goes to the finding under the cursor, or to the next one
// if the text is already at that line. Lines count from 0.
func (l *problemList) goToNext(which side, line int) (request tea.Msg) {
	p, ok := l.current()
	if !ok {
		return nil
	}
	if p.side == which && p.Line == line+1 {
		l.cursor = (l.cursor + 1) % len(l.items)
	}
	return l.items[l.cursor].goToMsg()
}

// onLine returns the findings on a line of a text. Lines count from 0.
func (l *problemList) onLine(which side, line int) (out []finding) {
	for _, p := range l.items {
		if p.side == which && p.Line == line+1 {
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

// Key handles a key. It may return a message that goes to a finding or fixes it.
func (l *problemList) Key(msg tea.KeyPressMsg) (request tea.Msg) {
	p, ok := l.current()
	switch {
	case key.Matches(msg, upKey):
		l.move(-1)
	case key.Matches(msg, downKey):
		l.move(1)
	case key.Matches(msg, goKey) && ok:
		return p.goToMsg()
	case key.Matches(msg, fixThisKey) && p.fixable():
		return p.fixMsg()
	case key.Matches(msg, fixThisKey):
		return ui.Toast{Text: "no suggested change; enter goes to the line", Role: ui.Muted}
	}
	return nil
}

// goToMsg returns the message that goes to the finding; nil if it is in neither text.
func (p finding) goToMsg() tea.Msg {
	if p.side == otherFile || p.Line < 1 {
		return nil
	}
	return goToMsg{p.side, ui.Pos{Line: p.Line - 1, Col: max(p.Column-1, 0)}}
}

// top returns the index of the first visible finding.
func (l *problemList) top(h int) int { return max(min(l.cursor-h/2, len(l.items)-h), 0) }

// click returns the message that goes to the finding in row y of h rows.
func (l *problemList) click(y, h int) (request tea.Msg) {
	if i := l.top(h) + y; i < len(l.items) {
		l.cursor = i
		return l.items[i].goToMsg()
	}
	return nil
}

// View draws the list, with its cursor if it has the focus.
func (l *problemList) View(th ui.Theme, w, h int, focused bool) string {
	lines := make([]string, 0, h)
	for i := l.top(h); i < len(l.items) && len(lines) < h; i++ {
		p := l.items[i]
		text := ui.Clean(p.Message)
		if p.Path != "" {
			text = ui.Clean(p.Path) + ": " + text
		}
		mark := "  "
		if i == l.cursor && focused {
			mark, text = th.Paint(ui.Accent, "▸ "), th.Selected.Render(text)
		}
		where := th.Paint(ui.Muted, ui.Fit(fmt.Sprintf("%s:%d", p.side, p.Line), 12))
		lines = append(lines, ui.Fit(mark+p.sign(th)+" "+where+" "+text, w))
	}
	return ui.Box(strings.Join(lines, "\n"), w, h)
}
