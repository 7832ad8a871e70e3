package results

import (
	"math"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/percentile"
)

// Percentiles are computed exactly without sorting or storing all values. A first pass
// over the rows counts the values by their leading bits, which order floats ≥ 0 like
// integers. A second pass collects the values of the few bins that contain a wanted
// rank; bins with too many values are split by their next bits instead.
const (
	binShift     = 44                         // keeps the exponent and 8 bits of the mantissa
	binBase      = (1023 - 24) << 8           // the first bin contains all values below 2^-24
	bins         = (1023+40)<<8 - binBase + 1 // the last bin contains all values from 2^40
	subBins      = 1 << 10                    // of a bin that is split
	maxCollected = 1 << 15                    // values of a bin; more are split
)

type histogram [bins]uint32

func binOf(v float64) int {
	return min(max(int(math.Float64bits(v)>>binShift)-binBase, 0), bins-1)
}

// bounds returns the bits of the lowest and the highest value of a bin.
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

// rankRange is a range of values of a quantity that contains some of the wanted ranks.
type rankRange struct {
	quantity   Quantity
	low, high  uint64 // bits of the lowest and the highest value
	rankOffset int    // number of values below the range
	count      int
	ranks      []int
}

// rangeContent holds the values that a pass found in a range.
type rangeContent struct {
	values    []float64 // unless the range is split
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

// rankSet holds the wanted order statistics, and those already determined.
type rankSet struct {
	n      [quantities]int
	want   [quantities][]int
	found  [quantities]map[int]float64
	ranges []rankRange

	workers int
}

// wantPercentile adds the ranks of a percentile of n values.
func (s *rankSet) wantPercentile(of Quantity, n int, p float64) {
	if s.n[of] = n; n > 0 {
		low, high, _ := percentile.Ranks(n, p)
		s.want[of] = append(s.want[of], low, high)
	}
}

// percentile returns a percentile whose ranks were resolved.
func (s *rankSet) percentile(of Quantity, p float64) float64 {
	return percentile.OfFunc(s.n[of], p, func(rank int) float64 { return s.found[of][rank] })
}

// requestScan calls visit for each request; the requests are divided among workers.
type requestScan func(workers int, visit func(worker int, r *Request)) error

// resolve determines the values of all wanted ranks.
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

// split adds a range for each counted bin that contains a wanted rank.
func (s *rankSet) split(of Quantity, before int, counts []uint32, ranks []int, bounds func(int) (uint64, uint64)) {
	for bin, n := range counts {
		if len(ranks) == 0 {
			return
		}
		if k, _ := slices.BinarySearch(ranks, before+int(n)); k > 0 {
			low, high := bounds(bin)
			s.ranges = append(s.ranges, rankRange{
				quantity: of, low: low, high: high, rankOffset: before, count: int(n), ranks: ranks[:k],
			})
			ranks = ranks[k:]
		}
		before += int(n)
	}
}

// refine scans the rows once, and finishes or splits every range.
func (s *rankSet) refine(rows requestScan) error {
	var index [quantities][]int16 // 1 + index of the first range in a bin; ranges of a bin are adjacent
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
			for k := int(index[of][binOf(v)] - 1); k < len(s.ranges); k++ {
				c := &s.ranges[k]
				if int(c.quantity) != of || c.low > bits {
					break
				}
				if bits <= c.high {
					c.add(&found[w][k], bits, v)
					break
				}
			}
		}
	})
	if err != nil {
		return err
	}
	previous := s.ranges
	s.ranges = nil
	for i := range previous {
		all := found[0][i]
		for _, more := range found[1:] {
			all.merge(&more[i])
		}
		s.finish(&previous[i], &all)
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

// finish determines the ranks of a range from its content, or splits it.
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
