package results

import (
	"slices"
	"time"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// noRows is the warning for a phase without request rows.
const noRows = "no request rows: all figures are " + methodStated

// ReadStated returns a phase with the figures that a statistics file, or a document with the same
// keys, states. by says who states them. The requests behind them are unknown, so their class is
// empty unless they are invalid. minMeasurement is the minimum length of the measuring window, in
// seconds; 0 if it is unknown.
func ReadStated(stem harness.Stem, data []byte, by string, minMeasurement float64) (Phase, error) {
	agg := NewAggregator()
	agg.SetMinMeasurement(minMeasurement)
	if err := agg.AddStatistics(stem, data); err != nil {
		return Phase{}, err
	}
	p := agg.Snapshot(time.Time{}).Phases[0]
	p.Warnings = slices.DeleteFunc(p.Warnings, func(w string) bool { return w == noRows })
	for i := range p.Figures {
		f := &p.Figures[i]
		f.Method = "as stated by " + by
		if f.Class == Exact {
			f.Class = ""
		}
	}
	return p, nil
}
