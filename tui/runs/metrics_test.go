package runs

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// Each metric that is declared for the list has a column, or is a detail of the selected run.
func TestEveryMetricIsShown(t *testing.T) {
	t.Parallel()
	runs := fourRuns()[1:2]
	runs[0].Figures = nil
	for i, m := range results.Metrics {
		runs[0].Figures = append(runs[0].Figures, results.Figure{Key: m.Key, Value: (float64(i) + 1.25) / m.Unit.Scale})
	}
	s, _ := loaded(&fakeEngine{runs: runs})
	s.SetSize(200, 40)
	frame := ansi.Strip(s.View())
	for i, m := range results.Metrics {
		if m.Runs == nil {
			continue
		}
		if m.Runs.Title == "" && m.Runs.Detail == "" {
			t.Errorf("%s is declared for the list, but has neither a title nor a detail", m.Key)
		}
		if !strings.Contains(frame, m.Runs.Title) || m.Runs.Title != "" &&
			!strings.Contains(frame, " "+results.Decimal(float64(i)+1.25, m.Runs.Decimals)) {
			t.Errorf("no column %s", m.Runs.Title)
		}
		if m.Runs.Detail != "" && !strings.Contains(frame, m.Runs.Detail+" "+results.Decimal(float64(i)+1.25, m.Decimals)) {
			t.Errorf("no %s in the details of the selected run", m.Runs.Detail)
		}
	}
}

// An invalid figure is marked in the columns and in the details of the selected run.
func TestInvalidFiguresAreMarked(t *testing.T) {
	t.Parallel()
	runs := fourRuns()[1:2]
	runs[0].Figures = figures(120, 0.11, 1.5)
	for i := range runs[0].Figures {
		runs[0].Figures[i].Class = results.Invalid
	}
	s, _ := loaded(&fakeEngine{runs: runs})
	s.SetSize(120, 40)
	frame := ansi.Strip(s.View())
	for _, want := range []string{" ! 120 ", " ! 0.11 s ", "cache 150.0 % ! "} {
		if !strings.Contains(frame, want) {
			t.Errorf("no %q in\n%s", want, frame)
		}
	}
}
