package chart

import "math"

// Resample gives n values for a series: between two values it draws a line, and
// where several fall on one step it merges them. NaN where there is none.
func Resample(values []float64, peak bool, n int) []float64 {
	k := len(values)
	if k == 0 || n <= 0 {
		return nil
	}
	out := make([]float64, n)
	for i := range out {
		from, to := float64(i)*float64(k)/float64(n), float64(i+1)*float64(k)/float64(n)
		if to-from >= 1 {
			out[i] = Merge(values[int(from):max(int(to), int(from)+1)], peak)
			continue
		}
		mid := (from+to)/2 - 0.5 // in values, from the middle of the first
		a := min(max(int(math.Floor(mid)), 0), k-1)
		out[i] = between(values[a], values[min(a+1, k-1)], min(max(mid-float64(a), 0), 1))
	}
	return out
}

// between is a value on the line from a to b; where one of them is missing, the
// other one up to the middle.
func between(a, b, share float64) float64 {
	switch {
	case math.IsNaN(a) && share >= 0.5:
		return b
	case math.IsNaN(b) && share < 0.5:
		return a
	}
	return a + (b-a)*share
}

// Merge is the mean of the values that are drawable, or the highest of them: a slow
// moment must not vanish in a mean. NaN without any.
func Merge(values []float64, peak bool) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if Drawable(v) {
			sum, n = sum+v, n+1
		}
	}
	switch {
	case n == 0:
		return math.NaN()
	case peak:
		return RangeOf(values...).High
	}
	return sum / float64(n)
}
