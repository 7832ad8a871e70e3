package results

import (
	"cmp"
	"fmt"
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
func (b *builder) validate(s *sums) {
	p := &b.phase
	b.contradictions()
	w := p.Window
	if w == nil {
		b.invalid("the measurement window is unknown: no manifest row, statistics file or plan of this phase")
		return
	}
	switch {
	case w.End < w.Start:
		b.invalid("settling was not reached: the phase is %.1f s short of it", w.Start-w.End)
	case len(b.measured) == 0:
		b.invalid("settling was not reached: no request started in the measurement window")
	case s.output == 0:
		b.invalid("no output tokens")
	}
	if least := b.fold.levels[p.Index].MinMeasurement; w.Seconds < least {
		b.invalid("measured for %.1f s, at least %.1f s are wanted", w.Seconds, least)
	}
	if n := b.clockSteps(); n > 0 {
		b.invalid("the clock stepped: %d request(s) end before they begin or before their first token", n)
	}
	if n := overlaps(b.rows, w); n > 0 {
		b.invalid("%d request(s) begin before their user's previous one has ended", n)
	}
	if p95 := Percentile(s.local, 95); p95 > absurdSpeed {
		b.warn("output speed p95 of %s tok/s: the server sends tokens in large chunks (stream_interval), speeds per request mean little", Decimal(p95, 0))
	}
	if n := p.Requests.Unplaced; n > 0 {
		b.warn("%d request(s) without start_time are in the total only", n)
	}
}

// contradictions are errors of the client's output.
func (b *builder) contradictions() {
	p := &b.phase
	fail := func(text string) {
		b.errors = append(b.errors, text)
		p.Invalid = append(p.Invalid, text)
	}
	if n := len(b.manifest); n > 1 {
		fail(fmt.Sprintf("%s: phase %d occurs %d times", ManifestFile, p.Index, n))
	}
	for _, name := range sortedKeys(b.fold.analysis) {
		t := b.fold.analysis[name]
		if t.duplicates > 0 && int(t.blocks[0][0].phase) == p.Index {
			fail(fmt.Sprintf("%s: %d row(s) of a request that was there before, not counted", name, t.duplicates))
		}
	}
}

func (b *builder) clockSteps() int {
	n := 0
	for _, r := range b.measured {
		if d := r.seconds(); d < 0 || r.ttft > d+clockSlack {
			n++
		}
	}
	return n
}

// overlaps counts measured requests that begin while another of their user is
// in flight.
func overlaps(rows []*request, w *Window) int {
	n, ordered := overlapsInOrder(rows, w)
	if ordered {
		return n
	}
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b *request) int { return cmp.Compare(a.start, b.start) })
	n, _ = overlapsInOrder(rows, w)
	return n
}

// overlapsInOrder tells also whether each user's rows were in order of their
// start, as they are unless requests overlap, since rows are written at the end.
func overlapsInOrder(rows []*request, w *Window) (n int, ordered bool) {
	type latest struct{ start, end float64 }
	users := map[int32]latest{}
	ordered = true
	for _, r := range rows {
		if !r.placed || r.user < 0 || math.IsNaN(r.end) {
			continue
		}
		last, seen := users[r.user]
		if seen && r.start < last.start {
			ordered = false
		}
		if seen && r.start < last.end && r.start >= w.Start && r.start < w.End {
			n++
		}
		users[r.user] = latest{max(last.start, r.start), max(last.end, r.end)}
	}
	return n, ordered
}
