package parity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// requestRows returns the row of measured requests, which has no difference, and that of failed
// requests if there are any.
func requestRows(label string, ref, cand *Side) []Row {
	text := func(s *Side) string {
		if n := s.Phase.Requests; n != nil {
			return fmt.Sprintf("%s (%s)", results.Count(n.Successful), results.Count(n.Failed))
		}
		return dash
	}
	rows := []Row{{
		Metric: label, Reference: text(ref), Candidate: text(cand), Delta: dash, Parts: []Part{}, Flags: []string{},
	}}
	a, b := failed(ref), failed(cand)
	if cmp.Or(a.n, b.n) > 0 {
		rows = append(rows, failedRow(ref, cand, a, b))
	}
	return rows
}

// failures are the failed requests of a side; of is 0 if they are unknown.
type failures struct{ n, of int }

func failed(s *Side) failures {
	if n := s.Phase.Requests; n != nil {
		return failures{n.Failed, n.Measured}
	}
	return failures{}
}

// figure returns the share as a figure, which has no class.
func (f failures) figure() results.Figure {
	unknown := math.NaN()
	return results.Figure{
		Key: FailedShare, Label: failedLabel, Unit: results.Fraction.Name, Value: f.share(), N: f.n, Of: f.of,
		Client: unknown, Low: unknown, High: unknown,
	}
}

func (f failures) share() float64 { return float64(f.n) / float64(f.of) } // NaN if unknown

// failedRow compares the shares of failed requests. The difference is in percentage points, since
// there is no relative difference from a share of 0.
func failedRow(ref, cand *Side, a, b failures) Row {
	decimals := 2 // enough to show that a share is not 0
	for _, f := range []failures{a, b} {
		for f.n > 0 && decimals < 6 && f.share()*100 < math.Pow10(-decimals) {
			decimals++
		}
	}
	form := numberFormat{decimals: decimals, scale: 100, unit: "%"}
	row := Row{Metric: failedLabel, Delta: dash, Flags: []string{}}
	p := Part{
		Key: FailedShare, Label: failedLabel, Better: results.Lower,
		Reference: finite(a.share()), Candidate: finite(b.share()),
		Text:    [2]string{form.number(a.share()), form.number(b.share())},
		Figures: [2]results.Figure{a.figure(), b.figure()},
	}
	row.Reference, row.Candidate = form.join(p.Text[:1]), form.join(p.Text[1:])
	if difference := b.share() - a.share(); finite(difference) != nil {
		row.Delta = "="
		if difference != 0 {
			row.Delta = strings.TrimSuffix(results.Change(difference, decimals), "%") + " pp"
		}
		switch z := zScore(a, b); {
		case z > significantZ:
			p.Flags = append(p.Flags, "worse")
		case z < -significantZ:
			p.Flags = append(p.Flags, "better")
		}
	}
	p.DeltaText = row.Delta
	for i, s := range []*Side{ref, cand} {
		if kinds := errorKinds(s.Phase.Errors); kinds != "" {
			p.Flags = append(p.Flags, sideNames[i]+" errors: "+kinds)
		}
	}
	row.Flags, row.Parts = append(row.Flags, p.Flags...), []Part{p}
	return row
}

// FailedShare is the key of the row that compares the shares of failed requests.
const FailedShare = "failed_share"

const failedLabel = "Failed requests"

// significantZ is the z-score above which two shares of failed requests differ significantly, at a
// level of 1 %.
const significantZ = 2.576

// zScore returns the difference of two shares in standard errors, 0 if there is none.
func zScore(a, b failures) float64 {
	pooled := float64(a.n+b.n) / float64(a.of+b.of)
	deviation := math.Sqrt(pooled * (1 - pooled) * (1/float64(a.of) + 1/float64(b.of)))
	if !(deviation > 0) {
		if a.share() == b.share() {
			return 0
		}
		return math.Copysign(math.Inf(1), b.share()-a.share())
	}
	return (b.share() - a.share()) / deviation
}

// errorKinds formats the number of failed requests by kind, the most frequent first.
func errorKinds(kinds map[string]int) string {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(kinds[b]-kinds[a], cmp.Compare(a, b)) })
	var texts []string
	for _, name := range names {
		texts = append(texts, stripControl(name)+" "+results.Count(kinds[name]))
	}
	return strings.Join(texts, ", ")
}
