package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

// While a phase runs, its window is short, which marks no figure. Other reasons do, and the
// screen names them, also if the phase has ended and the run has not.
func TestInvalidFiguresOfARunningPhase(t *testing.T) {
	t.Parallel()
	short := results.Reason{ID: results.WindowInvalid, Text: "measuring window too short", Class: results.Invalid}
	step := results.Reason{ID: results.ClockStep, Text: "clock changed: 3 request(s)", Class: results.Invalid}
	row := func(i int, tokens string) string {
		start := 1000 + 0.25*float64(i)
		return fmt.Sprintf(`{"phase_idx":0,"user_id":%d,"conversation_id":"c","conversation_idx":%d,"request_id":"r%d",`+
			`"start_time":%g,"end_time":%g,"ttft":0.1,"server_output_tokens":%s,"success":true}`,
			i%12, i, i, start, start+0.5, tokens)
	}
	running := func(every int) results.Phase {
		agg := results.NewAggregator()
		t.Cleanup(agg.Close)
		agg.SetRunning(true)
		agg.AddPlan(results.PlannedPhase{Phase: 0, Concurrency: 12, Timeout: 3600, MinMeasurement: 900})
		for i := range 1200 {
			if i%every == every-1 {
				_ = agg.AddRequestRow([]byte(row(i, ",")))
			} else if err := agg.AddRequestRow([]byte(row(i, "30"))); err != nil {
				t.Fatal(err)
			}
		}
		p := agg.Snapshot(time.Unix(1300, 0)).Phases[0]
		p.Index = 1
		return p
	}
	ended := running(1e9)
	ended.Provisional, ended.Reasons = false, []results.Reason{short, step}
	ended.Invalid = []string{short.Text, step.Text}
	for name, tt := range map[string]struct {
		phase                 results.Phase
		head, rate, ttft, why string
	}{
		"short window": {running(1e9), "~ so far", "120.0", "0.100", ""},
		"unreadable rows": {
			running(2), "~ so far", "≥ 60.0", "! 0.100",
			"⚠ figures not reliable: 600 of 1,200 rows could not be read",
		},
		"phase ended": {
			ended, "measured", "! 120.0", "! 0.100",
			"⚠ figures not reliable: measuring window too short; clock changed: 3 request(s)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := measuringUpdate()
			u.Run.Phases[1] = tt.phase
			r := newRig(t, u)
			r.s.SetSize(120, 40)
			shown := ansi.Strip(r.s.View())
			for label, want := range map[string]string{"FIGURES": tt.head, "output (tok/s)": tt.rate, "TTFT p50 (s)": tt.ttft} {
				_, rest, _ := strings.Cut(shown, "\n "+label+" ")
				if !strings.HasPrefix(strings.TrimLeft(rest, " "), want+"  ") {
					t.Errorf("%s is not %s: %.60q", label, want, rest)
				}
			}
			if !strings.Contains(shown, tt.why) || tt.why == "" && strings.Contains(shown, "reliable") {
				t.Errorf("no %q in\n%s", tt.why, shown)
			}
		})
	}
}
