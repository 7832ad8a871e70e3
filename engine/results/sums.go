package results

import (
	"math"

	"github.com/agentperf/agentperf-tui/engine/percentile"
)

// sumAndCount is a sum over the requests for which a quantity is known, and their number.
type sumAndCount struct {
	sum float64
	max float64 // largest value
	n   int
}

func (c *sumAndCount) add(v float64) { c.sum, c.max, c.n = c.sum+v, max(c.max, v), c.n+1 }

func (c *sumAndCount) addTimes(o sumAndCount, times int) {
	c.sum, c.max, c.n = c.sum+float64(times)*o.sum, max(c.max, o.max), c.n+times*o.n
}

// Tally sums the quantities of requests, over all and over the successful ones.
type Tally struct {
	all, successful [quantities]sumAndCount
}

// Add adds a request.
func (t *Tally) Add(r *Request) {
	for q := range Quantity(quantities) {
		if v := q.Value(r); !math.IsNaN(v) {
			t.add(q, v, r.Failed)
		}
	}
}

func (t *Tally) add(q Quantity, v float64, failed bool) {
	t.all[q].add(v)
	if !failed {
		t.successful[q].add(v)
	}
}

// Merge adds the requests of another tally; each counts as often as times says.
func (t *Tally) Merge(o *Tally, times int) {
	for q := range quantities {
		t.all[q].addTimes(o.all[q], times)
		t.successful[q].addTimes(o.successful[q], times)
	}
}

// Terms returns the two numbers whose quotient sum / over is a mean or a share: sum is a sum over
// requests, over is the number of requests or another sum. Both are 0 for other metrics.
func (t *Tally) Terms(m *Metric) (sum, over float64) {
	f := m.Formula
	switch f.Kind {
	case Mean:
		return t.successful[f.Of].sum, float64(t.successful[f.Of].n)
	case Share:
		return t.all[f.Of].sum, t.all[f.Over].sum
	}
	return 0, 0
}

// Value returns a metric over a window of the given number of seconds, and the number of requests
// behind it. The value is NaN for percentiles, which can't be computed from sums, and for metrics
// that only the client reports.
func (t *Tally) Value(m *Metric, seconds float64) (v float64, n int) {
	f := m.Formula
	every, ok := t.all[f.Of], t.successful[f.Of]
	sum, over := t.Terms(m)
	switch f.Kind {
	case Rate:
		return ratio(every.sum, seconds, every.n), every.n
	case Sum:
		return ratio(every.sum, 1, every.n), every.n
	case Mean:
		return ratio(sum, over, ok.n), ok.n
	case Share:
		return ratio(sum, over, every.n), every.n
	case Percentile:
		return math.NaN(), ok.n
	}
	return math.NaN(), 0
}

// measuredSums holds sums and counts over the measured requests.
type measuredSums struct {
	Tally
	seconds    float64 // length of the window
	divisor    string  // description of seconds, for Figure.Method
	measured   int     // number of requests
	failed     int
	missing    int             // measured requests whose rows could not be read, at most
	undefined  [quantities]int // successful requests that can't have the quantity
	overCached int             // requests with more cached than input tokens
	clockSteps int             // requests that end before their start or first token
	errors     [math.MaxUint8 + 1]int
	histograms [quantities]*histogram
	ranks      rankSet
}

// percentileQuantities returns the quantities for which metrics need percentiles.
func percentileQuantities(metrics []*Metric) (used [quantities]bool) {
	for _, m := range metrics {
		used[m.Formula.Of] = used[m.Formula.Of] || m.Formula.Kind == Percentile
	}
	return used
}

