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

// logPane is the log that is open, of those that the run has.
type logPane struct {
	pane    *logs.Pane
	files   []engine.LogFile
	listing bool
	step    string // empty: none, or all
	merged  bool   // all logs are open, by time
	chosen  bool   // by a key; else the screen picks
	held    bool   // another is to be picked once the display moves on
}

// open opens the log of a step, if it is among the run's files.
func (l *logPane) open(step string) tea.Cmd {
	for _, f := range l.files {
		if f.Step == step {
			l.step, l.merged = step, false
			return l.pane.Open(logs.Log{Name: f.Step, Path: f.Path})
		}
	}
	return nil
}

// merge opens all logs by time, or the one before again.
func (l *logPane) merge() tea.Cmd {
	switch {
	case l.merged:
		l.merged = false
		return l.open(l.step)
	case len(l.files) < 2:
		return ui.Send(ui.Toast{Text: "there are no several logs to merge", Role: ui.Warn})
	}
	all := make([]logs.Log, 0, len(l.files))
	for _, f := range l.files {
		all = append(all, logs.Log{Name: f.Step, Path: f.Path})
	}
	l.merged, l.chosen = true, true
	return l.pane.Open(all...)
}

// list lists the logs, one request at a time.
func (l *logPane) list(eng Engine, run engine.RunRef) tea.Cmd {
	if l.listing {
		return nil
	}
	l.listing = true
	return func() tea.Msg {
		files, err := eng.LogFiles(run)
		return filesListedMsg{files, err}
	}
}

// pick opens the log that tells most, unless one was chosen: the job's until there is the client's,
// that of a step that tells more, and whichever there is in other tools' folders. It waits as long
// as the pane must not move: the display is paused, or somebody reads older lines.
func (l *logPane) pick(run *runView) tea.Cmd {
	if l.held = false; l.chosen || len(l.files) == 0 {
		return nil
	}
	step, telling := l.files[0].Step, run.telling() // the client's comes first, if there is one
	for _, f := range l.files {
		if f.Step == telling || f.Step == "job" && step != event.ClientStep && step != telling {
			step = f.Step
		}
	}
	if l.step == step {
		return nil
	}
	if l.held = run.paused || l.step != "" && !l.pane.Following(); l.held {
		return nil
	}
	return l.open(step)
}

// turn opens the next log, or with -1 the one before.
func (l *logPane) turn(by int) tea.Cmd {
	n := len(l.files)
	if n == 0 {
		return nil
	}
	at := max(slices.IndexFunc(l.files, func(f engine.LogFile) bool { return f.Step == l.step }), 0)
	l.chosen = true
	return l.open(l.files[(at+by+n)%n].Step)
}

// title is the rule above the log, in w cells.
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
	open    bool // in the place of the figures, where it has none of its own
	focused bool
}

func (p *stepsPane) fill(u *engine.Update, files []engine.LogFile) {
	var st event.Status
	if u != nil {
		st = u.Status
	}
	p.rows = stepsOf(st, files)
	rows := make([][]ui.Cell, 0, len(p.rows))
	for _, r := range p.rows {
		rows = append(rows, r.cells)
	}
	p.table.SetRows(rows)
}

// toggle opens or closes the steps; where they are in view anyway it moves the focus.
func (p *stepsPane) toggle(inView bool) {
	if inView {
		p.focused = !p.focused
		return
	}
	p.open = !p.open
	p.focused = p.open
}

// choose is the log of the step under the cursor, empty if it has none, and closes
// the steps for it; false without a step.
func (p *stepsPane) choose() (log string, ok bool) {
	if p.table.Cursor >= len(p.rows) {
		return "", false
	}
	if log = p.rows[p.table.Cursor].log; log != "" {
		p.open, p.focused = false, false
	}
	return log, true
}
