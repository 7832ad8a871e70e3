package results

import (
	"cmp"
	"math"
	"slices"
)

const (
	// clockSlack is how far, in seconds, the two clocks behind a row may differ:
	// times of day for start and end, a steady one for ttft.
	clockSlack = 0.5
	// absurdSpeed in tok/s is beyond what any model serves one user with.
	absurdSpeed = 2000.0
)

// validate tells why figures of the phase must not be trusted.
func (b *phaseBuilder) validate(s *measuredSums) error {
	p := &b.phase
	b.addContradictions()
	w := p.Window
	if w == nil {
		b.invalid("the measurement window is unknown: no manifest row, statistics file or plan of this phase")
		return nil
	}
	switch {
	case w.End < w.Start:
		b.invalid("settling was not reached: the phase is %.1f s short of it", w.Start-w.End)
	case s.measured == 0:
		b.invalid("settling was not reached: no request started in the measurement window")
	case s.all[OutputTokens].sum == 0:
		b.invalid("no output tokens")
	}
	if least := b.agg.planned[p.Index].MinMeasurement; w.Seconds < least {
		b.invalid("measured for %.1f s, at least %.1f s are wanted", w.Seconds, least)
	}
	if s.clockSteps > 0 {
		b.invalid("the clock stepped: %d request(s) end before they begin or before their first token", s.clockSteps)
	}
	switch n, err := b.overlaps.count(b.scanAll); {
	case err != nil:
		return err
	case n > 0:
		b.invalid("%d request(s) begin before their user's previous one has ended", n)
	case n < 0:
		b.warn("not checked whether requests of one user overlap: the rows are out of order and more than %s",
			Count(maxSorted))
	}
	if p95 := s.ranks.percentile(LocalSpeed, 95); p95 > absurdSpeed {
		b.warn("output speed p95 of %s tok/s: the server sends tokens in large chunks (stream_interval), "+
			"speeds per request mean little", Decimal(p95, 0))
	}
	if n := p.Requests.NoStartTime; n > 0 {
		b.warn("%d request(s) without start_time are in the total only", n)
	}
	return nil
}

// contradictions are errors of the client's output, and the first that is found invalid.
func (b *phaseBuilder) addContradictions() {
	p := &b.phase
	if n := len(b.manifest); n > 1 {
		b.invalid("%s: phase %d occurs %d times", ManifestFile, p.Index, n)
	}
	for _, name := range sortedKeys(b.agg.analysis) {
		t := b.agg.analysis[name]
		if n := t.duplicates.count(); n > 0 && t.extents[0].containsPhase(p.Index) {
			b.invalid("%s: %d row(s) of a request that was there before, not counted", name, n)
		}
	}
	b.errors = append(b.errors, p.Invalid...)
}

// maxSorted is how many rows are sorted to find overlaps.
const maxSorted = 1 << 18

// overlaps counts measured requests that begin while another of their user is
// in flight. Rows are written when a request ends, so a user's rows are in the
// order of their starts unless requests overlap.
type overlapCounter struct {
	window     *Window
	users      perUser[userRequests]
	outOfOrder int // rows of users whose rows are out of order
}

// flights are what is known of a user's requests.
type userRequests struct {
	seen              bool
	outOfOrder        bool // the rows are out of order
	rows, overlapping int  // n overlap
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

// count is -1 when it can't be told in bounded memory.
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

// perUser holds something of each user: users are counted from 0, but nothing
// keeps a file from naming a user two billion.
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
