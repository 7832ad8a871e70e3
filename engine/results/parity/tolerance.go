package parity

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// predictionLevel is the level of the prediction intervals and of the within-run intervals. Of
// equal runs, at most 1 - predictionLevel lie outside.
const predictionLevel = 0.95

// epsilon is the amount by which a difference, as a fraction, must exceed a tolerance to be beyond
// it. It is far above the rounding errors of floating point and far below what a run can measure:
// 98 against 100 and 2.94 against 3 are both −2 %, although their computed differences are not equal.
const epsilon = 1e-9

// tolerance is the range of a figure in which a candidate is regarded as equal to the reference.
type tolerance struct {
	center     float64 // the reference, or the mean of several
	width      float64 // to both sides, as a fraction of center
	predicted  float64 // width of the prediction interval; below 0 if there is none
	references int     // number of figures behind center
	// The lowest and the highest values of center and width that the references permit. They differ from
	// center and width if a reference is uncertain.
	centers, widths [2]float64
}

// newTolerance returns the tolerance around reference figures. Around one figure the width is floor.
// Around the mean of several it is that of the prediction interval for one more run, t·s·√(1 + 1/n),
// with the quantile t of Student's distribution with n - 1 degrees of freedom and the standard
// deviation s; but at least floor, because two or three runs can agree by chance.
//
// TestFalseAlarms simulates sets of equal runs whose users differ by 10 % and the requests of a user
// by 30 %. Without the floor, this percentage of candidates is called different:
//
//	references    2     3     4     5     6     7     8     9     10
//	% different   5.6   4.9   4.3   4.7   4.6   4.7   5.0   5.2   5.0
func newTolerance(figures []results.Figure, floor float64) tolerance {
	t := tolerance{
		center: figures[0].Value, width: floor, predicted: -1, references: len(figures), widths: [2]float64{floor, floor},
	}
	n := float64(len(figures))
	values, middles := make([]float64, len(figures)), make([]float64, len(figures))
	sum, squares := 0.0, 0.0 // of what the references can be off their middles
	for i, f := range figures {
		low, high := bounds(f)
		t.centers[0], t.centers[1] = t.centers[0]+low/n, t.centers[1]+high/n
		half := (high - low) / 2
		values[i], middles[i] = f.Value, low+half
		sum, squares = sum+half, squares+half*half
	}
	if len(figures) < 2 {
		return t
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	quantile := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + predictionLevel) / 2)
	scale := quantile * math.Sqrt(1+1/n)
	t.center = mean
	if width := scale * deviation / mean; finite(width) != nil {
		t.predicted, t.width = width, max(floor, width)
		t.widths = [2]float64{t.width, t.width}
	}
	if sum > 0 {
		// By the triangle inequality, the standard deviation can't differ from that of the middles by more
		// than that of the offsets, for which both are upper limits.
		most := min(sum/math.Sqrt(n), math.Sqrt(squares/(n-1)))
		deviation = stat.StdDev(middles, nil)
		t.widths[0] = max(floor, scale*max(0, deviation-most)/t.centers[1])
		t.widths[1] = max(floor, scale*(deviation+most)/t.centers[0])
	}
	return t
}

// isUncertain reports whether a reference is uncertain.
func (t tolerance) isUncertain() bool { return t.centers[0] < t.centers[1] }

// direction returns 0 if a range of differences is within the tolerance, else its sign. It returns false if
// this depends on where in the range the difference is, or on the true values of uncertain references.
func (t tolerance) direction(low, high float64) (way int, ok bool) {
	way = direction(low, t.widths[0])
	for _, delta := range []float64{low, high} {
		for _, width := range t.widths {
			ok = direction(delta, width) == way
			if !ok {
				return 0, false
			}
		}
	}
	return way, true
}

// widthText formats the width, or its range if a reference is uncertain.
func (t tolerance) widthText() string {
	if t.widths[0] < t.widths[1] {
		return "±" + results.Percent(t.widths[0]) + " to ±" + results.Percent(t.widths[1])
	}
	return "±" + results.Percent(t.width)
}

// delta returns the difference of a figure from the center, as a fraction.
func (t tolerance) delta(v float64) float64 { return (v - t.center) / t.center }

// position returns a difference relative to the tolerance: from -1 to 1 within it, outside that range beyond it.
func (t tolerance) position(delta float64) float64 {
	p := min(max(delta/t.width, -math.MaxFloat64), math.MaxFloat64)
	if !isBeyond(delta, t.width) {
		p = min(max(p, -1), 1)
	}
	return p
}

// isBeyond reports whether a difference exceeds a tolerance.
func isBeyond(delta, width float64) bool { return math.Abs(delta) > width+epsilon }

// source says how the width was computed from references, or returns "" if it was not.
func (t tolerance) source() string {
	if t.predicted < 0 {
		return ""
	}
	interval := fmt.Sprintf("the %g%% prediction interval for one more run, from %d references",
		100*predictionLevel, t.references)
	if t.width > t.predicted {
		return fmt.Sprintf("the default; %s, is ±%s", interval, results.Percent(t.predicted))
	}
	return interval
}

// judgedTexts formats a difference and its tolerance with the given number of decimals, or more if
// they are needed to show on which side of the tolerance the difference lies.
func judgedTexts(delta, width float64, decimals int) (change, band string) {
	for ; ; decimals++ {
		change = results.Change(delta, decimals)
		shown := shownPercent(width, max(decimals, 2))
		if decimals >= maxDecimals || (shownPercent(math.Abs(delta), decimals) > shown) == isBeyond(delta, width) {
			return change, strconv.FormatFloat(shown, 'f', -1, 64) + "%"
		}
	}
}

// maxDecimals is enough to show differences as small as epsilon in a percentage.
const maxDecimals = 8

// shownPercent returns a fraction as a percentage, rounded as it is shown.
func shownPercent(fraction float64, decimals int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(fraction*100, 'f', decimals, 64), 64)
	if err != nil { // of NaN and Inf, which parse
		return fraction * 100
	}
	return v
}