// computeSums sums the requests of a scan, which visits at most n. The rows of up to missing
// further measured requests could not be read.
func computeSums(rows requestScan, n, missing int, seconds float64, over string) (*measuredSums, error) {
	parts := make([]*measuredSums, min(workerCount(), 1+n/blockRows))
	for w := range parts {
		parts[w] = new(measuredSums)
		for q, used := range percentileQuantities(Metrics) {
			if used {
				parts[w].histograms[q] = new(histogram)
			}
		}
	}
	if err := rows(len(parts), func(w int, r *Request) { parts[w].add(r) }); err != nil {
		return nil, err
	}
	s := parts[0]
	for _, more := range parts[1:] {
		s.merge(more)
	}
	s.seconds, s.divisor, s.missing, s.ranks.workers = seconds, over, missing, len(parts)
	for _, m := range Metrics {
		if m.Formula.Kind == Percentile {
			s.ranks.wantPercentile(m.Formula.Of, s.successful[m.Formula.Of].n, m.Formula.Percentile)
			s.ranks.wantBounds(m.Formula.Of, s.unknownOf(m.Formula.Of), m.Formula.Percentile)
		}
	}
	return s, s.ranks.resolve(&s.histograms, rows)
}

func (s *measuredSums) add(r *Request) {
	s.measured++
	if d := r.seconds(); d < 0 || r.TTFT > d+clockSlack {
		s.clockSteps++
	}
	if r.Cached > r.Input && r.Input >= 0 {
		s.overCached++
	}
	if r.Failed {
		s.failed++
		s.errors[r.kind]++
	}
	for q := range Quantity(quantities) {
		v := q.Value(r)
		if math.IsNaN(v) {
			if !r.Failed && !q.defined(r) {
				s.undefined[q]++
			}
			continue
		}
		s.Tally.add(q, v, r.Failed)
		if h := s.histograms[q]; h != nil && !r.Failed {
			h[binOf(v)]++
		}
	}
}

func (s *measuredSums) merge(o *measuredSums) {
	s.measured, s.failed, s.clockSteps = s.measured+o.measured, s.failed+o.failed, s.clockSteps+o.clockSteps
	s.overCached += o.overCached
	for q, n := range o.undefined {
		s.undefined[q] += n
	}
	for k, n := range o.errors {
		s.errors[k] += n
	}
	s.Merge(&o.Tally, 1)
	for q, h := range o.histograms {
		if h != nil {
			for bin, n := range h {
				s.histograms[q][bin] += n
			}
		}
	}
}

// byKind returns the number of failed requests by error kind.
func (s *measuredSums) byKind(names []string) map[string]int {
	out := map[string]int{}
	for k, n := range s.errors {
		if n > 0 {
			out[names[k]] += n
		}
	}
	return out
}

// figures computes all metrics. Metrics that only the client reports have no value.
func (s *measuredSums) figures() Figures {
	out := make(Figures, 0, len(Metrics))
	for _, m := range Metrics {
		f := m.figure()
		f.Value, f.N = s.Value(m, s.seconds)
		switch m.Formula.Kind {
		case Rate:
			f.Method = "sum / " + s.divisor
		case Sum:
			f.Method = "sum"
		case Mean:
			f.Method = "mean of successful requests"
		case Share:
			f.Method = "sum of " + m.Formula.Of.name() + " / sum of " + m.Formula.Over.name()
		case Percentile:
			f.Value, f.Method = s.ranks.percentile(m.Formula.Of, m.Formula.Percentile), percentile.Method
		}
		s.complete(m, &f)
		if reason := m.invalidReason(f.N); reason != "" {
			f.addReason(Reason{ID: FewSamples, Text: reason, Class: Invalid})
		}
		if reason := m.outOfRangeReason(f.Value); reason != "" {
			f.addReason(Reason{ID: OutOfRange, Text: reason, Class: Invalid})
		}
		if m.Formula.Of == CachedOfInput && s.overCached > 0 {
			f.addReason(newReason(OutOfRange, float64(s.overCached)/float64(s.measured),
				"more cached than input tokens in %s of %s requests", Count(s.overCached), Count(s.measured)))
		}
		out = append(out, f)
	}
	return out
}

// ratio returns a/b, or NaN if there are no samples or b is not positive.
func ratio(a, b float64, n int) float64 {
	if n == 0 || !(b > 0) {
		return math.NaN()
	}
	return a / b
}
