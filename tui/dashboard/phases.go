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

// phaseView is all that is known of one phase: what was planned, what the client
// said, what its rows give. Each of the three may be missing.
type phaseView struct {
	index  int
	place  int // in their order
	level  int
	plan   *plan.Phase
	mark   *event.PhaseTimes
	result *results.Phase
	series *results.Series
}

// phasesOf joins the three by the phase's index.
func phasesOf(planned []plan.Phase, u *engine.Update) []phaseView {
	var out []phaseView
	at := func(index, level int) *phaseView {
		for i := range out {
			if out[i].index == index {
				return &out[i]
			}
		}
		out = append(out, phaseView{index: index, place: len(out), level: level})
		return &out[len(out)-1]
	}
	for i := range planned {
		at(planned[i].Index, planned[i].Concurrency).plan = &planned[i]
	}
	if u == nil {
		return out
	}
	for i := range u.Status.Phases {
		m := &u.Status.Phases[i]
		at(m.Phase, m.Concurrency).mark = m
	}
	for i := range u.Run.Phases {
		p := &u.Run.Phases[i]
		at(p.Index, p.Concurrency).result = p
	}
	for i := range u.Series {
		at(u.Series[i].Phase, 0).series = &u.Series[i]
	}
	return out
}

// newest is the place of the last phase that has begun.
func newest(phases []phaseView) int {
	at := 0
	for i, p := range phases {
		if p.mark != nil || p.result != nil {
			at = i
		}
	}
	return at
}

type progress int

const (
	todo progress = iota
	running
	over
	cut     // the phase stopped in it
	skipped // the phase stopped before it
)

// part is one of ramp, settling and measurement, in seconds.
type part struct {
	name    string
	planned float64 // NaN when there is no plan
	spent   float64
	state   progress
}

// partsOf tells how far a phase is at a time. For a run that has ended without
// having stopped its phase, ended is when; else it is zero.
func (p phaseView) partsOf(now, ended time.Time) []part {
	nan := math.NaN()
	parts := []part{{name: "ramp", planned: nan}, {name: "settling", planned: nan}, {name: "measuring", planned: nan}}
	if p.plan != nil {
		parts[0].planned, parts[1].planned = p.plan.RampSeconds, p.plan.SettlingSeconds
		parts[2].planned = max(p.plan.TimeoutSeconds-p.plan.RampSeconds-p.plan.SettlingSeconds, p.plan.MinMeasurement)
	}
	if p.mark == nil {
		if p.result != nil && p.result.Window != nil { // an external run has no events
			parts[2].spent, parts[2].state = p.result.Window.Seconds, over
			return parts[2:]
		}
		return parts
	}
	stop := p.mark.Stop
	if stop.IsZero() {
		stop = ended
	}
	begins := []time.Time{p.mark.Ramp, p.mark.Settling, p.mark.Measuring}
	if p.plan == nil && p.mark.Settling.IsZero() { // of another tool's run nothing tells the two apart
		parts = []part{{name: "ramp, settling", planned: nan}, parts[2]}
		begins = []time.Time{p.mark.Ramp, p.mark.Measuring}
	}
	last := len(parts) - 1
	for i := range parts {
		switch {
		case begins[i].IsZero():
			if !stop.IsZero() {
				parts[i].state = skipped
			}
		case i < last && !begins[i+1].IsZero():
			parts[i].spent, parts[i].state = begins[i+1].Sub(begins[i]).Seconds(), over
		case !stop.IsZero():
			parts[i].spent, parts[i].state = stop.Sub(begins[i]).Seconds(), cut
			if i == last { // it is meant to be stopped
				parts[i].state = over
			}
		default:
			parts[i].spent, parts[i].state = max(now.Sub(begins[i]).Seconds(), 0), running
		}
	}
	return parts
}

// bars draws the parts on one line of w cells: the one that runs or was cut, or
// the last, has the room that is left. Where it is narrow the others' bars go, then the
// parts that are over, then those to come.
func bars(th ui.Theme, parts []part, w int) string {
	const least = 10
	at := len(parts) - 1
	for i, p := range parts {
		if p.state == running || p.state == cut {
			at = i
		}
	}
	line := ""
	for _, drop := range []func(i int) (bar int, shown bool){
		func(i int) (int, bool) { return []int{12, 6, 12}[min(i, 2)], true },
		func(int) (int, bool) { return 0, true },
		func(i int) (int, bool) { return 0, i > at },
		func(int) (int, bool) { return 0, false },
	} {
		fixed := 0
		texts := make([]string, len(parts))
		for i, p := range parts {
			bar, shown := drop(i)
			if i == at {
				bar, shown = 0, true
			}
			if shown {
				texts[i] = text(th, p, bar, i == len(parts)-1)
				fixed += ui.Width(texts[i]) + 2
			}
		}
		room := w - fixed + 1 // two cells less between than counted, one more before a bar
		if room >= least {
			texts[at] = text(th, parts[at], room, at == len(parts)-1)
		}
		line = strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "  ")
		if room >= least {
			break
		}
	}
	return line
}

// text is one part: name, bar of so many cells, times.
func text(th ui.Theme, p part, bar int, estimate bool) string {
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
	case todo:
		name, times = th.Paint(ui.Muted, name), th.Paint(ui.Muted, planned)
	case running:
		if planned != "" {
			times += th.Paint(ui.Muted, " / "+planned)
		}
	case over:
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
	case cut:
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

// ends is when a running phase ends at the latest; zero when that is not known.
func (p phaseView) ends() time.Time {
	if p.plan == nil || p.mark == nil || p.mark.Ramp.IsZero() || !p.mark.Stop.IsZero() {
		return time.Time{}
	}
	return p.mark.Ramp.Add(time.Duration(p.plan.TimeoutSeconds * float64(time.Second)))
}

// criteria are what stops a phase, with a tick where it is met by now. How many
// conversations are completed is in no file while a phase runs.
func (p phaseView) criteria(th ui.Theme, now time.Time) []string {
	if p.plan == nil {
		return nil
	}
	pl := p.plan
	measured := fmt.Sprintf("stop: measured ≥ %s", ui.Clock(pl.MinMeasurement))
	if p.mark != nil && !p.mark.Measuring.IsZero() && now.Sub(p.mark.Measuring).Seconds() >= pl.MinMeasurement {
		measured += th.Paint(ui.OK, " ✓")
	}
	out := []string{measured}
	if pl.MinTotal > 0 {
		out = append(out, "trajectories ≥ "+results.Count(pl.MinTotal))
	}
	if pl.MinPerUser > 0 {
		out = append(out, "≥ "+results.Count(pl.MinPerUser)+" a user")
	}
	return append(out, "timeout "+ui.Clock(pl.TimeoutSeconds))
}

// title names a phase among so many.
func (p phaseView) title(of int) string {
	s := fmt.Sprintf("phase %d", p.index)
	if of > 1 {
		s += fmt.Sprintf(" (%d of %d)", p.place+1, of)
	}
	if p.level > 0 {
		s += " · " + results.Count(p.level) + " users"
	}
	return s
}
