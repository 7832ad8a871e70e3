package parity

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/engine/results"
)

const (
	minUsers     = 12   // of an interval
	minBlocks    = 5    // of time, of an interval of a rate
	blockSeconds = 20.0 // minimum length of a block
)

// Interval is a 95 % confidence interval. In a Part it is that of the difference, as a fraction of the
// reference; each run is resampled on its own, as if their users differed. In a Shift it is in the
// unit of the quantity, and the users with their pairs are resampled: that is more precise, because
// both runs replay the same trajectories. In a PairedRate the rates of the users are resampled in pairs.
// All cover the variation between the users and requests of a run, but not the variation between runs.
//
// TestCoverage, TestCoverageOfRates, TestCoverageOfPairs and TestCoverageOfPairedRates simulate runs
// without a difference, whose users differ by 10 % and the requests of a user by 30 %. The percentage of
// intervals that contain 0:
//
//	users                                             24    48
//	mean                                              94.5  94.5
//	median                                            94.2  95.5
//	p95                                               96.2  93.8
//	rate, window of 200 s                             96.5  -
//	rate that varies over time, 400 s and 120 s       95.0  95.0
//	paired mean, pairs of a user alike                94.8  -
//	paired mean, pairs of a user differ by 14 %       95.2  96.0
//	paired median, pairs of a user alike              93.5  -
//	paired median, pairs of a user differ by 14 %     95.0  96.2
//	paired rate, durations of a user alike            94.0  -
//	paired rate, durations of a user differ by 14 %   94.2  93.8
type Interval struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Method string  `json:"method"`
}

// Methods of intervals.
const (
	overUsers  = "bootstrap over users, within-run only"
	overBlocks = "t interval over users and blocks of time, within-run only"
	overPairs  = "bootstrap over the users of paired requests; drift common to a whole run is not in them"
)

// estimate is the estimated variance of a value, with its degrees of freedom.
type estimate struct{ variance, df float64 }

// add returns the variance of the sum of independent values (Welch and Satterthwaite).
func (e estimate) add(o estimate) estimate {
	v := e.variance + o.variance
	if v == 0 {
		return estimate{0, e.df + o.df}
	}
	x, y := e.variance/v, o.variance/v
	return estimate{v, 1 / (x*x/e.df + y*y/o.df)}
}

// quantile returns how many standard deviations the ends of an interval are from its middle.
func (e estimate) quantile() float64 {
	return distuv.StudentsT{Sigma: 1, Nu: e.df}.Quantile((1 + predictionLevel) / 2)
}

// bootstrapInterval returns the interval of ascending replicates that resample users. With few users,
// the usual percentiles of the replicates would make it too short, because resampling reduces the
// variance by a factor of 1 - 1/users, and because the variance is itself an estimate. So wider
// percentiles are used: those at which Student's quantile, times √(users / (users - 1)), lies in a
// normal distribution.
func bootstrapInterval(replicates []float64, quantile float64, users int, method string) Interval {
	n := float64(users)
	tail := 100 * distuv.UnitNormal.CDF(-quantile*math.Sqrt(n/(n-1)))
	return Interval{percentile.Of(replicates, tail), percentile.Of(replicates, 100-tail), method}
}

// intervals returns the intervals of the differences by metric key. Requests of one user are not
// independent, so percentiles, means and shares are resampled by user.
func intervals(ref, cand *Side, metrics []*results.Metric) map[string]Interval {
	out := map[string]Interval{}
	if min(ref.users(), cand.users()) < minUsers {
		return out
	}
	samples := [2]*sample{}
	values := [2]map[*results.Metric][]float64{}
	var done sync.WaitGroup
	for i, s := range []*Side{ref, cand} {
		done.Go(func() {
			samples[i] = newSample(s, metrics)
			values[i] = samples[i].resample(uint64(i))
		})
	}
	done.Wait()
	users := min(samples[0].users, samples[1].users)
	for m, refs := range values[0] {
		deltas := make([]float64, replicates)
		for i, c := range values[1][m] {
			deltas[i] = c/refs[i] - 1
		}
		if slices.ContainsFunc(deltas, func(d float64) bool { return finite(d) == nil }) {
			continue
		}
		slices.Sort(deltas)
		both := relativeVariance(refs, samples[0].users).add(relativeVariance(values[1][m], samples[1].users))
		if finite(both.df) != nil { // the candidate's figure is not 0
			out[m.Key] = bootstrapInterval(deltas, both.quantile(), users, overUsers)
		}
	}
	for _, m := range metrics {
		if in, ok := rateInterval(ref, cand, m); ok {
			out[m.Key] = in
		}
	}
	return out
}

