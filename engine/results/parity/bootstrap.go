package parity

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/engine/results"
)

const (
	replicates   = 400
	blockSeconds = 20.0 // blocks are from 10 to 30 s long
	fewestUsers  = 10
	fewestBlocks = 5
)

// Interval is where 95 % of the differences lie when each run is drawn anew
// from its own requests. It tells what the requests of one run scatter by, and
// nothing of how runs differ: "within-run only".
type Interval struct {
	Low    float64 `json:"low"` // fraction of the reference
	High   float64 `json:"high"`
	Method string  `json:"method"`
}

// intervals are those of the differences by key of the figure. Requests of one
// user and of one moment hang together, so users are drawn whole for percentiles
// and means, and blocks of time for throughput.
func intervals(ref, cand *Side) map[string]Interval {
	if len(ref.Samples) == 0 || len(cand.Samples) == 0 {
		return nil
	}
	var a, b map[string][]float64
	var both sync.WaitGroup
	both.Go(func() { a = ref.draws(1) })
	both.Go(func() { b = cand.draws(2) })
	both.Wait()
	out := map[string]Interval{}
	for key, refs := range a {
		var deltas []float64
		for i, r := range refs {
			if cands := b[key]; i < len(cands) {
				if d := cands[i]/r - 1; known(d) != nil {
					deltas = append(deltas, d)
				}
			}
		}
		if len(deltas) < replicates/2 {
			continue
		}
		slices.Sort(deltas)
		method := "bootstrap over users, within-run only"
		if strings.HasSuffix(key, "server_tok_s") {
			method = "bootstrap over blocks of time, within-run only"
		}
		out[key] = Interval{Low: percentile.Of(deltas, 2.5), High: percentile.Of(deltas, 97.5), Method: method}
	}
	return out
}

// draws are the values of each figure over the replicates of a side. The seed
// is fixed, so that a comparison says the same each time.
func (s *Side) draws(stream uint64) map[string][]float64 {
	rng := rand.New(rand.NewPCG(20_260_101, stream))
	out := map[string][]float64{}
	s.drawBlocks(rng, out)
	s.drawUsers(rng, out)
	return out
}

func (s *Side) drawBlocks(rng *rand.Rand, out map[string][]float64) {
	w := s.Phase.Window
	if w == nil || !(w.Seconds > 0) || math.IsNaN(w.Start) {
		return
	}
	n := int(math.Round(w.Seconds / blockSeconds))
	if n < fewestBlocks {
		return
	}
	output, total := make([]float64, n), make([]float64, n)
	for _, q := range s.Samples {
		if !q.Measured || q.Output < 0 {
			continue
		}
		i := min(int((q.Start-w.Start)/w.Seconds*float64(n)), n-1)
		output[i] += float64(q.Output)
		if q.Input >= 0 {
			total[i] += float64(q.Output) + float64(q.Input)
		}
	}
	for range replicates {
		var sumOutput, sumTotal float64
		for range n {
			i := rng.IntN(n)
			sumOutput, sumTotal = sumOutput+output[i], sumTotal+total[i]
		}
		out["output_server_tok_s"] = append(out["output_server_tok_s"], sumOutput/w.Seconds)
		out["total_server_tok_s"] = append(out["total_server_tok_s"], sumTotal/w.Seconds)
	}
}

// valueOf is a request's part in a sample of which percentiles are formed.
var valueOf = map[string]func(*results.Sample) float64{
	"ttft_p":               func(q *results.Sample) float64 { return q.TTFT },
	"e2e_p":                func(q *results.Sample) float64 { return q.End - q.Start },
	"output_speed_local_p": func(q *results.Sample) float64 { return q.Speed() },
	"output_speed_sse_p": func(q *results.Sample) float64 {
		if !(q.SSE > 0) {
			return math.NaN()
		}
		return q.SSE
	},
	"median_output_p": func(q *results.Sample) float64 {
		if q.Output < 0 {
			return math.NaN()
		}
		return float64(q.Output)
	},
}

