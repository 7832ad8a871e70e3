package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// phaseView is one phase: its plan, its times from the event log, and its results from
// the request rows. Each may be nil.
type phaseView struct {
	index       int
	position    int // in the order of phases
	concurrency int
	plan        *plan.Phase
	times       *event.PhaseTimes
	result      *results.Phase
	series      *results.Series
}

// mergePhases joins plan, times and results by the index of the phase.
func mergePhases(planned []plan.Phase, u *engine.Update) []phaseView {
	var out []phaseView
	findOrAdd := func(index, concurrency int) *phaseView {
		for i := range out {
			if out[i].index == index {
				return &out[i]
			}
		}
		out = append(out, phaseView{index: index, position: len(out), concurrency: concurrency})
		return &out[len(out)-1]
	}
	for i := range planned {
		findOrAdd(planned[i].Index, planned[i].Concurrency).plan = &planned[i]
	}
	if u == nil {
		return out
	}
	for i := range u.Status.Phases {
		m := &u.Status.Phases[i]
		findOrAdd(m.Phase, m.Concurrency).times = m
	}
	for i := range u.Run.Phases {
		p := &u.Run.Phases[i]
		findOrAdd(p.Index, p.Concurrency).result = p
	}
	for i := range u.Series {
		findOrAdd(u.Series[i].Phase, 0).series = &u.Series[i]
	}
	return out
}

// newestPhase returns the position of the last phase that has started.
func newestPhase(phases []phaseView) int {
	at := 0
	for i, p := range phases {
		if p.times != nil || p.result != nil {
			at = i
		}
	}
	return at
}

type progress int

const (
	notStarted progress = iota
	running
	completed
	interrupted // the phase stopped during this part
	skipped     // the phase stopped before this part
)

// phasePart is ramp, settling or measuring, in seconds.
type phasePart struct {
	name    string
	planned float64 // NaN without a plan
	spent   float64
	state   progress
}

// parts returns the parts of a phase with their progress at now. ended is when the run
// ended, for a phase whose stop was not recorded; zero while the run continues.
func (p phaseView) parts(now, ended time.Time) []phasePart {
	nan := math.NaN()
	parts := []phasePart{{name: "ramp", planned: nan}, {name: "settling", planned: nan}, {name: "measuring", planned: nan}}
	if p.plan != nil && p.plan.Known() {
		parts[0].planned, parts[1].planned = p.plan.RampSeconds, p.plan.SettlingSeconds
		parts[2].planned = max(p.plan.TimeoutSeconds-p.plan.RampSeconds-p.plan.SettlingSeconds, p.plan.MinMeasurement)
	}
	if p.times == nil {
		if p.result != nil && p.result.Window != nil { // an external run has no events
			parts[2].spent, parts[2].state = p.result.Window.Seconds, completed
			return parts[2:]
		}
		return parts
	}
	stop := p.times.Stop
	if stop.IsZero() {
		stop = ended
	}
	begins := []time.Time{p.times.Ramp, p.times.Settling, p.times.Measuring}
	if p.plan == nil && p.times.Settling.IsZero() { // external run: ramp and settling are not distinguishable
		parts = []phasePart{{name: "ramp, settling", planned: nan}, parts[2]}
		begins = []time.Time{p.times.Ramp, p.times.Measuring}
	}
	last := len(parts) - 1
	for i := range parts {
		switch {
		case begins[i].IsZero():
			if !stop.IsZero() {
				parts[i].state = skipped
			}
		case i < last && !begins[i+1].IsZero():
			parts[i].spent, parts[i].state = begins[i+1].Sub(begins[i]).Seconds(), completed
		case !stop.IsZero():
			parts[i].spent, parts[i].state = stop.Sub(begins[i]).Seconds(), interrupted
			if i == last { // measuring ends when the phase stops
				parts[i].state = completed
			}
		default:
			parts[i].spent, parts[i].state = max(now.Sub(begins[i]).Seconds(), 0), running
		}
	}
	return parts
}

