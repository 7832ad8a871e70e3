package dashboard

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// While servers come up, the log is that of the first one that is waited for; the
// client's comes when they are there, unless another was chosen.
func TestTheLogOfWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	waits := bringUpUpdate()
	waits.Status.Have = event.Count{Prefill: 5}
	ready := bringUpUpdate()
	ready.Status.State, ready.Status.Have = event.Ready, ready.Status.Want
	r := newRig(t, waits)
	if v := ansi.Strip(r.s.View()); r.s.log.step != "decode_0" || strings.Count(v, "● healthy") != 1 || !strings.Contains(
		v, "7 of 9 steps ready",
	) {
		t.Errorf("log %s\n%s", r.s.log.step, v)
	}
	r.send(updatedMsg{update: ready, any: true})
	if r.s.log.step != "client" {
		t.Errorf("then log %s", r.s.log.step)
	}
	r.send(updatedMsg{update: waits, any: true})
	r.send(frametest.Keys("l")...)
	chosen := r.s.log.step
	r.send(updatedMsg{update: ready, any: true})
	if r.s.log.step != chosen {
		t.Errorf("chosen %s, shown %s", chosen, r.s.log.step)
	}
}

func TestReasonWords(t *testing.T) {
	t.Parallel()
	const gone = "ReqNodeNotAvail, UnavailableNodes:gb300-T03"
	for reason, want := range map[string]string{
		"Priority": "Priority, jobs of a higher priority are before it", "QOSGrpCpuLimit": "QOSGrpCpuLimit",
		gone: gone + ", nodes that it needs are not available",
	} {
		if got := reasonWords(reason); got != want {
			t.Errorf("%s: %s", reason, got)
		}
	}
}