// ranks are the percentiles of each sample, by key of the figure.
var ranks = map[string]map[string]float64{
	"ttft_p":               {"ttft_p50_s": 50, "ttft_p95_s": 95, "ttft_p99_s": 99},
	"e2e_p":                {"e2e_p50_s": 50, "e2e_p95_s": 95, "e2e_p99_s": 99},
	"output_speed_local_p": speedRanks("local"),
	"output_speed_sse_p":   speedRanks("sse"),
	"median_output_p":      {"median_output_per_request": 50},
}

func speedRanks(kind string) map[string]float64 {
	out := map[string]float64{}
	for name, p := range map[string]float64{"p5": 5, "p25": 25, "p50": 50, "p95": 95} {
		out["output_speed_"+kind+"_"+name+"_tok_s"] = p
	}
	return out
}

// valued is a value and the user that it is of.
type valued struct {
	v    float64
	user int32
}

// perUser are the sums of a user's requests.
type perUser struct{ input, inputN, output, outputN, hit, hitBase float64 }

func (s *Side) drawUsers(rng *rand.Rand, out map[string][]float64) {
	index := map[int32]int32{}
	var sums []perUser
	samples := map[string][]valued{}
	for i := range s.Samples {
		q := &s.Samples[i]
		if !q.Measured {
			continue
		}
		u, seen := index[q.User]
		if !seen {
			u = int32(len(sums))
			index[q.User] = u
			sums = append(sums, perUser{})
		}
		sums[u].add(q)
		if q.Failed {
			continue
		}
		for name, value := range valueOf {
			if v := value(q); !math.IsNaN(v) {
				samples[name] = append(samples[name], valued{v, u})
			}
		}
	}
	if len(sums) < fewestUsers {
		return
	}
	for _, values := range samples {
		slices.SortFunc(values, func(a, b valued) int {
			switch {
			case a.v < b.v:
				return -1
			case a.v > b.v:
				return 1
			}
			return 0
		})
	}
	weights := make([]int32, len(sums))
	for range replicates {
		clear(weights)
		for range sums {
			weights[rng.IntN(len(sums))]++
		}
		var all perUser
		for u, w := range weights {
			all.join(sums[u], float64(w))
		}
		out["cache_hit_rate"] = append(out["cache_hit_rate"], all.hit/all.hitBase)
		out["avg_input_per_request"] = append(out["avg_input_per_request"], all.input/all.inputN)
		out["avg_output_per_request"] = append(out["avg_output_per_request"], all.output/all.outputN)
		for name, values := range samples {
			weighted(values, weights, ranks[name], out)
		}
	}
}

func (p *perUser) add(q *results.Sample) {
	if q.Cached >= 0 && q.Input >= 0 {
		p.hit, p.hitBase = p.hit+float64(q.Cached), p.hitBase+float64(q.Input)
	}
	if q.Input >= 0 && !q.Failed {
		p.input, p.inputN = p.input+float64(q.Input), p.inputN+1
	}
	if q.Output >= 0 && !q.Failed {
		p.output, p.outputN = p.output+float64(q.Output), p.outputN+1
	}
}

func (p *perUser) join(o perUser, weight float64) {
	p.hit, p.hitBase = p.hit+weight*o.hit, p.hitBase+weight*o.hitBase
	p.input, p.inputN = p.input+weight*o.input, p.inputN+weight*o.inputN
	p.output, p.outputN = p.output+weight*o.output, p.outputN+weight*o.outputN
}

// weighted appends the percentiles of values in ascending order, each of which
// counts as often as its user was drawn.
func weighted(values []valued, weights []int32, ranks map[string]float64, out map[string][]float64) {
	n := 0
	for i := range values {
		n += int(weights[values[i].user])
	}
	if n == 0 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(ranks), func(a, b string) int { return cmp.Compare(ranks[a], ranks[b]) })
	below, i := 0, 0
	for _, key := range keys {
		rank, next, part := percentile.Ranks(n, ranks[key])
		for below+int(weights[values[i].user]) <= rank {
			below += int(weights[values[i].user])
			i++
		}
		low, high := values[i].v, values[i].v
		if below+int(weights[values[i].user]) <= next { // the next rank is the next value's that was drawn
			for j := i + 1; j < len(values); j++ {
				if weights[values[j].user] > 0 {
					high = values[j].v
					break
				}
			}
		}
		out[key] = append(out[key], percentile.Between(low, high, part))
	}
}
