package dashboard

import (
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// State returns the state of the run, or of the playback.
func (s *Screen) State() ui.State {
	if !s.playback.active {
		return s.run.State()
	}
	st := s.playback.State()
	st.Age = s.run.clock(s.playback.at)
	return st
}

// displayTime returns the time that the body shows.
func (s *Screen) displayTime() time.Time {
	switch {
	case s.playback.active:
		return s.playback.at
	case s.run.paused:
		return s.run.pausedAt
	}
	return s.run.now
}

func (s *Screen) headLines() []string {
	return headline{th: s.th, run: &s.run, at: s.displayTime(), w: s.w}.View(&s.playback)
}

// View draws the body.
func (s *Screen) View() string {
	if s.run.err != nil {
		lines := ui.Wrap(ui.OneLine(s.run.err), s.w-6)
		return s.th.Paint(ui.Bad, " ✗ run can't be shown") + "\n   " + strings.Join(lines, "\n   ")
	}
	if s.run.shown == nil {
		return s.th.Paint(ui.Muted, " loading the run …")
	}
	lay := s.layout
	var b strings.Builder
	for _, line := range s.headLines()[:lay.headH] {
		b.WriteString(ui.Fit(line, s.w) + "\n")
	}
	if lay.upperH > 0 {
		b.WriteString(s.th.RuleLine(s.w) + "\n" + s.viewUpper() + "\n")
	}
	b.WriteString(s.viewLog())
	return b.String()
}

func (s *Screen) viewUpper() string {
	lay := s.layout
	if lay.figuresW == 0 {
		return s.steps.table.Draw(s.th)
	}
	p, _ := s.run.current()
	blocks := []string{ui.Box(figuresView(s.th, &s.run, p, lay), lay.figuresW, lay.upperH)}
	buckets := completeBuckets(p.series, s.run.shown.Done)
	for i, w := range lay.chartWidths {
		blocks = append(blocks, trends[(s.trend+i)%len(trends)].draw(s.th, p, buckets, w, lay.upperH))
	}
	return s.th.Beside(blocks...)
}

// figuresView draws the table of figures of a phase.
func figuresView(th ui.Theme, run *runView, p phaseView, l layout) string {
	recent := run.recent(p)
	totalWidth, recentWidth := 15, 13
	lines := figureLines(p, recent, run.tiers, run.gpus)
	if l.upperH < compactBelow {
		totalWidth, recentWidth, lines = 16, 15, compactLines(lines)
	}
	countWidth := 0
	if l.figuresW > figuresWidth {
		countWidth = countsWidth / 2
	}
	labelWidth := l.figuresW - totalWidth - recentWidth - 2*countWidth - 2
	row := func(name string, f figure) string {
		if recent == nil { // no recent figures: show the counts instead
			f.recent, f.totalN, f.recentN = f.totalN, ui.Cell{}, ui.Cell{}
		}
		if f.reason.Text != "" {
			f.recent = f.reason
		}
		cell := func(c ui.Cell, w int) string { return th.Paint(c.Role, ui.Right(c.Text, w)) }
		return " " + name + cell(f.total, totalWidth) + cell(f.totalN, countWidth) +
			cell(f.recent, recentWidth) + cell(f.recentN, countWidth)
	}
	muted := func(text string) ui.Cell { return ui.Cell{Text: text, Role: ui.Muted} }
	head := figure{total: muted("~ so far"), totalN: muted("n"), recent: muted("last 60 s"), recentN: muted("n")}
	if recent == nil {
		head.total, head.totalN = muted("measured"), muted("requests")
	}
	if p.result != nil && !p.result.Provisional { // also while the run goes on
		head.total = muted("measured")
	}
	out := []string{row(th.Paint(ui.Muted, ui.Fit("FIGURES", labelWidth)), head)}
	for _, f := range lines {
		out = append(out, row(ui.Fit(f.label, labelWidth), f))
	}
	return strings.Join(out, "\n")
}

func (s *Screen) viewLog() string {
	lay := s.layout
	title := s.log.title(s.th, !s.steps.focused && s.stepsShown(), lay.logW)
	body := s.log.pane.View()
	if lay.stepsW == 0 || lay.stepsX == 0 {
		return title + "\n" + body
	}
	name := "steps"
	if s.steps.focused {
		name = s.th.Title.Render(name)
	}
	title += s.th.TitledRule(name, "", s.w-lay.logW)
	return title + "\n" + s.th.Beside(body, s.steps.table.Draw(s.th))
}
