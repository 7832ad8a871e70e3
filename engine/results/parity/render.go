package parity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

// dash is shown for a missing figure or difference.
const dash = "-"

// intervalTitle is the column title of the intervals.
const intervalTitle = "95% within-run only"

// numberFormat is the format of the numbers of a row.
type numberFormat struct {
	decimals int
	scale    float64
	unit     string
}

// formatOf returns the format of the row of a metric.
func formatOf(m *results.Metric) numberFormat {
	f := newFormat(m.Unit, m.Decimals)
	if m.Parity.UnitInLabel {
		f.unit = ""
	}
	return f
}

func newFormat(unit results.Unit, decimals int) numberFormat {
	f := numberFormat{decimals: decimals, scale: unit.Scale, unit: " " + unit.Display}
	if unit == results.Fraction {
		f.unit = unit.Display
	}
	return f
}

func (f numberFormat) number(v float64) string {
	if finite(v) == nil {
		return dash
	}
	return strings.Replace(results.Decimal(v*f.scale, f.decimals), "-", results.Minus, 1)
}

// figure formats a figure without its unit: "≥ 1,234" for a lower bound, "1,234 ±5" for an
// uncertain value, "~ 1,234" for a figure of a phase that has not ended.
func (f numberFormat) figure(v results.Figure) string {
	text := f.number(v.Value)
	low, high := bounds(v)
	switch half := max(v.Value-low, high-v.Value); {
	case text == dash:
	case v.AtLeast:
		text = "≥ " + text
	case half > 0:
		step := math.Pow10(-f.decimals) / f.scale
		text += " ±" + f.number(math.Ceil(half/step-1e-9)*step)
	}
	if v.Provisional && text != dash {
		text = "~ " + text
	}
	return text
}

// join joins numbers and appends the unit, or returns a dash if there are none.
func (f numberFormat) join(numbers []string) string {
	if text := join(numbers); text != dash {
		return text + f.unit
	}
	return dash
}

func join(parts []string) string {
	if slices.ContainsFunc(parts, func(p string) bool { return p != dash }) {
		return strings.Join(parts, " / ")
	}
	return dash
}

// equalText is the difference of two figures that are shown equal.
const equalText = "="

// deltaText formats a difference: "=" if both figures are shown equal, else with deltaDecimals.
func deltaText(delta float64, ref, cand string) string {
	switch {
	case ref == dash || cand == dash:
		return dash
	case ref == cand:
		return equalText
	case finite(delta) == nil:
		return dash
	}
	return results.Change(delta, deltaDecimals(ref, cand))
}

// deltaDecimals returns the number of decimals of a difference: two if both figures are shown
// with at least six significant digits, else one.
func deltaDecimals(ref, cand string) int {
	if significant(ref) >= 6 && significant(cand) >= 6 {
		return 2
	}
	return 1
}

// significant returns the number of digits in a formatted number, without leading zeros.
func significant(shown string) int {
	n := 0
	for _, c := range shown {
		if c >= '1' && c <= '9' || c == '0' && n > 0 {
			n++
		}
	}
	return n
}

// Summary returns the verdict in one line.
func (c Comparison) Summary() string {
	if c.Verdict == NotComparable {
		return "not comparable: " + strings.Join(c.Reasons, "; ")
	}
	change, band := c.PrimaryTexts()
	if c.References > 1 {
		change += fmt.Sprintf(" from the mean of %d references", c.References)
	}
	text := fmt.Sprintf("%s the band: %s %s, band ±%s", c.Verdict, c.Rows[0].Metric, change, band)
	if c.BandSource != "" {
		text += " (" + c.BandSource + ")"
	}
	if c.Forced {
		text += " (forced despite: " + strings.Join(c.Reasons, "; ") + ")"
	}
	return text
}

// PrimaryTexts formats the difference that the verdict depends on and the band, with as many
// digits as are needed to justify the verdict. The difference must be known.
func (c Comparison) PrimaryTexts() (change, band string) {
	return judgedTexts(*c.judged(), c.Band, 2)
}

