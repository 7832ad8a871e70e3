package parity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// Distribution holds TTFT percentiles of both sides, for a chart.
type Distribution struct {
	Percent   []float64 `json:"percent"`
	Reference []float64 `json:"reference_s"`
	Candidate []float64 `json:"candidate_s"`
}

func newDistribution(ref, cand *Side) *Distribution {
	d := &Distribution{}
	sides := [2][]float64{}
	for i, s := range []*Side{ref, cand} {
		for k := range s.Requests {
			if r := &s.Requests[k]; r.Measured && !r.Failed {
				sides[i] = appendKnown(sides[i], results.TTFT.Value(r))
			}
		}
		if len(sides[i]) == 0 {
			return nil
		}
		slices.Sort(sides[i])
	}
	for p := range 100 {
		d.Percent = append(d.Percent, float64(p))
	}
	d.Percent = append(d.Percent, 99.5, 99.9, 100)
	for _, p := range d.Percent {
		d.Reference = append(d.Reference, percentile.Of(sides[0], p))
		d.Candidate = append(d.Candidate, percentile.Of(sides[1], p))
	}
	return d
}

// usableReferences returns the additional references that can be used to measure the band, and a
// note on each of the others. A run of another configuration would make the band too wide.
func usableReferences(ref *Side, more []Side) (fits []Side, notes []string) {
	notes = []string{}
	for i := range more {
		s := &more[i]
		why := slices.Concat(identityDifferences(ref, s), s.Phase.Invalid)
		if s.Failure != "" {
			why = append(why, "the run "+s.Failure)
		}
		if s.Phase.Partial != "" {
			why = append(why, "partial: "+s.Phase.Partial)
		}
		if len(why) == 0 {
			fits = append(fits, *s)
			continue
		}
		notes = append(notes, stripControl(fmt.Sprintf("reference ignored: %s: %s", s.Name, strings.Join(why, "; "))))
	}
	return fits, notes
}

// referenceSpread returns, by metric key, the largest difference between two reference runs
// as a fraction of their mean.
func referenceSpread(ref *Side, more []Side) map[string]float64 {
	out := map[string]float64{}
	if len(more) == 0 {
		return out
	}
	for _, m := range results.Metrics {
		low, high := math.Inf(1), math.Inf(-1)
		for _, s := range append([]Side{*ref}, more...) {
			v := s.Phase.Figures.Get(m.Key).Value
			low, high = min(low, v), max(high, v) // NaN if a run has no value
		}
		out[m.Key] = (high - low) / ((high + low) / 2)
	}
	return out
}
