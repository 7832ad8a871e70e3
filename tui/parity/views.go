package parity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// view is one of the views of a comparison.
type view int

const (
	figuresView      view = iota // the table, notes and configuration
	fieldsView                   // differences of recipes and workloads
	turnsView                    // differences of TTFT in paired requests
	distributionView             // TTFT distributions
	levelsView                   // throughput against speed by concurrency level
)

// activeTable returns the table that keys move in.
func (s *Screen) activeTable() *ui.Table {
	switch s.view {
	case fieldsView:
		return &s.fields
	case turnsView:
		return &s.turns
	case levelsView:
		return &s.levelList
	}
	return &s.table
}

func fieldColumns() []ui.Column {
	return []ui.Column{
		{Title: "FILE", Min: 8, Drop: 1},
		{Title: "FIELD", Min: 16, Max: 60},
		{Title: "REFERENCE", Min: 10, Max: 40},
		{Title: "CANDIDATE", Min: 10, Flex: true},
	}
}

func turnColumns() []ui.Column {
	return []ui.Column{
		{Title: "TTFT BY GROUP", Min: 20},
		{Title: "PAIRS", Right: true},
		{Title: "MEDIAN Δ (s)", Right: true},
		{Title: "WORSE (%)", Right: true, Drop: 1},
		{Title: "", Flex: true, Min: 18, Drop: 2},
	}
}

// fieldRows returns the properties and fields that differ.
func fieldRows(c engine.Comparison) [][]ui.Cell {
	var rows [][]ui.Cell
	add := func(file string, field ui.Cell, ref, cand string) {
		rows = append(rows, []ui.Cell{{Text: file, Role: ui.Muted}, field, {Text: ref}, {Text: cand}})
	}
	for _, p := range properties(c) {
		if p.ref != p.cand {
			add("run", ui.Cell{Text: p.name, Role: p.role}, cmp.Or(p.ref, "-"), cmp.Or(p.cand, "-"))
		}
	}
	for _, f := range c.Fields {
		for _, d := range f.Differences {
			add(f.File, ui.Cell{Text: d.Path}, fieldText(d.A), fieldText(d.B))
		}
	}
	return rows
}

func fieldText(s *recipes.Side) string {
	if s == nil {
		return "not set"
	}
	return s.Value
}

// fieldsTitle returns the numbers of identical fields.
func fieldsTitle(c engine.Comparison) string {
	if len(c.Fields) == 0 {
		return "recipe or workload not available for both sides; differences of the runs:"
	}
	parts := make([]string, 0, len(c.Fields))
	for _, f := range c.Fields {
		parts = append(parts, fmt.Sprintf("%d/%d %s fields", f.Identical, f.Total, f.File))
	}
	return strings.Join(parts, ", ") + " identical"
}

// turnRows returns the differences of TTFT: of all pairs, by input length, of single requests, by user.
func turnRows(p *engine.Pairing) [][]ui.Cell {
	if p == nil {
		return nil
	}
	row := func(name string, s engine.Shift, more string) []ui.Cell {
		out := []ui.Cell{{Text: name}, {Text: results.Count(s.N)}, {Text: "-"}, {Text: "-"}, {Text: more, Role: ui.Muted}}
		if s.Median != nil {
			out[2] = shiftCell(*s.Median)
			out[3].Text = results.Decimal(100*s.Slower, 0)
		}
		return out
	}
	var others []string
	for _, s := range p.Shifts {
		if q := s.Quantity.Paired(); s.Quantity != results.TTFT && s.Median != nil {
			others = append(others, q.Short+" "+signed(*s.Median*q.Unit.Scale, q.Decimals)+" "+q.Unit.Display)
		}
	}
	rows := [][]ui.Cell{row("all pairs", p.Shift(results.TTFT), strings.Join(others, ", "))}
	rows = append(rows, intervalRow(p.Shift(results.TTFT)))
	if r := p.Rate; r != nil {
		rows = append(rows, rateRow(r))
	}
	for _, b := range p.Bands {
		rows = append(rows, row(b.Name, b.Shift, "by input length"))
	}
	for _, m := range p.Turns {
		rows = append(rows, []ui.Cell{
			{Text: fmt.Sprintf("user %d, pass %d, turn %d", m.User, m.Pass, m.Turn)},
			{Text: "1"},
			shiftCell(m.Candidate - m.Reference),
			{Text: ""},
			{Text: results.Decimal(m.Reference, 3) + " s to " + results.Decimal(m.Candidate, 3) + " s", Role: ui.Muted},
		})
	}
	for _, u := range p.Users {
		rows = append(rows, row(u.Name, u.Shift, "all turns"))
	}
	return rows
}

