package dashboard

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// State is the run's state, and how old the newest event and request are.
func (s *Screen) State() ui.State {
	switch {
	case s.problem != nil:
		return ui.State{Text: "✗ not shown", Role: ui.Bad}
	case s.live == nil:
		return ui.State{Text: "reading", Role: ui.Muted}
	}
	if s.tape.on {
		return s.tapeState()
	}
	st := s.live.Status
	mark, role := ui.StateLook(string(st.State))
	out := ui.State{Text: mark + " " + ui.Clean(string(st.State)), Role: role}
	if !s.live.Stalled(s.now).IsZero() {
		out.Text, out.Role = out.Text+" · STALLED", ui.Bad
	}
	var ages []string
	if s.paused {
		out.Text += " · paused"
		ages = append(ages, "since "+s.clock(s.still)+", "+ago(s.now.Sub(s.still)))
	}
	if t := s.lastRequest(); !st.State.Final() && !t.IsZero() {
		ages = append(ages, "requests "+ago(s.now.Sub(t)))
	}
	switch {
	case st.State.Final() && !st.Last.IsZero():
		ages = append(ages, "ended "+ago(s.now.Sub(st.Last)))
	case !st.Last.IsZero():
		ages = append(ages, "events "+ago(s.now.Sub(st.Last)))
	}
	if q := st.Queue; q != nil && !st.State.Final() && !q.At.IsZero() {
		ages = append(ages, "squeue "+ago(s.now.Sub(q.At)))
	}
	out.Age = strings.Join(ages, " · ")
	return out
}

func ago(d time.Duration) string {
	if a := ui.Age(d); a != "now" {
		return a + " ago"
	}
	return "now"
}

// lastRequest is when the newest request ended.
func (s *Screen) lastRequest() time.Time {
	var end float64
	for _, x := range s.live.Series {
		if n := len(x.Buckets); n > 0 {
			end = max(end, x.Buckets[n-1].Start+x.Buckets[n-1].Seconds)
		}
	}
	if end == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(end * 1000))
}

func (s *Screen) clock(t time.Time) string { return t.In(s.zone).Format("15:04:05") }

// head is the answer: is it healthy, how far is it. Two lines, and one more when
// something is wrong.
func (s *Screen) head(w int) []string {
	if s.shown == nil {
		return nil
	}
	var lines []string
	p, have := s.current()
	switch st := s.shown.Status; {
	case st.State.Final():
		lines = s.headEnded(p, have, w)
	case s.noPhase():
		lines = s.headBringUp(w)
	default:
		lines = s.headPhase(p, w)
	}
	if s.tape.on {
		lines = append(lines, s.tapeLine(w))
	}
	why, role := s.trouble(p)
	mark := " ⚠ "
	if role == ui.Bad {
		mark = " ✗ "
	}
	for _, l := range ui.Prose(why, w-4, 2) {
		lines, mark = append(lines, s.th.Paint(role, mark+l)), "   "
	}
	return lines
}

func (s *Screen) headBringUp(w int) []string {
	st := s.shown.Status
	ready, started, waiting := bringUp(st)
	switch {
	case started == 0 && st.State == event.Pending && st.Queue != nil:
		return s.headPending(w)
	case started == 0:
		line := "waiting for the first step"
		if !st.Since.IsZero() {
			line += ", " + ui.Clean(string(st.State)) + " since " + s.clock(st.Since)
		}
		return []string{" " + line, ""}
	}
	facts := fmt.Sprintf("%d of %d steps ready", ready, started)
	if want := st.Want; want.Prefill+want.Decode > 0 {
		facts += fmt.Sprintf(" · %d of %d prefill, %d of %d decode healthy", st.Have.Prefill, want.Prefill, st.Have.Decode, want.Decode)
	}
	const lead = " bring-up  "
	first := lead + s.th.Bar(min(max(w-ui.Width(lead+facts)-3, 6), 40), fraction(ready, started), ui.Accent) + "  " + facts
	second := " all started steps are ready"
	if n := len(waiting); n > 0 {
		first := waiting[0]
		second = " waiting for " + ui.Clean(first.Name)
		if n > 1 {
			second += fmt.Sprintf(" and %d more", n-1)
		}
		second += ", started " + s.clock(first.Started) + ", " + ui.Clock(max(s.clockNow().Sub(first.Started).Seconds(), 0)) + " ago"
	} else if st.State == event.Ready {
		second = " all steps are ready, the client starts"
	}
	return []string{first, second}
}

