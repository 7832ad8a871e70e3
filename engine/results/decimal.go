package results

import (
	"math"
	"math/bits"

	"github.com/agentperf/agentperf-tui/engine/jsonrow"
)

// maxFraction is how many digits behind the point parseDecimal takes: 10^19 is
// the greatest power of ten in 64 bits.
const maxFraction = 19

var powersOfTen = func() (p [maxFraction + 1]uint64) {
	p[0] = 1
	for i := range maxFraction {
		p[i+1] = 10 * p[i]
	}
	return p
}()

// parseDecimal reads the digits at the beginning of text, perhaps with a point in them, as the
// nearest float64, and tells how many bytes they are: 0 when there are none, or more than it can
// take, which strconv reads. Nearly all numbers in request rows are of this form, and they are what
// takes the most time in reading them.
func parseDecimal(text []byte) (v float64, n int) {
	var m uint64
	i, point := 0, -1
	for ; i < len(text); i++ {
		c := text[i]
		if !jsonrow.IsDigit(c) {
			if c != '.' || point >= 0 || i == 0 {
				break
			}
			point = i
			continue
		}
		if m > 1e18 {
			return 0, 0
		}
		m = 10*m + uint64(c-'0')
	}
	fraction := 0
	if point >= 0 {
		fraction = i - 1 - point
	}
	switch {
	case i == 0 || point == i-1 || fraction > maxFraction || text[0] == '0' && i > 1 && point != 1:
		return 0, 0 // no number of JSON, or a long one
	case m < 1<<53:
		// Both are exact, powers of ten up to 10^22, and so the quotient is the nearest.
		return float64(m) / float64(powersOfTen[fraction]), i
	}
	return quotient(m, powersOfTen[fraction]), i
}

// quotient is the float64 nearest to m/d, neither of which is 0. The 64 bits of
// the whole quotient, the last of which says whether anything is left over, are
// rounded once, and the power of two is then set without rounding.
func quotient(m, d uint64) float64 {
	up, down := bits.LeadingZeros64(m), bits.LeadingZeros64(d)
	m, d = m<<up, d<<down
	q, rest := bits.Div64(m>>1, m<<63, d) // q is at least 2^62
	if rest != 0 {
		q |= 1
	}
	return float64(q) * math.Float64frombits(uint64(1023-63+down-up)<<52)
}
