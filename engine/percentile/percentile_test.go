package percentile

import (
	"math"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		values []float64
		p      float64
		want   float64
	}{
		{"one value", []float64{7}, 99, 7},
		{"midpoint of 1 and 2", []float64{1, 2}, 50, 1.5},
		{"midpoint of 1 and 3", []float64{1, 3}, 50, 2},
		{"lowest rank", []float64{1, 2, 3, 4}, 0, 1},
		{"highest rank", []float64{1, 2, 3, 4}, 100, 4},
		{"highest of three", []float64{1, 2, 3}, 100, 3},
		{"interpolated at rank 0.75", []float64{1, 2, 3, 4}, 25, 1.75},
		{"low tail", []float64{0, 10, 20, 30, 40}, 5, 2},
		{"high tail", []float64{0, 10, 20, 30, 40}, 95, 38},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Of(tt.values, tt.p); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("p%g of %v: %g, want %g", tt.p, tt.values, got, tt.want)
			}
		})
	}
	if got := Of(nil, 50); !math.IsNaN(got) {
		t.Errorf("p50 of no values: %g, want NaN", got)
	}
}
