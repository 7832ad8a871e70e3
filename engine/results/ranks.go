package results

import (
	"math"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/percentile"
)

// Percentiles are exact without all values being sorted or even held: a first
// pass over the rows counts them by the leading bits of the value, which order
// floats ≥ 0 as they order integers; a second one collects the values of those
// few bins that hold a wanted rank, or counts a crowded bin by its next bits.
const (
	binShift     = 44                         // leaves the exponent and 8 bits of the mantissa
	binBase      = (1023 - 24) << 8           // what is below 2^-24 shares the first bin
	bins         = (1023+40)<<8 - binBase + 1 // what is from 2^40 on the last one
	subBins      = 1 << 10                    // of a crowded bin
	maxCollected = 1 << 15                    // values
)

type histogram [bins]uint32

func binOf(v float64) int {
	return min(max(int(math.Float64bits(v)>>binShift)-binBase, 0), bins-1)
}

// bounds are the bits of the lowest and highest value of a bin.
func bounds(bin int) (low, high uint64) {
	low, high = uint64(binBase+bin)<<binShift, uint64(binBase+bin+1)<<binShift-1
	switch bin {
	case 0:
		low = 0
	case bins - 1:
		high = math.MaxInt64
	}
	return low, high
}

// cell is a range of values of one quantity, of which some ranks are wanted.
type rankRange struct {
	quantity   Quantity
	low, high  uint64 // bits of the least and greatest value
	rankOffset int    // values below it
	count      int
	ranks      []int
}

// finding is what a pass found of a cell.
type rangeContent struct {
	values    []float64 // unless the cell is crowded
	subCounts []uint32
	min, max  uint64
}

func (c *rankRange) step() uint64 { return (c.high-c.low)/subBins + 1 }

func (c *rankRange) add(into *rangeContent, bits uint64, v float64) {
	if c.count <= maxCollected {
		into.values = append(into.values, v)
		return
	}
	into.subCounts[(bits-c.low)/c.step()]++
	into.min, into.max = min(into.min, bits), max(into.max, bits)
}

// rankSet are the order statistics that are wanted, and those that are found.
type rankSet struct {
	n      [quantities]int
	want   [quantities][]int
	found  [quantities]map[int]float64
	ranges []rankRange

	workers int
}

// ask notes the ranks of a percentile of n values.
func (s *rankSet) wantPercentile(of Quantity, n int, p float64) {
	if s.n[of] = n; n > 0 {
		low, high, _ := percentile.Ranks(n, p)
		s.want[of] = append(s.want[of], low, high)
	}
}

// percentile is that of a quantity whose ranks were asked for and found.
func (s *rankSet) percentile(of Quantity, p float64) float64 {
	return percentile.OfFunc(s.n[of], p, func(rank int) float64 { return s.found[of][rank] })
}

// source visits requests, each worker some of them.
type requestScan func(workers int, visit func(worker int, r *Request)) error

// find fills in the ranks that were asked for.
func (s *rankSet) resolve(counts *[quantities]*histogram, rows requestScan) error {
	for of, h := range counts {
		if h != nil {
			slices.Sort(s.want[of])
			s.want[of] = slices.Compact(s.want[of])
			s.found[of] = map[int]float64{}
			s.split(Quantity(of), 0, h[:], s.want[of], bounds)
		}
	}
	for len(s.ranges) > 0 {
		if err := s.refine(rows); err != nil {
			return err
		}
	}
	return nil
}

// split makes cells of those counted bins that hold a rank.
func (s *rankSet) split(of Quantity, before int, counts []uint32, ranks []int, bounds func(int) (uint64, uint64)) {
	for bin, n := range counts {
		if len(ranks) == 0 {
			return
		}
		if k, _ := slices.BinarySearch(ranks, before+int(n)); k > 0 {
			low, high := bounds(bin)
			s.ranges = append(s.ranges, rankRange{quantity: of, low: low, high: high, rankOffset: before, count: int(n), ranks: ranks[:k]})
			ranks = ranks[k:]
		}
		before += int(n)
	}
}

// pass narrows every cell, or ends it.
func (s *rankSet) refine(rows requestScan) error {
	var index [quantities][]int16 // first cell of a bin, plus one; cells of a bin stand together
	for i := range s.ranges {
		c := &s.ranges[i]
		if index[c.quantity] == nil {
			index[c.quantity] = make([]int16, bins)
		}
		if at := &index[c.quantity][binOf(math.Float64frombits(c.low))]; *at == 0 {
			*at = int16(i + 1)
		}
	}
	found := make([][]rangeContent, s.workers)
	for w := range found {
		found[w] = make([]rangeContent, len(s.ranges))
		for i := range s.ranges {
			found[w][i].min = math.MaxUint64
			if s.ranges[i].count > maxCollected {
				found[w][i].subCounts = make([]uint32, subBins)
			}
		}
	}
	err := rows(s.workers, func(w int, r *Request) {
		if r.Failed {
			return
		}
		for of := range index {
			if index[of] == nil {
				continue
			}
			v := Quantity(of).Value(r)
			if math.IsNaN(v) || index[of][binOf(v)] == 0 {
				continue
			}
			bits := math.Float64bits(v)
			for k := int(index[of][binOf(v)] - 1); k < len(s.ranges) && int(s.ranges[k].quantity) == of && s.ranges[k].low <= bits; k++ {
				if bits <= s.ranges[k].high {
					s.ranges[k].add(&found[w][k], bits, v)
					break
				}
			}
		}
	})
	if err != nil {
		return err
	}
	done := s.ranges
	s.ranges = nil
	for i := range done {
		all := found[0][i]
		for _, more := range found[1:] {
			all.merge(&more[i])
		}
		s.finish(&done[i], &all)
	}
	return nil
}

func (f *rangeContent) merge(more *rangeContent) {
	f.values = append(f.values, more.values...)
	for i, n := range more.subCounts {
		f.subCounts[i] += n
	}
	f.min, f.max = min(f.min, more.min), max(f.max, more.max)
}

func (s *rankSet) finish(c *rankRange, f *rangeContent) {
	switch {
	case c.count <= maxCollected:
		slices.Sort(f.values)
		for _, rank := range c.ranks {
			s.found[c.quantity][rank] = f.values[rank-c.rankOffset]
		}
	case f.min == f.max:
		for _, rank := range c.ranks {
			s.found[c.quantity][rank] = math.Float64frombits(f.min)
		}
	default:
		step := c.step()
		s.split(c.quantity, c.rankOffset, f.subCounts, c.ranks, func(bin int) (uint64, uint64) {
			low := c.low + uint64(bin)*step
			return low, min(low+step-1, c.high)
		})
	}
}
