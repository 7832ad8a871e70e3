package dashboard

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// headline draws the answer in w cells: is the run healthy, how far is it.
type headline struct {
	th  ui.Theme
	run *runView
	at  time.Time // of what is shown
	w   int
}

// View is two lines, one more for a playback, and more when something is wrong.
func (h headline) View(playback *playback) []string {
	if h.run.shown == nil {
		return nil
	}
	var lines []string
	p, have := h.run.current()
	switch {
	case h.run.shown.Status.State.Final():
		lines = h.ended(p, have)
	case h.run.noPhase():
		lines = h.bringUp()
	default:
		lines = h.phase(p)
	}
	if playback.on {
		lines = append(lines, playback.View(h.th, h.w))
	}
	why, role := h.trouble(p)
	return append(lines, h.th.PaintMarked(role, ui.Sign(role), ui.WrapAtMost(why, h.w-4, 2))...)
}

// phase is the headline while a phase goes on.
func (h headline) phase(p phaseView) []string {
	ended := time.Time{}
	if h.run.shown.Done {
		ended = h.run.shown.Status.Last
	}
	first := h.parts(p, ended)
	var facts []string
	switch end := p.ends(); {
	case !end.IsZero():
		fact := "ends by " + h.run.clock(end)
		if left := end.Sub(h.at); left > 0 {
			fact += ", in " + ui.Clock(left.Seconds())
		}
		facts = append(facts, fact)
	case p.mark != nil && !p.mark.Stop.IsZero():
		facts = append(facts, stopText(p.mark))
	case p.result != nil && p.result.Window != nil && p.mark == nil:
		facts = append(facts, "window as in the "+p.result.Window.Source)
	}
	if h.run.shown.Status.State == event.Unknown && h.run.shown.Status.Message != "" {
		facts = append(facts, h.th.Paint(ui.Warn, "⚠ "+ui.Clean(h.run.shown.Status.Message)))
	}
	if facts = append(facts, p.criteria(h.th, h.at)...); len(facts) == 0 {
		return []string{first}
	}
	return []string{first, " " + h.some(facts)}
}

func stopText(m *event.PhaseTimes) string {
	text := "stopped by " + ui.Clean(m.Reason)
	if m.Reason == "" {
		text = "stopped"
	}
	if m.Cut > 0 {
		text += fmt.Sprintf(", %d requests cut off", m.Cut)
	}
	return text
}

// some joins as many facts as fit behind a blank.
func (h headline) some(facts []string) string {
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

// ended is the headline of a run that has ended.
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
			text += fmt.Sprintf(" (client's exit code %d)", *st.ClientExitCode)
		}
	default:
		if !st.Last.IsZero() {
			text += " at " + h.run.clock(st.Last)
		}
		if have && p.mark != nil && p.mark.Reason != "" {
			text += ", " + stopText(p.mark)
		}
		if have && p.result != nil && p.result.Window != nil {
			text += " · window as in the " + p.result.Window.Source
		}
	}
	mark, role := ui.StateMark(string(st.State))
	lines := h.th.PaintMarked(role, mark, ui.WrapAtMost(text, h.w-4, 3))
	if !have || h.run.noPhase() {
		ready, started, _ := bringUp(st)
		return append(lines, fmt.Sprintf(" no phase has begun · %d of %d steps were ready", ready, started))
	}
	return append(lines, h.parts(p, st.Last))
}

// parts is how far a phase is, in a line.
func (h headline) parts(p phaseView, ended time.Time) string {
	title := " " + p.title(len(h.run.phases)) + "  "
	return title + bars(h.th, p.partsOf(h.at, ended), h.w-ui.Width(title))
}

// trouble is what to know before believing a figure, the worst first.
func (h headline) trouble(p phaseView) (string, ui.Role) {
	u := h.run.shown
	if since := u.StalledSince(h.at); !since.IsZero() {
		return "STALLED since " + h.run.clock(since) + ", for " + ui.Clock(h.at.Sub(since).Seconds()) +
			": no request has ended and the client has written nothing", ui.Bad
	}
	switch {
	case u.Err != nil:
		return "a file could not be read, the watch goes on: " + u.Err.Error(), ui.Warn
	case len(u.Run.Errors) > 0:
		return "the output contradicts itself: " + strings.Join(u.Run.Errors, "; "), ui.Warn
	}
	why := errorKinds(p, h.run.recent(p))
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
