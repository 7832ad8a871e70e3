// Package results turns what the benchmark client wrote into figures: request
// rows, the phase manifest and statistics files become phases with a window,
// counts, percentiles and the reasons why a figure must not be trusted.
//
// The same fold serves a run that is still writing and one that has ended. It
// knows nothing of jobs, screens or how a file is followed; only Load and the
// roll-up touch the disk. It keeps no text of prompts or responses.
package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"time"
)

// Names of the client's files that are no stem.
const (
	RequestsFile = "requests.jsonl"       // live rows, all phases, all client starts
	ManifestFile = "phase_manifest.jsonl" // a row per ended phase
)

// Level is what the plan says of one phase. It is the window's last resort,
// and says how long a measurement has to be. Times in seconds.
type Level struct {
	Phase          int
	Concurrency    int
	Ramp           float64 // from the first user's start to the last's
	Settling       float64
	Timeout        float64 // whole phase, ramp included
	MinMeasurement float64 // 0 when unknown
}

// Fold gathers the client's output line by line. It is not safe for concurrent
// use. Lines may come in any order of files, but in file order within one.
type Fold struct {
	seed     maphash.Seed
	levels   map[int]Level
	started  float64 // Unix s; NaN when no start is known
	starts   starts
	live     table
	analysis map[string]*table // by file name
	manifest []manifestRow
	lines    map[string]int // by file name
	stats    []statistics
	faults   map[string]*fault // by file name
}

const blockRows = 4096

// table holds the rows of one file.
type table struct {
	blocks     [][]request         // of blockRows each: a slice that grows would be copied over and over
	index      map[uint64]struct{} // keys
	duplicates int
	near       float64 // the last known time, for rows that have none
}

type manifestRow struct {
	Phase       *int     `json:"phase_idx"`
	SettlingEnd *float64 `json:"settling_end"`
	End         *float64 `json:"actual_phase_end"`
}

// fault counts the lines of a file that could not be read, and keeps the first.
type fault struct {
	n     int
	first error
}

// NewFold starts from nothing.
func NewFold() *Fold {
	return &Fold{
		seed: maphash.MakeSeed(), levels: map[int]Level{}, started: math.NaN(), starts: newStarts(),
		live: newTable(), analysis: map[string]*table{}, lines: map[string]int{}, faults: map[string]*fault{},
	}
}

func newTable() table { return table{index: map[uint64]struct{}{}} }

// Plan tells what was planned of the phases.
func (f *Fold) Plan(levels ...Level) {
	for _, l := range levels {
		f.levels[l.Phase] = l
	}
}

// Start tells when the client was started, from the job's events. Only rows of
// the latest start count. Without it the start is sought in the rows.
func (f *Fold) Start(t time.Time) {
	if s := unix(t); math.IsNaN(f.started) || s > f.started {
		f.started = s
	}
}

// Live takes a line of requests.jsonl. An error tells what is wrong with the
// line; it is counted and shown in Run.Warnings as well.
func (f *Fold) Live(line []byte) error { return f.addLive(f.parse(line)) }

// Analysis takes a line of the file <stem>.jsonl, whose rows win over the live
// ones. The phase is the stem's.
func (f *Fold) Analysis(stem Stem, line []byte) error { return f.addAnalysis(stem, f.parse(line)) }

// parsed is what a line holds.
type parsed struct {
	row
	err   error
	blank bool
}

// parse changes nothing, so that lines can be parsed side by side.
func (f *Fold) parse(line []byte) parsed {
	if len(bytes.TrimSpace(line)) == 0 {
		return parsed{blank: true}
	}
	r, err := parseRow(f.seed, line)
	return parsed{row: r, err: err}
}

func (f *Fold) addLive(p parsed) error {
	if err := f.check(RequestsFile, &p); err != nil || p.blank {
		return err
	}
	f.live.place(&p.row)
	f.starts.add(&p.row)
	f.live.add(&p.row, f.seed)
	return nil
}

func (f *Fold) addAnalysis(stem Stem, p parsed) error {
	name := stem.String() + ".jsonl"
	if err := f.check(name, &p); err != nil || p.blank {
		return err
	}
	t := f.analysis[name]
	if t == nil {
		n := newTable()
		t = &n
		f.analysis[name] = t
	}
	p.phase = int32(stem.Phase)
	t.place(&p.row)
	t.add(&p.row, f.seed)
	return nil
}

