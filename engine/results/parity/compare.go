// Package parity compares two runs of one configuration: a table of metrics with their differences,
// a verdict on the primary metric against a band, and what stands in the way of comparing them at
// all. It renders that as text, Markdown and JSON. It reads figures through package results and
// knows nothing of jobs or screens.
package parity

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes"
)

// defaultBand is the run-to-run band of the primary metric, as a fraction.
const defaultBand = 0.02

// Verdicts of a comparison.
const (
	Within        = "within"
	Outside       = "outside"
	NotComparable = "not comparable"
)

// Options of Compare.
type Options struct {
	Band  float64 // fraction, for the primary metric; 0 is 2 %, or what References measure
	Force bool    // give a verdict although the runs are not comparable
	// References are further runs of the reference's configuration. What they
	// scatter by is the tolerance of each metric, unless Band is given.
	References []Side
	Paired     bool // compare request by request too
}

// Comparison is two sides, metric by metric.
type Comparison struct {
	Reference  Column   `json:"reference"`
	Candidate  Column   `json:"candidate"`
	Verdict    string   `json:"verdict"`
	Band       float64  `json:"band"`                // fraction
	BandSource string   `json:"band_from,omitempty"` // how the band was measured; empty when it was given
	Delta      *float64 `json:"delta"`               // of the primary metric, fraction; nil when unknown
	Reasons    []string `json:"reasons"`             // why the two are not comparable
	Forced     bool     `json:"forced"`              // a verdict was given in spite of Reasons
	Rows       []Row    `json:"rows"`
	Notes      []string `json:"notes"`
	// TTFT is the distribution of both sides, where request rows are at hand.
	TTFT   *Distribution `json:"ttft_distribution,omitempty"`
	Fields []FileDiff    `json:"fields,omitempty"` // recipe and workload, where both are at hand; set by the caller
	Paired *Pairing      `json:"paired,omitempty"`
}

// FileDiff is one of the runs' input files, compared field by field.
type FileDiff struct {
	File string `json:"file"` // "recipe", "workload" or "identity"
	recipes.Comparison
}

// Column is what is compared, as the header names it.
type Column struct {
	Name          string   `json:"name"`
	Path          string   `json:"path"`
	About         About    `json:"about"`
	Phase         int      `json:"phase_idx"`
	Concurrency   int      `json:"concurrency"`    // 0 when unknown
	Window        *float64 `json:"window_seconds"` // nil when unknown
	WindowDerived bool     `json:"window_implied"` // computed from tokens and rate
	Invalid       []string `json:"invalid"`
}

// Row is one line of the table.
type Row struct {
	Metric    string   `json:"metric"`
	Reference string   `json:"reference"` // as shown, with a ! when invalid
	Candidate string   `json:"candidate"`
	Delta     string   `json:"delta"`
	Parts     []Part   `json:"parts"`
	Flags     []string `json:"flags"`
}

// Part is the number behind a row, or one of the two. Deltas are fractions of the reference.
type Part struct {
	Key       string            `json:"key"`
	Reference *float64          `json:"reference"`
	Candidate *float64          `json:"candidate"`
	Delta     *float64          `json:"delta"`
	Tolerance float64           `json:"tolerance"`
	Position  *float64          `json:"position"` // delta / tolerance: within the tolerance from -1 to 1
	Better    results.Direction `json:"better"`
	Interval  *Interval         `json:"interval_95,omitempty"` // of the delta, where request rows are at hand
	Flags     []string          `json:"-"`                     // those of the row that are about this part
	Invalid   [2]bool           `json:"-"`                     // the reference, the candidate
	Label     string            `json:"-"`                     // where there is little room
	Text      [2]string         `json:"-"`                     // the reference, the candidate, without a unit
	DeltaText string            `json:"-"`
}

// line is a row of the table: a metric, or several that share it.
type rowSpec struct {
	label   string
	metrics []*results.Metric // none: the row of measured requests
}

// lines are the rows of the table: those of the published one, which are always shown,
// then the others, which are shown where a side has a figure.
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

