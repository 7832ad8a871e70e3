package dashboard

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// headPending says why a job waits, where it stands and when it may start.
func (s *Screen) headPending(w int) []string {
	q := s.shown.Status.Queue
	why := "the queue has not told why yet"
	if q.Reason != "" {
		why = reasonWords(q.Reason)
	}
	var facts []string
	if q.Position > 0 {
		facts = append(facts, fmt.Sprintf("position %d of %d that wait", q.Position, q.Waiting))
	}
	switch left := q.Start.Sub(s.clockNow()); {
	case q.Start.IsZero():
		facts = append(facts, "no expected start yet")
	case left > 0:
		facts = append(facts, "expected to start "+q.Start.In(s.zone).Format("2006-01-02 15:04")+", in "+ui.Clock(left.Seconds()))
	default:
		facts = append(facts, "may start any moment")
	}
	if since := s.located.Record.Created; !since.IsZero() {
		facts = append(facts, "submitted "+s.clock(since))
	}
	return []string{" waits: " + ui.Fit(ui.Clean(why), w-8), " " + s.some(facts, w-1)}
}

// reasons say in a few words what Slurm's for a waiting job mean.
var reasons = map[string]string{
	"Resources": "its nodes are not free yet", "Priority": "jobs of a higher priority are before it", "BeginTime": "its begin time has not come",
	"Dependency": "another job must end first", "JobHeldUser": "held by its user", "JobHeldAdmin": "held by an administrator", "ReqNodeNotAvail": "nodes that it needs are not available",
	"PartitionDown": "its partition is down", "PartitionTimeLimit": "its time limit is above the partition's", "QOSMaxNodePerUserLimit": "the nodes of its user's limit are in use",
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

// telling is the step whose log tells most now: the one that a failed run blames, or
// the first that is waited for; empty: the client's.
func telling(st event.Status) string {
	switch st.State {
	case event.Failed:
		return failedStep(st)
	case event.Starting:
		if _, _, waiting := bringUp(st); len(waiting) > 0 {
			return waiting[0].Name
		}
	}
	return ""
}
