package dashboard

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// headline draws the state and progress of a run in w cells.
type headline struct {
	th  ui.Theme
	run *runView
	at  time.Time // time that is shown
	w   int
}

// View returns two lines, one more for a playback, and one or two more for a warning.
func (h headline) View(playback *playback) []string {
	if h.run.shown == nil {
		return nil
	}
	var lines []string
	p, have := h.run.current()
	switch {
	case h.run.shown.Status.State.Final():
		lines = h.ended(p, have)
	case h.run.beforeFirstPhase():
		lines = h.startup()
	default:
		lines = h.phase(p)
	}
	warningLines := 2
	if playback.active {
		lines = append(lines, playback.View(h.th, h.w))
		warningLines = 1
	}
	why, role := h.warning(p)
	return append(lines, h.th.PaintMarked(role, ui.Sign(role), ui.WrapAtMost(why, h.w-4, warningLines))...)
}

// phase returns the headline during a phase.
func (h headline) phase(p phaseView) []string {
	ended := time.Time{}
	if h.run.shown.Done {
		ended = h.run.shown.Status.Last
	}
	first := h.phaseLine(p, ended)
	var facts []string
	switch end := p.deadline(); {
	case !end.IsZero():
		fact := "ends by " + h.run.clock(end)
		if left := end.Sub(h.at); left > 0 {
			fact += ", in " + ui.Clock(left.Seconds())
		}
		facts = append(facts, fact)
	case p.times != nil && !p.times.Stop.IsZero():
		facts = append(facts, stopText(p.times))
	case p.result != nil && p.result.Window != nil && p.times == nil:
		facts = append(facts, "window from the "+p.result.Window.Source)
	}
	if h.run.shown.Status.State == event.Unknown && h.run.shown.Status.Message != "" {
		facts = append(facts, h.th.Paint(ui.Warn, "⚠ "+ui.Clean(h.run.shown.Status.Message)))
	}
	if facts = append(facts, p.stopCriteria(h.th, h.at)...); len(facts) == 0 {
		return []string{first}
	}
	return []string{first, " " + h.joinFitting(facts)}
}

func stopText(m *event.PhaseTimes) string {
	text := "stopped by " + ui.Clean(m.Reason)
	if m.Reason == "" {
		text = "stopped"
	}
	if m.Cut > 0 {
		text += fmt.Sprintf(", %s cut off", ui.Plural(m.Cut, "request"))
	}
	return text
}

// joinFitting joins as many facts as fit on a line.
func (h headline) joinFitting(facts []string) string {
	sep := h.th.Rule.Render(" · ")
	line := ""
	for i, f := range facts {
		if i > 0 {
			f = sep + f
		}
		if i > 0 && ui.Width(line)+ui.Width(f) > h.w-1 {
			break
		}
		line += f
	}
	return line
}

// ended returns the headline of a run that has ended.
func (h headline) ended(p phaseView, have bool) []string {
	st := h.run.shown.Status
	text := string(st.State)
	if !st.Started.IsZero() && st.Last.After(st.Started) {
		text += " after " + ui.Clock(st.Last.Sub(st.Started).Seconds())
	}
	switch st.State {
	case event.Failed, event.Timeout, event.Cancelled:
		if st.Message != "" {
			text += ": " + st.Message
		}
		if st.ClientExitCode != nil && *st.ClientExitCode != 0 {
			text += fmt.Sprintf(" (client exit code %d)", *st.ClientExitCode)
		}
	default:
		if !st.Last.IsZero() {
			text += " at " + h.run.clock(st.Last)
		}
		if have && p.times != nil && p.times.Reason != "" {
			text += ", " + stopText(p.times)
		}
		if have && p.result != nil && p.result.Window != nil {
			text += " · window from the " + p.result.Window.Source
		}
	}
	mark, role := ui.StateMark(string(st.State))
	lines := h.th.PaintMarked(role, mark, ui.WrapAtMost(text, h.w-4, 3))
	if !have || h.run.beforeFirstPhase() {
		ready, started, _ := countReady(st)
		return append(lines, fmt.Sprintf(" no phase started · %d of %d steps were ready", ready, started))
	}
	return append(lines, h.phaseLine(p, st.Last))
}

// phaseLine returns the progress of a phase as one line.
func (h headline) phaseLine(p phaseView, ended time.Time) string {
	title := " " + p.title(len(h.run.phases)) + "  "
	return title + drawParts(h.th, p.parts(h.at, ended), h.w-ui.Width(title))
}

// warning returns the most severe warning about the run or its figures.
func (h headline) warning(p phaseView) (string, ui.Role) {
	u := h.run.shown
	why := errorSummary(p, h.run.recent(p))
	if p.result != nil {
		if reasons := p.result.InvalidSoFar(); len(reasons) > 0 {
			why = strings.TrimSuffix("figures not reliable: "+strings.Join(reasons, "; ")+"; "+why, "; ")
		}
	}
	if since := u.StalledSince(h.at); !since.IsZero() {
		stalled := "STALLED since " + h.run.clock(since) + ", for " + ui.Clock(h.at.Sub(since).Seconds()) +
			": no request completed, no client output"
		return strings.TrimSuffix(stalled+"; "+why, "; "), ui.Bad
	}
	switch {
	case u.Err != nil:
		return "a file could not be read; still watching: " + u.Err.Error(), ui.Warn
	case len(u.Run.Errors) > 0:
		return "inconsistent output: " + strings.Join(u.Run.Errors, "; "), ui.Warn
	}
	return why, ui.Warn
}
