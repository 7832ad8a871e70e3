package dashboard

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// logPane has the run's logs and shows one of them, or all merged.
type logPane struct {
	pane         *logs.Pane
	files        []engine.LogFile
	listing      bool
	step         string // of the open log; empty: none
	merged       bool   // shows all logs merged by time
	chosenByUser bool   // the user chose the log; otherwise it is picked automatically
	pickPending  bool   // pick again once the log is followed again or the display resumes
}

// open opens the log of a step, if it exists.
func (l *logPane) open(step string) tea.Cmd {
	for _, f := range l.files {
		if f.Step == step {
			l.step, l.merged = step, false
			return l.pane.Open(logs.Log{Name: f.Step, Path: f.Path})
		}
	}
	return nil
}

// toggleMerge merges all logs by time, or returns to the previous one.
func (l *logPane) toggleMerge() tea.Cmd {
	switch {
	case l.merged:
		l.merged = false
		return l.open(l.step)
	case len(l.files) < 2:
		return ui.Send(ui.Toast{Text: "merge logs: fewer than two logs", Role: ui.Warn})
	}
	all := make([]logs.Log, 0, len(l.files))
	for _, f := range l.files {
		all = append(all, logs.Log{Name: f.Step, Path: f.Path})
	}
	l.merged, l.chosenByUser = true, true
	return l.pane.Open(all...)
}

// listFiles lists the logs, unless a listing is running.
func (l *logPane) listFiles(eng Engine, run engine.RunRef) tea.Cmd {
	if l.listing {
		return nil
	}
	l.listing = true
	return func() tea.Msg {
		files, err := eng.LogFiles(run)
		return filesListedMsg{files, err}
	}
}

// pickLog opens the most relevant log, unless the user chose one: that of a step that failed
// or is not ready, else the client's, else the job's, else the first one. While the display
// is paused or scrolled back, the log stays and pickPending is set.
func (l *logPane) pickLog(run *runView) tea.Cmd {
	if l.pickPending = false; l.chosenByUser || len(l.files) == 0 {
		return nil
	}
	step, relevant := l.files[0].Step, run.relevantStep() // the client's log is first, if it exists
	for _, f := range l.files {
		if f.Step == relevant || f.Step == "job" && step != event.ClientStep && step != relevant {
			step = f.Step
		}
	}
	if l.step == step {
		return nil
	}
	if l.pickPending = run.paused || l.step != "" && !l.pane.Following(); l.pickPending {
		return nil
	}
	return l.open(step)
}

// switchLog opens the next log, or with -1 the previous one.
func (l *logPane) switchLog(by int) tea.Cmd {
	n := len(l.files)
	if n == 0 {
		return nil
	}
	at := max(slices.IndexFunc(l.files, func(f engine.LogFile) bool { return f.Step == l.step }), 0)
	l.chosenByUser = true
	return l.open(l.files[(at+by+n)%n].Step)
}

// title draws the title line above the log.
func (l *logPane) title(th ui.Theme, focused bool, w int) string {
	left, right := l.pane.Title(focused, w)
	if n := len(l.files); n > 1 && !l.pane.Typing() {
		if right != "" {
			right += th.Paint(ui.Muted, " · ")
		}
		right += th.Paint(ui.Muted, fmt.Sprintf("%d logs", n))
	}
	return th.TitledRule(left, right, w)
}

// stepsPane is the table of the run's steps.
type stepsPane struct {
	table   ui.Table
	rows    []stepRow
	open    bool // shown instead of the figures
	focused bool
}

func (p *stepsPane) setRows(u *engine.Update, files []engine.LogFile) {
	var st event.Status
	if u != nil {
		st = u.Status
	}
	p.rows = stepRows(st, files)
	rows := make([][]ui.Cell, 0, len(p.rows))
	for _, r := range p.rows {
		rows = append(rows, r.cells)
	}
	p.table.SetRows(rows)
}

// toggle opens or closes the steps. If they are always visible, it moves the focus.
func (p *stepsPane) toggle(inView bool) {
	if inView {
		p.focused = !p.focused
		return
	}
	p.open = !p.open
	p.focused = p.open
}

// selectLog returns the log of the selected step, empty if it has none; false without
// steps. If there is a log, it closes the steps.
func (p *stepsPane) selectLog() (log string, ok bool) {
	if p.table.Cursor >= len(p.rows) {
		return "", false
	}
	if log = p.rows[p.table.Cursor].log; log != "" {
		p.open, p.focused = false, false
	}
	return log, true
}