// rateRow returns the difference of the primary figure with its interval.
func rateRow(r *engine.PairedRate) []ui.Cell {
	change, text := "-", r.IntervalText()
	if r.Change != nil {
		change = results.Change(*r.Change, 2)
	}
	if in := r.Change95; in != nil {
		text = fmt.Sprintf("95 %%: %s to %s, over %s users", results.Change(in.Low, 2), results.Change(in.High, 2),
			results.Count(r.Users))
	}
	return []ui.Cell{
		{Text: results.FindMetric(results.Primary).Short}, {}, {Text: change}, {}, {Text: text, Role: ui.Muted},
	}
}

// intervalRow returns the interval of the median difference, or tells why there is none.
func intervalRow(s engine.Shift) []ui.Cell {
	out := []ui.Cell{{Text: "95 % interval", Role: ui.Muted}, {}, {Text: "-"}, {}, {Role: ui.Muted}}
	switch {
	case s.ShiftIntervals == nil:
	case s.Median95 == nil:
		out[4].Text = s.NoInterval
	default:
		out[2].Text = signed(s.Median95.Low, 3) + " … " + signed(s.Median95.High, 3)
		out[4].Text = fmt.Sprintf("over %s users; without drift common to a run", results.Count(s.Users))
	}
	return out
}

func signed(v float64, decimals int) string {
	sign := "+"
	if v < 0 {
		sign = "−"
	}
	return sign + results.Decimal(math.Abs(v), decimals)
}

// shiftCell returns the cell of a difference of TTFT in seconds. A positive one is worse.
func shiftCell(v float64) ui.Cell {
	c := ui.Cell{Text: signed(v, 3)}
	switch {
	case v > 0.0005:
		c.Role = ui.Warn
	case v < -0.0005:
		c.Role = ui.OK
	}
	return c
}

func turnsTitle(p *engine.Pairing) string {
	if p == nil {
		return "no requests to pair: both sides need a directory with request rows"
	}
	text := fmt.Sprintf("%s requests paired: %s of %s in the reference, %s of %s in the candidate",
		results.Count(p.Matched), p.MatchedPercent(p.Reference), results.Count(p.Reference), p.MatchedPercent(p.Candidate),
		results.Count(p.Candidate))
	if p.Ambiguous > 0 {
		text += fmt.Sprintf("; %d ambiguous ones ignored", p.Ambiguous)
	}
	return text
}

// viewOther draws a view other than the figures in w × h cells.
func (s *Screen) viewOther(w, h int) string {
	switch s.view {
	case fieldsView:
		return s.titled(fieldsTitle(*s.c), s.fields, w)
	case turnsView:
		return s.titled(turnsTitle(s.c.Paired), s.turns, w)
	case distributionView:
		return s.viewDistribution(w, h)
	}
	return s.viewThroughput(w, h)
}

// titleHeight is the number of lines of a table's title.
const titleHeight = 2

func (s *Screen) titled(title string, t ui.Table, w int) string {
	lines := ui.WrapAtMost(title, w-2, titleHeight)
	for len(lines) < titleHeight {
		lines = append(lines, "")
	}
	head := " " + strings.Join(lines, "\n ") + "\n"
	if len(t.Rows) == 0 {
		return head
	}
	return head + t.Draw(s.th)
}

// viewDistribution draws the cumulative distribution of TTFT of both sides.
func (s *Screen) viewDistribution(w, h int) string {
	d := s.c.TTFT
	if d == nil {
		const none = "no TTFT distribution: both sides need a directory with request rows"
		return " " + strings.Join(ui.Wrap(none, w-2), "\n ")
	}
	n := 2 * (w - ui.ChartAxisWidth)
	from := min(percentileOf(d, d.Reference, 0), percentileOf(d, d.Candidate, 0))
	to := max(percentileOf(d, d.Reference, 99.5), percentileOf(d, d.Candidate, 99.5))
	if from < to/4 {
		from = 0
	}
	curves := []ui.Curve{
		{Label: "reference", Values: cdf(d, d.Reference, from, to, n)},
		{Label: "candidate", Values: cdf(d, d.Candidate, from, to, n)},
	}
	var facts []string
	for _, p := range []float64{50, 95, 99} {
		a, b := percentileOf(d, d.Reference, p), percentileOf(d, d.Candidate, p)
		facts = append(facts, fmt.Sprintf("p%.0f %s, %s s", p, results.Decimal(a, 3), results.Decimal(b, 3)))
	}
	head := ui.LeftRight(" TTFT CDF (% of requests)", s.th.Legend(curves...)+" ", w)
	axis := strings.Repeat(" ", ui.ChartAxisWidth) +
		ui.LeftRight(results.Decimal(from, 2), results.Decimal(to, 2)+" s TTFT", w-ui.ChartAxisWidth)
	return head + "\n" + s.th.Chart(w, h-3, nil, curves...) + "\n" + s.th.Paint(ui.Muted, axis) +
		"\n " + strings.Join(facts, s.th.Paint(ui.Muted, " · "))
}

