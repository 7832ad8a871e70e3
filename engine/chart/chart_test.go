package chart

import (
	"math"
	"slices"
	"testing"
)

func TestResample(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, c := range map[string]struct {
		in   []float64
		peak bool
		n    int
		want []float64
	}{
		"empty":     {nil, false, 4, nil},
		"one value": {[]float64{7}, false, 2, []float64{7, 7}},
		"a line":    {[]float64{0, 4}, false, 4, []float64{0, 1, 3, 4}},
		"same n":    {[]float64{1, 2, 3}, false, 3, []float64{1, 2, 3}},
		"mean":      {[]float64{1, 3, 5, 7}, false, 2, []float64{2, 6}},
		"peak":      {[]float64{1, 3, 5, 7}, true, 2, []float64{3, 7}},
		"gap":       {[]float64{1, nan, nan, nan}, false, 2, []float64{1, nan}},
		"half gap":  {[]float64{2, nan}, false, 4, []float64{2, 2, nan, nan}},
	} {
		got := Resample(c.in, c.peak, c.n)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] && !(math.IsNaN(got[i]) && math.IsNaN(c.want[i])) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
				break
			}
		}
	}
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		in         []float64
		mean, peak float64
	}{
		{[]float64{1, 2, 6}, 3, 6},
		{[]float64{nan, 4, inf}, 4, 4},
		{[]float64{nan}, nan, nan},
		{nil, nan, nan},
	} {
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if mean, peak := Aggregate(tt.in, false), Aggregate(tt.in, true); !same(mean, tt.mean) || !same(peak, tt.peak) {
			t.Errorf("%v: %g and %g, want %g and %g", tt.in, mean, peak, tt.mean, tt.peak)
		}
	}
}

func TestNiceStep(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]float64{0: 1, 0.3: 0.5, 1: 1, 1.01: 2, 20: 20, 51: 100, math.Inf(-1): 1} {
		if got := NiceStep(v); math.Abs(got-want) > 1e-12 {
			t.Errorf("NiceStep(%g) is %g, want %g", v, got, want)
		}
	}
}

func TestNice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, want Range
	}{
		{RangeOf(1, 3), Range{0, 3}}, // starts at 0: less than half of the axis is unused
		{RangeOf(2.1, 3), Range{2.1, 3}},
		{RangeOf(0, 1), Range{0, 1}},
		{RangeOf(0, 1.01), Range{0, 1.2}},
		{RangeOf(17, 17.1), Range{17, 17.1}},
		{RangeOf(980, 1003), Range{980, 1005}},
		{RangeOf(5), Range{5, 5.002}},
		{RangeOf(-3, 7.5, math.NaN(), math.Inf(1)), Range{-4, 8}},
	} {
		got := tt.in.Nice()
		if math.Abs(got.Low-tt.want.Low) > 1e-9 || math.Abs(got.High-tt.want.High) > 1e-9 {
			t.Errorf("%v: %v, want %v", tt.in, got, tt.want)
		}
	}
	if r := RangeOf(math.NaN()); !r.Empty() || !r.Nice().Empty() || RangeOf(0).Empty() {
		t.Error("Empty is wrong for a range of NaN or of one value")
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	if got := (Range{0.3, 2}).Ticks(0.5); !slices.Equal(got, []float64{0.5, 1, 1.5, 2}) {
		t.Error(got)
	}
	for step, want := range map[float64]int{50: 0, 1: 0, 0.5: 1, 0.02: 2, 0.001: 3} {
		if got := Decimals(step); got != want {
			t.Errorf("%g: %d decimals, want %d", step, got, want)
		}
	}
}
