// Package parity compares two runs of the same configuration. A comparison has a table of metrics
// with their differences, a verdict on the primary metric, and the reasons why the runs are not
// comparable, if there are any. It is available as text, Markdown and JSON.
package parity

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes"
)

// defaultBand is the default tolerance band of the primary metric, as a fraction.
const defaultBand = 0.02

// Verdicts of a comparison.
const (
	Within        = "within"
	Outside       = "outside"
	NotComparable = "not comparable"
)

// Options are the options of Compare.
type Options struct {
	Band        float64 // tolerance band of the primary metric, as a fraction; 0: from References, else DefaultBand
	DefaultBand float64 // smallest band from References, and the band without them; 0: 2 %
	Force       bool    // give a verdict even if the runs are not comparable, unless the figures permit none
	// References are additional runs of the reference's configuration. The spread of all
	// references determines the tolerance of each metric, around their mean; Band overrides
	// the primary one.
	References []Side
	Paired     bool // also compare paired requests
}

// Comparison is the result of Compare.
type Comparison struct {
	Reference  Column   `json:"reference"`
	Candidate  Column   `json:"candidate"`
	Verdict    string   `json:"verdict"`
	Band       float64  `json:"band"`                // fraction
	BandSource string   `json:"band_from,omitempty"` // how the band was computed from several references
	References int      `json:"references"`          // number of runs behind the band; 1: Reference only
	Delta      *float64 `json:"delta"`               // of the primary metric, as a fraction; nil if unknown
	// FromMean is like Delta, but from the mean of several references; the verdict depends on it.
	FromMean *float64 `json:"delta_from_mean,omitempty"`
	Reasons  []string `json:"reasons"` // why the runs are not comparable
	Forced   bool     `json:"forced"`  // there is a verdict despite Reasons
	Rows     []Row    `json:"rows"`
	Notes    []string `json:"notes"`
	// TTFT is the TTFT distribution of both sides; nil without request rows.
	TTFT   *Distribution `json:"ttft_distribution,omitempty"`
	Fields []FileDiff    `json:"fields,omitempty"` // differences of recipe and workload; set by the caller
	// Properties are the inputs and settings of the runs.
	Properties []Property `json:"properties"`
	Paired     *Pairing   `json:"paired,omitempty"`

	noVerdict []string // those of Reasons that Force does not override
}

// FileDiff compares an input file of the runs field by field.
type FileDiff struct {
	File string `json:"file"` // "recipe", "workload" or "identity"
	recipes.Comparison
}

// Column describes a side of the comparison.
type Column struct {
	Name          string   `json:"name"`
	Path          string   `json:"path"`
	About         About    `json:"about"`
	Phase         int      `json:"phase_idx"`
	Concurrency   int      `json:"concurrency"`    // 0 if unknown
	Window        *float64 `json:"window_seconds"` // nil if unknown
	WindowDerived bool     `json:"window_implied"` // derived from the number of tokens and the rate
	Invalid       []string `json:"invalid"`
	// Reasons say why the figures of the phase are not exact. They include those of Invalid.
	Reasons  []results.Reason `json:"reasons"`
	Warnings []string         `json:"warnings"` // of the run and the phase
}

// Row is a row of the table.
type Row struct {
	Metric    string   `json:"metric"`
	Reference string   `json:"reference"` // formatted, with "!" if invalid
	Candidate string   `json:"candidate"`
	Delta     string   `json:"delta"`
	FromMean  string   `json:"from_mean,omitempty"` // difference from the mean of several references
	Parts     []Part   `json:"parts"`
	Flags     []string `json:"flags"`
}

