package report

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

//go:embed page.html
var pages embed.FS

// page is the data of the template, which escapes all text.
type page struct {
	Title    string
	Verdict  string // of a comparison; else empty
	Good     bool
	Facts    []string
	Origin   section // origin of the figures
	Sections []section
}

type section struct {
	Title   string
	Invalid []string // reasons not to use its figures
	Head    []string
	Rows    [][]string
	Charts  []template.HTML
	Notes   []string
	Text    string // preformatted
}

func (p page) write(w io.Writer) error {
	functions := template.FuncMap{"unbroken": unbroken, "isName": isName}
	t, err := template.New("page.html").Funcs(functions).ParseFS(pages, "page.html")
	if err == nil {
		err = t.Execute(w, p)
	}
	if err != nil {
		return fmt.Errorf("write the HTML page: %w", err)
	}
	return nil
}

// maxUnbroken is the maximum length of a text that is kept on one line.
const maxUnbroken = 22

// unbroken keeps a short text, such as a value with its unit, on one line. Two values that are
// separated by a slash may be on two lines.
func unbroken(text string) string {
	parts := strings.Split(text, " / ")
	for i, part := range parts {
		if utf8.RuneCountInString(part) <= maxUnbroken {
			parts[i] = strings.ReplaceAll(part, " ", "\u00a0")
		}
	}
	return strings.Join(parts, " / ")
}

// maxTitleWord is the length of the longest word in a title of a column, other than a name of a run.
const maxTitleWord = 12

// isName reports whether a title of a column is a name that may be broken anywhere. Otherwise the
// names of the runs could widen the table beyond the page.
func isName(title string) bool {
	return slices.ContainsFunc(strings.Fields(title), func(word string) bool {
		return utf8.RuneCountInString(word) > maxTitleWord
	})
}

// RunHTML writes an HTML page for a run, with the figures and time series of each phase.
func RunHTML(w io.Writer, r Run) error {
	p := runPage(r)
	for i, ph := range r.Phases {
		if i < len(r.Series) {
			p.Sections[i].Charts = seriesCharts(r.Series[i], ph.Window)
			p.Sections[i].Notes = append(p.Sections[i].Notes, "The measuring window is shaded in the charts.")
		}
	}
	return p.write(w)
}

// runPage returns the page of a run without charts. It has a section for each phase, then the others.
func runPage(r Run) page {
	p := page{Title: r.Name, Facts: slices.Concat(r.Errors, r.Warnings), Origin: section{Head: []string{"", r.Name}}}
	if r.Partial != "" {
		p.Facts = append([]string{"partial: " + r.Partial}, p.Facts...)
	}
	for _, o := range r.About.Origins() {
		p.Origin.Rows = append(p.Origin.Rows, []string{o.Label, o.Value})
	}
	p.Origin.Rows = append(p.Origin.Rows, []string{"Report by", cmp.Or(r.ReportedBy, "unknown")})
	for _, ph := range r.Phases {
		p.Sections = append(p.Sections, phaseSection(ph))
	}
	if len(r.Tiers) > 0 {
		p.Sections = append(p.Sections, tierTable(r.Tiers))
	}
	return p
}

func phaseSection(p results.Phase) section {
	concurrency := "unknown"
	if p.Concurrency > 0 {
		concurrency = results.Count(p.Concurrency)
	}
	out := section{
		Title: fmt.Sprintf("Phase %d, concurrency %s", p.Index, concurrency), Notes: phaseNotes(p),
		Head: []string{"Metric", "Value", "n", "Client reports", "Method", "Reasons"},
	}
	if p.Partial != "" {
		out.Invalid = append(out.Invalid, "partial: "+p.Partial)
	}
	for _, why := range p.Invalid {
		out.Invalid = append(out.Invalid, "invalid: "+why)
	}
	for _, f := range p.Figures {
		out.Rows = append(out.Rows, figureRow(f))
	}
	add := func(label, value string) { out.Rows = append(out.Rows, []string{label, value, "", "", "", ""}) }
	if n := p.Requests; n != nil {
		add("Measured requests (errors)", fmt.Sprintf("%s (%s)", results.Count(n.Successful), results.Count(n.Failed)))
	}
	add("Concurrency", concurrency)
	window := "unknown"
	if w := p.Window; w != nil {
		window = fmt.Sprintf("%s s (%s)", results.Decimal(w.Seconds, 1), w.Source)
	}
	add("Measuring window", window)
	out.dropEmpty(5)
	out.dropEmpty(3) // the client usually reports the same values
	return out
}

// dropEmpty removes a column that is empty in all rows.
func (p *section) dropEmpty(column int) {
	if slices.ContainsFunc(p.Rows, func(r []string) bool { return r[column] != "" }) {
		return
	}
	p.Head = slices.Delete(p.Head, column, column+1)
	for i := range p.Rows {
		p.Rows[i] = slices.Delete(p.Rows[i], column, column+1)
	}
}

// marks explains the marks of figures.
const marks = "!: invalid; ≥: a lower bound; ±: uncertain, with the largest possible error; " +
	"~: the phase has not ended; n: number of requests behind a figure."

