// Package percentile defines what a percentile is in this program: linear
// interpolation between closest ranks, the default of NumPy. Statistics, figures,
// series and confidence intervals all use it.
package percentile

import "math"

// Method names the definition beside a figure.
const Method = "linear interpolation between closest ranks"

// Of returns the p-th percentile, 0 to 100, of values in ascending order; NaN without values.
func Of(sorted []float64, p float64) float64 {
	return OfFunc(len(sorted), p, func(rank int) float64 { return sorted[rank] })
}

// OfFunc is Of for n values of which value returns the one at a rank, counted from 0 in
// ascending order.
func OfFunc(n int, p float64, value func(rank int) float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	low, high, part := Ranks(n, p)
	return Interpolate(value(low), value(high), part)
}

// Ranks returns the two ranks of n > 0 values that the p-th percentile lies
// between, and how far it is from the lower to the higher one, from 0 to 1.
func Ranks(n int, p float64) (low, high int, part float64) {
	rank := p / 100 * float64(n-1)
	low = min(int(rank), n-1)
	return low, min(low+1, n-1), rank - float64(low)
}

// Interpolate interpolates between two values; part is from 0 to 1.
func Interpolate(low, high, part float64) float64 { return low + (high-low)*part }
