package results

import (
	"math"
	"time"
)

// span is where the rows of a phase lie, and how many there are.
type span struct {
	total       int
	first       float64 // earliest start_time; NaN without one
	last        float64 // latest end_time; NaN without one
	concurrency int32   // of the first row that says it; -1 when none does
}

// spans are those of all phases, as of so many rows and a client start.
type spans struct {
	rows        int
	cutoff      float64
	phases      map[int]*span
	earlierRows int // live rows of earlier client starts
}

// survey finds all spans, unless nothing has changed.
func (f *Aggregator) updateSpans() error {
	if err := f.dedupe(); err != nil {
		return err
	}
	begin := f.cutoff()
	if f.spans.phases != nil && f.spans.rows == f.dedupedRows && f.spans.cutoff == begin {
		return nil
	}
	workers := workerCount()
	all := spans{rows: f.dedupedRows, cutoff: begin, phases: map[int]*span{}}
	for _, t := range f.tables() {
		parts := make([]map[int]*span, workers)
		earlier := make([]int, workers)
		for w := range parts {
			parts[w] = map[int]*span{}
		}
		err := t.scan(workers, 0, nil, func(w int, r *Request) {
			if r.Start < begin {
				earlier[w]++
				return
			}
			s := parts[w][int(r.phase)]
			if s == nil {
				s = newSpan()
				parts[w][int(r.phase)] = s
			}
			one := span{1, r.Start, r.End, r.concurrency}
			if r.noStartTime {
				one.first = math.NaN()
			}
			s.merge(&one)
		})
		if err != nil {
			return err
		}
		for w, part := range parts {
			if t == &f.live {
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
	f.spans = all
	return nil
}

// noSpan is that of no row.
func newSpan() *span { return &span{first: math.NaN(), last: math.NaN(), concurrency: -1} }

// merge adds rows that come later in order.
func (s *span) merge(o *span) {
	s.total += o.total
	if o.first < s.first || math.IsNaN(s.first) {
		s.first = o.first
	}
	if o.last > s.last || math.IsNaN(s.last) {
		s.last = o.last
	}
	if s.concurrency < 0 {
		s.concurrency = o.concurrency
	}
}

// PhaseSpan is when a phase's first request of this client start began and its last one
// ended; zero times without a request.
func (f *Aggregator) PhaseSpan(phase int) (first, last time.Time) {
	if err := f.updateSpans(); err != nil { // told by Run
		return first, last
	}
	if s := f.spans.phases[phase]; s != nil {
		first, last = fromUnix(s.first), fromUnix(s.last)
	}
	return first, last
}
