// Package results computes figures from the output of the benchmark client. Request
// rows, the phase manifest and statistics files become phases, each with its measuring
// window, counts, percentiles and the reasons why figures are invalid.
//
// [Aggregator] processes the output of running and of completed runs line by line. The
// Load functions and [WriteRollup] read and write the files of a run. The text of prompts
// and responses is not kept.
package results

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// Names of client files that are not derived from a stem.
const (
	RequestsFile = harness.RequestsFile // live rows of all phases and all client starts
	ManifestFile = harness.ManifestFile // one row per completed phase
)

// PlannedPhase describes a phase as planned. It is used to estimate the measuring window
// where the client's files do not contain it. Times are in seconds.
type PlannedPhase struct {
	Phase          int
	Concurrency    int
	Ramp           float64 // from the start of the first user to that of the last
	Settling       float64
	Timeout        float64 // of the phase, including the ramp; 0 if these times are unknown
	MinMeasurement float64 // minimum length of the measuring window; 0 if unknown
}

// Aggregator computes figures from the client's output, which is added line by line. The
// lines of a file must be added in order; files may be interleaved. An Aggregator is not
// safe for concurrent use.
type Aggregator struct {
	planned        map[int]PlannedPhase
	minMeasurement float64 // s
	startTime      float64 // Unix s; NaN if unknown
	running        bool    // the client has not ended
	restarts       restartDetector
	live           table
	analysis       map[string]*table // by file name
	manifest       []manifestRow
	lineCounts     map[string]int // by file name
	stats          []statistics
	rejected       map[string]*lineIssues // by file name
	outOfRange     map[string]*lineIssues // rows with a value out of range, by file name
	wrongType      map[string]*lineIssues // values or rows with a value of the wrong type, by file name
	errorKinds     []string               // of failures; index 0 is "unknown"
	storeErr       error                  // rows could not be written to or read from the spill file

	dedupedRows   int     // number of rows of all files at the last deduplication
	dedupedCutoff float64 // of the last deduplication
	spans         spans
	seriesByPhase map[int]*phaseSeries
}

// lineIssues counts lines of a file with a problem, and keeps the text of the first.
type lineIssues struct {
	count int
	first string
}

// NewAggregator returns an empty Aggregator.
func NewAggregator() *Aggregator {
	return &Aggregator{
		planned: map[int]PlannedPhase{}, startTime: math.NaN(), restarts: newRestartDetector(),
		analysis: map[string]*table{}, lineCounts: map[string]int{}, rejected: map[string]*lineIssues{},
		outOfRange: map[string]*lineIssues{}, wrongType: map[string]*lineIssues{}, dedupedCutoff: math.Inf(-1),
		errorKinds: []string{"unknown"}, seriesByPhase: map[int]*phaseSeries{},
	}
}

// Close releases the temporary files. The Aggregator must not be used afterwards.
func (agg *Aggregator) Close() {
	for _, t := range agg.tables() {
		t.close()
	}
}

// AddPlan adds phases of the plan.
func (agg *Aggregator) AddPlan(planned ...PlannedPhase) {
	for _, l := range planned {
		agg.planned[l.Phase] = l
	}
}

// SetMinMeasurement sets the minimum length of the measuring window of each phase, in seconds. 0 is
// unknown.
func (agg *Aggregator) SetMinMeasurement(seconds float64) { agg.minMeasurement = seconds }

// SetRunning sets whether the client is running. Phases that it has not completed are
// then provisional.
func (agg *Aggregator) SetRunning(running bool) { agg.running = running }

// SetStart sets the time of the last client start, as recorded in the event log. Rows of
// earlier starts are not counted. If it is not set, restarts are detected from the rows.
func (agg *Aggregator) SetStart(t time.Time) {
	if s := unix(t); math.IsNaN(agg.startTime) || s > agg.startTime {
		agg.startTime = s
	}
}

// AddRequestRow adds a line of requests.jsonl. A line that can't be parsed is an error,
// and is also reported in Run.Warnings.
func (agg *Aggregator) AddRequestRow(line []byte) error {
	return agg.addLine(&agg.live, RequestsFile, -1, line)
}

// AddAnalysisRow adds a line of the analysis file <stem>.jsonl. Its rows replace the live
// rows of the same requests. The phase is that of the stem.
func (agg *Aggregator) AddAnalysisRow(stem harness.Stem, line []byte) error {
	t, name := agg.analysisTable(stem)
	return agg.addLine(t, name, stem.Phase, line)
}

func (agg *Aggregator) analysisTable(stem harness.Stem) (*table, string) {
	name := stem.String() + ".jsonl"
	t := agg.analysis[name]
	if t == nil {
		t = &table{filePhase: &stem.Phase}
		agg.analysis[name] = t
	}
	return t, name
}

func (agg *Aggregator) addLine(t *table, name string, phase int, line []byte) error {
	agg.lineCounts[name]++
	if isBlank(line) {
		return nil
	}
	var p row
	if err := parseRow(line, phase, &p); err != nil {
		t.unreadable.add(t, 1)
		return agg.reject(name, err)
	}
	agg.addRow(t, name, &p)
	return agg.storeErr
}

// addRow adds a parsed row. The rows of a file must be added in order.
func (agg *Aggregator) addRow(t *table, name string, p *row) {
	if p.errorKind != "" {
		p.kind = agg.kindIndex(p.errorKind)
	}
	if p.outOfRange != "" {
		addIssue(agg.outOfRange, name, p.outOfRange)
	}
	if p.wrongType != "" {
		addIssue(agg.wrongType, name, p.wrongType)
	}
	agg.addRequest(t, p.key, &p.Request)
}