func (s *Screen) headPhase(p phaseView, w int) []string {
	title := " " + p.title(len(s.phases)) + "  "
	ended := time.Time{}
	if s.shown.Done {
		ended = s.shown.Status.Last
	}
	first := title + bars(s.th, p.partsOf(s.clockNow(), ended), w-ui.Width(title))
	var facts []string
	switch end := p.ends(); {
	case !end.IsZero():
		fact := "ends by " + s.clock(end)
		if left := end.Sub(s.clockNow()); left > 0 {
			fact += ", in " + ui.Clock(left.Seconds())
		}
		facts = append(facts, fact)
	case p.mark != nil && !p.mark.Stop.IsZero():
		facts = append(facts, stopText(p.mark))
	case p.result != nil && p.result.Window != nil && p.mark == nil:
		facts = append(facts, "window as in the "+p.result.Window.Source)
	}
	if s.shown.Status.State == event.Unknown && s.shown.Status.Message != "" {
		facts = append(facts, s.th.Paint(ui.Warn, "⚠ "+ui.Clean(s.shown.Status.Message)))
	}
	if facts = append(facts, p.criteria(s.th, s.clockNow())...); len(facts) == 0 {
		return []string{first}
	}
	return []string{first, " " + s.some(facts, w-1)}
}

func stopText(m *event.PhaseMark) string {
	text := "stopped by " + ui.Clean(m.Reason)
	if m.Reason == "" {
		text = "stopped"
	}
	if m.Cut > 0 {
		text += fmt.Sprintf(", %d requests cut off", m.Cut)
	}
	return text
}

// some joins as many facts as fit.
func (s *Screen) some(facts []string, w int) string {
	sep := s.th.Rule.Render(" · ")
	line := ""
	for i, f := range facts {
		if i > 0 {
			f = sep + f
		}
		if i > 0 && ui.Width(line)+ui.Width(f) > w {
			break
		}
		line += f
	}
	return line
}

func (s *Screen) headEnded(p phaseView, have bool, w int) []string {
	st := s.shown.Status
	text := string(st.State)
	if !st.Started.IsZero() && st.Last.After(st.Started) {
		text += " after " + ui.Clock(st.Last.Sub(st.Started).Seconds())
	}
	switch st.State {
	case event.Failed, event.Timeout, event.Cancelled:
		if st.Message != "" {
			text += ": " + st.Message
		}
		if st.Client != nil && *st.Client != 0 {
			text += fmt.Sprintf(" (client's exit code %d)", *st.Client)
		}
	default:
		if !st.Last.IsZero() {
			text += " at " + s.clock(st.Last)
		}
		if have && p.mark != nil && p.mark.Reason != "" {
			text += ", " + stopText(p.mark)
		}
		if have && p.result != nil && p.result.Window != nil {
			text += " · window as in the " + p.result.Window.Source
		}
	}
	var lines []string
	mark, role := ui.StateLook(string(st.State))
	for i, l := range ui.Prose(text, w-4, 3) {
		lead := "   "
		if i == 0 {
			lead = " " + mark + " "
		}
		lines = append(lines, s.th.Paint(role, lead+l))
	}
	if !have || s.noPhase() {
		ready, started, _ := bringUp(st)
		return append(lines, fmt.Sprintf(" no phase has begun · %d of %d steps were ready", ready, started))
	}
	title := " " + p.title(len(s.phases)) + "  "
	return append(lines, title+bars(s.th, p.partsOf(s.clockNow(), st.Last), w-ui.Width(title)))
}

// trouble is what to know before believing a figure, the worst first.
func (s *Screen) trouble(p phaseView) (string, ui.Role) {
	u := s.shown
	if since := u.Stalled(s.clockNow()); !since.IsZero() {
		return "STALLED since " + s.clock(since) + ", for " + ui.Clock(s.clockNow().Sub(since).Seconds()) + ": no request has ended and the client has written nothing", ui.Bad
	}
	switch {
	case u.Err != nil:
		return "a file could not be read, the watch goes on: " + u.Err.Error(), ui.Warn
	case len(u.Run.Errors) > 0:
		return "the output contradicts itself: " + strings.Join(u.Run.Errors, "; "), ui.Warn
	}
	why := errorKinds(p, s.recent(p))
	over := u.Done || p.mark != nil && !p.mark.Stop.IsZero()
	if p.result != nil && over && len(p.result.Invalid) > 0 { // before, a short window is no news
		invalid := "not to be trusted: " + strings.Join(p.result.Invalid, "; ")
		if why != "" {
			invalid += "; "
		}
		why = invalid + why
	}
	return why, ui.Warn
}

