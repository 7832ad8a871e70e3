package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// maxDeviation is the largest relative difference between two statements of the same value that do
// not contradict each other.
const maxDeviation = 0.01

// checkStatistics adds the contradictions within a statistics file that is the only source of figures.
func (b *phaseBuilder) checkStatistics() {
	s := b.stats
	if text := s.contradiction(); text != "" {
		b.invalid(Contradiction, "%s.json: it contradicts its name: %s", s.stem, text)
	}
	for _, name := range []string{"total", "measured", "successful", "failed"} {
		if n := s.number("requests", name); n < 0 {
			b.invalid(Contradiction, "the number of %s requests is negative: %g", name, n)
		}
	}
	measured, successful, failed := s.count("requests", "measured"), s.count("requests", "successful"),
		s.count("requests", "failed")
	if measured >= 0 && successful >= 0 && failed >= 0 && measured != successful+failed {
		b.invalid(Contradiction, "%s measured requests are not the sum of %s successful and %s failed ones",
			Count(measured), Count(successful), Count(failed))
	}
	if successful == 0 {
		b.invalid(Contradiction, "no request succeeded")
	}
	if d := s.number("measurement_duration_s"); d <= 0 {
		b.invalid(WindowInvalid, "the measuring window must be longer than 0 s, found %g s", d)
	}
	for i := range b.phase.Figures {
		f := &b.phase.Figures[i]
		if why := FindMetric(f.Key).invalidReason(successful); why != "" && !math.IsNaN(f.Value) {
			f.addReason(Reason{ID: FewSamples, Text: why, Class: Invalid})
		}
	}
	b.phase.Figures.checkOrder()
	b.checkStatedRates()
}

// checkStatedRates adds a reason to a rate that is not the quotient of the stated tokens and window.
func (b *phaseBuilder) checkStatedRates() {
	s, figures := b.stats, b.phase.Figures
	seconds := s.number("measurement_duration_s")
	output, input := s.metric(FindMetric(OutputSum)), s.metric(FindMetric("input_tokens"))
	for _, rate := range []struct {
		key    string
		tokens float64
	}{{Primary, output}, {TotalRate, input + output}} {
		i := slices.IndexFunc(figures, func(f Figure) bool { return f.Key == rate.key })
		expected, m := rate.tokens/seconds, FindMetric(rate.key)
		step := math.Pow10(-m.Decimals) / m.Unit.Scale // it may be rounded
		if !(seconds > 0) || math.Abs(figures[i].Value-expected) <= max(maxDeviation*expected, step) {
			continue
		}
		if !math.IsNaN(figures[i].Value) && !math.IsNaN(expected) {
			figures[i].addReason(Reason{ID: Contradiction, Class: Invalid, Text: fmt.Sprintf(
				"%s tokens in %s s are %s", Decimal(rate.tokens, 0), Decimal(seconds, 1), m.Text(expected))})
		}
	}
}

// checkOrder adds a reason to percentiles of a quantity that are below a lower percentile of it.
func (fs Figures) checkOrder() {
	all := make([]*Figure, 0, len(fs))
	for i := range fs {
		if m := FindMetric(fs[i].Key); m.Formula.Kind == Percentile && !math.IsNaN(fs[i].Value) {
			all = append(all, &fs[i])
		}
	}
	formula := func(f *Figure) Formula { return FindMetric(f.Key).Formula }
	slices.SortStableFunc(all, func(a, b *Figure) int {
		return cmp.Or(cmp.Compare(formula(a).Of, formula(b).Of), cmp.Compare(formula(a).Percentile, formula(b).Percentile))
	})
	for i := 1; i < len(all); i++ {
		low, high := all[i-1], all[i]
		if formula(low).Of != formula(high).Of || low.Value <= high.Value {
			continue
		}
		reason := Reason{ID: Contradiction, Class: Invalid, Text: fmt.Sprintf("p%g is below p%g",
			formula(high).Percentile, formula(low).Percentile)}
		low.addReason(reason)
		high.addReason(reason)
	}
}

// compareCounts compares the number of requests that the client reports with that in the rows. If
// they differ in the measured requests, figures depend on rows that are missing or do not belong here.
func (b *phaseBuilder) compareCounts() {
	r := b.phase.Requests
	if b.stats == nil || r == nil {
		return
	}
	rows := []int{b.phase.Total, r.Measured, r.Successful, r.Failed}
	for i, name := range []string{"total", "measured", "successful", "failed"} {
		n := b.stats.count("requests", name)
		if n < 0 || n == rows[i] {
			continue
		}
		const format = "%s requests: the client reports %d, the rows contain %d"
		if name != "measured" {
			b.warn(format, name, n, rows[i])
			continue
		}
		id := RowsMissing
		if n < rows[i] {
			id = Contradiction
		}
		b.add(newReason(id, math.Abs(float64(n-rows[i]))/float64(max(n, rows[i])), format, name, n, rows[i]))
	}
	w, stated := b.phase.Window, b.stats.number("measurement_duration_s")
	if w.Source == FromManifest && math.Abs(stated-w.Seconds) > maxDeviation*w.Seconds {
		b.warn("measuring window: the client reports %s s, %s contains %s s", Decimal(stated, 1), ManifestFile,
			Decimal(w.Seconds, 1))
	}
}
