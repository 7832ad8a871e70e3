package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

const (
	clientDir   = "agentperf"            // in the log directory
	foreignFile = "profile_export.jsonl" // of another benchmark client
	maxLine     = 64 << 20               // bytes, far above the size of an analysis row
)

// RunContext holds facts about a run that are not in the client's output. The zero value
// means that nothing else is known.
type RunContext struct {
	Start   time.Time      // of the last client start; zero if unknown
	Planned []PlannedPhase // phases of the plan
	// MinMeasurement is the minimum length of the measuring window of each phase, in seconds; 0 if
	// unknown.
	MinMeasurement float64
	// Partial says why the output of the run is incomplete; empty if it is complete or if that is unknown.
	Partial string
	Running bool // the run has not ended
	// Identity is the content of identity.json; nil if unknown.
	Identity json.RawMessage
}

// Load reads the output of a run from dir: a log directory, the client's directory in it, a run
// directory with logs in it, or a harness run directory c<N>. Estimated windows end with the last
// request. It is an error if dir contains no output of the client or if a file can't be read.
// Errors in the content of files are reported in the Run.
func Load(ctx context.Context, dir string, rc RunContext) (Run, error) {
	l, err := load(ctx, dir, rc)
	if err != nil {
		return Run{}, err
	}
	defer l.agg.Close()
	return l.run(), nil
}

// loader reads the output of a run into an Aggregator.
type loader struct {
	agg     *Aggregator
	logDir  string
	context RunContext
	skipped []string // JSON files that are not statistics files, and why
	notes   []string
}

func (l *loader) run() Run {
	run := l.agg.Snapshot(time.Time{})
	run.LogDir, run.Partial = l.logDir, l.context.Partial
	run.Warnings = append(run.Warnings, l.notes...)
	for _, p := range run.Phases {
		if run.Partial == "" && p.Partial != "" {
			run.Partial = fmt.Sprintf("%s in phase %d", p.Partial, p.Index)
		}
	}
	return run
}

func load(ctx context.Context, dir string, rc RunContext) (*loader, error) {
	logDir, outDir, err := findOutput(dir)
	if err != nil {
		return nil, err
	}
	outDir, others := lastStart(outDir)
	l := &loader{agg: NewAggregator(), logDir: logDir, context: rc, notes: startNotes(logDir, outDir, others)}
	l.agg.AddPlan(rc.Planned...)
	l.agg.SetMinMeasurement(rc.MinMeasurement)
	l.agg.SetRunning(rc.Running)
	if !rc.Start.IsZero() {
		l.agg.SetStart(rc.Start)
	}
	files, err := outputFiles(outDir)
	if err != nil {
		return nil, err
	}
	found := 0
	hasRequests := slices.ContainsFunc(files, func(f fs.FileInfo) bool { return f.Name() == RequestsFile })
	for _, info := range files {
		if info.Name() == PredecessorRequestsFile && hasRequests {
			l.notes = append(l.notes, fmt.Sprintf("%s ignored: there is %s too", PredecessorRequestsFile, RequestsFile))
			continue
		}
		ours, err := l.loadFile(ctx, outDir, info.Name())
		if err != nil {
			return nil, err
		}
		if ours {
			found++
		}
	}
	foreign := fileExists(filepath.Join(outDir, foreignFile)) || fileExists(filepath.Join(logDir, foreignFile))
	compressed := l.noteCompressed(files)
	switch {
	case found == 0 && compressed != "":
		return nil, problem.Errorf(problem.ResultsNotFound,
			"read results: %s: found only compressed output: %s; decompress it", outDir, compressed)
	case found == 0 && foreign:
		return nil, problem.Errorf(problem.ResultsNotFound, "read results: %s: found %s of another client, but no output of "+
			"agentperf-client; use the tools of that client", outDir, foreignFile)
	case found == 0:
		return nil, problem.Errorf(problem.ResultsNotFound, "read results: %s: found no %s, %s or statistics file; "+
			"give the log directory of a run whose client has started", outDir, RequestsFile, ManifestFile)
	case foreign:
		l.notes = append(l.notes, foreignFile+" ignored: output of another client")
	}
	return l, nil
}

