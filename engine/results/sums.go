package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// sums of the measured requests. Of each sum only requests take part whose
// counts are all known, since unknown is not 0.
type sums struct {
	seconds float64 // window
	all     int     // measured requests

	output, outputN         int64
	total, totalN           int64
	input, inputN           int64
	cached, cachedN         int64
	hit, hitBase, hitN      int64
	okInput, okInputN       int64
	okOutput                []float64
	ttft, local, sse, whole []float64 // ascending, of successful requests
}

func sum(measured []*request, seconds float64) *sums {
	s := &sums{seconds: seconds, all: len(measured)}
	for _, v := range []*[]float64{&s.okOutput, &s.ttft, &s.local, &s.sse, &s.whole} {
		*v = make([]float64, 0, len(measured))
	}
	for _, r := range measured {
		if r.output >= 0 {
			s.output, s.outputN = s.output+r.output, s.outputN+1
		}
		if r.input >= 0 {
			s.input, s.inputN = s.input+r.input, s.inputN+1
		}
		if r.input >= 0 && r.output >= 0 {
			s.total, s.totalN = s.total+r.input+r.output, s.totalN+1
		}
		if r.cached >= 0 {
			s.cached, s.cachedN = s.cached+r.cached, s.cachedN+1
		}
		if r.cached >= 0 && r.input >= 0 {
			s.hit, s.hitBase, s.hitN = s.hit+r.cached, s.hitBase+r.input, s.hitN+1
		}
		if r.failed {
			continue
		}
		if r.input >= 0 {
			s.okInput, s.okInputN = s.okInput+r.input, s.okInputN+1
		}
		if r.output >= 0 {
			s.okOutput = append(s.okOutput, float64(r.output))
		}
		if !math.IsNaN(r.ttft) {
			s.ttft = append(s.ttft, r.ttft)
		}
		if r.itl > 0 {
			s.local = append(s.local, 1/r.itl)
		}
		if r.sse > 0 {
			s.sse = append(s.sse, r.sse)
		}
		if d := r.seconds(); d >= 0 && r.placed {
			s.whole = append(s.whole, d)
		}
	}
	var sorted sync.WaitGroup
	for _, v := range [][]float64{s.okOutput, s.ttft, s.local, s.sse, s.whole} {
		sorted.Go(func() { slices.Sort(v) })
	}
	sorted.Wait()
	return s
}

// figure computes one metric; output_client_tok_s is the client's own.
func (s *sums) figure(m metric) Figure {
	f := m.empty()
	perSecond := func(total, n int64) {
		f.Value, f.N, f.Method = ratio(float64(total), s.seconds, n), int(n), "sum / window"
	}
	count := func(total, n int64) {
		f.Value, f.N, f.Method = ratio(float64(total), 1, n), int(n), "sum"
	}
	switch m.key {
	case "output_server_tok_s":
		perSecond(s.output, s.outputN)
	case "total_server_tok_s":
		perSecond(s.total, s.totalN)
	case "cache_hit_rate":
		f.Value, f.N, f.Method = ratio(float64(s.hit), float64(s.hitBase), s.hitN), int(s.hitN), "sum of cached / sum of input tokens"
	case "avg_input_per_request":
		f.Value, f.N, f.Method = ratio(float64(s.okInput), float64(s.okInputN), s.okInputN), int(s.okInputN), "mean of successful requests"
	case "avg_output_per_request":
		f.Value, f.N, f.Method = mean(s.okOutput), len(s.okOutput), "mean of successful requests"
	case "median_output_per_request":
		f.rank(s.okOutput, 50)
	case "input_tokens":
		count(s.input, s.inputN)
	case "output_tokens":
		count(s.output, s.outputN)
	case "cached_tokens":
		count(s.cached, s.cachedN)
	default:
		s.percentile(m, &f)
	}
	return f
}

func (s *sums) percentile(m metric, f *Figure) {
	p, isRank := m.rank()
	if !isRank {
		return
	}
	samples := map[string][]float64{
		"ttft_s": s.ttft, "e2e_latency_s": s.whole,
		"output_speed_per_request_local_tok_s": s.local, "output_speed_per_request_sse_tok_s": s.sse,
	}[m.section]
	f.rank(samples, p)
	if strings.HasPrefix(m.section, "output_speed") && 2*f.N < s.all {
		f.Invalid = fmt.Sprintf("no speed in %s of %s requests", Decimal(float64(s.all-f.N), 0), Decimal(float64(s.all), 0))
	}
}

// rank sets a percentile and marks it where the sample is too small for it:
// fewer than ten values on the thinner side.
func (f *Figure) rank(sorted []float64, p float64) {
	f.Value, f.N, f.Method = Percentile(sorted, p), len(sorted), methodRank
	need := int(math.Ceil(1000/min(p, 100-p) - 1e-9))
	if f.N < need && f.N > 0 {
		f.Invalid = fmt.Sprintf("%s samples, p%g wants %s", Decimal(float64(f.N), 0), p, Decimal(float64(need), 0))
	}
}

// ratio is NaN without samples and for a divisor that is not positive.
func ratio(a, b float64, n int64) float64 {
	if n == 0 || !(b > 0) {
		return math.NaN()
	}
	return a / b
}

func mean(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return ratio(total, float64(len(values)), int64(len(values)))
}
