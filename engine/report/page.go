package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

//go:embed page.html
var pages embed.FS

// page is the data of the template, which escapes all text.
type page struct {
	Title    string
	Verdict  string // of a comparison; else empty
	Good     bool   // the verdict is "within the band"
	Facts    []string
	Sections []section
}

type section struct {
	Title   string
	Invalid []string // why its figures are invalid
	Head    []string
	Rows    [][]string
	Charts  []template.HTML
	Notes   []string
	Text    string // preformatted
}

func (p page) write(w io.Writer) error {
	t, err := template.ParseFS(pages, "page.html")
	if err == nil {
		err = t.Execute(w, p)
	}
	if err != nil {
		return fmt.Errorf("write the HTML page: %w", err)
	}
	return nil
}

// RunHTML writes an HTML page for a run, with the figures and time series of each phase.
func RunHTML(w io.Writer, r Run) error {
	p := page{Title: r.Name, Facts: slices.Concat(r.Errors, r.Warnings)}
	for i, ph := range r.Phases {
		table := section{
			Title:   fmt.Sprintf("Phase %d, concurrency %s", ph.Index, results.Count(ph.Concurrency)),
			Invalid: ph.Invalid, Head: []string{"Metric", "Value", "n", "Client reports", "Method"}, Notes: phaseNotes(ph),
		}
		for _, f := range ph.Figures {
			table.Rows = append(table.Rows, figureRow(f))
		}
		table.dropEmpty(3) // "Client reports" is empty where the client reports the same value
		if i < len(r.Series) {
			table.Charts = seriesCharts(r.Series[i], ph.Window)
		}
		p.Sections = append(p.Sections, table)
	}
	if len(r.Tiers) > 0 {
		p.Sections = append(p.Sections, tierTable(r.Tiers))
	}
	return p.write(w)
}

// dropEmpty removes a column that is empty in all rows.
func (s *section) dropEmpty(column int) {
	if slices.ContainsFunc(s.Rows, func(r []string) bool { return r[column] != "" }) {
		return
	}
	s.Head = slices.Delete(s.Head, column, column+1)
	for i := range s.Rows {
		s.Rows[i] = slices.Delete(s.Rows[i], column, column+1)
	}
}

func phaseNotes(p results.Phase) []string {
	var out []string
	if w := p.Window; w != nil {
		out = append(out, fmt.Sprintf("Measuring window: %s s (%s), shaded in the charts.",
			results.Decimal(w.Seconds, 1), w.Source))
	}
	if n := p.Requests; n != nil {
		out = append(out, fmt.Sprintf("%s requests measured (%s failed), %s in settling, %s after the window.",
			results.Count(n.Measured), results.Count(n.Failed), results.Count(n.Settling), results.Count(n.After)))
	}
	return append(out, p.Warnings...)
}

func figureRow(f results.Figure) []string {
	value, n := f.Text(), ""
	if f.Invalid != "" {
		value += " ! " + f.Invalid
	}
	if f.N > 0 {
		n = results.Count(f.N)
	}
	return []string{f.Label, value, n, f.ClientText(), f.Method}
}

func tierTable(all []results.TierResult) section {
	out := section{Title: "Service levels", Head: []string{
		"Tier", "Minimum output speed p25", "Maximum TTFT p95", "Highest concurrency level that meets the tier",
	}}
	for _, r := range all {
		best := "none"
		if r.Concurrency > 0 {
			best = results.Count(r.Concurrency)
		}
		out.Rows = append(out.Rows, []string{
			r.Tier.Name, results.Decimal(r.Tier.SpeedFloor, 1) + " tok/s", results.Decimal(r.Tier.TTFTCeiling, 3) + " s", best,
		})
	}
	return out
}

