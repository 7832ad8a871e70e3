package results

import (
	"context"
	"math"
	"slices"
)

// MaxSamples is how many requests of a phase LoadSamples returns: a comparison
// of single requests holds them all in memory, some 90 bytes each.
const MaxSamples = 1 << 20

// Sample is one request of a phase, for comparisons below the figures. Unknown
// floats are NaN, unknown numbers -1.
type Sample struct {
	User, Turn            int32
	Conversation          uint32 // hash, the same for all runs that this process reads; 0 when unknown
	Pass                  int32  // how often the user had begun this conversation before
	Input, Output, Cached int32  // tokens by the server's count
	Measured, Failed      bool
	Start, End            float64 // Unix s
	TTFT, ITL, SSE        float64 // s, s/tok, tok/s
}

// LoadSamples is Load, and the requests of one phase in the order of their
// start: of the only one when the index is negative. There are none when the
// phase has more than MaxSamples.
func LoadSamples(ctx context.Context, dir string, rc RunContext, phase int) (Run, []Sample, error) {
	l, err := load(ctx, dir, rc)
	if err != nil {
		return Run{}, nil, err
	}
	defer l.fold.Close()
	run := l.run()
	for _, p := range run.Phases {
		if p.Index == phase || phase < 0 && len(run.Phases) == 1 {
			samples, err := l.fold.samples(p)
			return run, samples, err
		}
	}
	return run, nil, nil
}

func (f *Fold) samples(p Phase) ([]Sample, error) {
	if p.Total > MaxSamples || f.spans.phases[p.Index] == nil {
		return nil, nil
	}
	type begun struct {
		user               int32
		conversation, pass uint32
	}
	all := make([]Sample, 0, p.Total)
	passes := make([]uint32, 0, p.Total)
	err := f.requests(p.Index)(1, func(_ int, r *request) {
		w := p.Window
		all = append(all, Sample{
			User: r.user, Turn: r.turn, Conversation: r.conversation, Input: r.input, Output: r.output, Cached: r.cached,
			Measured: w != nil && r.placed && !(r.start < w.Start) && !(r.start >= w.End), Failed: r.failed,
			Start: r.start, End: r.end, TTFT: r.ttft, ITL: r.itl, SSE: r.sse,
			Pass: int32(len(passes)), // for now its place, by which its pass is found once they are in order
		})
		passes = append(passes, r.pass)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Sample) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	number := map[begun]int32{}
	next := map[begun]int32{}
	for i := range all {
		s := &all[i]
		of := begun{s.User, s.Conversation, 0}
		key := begun{s.User, s.Conversation, passes[s.Pass]}
		n, seen := number[key]
		if !seen {
			n = next[of]
			number[key], next[of] = n, n+1
		}
		s.Pass = n
	}
	return all, nil
}

// Speed is the local output speed in tok/s; NaN when unknown.
func (s *Sample) Speed() float64 {
	if !(s.ITL > 0) {
		return math.NaN()
	}
	return 1 / s.ITL
}
