package runs

import (
	"fmt"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// list is the runs in a table, with a filter, a mark and the selected run below it.
type list struct {
	all       []engine.Summary
	shown     []engine.Summary // after the filter
	table     ui.Table
	filter    ui.Input
	reference string // folder of the run to compare with
}

// applyFilter applies the filter; the cursor stays on its run.
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

func (l *list) selected() (engine.Summary, bool) {
	if l.table.Cursor < len(l.shown) {
		return l.shown[l.table.Cursor], true
	}
	return engine.Summary{}, false
}

// unfiltered says that there is neither a filter nor a mark.
func (l *list) unfiltered() bool { return l.filter.Value() == "" && l.reference == "" }

// lastLine is the filter or the mark, and where the cursor is in a long list.
func (l *list) lastLine(th ui.Theme, w int) string {
	line := ""
	switch {
	case l.filter.Value() != "":
		text := fmt.Sprintf("  filter %q: %d of %d runs", l.filter.Value(), len(l.shown), len(l.all))
		line = th.Paint(ui.Muted, text)
	case l.reference != "":
		line = th.Paint(ui.Accent, "  ◆ is compared with the one you choose now: c, or esc to give up")
	}
	if len(l.shown) <= l.table.Page() {
		return line
	}
	return ui.LeftRight(line, th.Paint(ui.Muted, fmt.Sprintf("%d of %d ", l.table.Cursor+1, len(l.shown))), w)
}

// detail is the selected run in three lines.
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
			second += "   " + m.Runs.Detail + " " + m.Text(r.Figures.Get(m.Key).Value)
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
