package results

import (
	"math"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/percentile"
)

// The samples that percentiles are formed of.
const (
	ofOutput = iota
	ofTTFT
	ofLocal
	ofSSE
	ofLatency
	kinds
)

// samples of a request: NaN where it is not part of one.
func (r *request) samples() (v [kinds]float64) {
	nan := math.NaN()
	v = [kinds]float64{nan, r.ttft, nan, nan, nan}
	if r.output >= 0 {
		v[ofOutput] = float64(r.output)
	}
	if r.itl > 0 {
		v[ofLocal] = 1 / r.itl
	}
	if r.sse > 0 {
		v[ofSSE] = r.sse
	}
	if d := r.seconds(); d >= 0 && r.placed {
		v[ofLatency] = d
	}
	return v
}

// Percentiles are exact without all values being sorted or even held: a first
// pass over the rows counts them by the leading bits of the value, which order
// floats ≥ 0 as they order integers; a second one collects the values of those
// few bins that hold a wanted rank, or counts a crowded bin by its next bits.
const (
	binShift = 44                         // leaves the exponent and 8 bits of the mantissa
	binBase  = (1023 - 24) << 8           // what is below 2^-24 shares the first bin
	bins     = (1023+40)<<8 - binBase + 1 // what is from 2^40 on the last one
	subBins  = 1 << 10                    // of a crowded bin
	crowded  = 1 << 15                    // values
)

type histogram [bins]uint32

func binOf(v float64) int {
	return min(max(int(math.Float64bits(v)>>binShift)-binBase, 0), bins-1)
}

// bounds are the bits of the lowest and highest value of a bin.
func bounds(bin int) (low, high uint64) {
	low, high = uint64(binBase+bin)<<binShift, uint64(binBase+bin+1)<<binShift-1
	if bin == 0 {
		low = 0
	}
	if bin == bins-1 {
		high = math.MaxInt64
	}
	return low, high
}

// cell is a range of values of one sample, of which some ranks are wanted.
type cell struct {
	sample    int
	low, high uint64 // bits of the least and greatest value
	before    int    // values below it
	count     int
	ranks     []int
}

// finding is what a pass found of a cell.
type finding struct {
	values   []float64 // unless the cell is crowded
	sub      []uint32
	min, max uint64
}

func (c *cell) step() uint64 { return (c.high-c.low)/subBins + 1 }

func (c *cell) take(into *finding, bits uint64, v float64) {
	if c.count <= crowded {
		into.values = append(into.values, v)
		return
	}
	into.sub[(bits-c.low)/c.step()]++
	into.min, into.max = min(into.min, bits), max(into.max, bits)
}

// rankSet are the order statistics that are wanted, and those that are found.
type rankSet struct {
	n     [kinds]int
	want  [kinds][]int
	found [kinds]map[int]float64
	cells []cell

	workers int
}

// ask notes the ranks of a percentile.
func (s *rankSet) ask(sample int, p float64) {
	n := s.n[sample]
	if n == 0 {
		return
	}
	low, high, _ := percentile.Ranks(n, p)
	s.want[sample] = append(s.want[sample], low, high)
}

// percentile is that of a sample whose ranks were asked for and found.
func (s *rankSet) percentile(sample int, p float64) float64 {
	return percentile.At(s.n[sample], p, func(rank int) float64 { return s.found[sample][rank] })
}

// source visits requests, each worker some of them.
type source func(workers int, visit func(worker int, r *request)) error

// find fills in the ranks that were asked for.
func (s *rankSet) find(counts *[kinds]histogram, rows source) error {
	for sample := range kinds {
		slices.Sort(s.want[sample])
		s.want[sample] = slices.Compact(s.want[sample])
		s.found[sample] = map[int]float64{}
		s.split(sample, 0, counts[sample][:], s.want[sample], bounds)
	}
	for len(s.cells) > 0 {
		if err := s.pass(rows); err != nil {
			return err
		}
	}
	return nil
}

// split makes cells of those counted bins that hold a rank.
func (s *rankSet) split(sample, before int, counts []uint32, ranks []int, bounds func(int) (uint64, uint64)) {
	for bin, n := range counts {
		if len(ranks) == 0 {
			return
		}
		k := 0
		for k < len(ranks) && ranks[k] < before+int(n) {
			k++
		}
		if k > 0 {
			low, high := bounds(bin)
			s.cells = append(s.cells, cell{sample: sample, low: low, high: high, before: before, count: int(n), ranks: ranks[:k]})
			ranks = ranks[k:]
		}
		before += int(n)
	}
}

// pass narrows every cell, or ends it.
func (s *rankSet) pass(rows source) error {
	var index [kinds][]int16 // first cell of a bin, plus one; cells of a bin stand together
	for i := range s.cells {
		c := &s.cells[i]
		if index[c.sample] == nil {
			index[c.sample] = make([]int16, bins)
		}
		if at := &index[c.sample][binOf(math.Float64frombits(c.low))]; *at == 0 {
			*at = int16(i + 1)
		}
	}
	found := make([][]finding, s.workers)
	for w := range found {
		found[w] = make([]finding, len(s.cells))
		for i := range s.cells {
			found[w][i].min = math.MaxUint64
			if s.cells[i].count > crowded {
				found[w][i].sub = make([]uint32, subBins)
			}
		}
	}
	err := rows(s.workers, func(w int, r *request) {
		if r.failed {
			return
		}
		for sample, v := range r.samples() {
			if math.IsNaN(v) || index[sample] == nil {
				continue
			}
			i := index[sample][binOf(v)]
			if i == 0 {
				continue
			}
			bits := math.Float64bits(v)
			for k := int(i - 1); k < len(s.cells) && s.cells[k].sample == sample && s.cells[k].low <= bits; k++ {
				if bits <= s.cells[k].high {
					s.cells[k].take(&found[w][k], bits, v)
					break
				}
			}
		}
	})
	if err != nil {
		return err
	}
	done := s.cells
	s.cells = nil
	for i := range done {
		all := found[0][i]
		for _, more := range found[1:] {
			all.merge(&more[i])
		}
		s.end(&done[i], &all)
	}
	return nil
}

func (f *finding) merge(more *finding) {
	f.values = append(f.values, more.values...)
	for i, n := range more.sub {
		f.sub[i] += n
	}
	f.min, f.max = min(f.min, more.min), max(f.max, more.max)
}

func (s *rankSet) end(c *cell, f *finding) {
	switch {
	case c.count <= crowded:
		slices.Sort(f.values)
		for _, rank := range c.ranks {
			s.found[c.sample][rank] = f.values[rank-c.before]
		}
	case f.min == f.max:
		for _, rank := range c.ranks {
			s.found[c.sample][rank] = math.Float64frombits(f.min)
		}
	default:
		step := c.step()
		s.split(c.sample, c.before, f.sub, c.ranks, func(bin int) (uint64, uint64) {
			low := c.low + uint64(bin)*step
			return low, min(low+step-1, c.high)
		})
	}
}
