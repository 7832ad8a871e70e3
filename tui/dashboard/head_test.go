package dashboard

import (
	"testing"

	"github.com/agentperf/agentperf-tui/engine/event"
)

func TestStopText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times event.PhaseTimes
		want  string
	}{
		{event.PhaseTimes{}, "stopped"},
		{event.PhaseTimes{Reason: "criteria"}, "stopped by criteria"},
		{event.PhaseTimes{Reason: "timeout", Cut: 1}, "stopped by timeout, 1 request cut off"},
		{event.PhaseTimes{Reason: "timeout", Cut: 3}, "stopped by timeout, 3 requests cut off"},
	} {
		if got := stopText(&c.times); got != c.want {
			t.Errorf("%+v: %q, want %q", c.times, got, c.want)
		}
	}
}
