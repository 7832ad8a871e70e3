package parity

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/engine/results"
)

const (
	replicates   = 400  // of the bootstrap
	blockSeconds = 20.0 // target length; the actual length is from 10 to 30 s
	minUsers     = 10
	minBlocks    = 5
)

// Interval is a bootstrap 95 % confidence interval of a difference. Each run is resampled
// from its own requests, so the interval covers the variation within a run but not the
// variation between runs.
type Interval struct {
	Low    float64 `json:"low"` // fraction of the reference
	High   float64 `json:"high"`
	Method string  `json:"method"`
}

// intervals returns the intervals of the differences by metric key. Requests of one user
// or of one moment are not independent, so percentiles and means are resampled by user
// and rates by blocks of time.
func intervals(ref, cand *Side) map[string]Interval {
	if len(ref.Requests) == 0 || len(cand.Requests) == 0 {
		return nil
	}
	var a, b replicateValues
	var done sync.WaitGroup
	done.Go(func() { a = ref.drawReplicates(1) })
	done.Go(func() { b = cand.drawReplicates(2) })
	done.Wait()
	out := map[string]Interval{}
	for m, refs := range a {
		var deltas []float64
		for i, r := range refs {
			if cands := b[m]; i < len(cands) {
				if d := cands[i]/r - 1; finite(d) != nil {
					deltas = append(deltas, d)
				}
			}
		}
		if len(deltas) < replicates/2 {
			continue
		}
		slices.Sort(deltas)
		method := "bootstrap over users, within-run only"
		if m.Formula.Kind == results.Rate {
			method = "bootstrap over blocks of time, within-run only"
		}
		out[m.Key] = Interval{Low: percentile.Of(deltas, 2.5), High: percentile.Of(deltas, 97.5), Method: method}
	}
	return out
}

// replicateValues holds the values of each metric in the replicates of a side.
type replicateValues map[*results.Metric][]float64

// drawReplicates resamples the metrics of the comparison. The seed is fixed, so that
// comparisons are reproducible.
func (s *Side) drawReplicates(stream uint64) replicateValues {
	rng := rand.New(rand.NewPCG(20_260_101, stream))
	out := replicateValues{}
	for _, m := range results.Metrics {
		if m.Parity != nil && m.Formula.Kind != results.ClientReported && m.Formula.Kind != results.Sum {
			out[m] = make([]float64, 0, replicates)
		}
	}
	out.drawBlocks(s, rng)
	out.drawUsers(s, rng)
	return out
}

// drawBlocks resamples the rates by blocks of time.
func (d replicateValues) drawBlocks(s *Side, rng *rand.Rand) {
	w := s.Phase.Window
	if w == nil || !(w.Seconds > 0) || math.IsNaN(w.Start) {
		return
	}
	n := int(math.Round(w.Seconds / blockSeconds))
	if n < minBlocks {
		return
	}
	blocks := make([]results.Tally, n)
	for k := range s.Requests {
		if r := &s.Requests[k]; r.Measured {
			blocks[min(int((r.Start-w.Start)/w.Seconds*float64(n)), n-1)].Add(r)
		}
	}
	for range replicates {
		var all results.Tally
		for range n {
			all.Merge(&blocks[rng.IntN(n)], 1)
		}
		d.add(&all, w.Seconds, results.Rate)
	}
}

// add appends the values of the metrics of some kinds.
func (d replicateValues) add(all *results.Tally, seconds float64, kinds ...results.Kind) {
	for m := range d {
		if slices.Contains(kinds, m.Formula.Kind) {
			v, _ := all.Value(m, seconds)
			d[m] = append(d[m], v)
		}
	}
}

// userValue is a value of a user.
type userValue struct {
	v    float64
	user int32
}

// drawUsers resamples all metrics except rates by user.
func (d replicateValues) drawUsers(s *Side, rng *rand.Rand) {
	ranks := map[results.Quantity][]*results.Metric{} // percentile metrics by quantity
	for m := range d {
		if f := m.Formula; f.Kind == results.Percentile {
			ranks[f.Of] = append(ranks[f.Of], m)
		}
	}
	index := map[int32]int32{}
	var users []results.Tally
	samples := map[results.Quantity][]userValue{}
	for i := range s.Requests {
		r := &s.Requests[i]
		if !r.Measured {
			continue
		}
		u, seen := index[r.User]
		if !seen {
			u = int32(len(users))
			index[r.User] = u
			users = append(users, results.Tally{})
		}
		users[u].Add(r)
		if r.Failed {
			continue
		}
		for of := range ranks {
			if v := of.Value(r); !math.IsNaN(v) {
				samples[of] = append(samples[of], userValue{v, u})
			}
		}
	}
	if len(users) < minUsers {
		return
	}
	for of, values := range samples {
		slices.SortFunc(values, func(a, b userValue) int { return cmp.Compare(a.v, b.v) })
		slices.SortFunc(ranks[of], func(a, b *results.Metric) int {
			return cmp.Compare(a.Formula.Percentile, b.Formula.Percentile)
		})
	}
	weights := make([]int32, len(users))
	for range replicates {
		clear(weights)
		for range users {
			weights[rng.IntN(len(users))]++
		}
		var all results.Tally
		for u, w := range weights {
			all.Merge(&users[u], int(w))
		}
		d.add(&all, 0, results.Mean, results.Share)
		for of, values := range samples {
			d.addPercentiles(values, weights, ranks[of])
		}
	}
}

// addPercentiles appends the percentiles of values weighted by how often their users were
// drawn. Values and metrics must be in ascending order.
func (d replicateValues) addPercentiles(values []userValue, weights []int32, metrics []*results.Metric) {
	n := 0
	for i := range values {
		n += int(weights[values[i].user])
	}
	if n == 0 {
		return
	}
	below, i := 0, 0
	for _, m := range metrics {
		rank, next, part := percentile.Ranks(n, m.Formula.Percentile)
		for below+int(weights[values[i].user]) <= rank {
			below += int(weights[values[i].user])
			i++
		}
		low, high := values[i].v, values[i].v
		if below+int(weights[values[i].user]) <= next { // the next rank has the next value that was drawn
			drawn := func(v userValue) bool { return weights[v.user] > 0 }
			high = values[i+1+slices.IndexFunc(values[i+1:], drawn)].v
		}
		d[m] = append(d[m], percentile.Interpolate(low, high, part))
	}
}