// relativeVariance returns the variance of replicates, as a fraction of their squared mean.
func relativeVariance(replicates []float64, users int) estimate {
	mean, variance := stat.MeanVariance(replicates, nil)
	return estimate{variance / (mean * mean), float64(users - 1)}
}

// rateInterval returns the interval of a difference of rates. A rate varies between users, and over
// time for all users at once.
func rateInterval(ref, cand *Side, m *results.Metric) (Interval, bool) {
	if m.Formula.Kind != results.Rate {
		return Interval{}, false
	}
	a, aOK := ref.rateVariance(m.Formula.Of)
	b, bOK := cand.rateVariance(m.Formula.Of)
	r, c := ref.Phase.Figures.Get(m.Key).Value, cand.Phase.Figures.Get(m.Key).Value
	if !aOK || !bOK {
		return Interval{}, false
	}
	both := a.add(b)
	ratio, half := c/r, both.quantile()*math.Sqrt(both.variance) // of the logarithm of the ratio
	in := Interval{ratio*math.Exp(-half) - 1, ratio*math.Exp(half) - 1, overBlocks}
	return in, finite(in.Low) != nil && finite(in.High) != nil
}

// rateVariance returns the relative variance of a sum over the measuring window. It is the variance
// between users plus that between blocks of time, minus what both of them contain: the variance of
// single cells (a user in a block) around the means of their user and block.
func (s *Side) rateVariance(of results.Quantity) (estimate, bool) {
	cells, blocks := s.cells(of)
	n, b := float64(len(cells)), float64(blocks)
	if len(cells) < minUsers || blocks < minBlocks {
		return estimate{}, false
	}
	users, times, sum := make([]float64, len(cells)), make([]float64, blocks), 0.0
	for u, row := range cells {
		for t, v := range row {
			users[u] += v
			times[t] += v
			sum += v
		}
	}
	rest := 0.0
	for u, row := range cells {
		for t, v := range row {
			e := v - users[u]/b - times[t]/n + sum/(n*b)
			rest += e * e
		}
	}
	between, over := n*stat.Variance(users, nil), b*stat.Variance(times, nil)
	shared := n * b * rest / ((n - 1) * (b - 1))
	v := max(between+over-shared, shared)
	if v == 0 {
		return estimate{0, n - 1}, sum > 0
	}
	x, y, z := between/v, over/v, shared/v // Satterthwaite
	df := 1 / (x*x/(n-1) + y*y/(b-1) + z*z/((n-1)*(b-1)))
	return estimate{v / (sum * sum), max(df, 1)}, sum > 0
}

// cells returns the sums of a quantity by user and block of time.
func (s *Side) cells(of results.Quantity) (sums [][]float64, blocks int) {
	w := s.Phase.Window
	if w == nil || !(w.Seconds > 0) || math.IsNaN(w.Start) {
		return nil, 0
	}
	if blocks = int(w.Seconds / blockSeconds); blocks < minBlocks {
		return nil, blocks
	}
	index := map[int32]int{}
	for k := range s.Requests {
		r := &s.Requests[k]
		if !r.Measured {
			continue
		}
		u, seen := index[r.User]
		if !seen {
			u = len(sums)
			index[r.User], sums = u, append(sums, make([]float64, blocks))
		}
		if v := of.Value(r); !math.IsNaN(v) {
			sums[u][min(max(int((r.Start-w.Start)/w.Seconds*float64(blocks)), 0), blocks-1)] += v
		}
	}
	return sums, blocks
}

// users returns the number of users with measured requests.
func (s *Side) users() int {
	seen := map[int32]bool{}
	for k := range s.Requests {
		if r := &s.Requests[k]; r.Measured {
			seen[r.User] = true
		}
	}
	return len(seen)
}

// intervalNotes says why differences have no interval although there are requests.
func intervalNotes(ref, cand *Side) []string {
	if len(ref.Requests) == 0 || len(cand.Requests) == 0 {
		return nil
	}
	if n := min(ref.users(), cand.users()); n < minUsers {
		return []string{tooFewUsers(n)}
	}
	for _, s := range []*Side{ref, cand} {
		if w := s.Phase.Window; w != nil && w.Seconds < minBlocks*blockSeconds {
			return []string{fmt.Sprintf("window too short for an interval of rates: %s s, must be at least %g s",
				results.Decimal(w.Seconds, 1), minBlocks*blockSeconds)}
		}
	}
	return nil
}

func tooFewUsers(n int) string {
	return fmt.Sprintf("too few users for an interval: %d, must be at least %d", n, minUsers)
}