// Compare never fails: what can't be compared is told in the Comparison.
func Compare(ref, cand Side, opt Options) Comparison {
	references, unfit := usableReferences(&ref, opt.References)
	measured := referenceSpread(&ref, references)
	from := ""
	if !(opt.Band > 0) {
		opt.Band = defaultBand
		if measured[results.Primary] > 0 {
			opt.Band = measured[results.Primary]
			from = fmt.Sprintf("largest difference between two of %d reference runs", len(references)+1)
		}
	}
	within := intervals(&ref, &cand)
	c := Comparison{
		Reference: newColumn(&ref), Candidate: newColumn(&cand), Band: opt.Band, BandSource: from,
		Reasons: append(incompleteReasons(&ref, &cand), identityDifferences(&ref, &cand)...), Notes: unfit,
	}
	if len(references) == 0 && len(unfit) > 0 {
		c.Reasons = append(c.Reasons, "none of the further references is fit to measure the band")
	}
	for _, l := range rowSpecs() {
		if l.metrics == nil {
			c.Rows = append(c.Rows, requestsRow(l.label, &ref, &cand))
			continue
		}
		first := l.metrics[0]
		tolerance := first.Parity.Tolerance
		if m := measured[first.Key]; m > 0 {
			tolerance = m
		}
		if first.Key == results.Primary {
			tolerance = opt.Band
		}
		if row, any := l.build(&ref, &cand, tolerance); any || first.Parity.Published {
			row.setIntervals(within)
			c.Rows = append(c.Rows, row)
		}
	}
	c.flagWidest()
	c.Delta = c.Rows[0].Parts[0].Delta
	c.setVerdict(opt.Force)
	c.addNotes(&ref, &cand, len(references))
	c.TTFT = newDistribution(&ref, &cand)
	if opt.Paired {
		c.Paired = pairRequests(ref.Requests, cand.Requests)
	}
	return c
}

