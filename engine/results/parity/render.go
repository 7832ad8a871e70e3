package parity

import (
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

// deltaText formats a difference: "=" if both figures are shown equal, else with one decimal,
// or two if both are shown with at least six significant digits.
func deltaText(delta float64, ref, cand string) string {
	switch {
	case ref == dash || cand == dash:
		return dash
	case ref == cand:
		return "="
	case finite(delta) == nil:
		return dash
	}
	decimals := 1
	if significant(ref) >= 6 && significant(cand) >= 6 {
		decimals = 2
	}
	return results.Change(delta, decimals)
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
	text := fmt.Sprintf("%s the band: %s %s, band ±%s",
		c.Verdict, c.Rows[0].Metric, results.Change(*c.Delta, 2), results.Percent(c.Band))
	if c.BandSource != "" {
		text += " (" + c.BandSource + ")"
	}
	if c.Forced {
		text += " (forced despite: " + strings.Join(c.Reasons, "; ") + ")"
	}
	return text
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
	table := [][]string{{"Metric", c.Reference.Name, c.Candidate.Name, "Δ", intervalTitle, "tolerance", ""}}
	for _, r := range c.Rows {
		table = append(table, []string{
			r.Metric, r.Reference, r.Candidate, r.Delta, r.Intervals(), r.gauges(), strings.Join(r.Flags, ", "),
		})
	}
	if !c.hasIntervals() {
		for i := range table {
			table[i] = slices.Delete(table[i], 4, 5)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nreference  %s\ncandidate  %s\n\n", c.Summary(), c.Reference.Title(), c.Candidate.Title())
	number := texttable.Column{Gap: 2, Right: true}
	for _, line := range texttable.Lines(table, texttable.Column{}, number, number, number) {
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
	for _, p := range r.Parts {
		if p.Position != nil {
			text += gauge(*p.Position) + " "
		}
	}
	if text == "" {
		return ""
	}
	return text + "±" + results.Percent(r.Parts[0].Tolerance)
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

// Markdown formats the comparison for a pull request.
func (c Comparison) Markdown() string {
	var b strings.Builder
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;").Replace
	fmt.Fprintf(&b, "**%s**\n\n", cell(c.Summary()))
	fmt.Fprintf(&b, "- reference: %s\n- candidate: %s\n\n", cell(c.Reference.Title()), cell(c.Candidate.Title()))
	optionalCell := func(text string) string {
		if !c.hasIntervals() {
			return ""
		}
		return " " + text + " |"
	}
	fmt.Fprintf(&b, "| Metric | %s | %s | Δ |%s\n| --- | --- | --- | --- |%s\n",
		cell(c.Reference.Name), cell(c.Candidate.Name), optionalCell(intervalTitle), optionalCell("---"))
	for _, r := range c.Rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |%s\n", r.Metric, r.Reference, r.Candidate, r.Delta, optionalCell(r.Intervals()))
	}
	b.WriteByte('\n')
	for _, r := range c.Rows {
		if len(r.Flags) > 0 {
			fmt.Fprintf(&b, "- %s: %s\n", r.Metric, cell(strings.Join(r.Flags, ", ")))
		}
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "- %s\n", cell(n))
	}
	for i, line := range c.fieldLines() {
		fmt.Fprintf(&b, "%s- %s\n", strings.Repeat("  ", min(i, 1)), cell(strings.TrimSpace(line)))
	}
	if c.Paired != nil {
		b.WriteString("\n```\n" + c.Paired.Text() + "```\n")
	}
	return b.String()
}
