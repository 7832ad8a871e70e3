package results

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// Run is what the output of one run of the client contains.
type Run struct {
	LogDir           string   `json:"log_dir,omitempty"` // where Load found it
	Partial          string   `json:"partial,omitempty"` // why the results are incomplete; empty if complete or unknown
	Phases           []Phase  `json:"phases"`            // by index
	EarlierStartRows int      `json:"earlier_start_rows"`
	Errors           []string `json:"errors"`   // the output contradicts itself
	Warnings         []string `json:"warnings"` // lines that could not be read, files that were left out
}

// Phase is one concurrency level.
type Phase struct {
	Index       int             `json:"phase_idx"`
	Concurrency int             `json:"concurrency"`              // users; 0 when unknown
	Stem        string          `json:"stem,omitempty"`           // of its statistics file
	Partial     string          `json:"partial,omitempty"`        // why it is a part of a phase; empty: nothing says so
	Window      *Window         `json:"window"`                   // nil when it can't be told, or there was none
	Total       int             `json:"total_requests"`           // of this client start
	Requests    *Requests       `json:"requests"`                 // nil without a window
	Errors      map[string]int  `json:"errors_by_kind,omitempty"` // measured failures; "unknown" where the row has no kind
	Figures     Figures         `json:"figures"`
	Invalid     []string        `json:"invalid"`  // why no figure of this phase must be trusted
	Warnings    []string        `json:"warnings"` // what to know beside the figures
	Statistics  json.RawMessage `json:"-"`        // the client's statistics, as it wrote them; nil without
}

// Window is the measurement window. A request is measured when it starts at
// Start or later and before End.
type Window struct {
	Start, End float64 // Unix s; NaN where only the length is stated
	Seconds    float64
	Source     string // "manifest", "statistics" or "estimated"
}

// measures reports whether the request started in the window.
func (w *Window) measures(r *Request) bool {
	return w != nil && !r.noStartTime && !(r.Start < w.Start) && !(r.Start >= w.End)
}

// Sources of a Window, best first.
const (
	FromManifest   = "manifest"
	FromStatistics = "statistics"
	Estimated      = "estimated"
)

// windowJSON is a Window as it is written.
type windowJSON struct {
	Start   Number `json:"start"`
	End     Number `json:"end"`
	Seconds Number `json:"seconds"`
	Source  string `json:"source"`
}

// MarshalJSON writes null for what is not known.
func (w Window) MarshalJSON() ([]byte, error) {
	return json.Marshal(windowJSON{Number(w.Start), Number(w.End), Number(w.Seconds), w.Source})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (w *Window) UnmarshalJSON(data []byte) error {
	v := windowJSON{Start: unknown, End: unknown, Seconds: unknown}
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf("window: %w", err)
	}
	*w = Window{float64(v.Start), float64(v.End), float64(v.Seconds), v.Source}
	return nil
}

// Requests tells where the rows of a phase belong. Settling and After include their failed ones.
type Requests struct {
	Measured       int `json:"measured"`
	Successful     int `json:"successful"` // of the measured
	Failed         int `json:"failed"`     // of the measured
	Settling       int `json:"settling"`   // started before the window
	SettlingFailed int `json:"settling_failed"`
	After          int `json:"after"` // started after the window
	AfterFailed    int `json:"after_failed"`
	NoStartTime    int `json:"unplaced"` // have no start_time
}

// Snapshot is the state at the time now, which bounds only estimated windows; a zero
// now is the time of the last request.
func (f *Aggregator) Snapshot(now time.Time) Run {
	if now.IsZero() {
		now = f.lastTime()
	}
	run := Run{Phases: []Phase{}, Errors: []string{}, Warnings: f.issueTexts()}
	if err := f.updateSpans(); err != nil && f.storeErr == nil {
		f.storeErr = err
	}
	if f.storeErr != nil {
		run.Errors = append(run.Errors, f.storeErr.Error())
		return run
	}
	run.EarlierStartRows = f.spans.earlierRows
	if n := f.live.duplicates.count(); n > 0 {
		run.Warnings = append(run.Warnings,
			fmt.Sprintf("%s: %d row(s) of a request that was there before, not counted", RequestsFile, n))
	}
	if n := run.EarlierStartRows; n > 0 {
		run.Warnings = append(run.Warnings, fmt.Sprintf("earlier start: %d rows, not counted", n))
	}
	for _, index := range f.phaseIndices() {
		b := &phaseBuilder{agg: f, span: f.spans.phases[index], now: unix(now)}
		if b.span == nil {
			b.span = newSpan()
		}
		b.phase = Phase{Index: index, Total: b.span.total, Invalid: []string{}, Warnings: []string{}}
		b.manifest = slices.DeleteFunc(slices.Clone(f.manifest), func(m manifestRow) bool {
			return *m.Phase != index || *m.End < f.cutoff() // left by an earlier start that the client has yet to wipe
		})
		b.chooseStatistics(run.EarlierStartRows > 0)
		if b.span.total == 0 && len(b.manifest) == 0 && b.stats == nil {
			run.Warnings = append(run.Warnings, b.phase.Warnings...)
			continue
		}
		if err := b.build(); err != nil {
			b.errors = append(b.errors, err.Error())
		}
		if w := b.phase.Window; w != nil && w.End < w.Start {
			b.phase.Window = nil // it ended while it settled
		}
		run.Phases = append(run.Phases, b.phase)
		run.Errors = append(run.Errors, b.errors...)
	}
	return run
}

