package results

import (
	"fmt"
	"math"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/percentile"
)

// counted is a sum over those requests whose count is known, since unknown is
// not 0.
type counted struct{ sum, n int64 }

func (c *counted) add(v int32) {
	if v >= 0 {
		c.sum, c.n = c.sum+int64(v), c.n+1
	}
}

func (c *counted) merge(o counted) { c.sum, c.n = c.sum+o.sum, c.n+o.n }

// sums of the measured requests.
type sums struct {
	seconds float64 // window
	over    string  // what seconds are of
	all     int     // measured requests
	failed  int
	steps   int // requests that end before they begin or before their first token
	errors  [math.MaxUint8 + 1]int

	output, total, input, cached counted
	hit, hitBase                 counted // of requests that know both
	okInput, okOutput            counted // of successful requests
	counts                       [kinds]histogram
	ranks                        rankSet
}

// sum forms the sums of the requests of a source, which are n at most.
func sum(rows source, n int, seconds float64, over string) (*sums, error) {
	parts := make([]*sums, min(processors(), 1+n/blockRows))
	for w := range parts {
		parts[w] = new(sums)
	}
	if err := rows(len(parts), func(w int, r *request) { parts[w].add(r) }); err != nil {
		return nil, err
	}
	s := parts[0]
	for _, more := range parts[1:] {
		s.merge(more)
	}
	s.seconds, s.over, s.ranks.workers = seconds, over, len(parts)
	for _, m := range metrics {
		if p, ok := m.rank(); ok {
			s.ranks.ask(m.sample(), p)
		}
	}
	return s, s.ranks.find(&s.counts, rows)
}

func (s *sums) add(r *request) {
	s.all++
	s.output.add(r.output)
	s.input.add(r.input)
	s.cached.add(r.cached)
	if r.input >= 0 && r.output >= 0 {
		s.total.sum, s.total.n = s.total.sum+int64(r.input)+int64(r.output), s.total.n+1
	}
	if r.cached >= 0 && r.input >= 0 {
		s.hit.add(r.cached)
		s.hitBase.add(r.input)
	}
	if d := r.seconds(); d < 0 || r.ttft > d+clockSlack {
		s.steps++
	}
	if r.failed {
		s.failed++
		s.errors[r.kind]++
		return
	}
	s.okInput.add(r.input)
	s.okOutput.add(r.output)
	for sample, v := range r.samples() {
		if !math.IsNaN(v) {
			s.counts[sample][binOf(v)]++
			s.ranks.n[sample]++
		}
	}
}

func (s *sums) merge(o *sums) {
	s.all, s.failed, s.steps = s.all+o.all, s.failed+o.failed, s.steps+o.steps
	for k, n := range o.errors {
		s.errors[k] += n
	}
	s.output.merge(o.output)
	s.total.merge(o.total)
	s.input.merge(o.input)
	s.cached.merge(o.cached)
	s.hit.merge(o.hit)
	s.hitBase.merge(o.hitBase)
	s.okInput.merge(o.okInput)
	s.okOutput.merge(o.okOutput)
	for sample := range kinds {
		s.ranks.n[sample] += o.ranks.n[sample]
		for bin, n := range o.counts[sample] {
			s.counts[sample][bin] += n
		}
	}
}

// byKind names the failures.
func (s *sums) byKind(names []string) map[string]int {
	out := map[string]int{}
	for k, n := range s.errors {
		if n > 0 {
			out[names[k]] += n
		}
	}
	return out
}

// figure computes one metric; output_client_tok_s is the client's own.
func (s *sums) figure(m metric) Figure {
	f := m.empty()
	perSecond := func(c counted) {
		f.Value, f.N, f.Method = ratio(float64(c.sum), s.seconds, c.n), int(c.n), "sum / "+s.over
	}
	count := func(c counted) {
		f.Value, f.N, f.Method = ratio(float64(c.sum), 1, c.n), int(c.n), "sum"
	}
	mean := func(c counted) {
		f.Value, f.N, f.Method = ratio(float64(c.sum), float64(c.n), c.n), int(c.n), "mean of successful requests"
	}
	switch m.key {
	case "output_server_tok_s":
		perSecond(s.output)
	case "total_server_tok_s":
		perSecond(s.total)
	case "cache_hit_rate":
		f.Value, f.N, f.Method = ratio(float64(s.hit.sum), float64(s.hitBase.sum), s.hit.n), int(s.hit.n), "sum of cached / sum of input tokens"
	case "avg_input_per_request":
		mean(s.okInput)
	case "avg_output_per_request":
		mean(s.okOutput)
	case "input_tokens":
		count(s.input)
	case "output_tokens":
		count(s.output)
	case "cached_tokens":
		count(s.cached)
	default:
		s.percentile(m, &f)
	}
	return f
}

// sample is what the metric is a percentile of.
func (m metric) sample() int {
	switch m.section {
	case "ttft_s":
		return ofTTFT
	case "e2e_latency_s":
		return ofLatency
	case "output_speed_per_request_local_tok_s":
		return ofLocal
	case "output_speed_per_request_sse_tok_s":
		return ofSSE
	}
	return ofOutput
}

// percentile sets a percentile and marks it where the sample is too small for
// it: fewer than ten values on the thinner side.
func (s *sums) percentile(m metric, f *Figure) {
	p, isRank := m.rank()
	if !isRank {
		return
	}
	f.Value, f.N, f.Method = s.ranks.percentile(m.sample(), p), s.ranks.n[m.sample()], percentile.Method
	need := int(math.Ceil(1000/min(p, 100-p) - 1e-9))
	if f.N < need && f.N > 0 {
		f.Invalid = fmt.Sprintf("%s samples, p%g wants %s", Decimal(float64(f.N), 0), p, Decimal(float64(need), 0))
	}
	if strings.HasPrefix(m.section, "output_speed") && 2*f.N < s.all {
		f.Invalid = fmt.Sprintf("no speed in %s of %s requests", Decimal(float64(s.all-f.N), 0), Decimal(float64(s.all), 0))
	}
}

// ratio is NaN without samples and for a divisor that is not positive.
func ratio(a, b float64, n int64) float64 {
	if n == 0 || !(b > 0) {
		return math.NaN()
	}
	return a / b
}
