package ui

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestScatter(t *testing.T) {
	t.Parallel()
	a := Points{Label: "a", X: []float64{10, 50, 100}, Y: []float64{100, 50, 10}, Names: []string{"64", "128", "256"}}
	b := Points{Label: "b", X: []float64{math.NaN(), 50}, Y: []float64{1, 25}}
	got := ansi.Strip(NewTheme(true).Scatter(60, 12, "speed", a, b))
	for _, want := range []string{"●64", "●128", "●256", "◆", "·", "0  speed"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "◆"); n != 1 {
		t.Errorf("%d points of b", n)
	}
	for _, sets := range [][]Points{
		nil,
		{{X: []float64{1}, Y: []float64{math.Inf(1)}}},
		{{X: []float64{-1}, Y: []float64{2}}},
		{{X: []float64{0}, Y: []float64{0}}},
		{{X: []float64{1}}},
	} {
		if got := ansi.Strip(NewTheme(true).Scatter(60, 12, "speed", sets...)); !strings.Contains(got, "no points") {
			t.Errorf("%v:\n%s", sets, got)
		}
	}
	for w := 1; w < 80; w++ {
		for h := 1; h < 12; h++ {
			checkSize(t, NewTheme(true).Scatter(w, h, "output speed", a, b), w, h)
		}
	}
}
