package edit

import (
	"fmt"
	"slices"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes/merge"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// diffBase is what a text is compared with.
type diffBase int

const (
	baseDisk diffBase = iota // the file on disk
	basePort                 // the text as it was ported, from the port report
)

// diffView shows how a text differs from its base. While it is open, it gets all keys.
type diffView struct {
	diffMsg
	name string         // of the text
	view viewport.Model // of the rows
}

// diffRow is a line of the comparison, or the number of unchanged lines that are hidden.
type diffRow struct {
	merge.Line
	hidden int
}

// diffMsg is the result of a comparison.
type diffMsg struct {
	side           side
	base           diffBase
	rows           []diffRow // nil until compared
	added, removed int
	err            error
}

// compareMsg starts a comparison.
type compareMsg struct {
	side side
	base diffBase
}

// compareWith compares a text with its file or with the ported text; nil if the text is not loaded.
func (p *pair) compareWith(which side, with diffBase) (*diffView, tea.Cmd) {
	d := &p.docs[which]
	if !d.loaded {
		return nil, nil
	}
	ctx, eng, port, disk, text := d.ctx, d.eng, p.docs[recipe].file, d.disk, d.text.Text()
	m := diffMsg{side: which, base: with}
	return &diffView{diffMsg: m, name: d.name(), view: viewport.New()}, func() tea.Msg {
		old := disk
		if with == basePort {
			var texts [2]string
			if texts[recipe], texts[workload], m.err = eng.Ported(ctx, port); m.err != nil {
				return m
			}
			if old = texts[which]; old == "" {
				m.err = problem.Errorf(problem.ReportInvalid,
					"compare %s with the port: the port report does not contain its text; port again", which)
				return m
			}
		}
		lines := merge.Compare(old, text)
		for _, l := range lines {
			switch l.Op {
			case merge.Added:
				m.added++
			case merge.Removed:
				m.removed++
			}
		}
		m.rows = collapseUnchanged(lines)
		return m
	}
}

// contextLines is the number of unchanged lines shown around a change.
const contextLines = 3

// collapseUnchanged hides unchanged lines that are not near a change.
func collapseUnchanged(lines []merge.Line) []diffRow {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Op != merge.Unchanged {
			for j := max(i-contextLines, 0); j < min(i+contextLines+1, len(lines)); j++ {
				near[j] = true
			}
		}
	}
	rows := []diffRow{}
	for i, l := range lines {
		switch n := len(rows); {
		case near[i]:
			rows = append(rows, diffRow{Line: l})
		case n > 0 && rows[n-1].hidden > 0:
			rows[n-1].hidden++
		default:
			rows = append(rows, diffRow{hidden: 1})
		}
	}
	return rows
}

// handleDiff shows the result of a comparison, scrolled to the first change.
func (d *diffView) handleDiff(m diffMsg, th ui.Theme) {
	if d == nil || d.side != m.side || d.base != m.base {
		return
	}
	d.diffMsg = m
	d.render(th)
	first := slices.IndexFunc(d.rows, func(r diffRow) bool { return r.hidden == 0 && r.Op != merge.Unchanged })
	d.view.SetYOffset(first - contextLines - 1)
}

// render draws the rows. It is called when the rows, the theme or the width have changed.
func (d *diffView) render(th ui.Theme) {
	lines := make([]string, len(d.rows))
	for i, r := range d.rows {
		lines[i] = ui.Fit(r.View(th), d.view.Width())
	}
	d.view.SetContentLines(lines)
}

// diffHeaderRows is the number of lines above the rows.
const diffHeaderRows = 2

func (d *diffView) setSize(th ui.Theme, w, h int) {
	d.view.SetHeight(max(h-diffHeaderRows, 0))
	if w != d.view.Width() {
		d.view.SetWidth(w)
		d.render(th)
	}
}

// Key handles a key. It may return a message for the screen, or close the comparison.
func (d *diffView) Key(msg tea.KeyPressMsg) (request tea.Msg, closed bool) {
	switch msg.String() {
	case "tab", "left", "right", "ctrl+g":
		return compareMsg{d.side, 1 - d.base}, false
	case "ctrl+t":
		return compareMsg{1 - d.side, d.base}, false
	case "esc", "q":
		return nil, true
	case "home", "g":
		d.view.GotoTop()
	case "end", "G":
		d.view.GotoBottom()
	default:
		d.view, _ = d.view.Update(msg)
	}
	return nil, false
}

// View draws the comparison in place of the texts.
func (d *diffView) View(th ui.Theme) string {
	w := d.view.Width()
	tab := func(with diffBase, text string) string {
		if with == d.base {
			return th.Selected.Render(" " + text + " ")
		}
		return th.Paint(ui.Muted, " "+text+" ")
	}
	head := " " + th.Title.Render(ui.Clean(d.name)) + "  " +
		tab(baseDisk, "vs. file on disk") + tab(basePort, "vs. port")
	counts := th.Paint(ui.Muted, fmt.Sprintf("+%d −%d lines ", d.added, d.removed))
	body := ""
	switch {
	case d.err != nil:
		for _, l := range ui.Wrap(ui.OneLine(d.err), w-4) {
			body += "  " + th.Paint(ui.Warn, l) + "\n"
		}
	case d.rows == nil:
		body = "  " + th.Paint(ui.Muted, "comparing …")
	case d.added+d.removed == 0:
		body = "  " + th.Paint(ui.OK, "✓ no differences")
	default:
		body = d.view.View()
	}
	return ui.Box(ui.LeftRight(head, counts, w)+"\n\n"+body, w, d.view.Height()+diffHeaderRows)
}

// View draws the row.
func (r diffRow) View(th ui.Theme) string {
	if r.hidden > 0 {
		return th.Paint(ui.Muted, fmt.Sprintf("          ⋯ %s", ui.Plural(r.hidden, "unchanged line")))
	}
	number := func(n int) string {
		if n == 0 {
			return "    "
		}
		return fmt.Sprintf("%4d", n)
	}
	role := map[merge.Op]ui.Role{merge.Added: ui.OK, merge.Removed: ui.Bad}[r.Op]
	return th.Paint(ui.Muted, number(r.Old)+" "+number(r.New)) + " " + th.Paint(role, string(r.Op)+" "+ui.Clean(r.Text))
}