func (agg *Aggregator) addRequest(t *table, key uint64, r *Request) {
	t.setFallbackStart(r)
	if t == &agg.live {
		agg.restarts.add(r)
	}
	if err := t.add(key, r); err != nil && agg.storeErr == nil {
		agg.storeErr = err
	}
}

// kindIndex returns the index of an error kind. Kinds after the 255th are counted as unknown.
func (agg *Aggregator) kindIndex(name string) uint8 {
	i := slices.Index(agg.errorKinds, name)
	if i < 0 && len(agg.errorKinds) <= math.MaxUint8 {
		i = len(agg.errorKinds)
		agg.errorKinds = append(agg.errorKinds, strings.Clone(name))
	}
	return uint8(max(i, 0))
}

// AddStatistics adds the content of the statistics file <stem>.json. It replaces an
// earlier one of the same stem. If a phase has several stems, the last one added counts.
func (agg *Aggregator) AddStatistics(stem harness.Stem, data []byte) error {
	name := stem.String() + ".json"
	s, err := parseStatistics(stem, data)
	if err != nil {
		return agg.reject(name, err)
	}
	agg.DropFile(name)
	wrongType, outOfRange := s.unusable()
	for _, value := range wrongType {
		addIssue(agg.wrongType, name, value)
	}
	for _, value := range outOfRange {
		addIssue(agg.outOfRange, name, value)
	}
	agg.stats = append(agg.stats, s)
	return nil
}

// DropFile removes everything that was added from a file, given by its base name. Call
// it if the file was truncated or replaced, then add its lines again.
func (agg *Aggregator) DropFile(name string) {
	delete(agg.lineCounts, name)
	delete(agg.rejected, name)
	delete(agg.outOfRange, name)
	delete(agg.wrongType, name)
	if t := agg.analysis[name]; t != nil {
		t.close()
		delete(agg.analysis, name)
		agg.invalidate()
	}
	switch name {
	case RequestsFile:
		agg.live.close()
		agg.live, agg.restarts = table{}, newRestartDetector()
		agg.invalidate()
	case ManifestFile:
		agg.manifest = nil
	default:
		agg.stats = slices.DeleteFunc(agg.stats, func(s statistics) bool { return s.stem.String()+".json" == name })
	}
}

func (agg *Aggregator) reject(name string, err error) error {
	where := name
	if n := agg.lineCounts[name]; n > 0 {
		where = fmt.Sprintf("%s:%d", name, n)
	}
	err = fmt.Errorf("%s: %w", where, err)
	addIssue(agg.rejected, name, err.Error())
	return err
}

func addIssue(faults map[string]*lineIssues, name, text string) {
	if faults[name] == nil {
		faults[name] = &lineIssues{first: text}
	}
	faults[name].count++
}

// invalidate drops everything that was derived from removed rows.
func (agg *Aggregator) invalidate() {
	agg.dedupedRows, agg.spans, agg.seriesByPhase = -1, spans{}, map[int]*phaseSeries{}
	for _, t := range agg.tables() {
		t.superseded = nil
	}
}

// setFallbackStart gives a row without start_time the time of its end or of the previous
// row, so that it can be assigned to a client start.
func (t *table) setFallbackStart(r *Request) {
	switch {
	case !r.noStartTime:
		t.lastStart = r.Start
	case !math.IsNaN(r.End):
		r.Start = r.End
	default:
		r.Start = t.lastStart
	}
}

// cutoff returns the earliest start_time of rows of the last client start.
func (agg *Aggregator) cutoff() float64 {
	if !math.IsNaN(agg.startTime) {
		return agg.startTime
	}
	// The client empties the manifest when it starts, so its first phase is of the last start.
	cutoff := agg.inferredCutoff()
	var starts []float64
	for _, m := range agg.manifest {
		if !math.IsNaN(m.Start) {
			starts = append(starts, m.Start)
		}
	}
	if len(starts) > 0 {
		cutoff = max(cutoff, slices.Min(starts))
	}
	return cutoff
}

// inferredCutoff infers the cutoff from the rows and the measuring windows.
func (agg *Aggregator) inferredCutoff() float64 {
	for _, b := range slices.Backward(agg.restarts.starts) {
		// The client empties the manifest when it starts, so all windows in it are of the
		// last start. A restart detected inside a window was users repeating their trajectories.
		inside := func(m manifestRow) bool { return m.SettlingEnd < b && b < m.End }
		if !slices.ContainsFunc(agg.manifest, inside) {
			return b
		}
	}
	return math.Inf(-1)
}

// phaseRequests returns a scan over the counted rows of a phase: those of the last client
// start, each request once.
func (agg *Aggregator) phaseRequests(phase int) requestScan {
	return func(workers int, visit func(worker int, r *Request)) error {
		return agg.scan(workers, func(x *extent) bool { return x.containsPhase(phase) }, func(w int, r *Request) {
			if int(r.phase) == phase {
				visit(w, r)
			}
		})
	}
}

// scan visits the counted rows in the blocks for which wanted returns true.
func (agg *Aggregator) scan(workers int, wanted func(*extent) bool, visit func(worker int, r *Request)) error {
	cutoff := agg.cutoff()
	for _, t := range agg.tables() {
		err := t.scan(workers, 0, wanted, func(w int, r *Request) {
			if r.Start >= cutoff {
				visit(w, r)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
