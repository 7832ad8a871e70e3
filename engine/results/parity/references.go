package parity

import (
	"fmt"
	"math"
	"os"
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

// usableReferences returns the additional references that can be used to compute the band, and a
// note on each of the others. A run of another configuration would make the band too wide, and a
// run that is counted twice would make it too narrow. A run of the same configuration whose primary
// figure is invalid or unknown is a reason why the runs are not comparable: without it, the band would be that of
// the runs in which nothing went wrong.
func usableReferences(ref, cand *Side, more []Side) (fits []Side, notes, reasons []string) {
	notes = []string{}
	label := results.FindMetric(results.Primary).Label
	for i := range more {
		s := &more[i]
		why := slices.Concat(s.sameRun(ref, cand, fits), propertyReasons(newProperties(ref, s)))
		invalid := s.unfit(results.Primary)
		if s.Failure != "" {
			why = append(why, "the run "+s.Failure)
		}
		if s.Phase.Partial != "" {
			why = append(why, "partial: "+s.Phase.Partial)
		}
		switch {
		case len(why) > 0:
		case math.IsNaN(s.figure(results.Primary).Value):
			reasons = append(reasons, s.unknownText(fmt.Sprintf("%s of reference %s is unknown", label, stripControl(s.Name)),
				results.Primary))
			continue
		case invalid != "":
			reasons = append(reasons, stripControl(fmt.Sprintf("%s of reference %s is invalid: %s", label, s.Name, invalid)))
			continue
		default:
			fits = append(fits, *s)
			continue
		}
		notes = append(notes, stripControl(fmt.Sprintf("reference ignored: %s: %s", s.Name, strings.Join(why, "; "))))
	}
	return fits, notes, reasons
}

// isSame reports whether the figures of both sides are known to be of the same run or file.
func (s *Side) isSame(o *Side) bool {
	return s.file != nil && o.file != nil && os.SameFile(s.file, o.file) ||
		s.About.Job != "" && s.About.Job == o.About.Job && s.About.Cluster == o.About.Cluster
}

// sameRun returns the reason that a reference can't be used because its run is already used.
func (s *Side) sameRun(ref, cand *Side, more []Side) []string {
	switch {
	case s.isSame(cand):
		return []string{"it is the candidate"}
	case s.isSame(ref), slices.ContainsFunc(more, func(o Side) bool { return s.isSame(&o) }):
		return []string{"it is given more than once"}
	}
	return nil
}

// tolerance returns the tolerance of a metric, given the usable references. It is computed from the
// references in which the metric is known and valid.
func (o Options) tolerance(m *results.Metric, ref *Side, more []Side) tolerance {
	floor := m.Parity.Tolerance
	if m.Key == results.Primary {
		if floor = o.DefaultBand; !(floor > 0) {
			floor = defaultBand
		}
	}
	var figures []results.Figure
	for _, s := range append([]Side{*ref}, more...) {
		if f := s.figure(m.Key); f.Class != results.Invalid && !math.IsNaN(f.Value) {
			figures = append(figures, f)
		}
	}
	if len(figures) < 2 {
		figures = []results.Figure{ref.figure(m.Key)}
	}
	t := newTolerance(figures, floor)
	if m.Key == results.Primary && o.Band > 0 {
		t.width, t.predicted, t.widths = o.Band, -1, [2]float64{o.Band, o.Band}
	}
	return t
}

// referenceFlags says which additional references are left out of the tolerance of a metric, and why
// others are uncertain.
func referenceFlags(m *results.Metric, ref *Side, more []Side) []string {
	var flags []string
	all := append([]Side{*ref}, more...)
	known := func(s Side) bool { return !math.IsNaN(s.figure(m.Key).Value) }
	for i := range more {
		s := &more[i]
		switch {
		case !known(*s) && slices.ContainsFunc(all, known):
			flags = append(flags, fmt.Sprintf("reference %s left out: unknown", s.Name))
		case s.unfit(m.Key) != "":
			flags = append(flags, fmt.Sprintf("reference %s left out: %s", s.Name, s.unfit(m.Key)))
		case known(*s):
			flags = append(flags, s.figureFlags("reference "+s.Name, m)...)
		}
	}
	for i := range flags {
		flags[i] = stripControl(flags[i])
	}
	return flags
}
