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

// Rounded returns the round numbers around r, close enough that its values fill most
// of an axis; the axis begins at 0 where that costs less than half of it.
func (r Range) Rounded() Range {
	if r.Empty() {
		return r
	}
	if r.Low > 0 && r.Low < r.High/2 {
		r.Low = 0
	}
	// Ten steps are more than the span; a step tells no more than the values do.
	step := decimal(2, magnitude(max(math.Abs(r.High)/100, 1e-9))-1)
	if r.High > r.Low {
		step = max(step, Round((r.High-r.Low)/10*(1+2*tolerance)))
	}
	r.Low, r.High = math.Floor(r.Low/step)*step, math.Ceil(r.High/step)*step
	if r.High <= r.Low {
		r.High = r.Low + step
	}
	return r
}

// tolerance is the part of a number that its computation may be off by.
const tolerance = 1e-9

// Round returns the smallest of 1, 2 and 5 times a power of ten that is at least v; 1
// for what is not positive.
func Round(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	exponent := magnitude(v)
	for _, m := range []float64{1, 2, 5} {
		if r := decimal(m, exponent); r >= v*(1-tolerance) {
			return r
		}
	}
	return decimal(10, exponent)
}

// magnitude is the power of ten that v is above.
func magnitude(v float64) int { return int(math.Floor(math.Log10(v))) }

// decimal is m times a power of ten, as near as can be.
func decimal(m float64, exponent int) float64 {
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