// recent is the last minute, as long as the phase on the screen is running.
func (s *Screen) recent(p phaseView) *results.Recent {
	r := s.shown.Recent
	if r == nil || r.Phase != p.index || s.shown.Done || s.shown.Status.State.Final() {
		return nil
	}
	return r
}

// lost is what a cancelled run loses, for the question.
func (s *Screen) lost() string {
	p, ok := s.current()
	text := "Nothing has been measured yet."
	if ok {
		for _, part := range p.partsOf(s.clockNow(), time.Time{}) {
			if part.state == running || part.state == over {
				text = fmt.Sprintf("It is in phase %d, %s for %s.", p.index, part.name, ui.Clock(part.spent))
			}
		}
	}
	return text + " The client gets time for what is in flight, then the servers are shut down. What was written so far stays in the run's folder."
}

// View draws the body.
func (s *Screen) View() string {
	if s.problem != nil {
		lines := []string{""}
		for _, l := range ui.Wrap(strings.ReplaceAll(s.problem.Error(), "\n", "; "), s.w-6) {
			lines = append(lines, "   "+l)
		}
		return s.th.Paint(ui.Bad, " ✗ this run can't be shown") + strings.Join(lines, "\n")
	}
	if s.shown == nil {
		return s.th.Paint(ui.Muted, " reading the run's files …")
	}
	l := s.lay
	var b strings.Builder
	for _, line := range s.head(s.w)[:l.head] {
		b.WriteString(ui.Fit(line, s.w) + "\n")
	}
	if l.upper > 0 {
		b.WriteString(s.th.Line(s.w) + "\n" + s.viewUpper() + "\n")
	}
	b.WriteString(s.viewLog())
	return b.String()
}

func (s *Screen) viewUpper() string {
	l := s.lay
	if l.figures == 0 {
		return s.steps.Draw(s.th)
	}
	p, _ := s.current()
	blocks := []string{ui.Box(s.viewFigures(p), l.figures, l.upper)}
	buckets := whole(p.series, s.shown.Done)
	for i, w := range l.charts {
		blocks = append(blocks, trends[(s.trend+i)%len(trends)].draw(s.th, p, buckets, w, l.upper))
	}
	return ui.Beside(s.th.Rule.Render(" │ "), blocks...)
}

func (s *Screen) viewFigures(p phaseView) string {
	recent := s.recent(p)
	total, last := 15, 13
	lines := figuresOf(p, recent, s.tiers, s.gpus)
	if s.lay.upper < compactBelow {
		total, last, lines = 16, 15, compact(lines)
	}
	counts := 0 // the width of a count of requests
	if s.lay.figures > figuresWidth {
		counts = countsWidth / 2
	}
	label := s.lay.figures - total - last - 2*counts - 2
	row := func(name string, f figure) string {
		if recent == nil { // the count takes the place of what there is no more
			f.recent, f.totalN, f.recentN = f.totalN, ui.Cell{}, ui.Cell{}
		}
		if f.why.Text != "" {
			f.recent = f.why
		}
		cell := func(c ui.Cell, w int) string { return s.th.Paint(c.Role, ui.Right(c.Text, w)) }
		return " " + name + cell(f.total, total) + cell(f.totalN, counts) + cell(f.recent, last) + cell(f.recentN, counts)
	}
	muted := func(text string) ui.Cell { return ui.Cell{Text: text, Role: ui.Muted} }
	head := figure{total: muted("measured so far"), totalN: muted("n"), recent: muted("last 60 s"), recentN: muted("n")}
	if recent == nil {
		head.total, head.totalN = muted("measured"), muted("requests")
	}
	out := []string{row(s.th.Paint(ui.Muted, ui.Fit("FIGURES", label)), head)}
	for _, f := range lines {
		out = append(out, row(ui.Fit(f.label, label), f))
	}
	return strings.Join(out, "\n")
}

func (s *Screen) viewLog() string {
	l := s.lay
	title := s.logTitle(l.logW)
	body := s.log.pane.View()
	if l.stepsW == 0 || l.stepsX == 0 {
		return title + "\n" + body
	}
	steps := s.th.Titled(s.focused("steps", s.focusSteps), "", s.w-l.logW)
	return title + steps + "\n" + ui.Beside(s.th.Rule.Render(" │ "), body, s.steps.Draw(s.th))
}

func (s *Screen) focused(text string, on bool) string {
	if on {
		return s.th.Title.Render(text)
	}
	return text
}
