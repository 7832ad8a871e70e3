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
func (b *builder) validate(s *sums) error {
	p := &b.phase
	b.contradictions()
	w := p.Window
	if w == nil {
		b.invalid("the measurement window is unknown: no manifest row, statistics file or plan of this phase")
		return nil
	}
	switch {
	case w.End < w.Start:
		b.invalid("settling was not reached: the phase is %.1f s short of it", w.Start-w.End)
	case s.all == 0:
		b.invalid("settling was not reached: no request started in the measurement window")
	case s.every[OutputTokens].sum == 0:
		b.invalid("no output tokens")
	}
	if least := b.fold.planned[p.Index].MinMeasurement; w.Seconds < least {
		b.invalid("measured for %.1f s, at least %.1f s are wanted", w.Seconds, least)
	}
	if s.steps > 0 {
		b.invalid("the clock stepped: %d request(s) end before they begin or before their first token", s.steps)
	}
	switch n, err := b.overlaps.count(b.rows); {
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
func (b *builder) contradictions() {
	p := &b.phase
	if n := len(b.manifest); n > 1 {
		b.invalid("%s: phase %d occurs %d times", ManifestFile, p.Index, n)
	}
	for _, name := range sortedKeys(b.fold.analysis) {
		t := b.fold.analysis[name]
		if n := t.repeated.count(); n > 0 && t.extents[0].holds(p.Index) {
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
type overlaps struct {
	window *Window
	users  perUser[flights]
	mixed  int // rows of users whose rows are out of order
}

// flights are what is known of a user's requests.
type flights struct {
	seen       bool
	mixed      bool // the rows are out of order
	rows, n    int  // n overlap
	start, end float64
}

func (o *overlaps) add(r *Request) {
	if r.noStartTime || r.User < 0 || math.IsNaN(r.End) {
		return
	}
	last := o.users.at(r.User)
	last.rows++
	if last.mixed {
		o.mixed++
	} else if last.seen && r.Start < last.start {
		last.mixed = true
		o.mixed += last.rows
	}
	if last.seen && r.Start < last.end && r.Start >= o.window.Start && r.Start < o.window.End {
		last.n++
	}
	last.seen, last.start, last.end = true, max(last.start, r.Start), max(last.end, r.End)
}

// count is -1 when it can't be told in bounded memory.
func (o *overlaps) count(rows source) (int, error) {
	n := 0
	o.users.each(func(_ int32, u *flights) {
		if !u.mixed {
			n += u.n
		}
	})
	switch {
	case o.mixed == 0:
		return n, nil
	case o.mixed > maxSorted:
		return -1, nil
	}
	sorted := make([]Request, 0, o.mixed)
	err := rows(1, func(_ int, r *Request) {
		if r.User >= 0 && o.users.at(r.User).mixed {
			sorted = append(sorted, *r)
		}
	})
	slices.SortStableFunc(sorted, func(a, b Request) int { return cmp.Compare(a.Start, b.Start) })
	again := overlaps{window: o.window}
	for i := range sorted {
		again.add(&sorted[i])
	}
	again.users.each(func(_ int32, u *flights) { n += u.n })
	return n, err
}

// perUser holds something of each user: users are counted from 0, but nothing
// keeps a file from naming a user two billion.
type perUser[T any] struct {
	low  []T
	high map[int32]*T
}

const lowUsers = 1 << 16

func (p *perUser[T]) at(user int32) *T {
	if user < lowUsers {
		for int(user) >= len(p.low) {
			p.low = append(p.low, *new(T))
		}
		return &p.low[user]
	}
	if p.high == nil {
		p.high = map[int32]*T{}
	}
	if p.high[user] == nil {
		p.high[user] = new(T)
	}
	return p.high[user]
}

func (p *perUser[T]) each(visit func(user int32, of *T)) {
	for i := range p.low {
		visit(int32(i), &p.low[i])
	}
	for user, of := range p.high {
		visit(user, of)
	}
}
