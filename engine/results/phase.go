package results

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"
)

// Run holds the figures and warnings computed from the output of one run of the client.
type Run struct {
	LogDir           string   `json:"log_dir,omitempty"` // log directory; set by Load
	Partial          string   `json:"partial,omitempty"` // why the results are incomplete; empty if complete or unknown
	Phases           []Phase  `json:"phases"`            // by index
	EarlierStartRows int      `json:"earlier_start_rows"`
	Unreadable       int      `json:"unreadable_rows,omitempty"` // lines of request rows that could not be parsed
	Errors           []string `json:"errors"`                    // contradictions in the output
	Warnings         []string `json:"warnings"`                  // lines and files that were not counted

	Rejected bool `json:"-"` // a line or a file could not be parsed; Warnings begins with it
}

// Phase holds the figures of one phase, which has one concurrency level.
type Phase struct {
	Index       int             `json:"phase_idx"`
	Concurrency int             `json:"concurrency"`              // number of users; 0 if unknown
	Stem        string          `json:"stem,omitempty"`           // of its statistics file
	Partial     string          `json:"partial,omitempty"`        // why it is incomplete; empty if complete or unknown
	Window      *Window         `json:"window"`                   // nil if unknown or if the phase ended during settling
	Total       int             `json:"total_requests"`           // since the last client start
	Requests    *Requests       `json:"requests"`                 // nil if the window is unknown
	Errors      map[string]int  `json:"errors_by_kind,omitempty"` // failed measured requests; "unknown" without a kind
	Figures     Figures         `json:"figures"`
	Invalid     []string        `json:"invalid"`                   // why all figures are invalid; empty if they are valid
	Warnings    []string        `json:"warnings"`                  // for the reader of the figures
	Reasons     []Reason        `json:"reasons"`                   // why its figures are not exact, with those of Invalid
	Unreadable  int             `json:"unreadable_rows,omitempty"` // rows that could not be parsed, at most
	Provisional bool            `json:"provisional,omitempty"`     // the phase has not ended
	Steady      *Steady         `json:"steady_state,omitempty"`    // nil if there are too few requests to tell
	Statistics  json.RawMessage `json:"-"`                         // as written by the client; nil if there are none

	// SoFar holds what FiguresSoFar and InvalidSoFar return; nil if the phase has ended.
	SoFar *Phase `json:"-"`
}

// Window is the measuring window. A request is measured if it starts at or after Start
// and before End.
type Window struct {
	Start, End float64 // Unix s; NaN if only the length is known
	Seconds    float64
	Source     string // "manifest", "statistics" or "estimated"
}

// measures reports whether the request started in the window.
func (w *Window) measures(r *Request) bool {
	return w != nil && !r.noStartTime && !(r.Start < w.Start) && !(r.Start >= w.End)
}

// Sources of a Window, in order of preference.
const (
	FromManifest   = "manifest"
	FromStatistics = "statistics"
	Estimated      = "estimated"
)

// windowJSON is the JSON form of a Window.
type windowJSON struct {
	Start   Number `json:"start"`
	End     Number `json:"end"`
	Seconds Number `json:"seconds"`
	Source  string `json:"source"`
}

// MarshalJSON writes unknown values as null.
func (w Window) MarshalJSON() ([]byte, error) {
	return json.Marshal(windowJSON{Number(w.Start), Number(w.End), Number(w.Seconds), w.Source})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (w *Window) UnmarshalJSON(data []byte) error {
	v := windowJSON{Start: unknown, End: unknown, Seconds: unknown}
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf("window: %w", err)
	}
	*w = Window{float64(v.Start), float64(v.End), float64(v.Seconds), v.Source}
	return nil
}

// Requests counts the requests of a phase. Settling and After include failed requests.
type Requests struct {
	Measured       int `json:"measured"`
	Successful     int `json:"successful"` // of Measured
	Failed         int `json:"failed"`     // of Measured
	Settling       int `json:"settling"`   // started before the measuring window
	SettlingFailed int `json:"settling_failed"`
	After          int `json:"after"` // started after the measuring window
	AfterFailed    int `json:"after_failed"`
	NoStartTime    int `json:"unplaced"` // without start_time
}