// check counts the line and what is wrong with it.
func (f *Fold) check(name string, p *parsed) error {
	f.lines[name]++
	if p.err != nil {
		return f.fault(name, p.err)
	}
	return nil
}

// Manifest takes a line of phase_manifest.jsonl.
func (f *Fold) Manifest(line []byte) error {
	if f.lines[ManifestFile]++; len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var m manifestRow
	err := json.Unmarshal(line, &m)
	if err == nil && (m.Phase == nil || m.SettlingEnd == nil || m.End == nil) {
		err = errors.New("want phase_idx, settling_end and actual_phase_end")
	}
	if err != nil {
		return f.fault(ManifestFile, err)
	}
	f.manifest = append(f.manifest, m)
	return nil
}

// Statistics takes the whole file <stem>.json. A later one replaces an earlier
// one of the same stem; of several stems of a phase the last one given counts.
func (f *Fold) Statistics(stem Stem, data []byte) error {
	name := stem.String() + ".json"
	s, err := parseStatistics(stem, data)
	if err != nil {
		return f.fault(name, err)
	}
	f.Forget(name)
	f.stats = append(f.stats, s)
	return nil
}

// Forget drops all that came from a file, by its base name: it was truncated or
// replaced, and its lines will be given again.
func (f *Fold) Forget(name string) {
	delete(f.lines, name)
	delete(f.faults, name)
	delete(f.analysis, name)
	switch name {
	case RequestsFile:
		f.live, f.starts = newTable(), newStarts()
	case ManifestFile:
		f.manifest = nil
	default:
		f.stats = slices.DeleteFunc(f.stats, func(s statistics) bool { return s.stem.String()+".json" == name })
	}
}

func (f *Fold) fault(name string, err error) error {
	where := name
	if n := f.lines[name]; n > 0 {
		where = fmt.Sprintf("%s:%d", name, n)
	}
	err = fmt.Errorf("%s: %w", where, err)
	if f.faults[name] == nil {
		f.faults[name] = &fault{first: err}
	}
	f.faults[name].n++
	return err
}

// place gives a row without start_time a time near its neighbours, so that it
// is told apart from rows of earlier client starts.
func (t *table) place(r *row) {
	switch {
	case r.placed:
		t.near = r.start
	case !math.IsNaN(r.end):
		r.start = r.end
	default:
		r.start = t.near
	}
}

func (t *table) add(r *row, seed maphash.Seed) {
	r.identify(seed)
	if r.key != 0 { // a row that names nothing can't be told from another
		before := len(t.index)
		if t.index[r.key] = struct{}{}; len(t.index) == before {
			t.duplicates++
			return
		}
	}
	last := len(t.blocks) - 1
	if last < 0 || len(t.blocks[last]) == blockRows {
		t.blocks = append(t.blocks, make([]request, 0, blockRows))
		last++
	}
	t.blocks[last] = append(t.blocks[last], r.request)
}

// rows yields the rows in file order.
func (t *table) rows(yield func(*request) bool) {
	for _, block := range t.blocks {
		for i := range block {
			if !yield(&block[i]) {
				return
			}
		}
	}
}

// begin is the start_time from which on rows are of the last client start.
func (f *Fold) begin() float64 {
	if !math.IsNaN(f.started) {
		return f.started
	}
	return f.starts.begin
}

// requests returns the rows of the last client start by phase, and how many
// live rows are older.
func (f *Fold) requests() (phases map[int][]*request, earlier int) {
	begin := f.begin()
	phases = map[int][]*request{}
	analysed := map[uint64]struct{}{}
	for _, name := range sortedKeys(f.analysis) {
		for r := range f.analysis[name].rows {
			if _, twice := analysed[r.key]; twice || r.start < begin {
				continue
			}
			if r.key != 0 {
				analysed[r.key] = struct{}{}
			}
			phases[int(r.phase)] = append(phases[int(r.phase)], r)
		}
	}
	for r := range f.live.rows {
		if r.start < begin {
			earlier++
			continue
		}
		if _, won := analysed[r.key]; !won {
			phases[int(r.phase)] = append(phases[int(r.phase)], r)
		}
	}
	return phases, earlier
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