// percentileOf returns a percentile of one side of a distribution; NaN if there is none.
func percentileOf(d *engine.Distribution, side []float64, percent float64) float64 {
	i := slices.Index(d.Percent, percent)
	if i < 0 || i >= len(side) {
		return math.NaN()
	}
	return side[i]
}

// cdf returns the percentage of a side's requests below each of n values, evenly spaced up to to.
func cdf(d *engine.Distribution, side []float64, from, to float64, n int) []float64 {
	if n <= 0 || !(to > from) {
		return nil
	}
	out := make([]float64, n)
	for i := range out {
		x := from + (to-from)*float64(i+1)/float64(n)
		k, _ := slices.BinarySearch(side, x)
		switch {
		case k == 0:
		case k == len(side):
			out[i] = 100
		default:
			part := 0.0
			if side[k] > side[k-1] {
				part = (x - side[k-1]) / (side[k] - side[k-1])
			}
			out[i] = d.Percent[k-1] + part*(d.Percent[k]-d.Percent[k-1])
		}
	}
	return out
}

// minLevelLines is the minimum of visible lines of the list of levels below the chart.
const minLevelLines = 4

// viewThroughput draws throughput against speed, one point per concurrency level. Below
// it lists the levels and the tiers that the runs meet.
func (s *Screen) viewThroughput(w, h int) string {
	if s.curve == nil {
		return s.th.Paint(ui.Muted, " loading the concurrency levels …")
	}
	sets, perGPU := pointsByRun(s.curve.points)
	title := " output tok/s per GPU"
	if !perGPU {
		title = " output tok/s (number of GPUs unknown)"
	}
	list := levelLines(s.th, s.curve, w)
	room := max(h-1-len(list), min(h-1-minLevelLines, 12), 0)
	top := min(s.levelList.Cursor, max(len(list)-(h-1-room), 0))
	list = list[top:min(top+max(h-1-room, 0), len(list))]
	head := ui.LeftRight(title, s.th.ScatterLegend(sets...)+" ", w)
	drawn := s.th.Scatter(w, room, "output speed p50 per request (tok/s)", sets...)
	return head + "\n" + drawn + "\n" + strings.Join(list, "\n")
}

// pointsByRun groups the points by run. Throughput is per GPU, or in total if the
// number of GPUs of a run is unknown.
func pointsByRun(points []results.Point) (sets []ui.Points, perGPU bool) {
	perGPU = !slices.ContainsFunc(points, func(p results.Point) bool { return p.GPUs <= 0 })
	for _, p := range points {
		i := slices.IndexFunc(sets, func(d ui.Points) bool { return d.Label == ui.Clean(p.Run) })
		if i < 0 {
			i = len(sets)
			sets = append(sets, ui.Points{Label: ui.Clean(p.Run)})
		}
		y := p.Output
		if perGPU {
			y = p.OutputPerGPU
		}
		d := &sets[i]
		d.X, d.Y, d.Names = append(d.X, p.Speed50), append(d.Y, y), append(d.Names, results.Count(p.Concurrency))
	}
	return sets, perGPU
}

// levelLines lists the concurrency levels, the tiers that each run meets, and the runs
// that could not be read.
func levelLines(th ui.Theme, c *curve, w int) []string {
	widths := []int{7, 13, 11, 11, 14}
	runWidth := min(max(w-47, 8), 24)
	if w >= 78 {
		runWidth = min(w-58, 24)
	}
	cells := func(name string, values ...string) string {
		line := " " + ui.Fit(name, runWidth)
		for i, v := range values {
			if i != 2 || w >= 78 { // drop one of the speeds in a narrow terminal
				line += ui.Right(v, widths[i])
			}
		}
		return ui.Fit(line, w)
	}
	var out []string
	add := func(r ui.Role, text string) {
		for _, line := range ui.Wrap(text, w-2) {
			out = append(out, th.Paint(r, " "+line))
		}
	}
	for _, l := range c.metTiers {
		text := ui.Clean(l.run) + " meets"
		for i, r := range l.tiers {
			if i > 0 {
				text += ","
			}
			best := "at no level"
			if r.Concurrency > 0 {
				best = "up to " + results.Count(r.Concurrency) + " users"
			}
			text += " " + ui.Clean(r.Tier.Name) + " " + best
		}
		add(ui.Plain, text)
	}
	for _, e := range c.skipped {
		add(ui.Warn, "skipped: "+e)
	}
	out = append(out, th.Paint(ui.Muted, cells("RUN", "USERS", "TOK/S/GPU", "SPEED P25", "SPEED P50", "TTFT P95 (s)")))
	for _, p := range c.points {
		mark := ""
		if p.Invalid != "" {
			mark = "! "
		}
		out = append(out, cells(mark+ui.Clean(p.Run), results.Count(p.Concurrency), results.Decimal(p.OutputPerGPU, 1),
			results.Decimal(p.Speed25, 1), results.Decimal(p.Speed50, 1), results.Decimal(p.TTFT95, 3)))
	}
	return out
}
