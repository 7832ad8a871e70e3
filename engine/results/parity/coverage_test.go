package parity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// factor returns a random factor with mean 1.
func factor(rng *rand.Rand, spread float64) float64 { return max(1+spread*rng.NormFloat64(), 0.01) }

// coverage counts how often an interval of a difference that is 0 contains 0.
type coverage map[string]*struct{ n, hits int }

func (c coverage) add(name string, in *Interval) {
	if in == nil {
		return
	}
	if c[name] == nil {
		c[name] = &struct{ n, hits int }{}
	}
	c[name].n++
	if in.Low <= 0 && in.High >= 0 {
		c[name].hits++
	}
}

// check reports an error unless from 93 to 97 % of the intervals contain 0.
func (c coverage) check(t *testing.T, runs int, names ...string) {
	t.Helper()
	for _, name := range names {
		got := c[name]
		if got == nil || got.n < runs {
			t.Errorf("%s: not every comparison has an interval", name)
			continue
		}
		percent := 100 * float64(got.hits) / float64(got.n)
		t.Logf("%s: %.1f %%", name, percent)
		if percent < 93 || percent > 97 {
			t.Errorf("%s: %.1f %% of the intervals contain the true difference, want 93 to 97 %%", name, percent)
		}
	}
}

// TestCoverage compares runs with equal means, each with its own users.
func TestCoverage(t *testing.T) {
	t.Parallel()
	keys := []string{"avg_output_per_request", "ttft_p50_s", "ttft_p95_s"}
	var metrics []*results.Metric
	for _, k := range keys {
		metrics = append(metrics, results.FindMetric(k))
	}
	for _, users := range []int{24, 48} {
		t.Run(fmt.Sprint(users, " users"), func(t *testing.T) {
			t.Parallel()
			const runs = 400
			rng := rand.New(rand.NewPCG(3, uint64(users)))
			got := coverage{}
			var sides [2]Side
			for range runs {
				for i := range sides {
					sides[i] = Side{}
					for user := range users {
						tokens, ttft := factor(rng, betweenUsers), factor(rng, betweenUsers)
						for range 5 + rng.IntN(4) {
							sides[i].Requests = append(sides[i].Requests, results.Request{
								User: int32(user), Measured: true, Input: -1, Cached: -1,
								Output: int32(10_000 * tokens * factor(rng, withinUsers)), TTFT: ttft * factor(rng, withinUsers),
							})
						}
					}
				}
				for key, in := range intervals(&sides[0], &sides[1], metrics) {
					got.add(key, &in)
				}
			}
			got.check(t, runs, keys...)
		})
	}
}

// TestCoverageOfRates compares runs of users who wait for each answer, in which output also varies
// over time for all users.
func TestCoverageOfRates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		users   int
		seconds float64
		overall float64 // spread over time
	}{{24, 200, 0}, {24, 400, 0.1}, {48, 120, 0.1}} {
		t.Run(fmt.Sprintf("%d users, %g s, %g", tt.users, tt.seconds, tt.overall), func(t *testing.T) {
			t.Parallel()
			const runs = 400
			rng := rand.New(rand.NewPCG(4, uint64(tt.users)))
			got := coverage{}
			m := results.FindMetric(results.Primary)
			var sides [2]Side
			for range runs {
				for i := range sides {
					sides[i] = simulatedLoad(rng, tt.users, tt.seconds, tt.overall)
				}
				if in, ok := rateInterval(&sides[0], &sides[1], m); ok {
					got.add(m.Key, &in)
				}
			}
			got.check(t, runs, m.Key)
		})
	}
}

// simulatedLoad returns a side whose users send a request every 10 s or so.
func simulatedLoad(rng *rand.Rand, users int, seconds, overall float64) Side {
	s := Side{Phase: results.Phase{Window: &results.Window{Seconds: seconds}}}
	common := make([]float64, int(seconds/blockSeconds))
	for i := range common {
		common[i] = factor(rng, overall)
	}
	sum := 0.0
	for user := range users {
		tokens, duration := factor(rng, betweenUsers), factor(rng, betweenUsers)
		at := -20 * rng.Float64()
		for at < seconds {
			if at >= 0 {
				now := common[int(at/seconds*float64(len(common)))]
				r := results.Request{
					User: int32(user), Measured: true, Start: at, Output: int32(10_000 * tokens * now * factor(rng, withinUsers)),
				}
				s.Requests = append(s.Requests, r)
				sum += float64(r.Output)
			}
			at += 10 * duration * factor(rng, withinUsers)
		}
	}
	s.Phase.Figures = results.Figures{{Key: results.Primary, Value: sum / seconds}}
	return s
}

// TestCoverageOfPairs compares runs of the same requests. The users differ by side too in some.
func TestCoverageOfPairs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		users  int
		bySide float64 // spread of the effect of the side on a user
	}{{24, betweenUsers}, {24, 0}, {48, betweenUsers}} {
		t.Run(fmt.Sprintf("%d users, %g", tt.users, tt.bySide), func(t *testing.T) {
			t.Parallel()
			const runs = 400
			rng := rand.New(rand.NewPCG(5, uint64(tt.users)))
			got := coverage{}
			for range runs {
				var p pairs
				for user := range tt.users {
					base := factor(rng, betweenUsers)
					a, b := base*factor(rng, tt.bySide), base*factor(rng, tt.bySide)
					for range 4 + rng.IntN(9) {
						p.add(int32(user), a*factor(rng, withinUsers), b*factor(rng, withinUsers))
					}
				}
				in := p.intervals(1)
				got.add("mean", in.Mean95)
				got.add("median", in.Median95)
				got.add("change", in.Change95)
			}
			got.check(t, runs, "mean", "median", "change")
		})
	}
}

