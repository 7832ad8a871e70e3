package results

import (
	"math"
	"math/bits"

	"github.com/agentperf/agentperf-tui/engine/jsonrow"
)

// maxFraction is the number of decimal places that parseDecimal accepts: 10^19 is the
// largest power of ten that fits in 64 bits.
const maxFraction = 19

var powersOfTen = func() (p [maxFraction + 1]uint64) {
	p[0] = 1
	for i := range maxFraction {
		p[i+1] = 10 * p[i]
	}
	return p
}()

// parseDecimal parses the plain decimal number at the start of text, correctly rounded, and returns
// its length in bytes. The length is 0 if there is none, or if it has too many digits; strconv parses
// those. Nearly all numbers in request rows have this form, and parsing them takes most of the time.
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
		return 0, 0 // not a JSON number, or too long
	case m < 1<<53:
		// Both operands are exact, as powers of ten are up to 10^22, so the quotient is correctly rounded.
		return float64(m) / float64(powersOfTen[fraction]), i
	}
	return quotient(m, powersOfTen[fraction]), i
}

// quotient returns the float64 nearest to m/d; neither may be 0. It computes 64 bits of the
// quotient, sets the last bit if there is a remainder, and rounds once. Scaling by the power of
// two is exact.
func quotient(m, d uint64) float64 {
	up, down := bits.LeadingZeros64(m), bits.LeadingZeros64(d)
	m, d = m<<up, d<<down
	q, rest := bits.Div64(m>>1, m<<63, d) // q is at least 2^62
	if rest != 0 {
		q |= 1
	}
	return float64(q) * math.Float64frombits(uint64(1023-63+down-up)<<52)
}