// drawParts draws the parts on a line of w cells. The running, interrupted or last part
// gets the remaining width. A narrow line drops the other bars first, then the completed
// parts, then the parts not started.
func drawParts(th ui.Theme, parts []phasePart, w int) string {
	const minBar = 10
	current := len(parts) - 1
	for i, p := range parts {
		if p.state == running || p.state == interrupted {
			current = i
		}
	}
	line := ""
	for _, layoutOf := range []func(i int) (bar int, shown bool){
		func(i int) (int, bool) { return []int{12, 6, 12}[min(i, 2)], true },
		func(int) (int, bool) { return 0, true },
		func(i int) (int, bool) { return 0, i > current },
		func(int) (int, bool) { return 0, false },
	} {
		fixed := 0
		texts := make([]string, len(parts))
		for i, p := range parts {
			bar, shown := layoutOf(i)
			if i == current {
				bar, shown = 0, true
			}
			if shown {
				texts[i] = drawPart(th, p, bar, i == len(parts)-1)
				fixed += ui.Width(texts[i]) + 2
			}
		}
		room := w - fixed + 1 // one separator of two cells less, one space before the bar
		if room >= minBar {
			texts[current] = drawPart(th, parts[current], room, current == len(parts)-1)
		}
		line = strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "  ")
		if room >= minBar {
			break
		}
	}
	return line
}

// drawPart draws the name, a bar of bar cells, and the times of a part. With estimate, the planned
// time is marked as approximate.
func drawPart(th ui.Theme, p phasePart, bar int, estimate bool) string {
	role, fraction := ui.Accent, 0.0
	times := ui.Clock(p.spent)
	planned := ""
	if !math.IsNaN(p.planned) {
		planned = ui.Clock(p.planned)
		if estimate {
			planned = "~" + planned
		}
		if p.planned > 0 {
			fraction = p.spent / p.planned
		}
	}
	name := p.name
	switch p.state {
	case notStarted:
		name, times = th.Paint(ui.Muted, name), th.Paint(ui.Muted, planned)
	case running:
		if planned != "" {
			times += th.Paint(ui.Muted, " / "+planned)
		}
	case completed:
		role = ui.Muted
		if !estimate || planned == "" {
			fraction = 1
		}
		if estimate && planned != "" && math.Abs(p.planned-p.spent) > 1 {
			times += th.Paint(ui.Muted, " / "+planned)
		}
		if bar == 0 {
			name += th.Paint(ui.OK, " ✓")
		}
	case interrupted:
		role = ui.Warn
		name += th.Paint(ui.Warn, " ✗")
		if planned != "" {
			times += th.Paint(ui.Muted, " / "+planned)
		}
	case skipped:
		name, times = th.Paint(ui.Muted, name), th.Paint(ui.Muted, "not reached")
		bar = 0
	}
	line := name
	if bar > 0 {
		line += " " + th.Bar(bar, fraction, role)
	}
	if times != "" {
		line += " " + times
	}
	return line
}

// deadline returns when a running phase times out; zero if unknown.
func (p phaseView) deadline() time.Time {
	if p.plan == nil || !p.plan.Known() || p.times == nil || p.times.Ramp.IsZero() || !p.times.Stop.IsZero() {
		return time.Time{}
	}
	return p.times.Ramp.Add(time.Duration(p.plan.TimeoutSeconds * float64(time.Second)))
}

// stopCriteria returns the stop criteria of a phase, with a check mark if one is met. The
// number of completed trajectories is not available during a phase.
func (p phaseView) stopCriteria(th ui.Theme, now time.Time) []string {
	if p.plan == nil {
		return nil
	}
	pl := p.plan
	if !pl.Known() {
		return []string{"stop criteria unknown: the run was planned without its workload"}
	}
	measured := fmt.Sprintf("stop: measured ≥ %s", ui.Clock(pl.MinMeasurement))
	if p.times != nil && !p.times.Measuring.IsZero() && now.Sub(p.times.Measuring).Seconds() >= pl.MinMeasurement {
		measured += th.Paint(ui.OK, " ✓")
	}
	out := []string{measured}
	if pl.MinTotal > 0 {
		out = append(out, "trajectories ≥ "+results.Count(pl.MinTotal))
	}
	if pl.MinPerUser > 0 {
		out = append(out, "≥ "+results.Count(pl.MinPerUser)+" per user")
	}
	return append(out, "timeout "+ui.Clock(pl.TimeoutSeconds))
}

// title returns the title of a phase, given the number of phases.
func (p phaseView) title(count int) string {
	s := fmt.Sprintf("phase %d", p.index)
	if count > 1 {
		s += fmt.Sprintf(" (%d of %d)", p.position+1, count)
	}
	if p.concurrency > 0 {
		s += " · " + results.Count(p.concurrency) + " users"
	}
	return s
}