func seriesCharts(s results.Series, w *results.Window) []template.HTML {
	if len(s.Buckets) == 0 {
		return nil
	}
	start := s.Buckets[0].Start
	nan := math.NaN()
	var charts []lineChart
	add := func(title, curve string, value func(results.Bucket) float64) {
		i := slices.IndexFunc(charts, func(c lineChart) bool { return c.title == title })
		if i < 0 {
			i = len(charts)
			c := lineChart{title: title, shadeFrom: nan, shadeTo: nan}
			c.xTitle = fmt.Sprintf("seconds, in buckets of %g s", s.Seconds)
			if w != nil {
				c.shadeFrom, c.shadeTo = w.Start-start, w.End-start
			}
			charts = append(charts, c)
		}
		l := plotLine{name: curve}
		for _, b := range s.Buckets {
			l.x, l.y = append(l.x, b.Start-start+s.Seconds/2), append(l.y, value(b))
		}
		charts[i].lines = append(charts[i].lines, l)
	}
	for _, m := range results.TrendMetrics {
		if m.Trend.Page != "" {
			add(m.Trend.Page, m.Trend.Curve, func(b results.Bucket) float64 { return m.DisplayValue(b.Get(m.Key)) })
		}
	}
	const load = "Users and requests"
	add(load, "users", func(b results.Bucket) float64 { return float64(b.Users) })
	add(load, "in flight", func(b results.Bucket) float64 { return b.InFlight })
	add(load, "failed", func(b results.Bucket) float64 { return float64(b.Failed) })
	var out []template.HTML
	for _, c := range charts {
		out = append(out, c.svg())
	}
	return out
}

// ComparisonHTML writes an HTML page for a comparison.
func ComparisonHTML(w io.Writer, c parity.Comparison) error {
	p := page{
		Title: c.Reference.Name + " vs. " + c.Candidate.Name, Verdict: c.Summary(), Good: c.Verdict == parity.Within,
		Facts: append([]string{"Reference: " + c.Reference.Title(), "Candidate: " + c.Candidate.Title()}, c.Notes...),
	}
	figures := section{Title: "Figures", Head: append(c.Titles(), "")}
	for _, r := range c.Rows {
		figures.Rows = append(figures.Rows, append(c.Cells(r), strings.Join(r.Flags, ", ")))
	}
	if d := c.TTFT; d != nil {
		figures.Charts = append(figures.Charts, lineChart{
			title: "TTFT CDF, % of requests", xTitle: "s", shadeFrom: math.NaN(), shadeTo: math.NaN(),
			lines: []plotLine{{c.Reference.Name, d.Reference, d.Percent}, {c.Candidate.Name, d.Candidate, d.Percent}},
		}.svg())
	}
	p.Sections = append(p.Sections, figures)
	for _, f := range c.Fields {
		p.Sections = append(p.Sections, fieldTable(f, c))
	}
	if c.Paired != nil {
		p.Sections = append(p.Sections, section{Title: "Paired requests", Text: c.Paired.Text()})
	}
	return p.write(w)
}

func fieldTable(f parity.FileDiff, c parity.Comparison) section {
	out := section{
		Title: fmt.Sprintf("%d/%d %s fields identical", f.Identical, f.Total, f.File),
		Head:  []string{"Field", c.Reference.Name, c.Candidate.Name},
	}
	for _, d := range f.Differences {
		out.Rows = append(out.Rows, []string{d.Path, parity.FieldText(d.A), parity.FieldText(d.B)})
	}
	return out
}

// CurveHTML writes an HTML page of throughput per GPU over speed per user.
func CurveHTML(w io.Writer, points []results.Point) error {
	table := section{Title: "Concurrency levels", Head: []string{
		"Run", "Concurrency", "GPUs", "Output tok/s per GPU", "Total tok/s per GPU", "Output speed p50", "Output speed p25",
		"TTFT p95", "",
	}}
	perGPU := lineChart{
		title: "Output tok/s per GPU", xTitle: "output speed per request (local), p50, tok/s", markPoints: true,
	}
	total := perGPU
	total.title = "Output tok/s"
	for _, p := range points {
		perGPU.addPoint(p.Run, p.Speed50, p.OutputPerGPU)
		total.addPoint(p.Run, p.Speed50, p.Output)
		gpus := "-"
		if p.GPUs > 0 {
			gpus = results.Count(p.GPUs)
		}
		table.Rows = append(table.Rows, []string{
			p.Run, results.Count(p.Concurrency), gpus, results.Decimal(p.OutputPerGPU, 1), results.Decimal(p.TotalPerGPU, 1),
			results.Decimal(p.Speed50, 1) + " tok/s", results.Decimal(p.Speed25, 1) + " tok/s",
			results.Decimal(p.TTFT95, 3) + " s", p.Invalid,
		})
	}
	table.Charts = []template.HTML{perGPU.svg()}
	if table.Charts[0] == "" {
		table.Charts[0] = total.svg()
		table.Notes = append(table.Notes, "The number of GPUs is unknown, so the chart shows the total throughput.")
	}
	return page{Title: "Throughput vs. speed", Sections: []section{table}}.write(w)
}