// Part is the value of one metric in a row. Deltas are fractions of the reference.
type Part struct {
	Key       string   `json:"key"`
	Reference *float64 `json:"reference"`
	Candidate *float64 `json:"candidate"`
	Delta     *float64 `json:"delta"`
	Tolerance float64  `json:"tolerance"`
	// ToleranceRange is the range of the true tolerance if a reference of several is uncertain, else nil.
	ToleranceRange *[2]float64 `json:"tolerance_range,omitempty"`
	// Position is the difference relative to the tolerance, from -1 to 1 within it. With
	// several references the difference is FromMean, otherwise Delta.
	Position   *float64          `json:"position"`
	References int               `json:"references,omitempty"` // number of references behind Mean
	Mean       *float64          `json:"references_mean,omitempty"`
	FromMean   *float64          `json:"delta_from_mean,omitempty"` // from Mean, as a fraction of it
	Better     results.Direction `json:"better"`
	Interval   *Interval         `json:"interval_95,omitempty"` // of the delta; nil without request rows
	// DeltaRange is the range of the true difference if a figure or a reference is uncertain, else nil. The
	// difference is that from Mean if there is one.
	DeltaRange *[2]float64 `json:"delta_range,omitempty"`
	// Figures are the figures of reference and candidate with their class, bounds and reasons. The
	// reasons include those of the phase.
	Figures   [2]results.Figure `json:"figures"`
	Flags     []string          `json:"-"` // flags of the row that apply to this part
	Invalid   [2]bool           `json:"-"` // of reference and candidate
	Label     string            `json:"-"` // for narrow views
	Text      [2]string         `json:"-"` // of reference and candidate, formatted without the unit
	DeltaText string            `json:"-"`
	MeanText  string            `json:"-"` // of FromMean
	Band      string            `json:"-"` // tolerance, with enough digits to show on which side of it the difference is

	low, high float64 // of DeltaRange, or the difference itself
}

// rowSpec defines a row of the table, which shows one or more metrics.
type rowSpec struct {
	label   string
	metrics []*results.Metric // empty for the row of measured requests
}

// rowSpecs returns the rows of the table: the published ones, which are always shown, then
// the others, which are shown if a side has a value.
func rowSpecs() []rowSpec {
	var published, more []rowSpec
	for _, m := range results.Metrics {
		if m.Parity == nil {
			continue
		}
		to, label := &more, cmp.Or(m.Parity.RowLabel, m.Label)
		if m.Parity.Published {
			to = &published
		}
		i := slices.IndexFunc(*to, func(l rowSpec) bool { return l.label == label })
		if i < 0 {
			i, *to = len(*to), append(*to, rowSpec{label: label})
		}
		(*to)[i].metrics = append((*to)[i].metrics, m)
	}
	return slices.Concat(published, []rowSpec{{label: "Measured requests (errors)"}}, more)
}

// Compare compares a candidate with a reference. If they are not comparable, the Comparison
// contains the reasons.
func Compare(ref, cand Side, opt Options) Comparison {
	references, unfit, invalid := usableReferences(&ref, &cand, opt.References)
	within := intervals(&ref, &cand, results.FilterMetrics(func(m *results.Metric) bool { return m.Parity != nil }))
	band := opt.tolerance(results.FindMetric(results.Primary), &ref, references)
	c := Comparison{
		Reference: newColumn(&ref), Candidate: newColumn(&cand),
		Band: band.width, BandSource: band.source(), References: band.references,
		Notes: unfit, Properties: newProperties(&ref, &cand),
	}
	c.Reasons = append(incompleteReasons(&ref, &cand), propertyReasons(c.Properties)...)
	c.Reasons = append(c.Reasons, invalid...)
	if len(references) == 0 && len(unfit) > 0 {
		c.Reasons = append(c.Reasons, "none of the additional references can be used to measure the band")
	}
	for _, l := range rowSpecs() {
		if l.metrics == nil {
			c.Rows = append(c.Rows, requestRows(l.label, &ref, &cand)...)
			continue
		}
		row, any := l.build(&ref, &cand, references, opt)
		if any || l.metrics[0].Parity.Published {
			row.setIntervals(within)
			c.Rows = append(c.Rows, row)
		}
	}
	c.flagWidest()
	c.Delta, c.FromMean = c.Rows[0].Parts[0].Delta, c.Rows[0].Parts[0].FromMean
	c.setVerdict(band, &ref, &cand, references, opt.Force)
	c.addNotes(&ref, &cand, references)
	c.TTFT = newDistribution(&ref, &cand)
	if opt.Paired {
		if c.Paired = pairRequests(ref.Requests, cand.Requests); c.Paired != nil {
			c.Paired.Rate = pairRates(&ref, &cand)
		}
	}
	return c
}

