package parity

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// Each metric declared for comparisons has a row, and each quantity declared for pairs
// is in the view of turns.
func TestAllMetricsAreShown(t *testing.T) {
	t.Parallel()
	f := paired()
	for i := range f.sides {
		p := &f.sides[i].Phase
		p.Figures = nil
		for k, m := range results.Metrics {
			value := (float64(k) + 1.25) / m.Unit.Scale
			p.Figures = append(p.Figures, results.Figure{Key: m.Key, Value: value, Client: math.NaN()})
		}
	}
	r := newRig(t, f, "a", "b")
	r.s.SetSize(200, 100)
	frame := ansi.Strip(r.s.View())
	for k, m := range results.Metrics {
		if m.Parity == nil {
			continue
		}
		want := results.Decimal(float64(k)+1.25, m.Decimals)
		if m.Unit == results.Seconds {
			want += " s"
		}
		found := false
		for line := range strings.Lines(frame) {
			_, rest, ok := strings.Cut(line, m.ShortLabel()+" ")
			found = found || ok && strings.Count(rest, want) >= 2
		}
		if !found {
			t.Errorf("no row %s with %s", m.ShortLabel(), want)
		}
	}
	r.send(frametest.Keys("t")...)
	frame = ansi.Strip(r.s.View())
	for _, q := range results.PairedQuantities() {
		if !strings.Contains(frame, q.Paired().Short+" ") || q != results.TTFT && q.Paired().Short == "" {
			t.Errorf("%s is not in the view of turns", q.Paired().Label)
		}
	}
}
