package results

import (
	"cmp"
	"context"
	"slices"
)

// maxRequests is how many requests of a phase LoadRequests returns: a comparison
// of single requests holds them all in memory, 80 bytes each.
const maxRequests = 1 << 20

// LoadRequests is Load, and the requests of one phase in the order of their
// start: of the only one when the index is negative. There are none when the
// phase has more than maxRequests.
func LoadRequests(ctx context.Context, dir string, rc RunContext, phase int) (Run, []Request, error) {
	l, err := load(ctx, dir, rc)
	if err != nil {
		return Run{}, nil, err
	}
	defer l.fold.Close()
	run := l.run()
	for _, p := range run.Phases {
		if p.Index == phase || phase < 0 && len(run.Phases) == 1 {
			all, err := l.fold.requestsOf(p)
			return run, all, err
		}
	}
	return run, nil, nil
}

func (f *Fold) requestsOf(p Phase) ([]Request, error) {
	if p.Total > maxRequests || f.spans.phases[p.Index] == nil {
		return nil, nil
	}
	all := make([]Request, 0, p.Total)
	err := f.requests(p.Index)(1, func(_ int, r *Request) {
		all = append(all, *r)
		all[len(all)-1].Measured = p.Window.measures(r)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Request) int { return cmp.Compare(a.Start, b.Start) })
	type begun struct {
		user               int32
		conversation, pass uint32
	}
	number := map[begun]uint32{}
	next := map[begun]uint32{}
	for i := range all {
		r := &all[i]
		of := begun{r.User, r.Conversation, 0}
		key := begun{r.User, r.Conversation, r.Pass}
		n, seen := number[key]
		if !seen {
			n = next[of]
			number[key], next[of] = n, n+1
		}
		r.Pass = n
	}
	return all, nil
}
