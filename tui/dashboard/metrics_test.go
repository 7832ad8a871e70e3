package dashboard

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// Each metric declared for the dashboard has a line of figures, and each declared for
// charts has a curve.
func TestAllMetricsAreShown(t *testing.T) {
	t.Parallel()
	u := measuringUpdate()
	phase := &u.Run.Phases[1]
	phase.Figures = nil
	for i, m := range results.Metrics {
		phase.Figures = append(phase.Figures, results.Figure{Key: m.Key, Value: (float64(i) + 1.25) / m.Unit.Scale, N: 1000})
	}
	r := newRig(t, u)
	frame := func() string {
		r.s.SetSize(200, 150)
		return ansi.Strip(r.s.View())
	}
	figures := frame()
	for i, m := range results.Metrics {
		if m.Dashboard == nil {
			continue
		}
		want := results.Decimal(float64(i)+1.25, m.Dashboard.Decimals)
		_, rest, ok := strings.Cut(figures, "\n "+m.Dashboard.Label+" ")
		if !ok || !strings.HasPrefix(strings.TrimLeft(rest, " "), want+" ") {
			t.Errorf("%s is not %s: %.60q", m.Dashboard.Label, want, rest)
		}
	}
	charts := ""
	for range trends {
		charts += frame()
		r.send(frametest.Keys("t")...)
	}
	for _, m := range results.TrendMetrics {
		drawn := slices.ContainsFunc(strings.Split(charts, "\n"), func(line string) bool {
			return strings.Contains(line, m.Trend.Chart) && strings.Contains(line, m.Trend.Curve)
		})
		if !drawn {
			t.Errorf("no curve %s in a chart %s", m.Trend.Curve, m.Trend.Chart)
		}
	}
}