// Snapshot returns the figures of all rows added so far. The time now limits estimated
// windows; if it is zero, the end of the last request is used.
func (agg *Aggregator) Snapshot(now time.Time) Run {
	if now.IsZero() {
		now = agg.lastTime()
	}
	run := Run{Phases: []Phase{}, Errors: []string{}, Warnings: agg.issueTexts(), Rejected: len(agg.rejected) > 0}
	if err := agg.updateSpans(); err != nil && agg.storeErr == nil {
		agg.storeErr = err
	}
	if agg.storeErr != nil {
		run.Errors = append(run.Errors, agg.storeErr.Error())
		return run
	}
	run.EarlierStartRows = agg.spans.earlierRows
	for _, t := range agg.tables() {
		run.Unreadable += t.unreadable.total()
	}
	if n := agg.live.duplicates.count(); n > 0 {
		run.Warnings = append(run.Warnings,
			fmt.Sprintf("%s: %d duplicate row(s) not counted", RequestsFile, n))
	}
	if n := run.EarlierStartRows; n > 0 {
		run.Warnings = append(run.Warnings, fmt.Sprintf("%d row(s) of an earlier client start not counted", n))
	}
	for _, index := range agg.phaseIndices() {
		b := &phaseBuilder{agg: agg, span: agg.spans.phases[index], now: unix(now)}
		if b.span == nil {
			b.span = newSpan()
		}
		b.phase = Phase{Index: index, Total: b.span.total, Invalid: []string{}, Warnings: []string{}, Reasons: []Reason{}}
		b.manifest = slices.DeleteFunc(slices.Clone(agg.manifest), func(m manifestRow) bool {
			return m.Phase != index || m.End < agg.cutoff() // of an earlier start, if the client has not emptied the file yet
		})
		b.chooseStatistics(run.EarlierStartRows > 0)
		if b.span.total == 0 && len(b.manifest) == 0 && b.stats == nil {
			run.Warnings = append(run.Warnings, b.phase.Warnings...)
			continue
		}
		if err := b.build(); err != nil {
			b.errors = append(b.errors, err.Error())
		}
		if agg.running && len(b.manifest) == 0 && b.stats == nil {
			b.phase.Provisional = true
			b.add(Reason{ID: InFlight, Class: Exact, Text: "the phase has not ended: requests in flight are not counted yet, " +
				"so throughput starts too low"})
		}
		b.phase.finish()
		if w := b.phase.Window; w != nil && w.End < w.Start {
			b.phase.Window = nil // the phase ended during settling
		}
		run.Phases = append(run.Phases, b.phase)
		run.Errors = append(run.Errors, b.errors...)
	}
	return run
}

