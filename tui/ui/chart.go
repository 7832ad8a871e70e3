package ui

import (
	"math"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/chart"
)

// Curve is one line of a chart: a value a step, NaN where there is none; an
// infinite value is none either.
type Curve struct {
	Label  string
	Values []float64
}

// ChartAxisWidth is the width in cells of the y axis and its labels.
const ChartAxisWidth = 7

// strokes tell curves apart where colours are off: which steps of a curve are
// drawn, and how its legend looks. They repeat after the last.
var strokes = []struct {
	sample string
	drawn  func(step int) bool
}{
	{"⠤⠤", func(int) bool { return true }},
	{"⠤ ⠤", func(step int) bool { return step%6 < 4 }},
	{"⠄ ⠄", func(step int) bool { return step%4 == 0 }},
}

// Chart draws curves over w × h cells with braille dots, two steps a cell. The newest values are at
// the right; what does not fit is left out on the left. Every curve has its own colour and its own
// stroke. Marks are vertical lines through the chart, each at a fraction of its length.
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

// brailleBlank is the cell without dots; brailleBits are its dots by column and row.
const brailleBlank = 0x2800

var brailleBits = [2][4]rune{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// plot draws a curve between two values, joined where it is steep.
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
			if r := g.runes[d/4][x/2]; r > brailleBlank { // other dots are in the cell
				dots |= r
			}
			g.put(x/2, d/4, brailleBlank|dots, curve)
		}
		last = y
	}
}

// label is what stands left of row y: a value at the top, the middle and the bottom.
func axisLabel(y, h int, lo, hi float64) string {
	text := ""
	switch {
	case y == 0:
		text = shortNumber(hi, hi-lo)
	case y == h-1:
		text = shortNumber(lo, hi-lo)
	case h >= 5 && y == (h-1)/2:
		step := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(h-1)))) // a row tells no more
		text = shortNumber(math.Round((hi-(hi-lo)*float64(y)/float64(h-1))/step)*step, hi-lo)
	}
	return Right(text, ChartAxisWidth-1) + "┤"
}

// short is a value in at most six cells, with the decimals that tell values of a span apart.
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

// Legend is the names of curves in their colours, each with its stroke.
func (t Theme) Legend(curves ...Curve) string {
	parts := make([]string, 0, len(curves))
	for i, c := range curves {
		parts = append(parts, t.CurveStyles[i%len(t.CurveStyles)].Render(strokes[i%len(strokes)].sample+" "+c.Label))
	}
	return strings.Join(parts, "  ")
}

// eighths fill a cell from the left.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar is a progress bar of w cells, filled by a fraction from 0 to 1. It moves by
// an eighth of a cell; bubbles' progress by a whole one.
func (t Theme) Bar(w int, fraction float64, r Role) string {
	if w <= 0 {
		return ""
	}
	fraction = min(max(fraction, 0), 1)
	parts := int(fraction*float64(w*8) + 0.5)
	full := strings.Repeat("█", parts/8) + eighths[parts%8]
	return t.Paint(r, full) + t.Rule.Render(strings.Repeat("░", w-Width(full)))
}
