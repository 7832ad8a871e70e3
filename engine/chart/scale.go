// Package chart computes what a drawing of figures needs before anything is drawn:
// ranges, round scales, ticks, and series of as many values as there is room for.
// Terminal screens draw it with braille dots, reports as SVG. It is pure numbers.
package chart

import "math"

// Drawable reports whether v has a place on an axis: beyond 1e300 the span of two
// values would be infinite.
func Drawable(v float64) bool { return math.Abs(v) < 1e300 }

// Range is an extent of values.
type Range struct{ Low, High float64 }

// RangeOf returns the extent of the values that are drawable; it is empty without one.
func RangeOf(values ...float64) Range {
	return Range{math.Inf(1), math.Inf(-1)}.With(values...)
}

// With extends r by the values that are drawable.
func (r Range) With(values ...float64) Range {
	for _, v := range values {
		if Drawable(v) {
			r.Low, r.High = min(r.Low, v), max(r.High, v)
		}
	}
	return r
}

// Empty reports whether r holds no value.
func (r Range) Empty() bool { return !(r.Low <= r.High) }

// Nice returns the round numbers around r, close enough that its values fill most
// of an axis; the axis begins at 0 where that costs less than half of it.
func (r Range) Nice() Range {
	if r.Empty() {
		return r
	}
	if r.Low > 0 && r.Low < r.High/2 {
		r.Low = 0
	}
	// Ten steps are more than the span; a step tells no more than the values do.
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

// tolerance is the part of a number that its computation may be off by.
const tolerance = 1e-9

// NiceStep returns the smallest of 1, 2 and 5 times a power of ten that is at least v; 1
// for what is not positive.
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

// magnitude is the power of ten that v is above.
func magnitude(v float64) int { return int(math.Floor(math.Log10(v))) }

// decimal is m times a power of ten, as near as can be.
func timesPow10(m float64, exponent int) float64 {
	if exponent < 0 {
		return m / math.Pow10(-exponent)
	}
	return m * math.Pow10(exponent)
}

// Ticks returns the multiples of step in r.
func (r Range) Ticks(step float64) []float64 {
	var out []float64
	for v := math.Ceil(r.Low/step) * step; v <= r.High*1.0001; v += step {
		out = append(out, v)
	}
	return out
}

// Decimals returns how many digits behind the point tell multiples of step apart.
func Decimals(step float64) int { return max(0, int(math.Ceil(-math.Log10(step)-tolerance))) }

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
			out[i] = Aggregate(values[int(from):max(int(to), int(from)+1)], peak)
			continue
		}
		mid := (from+to)/2 - 0.5 // in values, from the middle of the first
		a := min(max(int(math.Floor(mid)), 0), k-1)
		out[i] = lineValue(values[a], values[min(a+1, k-1)], min(max(mid-float64(a), 0), 1))
	}
	return out
}

// between is a value on the line from a to b; where one of them is missing, the
// other one up to the middle.
func lineValue(a, b, share float64) float64 {
	switch {
	case math.IsNaN(a) && share >= 0.5:
		return b
	case math.IsNaN(b) && share < 0.5:
		return a
	}
	return a + (b-a)*share
}

// Aggregate is the mean of the values that are drawable, or the highest of them: a slow
// moment must not vanish in a mean. NaN without any.
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