// TestCoverageOfPairedRates compares runs in which the same users wait for each answer. What a user sends is
// the same in both runs; how long the answers take differs.
func TestCoverageOfPairedRates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		users  int
		bySide float64 // spread of the effect of the side on a user
	}{{24, 0}, {24, betweenUsers}, {48, betweenUsers}} {
		t.Run(fmt.Sprintf("%d users, %g", tt.users, tt.bySide), func(t *testing.T) {
			t.Parallel()
			const runs = 400
			got := coverage{}
			for run := range runs {
				var sides [2]Side
				for i := range sides {
					shared := rand.New(rand.NewPCG(9, uint64(run)))
					own := rand.New(rand.NewPCG(uint64(10+i), uint64(1000*tt.users+run)))
					sides[i] = simulatedReplay(shared, own, tt.users, tt.bySide)
				}
				r := pairRates(&sides[0], &sides[1])
				got.add("difference", r.Difference95)
				got.add("change", r.Change95)
			}
			got.check(t, runs, "difference", "change")
		})
	}
}

// simulatedReplay returns a side of 400 s whose users send a request every 10 s or so. The source shared
// is the same for all sides.
func simulatedReplay(shared, own *rand.Rand, users int, bySide float64) Side {
	const seconds, most = 400.0, 400
	s := Side{Phase: results.Phase{Window: &results.Window{Seconds: seconds}}}
	sum := 0.0
	for user := range users {
		tokens, duration := factor(shared, betweenUsers), factor(shared, betweenUsers)*factor(own, bySide)
		at := -20 * own.Float64()
		for range most {
			output := int32(10_000 * tokens * factor(shared, withinUsers))
			if at >= 0 && at < seconds {
				s.Requests = append(s.Requests, results.Request{User: int32(user), Measured: true, Start: at, Output: output})
				sum += float64(output)
			}
			at += 10 * duration * factor(own, withinUsers)
		}
	}
	s.Phase.Figures = results.Figures{{Key: results.Primary, Value: sum / seconds}}
	return s
}

// TestTooFewUsers checks that there is no interval from few users or a short window, and that the
// comparison tells why.
func TestTooFewUsers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		users   int
		seconds float64
		note    string
	}{
		{11, 100, "too few users for an interval: 11, must be at least 12"},
		{12, 99, "window too short for an interval of rates: 99.0 s, must be at least 100 s"},
		{12, 100, ""},
	} {
		rng := rand.New(rand.NewPCG(6, 0))
		a, b := simulatedLoad(rng, tt.users, tt.seconds, 0), simulatedLoad(rng, tt.users, tt.seconds, 0)
		notes := intervalNotes(&a, &b)
		if tt.note == "" && len(notes) > 0 || tt.note != "" && (len(notes) != 1 || notes[0] != tt.note) {
			t.Errorf("%d users, %g s: %q, want %q", tt.users, tt.seconds, notes, tt.note)
		}
		got := intervals(&a, &b, results.FilterMetrics(func(m *results.Metric) bool { return m.Parity != nil }))
		_, rate := got[results.Primary]
		_, mean := got["avg_output_per_request"]
		if rate != (tt.note == "") || mean != (tt.users >= minUsers) {
			t.Errorf("%d users, %g s: intervals %v", tt.users, tt.seconds, got)
		}
		var p pairs
		for user := range tt.users {
			p.add(int32(user), 1, 2)
		}
		in := p.intervals(0)
		if in.Users != tt.users || *in.Change != 1 || (in.Mean95 != nil) != (tt.users >= minUsers) {
			t.Errorf("%d users: %+v", tt.users, in)
		}
	}
}

// TestEstimate checks the degrees of freedom: two equal variances with n - 1 each have 2·(n - 1).
func TestEstimate(t *testing.T) {
	t.Parallel()
	got := estimate{1e-200, 23}.add(estimate{1e-200, 23})
	if math.Abs(got.df-46) > 1e-9 || got.variance != 2e-200 {
		t.Errorf("%+v", got)
	}
	if got := (estimate{0, 4}).add(estimate{0, 5}); got.df != 9 {
		t.Errorf("%+v", got)
	}
	if q := (estimate{1, 23}).quantile(); math.Abs(q-2.068658) > 1e-6 {
		t.Errorf("quantile %g, want 2.068658", q)
	}
}

// TestBootstrapInterval checks the ends for replicates with a normal distribution: they are as far out
// as Student's quantile, enlarged because resampling understates the variance.
func TestBootstrapInterval(t *testing.T) {
	t.Parallel()
	const n = 20_001
	values := make([]float64, n)
	for i := range values {
		values[i] = distuv.UnitNormal.Quantile((float64(i) + 0.5) / n)
	}
	want := 2.068658 * math.Sqrt(24.0/23)
	in := bootstrapInterval(values, 2.068658, 24, overUsers)
	if math.Abs(in.High-want) > 1e-3 || math.Abs(in.Low+want) > 1e-3 {
		t.Errorf("%+v, want ±%g", in, want)
	}
}
