package ui

import (
	"math"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/chart"
)

// Points is one series of a scatter plot, such as the points of one run. Points with
// a coordinate that can't be drawn are left out.
type Points struct {
	Label string
	X, Y  []float64
	Names []string // shown beside the points if there is room
}

// pointMarks distinguish series without colors. The seventh series uses the first one again.
var pointMarks = []rune{'●', '◆', '▲', '■', '○', '◇'}

// Scatter draws series of points on w × h cells. Both axes start at 0, and the points
// of a series are joined in their order. The last line is the x axis with its title.
func (t Theme) Scatter(w, h int, xTitle string, sets ...Points) string {
	cols, rows := w-ChartAxisWidth, h-1
	maxX, maxY := 0.0, 0.0
	for _, s := range sets {
		for i := range s.X {
			if s.drawable(i) {
				maxX, maxY = max(maxX, s.X[i]), max(maxY, s.Y[i])
			}
		}
	}
	if cols < 10 || rows < 3 {
		return Box("", w, h)
	}
	if !(maxX > 0 && maxY > 0) {
		return Box(t.Paint(Muted, strings.Repeat(" ", ChartAxisWidth)+"no points to draw"), w, h)
	}
	maxX, maxY = chart.RangeOf(0, maxX*1.02).Nice().High, chart.RangeOf(0, maxY*1.02).Nice().High
	g := newGrid(cols, rows)
	at := func(x, y float64) (int, int) {
		return min(int(x/maxX*float64(cols)), cols-1), min(max(int((1-y/maxY)*float64(rows)), 0), rows-1)
	}
	for k, s := range sets {
		last := -1
		for i := range s.X {
			if !s.drawable(i) {
				continue
			}
			if last >= 0 {
				g.join(at, s, last, i, k)
			}
			last = i
		}
	}
	for _, draw := range []func(d Points, i, x, y, series int){ // points over lines, then names where there is room
		func(_ Points, _, x, y, series int) { g.put(x, y, pointMarks[series%len(pointMarks)], series) },
		func(d Points, i, x, y, series int) {
			if i < len(d.Names) {
				g.name(x+1, y, d.Names[i], series)
			}
		},
	} {
		for k, s := range sets {
			for i := range s.X {
				if s.drawable(i) {
					x, y := at(s.X[i], s.Y[i])
					draw(s, i, x, y, k)
				}
			}
		}
	}
	out := make([]string, 0, h)
	for y := range rows {
		out = append(out, t.Paint(Muted, axisLabel(y, rows, 0, maxY))+g.row(t, y))
	}
	right := shortNumber(maxX, maxX)
	axis := LeftRight("0  "+xTitle, right, cols)
	return strings.Join(append(out, t.Paint(Muted, strings.Repeat(" ", ChartAxisWidth)+axis)), "\n")
}

// drawable reports whether point i can be drawn.
func (d Points) drawable(i int) bool {
	return i < len(d.Y) && chart.Drawable(d.X[i]) && chart.Drawable(d.Y[i]) && d.X[i] >= 0 && d.Y[i] >= 0
}

// ScatterLegend returns the labels of the series in their colors, each with its mark.
func (t Theme) ScatterLegend(sets ...Points) string {
	parts := make([]string, 0, len(sets))
	for k, s := range sets {
		parts = append(parts, t.CurveStyles[k%len(t.CurveStyles)].Render(string(pointMarks[k%len(pointMarks)])+" "+s.Label))
	}
	return strings.Join(parts, "  ")
}

// noSeries marks cells that belong to no series.
const noSeries = -1

// grid is an array of cells, each with a rune and the index of its series.
type grid struct {
	runes  [][]rune
	series [][]int
}

func newGrid(w, h int) grid {
	g := grid{make([][]rune, h), make([][]int, h)}
	for y := range h {
		g.runes[y], g.series[y] = []rune(strings.Repeat(" ", w)), make([]int, w)
	}
	return g
}

func (g grid) put(x, y int, r rune, series int) { g.runes[y][x], g.series[y][x] = r, series }

// join draws a dotted line between two points of a series.
func (g grid) join(at func(x, y float64) (int, int), s Points, i, j, series int) {
	x0, y0 := at(s.X[i], s.Y[i])
	x1, y1 := at(s.X[j], s.Y[j])
	n := max(x1-x0, x0-x1, y1-y0, y0-y1)
	for k := 1; k < n; k++ {
		part := float64(k) / float64(n)
		x, y := x0+int(math.Round(part*float64(x1-x0))), y0+int(math.Round(part*float64(y1-y0)))
		g.put(x, y, '·', series)
	}
}

// name writes the name of a point, unless it would cover a point or another name.
func (g grid) name(x, y int, text string, series int) {
	r := []rune(text)
	if x+len(r) > len(g.runes[y]) {
		x -= len(r) + 1 // to the left of its point
	}
	for i := range r {
		if x < 0 || x+i >= len(g.runes[y]) || g.runes[y][x+i] != ' ' && g.runes[y][x+i] != '·' {
			return
		}
	}
	for i, c := range r {
		g.put(x+i, y, c, series)
	}
}

func (g grid) row(t Theme, y int) string {
	var b strings.Builder
	cells := g.runes[y]
	for i := 0; i < len(cells); {
		j := i + 1
		for j < len(cells) && (cells[j] == ' ') == (cells[i] == ' ') && g.series[y][j] == g.series[y][i] {
			j++
		}
		switch run, series := string(cells[i:j]), g.series[y][i]; {
		case cells[i] == ' ':
			b.WriteString(run)
		case series == noSeries:
			b.WriteString(t.Paint(Muted, run))
		default:
			b.WriteString(t.CurveStyles[series%len(t.CurveStyles)].Render(run))
		}
		i = j
	}
	return b.String()
}