// phaseIndices returns the indices of all phases with rows, a manifest row or statistics.
func (agg *Aggregator) phaseIndices() []int {
	var all []int
	for index := range agg.spans.phases {
		all = append(all, index)
	}
	for _, m := range agg.manifest {
		all = append(all, m.Phase)
	}
	for _, s := range agg.stats {
		all = append(all, s.stem.Phase)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// issueTexts returns a warning for each file with rejected lines or invalid values.
func (agg *Aggregator) issueTexts() []string {
	texts := []string{}
	for _, name := range sortedKeys(agg.rejected) {
		text := fmt.Sprintf("not counted: %s", agg.rejected[name].first)
		if n := agg.rejected[name].count; n > 1 {
			text += fmt.Sprintf(" (first of %d such lines)", n)
		}
		texts = append(texts, text)
	}
	for _, of := range []struct {
		issues map[string]*lineIssues
		what   string
	}{{agg.outOfRange, "out of range"}, {agg.wrongType, "of the wrong type"}} {
		for _, name := range sortedKeys(of.issues) {
			what := "row(s) with a value"
			if filepath.Ext(name) == ".json" {
				what = "value(s)"
			}
			texts = append(texts, fmt.Sprintf("%s: %s %s %s, treated as unknown; first: %s",
				name, Count(of.issues[name].count), what, of.what, of.issues[name].first))
		}
	}
	return texts
}

// phaseBuilder computes a Phase.
type phaseBuilder struct {
	agg      *Aggregator
	span     *span
	now      float64
	manifest []manifestRow
	stats    *statistics
	phase    Phase
	overlaps *overlapCounter
	activity *activity
	steady   *steadiness
	errors   []string
}

// chooseStatistics chooses the statistics file of the phase. If there are rows of an earlier client
// start, a file whose number of requests differs from that of the last start belongs to an earlier one.
func (b *phaseBuilder) chooseStatistics(restarted bool) {
	p := &b.phase
	for i := len(b.agg.stats) - 1; i >= 0; i-- {
		s := &b.agg.stats[i]
		if s.stem.Phase != p.Index {
			continue
		}
		total := s.count("requests", "total")
		switch {
		case b.span.total > 0 && s.contradiction() != "":
			b.warn("%s.json ignored: it contradicts its name: %s", s.stem, s.contradiction())
		case b.stats != nil:
			b.warn("%s.json ignored: there is a newer statistics file for this phase", s.stem)
		case b.span.concurrency >= 0 && int(b.span.concurrency) != s.stem.Concurrency:
			b.warn("%s.json ignored: its concurrency differs from that of the request rows", s.stem)
		case restarted && (b.span.total == 0 || math.Abs(float64(total-b.span.total)) > 0.01*float64(b.span.total)):
			b.warn("%s.json ignored: it counts %d requests, but there are %d rows since the last client start",
				s.stem, total, b.span.total)
		default:
			b.stats = s
			p.Stem, p.Statistics = s.stem.String(), s.raw
		}
	}
}

func (b *phaseBuilder) build() error {
	p := &b.phase
	p.Concurrency = b.concurrency()
	p.Unreadable = b.agg.unreadableRows(p.Index)
	b.readStopReason()
	b.warnOfNotes()
	b.chooseWindow()
	if b.span.total == 0 {
		b.useStatistics()
		return nil
	}
	measured := requestScan(func(int, func(int, *Request)) error { return nil })
	seconds, missing := math.NaN(), p.Unreadable
	if w := p.Window; w != nil {
		seconds = w.Seconds
		p.Requests = &Requests{}
		measured = b.scanMeasured
		if err := b.countOutsideWindow(); err != nil {
			return err
		}
		missing += p.Requests.NoStartTime // which may have been measured
	}
	if p.Index != 0 {
		missing += b.unknownPhases() // counted in phase 0
	}
	s, err := computeSums(measured, b.span.total, missing, seconds, "window")
	if err != nil {
		return err
	}
	if n := p.Requests; n != nil {
		n.Measured, n.Failed, n.Successful = s.measured, s.failed, s.measured-s.failed
	}
	if s.failed > 0 {
		p.Errors = s.byKind(b.agg.errorKinds)
	}
	for _, f := range s.figures() {
		p.Figures = append(p.Figures, b.compareFigure(f))
	}
	b.compareCounts()
	return b.validate(s)
}

func (b *phaseBuilder) scanAll(workers int, visit func(worker int, r *Request)) error {
	return b.agg.phaseRequests(b.phase.Index)(workers, visit)
}

// scanMeasured visits the requests that started in the window.
func (b *phaseBuilder) scanMeasured(workers int, visit func(worker int, r *Request)) error {
	return b.scanAll(workers, func(w int, r *Request) {
		if b.phase.Window.measures(r) {
			visit(w, r)
		}
	})
}

func (b *phaseBuilder) concurrency() int {
	if b.span.concurrency >= 0 {
		return int(b.span.concurrency)
	}
	if b.stats != nil {
		if n := b.stats.count("concurrency"); n >= 0 {
			return n
		}
		return b.stats.stem.Concurrency
	}
	return b.agg.planned[b.phase.Index].Concurrency
}

// readStopReason sets Partial if the client stopped before the end of the phase, according
// to its stop_reason. Not every client writes one.
func (b *phaseBuilder) readStopReason() {
	reason := ""
	if n := len(b.manifest); n > 0 {
		reason = b.manifest[n-1].Reason
	} else if b.stats != nil {
		reason, _ = b.stats.values["stop_reason"].(string)
	}
	switch reason {
	case "", "timeout", "criteria":
	case "interrupted":
		b.phase.Partial = "the client was interrupted"
	case "failed":
		b.phase.Partial = "the client failed"
	default:
		b.warn("unknown stop_reason of the client: %.40q", reason)
	}
}

// chooseWindow sets the window from the preferred available source.
func (b *phaseBuilder) chooseWindow() {
	p := &b.phase
	if n := len(b.manifest); n > 0 {
		m := b.manifest[n-1]
		p.Window = newWindow(m.SettlingEnd, m.End, FromManifest)
		return
	}
	first, last := b.span.first, b.span.last
	if b.stats != nil {
		d := b.stats.number("measurement_duration_s")
		if d >= 0 && (b.span.total == 0 || !math.IsNaN(last)) {
			p.Window = newWindow(last-d, last, FromStatistics)
			p.Window.Seconds = d
			return
		}
	}
	planned, ok := b.agg.planned[p.Index]
	if !ok || planned.Timeout <= 0 || math.IsNaN(first) {
		return
	}
	end := min(b.now, first+planned.Timeout)
	for index := range b.agg.spans.phases {
		if index > p.Index {
			end = last // a later phase has started
		}
	}
	p.Window = newWindow(first+planned.Ramp+planned.Settling, end, Estimated)
}

func newWindow(start, end float64, source string) *Window {
	return &Window{Start: start, End: end, Seconds: max(0, end-start), Source: source}
}

// countOutsideWindow counts the requests outside the window and finds overlapping requests.
func (b *phaseBuilder) countOutsideWindow() error {
	w, n := b.phase.Window, b.phase.Requests
	seen := overlapCounter{window: w}
	b.activity, b.steady = newActivity(w), &steadiness{window: w}
	err := b.scanAll(1, func(_ int, r *Request) {
		failed := 0
		if r.Failed {
			failed = 1
		}
		switch {
		case r.noStartTime:
			n.NoStartTime++
		case r.Start < w.Start:
			n.Settling++
			n.SettlingFailed += failed
		case r.Start >= w.End:
			n.After++
			n.AfterFailed += failed
		}
		seen.add(r)
		b.activity.add(r)
		b.steady.add(r)
	})
	b.overlaps = &seen
	return err
}

// useStatistics takes all figures from the statistics file, because there are no request rows.
func (b *phaseBuilder) useStatistics() {
	p := &b.phase
	for _, m := range Metrics {
		f := m.figure()
		if b.stats != nil {
			f.Value, f.Method = b.stats.metric(m), methodStated
			if reason := m.outOfRangeReason(f.Value); reason != "" {
				f.addReason(Reason{ID: OutOfRange, Text: reason, Class: Invalid})
			}
		}
		p.Figures = append(p.Figures, f)
	}
	switch {
	case b.stats == nil && p.Unreadable > 0:
		b.invalid(UnreadableRows, "none of the %s request rows could be read", Count(p.Unreadable))
		return
	case b.stats == nil:
		b.invalid(RowsMissing, "no request rows for this phase")
		return
	}
	b.warn(noRows)
	b.checkStatistics()
	b.checkLength()
	count := func(name string) int { return b.stats.count("requests", name) }
	p.Total = max(0, count("total"))
	n := Requests{Measured: count("measured"), Successful: count("successful"), Failed: count("failed")}
	if n.Measured < 0 && n.Successful >= 0 && n.Failed >= 0 {
		n.Measured = n.Successful + n.Failed
	}
	if n.Measured >= 0 && n.Successful >= 0 && n.Failed >= 0 {
		p.Requests = &n
	}
}

// compareFigure adds the value of the client to a computed figure if they differ.
func (b *phaseBuilder) compareFigure(f Figure) Figure {
	if b.stats == nil {
		return f
	}
	m := FindMetric(f.Key)
	switch stated := b.stats.metric(m); {
	case math.IsNaN(stated):
	case m.Formula.Kind == ClientReported:
		f.Value, f.Method = stated, methodStated
	case math.IsNaN(f.Value) || math.Abs(stated-f.Value) > 0.01*math.Abs(f.Value):
		f.Client = stated
	}
	return f
}

func (b *phaseBuilder) warn(format string, args ...any) {
	b.phase.Warnings = append(b.phase.Warnings, fmt.Sprintf(format, args...))
}

// invalid adds a reason why all figures of the phase are invalid.
func (b *phaseBuilder) invalid(id ReasonID, format string, args ...any) {
	b.add(Reason{ID: id, Text: fmt.Sprintf(format, args...), Class: Invalid})
}

func (b *phaseBuilder) add(r Reason) { b.phase.add(r) }

// add adds a reason that affects all figures of the phase.
func (p *Phase) add(r Reason) {
	p.Reasons = append(p.Reasons, r)
	if r.Class == Invalid {
		p.Invalid = append(p.Invalid, r.Text)
	} else {
		p.Warnings = append(p.Warnings, r.Text)
	}
}
