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

// validate adds the reasons why figures of the phase are not exact.
func (b *phaseBuilder) validate(s *measuredSums) error {
	p := &b.phase
	b.addContradictions()
	if n := p.Unreadable; n > 0 {
		b.add(newReason(UnreadableRows, float64(n)/float64(s.measured+n), "%s of %s rows could not be read",
			Count(n), Count(b.span.total+n)))
	}
	b.checkUnknownPhases(s.measured)
	w := p.Window
	if w == nil {
		b.invalid(WindowInvalid, "measuring window unknown: no manifest row, statistics file or plan for this phase")
		return nil
	}
	switch {
	case w.End < w.Start:
		b.invalid(WindowInvalid, "settling not completed: the phase ended %.1f s too early", w.Start-w.End)
	case s.measured == 0:
		b.invalid(WindowInvalid, "settling not completed: no request started in the measuring window")
	case s.all[OutputTokens].sum == 0 && (s.all[OutputTokens].n > 0 || s.unknownOf(OutputTokens) == 0):
		b.invalid(WindowInvalid, "no output tokens")
	}
	b.checkLength()
	if n := s.clockSteps; n > 0 {
		b.invalid(ClockStep, "clock changed: %s request(s) end before their start or first token", Count(n))
	}
	switch n, err := b.overlaps.count(b.scanAll); {
	case err != nil:
		return err
	case n > 0:
		b.invalid(ClockStep, "%s request(s) start before the previous request of the same user ends", Count(n))
	case n < 0:
		b.warn("overlapping requests not checked: more than %s rows are out of order",
			Count(maxSorted))
	}
	if n := p.Requests.NoStartTime; n > 0 {
		b.add(newReason(UnreadableRows, float64(n)/float64(s.measured+n),
			"%s request(s) without start_time are counted in the total only", Count(n)))
	}
	if s.measured > 0 {
		b.checkWindow()
	}
	if p.Steady = b.steady.result(); p.Steady != nil && p.Steady.Drift && len(p.Invalid) == 0 {
		b.add(Reason{ID: NotSettled, Class: Exact, Text: "not in a steady state: " + p.Steady.Text()})
	}
	return nil
}

// checkLength adds the reason that the measuring window is too short, if it is.
func (b *phaseBuilder) checkLength() {
	w := b.phase.Window
	least := max(b.agg.planned[b.phase.Index].MinMeasurement, b.agg.minMeasurement)
	if w != nil && w.Seconds < least {
		b.invalid(WindowInvalid, "measuring window too short: %.1f s, must be at least %.1f s", w.Seconds, least)
	}
}

// unknownPhases returns the number of rows counted in phase 0 that may belong to any phase.
func (b *phaseBuilder) unknownPhases() int {
	zero := b.agg.spans.phases[0]
	later := func(m manifestRow) bool { return m.Phase > 0 }
	if zero == nil || len(b.agg.spans.phases) == 1 && !slices.ContainsFunc(b.agg.manifest, later) {
		return 0
	}
	return zero.noPhase
}

// checkUnknownPhases adds a reason if rows may belong to a phase other than the one they are counted in.
func (b *phaseBuilder) checkUnknownPhases(measured int) {
	n, id := b.unknownPhases(), UnreadableRows
	if n == 0 {
		return
	}
	if b.phase.Index == 0 {
		id = OutOfRange
	}
	b.add(newReason(id, min(1, float64(n)/float64(max(1, measured))),
		"the phase of %s row(s) is unknown; they are counted in phase 0", Count(n)))
}

// checkWindow adds the reasons for an estimated window and for parts of it without rows.
func (b *phaseBuilder) checkWindow() {
	p, w := &b.phase, b.phase.Window
	if w.Source == Estimated {
		margin := startMargin + max(0, w.End-b.span.last)
		b.add(newReason(WindowEstimated, margin/w.Seconds, "measuring window estimated from the plan, ±%.1f s", margin))
		return // it ends with the rows
	}
	for _, gap := range b.activity.gaps() {
		share := gap.seconds / w.Seconds
		switch {
		case share <= exactShare:
		case gap.atEnd:
			b.add(newReason(RowsMissing, share, "the rows end %s s before the measuring window does", Decimal(gap.seconds, 1)))
		case gap.atStart:
			b.add(newReason(RowsMissing, share, "the rows begin %s s after the measuring window does", Decimal(gap.seconds, 1)))
		default:
			b.add(newReason(RowsMissing, share, "no request in flight for %s s within the measuring window: "+
				"the clock changed, the server was unreachable, or rows are missing", Decimal(gap.seconds, 1)))
		}
	}
	// Each user may start one more request while the phase ends.
	if n := p.Requests.After; n > max(1, p.Concurrency) && w.Source == FromManifest {
		b.add(newReason(ClockStep, float64(n)/float64(n+p.Requests.Measured),
			"%s request(s) start after the end of the measuring window: the clocks of rows and manifest may differ", Count(n)))
	}
}

// startMargin is the uncertainty, in seconds, of the start of an estimated window.
const startMargin = 1.0

// addContradictions adds contradictions in the output, as reasons and as errors of the run.
func (b *phaseBuilder) addContradictions() {
	p := &b.phase
	if n := len(b.manifest); n > 1 {
		b.invalid(Contradiction, "%s: phase %d occurs %d times", ManifestFile, p.Index, n)
	}
	for _, name := range sortedKeys(b.agg.analysis) {
		t := b.agg.analysis[name]
		if n := t.duplicates.count(); n > 0 && t.extents[0].containsPhase(p.Index) {
			b.invalid(Contradiction, "%s: %d duplicate row(s) not counted", name, n)
		}
	}
	if s := b.span; s.others > 0 {
		b.add(newReason(Contradiction, float64(s.others)/float64(s.total),
			"up to %s of %s rows state a concurrency of %d instead of %d",
			Count(s.others), Count(s.total), s.other, s.concurrency))
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
	seen               bool
	outOfOrder         bool
	rows, overlapping  int
	start, end         float64
	conversation, pass uint32 // of the last request
	turn               int32
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
	// A clock that is set back while no request is in flight reverses the turns of a pass.
	reversed := r.Pass != 0 && r.Pass == last.pass && r.Conversation == last.conversation && r.Turn < last.turn
	if last.seen && (r.Start < last.end || reversed) && r.Start >= o.window.Start && r.Start < o.window.End {
		last.overlapping++
	}
	last.seen, last.start, last.end = true, max(last.start, r.Start), max(last.end, r.End)
	last.conversation, last.pass, last.turn = r.Conversation, r.Pass, r.Turn
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