// Title describes the side in one line.
func (c Column) Title() string {
	parts := []string{c.Name}
	a := c.About
	for p := range slices.Chunk([]string{
		"cluster", a.Cluster, "job", a.Job, "recipe", a.Recipe, "client", a.ClientCommit, "model", a.Model,
		"revision", a.ModelRevision, "dataset", a.Dataset, "seed", a.Seed,
	}, 2) {
		if p[1] != "" {
			parts = append(parts, p[0]+" "+p[1])
		}
	}
	parts = append(parts, fmt.Sprintf("phase %d", c.Phase))
	if c.Concurrency > 0 {
		parts = append(parts, results.Count(c.Concurrency)+" users")
	}
	return strings.Join(parts, ", ")
}

// Text formats the comparison for a terminal. A gauge in each row shows the difference
// relative to the tolerance: the bar in the middle is no difference, the ends are the
// tolerance, and "<" or ">" is beyond it.
func (c Comparison) Text() string {
	table := [][]string{append(c.Titles(), "tolerance", "")}
	for _, r := range c.Rows {
		table = append(table, append(c.Cells(r), r.gauges(), strings.Join(r.Flags, ", ")))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nreference  %s\ncandidate  %s\n\n", c.Summary(), c.Reference.Title(), c.Candidate.Title())
	number := texttable.Column{Gap: 2, Right: true}
	columns := append([]texttable.Column{{}}, slices.Repeat([]texttable.Column{number}, 3)...)
	if c.References > 1 {
		columns = append(columns, number)
	}
	for _, line := range texttable.Lines(table, columns...) {
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, line := range c.fieldLines() {
		b.WriteString(line + "\n")
	}
	if c.Paired != nil {
		b.WriteString("\n" + c.Paired.Text())
	}
	return b.String()
}

// Titles returns the titles of the columns of figures and differences.
func (c Comparison) Titles() []string {
	out := []string{"Metric", c.Reference.Name, c.Candidate.Name, "Δ"}
	if c.References > 1 {
		out = append(out, fmt.Sprintf("Δ from mean of %d", c.References))
	}
	if c.hasIntervals() {
		out = append(out, intervalTitle)
	}
	return out
}

// Cells returns the cells of a row below Titles.
func (c Comparison) Cells(r Row) []string {
	out := []string{r.Metric, r.Reference, r.Candidate, r.Delta}
	if c.References > 1 {
		out = append(out, cmp.Or(r.FromMean, dash))
	}
	if c.hasIntervals() {
		out = append(out, r.Intervals())
	}
	return out
}

func (c Comparison) hasIntervals() bool {
	return slices.ContainsFunc(c.Rows, func(r Row) bool { return r.Intervals() != "" })
}

// Intervals formats the intervals of the row, or returns "" if there are none.
func (r Row) Intervals() string {
	var texts []string
	for _, p := range r.Parts {
		if in := p.Interval; in != nil {
			texts = append(texts, results.Change(in.Low, 1)+" to "+results.Change(in.High, 1))
		}
	}
	return strings.Join(texts, " / ")
}

// maxFields is the number of differing fields of a file that Text lists. JSON contains all.
const maxFields = 40

// fieldLines formats the differences between the input files of the runs.
func (c Comparison) fieldLines() []string {
	if len(c.Fields) == 0 {
		return nil
	}
	var heads, out []string
	for _, f := range c.Fields {
		heads = append(heads, fmt.Sprintf("%d/%d %s fields", f.Identical, f.Total, f.File))
		for i, d := range f.Differences {
			if i == maxFields {
				out = append(out, fmt.Sprintf("  %s: %d more", f.File, len(f.Differences)-i))
				break
			}
			out = append(out, stripControl(fmt.Sprintf("  %s %s: %s vs. %s", f.File, d.Path, FieldText(d.A), FieldText(d.B))))
		}
	}
	return append([]string{strings.Join(heads, " and ") + " identical"}, out...)
}

// FieldText returns the value of a field on a side, or "not set".
func FieldText(s *recipes.Side) string {
	if s == nil {
		return "not set"
	}
	return s.Value
}

func (r Row) gauges() string {
	text := ""
	var bands []string
	for _, p := range r.Parts {
		if p.Position != nil {
			text += gauge(*p.Position) + " "
			bands = append(bands, "±"+p.Band)
		}
	}
	return text + strings.Join(slices.Compact(bands), " / ")
}

func gauge(position float64) string {
	const half = 5
	g := []byte("[.....|.....]")
	switch {
	case position < -1:
		g[0] = '<'
	case position > 1:
		g[len(g)-1] = '>'
	default:
		g[1+half+int(math.Round(position*half))] = '*'
	}
	return string(g)
}
