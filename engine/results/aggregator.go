// Package results turns what the benchmark client wrote into figures: request
// rows, the phase manifest and statistics files become phases with a window,
// counts, percentiles and the reasons why a figure must not be trusted.
//
// The same fold serves a run that is still writing and one that has ended. It
// knows nothing of jobs, screens or how a file is followed; the Load functions and the
// roll-up read and write files of a run. It keeps no text of prompts or responses.
package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Names of the client's files that are no stem.
const (
	RequestsFile = "requests.jsonl"       // live rows, all phases, all client starts
	ManifestFile = "phase_manifest.jsonl" // a row per ended phase
)

// PlannedPhase is what the plan says of one phase. It is the window's last resort,
// and says how long a measurement has to be. Times in seconds.
type PlannedPhase struct {
	Phase          int
	Concurrency    int
	Ramp           float64 // from the first user's start to the last's
	Settling       float64
	Timeout        float64 // whole phase, ramp included
	MinMeasurement float64 // 0 when unknown
}

// Aggregator gathers the client's output line by line. It is not safe for concurrent
// use. Lines may come in any order of files, but in file order within one.
type Aggregator struct {
	planned    map[int]PlannedPhase
	startTime  float64 // Unix s; NaN when no start is known
	restarts   restartDetector
	live       table
	analysis   map[string]*table // by file name
	manifest   []manifestRow
	lineCounts map[string]int // by file name
	stats      []statistics
	rejected   map[string]*lineIssues // by file name
	outOfRange map[string]*lineIssues // rows with values that can't be, likewise
	errorKinds []string               // of failures
	storeErr   error                  // rows could not be set aside or read back

	dedupedRows   int // rows of all files when repeated ones were sought last
	spans         spans
	seriesByPhase map[int]*phaseSeries // series by phase
}

type manifestRow struct {
	Phase       *int     `json:"phase_idx"`
	SettlingEnd *float64 `json:"settling_end"`
	End         *float64 `json:"actual_phase_end"`
	Start       *float64 `json:"phase_start"` // not every client tells it
	Reason      string   `json:"stop_reason"`
}

// fault counts the lines of a file that could not be read, and keeps the first.
type lineIssues struct {
	count int
	first string
}

// NewAggregator starts from nothing.
func NewAggregator() *Aggregator {
	return &Aggregator{
		planned: map[int]PlannedPhase{}, startTime: math.NaN(), restarts: newRestartDetector(), analysis: map[string]*table{},
		lineCounts: map[string]int{}, rejected: map[string]*lineIssues{}, outOfRange: map[string]*lineIssues{}, errorKinds: []string{"unknown"},
		seriesByPhase: map[int]*phaseSeries{},
	}
}

// Close gives back the disk space of an Aggregator that holds more rows than it keeps
// in memory. The Aggregator must not be used afterwards.
func (f *Aggregator) Close() {
	for _, t := range f.tables() {
		t.close()
	}
}

// AddPlan tells what was planned of the phases.
func (f *Aggregator) AddPlan(planned ...PlannedPhase) {
	for _, l := range planned {
		f.planned[l.Phase] = l
	}
}

// SetStart tells when the client was started, from the job's events. Only rows of
// the latest start count. Without it the start is sought in the rows.
func (f *Aggregator) SetStart(t time.Time) {
	if s := unix(t); math.IsNaN(f.startTime) || s > f.startTime {
		f.startTime = s
	}
}

// AddRequestRow takes a line of requests.jsonl. An error tells what is wrong with the
// line; it is counted and shown in Run.Warnings as well.
func (f *Aggregator) AddRequestRow(line []byte) error {
	return f.addLine(&f.live, RequestsFile, -1, line)
}

// AddAnalysisRow takes a line of the file <stem>.jsonl, whose rows win over the live
// ones. The phase is the stem's.
func (f *Aggregator) AddAnalysisRow(stem harness.Stem, line []byte) error {
	t, name := f.analysisTable(stem)
	return f.addLine(t, name, stem.Phase, line)
}

func (f *Aggregator) analysisTable(stem harness.Stem) (*table, string) {
	name := stem.String() + ".jsonl"
	t := f.analysis[name]
	if t == nil {
		t = new(table)
		f.analysis[name] = t
	}
	return t, name
}

func (f *Aggregator) addLine(t *table, name string, phase int, line []byte) error {
	f.lineCounts[name]++
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var p row
	if err := parseRow(line, phase, &p); err != nil {
		return f.reject(name, err)
	}
	f.addRow(t, name, &p)
	return f.storeErr
}

// take takes the rows of a file in its order.
func (f *Aggregator) addRow(t *table, name string, p *row) {
	if p.errorKind != "" {
		p.kind = f.kindIndex(p.errorKind)
	}
	if p.outOfRange != "" {
		addIssue(f.outOfRange, name, p.outOfRange)
	}
	f.addRequest(t, p.key, &p.Request)
}

