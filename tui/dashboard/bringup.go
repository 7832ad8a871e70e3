package dashboard

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// bringUp is the headline before the first phase: which steps are ready.
func (h headline) bringUp() []string {
	st := h.run.shown.Status
	ready, started, waiting := bringUp(st)
	switch {
	case started == 0 && st.State == event.Pending && st.Queue != nil:
		return h.pending()
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
	const lead = " bring-up  "
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
		second = " all steps are ready, the client starts"
	}
	return []string{lead + bar + "  " + facts, second}
}

// pending says why a job waits, where it stands and when it may start.
func (h headline) pending() []string {
	q := h.run.shown.Status.Queue
	why := "the queue has not told why yet"
	if q.Reason != "" {
		why = reasonWords(q.Reason)
	}
	var facts []string
	if q.Position > 0 {
		facts = append(facts, fmt.Sprintf("position %d of %d that wait", q.Position, q.Waiting))
	}
	switch left := q.Start.Sub(h.at); {
	case q.Start.IsZero():
		facts = append(facts, "no expected start yet")
	case left > 0:
		start := q.Start.In(h.run.zone).Format("2006-01-02 15:04")
		facts = append(facts, "expected to start "+start+", in "+ui.Clock(left.Seconds()))
	default:
		facts = append(facts, "may start any moment")
	}
	if since := h.run.ref.Record.Created; !since.IsZero() {
		facts = append(facts, "submitted "+h.run.clock(since))
	}
	return []string{" waits: " + ui.Fit(ui.Clean(why), h.w-8), " " + h.some(facts)}
}

// reasons say in a few words what Slurm's for a waiting job mean.
var reasons = map[string]string{
	"Resources":              "its nodes are not free yet",
	"Priority":               "jobs of a higher priority are before it",
	"BeginTime":              "its begin time has not come",
	"Dependency":             "another job must end first",
	"JobHeldUser":            "held by its user",
	"JobHeldAdmin":           "held by an administrator",
	"ReqNodeNotAvail":        "nodes that it needs are not available",
	"PartitionDown":          "its partition is down",
	"PartitionTimeLimit":     "its time limit is above the partition's",
	"QOSMaxNodePerUserLimit": "the nodes of its user's limit are in use",
}

func reasonWords(reason string) string {
	name, _, _ := strings.Cut(reason, ",")
	if words := reasons[name]; words != "" {
		return reason + ", " + words
	}
	return reason
}

// healthy says whether the frontend counts all workers of a step's role: what has no
// readiness of its own is ready then.
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
