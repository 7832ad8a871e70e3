package ui

import (
	"math"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/chart"
)

// Curve is one line of a chart, with one value per step. NaN and infinite values
// are gaps.
type Curve struct {
	Label  string
	Values []float64
}

// ChartAxisWidth is the width in cells of the y axis and its labels.
const ChartAxisWidth = 7

// strokes are the line patterns of curves, which distinguish them without colors: a sample
// for the legend, and the steps that are drawn. The fourth curve uses the first one again.
var strokes = []struct {
	sample string
	drawn  func(step int) bool
}{
	{"⠤⠤", func(int) bool { return true }},
	{"⠤ ⠤", func(step int) bool { return step%6 < 4 }},
	{"⠄ ⠄", func(step int) bool { return step%4 == 0 }},
}

// Chart draws curves on w × h cells with braille dots, two steps per cell. The newest
// values are at the right; the oldest are left out if there are too many. Marks are
// vertical lines, each at a fraction of the chart's width.
func (t Theme) Chart(w, h int, marks []float64, curves ...Curve) string {
	cols := w - ChartAxisWidth
	if cols < 4 || h < 2 {
		return Box("", w, h)
	}
	extent := chart.RangeOf()
	for _, c := range curves {
		extent = extent.With(lastN(c.Values, cols*2)...)
	}
	if extent.Empty() {
		return Box(t.Paint(Muted, strings.Repeat(" ", ChartAxisWidth)+"no values yet"), w, h)
	}
	extent = extent.Nice()
	lo, hi := extent.Low, extent.High
	g := newGrid(cols, h)
	for _, m := range marks {
		for y := 0; y < h && m >= 0 && m <= 1; y++ {
			g.put(min(int(m*float64(cols)), cols-1), y, '┊', noSeries)
		}
	}
	for i, c := range curves {
		g.plot(lastN(c.Values, cols*2), lo, hi, i)
	}
	rows := make([]string, h)
	for y := range h {
		rows[y] = t.Paint(Muted, axisLabel(y, h, lo, hi)) + g.row(t, y)
	}
	return strings.Join(rows, "\n")
}

func lastN(v []float64, n int) []float64 { return v[max(0, len(v)-n):] }

// brailleBlank is the braille pattern without dots; brailleBits are its dots by column and row.
const brailleBlank = 0x2800

var brailleBits = [2][4]rune{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// plot draws a curve on an axis from lo to hi. Where it is steep, vertical lines join its points.
func (g grid) plot(values []float64, lo, hi float64, curve int) {
	h := len(g.runes)
	offset := len(g.runes[0])*2 - len(values)
	last := -1
	stroke := strokes[curve%len(strokes)].drawn
	for i, v := range values {
		if !chart.Drawable(v) {
			last = -1
			continue
		}
		x := offset + i
		y := min(max(int((1-(v-lo)/(hi-lo))*float64(h*4-1)), 0), h*4-1)
		from, to := y, y
		if last >= 0 {
			from, to = min(y, last), max(y, last)
			if from < y {
				from++
			} else if to > y {
				to--
			}
		}
		for d := from; d <= to && stroke(x); d++ {
			dots := brailleBits[x%2][d%4]
			if r := g.runes[d/4][x/2]; r > brailleBlank { // the cell has other dots
				dots |= r
			}
			g.put(x/2, d/4, brailleBlank|dots, curve)
		}
		last = y
	}
}

// axisLabel returns the y axis at row y, with values at the top, the middle and the bottom.
func axisLabel(y, h int, lo, hi float64) string {
	text := ""
	switch {
	case y == 0:
		text = shortNumber(hi, hi-lo)
	case y == h-1:
		text = shortNumber(lo, hi-lo)
	case h >= 5 && y == (h-1)/2:
		step := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(h-1)))) // the precision of one row
		text = shortNumber(math.Round((hi-(hi-lo)*float64(y)/float64(h-1))/step)*step, hi-lo)
	}
	return Right(text, ChartAxisWidth-1) + "┤"
}

// shortNumber formats a value in at most six cells, with the decimals that its axis needs.
func shortNumber(v, span float64) string {
	switch a := math.Abs(v); {
	case a >= 1e6:
		return strconv.FormatFloat(v/1e6, 'f', 1, 64) + "M"
	case a >= 1e4:
		return strconv.FormatFloat(v/1e3, 'f', 0, 64) + "k"
	case a >= 100 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case span < 0.1 && a < 10:
		return strconv.FormatFloat(v, 'f', 3, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// Legend returns the labels of curves in their colors, each with its stroke.
func (t Theme) Legend(curves ...Curve) string {
	parts := make([]string, 0, len(curves))
	for i, c := range curves {
		parts = append(parts, t.CurveStyles[i%len(t.CurveStyles)].Render(strokes[i%len(strokes)].sample+" "+c.Label))
	}
	return strings.Join(parts, "  ")
}

// eighths are blocks that fill a cell from the left.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar returns a progress bar of w cells, filled by a fraction from 0 to 1, in steps of
// an eighth of a cell. The progress bar of bubbles fills whole cells only.
func (t Theme) Bar(w int, fraction float64, r Role) string {
	if w <= 0 {
		return ""
	}
	fraction = min(max(fraction, 0), 1)
	parts := int(fraction*float64(w*8) + 0.5)
	full := strings.Repeat("█", parts/8) + eighths[parts%8]
	return t.Paint(r, full) + t.Rule.Render(strings.Repeat("░", w-Width(full)))
}