func (f *Aggregator) addRequest(t *table, key uint64, r *Request) {
	t.setFallbackStart(r)
	if t == &f.live {
		f.restarts.add(r)
	}
	if err := t.add(key, r); err != nil && f.storeErr == nil {
		f.storeErr = err
	}
}

// kind is the number of a kind of failure. There are few; what comes after the 255th is unknown.
func (f *Aggregator) kindIndex(name string) uint8 {
	i := slices.Index(f.errorKinds, name)
	if i < 0 && len(f.errorKinds) <= math.MaxUint8 {
		i = len(f.errorKinds)
		f.errorKinds = append(f.errorKinds, strings.Clone(name))
	}
	return uint8(max(i, 0))
}

// AddManifestRow takes a line of phase_manifest.jsonl.
func (f *Aggregator) AddManifestRow(line []byte) error {
	if f.lineCounts[ManifestFile]++; len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var m manifestRow
	err := json.Unmarshal(line, &m)
	if err == nil && (m.Phase == nil || m.SettlingEnd == nil || m.End == nil) {
		err = problem.New(problem.RowsUnreadable, "phase_idx, settling_end or actual_phase_end is missing")
	}
	if err != nil {
		return f.reject(ManifestFile, err)
	}
	f.manifest = append(f.manifest, m)
	return nil
}

// AddStatistics takes the whole file <stem>.json. A later one replaces an earlier
// one of the same stem; of several stems of a phase the last one given counts.
func (f *Aggregator) AddStatistics(stem harness.Stem, data []byte) error {
	name := stem.String() + ".json"
	s, err := parseStatistics(stem, data)
	if err != nil {
		return f.reject(name, err)
	}
	f.DropFile(name)
	f.stats = append(f.stats, s)
	return nil
}

// DropFile drops all that came from a file, by its base name: it was truncated or
// replaced, and its lines will be given again.
func (f *Aggregator) DropFile(name string) {
	delete(f.lineCounts, name)
	delete(f.rejected, name)
	delete(f.outOfRange, name)
	if t := f.analysis[name]; t != nil {
		t.close()
		delete(f.analysis, name)
		f.invalidate()
	}
	switch name {
	case RequestsFile:
		f.live.close()
		f.live, f.restarts = table{}, newRestartDetector()
		f.invalidate()
	case ManifestFile:
		f.manifest = nil
	default:
		f.stats = slices.DeleteFunc(f.stats, func(s statistics) bool { return s.stem.String()+".json" == name })
	}
}

func (f *Aggregator) reject(name string, err error) error {
	where := name
	if n := f.lineCounts[name]; n > 0 {
		where = fmt.Sprintf("%s:%d", name, n)
	}
	err = fmt.Errorf("%s: %w", where, err)
	addIssue(f.rejected, name, err.Error())
	return err
}

func addIssue(faults map[string]*lineIssues, name, text string) {
	if faults[name] == nil {
		faults[name] = &lineIssues{first: text}
	}
	faults[name].count++
}

// renew drops what was derived of rows that are gone.
func (f *Aggregator) invalidate() {
	f.dedupedRows, f.spans, f.seriesByPhase = -1, spans{}, map[int]*phaseSeries{}
	for _, t := range f.tables() {
		t.superseded = nil
	}
}

// place gives a row without start_time a time near its neighbours, so that it
// is told apart from rows of earlier client starts.
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

// begin is the start_time from which on rows are of the last client start.
func (f *Aggregator) cutoff() float64 {
	if !math.IsNaN(f.startTime) {
		return f.startTime
	}
	// The manifest is emptied at a start, so that its first phase is of the last one.
	begin := f.inferredCutoff()
	var starts []float64
	for _, m := range f.manifest {
		if m.Start != nil {
			starts = append(starts, *m.Start)
		}
	}
	if len(starts) > 0 {
		begin = max(begin, slices.Min(starts))
	}
	return begin
}

// begun is begin, by what the rows and the windows show.
func (f *Aggregator) inferredCutoff() float64 {
	for _, b := range slices.Backward(f.restarts.starts) {
		// The client empties the manifest at its start, so that a window in it is of
		// the last one: what looked like a start inside was users starting over.
		inside := func(m manifestRow) bool { return *m.SettlingEnd < b && b < *m.End }
		if !slices.ContainsFunc(f.manifest, inside) {
			return b
		}
	}
	return math.Inf(-1)
}

// requests visits the rows of a phase that count: those of the last client
// start, each request once.
func (f *Aggregator) phaseRequests(phase int) requestScan {
	return func(workers int, visit func(worker int, r *Request)) error {
		return f.scan(workers, func(x *extent) bool { return x.containsPhase(phase) }, func(w int, r *Request) {
			if int(r.phase) == phase {
				visit(w, r)
			}
		})
	}
}

// scan visits the rows that count in wanted blocks.
func (f *Aggregator) scan(workers int, wanted func(*extent) bool, visit func(worker int, r *Request)) error {
	begin := f.cutoff()
	for _, t := range f.tables() {
		err := t.scan(workers, 0, wanted, func(w int, r *Request) {
			if r.Start >= begin {
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
