package parity

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// The spread of simulated requests, as fractions.
const (
	betweenUsers = 0.10 // of the users' means
	withinUsers  = 0.30 // of the requests of a user
)

// simulatedRun returns the mean over the requests of a run.
func simulatedRun(rng *rand.Rand, users, requests int) float64 {
	sum := 0.0
	for range users {
		user := 1 + betweenUsers*rng.NormFloat64()
		for range requests {
			sum += user * (1 + withinUsers*rng.NormFloat64())
		}
	}
	return sum / float64(users*requests)
}

// exact returns exact figures.
func exact(values ...float64) []results.Figure {
	out := make([]results.Figure, len(values))
	for i, v := range values {
		out[i] = results.Figure{Value: v, Class: results.Exact}
	}
	return out
}

// TestFalseAlarms simulates equal runs. From the spread of some, at most 6 % of further ones may be
// called different, and not much fewer than 5 %, or the interval would be wider than stated.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	const sets, most = 3_000, 10
	rng := rand.New(rand.NewPCG(1, 2))
	var alarms [most + 1]int
	runs := make([]float64, most)
	for range sets {
		for i := range runs {
			runs[i] = simulatedRun(rng, 8, 6)
		}
		candidate := simulatedRun(rng, 8, 6)
		for n := 2; n <= most; n++ {
			within := newTolerance(exact(runs[:n]...), 0)
			if isBeyond(within.delta(candidate), within.width) {
				alarms[n]++
			}
		}
	}
	for n := 2; n <= most; n++ {
		share := float64(alarms[n]) / sets
		t.Logf("%2d references: %.2f %% false alarms", n, 100*share)
		if share > 0.06 || share < 0.04 {
			t.Errorf("%d references: %.2f %% false alarms, want 4 to 6 %%", n, 100*share)
		}
	}
}

// TestNewTolerance checks the width against values computed by hand: t(0.975, 2) is 4.302653, and
// the standard deviation of 990, 1000 and 1010 is 10.
func TestNewTolerance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		figures       []float64
		floor         float64
		center, width float64
		source        string
	}{
		{"one", []float64{1000}, 0.02, 1000, 0.02, ""},
		{
			"three",
			[]float64{1010, 990, 1000},
			0.02, 1000, 4.302653 * 0.01 * math.Sqrt(4.0/3),
			"the 95% prediction interval for one more run, from 3 references",
		},
		{
			"two that agree by chance",
			[]float64{1000, 1001.1},
			0.02, 1000.55, 0.02,
			"the default; the 95% prediction interval for one more run, from 2 references, is ±1.21%",
		},
		{
			"two that are equal",
			[]float64{1000, 1000},
			0.02, 1000, 0.02,
			"the default; the 95% prediction interval for one more run, from 2 references, is ±0%",
		},
		{"all zero", []float64{0, 0}, 0.02, 0, 0.02, ""},
	} {
		got := newTolerance(exact(tt.figures...), tt.floor)
		if got.center != tt.center || math.Abs(got.width-tt.width) > 1e-8 || got.source() != tt.source {
			t.Errorf("%s: %+v, %q; want %g ±%g, %q", tt.name, got, got.source(), tt.center, tt.width, tt.source)
		}
	}
}

// TestEdges checks that equal decimal differences are judged equally, and that a difference beyond
// the band is shown as larger than the band.
func TestEdges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ref, cand, band float64
		verdict         string
		shown           string
	}{
		{3, 2.94, 0.02, Within, "−2.00%, band ±2%"},
		{100, 98, 0.02, Within, "−2.00%, band ±2%"},
		{0.3, 0.306, 0.02, Within, "+2.00%, band ±2%"},
		{1e9, 0.98e9, 0.02, Within, "−2.00%, band ±2%"},
		{0.07, 0.0707, 0.01, Within, "+1.00%, band ±1%"},
		{100, 97.9999, 0.02, Outside, "−2.0001%, band ±2%"},
		{1e8, 97_999_999, 0.02, Outside, "−2.000001%, band ±2%"},
		{1000, 1019.98, 0.01996, Outside, "+1.998%, band ±1.996%"},
		{1000, 1019.97, 0.01998, Within, "+2.00%, band ±2%"},
		{1000, 1020.04, 0.020042, Within, "+2.00%, band ±2%"},
		{1000, 1020.06, 0.02, Outside, "+2.01%, band ±2%"},
		{1000, 1000.05, 1e-5, Outside, "+0.005%, band ±0.001%"},
	} {
		c := Compare(figures(t, tt.ref, ""), figures(t, tt.cand, ""), Options{Band: tt.band})
		if c.Verdict != tt.verdict || !strings.HasSuffix(c.Summary(), tt.shown) {
			t.Errorf("%g to %g: %s; want %s, %s", tt.ref, tt.cand, c.Summary(), tt.verdict, tt.shown)
		}
		p := c.Rows[0].Parts[0]
		if beyond := strings.Contains(strings.Join(p.Flags, ","), "beyond"); beyond != (tt.verdict == Outside) ||
			beyond != (math.Abs(*p.Position) > 1) {
			t.Errorf("%g to %g: position %v, flags %q", tt.ref, tt.cand, *p.Position, p.Flags)
		}
	}
}

// TestJudgedTexts checks that the texts of a difference and of its tolerance are in the same order
// as the numbers.
func TestJudgedTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		delta, width float64
		decimals     int
		want         string
	}{
		{-0.0246, 0.0246, 1, "−2.46% ±2.46%"},
		{-0.0246, 0.025, 1, "−2.5% ±2.5%"},
		{0.02504, 0.025, 1, "+2.504% ±2.5%"},
		{0.0255, 0.025, 1, "+2.55% ±2.5%"},
		{0.025 + 2e-9, 0.025, 1, "+2.5000002% ±2.5%"},
		{0.025 + 5e-10, 0.025, 1, "+2.5% ±2.5%"},
		{5, 0.02, 1, "+500.0% ±2%"},
	} {
		change, band := judgedTexts(tt.delta, tt.width, tt.decimals)
		if got := change + " ±" + band; got != tt.want {
			t.Errorf("%g, %g: %s, want %s", tt.delta, tt.width, got, tt.want)
		}
	}
}
