package results

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/percentile"
)

// TestSpilledRows checks the figures of more rows than are kept in memory, including
// duplicates and analysis rows, against figures computed by sorting.
func TestSpilledRows(t *testing.T) {
	t.Parallel()
	const n = residentBlocks*blockRows + 3*blockRows + 17
	f := NewAggregator()
	defer f.Close()
	analysis, _ := f.analysisTable(testStem)
	rng := rand.New(rand.NewPCG(3, 4))
	want := map[Quantity][]float64{}
	var output float64
	repeated := 0
	for i := range n {
		start := 100 + float64(i)*1e-3
		r := Request{
			Start: start, End: start + 0.5 + rng.Float64(), TTFT: rng.ExpFloat64(), ITL: 0.01, SSE: float64(rng.IntN(3)) + 1,
			Input: 10, Output: int32(rng.IntN(1000)), Cached: 5, User: int32(i),
		}
		if i%50 == 0 {
			better := r
			better.Output = 7
			f.addRequest(analysis, combineHash(uint64(i), 1), &better)
		}
		f.addRequest(&f.live, combineHash(uint64(i), 1), &r)
		if i%1000 == 999 { // duplicate of a much earlier request
			f.addRequest(&f.live, combineHash(uint64(i/2), 1), &r)
			repeated++
		}
		if i%50 == 0 {
			r.Output = 7
		}
		output += float64(r.Output)
		want[OutputTokens] = append(want[OutputTokens], float64(r.Output))
		want[TTFT] = append(want[TTFT], r.TTFT)
		want[SSESpeed] = append(want[SSESpeed], r.SSE)
		want[Latency] = append(want[Latency], r.End-r.Start)
	}
	if f.live.spill == nil {
		t.Fatal("no rows were written to a temporary file")
	}
	if got := f.checkLong(t, n); got != output {
		t.Errorf("%g output tokens, want %g", got, output)
	}
	if got := f.live.duplicates.count(); got != repeated {
		t.Errorf("%d repeated rows, want %d", got, repeated)
	}
	figures := f.Snapshot(time.Time{}).Phases[0].Figures
	for _, m := range Metrics {
		values := want[m.Formula.Of]
		if m.Formula.Kind != Percentile || values == nil {
			continue
		}
		slices.Sort(values)
		if got, want := figures.Get(m.Key).Value, percentile.Of(values, m.Formula.Percentile); got != want {
			t.Errorf("%s: %g, want %g", m.Key, got, want)
		}
	}
	if got := figures.Get("output_speed_local_p5_tok_s").Value; got != 100 {
		t.Errorf("speeds that are all the same: %g, want 100", got)
	}
}

// checkLong checks an Aggregator with n requests and returns its output tokens.
func (agg *Aggregator) checkLong(t *testing.T, n int) float64 {
	t.Helper()
	if err := agg.AddManifestRow([]byte(`{"phase_idx":0,"settling_end":0,"actual_phase_end":1e9}`)); err != nil {
		t.Fatal(err)
	}
	run := agg.Snapshot(time.Time{})
	if len(run.Errors) > 0 || run.Phases[0].Requests.Measured != n {
		t.Fatalf("%q, %+v", run.Errors, run.Phases[0].Requests)
	}
	s, err := agg.Series(0, 0)
	sum := 0
	for _, b := range s.Buckets {
		sum += b.N
	}
	if err != nil || sum != n {
		t.Errorf("%d requests in the series, want %d; %v", sum, n, err)
	}
	recent, err := agg.Recent(0, 10, time.Time{})
	if err != nil || recent.N < 9000 || recent.N > 11000 {
		t.Errorf("%d requests in the last 10 s, %v", recent.N, err)
	}
	return run.Phases[0].Figures.Get("output_tokens").Value
}

// TestPercentilesAreExact checks percentiles of values in few bins, and of extreme values.
func TestPercentilesAreExact(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	n := maxCollected + maxCollected/2
	samples := map[string]func(int) float64{
		"uniform":      func(int) float64 { return rng.Float64() },
		"narrow":       func(int) float64 { return 1 + 1e-9*rng.Float64() },
		"two values":   func(i int) float64 { return float64(i%2) + 5 },
		"constant":     func(int) float64 { return 0.125 },
		"zeros":        func(i int) float64 { return max(0, float64(i-n/2)) },
		"tiny":         func(int) float64 { return 1e-300 * rng.Float64() },
		"huge":         func(int) float64 { return 1e200 * rng.Float64() },
		"many scales":  func(int) float64 { return math.Exp(600 * (rng.Float64() - 0.5)) },
		"neighbouring": func(i int) float64 { return math.Float64frombits(math.Float64bits(1) + uint64(i%7)) },
	}
	for name, draw := range samples {
		rows := make([]Request, n)
		values := make([]float64, n)
		for i := range rows {
			values[i] = draw(i)
			rows[i] = Request{TTFT: values[i], Input: -1, Output: -1, Cached: -1, Start: 2, End: 1}
		}
		s, err := computeSums(func(workers int, visit func(int, *Request)) error {
			return parallel(workers, func(w int) error {
				for i := w * n / workers; i < (w+1)*n/workers; i++ {
					visit(w, &rows[i])
				}
				return nil
			})
		}, n, 0, 1, "window")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(values)
		for _, p := range []float64{50, 95, 99} {
			if got, want := s.ranks.percentile(TTFT, p), percentile.Of(values, p); got != want {
				t.Errorf("%s: p%g is %g, want %g", name, p, got, want)
			}
		}
	}
}

// TestSeriesOfUnorderedRows checks that the order of rows does not change the series.
func TestSeriesOfUnorderedRows(t *testing.T) {
	t.Parallel()
	var rows []Request
	for i := range 3000 {
		start := 1000 + float64(i)/10
		rows = append(rows, Request{
			Start: start, End: start + 1, TTFT: float64(i % 17), ITL: 0.01, Input: 1, Output: 2,
			Cached: -1, User: int32(i),
		})
	}
	series := func(order []int, look int) Series {
		f := NewAggregator()
		defer f.Close()
		var s Series
		for k, i := range order {
			r := rows[i]
			f.addRequest(&f.live, combineHash(uint64(i), 1), &r)
			if k%look == 0 || k == len(order)-1 {
				var err error
				if s, err = f.Series(0, 5); err != nil {
					t.Fatal(err)
				}
			}
		}
		return s
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	want := series(order, len(order))
	if got := series(order, 7); !reflect.DeepEqual(want.Buckets, got.Buckets) {
		t.Error("calling Series between rows changes the result")
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(order)-1, func(i, j int) { order[i+1], order[j+1] = order[j+1], order[i+1] })
	got := series(order, 101)
	for i, b := range got.Buckets {
		w := want.Buckets[i]
		if b.N != w.N || !slices.Equal(b.Values, w.Values) || math.Abs(b.InFlight-w.InFlight) > 1e-9 {
			t.Fatalf("bucket %d: %+v, want %+v", i, b, w)
		}
	}
}
