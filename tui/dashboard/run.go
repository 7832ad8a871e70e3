package dashboard

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// runView is the run, its latest update, and the update and phase that are shown.
type runView struct {
	name    string // as given to New
	ref     engine.RunRef
	found   bool
	err     error // why the run can't be shown
	planned []plan.Phase
	gpus    int // of the workers; 0: unknown
	tiers   []results.Tier

	updates <-chan engine.Update
	latest  *engine.Update // the latest one
	shown   *engine.Update // an older one while paused or during a playback
	phases  []phaseView    // of the shown update
	phase   int            // position of the shown phase; -1: the newest

	zone     *time.Location
	now      time.Time
	pausedAt time.Time // when the display was paused
	paused   bool

	cancelling bool
}

func (r *runView) label() string {
	if r.found {
		return r.ref.Label()
	}
	return r.name
}

func (r *runView) handleFound(m foundMsg) bool {
	if r.err = m.err; m.err == nil {
		r.found, r.ref, r.updates, r.planned, r.tiers, r.gpus = true, m.ref, m.updates, m.phases, m.tiers, m.gpus
	}
	return r.found
}

func (r *runView) tick(now time.Time) {
	if now.After(r.now) {
		r.now = now
	}
}

func (r *runView) show(u *engine.Update) { r.shown, r.phases = u, mergePhases(r.planned, u) }

func (r *runView) clock(t time.Time) string { return t.In(r.zone).Format("15:04:05") }

// beforeFirstPhase reports whether no phase has started. It is false for external runs,
// which have no steps.
func (r *runView) beforeFirstPhase() bool {
	return r.shown != nil && len(r.shown.Run.Phases) == 0 && len(r.shown.Status.Phases) == 0 && r.ref.Record.ID != ""
}

// phaseIndex returns the position of the shown phase.
func (r *runView) phaseIndex() int {
	if r.phase < 0 || r.phase >= len(r.phases) {
		return newestPhase(r.phases)
	}
	return r.phase
}

// current returns the shown phase; false if there is none.
func (r *runView) current() (phaseView, bool) {
	if len(r.phases) == 0 {
		return phaseView{}, false
	}
	return r.phases[r.phaseIndex()], true
}

// changePhase shows another phase.
func (r *runView) changePhase(by int) {
	n := len(r.phases)
	if n < 2 {
		return
	}
	if r.phase = (r.phaseIndex() + by + n) % n; r.phase == newestPhase(r.phases) {
		r.phase = -1 // follow the newest phase
	}
}

// recent returns the figures of the last minute; nil if the phase is not running.
func (r *runView) recent(p phaseView) *results.Recent {
	recent := r.shown.Recent
	if recent == nil || recent.Phase != p.index || r.shown.Done || r.shown.Status.State.Final() {
		return nil
	}
	return recent
}

// lastRequest returns when the last request ended.
func (r *runView) lastRequest() time.Time {
	var end float64
	for _, x := range r.latest.Series {
		if n := len(x.Buckets); n > 0 {
			end = max(end, x.Buckets[n-1].Start+x.Buckets[n-1].Seconds)
		}
	}
	if end == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(end * 1000))
}

// relevantStep returns the step whose log is most relevant: the one that failed, or the
// first one that is not ready; empty if there is neither.
func (r *runView) relevantStep() string {
	if r.latest == nil {
		return ""
	}
	switch st := r.latest.Status; st.State {
	case event.Failed:
		return failedStep(st)
	case event.Starting:
		if _, _, waiting := countReady(st); len(waiting) > 0 {
			return waiting[0].Name
		}
	}
	return ""
}

// cancelUnavailable returns why the run can't be cancelled; empty if it can.
func (r *runView) cancelUnavailable() string {
	switch {
	case r.latest == nil:
		return "not loaded"
	case r.ref.Record.ID == "":
		return "external run"
	case r.latest.Status.State.Final() || r.latest.Done:
		return "run has ended"
	case r.latest.Status.State == event.Unknown:
		return "state unknown"
	case r.cancelling:
		return "already cancelling"
	}
	return ""
}

// cancel cancels the run, if possible.
func (r *runView) cancel(ctx context.Context, eng Engine) tea.Cmd {
	if r.cancelUnavailable() != "" {
		return nil
	}
	r.cancelling = true
	run := r.ref
	toast := ui.Toast{Text: "cancelling the run; requests in flight have 30 s to finish", Role: ui.Warn}
	return tea.Batch(func() tea.Msg { return cancelledMsg{eng.Cancel(ctx, run)} }, ui.Send(toast))
}

func (r *runView) handleCancelled(m cancelledMsg) tea.Cmd {
	r.cancelling = false
	if m.err != nil {
		return ui.ShowError(m.err)
	}
	return ui.Send(ui.Toast{Text: "run stopped gracefully", Role: ui.OK})
}

// compareUnavailable returns why the run can't be compared; empty if it can.
func (r *runView) compareUnavailable() string {
	if r.latest == nil || len(r.latest.Run.Phases) == 0 {
		return "no figures yet"
	}
	return ""
}

// cancelWarning returns the text of the confirmation to cancel the run.
func (r *runView) cancelWarning(at time.Time) string {
	p, ok := r.current()
	text := "Nothing has been measured yet."
	if ok {
		for _, part := range p.parts(at, time.Time{}) {
			if part.state == running || part.state == completed {
				text = fmt.Sprintf("The run is in phase %d, %s for %s.", p.index, part.name, ui.Clock(part.spent))
			}
		}
	}
	return text + " Requests in flight get time to finish, then the servers are stopped." +
		" All files written so far are kept."
}

// State returns the state of the run, and the age of the last request and event.
func (r *runView) State() ui.State {
	switch {
	case r.err != nil:
		return ui.State{Text: "✗ not available", Role: ui.Bad}
	case r.latest == nil:
		return ui.State{Text: "loading", Role: ui.Muted}
	}
	st := r.latest.Status
	mark, role := ui.StateMark(string(st.State))
	out := ui.State{Text: mark + " " + ui.Clean(ui.StateText(string(st.State))), Role: role}
	if !r.latest.StalledSince(r.now).IsZero() {
		out.Text, out.Role = out.Text+" · STALLED", ui.Bad
	}
	add := func(text string, since time.Time) {
		if out.Age != "" {
			out.Age += " · "
		}
		out.Age += text + ui.Ago(r.now.Sub(since))
	}
	if r.paused {
		out.Text += " · paused"
		add("since "+r.clock(r.pausedAt)+", ", r.pausedAt)
	}
	final := st.State.Final()
	if t := r.lastRequest(); !final && !t.IsZero() {
		add("requests ", t)
	}
	switch {
	case st.Last.IsZero():
	case final:
		add("ended ", st.Last)
	default:
		add("events ", st.Last)
	}
	if q := st.Queue; q != nil && !final && !q.At.IsZero() {
		add("squeue ", q.At)
	}
	return out
}
