package dashboard

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// During startup, the log of the first step that is not ready is open, then the client's,
// unless the user chose another one.
func TestLogOfThePendingStepIsOpened(t *testing.T) {
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
	r.send(updatedMsg{update: ready, hasUpdate: true})
	if r.s.log.step != "client" {
		t.Errorf("when ready: log %s", r.s.log.step)
	}
	r.send(updatedMsg{update: waits, hasUpdate: true})
	r.send(frametest.Keys("l")...)
	chosen := r.s.log.step
	r.send(updatedMsg{update: ready, hasUpdate: true})
	if r.s.log.step != chosen {
		t.Errorf("log %s was chosen, but %s is open", chosen, r.s.log.step)
	}
}

func TestReasonText(t *testing.T) {
	t.Parallel()
	const gone = "ReqNodeNotAvail, UnavailableNodes:gb300-T03"
	for reason, want := range map[string]string{
		"Priority": "Priority, jobs with higher priority are ahead", "QOSGrpCpuLimit": "QOSGrpCpuLimit",
		gone: gone + ", required nodes are not available",
	} {
		if got := reasonText(reason); got != want {
			t.Errorf("%s: %s", reason, got)
		}
	}
}