// noteCompressed adds a note for each compressed file of the client, and returns the name of the last.
func (l *loader) noteCompressed(files []fs.FileInfo) (last string) {
	for _, f := range files {
		extension := filepath.Ext(f.Name())
		if !slices.Contains([]string{".gz", ".zst", ".xz", ".bz2"}, extension) {
			continue
		}
		name := strings.TrimSuffix(f.Name(), extension)
		_, isStem := harness.ParseStem(strings.TrimSuffix(name, filepath.Ext(name)))
		if isStem || slices.Contains([]string{RequestsFile, PredecessorRequestsFile, ManifestFile}, name) {
			last = f.Name()
			l.notes = append(l.notes, last+" not read: it is compressed; decompress it")
		}
	}
	return last
}

// outputFiles returns the regular files of a directory, oldest first, so that the newest of
// several statistics files of a phase is used.
func outputFiles(dir string) ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortStableFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	return files, nil
}

// loadFile adds a file to the aggregator. It reports whether the file is output of the client.
func (l *loader) loadFile(ctx context.Context, dir, name string) (bool, error) {
	f := l.agg
	path := filepath.Join(dir, name)
	switch name {
	case PredecessorRequestsFile:
		l.notes = append(l.notes, PredecessorRequestsFile+" read: the request rows of the client's predecessor")
		return true, l.loadRows(ctx, path, &f.live, -1)
	case RequestsFile:
		return true, l.loadRows(ctx, path, &f.live, -1)
	case ManifestFile:
		return true, l.loadManifest(path)
	}
	ext := filepath.Ext(name)
	stem, ok := harness.ParseStem(strings.TrimSuffix(name, ext))
	switch {
	case ok && ext == ".jsonl":
		t, _ := f.analysisTable(stem)
		return true, l.loadRows(ctx, path, t, stem.Phase)
	case ok && ext == ".json":
		data, err := l.readSmall(path)
		if data == nil {
			return true, err
		}
		if err := f.AddStatistics(stem, data); err != nil {
			l.skipped = append(l.skipped, err.Error())
		}
		return true, nil
	case ext == ".json":
		l.skipped = append(l.skipped, fmt.Sprintf("%q: is not named like a statistics file", name))
	}
	return false, nil
}

// loadManifest reads the phase manifest, which has one line per phase.
func (l *loader) loadManifest(path string) error {
	data, err := l.readSmall(path)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(data) {
		line, ended := bytes.CutSuffix(line, []byte("\n"))
		if !ended && checkObject(line) != nil {
			l.notes = append(l.notes, ManifestFile+": incomplete last line not counted")
			continue
		}
		_ = l.agg.AddManifestRow(line) // reported in Run.Warnings
	}
	return nil
}

// readSmall is like ReadFile, but for a file that is too large it adds a note and returns nil.
func (l *loader) readSmall(path string) ([]byte, error) {
	data, err := ReadFile(path)
	if errors.Is(err, smallfile.ErrTooLarge) {
		l.notes = append(l.notes, err.Error())
		return nil, nil
	}
	return data, err
}

// ReadFile reads a statistics file or the phase manifest. It is an error if the file is not
// a regular file or larger than 16 MiB ([smallfile.ErrTooLarge]).
func ReadFile(path string) ([]byte, error) {
	data, err := smallfile.Read(path, maxStatistics>>20)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	return data, nil
}

// lastTime returns the latest start or end of a row.
func (agg *Aggregator) lastTime() time.Time {
	last := 0.0
	for _, t := range agg.tables() {
		last = max(last, t.latest)
	}
	return fromUnix(last)
}

// fromUnix converts Unix seconds to a time. It returns the zero time if they are out of range.
func fromUnix(s float64) time.Time {
	if !(s > 0 && s < 1e10) {
		return time.Time{}
	}
	whole, fraction := math.Modf(s)
	return time.Unix(int64(whole), int64(fraction*1e9))
}

// LoadSeries is like Load and also returns the time series of the phases. seconds is the length of
// their buckets, see [Aggregator.Series].
func LoadSeries(ctx context.Context, dir string, rc RunContext, seconds float64) (Run, []Series, error) {
	l, err := load(ctx, dir, rc)
	if err != nil {
		return Run{}, nil, err
	}
	defer l.agg.Close()
	run := l.run()
	all := make([]Series, 0, len(run.Phases))
	for _, p := range run.Phases {
		s, err := l.agg.Series(p.Index, seconds)
		if err != nil {
			return run, nil, err
		}
		all = append(all, s)
	}
	return run, all, nil
}
