// Package percentile computes percentiles by linear interpolation between closest
// ranks, the default of NumPy. All percentiles of the program are computed here.
package percentile

import "math"

// Method is the name of the definition, as shown next to a figure.
const Method = "linear interpolation between closest ranks"

// Of returns the p-th percentile of values in ascending order; p is from 0 to 100.
// It returns NaN if there are no values.
func Of(sorted []float64, p float64) float64 {
	return OfFunc(len(sorted), p, func(rank int) float64 { return sorted[rank] })
}

// OfFunc is like Of for n values that value returns by their rank. The smallest value
// has rank 0.
func OfFunc(n int, p float64, value func(rank int) float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	low, high, fraction := Ranks(n, p)
	return Interpolate(value(low), value(high), fraction)
}

// Ranks returns the two ranks of n > 0 values between which the p-th percentile lies,
// and its position between them, from 0 to 1.
func Ranks(n int, p float64) (low, high int, fraction float64) {
	rank := p / 100 * float64(n-1)
	low = min(int(rank), n-1)
	return low, min(low+1, n-1), rank - float64(low)
}

// Interpolate interpolates linearly between two values; fraction is from 0 to 1.
func Interpolate(low, high, fraction float64) float64 { return low + (high-low)*fraction }