// flagWidest flags the row with the largest difference.
func (c *Comparison) flagWidest() {
	var row *Row
	var part *Part
	for i := range c.Rows {
		for k := range c.Rows[i].Parts {
			p := &c.Rows[i].Parts[k]
			if p.Delta != nil && *p.Delta != 0 && !p.isInvalid() && (part == nil || math.Abs(*p.Delta) > math.Abs(*part.Delta)) {
				row, part = &c.Rows[i], p
			}
		}
	}
	if part != nil {
		row.Flags, part.Flags = append(row.Flags, "widest"), append(part.Flags, "widest")
	}
}

func (r *Row) setIntervals(of map[string]Interval) {
	for i := range r.Parts {
		if in, ok := of[r.Parts[i].Key]; ok && r.Parts[i].Delta != nil && !r.Parts[i].isInvalid() {
			r.Parts[i].Interval = &in
		}
	}
}

func newColumn(s *Side) Column {
	seconds, derived := s.window()
	about := s.About
	about.Settings = maps.Clone(about.Settings)
	for _, field := range about.fields() {
		*field = stripControl(*field)
	}
	for key, value := range about.Settings {
		about.Settings[key] = stripControl(value)
	}
	return Column{
		Name: stripControl(s.Name), Path: s.Path, Phase: s.Phase.Index, Concurrency: s.Phase.Concurrency, About: about,
		Window: finite(seconds), WindowDerived: derived, Invalid: append([]string{}, s.Phase.Invalid...),
		Reasons: append([]results.Reason{}, s.Phase.Reasons...), Warnings: s.warnings(),
	}
}

var sideNames = [2]string{"reference", "candidate"}

// incompleteReasons returns a reason for each side whose run or phase is incomplete.
func incompleteReasons(ref, cand *Side) []string {
	reasons := []string{}
	for i, s := range []*Side{ref, cand} {
		if s.Failure != "" {
			reasons = append(reasons, stripControl(fmt.Sprintf("the %s's run %s", sideNames[i], s.Failure)))
		}
		if s.Phase.Partial != "" {
			reasons = append(reasons, stripControl(fmt.Sprintf("the %s's phase is partial: %s", sideNames[i], s.Phase.Partial)))
		}
	}
	return reasons
}

func (l rowSpec) build(ref, cand *Side, references []Side, opt Options) (row Row, any bool) {
	row = Row{Metric: l.label, Flags: []string{}}
	var a, b, deltas, fromMean []string
	var marks [2]bool
	for _, m := range l.metrics {
		p := newPart(m, ref, cand, opt.tolerance(m, ref, references))
		p.Flags = append(p.Flags, referenceFlags(m, ref, references)...)
		any = any || p.Reference != nil || p.Candidate != nil
		a, b, deltas = append(a, p.Text[0]), append(b, p.Text[1]), append(deltas, p.DeltaText)
		if p.FromMean != nil {
			fromMean = append(fromMean, p.MeanText)
		}
		for i := range marks {
			marks[i] = marks[i] || p.Invalid[i]
		}
		row.Parts = append(row.Parts, p)
		for _, flag := range p.Flags {
			if !slices.Contains(row.Flags, flag) {
				row.Flags = append(row.Flags, flag)
			}
		}
	}
	form := formatOf(l.metrics[0])
	row.Reference, row.Candidate = markInvalid(form.join(a), marks[0]), markInvalid(form.join(b), marks[1])
	row.Delta, row.FromMean = join(deltas), strings.Join(fromMean, " / ")
	return row, any
}

// finite returns a pointer to f, or nil if f is NaN or infinite, which JSON does not support.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}
