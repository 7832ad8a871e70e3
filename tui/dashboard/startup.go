package dashboard

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// startup returns the headline before the first phase: the number of ready steps.
func (h headline) startup() []string {
	st := h.run.shown.Status
	ready, started, waiting := countReady(st)
	switch {
	case started == 0 && st.State == event.Pending && st.Queue != nil:
		return h.pendingLines()
	case started == 0:
		line := "waiting for the first step"
		if !st.Since.IsZero() {
			line += ", " + ui.Clean(string(st.State)) + " since " + h.run.clock(st.Since)
		}
		return []string{" " + line, ""}
	}
	facts := fmt.Sprintf("%d of %d steps ready", ready, started)
	if want := st.Want; want.Prefill+want.Decode > 0 {
		facts += fmt.Sprintf(" · %d of %d prefill, %d of %d decode healthy",
			st.Have.Prefill, want.Prefill, st.Have.Decode, want.Decode)
	}
	const lead = " startup  "
	bar := h.th.Bar(min(max(h.w-ui.Width(lead+facts)-3, 6), 40), float64(ready)/float64(started), ui.Accent)
	second := " all started steps are ready"
	if n := len(waiting); n > 0 {
		first := waiting[0]
		second = " waiting for " + ui.Clean(first.Name)
		if n > 1 {
			second += fmt.Sprintf(" and %d more", n-1)
		}
		second += ", started " + h.run.clock(first.Started) + ", " +
			ui.Clock(max(h.at.Sub(first.Started).Seconds(), 0)) + " ago"
	} else if st.State == event.Ready {
		second = " all steps are ready; the client is starting"
	}
	return []string{lead + bar + "  " + facts, second}
}

// pendingLines returns why a job is pending, its position, and its expected start.
func (h headline) pendingLines() []string {
	q := h.run.shown.Status.Queue
	why := "reason not known yet"
	if q.Reason != "" {
		why = reasonText(q.Reason)
	}
	var facts []string
	if q.Position > 0 {
		facts = append(facts, fmt.Sprintf("position %d of %d pending jobs", q.Position, q.Waiting))
	}
	switch left := q.Start.Sub(h.at); {
	case q.Start.IsZero():
		facts = append(facts, "expected start unknown")
	case left > 0:
		start := q.Start.In(h.run.zone).Format("2006-01-02 15:04")
		facts = append(facts, "expected to start "+start+", in "+ui.Clock(left.Seconds()))
	default:
		facts = append(facts, "may start at any moment")
	}
	if since := h.run.ref.Record.Created; !since.IsZero() {
		facts = append(facts, "submitted "+h.run.clock(since))
	}
	return []string{" pending: " + ui.Fit(ui.Clean(why), h.w-10), " " + h.joinFitting(facts)}
}

// reasonTexts explains Slurm's reasons for a pending job.
var reasonTexts = map[string]string{
	"Resources":              "nodes are not free yet",
	"Priority":               "jobs with higher priority are ahead",
	"BeginTime":              "begin time not reached",
	"Dependency":             "waiting for another job",
	"JobHeldUser":            "held by the user",
	"JobHeldAdmin":           "held by an administrator",
	"ReqNodeNotAvail":        "required nodes are not available",
	"PartitionDown":          "partition is down",
	"PartitionTimeLimit":     "time limit exceeds that of the partition",
	"QOSMaxNodePerUserLimit": "node limit per user reached",
}

func reasonText(reason string) string {
	name, _, _ := strings.Cut(reason, ",")
	if words := reasonTexts[name]; words != "" {
		return reason + ", " + words
	}
	return reason
}

// healthy reports whether all workers of a step's role are healthy, as counted by the
// frontend. If so, a step without a readiness check counts as ready.
func healthy(st event.Status, step string) bool {
	role, _, _ := strings.Cut(step, "_")
	switch schema.Role(role) {
	case schema.Prefill:
		return st.Want.Prefill > 0 && st.Have.Prefill >= st.Want.Prefill
	case schema.Decode, schema.Agg:
		return st.Want.Decode > 0 && st.Have.Decode >= st.Want.Decode
	}
	return false
}
