package results

import (
	"math"
	"time"
)

// span is the time span of the rows of a phase, and their number.
type span struct {
	total       int
	first       float64 // earliest start_time, Unix s; NaN if unknown
	last        float64 // latest end_time, Unix s; NaN if unknown
	concurrency int32   // of the first row that has one; -1 if none has
	other       int32   // another concurrency than that
	others      int     // number of rows with another concurrency, at most
	noPhase     int     // number of rows whose phase is unknown; they are counted in phase 0
}

// spans holds the spans of all phases, for a number of rows and a client start.
type spans struct {
	rows        int
	cutoff      float64
	phases      map[int]*span
	earlierRows int // live rows of earlier client starts
}

// updateSpans recomputes the spans if rows or the client start changed.
func (agg *Aggregator) updateSpans() error {
	if err := agg.dedupe(); err != nil {
		return err
	}
	cutoff := agg.cutoff()
	if agg.spans.phases != nil && agg.spans.rows == agg.dedupedRows && agg.spans.cutoff == cutoff {
		return nil
	}
	workers := workerCount()
	all := spans{rows: agg.dedupedRows, cutoff: cutoff, phases: map[int]*span{}}
	for _, t := range agg.tables() {
		parts := make([]map[int]*span, workers)
		earlier := make([]int, workers)
		for w := range parts {
			parts[w] = map[int]*span{}
		}
		err := t.scan(workers, 0, nil, func(w int, r *Request) {
			if r.Start < cutoff {
				earlier[w]++
				return
			}
			s := parts[w][int(r.phase)]
			if s == nil {
				s = newSpan()
				parts[w][int(r.phase)] = s
			}
			one := span{total: 1, first: r.Start, last: r.End, concurrency: r.concurrency}
			if r.flags&noPhase != 0 {
				one.noPhase = 1
			}
			if r.noStartTime {
				one.first = math.NaN()
			}
			s.merge(&one)
		})
		if err != nil {
			return err
		}
		for w, part := range parts {
			if t == &agg.live {
				all.earlierRows += earlier[w]
			}
			for phase, s := range part {
				if all.phases[phase] == nil {
					all.phases[phase] = newSpan()
				}
				all.phases[phase].merge(s)
			}
		}
	}
	agg.spans = all
	return nil
}

// newSpan returns the span of no rows.
func newSpan() *span { return &span{first: math.NaN(), last: math.NaN(), concurrency: -1} }

// merge adds the rows of o, which come later in file order.
func (s *span) merge(o *span) {
	s.total += o.total
	s.noPhase += o.noPhase
	if o.first < s.first || math.IsNaN(s.first) {
		s.first = o.first
	}
	if o.last > s.last || math.IsNaN(s.last) {
		s.last = o.last
	}
	switch {
	case o.concurrency < 0:
	case s.concurrency < 0:
		s.concurrency, s.other, s.others = o.concurrency, o.other, o.others
	case o.concurrency != s.concurrency:
		s.other, s.others = o.concurrency, s.others+o.total-o.others
	case o.others > 0:
		s.other, s.others = o.other, s.others+o.others
	}
}

// PhaseSpan returns when the first request of a phase started and the last one ended,
// since the last client start. The times are zero if there are no requests.
func (agg *Aggregator) PhaseSpan(phase int) (first, last time.Time) {
	if err := agg.updateSpans(); err != nil { // reported by Snapshot
		return first, last
	}
	if s := agg.spans.phases[phase]; s != nil {
		first, last = fromUnix(s.first), fromUnix(s.last)
	}
	return first, last
}
