// Package chart computes axis ranges, ticks and resampled series for charts. It draws
// nothing: the terminal UI draws with braille dots, reports with SVG.
package chart

import "math"

// Drawable reports whether v can be drawn on an axis. It can't if it is NaN, infinite,
// or so large that the distance between two such values could overflow.
func Drawable(v float64) bool { return math.Abs(v) < 1e300 }

// Range is a closed range of values on an axis.
type Range struct{ Low, High float64 }

// RangeOf returns the range of the drawable values. It is empty if there are none.
func RangeOf(values ...float64) Range {
	return Range{math.Inf(1), math.Inf(-1)}.With(values...)
}

// With returns r extended by the drawable values.
func (r Range) With(values ...float64) Range {
	for _, v := range values {
		if Drawable(v) {
			r.Low, r.High = min(r.Low, v), max(r.High, v)
		}
	}
	return r
}

// Empty reports whether r contains no value.
func (r Range) Empty() bool { return !(r.Low <= r.High) }

// Nice returns r extended to round numbers. It starts at 0 if that leaves less than
// half of the axis unused.
func (r Range) Nice() Range {
	if r.Empty() {
		return r
	}
	if r.Low > 0 && r.Low < r.High/2 {
		r.Low = 0
	}
	// At most ten steps, and no step below the last significant digit of the values.
	step := timesPow10(2, magnitude(max(math.Abs(r.High)/100, 1e-9))-1)
	if r.High > r.Low {
		step = max(step, NiceStep((r.High-r.Low)/10*(1+2*tolerance)))
	}
	r.Low, r.High = math.Floor(r.Low/step)*step, math.Ceil(r.High/step)*step
	if r.High <= r.Low {
		r.High = r.Low + step
	}
	return r
}

// tolerance is the relative rounding error that computed values may have.
const tolerance = 1e-9

// NiceStep returns the smallest number of the form 1, 2 or 5 times a power of ten that
// is at least v. It returns 1 if v is not positive.
func NiceStep(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	exponent := magnitude(v)
	for _, m := range []float64{1, 2, 5} {
		if r := timesPow10(m, exponent); r >= v*(1-tolerance) {
			return r
		}
	}
	return timesPow10(10, exponent)
}

// magnitude returns the exponent of the largest power of ten that is at most v.
func magnitude(v float64) int { return int(math.Floor(math.Log10(v))) }

// timesPow10 returns m times a power of ten.
func timesPow10(m float64, exponent int) float64 {
	if exponent < 0 {
		return m / math.Pow10(-exponent)
	}
	return m * math.Pow10(exponent)
}

// Ticks returns the multiples of step that lie in r.
func (r Range) Ticks(step float64) []float64 {
	var out []float64
	for v := math.Ceil(r.Low/step) * step; v <= r.High*1.0001; v += step {
		out = append(out, v)
	}
	return out
}

// Decimals returns the number of decimal places needed to distinguish multiples of step.
func Decimals(step float64) int { return max(0, int(math.Ceil(-math.Log10(step)-tolerance))) }

// Resample returns a series of n values: it interpolates linearly where the series is
// stretched and aggregates values where it is compressed, see [Aggregate]. Gaps are NaN.
func Resample(values []float64, peak bool, n int) []float64 {
	k := len(values)
	if k == 0 || n <= 0 {
		return nil
	}
	out := make([]float64, n)
	for i := range out {
		from, to := float64(i)*float64(k)/float64(n), float64(i+1)*float64(k)/float64(n)
		if to-from >= 1 {
			out[i] = Aggregate(values[int(from):max(int(to), int(from)+1)], peak)
			continue
		}
		mid := (from+to)/2 - 0.5 // index, relative to the centre of the first value
		a := min(max(int(math.Floor(mid)), 0), k-1)
		out[i] = lineValue(values[a], values[min(a+1, k-1)], min(max(mid-float64(a), 0), 1))
	}
	return out
}

// lineValue interpolates between a and b. If one of them is NaN, it returns the other
// one for its half of the line and NaN for the rest.
func lineValue(a, b, fraction float64) float64 {
	switch {
	case math.IsNaN(a) && fraction >= 0.5:
		return b
	case math.IsNaN(b) && fraction < 0.5:
		return a
	}
	return a + (b-a)*fraction
}

// Aggregate returns the mean of the drawable values or, if peak is set, the largest: a
// short latency peak must not disappear in a mean. It returns NaN if there are none.
func Aggregate(values []float64, peak bool) float64 {
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