// widest flags the row with the largest difference of all.
func (c *Comparison) flagWidest() {
	var row *Row
	var part *Part
	for i := range c.Rows {
		for k := range c.Rows[i].Parts {
			p := &c.Rows[i].Parts[k]
			if p.Delta != nil && *p.Delta != 0 && (part == nil || math.Abs(*p.Delta) > math.Abs(*part.Delta)) {
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
		if in, ok := of[r.Parts[i].Key]; ok && r.Parts[i].Delta != nil {
			r.Parts[i].Interval = &in
		}
	}
}

func newColumn(s *Side) Column {
	seconds, implied := s.window()
	about := s.About
	for _, field := range about.fields() {
		*field = stripControl(*field)
	}
	return Column{
		Name: stripControl(s.Name), Path: s.Path, Phase: s.Phase.Index, Concurrency: s.Phase.Concurrency, About: about,
		Window: finite(seconds), WindowDerived: implied, Invalid: append([]string{}, s.Phase.Invalid...),
	}
}

// identity lists what must be the same on both sides, in pairs of a name and a value.
func (s *Side) identity() [][]string {
	users := ""
	if s.Phase.Concurrency > 0 {
		users = results.Count(s.Phase.Concurrency)
	}
	a := s.About
	return slices.Collect(slices.Chunk([]string{
		"concurrency", users, "model", a.Model, "model revision", a.ModelRevision, "seed", a.Seed,
		"dataset", a.Dataset, "client commit", a.ClientCommit,
	}, 2))
}

var sideNames = [2]string{"reference", "candidate"}

// failures are the sides that are a part of a run.
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

// differences are those in what must be the same on both sides.
func identityDifferences(ref, cand *Side) []string {
	var reasons []string
	if a, b := ref.About.DatasetHash, cand.About.DatasetHash; a != "" && b != "" && a != b {
		reasons = append(reasons, "the contents of the datasets differ")
	}
	theirs := cand.identity()
	for i, r := range ref.identity() {
		if c := theirs[i]; r[1] != "" && c[1] != "" && !sameIdentity(r[0], r[1], c[1]) {
			reasons = append(reasons, stripControl(fmt.Sprintf("%s differs: %s against %s", r[0], r[1], c[1])))
		}
	}
	return reasons
}

// same compares what identifies a run. A model may be known by its path, its served name or its
// name in a file, where a slash became _; a dataset may lie elsewhere on another machine.
func sameIdentity(what, a, b string) bool {
	switch what {
	case "model":
		a, b = strings.ReplaceAll(a, "/", "_"), strings.ReplaceAll(b, "/", "_")
		return a == b || strings.HasSuffix(a, "_"+b) || strings.HasSuffix(b, "_"+a)
	case "dataset":
		return path.Base(a) == path.Base(b)
	}
	return a == b
}

func (l rowSpec) build(ref, cand *Side, tolerance float64) (row Row, any bool) {
	row = Row{Metric: l.label, Flags: []string{}}
	var a, b, deltas []string
	var marks [2]bool
	for _, m := range l.metrics {
		p := newPart(m, ref, cand, tolerance)
		any = any || p.Reference != nil || p.Candidate != nil
		a, b, deltas = append(a, p.Text[0]), append(b, p.Text[1]), append(deltas, p.DeltaText)
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
	row.Delta = join(deltas)
	return row, any
}

// part compares a metric.
func newPart(m *results.Metric, ref, cand *Side, tolerance float64) Part {
	r, c := ref.Phase.Figures.Get(m.Key), cand.Phase.Figures.Get(m.Key)
	delta := (c.Value - r.Value) / r.Value
	p := Part{
		Key: m.Key, Reference: finite(r.Value), Candidate: finite(c.Value), Delta: finite(delta), Tolerance: tolerance,
		Better: m.Better, Label: m.ShortLabel(),
		Invalid: [2]bool{len(ref.Phase.Invalid) > 0, len(cand.Phase.Invalid) > 0},
	}
	beyond := false
	if p.Delta != nil {
		position := min(max(delta/tolerance, -math.MaxFloat64), math.MaxFloat64)
		p.Position, beyond = &position, math.Abs(position) > 1
	}
	switch {
	case !beyond || m.Better == "":
	case (delta > 0) == (m.Better == results.Higher):
		p.Flags = append(p.Flags, "better")
	default:
		p.Flags = append(p.Flags, "worse")
	}
	form := formatOf(m)
	p.Text = [2]string{form.number(r.Value), form.number(c.Value)}
	p.DeltaText = deltaText(delta, p.Text[0], p.Text[1])
	for i, f := range []results.Figure{r, c} {
		if f.Invalid != "" {
			p.Invalid[i] = true
			p.Flags = append(p.Flags, sideNames[i]+" invalid: "+stripControl(f.Invalid))
		}
	}
	switch {
	case m.Parity.Noisy:
		p.Flags = append(p.Flags, "noisy")
	case beyond:
		p.Flags = append(p.Flags, "beyond ±"+results.Percent(tolerance))
	}
	return p
}

// mark shows at the figure itself that it must not be trusted.
func markInvalid(text string, invalid bool) string {
	if invalid && text != dash {
		return text + " !"
	}
	return text
}

// counts is the row of measured requests, for which no difference makes sense.
func requestsRow(label string, ref, cand *Side) Row {
	text := func(s *Side) string {
		if n := s.Phase.Requests; n != nil {
			return fmt.Sprintf("%s (%s)", results.Count(n.Successful), results.Count(n.Failed))
		}
		return dash
	}
	return Row{Metric: label, Reference: text(ref), Candidate: text(cand), Delta: dash, Parts: []Part{}, Flags: []string{}}
}

// judge gives the verdict: the primary metric alone decides.
func (c *Comparison) setVerdict(force bool) {
	if c.Delta == nil {
		c.Reasons = append(c.Reasons, "no difference of "+c.Rows[0].Metric+" can be formed")
		force = false
	}
	c.Forced = len(c.Reasons) > 0 && force
	switch {
	case len(c.Reasons) > 0 && !force:
		c.Verdict = NotComparable
	case math.Abs(*c.Delta) > c.Band:
		c.Verdict = Outside
	default:
		c.Verdict = Within
	}
}

func (c *Comparison) addNotes(ref, cand *Side, references int) {
	say := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	switch references {
	case 0:
		say("one run a side: a difference inside the run-to-run band can be chance")
	case 1:
		say("the band of two reference runs is a rough one: a third would tell more")
	default:
		say("one candidate run against %d reference runs", references+1)
	}
	if r, k := c.Reference.Window, c.Candidate.Window; r != nil && k != nil && math.Abs(*k-*r) > 0.01**r {
		how := ""
		if c.Reference.WindowDerived || c.Candidate.WindowDerived {
			how = ", as the counts imply"
		}
		a, b := distinctDecimals(*r, *k)
		say("the windows differ: %s s against %s s%s", a, b, how)
	}
	theirs := cand.identity()
	var unknown []string
	for i, r := range ref.identity() {
		if r[1] == "" || theirs[i][1] == "" {
			unknown = append(unknown, r[0])
		}
	}
	if len(unknown) > 0 {
		say("not checked, since unknown on a side: %s", strings.Join(unknown, ", "))
	}
	for _, s := range []*Side{ref, cand} {
		for _, reason := range s.Phase.Invalid {
			say("%s is invalid: %s", stripControl(s.Name), reason)
		}
		if w := s.Phase.Window; w != nil && w.Source == results.Estimated {
			say("%s: the window is estimated", stripControl(s.Name))
		}
	}
}

// apart prints two numbers with as many decimals as tell them apart.
func distinctDecimals(a, b float64) (string, string) {
	for decimals := 0; ; decimals++ {
		x, y := results.Decimal(a, decimals), results.Decimal(b, decimals)
		if x != y || decimals == 6 {
			return x, y
		}
	}
}

// known is nil for what is no number, which JSON can't hold.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}