func phaseNotes(p results.Phase) []string {
	out := []string{marks}
	if n := p.Requests; n != nil {
		out = append(out, fmt.Sprintf("%s requests measured (%s failed), %s in settling, %s after the window.",
			results.Count(n.Measured), results.Count(n.Failed), results.Count(n.Settling), results.Count(n.After)))
	}
	if kinds := slices.Sorted(maps.Keys(p.Errors)); len(kinds) > 0 {
		for i, kind := range kinds {
			kinds[i] = kind + " " + results.Count(p.Errors[kind])
		}
		out = append(out, "Failed requests by kind: "+strings.Join(kinds, ", ")+".")
	}
	switch s := p.Steady; {
	case s == nil:
		out = append(out, "Steady state: unknown, too few requests.")
	case s.Drift:
		out = append(out, "Steady state: no; "+s.Text()+".")
	default:
		out = append(out, "Steady state: yes; "+s.Text()+".")
	}
	var known []string // shown otherwise
	for _, r := range p.Reasons {
		known = append(known, r.Text)
		switch {
		case r.Class == results.Invalid || r.ID == results.NotSettled:
		default:
			out = append(out, reasonText(r))
		}
	}
	isKnown := func(w string) bool { return slices.Contains(known, w) }
	return append(out, slices.DeleteFunc(slices.Clone(p.Warnings), isKnown)...)
}

// reasonText formats a reason with its class, unless it is a note.
func reasonText(r results.Reason) string {
	if r.Class == results.Exact || r.Class == "" {
		return r.Text
	}
	return string(r.Class) + ": " + r.Text
}

// figureRow returns the label, marked value, number of requests, value of the client, method and
// reasons of a figure.
func figureRow(f results.Figure) []string {
	n := ""
	switch {
	case f.Of > f.N:
		n = results.Count(f.N) + " of " + results.Count(f.Of)
	case f.N > 0:
		n = results.Count(f.N)
	}
	var why []string
	for _, r := range f.Reasons {
		why = append(why, reasonText(r))
	}
	if f.Invalid != "" && len(why) == 0 {
		why = append(why, "invalid: "+f.Invalid)
	}
	return []string{f.Label, f.MarkedText(), n, f.ClientText(), f.Method, strings.Join(why, "; ")}
}

func tierTable(all []results.TierResult) section {
	out := section{Title: "Service levels", Head: []string{
		"Tier", "Minimum output speed p25", "Maximum TTFT p95", "Highest concurrency level that meets the tier",
	}}
	for _, r := range all {
		best := "none"
		switch {
		case r.Concurrency > 0:
			best = results.Count(r.Concurrency)
		case slices.ContainsFunc(r.Levels, func(l results.TierLevel) bool { return l.Unknown }):
			best = "unknown"
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
		Facts:  c.Notes,
		Origin: section{Head: []string{"", c.Reference.Name, c.Candidate.Name}, Rows: c.Origins()},
	}
	figures := section{Title: "Figures", Head: append(c.Titles(), "Flags"), Notes: []string{marks}}
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

// pointReasons returns why the figures of a point are not exact.
func pointReasons(p results.Point) string {
	if p.Class != results.Uncertain {
		return p.Invalid
	}
	var why []string
	for _, f := range p.Figures {
		for _, r := range f.Reasons {
			if text := reasonText(r); r.Class == results.Uncertain && !slices.Contains(why, text) {
				why = append(why, text)
			}
		}
	}
	return cmp.Or(strings.Join(why, "; "), string(results.Uncertain))
}

// CurveHTML writes an HTML page of throughput per GPU over speed per user.
func CurveHTML(w io.Writer, points []results.Point) error { return curvePage(points).write(w) }

func curvePage(points []results.Point) page {
	one := section{Title: "Concurrency levels", Head: []string{
		"Run", "Concurrency", "GPUs", "Output tok/s per GPU", "Total tok/s per GPU", "Output speed p50", "Output speed p25",
		"TTFT p95", "Reasons",
	}, Notes: []string{marks}}
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
		marked := func(key string, v float64, decimals int, unit string) string {
			return strings.TrimSpace(p.Figures.Get(key).Marked(results.Decimal(v, decimals)) + " " + unit)
		}
		one.Rows = append(one.Rows, []string{
			p.Run, results.Count(p.Concurrency), gpus,
			marked(results.Primary, p.OutputPerGPU, 1, ""), marked(results.TotalRate, p.TotalPerGPU, 1, ""),
			marked(results.LocalSpeed50, p.Speed50, 1, "tok/s"), marked(results.LocalSpeed25, p.Speed25, 1, "tok/s"),
			marked(results.TTFT95, p.TTFT95, 3, "s"), pointReasons(p),
		})
	}
	one.Charts = []template.HTML{perGPU.svg()}
	if one.Charts[0] == "" {
		one.Charts[0] = total.svg()
		one.Notes = append(one.Notes, "The number of GPUs is unknown, so the chart shows the total throughput.")
	}
	return page{Title: "Throughput vs. speed", Sections: []section{one}}
}
