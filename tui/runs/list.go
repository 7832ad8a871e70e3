package runs

import (
	"fmt"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// list is the table of runs with a filter, and the details of the selected run.
type list struct {
	all       []engine.Summary
	shown     []engine.Summary // runs that match the filter
	table     ui.Table
	filter    ui.Input
	reference string // directory of the run to compare with
}

// applyFilter updates the rows of the table and keeps the selected run.
func (l *list) applyFilter(now time.Time) {
	at, _ := l.selected()
	l.shown = nil
	var rows [][]ui.Cell
	for _, r := range l.all {
		if matchesFilter(r, l.filter.Value()) {
			l.shown = append(l.shown, r)
			rows = append(rows, row(r, now, r.Dir == l.reference))
		}
	}
	for i, r := range l.shown {
		if r.Dir == at.Dir {
			l.table.Cursor = i
		}
	}
	l.table.SetRows(rows)
}

// selected returns the run under the cursor.
func (l *list) selected() (engine.Summary, bool) {
	if l.table.Cursor < len(l.shown) {
		return l.shown[l.table.Cursor], true
	}
	return engine.Summary{}, false
}

// nothingToClear reports whether there is neither a filter nor a reference.
func (l *list) nothingToClear() bool { return l.filter.Value() == "" && l.reference == "" }

// lastLine returns the filter or a hint about the reference, and the position in a long list.
func (l *list) lastLine(th ui.Theme, w int) string {
	line := ""
	switch {
	case l.filter.Value() != "":
		text := fmt.Sprintf("  filter %q: %d of %d runs", l.filter.Value(), len(l.shown), len(l.all))
		line = th.Paint(ui.Muted, text)
	case l.reference != "":
		line = th.Paint(ui.Accent, "  ◆ reference: select another run, c compares, esc cancels")
	}
	if len(l.shown) <= l.table.Page() {
		return line
	}
	return ui.LeftRight(line, th.Paint(ui.Muted, fmt.Sprintf("%d of %d ", l.table.Cursor+1, len(l.shown))), w)
}

// detail returns the details of the selected run in three lines.
func (l *list) detail(th ui.Theme, w int, now time.Time) string {
	r, ok := l.selected()
	if !ok {
		return "\n\n"
	}
	mark, role := ui.StateMark(string(r.State))
	first := th.Paint(role, "  "+mark+" ") + ui.Clean(r.Name)
	if r.ID != "" {
		first += th.Paint(ui.Muted, "  "+ui.Clean(r.ID))
	}
	if done, total, what := progress(r, now); total > 0 {
		text := fmt.Sprintf("  %s %s of ~%s s  ", what, results.Decimal(done, 0), results.Decimal(total, 0))
		first += text + th.Bar(min(24, max(w-ui.Width(first+text)-2, 0)), done/total, ui.Accent)
	}
	second := fmt.Sprintf("    errors %d", r.Errors)
	for _, m := range results.Metrics {
		if m.Runs != nil && m.Runs.Detail != "" {
			second += "   " + m.Runs.Detail + " " + r.Figures.Get(m.Key).MarkedText()
		}
	}
	second += "   " + ui.Clean(r.Dir)
	third, last := "    "+lastMessage(r, now), ui.Muted
	if r.State == event.Failed {
		last = ui.Bad
	}
	return ui.Fit(first, w) + "\n" + th.Paint(ui.Muted, ui.Fit(second, w)) + "\n" +
		ui.Fit(th.Paint(last, ui.Clean(third)), w)
}
