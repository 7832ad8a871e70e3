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

// runView is what is known of the run, and what of it is on the screen.
type runView struct {
	name    string // as given
	ref     engine.RunRef
	found   bool
	problem error // why the run can't be shown
	planned []plan.Phase
	gpus    int // of the run's workers; 0 when not known
	tiers   []results.Tier

	updates <-chan engine.Update
	live    *engine.Update // the newest
	shown   *engine.Update // the one on the screen: older while paused or played back
	phases  []phaseView    // of shown
	phase   int            // which is shown; -1 the newest

	zone   *time.Location
	now    time.Time
	still  time.Time // now, when the display was paused
	paused bool

	cancelling bool
}

func (r *runView) label() string {
	if r.found {
		return r.ref.Label()
	}
	return r.name
}

func (r *runView) onFound(m foundMsg) bool {
	if r.problem = m.err; m.err == nil {
		r.found, r.ref, r.updates, r.planned, r.tiers, r.gpus = true, m.ref, m.updates, m.phases, m.tiers, m.gpus
	}
	return r.found
}

func (r *runView) tick(now time.Time) {
	if now.After(r.now) {
		r.now = now
	}
}

func (r *runView) show(u *engine.Update) { r.shown, r.phases = u, phasesOf(r.planned, u) }

func (r *runView) clock(t time.Time) string { return t.In(r.zone).Format("15:04:05") }

// noPhase says that no phase has begun; for another tool's outputs, which have no
// steps either, it is never said.
func (r *runView) noPhase() bool {
	return r.shown != nil && len(r.shown.Run.Phases) == 0 && len(r.shown.Status.Phases) == 0 && r.ref.Record.ID != ""
}

// at is the index of the phase on the screen.
func (r *runView) at() int {
	if r.phase < 0 || r.phase >= len(r.phases) {
		return newest(r.phases)
	}
	return r.phase
}

// current is the phase on the screen; false before there is any.
func (r *runView) current() (phaseView, bool) {
	if len(r.phases) == 0 {
		return phaseView{}, false
	}
	return r.phases[r.at()], true
}

// turn brings another phase on the screen.
func (r *runView) turn(by int) {
	n := len(r.phases)
	if n < 2 {
		return
	}
	if r.phase = (r.at() + by + n) % n; r.phase == newest(r.phases) {
		r.phase = -1 // on with the newest as they come
	}
}

// recent is the last minute, as long as the phase on the screen is running.
func (r *runView) recent(p phaseView) *results.Recent {
	recent := r.shown.Recent
	if recent == nil || recent.Phase != p.index || r.shown.Done || r.shown.Status.State.Final() {
		return nil
	}
	return recent
}

// lastRequest is when the newest request ended.
func (r *runView) lastRequest() time.Time {
	var end float64
	for _, x := range r.live.Series {
		if n := len(x.Buckets); n > 0 {
			end = max(end, x.Buckets[n-1].Start+x.Buckets[n-1].Seconds)
		}
	}
	if end == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(end * 1000))
}

// telling is the step whose log tells most now: the one that a failed run blames, or
// the first that is waited for; empty: the client's.
func (r *runView) telling() string {
	if r.live == nil {
		return ""
	}
	switch st := r.live.Status; st.State {
	case event.Failed:
		return failedStep(st)
	case event.Starting:
		if _, _, waiting := bringUp(st); len(waiting) > 0 {
			return waiting[0].Name
		}
	}
	return ""
}

// noCancel is why the run can't be cancelled now; empty when it can.
func (r *runView) noCancel() string {
	switch {
	case r.live == nil:
		return "nothing known yet"
	case r.ref.Record.ID == "":
		return "not started here"
	case r.live.Status.State.Final() || r.live.Done:
		return "it has ended"
	case r.live.Status.State == event.Unknown:
		return "its state is unknown"
	case r.cancelling:
		return "under way"
	}
	return ""
}

// cancel asks the run to end, if it can be.
func (r *runView) cancel(ctx context.Context, eng Engine) tea.Cmd {
	if r.noCancel() != "" {
		return nil
	}
	r.cancelling = true
	run := r.ref
	said := ui.Toast{Text: "asked the run to end; its client has 30 s for what is in flight", Role: ui.Warn}
	return tea.Batch(func() tea.Msg { return cancelledMsg{eng.Cancel(ctx, run)} }, ui.Send(said))
}

func (r *runView) onCancelled(m cancelledMsg) tea.Cmd {
	r.cancelling = false
	if m.err != nil {
		return ui.ShowError(m.err)
	}
	return ui.Send(ui.Toast{Text: "the run has ended in an orderly way", Role: ui.OK})
}

// noCompare is why there is nothing to compare.
func (r *runView) noCompare() string {
	if r.live == nil || len(r.live.Run.Phases) == 0 {
		return "no figures yet"
	}
	return ""
}

// lost is what a run that is cancelled at a time loses, for the question.
func (r *runView) lost(at time.Time) string {
	p, ok := r.current()
	text := "Nothing has been measured yet."
	if ok {
		for _, part := range p.partsOf(at, time.Time{}) {
			if part.state == running || part.state == over {
				text = fmt.Sprintf("It is in phase %d, %s for %s.", p.index, part.name, ui.Clock(part.spent))
			}
		}
	}
	return text + " The client gets time for what is in flight, then the servers are shut down." +
		" What was written so far stays in the run's folder."
}

// State is the run's state, and how old the newest event and request are.
func (r *runView) State() ui.State {
	switch {
	case r.problem != nil:
		return ui.State{Text: "✗ not shown", Role: ui.Bad}
	case r.live == nil:
		return ui.State{Text: "reading", Role: ui.Muted}
	}
	st := r.live.Status
	mark, role := ui.StateMark(string(st.State))
	out := ui.State{Text: mark + " " + ui.Clean(ui.StateText(string(st.State))), Role: role}
	if !r.live.StalledSince(r.now).IsZero() {
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
		add("since "+r.clock(r.still)+", ", r.still)
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