// phases are the indices of all phases that anything is known of.
func (f *Aggregator) phaseIndices() []int {
	var all []int
	for index := range f.spans.phases {
		all = append(all, index)
	}
	for _, m := range f.manifest {
		all = append(all, *m.Phase)
	}
	for _, s := range f.stats {
		all = append(all, s.stem.Phase)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (f *Aggregator) issueTexts() []string {
	texts := []string{}
	for _, name := range sortedKeys(f.rejected) {
		text := fmt.Sprintf("not counted: %s", f.rejected[name].first)
		if n := f.rejected[name].count; n > 1 {
			text += fmt.Sprintf(" (the first of %d such lines)", n)
		}
		texts = append(texts, text)
	}
	for _, name := range sortedKeys(f.outOfRange) {
		texts = append(texts, fmt.Sprintf("%s: %s row(s) with a value that can't be, which is taken as unknown: "+
			"the first is %s", name, Count(f.outOfRange[name].count), f.outOfRange[name].first))
	}
	return texts
}

// builder makes one Phase.
type phaseBuilder struct {
	agg      *Aggregator
	span     *span
	now      float64
	manifest []manifestRow
	stats    *statistics
	phase    Phase
	overlaps *overlapCounter
	errors   []string
}

// statistics picks the client's statistics of this phase. With rows of an earlier client start in
// the folder, a file that does not count the rows of this one is a left-over of that.
func (b *phaseBuilder) chooseStatistics(restarted bool) {
	p := &b.phase
	for i := len(b.agg.stats) - 1; i >= 0; i-- {
		s := &b.agg.stats[i]
		if s.stem.Phase != p.Index {
			continue
		}
		total := s.count("requests", "total")
		switch {
		case b.stats != nil:
			b.warn("%s.json is of this phase too; it was left out for a newer one", s.stem)
		case b.span.concurrency >= 0 && int(b.span.concurrency) != s.stem.Concurrency:
			b.warn("%s.json is of another concurrency than the request rows; left out", s.stem)
		case restarted && (b.span.total == 0 || math.Abs(float64(total-b.span.total)) > 0.01*float64(b.span.total)):
			b.warn("%s.json counts %d requests, the rows of this client start are %d: it is of an earlier start; left out",
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
	b.readStopReason()
	b.chooseWindow()
	if b.span.total == 0 {
		b.useStatistics()
		return nil
	}
	measured := requestScan(func(int, func(int, *Request)) error { return nil })
	seconds := math.NaN()
	if w := p.Window; w != nil {
		seconds = w.Seconds
		p.Requests = &Requests{}
		measured = b.scanMeasured
		if err := b.countOutsideWindow(); err != nil {
			return err
		}
	}
	s, err := computeSums(measured, b.span.total, seconds, "window")
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

// measured visits the requests that started in the window.
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

// stop tells whether the client played all of the phase, from its word for why
// it stopped; not every client has one.
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
		b.warn("the client stopped for a reason that is not known here: %.40q", reason)
	}
}

// window takes the best source there is.
func (b *phaseBuilder) chooseWindow() {
	p := &b.phase
	if n := len(b.manifest); n > 0 {
		m := b.manifest[n-1]
		p.Window = newWindow(*m.SettlingEnd, *m.End, FromManifest)
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
	if !ok || math.IsNaN(first) {
		return
	}
	end := min(b.now, first+planned.Timeout)
	for index := range b.agg.spans.phases {
		if index > p.Index {
			end = last // the next phase has begun
		}
	}
	p.Window = newWindow(first+planned.Ramp+planned.Settling, end, Estimated)
}

func newWindow(start, end float64, source string) *Window {
	return &Window{Start: start, End: end, Seconds: max(0, end-start), Source: source}
}

// count counts the requests outside the window, and those that overlap.
func (b *phaseBuilder) countOutsideWindow() error {
	w, n := b.phase.Window, b.phase.Requests
	seen := overlapCounter{window: w}
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
	})
	b.overlaps = &seen
	return err
}

// stated takes every figure from the client's statistics, where there is no row to compute it from.
func (b *phaseBuilder) useStatistics() {
	p := &b.phase
	for _, m := range Metrics {
		f := m.figure()
		if b.stats != nil {
			f.Value, f.Method = b.stats.metric(m), methodStated
		}
		p.Figures = append(p.Figures, f)
	}
	if b.stats == nil {
		b.invalid("there is no request row of this phase")
		return
	}
	b.warn("no request rows: all figures are %s", methodStated)
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

// compare sets what the client states beside what was computed.
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

func (b *phaseBuilder) compareCounts() {
	r := b.phase.Requests
	if b.stats == nil || r == nil {
		return
	}
	rows := []int{b.phase.Total, r.Measured, r.Successful, r.Failed}
	for i, name := range []string{"total", "measured", "successful", "failed"} {
		if n := b.stats.count("requests", name); n >= 0 && n != rows[i] {
			b.warn("%s requests: the client counts %d, the rows give %d", name, n, rows[i])
		}
	}
}

func (b *phaseBuilder) warn(format string, args ...any) {
	b.phase.Warnings = append(b.phase.Warnings, fmt.Sprintf(format, args...))
}

func (b *phaseBuilder) invalid(format string, args ...any) {
	b.phase.Invalid = append(b.phase.Invalid, fmt.Sprintf(format, args...))
}
