package dashboard

import (
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// State is the run's state, or that of a playback.
func (s *Screen) State() ui.State {
	if !s.playback.on {
		return s.run.State()
	}
	st := s.playback.State()
	st.Age = s.run.clock(s.playback.at)
	return st
}

// clockNow is the time of what the body shows.
func (s *Screen) clockNow() time.Time {
	switch {
	case s.playback.on:
		return s.playback.at
	case s.run.paused:
		return s.run.still
	}
	return s.run.now
}

func (s *Screen) head() []string {
	return headline{th: s.th, run: &s.run, at: s.clockNow(), w: s.w}.View(&s.playback)
}

// View draws the body.
func (s *Screen) View() string {
	if s.run.problem != nil {
		lines := ui.Wrap(ui.OneLine(s.run.problem), s.w-6)
		return s.th.Paint(ui.Bad, " ✗ this run can't be shown") + "\n   " + strings.Join(lines, "\n   ")
	}
	if s.run.shown == nil {
		return s.th.Paint(ui.Muted, " reading the run's files …")
	}
	l := s.lay
	var b strings.Builder
	for _, line := range s.head()[:l.head] {
		b.WriteString(ui.Fit(line, s.w) + "\n")
	}
	if l.upper > 0 {
		b.WriteString(s.th.RuleLine(s.w) + "\n" + s.viewUpper() + "\n")
	}
	b.WriteString(s.viewLog())
	return b.String()
}

func (s *Screen) viewUpper() string {
	l := s.lay
	if l.figures == 0 {
		return s.steps.table.Draw(s.th)
	}
	p, _ := s.run.current()
	blocks := []string{ui.Box(figuresView(s.th, &s.run, p, l), l.figures, l.upper)}
	buckets := whole(p.series, s.run.shown.Done)
	for i, w := range l.charts {
		blocks = append(blocks, trends[(s.trend+i)%len(trends)].draw(s.th, p, buckets, w, l.upper))
	}
	return s.th.Beside(blocks...)
}

// figuresView is the table of figures of a phase.
func figuresView(th ui.Theme, run *runView, p phaseView, l layout) string {
	recent := run.recent(p)
	total, last := 15, 13
	lines := figuresOf(p, recent, run.tiers, run.gpus)
	if l.upper < compactBelow {
		total, last, lines = 16, 15, compact(lines)
	}
	counts := 0 // the width of a count of requests
	if l.figures > figuresWidth {
		counts = countsWidth / 2
	}
	label := l.figures - total - last - 2*counts - 2
	row := func(name string, f figure) string {
		if recent == nil { // the count takes the place of what there is no more
			f.recent, f.totalN, f.recentN = f.totalN, ui.Cell{}, ui.Cell{}
		}
		if f.why.Text != "" {
			f.recent = f.why
		}
		cell := func(c ui.Cell, w int) string { return th.Paint(c.Role, ui.Right(c.Text, w)) }
		return " " + name + cell(f.total, total) + cell(f.totalN, counts) + cell(f.recent, last) + cell(f.recentN, counts)
	}
	muted := func(text string) ui.Cell { return ui.Cell{Text: text, Role: ui.Muted} }
	head := figure{total: muted("measured so far"), totalN: muted("n"), recent: muted("last 60 s"), recentN: muted("n")}
	if recent == nil {
		head.total, head.totalN = muted("measured"), muted("requests")
	}
	out := []string{row(th.Paint(ui.Muted, ui.Fit("FIGURES", label)), head)}
	for _, f := range lines {
		out = append(out, row(ui.Fit(f.label, label), f))
	}
	return strings.Join(out, "\n")
}

func (s *Screen) viewLog() string {
	l := s.lay
	title := s.log.title(s.th, !s.steps.focused && s.stepsShown(), l.logW)
	body := s.log.pane.View()
	if l.stepsW == 0 || l.stepsX == 0 {
		return title + "\n" + body
	}
	name := "steps"
	if s.steps.focused {
		name = s.th.Title.Render(name)
	}
	title += s.th.TitledRule(name, "", s.w-l.logW)
	return title + "\n" + s.th.Beside(body, s.steps.table.Draw(s.th))
}
