package parity

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/engine/results"
)

const (
	replicates = 400 // of the bootstrap
	seed       = 20_260_101
)

// userTerms are the terms of a mean or share of a user.
type userTerms struct{ sum, over float64 }

// userValue is a value of a user.
type userValue struct {
	v    float64
	user int32
}

// sample holds the values of a side by user, for resampling.
type sample struct {
	users  int
	terms  map[*results.Metric][]userTerms // of means and shares, by user
	values map[results.Quantity]*ranking   // of percentiles
	ranks  map[results.Quantity][]*results.Metric
}

// newSample collects what the metrics need. Rates, sums and client-reported figures are left out.
func newSample(s *Side, metrics []*results.Metric) *sample {
	out := &sample{
		terms: map[*results.Metric][]userTerms{}, values: map[results.Quantity]*ranking{},
		ranks: map[results.Quantity][]*results.Metric{},
	}
	for _, m := range metrics {
		if m.Formula.Kind == results.Percentile {
			out.ranks[m.Formula.Of] = append(out.ranks[m.Formula.Of], m)
			out.values[m.Formula.Of] = new(ranking)
		}
	}
	index := map[int32]int32{}
	var tallies []results.Tally
	for i := range s.Requests {
		r := &s.Requests[i]
		if !r.Measured {
			continue
		}
		u, seen := index[r.User]
		if !seen {
			u = int32(len(tallies))
			index[r.User], tallies = u, append(tallies, results.Tally{})
		}
		tallies[u].Add(r)
		if r.Failed {
			continue
		}
		for of, at := range out.values {
			if v := of.Value(r); !math.IsNaN(v) {
				at.values = append(at.values, userValue{v, u})
			}
		}
	}
	out.users = len(tallies)
	for _, m := range metrics {
		if m.Formula.Kind == results.Mean || m.Formula.Kind == results.Share {
			for u := range tallies {
				sum, over := tallies[u].Terms(m)
				out.terms[m] = append(out.terms[m], userTerms{sum, over})
			}
		}
	}
	for of, at := range out.values {
		at.sort(out.users)
		slices.SortFunc(out.ranks[of], func(a, b *results.Metric) int {
			return cmp.Compare(a.Formula.Percentile, b.Formula.Percentile)
		})
	}
	return out
}

// resample returns the values of the metrics in each replicate. A value is NaN if a replicate has no
// value. The seed is fixed, so that comparisons are reproducible.
func (s *sample) resample(stream uint64) map[*results.Metric][]float64 {
	rng := rand.New(rand.NewPCG(seed, stream))
	out := map[*results.Metric][]float64{}
	weights := make([]int32, s.users)
	for range replicates {
		drawWeights(rng, weights)
		for m, terms := range s.terms {
			out[m] = append(out[m], weightedRatio(terms, weights))
		}
		for of, metrics := range s.ranks {
			at := s.values[of]
			at.draw(weights)
			for _, m := range metrics {
				out[m] = append(out[m], at.percentile(m.Formula.Percentile))
			}
		}
	}
	return out
}

// drawWeights draws as many users as there are, and counts how often each was drawn.
func drawWeights(rng *rand.Rand, weights []int32) {
	clear(weights)
	for range weights {
		weights[rng.IntN(len(weights))]++
	}
}

// weightedRatio returns a mean or share in which each user counts as often as its weight says.
func weightedRatio(terms []userTerms, weights []int32) float64 {
	var sum, over float64
	for u, w := range weights {
		sum += float64(w) * terms[u].sum
		over += float64(w) * terms[u].over
	}
	return sum / over
}

// ranking finds percentiles of values, each counted as often as its user was drawn.
type ranking struct {
	values  []userValue // ascending
	counts  []int32     // of values by user
	weights []int32     // of the current draw
	n       int         // number of values in the current draw
	i       int         // a value, and how many of the draw are before it
	before  int
}

// sort prepares for draws, after all values were added.
func (r *ranking) sort(users int) {
	slices.SortFunc(r.values, func(a, b userValue) int { return cmp.Compare(a.v, b.v) })
	r.counts = make([]int32, users)
	for _, v := range r.values {
		r.counts[v.user]++
	}
}

// draw sets how often each user was drawn.
func (r *ranking) draw(weights []int32) {
	r.weights, r.n, r.i, r.before = weights, 0, 0, 0
	for u, w := range weights {
		r.n += int(w) * int(r.counts[u])
	}
}

// percentile returns a percentile of the current draw, or NaN if it has no values. The percentiles
// of a draw must be requested in ascending order.
func (r *ranking) percentile(p float64) float64 {
	if r.n == 0 {
		return math.NaN()
	}
	rank, next, part := percentile.Ranks(r.n, p)
	i, before, weights, values := r.i, r.before, r.weights, r.values
	weight := int(weights[values[i].user])
	for before+weight <= rank {
		before += weight
		i++
		weight = int(weights[values[i].user])
	}
	r.i, r.before = i, before
	low, high := values[i].v, values[i].v
	if before+weight <= next { // the next rank has the next value that was drawn
		drawn := func(v userValue) bool { return weights[v.user] > 0 }
		high = values[i+1+slices.IndexFunc(values[i+1:], drawn)].v
	}
	return percentile.Interpolate(low, high, part)
}
