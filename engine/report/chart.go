package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/chart"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

// lineChart is a chart of lines with common axes.
type lineChart struct {
	title      string // including the unit of y
	xTitle     string
	lines      []plotLine
	shadeFrom  float64 // start of the shaded measuring window on the x axis; NaN: none
	shadeTo    float64
	markPoints bool // mark each point and start the x axis at 0
}

type plotLine struct {
	name string
	x, y []float64 // y is NaN in a gap
}

// curveStyles are distinguishable with any color vision, by color and by dashes.
var curveStyles = []string{
	`stroke="#0072b2"`, `stroke="#d55e00" stroke-dasharray="6 3"`,
	`stroke="#009e73" stroke-dasharray="2 3"`, `stroke="#cc79a7" stroke-dasharray="9 3 2 3"`,
}

const (
	width, plotHeight   = 760, 170
	left, right, bottom = 70, 16, 40
	titleHeight         = 30
	legendHeight        = 18 // of a line of the legend
	cellWidth           = 7  // of a character, at most
	swatchWidth         = 40 // of a line's sample in the legend, with gaps
)

// legendEntry is the name of a line and its place in the legend.
type legendEntry struct {
	name string
	x, y int
}

// legend places the names of several lines below the title, and returns the height of the title
// and the legend. A name that is wider than the chart is cut.
func (c lineChart) legend() (entries []legendEntry, height int) {
	height = titleHeight
	if len(c.lines) < 2 {
		return nil, height
	}
	x, y := left, titleHeight+4
	for _, l := range c.lines {
		name := ansi.Truncate(l.name, (width-left-right-swatchWidth)/cellWidth, "…")
		w := cellWidth*texttable.Width(name) + swatchWidth
		if x > left && x+w > width-right {
			x, y = left, y+legendHeight
		}
		entries = append(entries, legendEntry{name, x, y})
		x += w
	}
	return entries, y + legendHeight - 6
}

// svg returns the chart as SVG, or "" if there are no points.
func (c lineChart) svg() template.HTML {
	xs, ys := c.ranges()
	if xs.Empty() || !(ys.High >= 0) {
		return ""
	}
	if c.markPoints {
		xs = chart.Range{Low: math.Min(0, xs.Low), High: xs.High * 1.05}
	}
	if xs.High == xs.Low {
		xs.High = xs.Low + 1
	}
	stepX, stepY := chart.NiceStep((xs.High-xs.Low)/6), chart.NiceStep(ys.High/4)
	ys = chart.Range{High: math.Max(stepY, math.Ceil(ys.High/stepY)*stepY)}
	legend, top := c.legend()
	height := plotHeight + top + bottom
	x := func(v float64) float64 { return left + (v-xs.Low)/(xs.High-xs.Low)*(width-left-right) }
	y := func(v float64) float64 { return float64(height-bottom) - v/ys.High*plotHeight }
	var b strings.Builder
	title := html.EscapeString(c.title)
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s"><title>%s</title>`, width, height, title, title)
	fmt.Fprintf(&b, `<text x="%d" y="16" class="t">%s</text>`, left, title)
	if c.shadeFrom < c.shadeTo {
		l, r := x(math.Max(c.shadeFrom, xs.Low)), x(math.Min(c.shadeTo, xs.High))
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" class="w"><title>measuring window</title></rect>`,
			l, top, math.Max(0, r-l), plotHeight)
	}
	for _, v := range ys.Ticks(stepY) {
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" class="g"/><text x="%d" y="%.1f" class="y">%s</text>`,
			left, y(v), width-right, left-6, y(v)+4, results.Decimal(v, chart.Decimals(stepY)))
	}
	for _, v := range xs.Ticks(stepX) {
		fmt.Fprintf(&b, `<path d="M%.1f %dv4" class="g"/><text x="%.1f" y="%d" class="x">%s</text>`,
			x(v), height-bottom, x(v), height-bottom+17, results.Decimal(v, chart.Decimals(stepX)))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" class="x">%s</text>`, (left+width-right)/2, height-6, html.EscapeString(c.xTitle))
	for i, e := range legend {
		fmt.Fprintf(&b, `<path d="M%d %dh24" class="l" %s/><text x="%d" y="%d">%s</text>`,
			e.x, e.y-4, curveStyles[i%len(curveStyles)], e.x+28, e.y, html.EscapeString(e.name))
	}
	for i, l := range c.lines {
		fmt.Fprintf(&b, `<path d="%s" class="l" %s/>`, l.path(x, y), curveStyles[i%len(curveStyles)])
		for k := 0; c.markPoints && k < len(l.y); k++ {
			if chart.Drawable(l.y[k]) {
				fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="2.5" %s/>`, x(l.x[k]), y(l.y[k]), curveStyles[i%len(curveStyles)])
			}
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

func (c lineChart) ranges() (xs, ys chart.Range) {
	xs, ys = chart.RangeOf(), chart.RangeOf()
	for _, l := range c.lines {
		for i, v := range l.y {
			if chart.Drawable(v) {
				xs, ys = xs.With(l.x[i]), ys.With(v)
			}
		}
	}
	return xs, ys
}

func (l plotLine) path(x, y func(float64) float64) string {
	var b strings.Builder
	pen := "M"
	for i, v := range l.y {
		if !chart.Drawable(v) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", pen, x(l.x[i]), y(v))
		if pen == "M" && (i+1 == len(l.y) || math.IsNaN(l.y[i+1])) {
			b.WriteString("h1") // a single point
		}
		pen = "L"
	}
	return b.String()
}

// addPoint adds a point to the line with a name.
func (c *lineChart) addPoint(name string, x, y float64) {
	if !chart.Drawable(x) {
		return
	}
	i := slices.IndexFunc(c.lines, func(l plotLine) bool { return l.name == name })
	if i < 0 {
		i, c.lines = len(c.lines), append(c.lines, plotLine{name: name})
	}
	c.lines[i].x, c.lines[i].y = append(c.lines[i].x, x), append(c.lines[i].y, y)
}
