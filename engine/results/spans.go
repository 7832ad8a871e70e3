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
	rows    int
	begin   float64
	phases  map[int]*span
	earlier int // live rows of earlier client starts
}

// survey finds all spans, unless nothing has changed.
func (f *Fold) survey() error {
	if err := f.resolve(); err != nil {
		return err
	}
	begin := f.begin()
	if f.spans.phases != nil && f.spans.rows == f.resolved && f.spans.begin == begin {
		return nil
	}
	workers := processors()
	all := spans{rows: f.resolved, begin: begin, phases: map[int]*span{}}
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
				s = &span{first: math.NaN(), last: math.NaN(), concurrency: -1}
				parts[w][int(r.phase)] = s
			}
			s.take(r)
		})
		if err != nil {
			return err
		}
		for w, part := range parts {
			if t == &f.live {
				all.earlier += earlier[w]
			}
			for phase, s := range part {
				if whole := all.phases[phase]; whole != nil {
					whole.merge(s)
				} else {
					all.phases[phase] = s
				}
			}
		}
	}
	f.spans = all
	return nil
}

func (s *span) take(r *Request) {
	s.total++
	if !r.unplaced && !(s.first <= r.Start) {
		s.first = r.Start
	}
	if r.End > s.last || math.IsNaN(s.last) {
		s.last = r.End
	}
	if s.concurrency < 0 {
		s.concurrency = r.concurrency
	}
}

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

// Span is when a phase's first request of this client start began and its last one
// ended; zero times without a request.
func (f *Fold) Span(phase int) (first, last time.Time) {
	if err := f.survey(); err != nil { // told by Run
		return first, last
	}
	s := f.spans.phases[phase]
	if s == nil {
		return first, last
	}
	return fromUnix(s.first), fromUnix(s.last)
}
