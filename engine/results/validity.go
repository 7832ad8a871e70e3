package results

import (
	"cmp"
	"math"
	"slices"
)

const (
	// clockSlack is the allowed difference, in seconds, between the clocks of a row: start
	// and end are wall clock times, ttft is measured with a monotonic clock.
	clockSlack = 0.5
	// maxUserSpeed is the largest plausible output speed of one request, in tok/s.
	maxUserSpeed = 2000.0
)

// validate adds the reasons why figures of the phase are invalid.
func (b *phaseBuilder) validate(s *measuredSums) error {
	p := &b.phase
	b.addContradictions()
	w := p.Window
	if w == nil {
		b.invalid("measuring window unknown: no manifest row, statistics file or plan for this phase")
		return nil
	}
	switch {
	case w.End < w.Start:
		b.invalid("settling not completed: the phase ended %.1f s too early", w.Start-w.End)
	case s.measured == 0:
		b.invalid("settling not completed: no request started in the measuring window")
	case s.all[OutputTokens].sum == 0:
		b.invalid("no output tokens")
	}
	if least := b.agg.planned[p.Index].MinMeasurement; w.Seconds < least {
		b.invalid("measuring window too short: %.1f s, must be at least %.1f s", w.Seconds, least)
	}
	if s.clockSteps > 0 {
		b.invalid("clock changed: %d request(s) end before their start or first token", s.clockSteps)
	}
	switch n, err := b.overlaps.count(b.scanAll); {
	case err != nil:
		return err
	case n > 0:
		b.invalid("%d request(s) start before the previous request of the same user ends", n)
	case n < 0:
		b.warn("overlapping requests not checked: more than %s rows are out of order",
			Count(maxSorted))
	}
	if p95 := s.ranks.percentile(LocalSpeed, 95); p95 > maxUserSpeed {
		b.warn("output speed p95 is %s tok/s: the server sends tokens in large chunks (stream_interval), "+
			"so speeds per request are not meaningful", Decimal(p95, 0))
	}
	if n := p.Requests.NoStartTime; n > 0 {
		b.warn("%d request(s) without start_time are counted in the total only", n)
	}
	return nil
}

// addContradictions adds contradictions in the output, as reasons and as errors of the run.
func (b *phaseBuilder) addContradictions() {
	p := &b.phase
	if n := len(b.manifest); n > 1 {
		b.invalid("%s: phase %d occurs %d times", ManifestFile, p.Index, n)
	}
	for _, name := range sortedKeys(b.agg.analysis) {
		t := b.agg.analysis[name]
		if n := t.duplicates.count(); n > 0 && t.extents[0].containsPhase(p.Index) {
			b.invalid("%s: %d duplicate row(s) not counted", name, n)
		}
	}
	b.errors = append(b.errors, p.Invalid...)
}

// maxSorted is the largest number of rows that are sorted to find overlaps.
const maxSorted = 1 << 18

// overlapCounter counts measured requests that start while another request of the same
// user is in flight. Rows are written when a request ends, so the rows of a user are
// ordered by start unless requests overlap.
type overlapCounter struct {
	window     *Window
	users      perUser[userRequests]
	outOfOrder int // number of rows of users whose rows are out of order
}

// userRequests is the state of a user in an overlapCounter.
type userRequests struct {
	seen              bool
	outOfOrder        bool
	rows, overlapping int
	start, end        float64
}

func (o *overlapCounter) add(r *Request) {
	if r.noStartTime || r.User < 0 || math.IsNaN(r.End) {
		return
	}
	last := o.users.get(r.User)
	last.rows++
	if last.outOfOrder {
		o.outOfOrder++
	} else if last.seen && r.Start < last.start {
		last.outOfOrder = true
		o.outOfOrder += last.rows
	}
	if last.seen && r.Start < last.end && r.Start >= o.window.Start && r.Start < o.window.End {
		last.overlapping++
	}
	last.seen, last.start, last.end = true, max(last.start, r.Start), max(last.end, r.End)
}

// count returns the number of overlapping requests, or -1 if too many rows are out of order.
func (o *overlapCounter) count(rows requestScan) (int, error) {
	n := 0
	o.users.each(func(_ int32, u *userRequests) {
		if !u.outOfOrder {
			n += u.overlapping
		}
	})
	switch {
	case o.outOfOrder == 0:
		return n, nil
	case o.outOfOrder > maxSorted:
		return -1, nil
	}
	sorted := make([]Request, 0, o.outOfOrder)
	err := rows(1, func(_ int, r *Request) {
		if r.User >= 0 && o.users.get(r.User).outOfOrder {
			sorted = append(sorted, *r)
		}
	})
	slices.SortStableFunc(sorted, func(a, b Request) int { return cmp.Compare(a.Start, b.Start) })
	again := overlapCounter{window: o.window}
	for i := range sorted {
		again.add(&sorted[i])
	}
	again.users.each(func(_ int32, u *userRequests) { n += u.overlapping })
	return n, err
}

// perUser holds a value per user. Users are normally numbered from 0, but a file may
// contain any user id.
type perUser[T any] struct {
	dense  []T
	sparse map[int32]*T
}

const denseUsers = 1 << 16

func (p *perUser[T]) get(user int32) *T {
	if user < denseUsers {
		for int(user) >= len(p.dense) {
			p.dense = append(p.dense, *new(T))
		}
		return &p.dense[user]
	}
	if p.sparse == nil {
		p.sparse = map[int32]*T{}
	}
	if p.sparse[user] == nil {
		p.sparse[user] = new(T)
	}
	return p.sparse[user]
}

func (p *perUser[T]) each(visit func(user int32, of *T)) {
	for i := range p.dense {
		visit(int32(i), &p.dense[i])
	}
	for user, of := range p.sparse {
		visit(user, of)
	}
}
