package parity

import (
	"math"
	"math/rand/v2"
	"slices"
)

// pairs holds a quantity in the requests that were paired.
type pairs struct {
	index   map[int32]int32 // of users, by their number in the run
	means   []userTerms     // differences over the number of pairs, by user
	changes []userTerms     // differences over values of the reference, by user
	all     []userValue     // differences candidate - reference
}

// add adds a pair unless the quantity is unknown in one of its requests.
func (p *pairs) add(user int32, ref, cand float64) {
	d := cand - ref
	if math.IsNaN(d) {
		return
	}
	u, seen := p.index[user]
	if !seen {
		if p.index == nil {
			p.index = map[int32]int32{}
		}
		u = int32(len(p.means))
		p.index[user], p.means, p.changes = u, append(p.means, userTerms{}), append(p.changes, userTerms{})
	}
	p.means[u] = userTerms{p.means[u].sum + d, p.means[u].over + 1}
	p.changes[u] = userTerms{p.changes[u].sum + d, p.changes[u].over + ref}
	p.all = append(p.all, userValue{d, u})
}

// differences returns the differences in the order in which they were added.
func (p *pairs) differences() []float64 {
	out := make([]float64, len(p.all))
	for i, v := range p.all {
		out[i] = v.v
	}
	return out
}

// intervals resamples the users with all their pairs. The seed is fixed, so that comparisons are
// reproducible.
func (p *pairs) intervals(stream uint64) *ShiftIntervals {
	users := len(p.means)
	out := &ShiftIntervals{Users: users, Change: finite(weightedRatio(p.changes, slices.Repeat([]int32{1}, users)))}
	if users < minUsers {
		out.NoInterval = tooFewUsers(users)
		return out
	}
	rng := rand.New(rand.NewPCG(seed, stream))
	at := ranking{values: slices.Clone(p.all)}
	at.sort(users)
	weights := make([]int32, users)
	var means, medians, changes []float64
	for range replicates {
		drawWeights(rng, weights)
		at.draw(weights)
		means, changes = append(means, weightedRatio(p.means, weights)), append(changes, weightedRatio(p.changes, weights))
		medians = append(medians, at.percentile(50))
	}
	quantile := estimate{df: float64(users - 1)}.quantile()
	interval := func(replicates []float64) *Interval { // nil for changes of a reference that is 0
		if slices.ContainsFunc(replicates, func(v float64) bool { return finite(v) == nil }) {
			return nil
		}
		slices.Sort(replicates)
		in := bootstrapInterval(replicates, quantile, users, overPairs)
		return &in
	}
	out.Mean95, out.Median95, out.Change95 = interval(means), interval(medians), interval(changes)
	return out
}
