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
	clientDir   = "agentperf"            // in the log dir
	foreignFile = "profile_export.jsonl" // of another benchmark client
	maxLine     = 64 << 20               // bytes; an analysis row can be long, not that long
)

// RunContext is what the job's own files tell beyond the client's output. The zero
// value is a run of which nothing else is known.
type RunContext struct {
	Start   time.Time      // of the last client start; zero when unknown
	Planned []PlannedPhase // by the plan
	// Partial is why the run's outputs are not all that it was to give; empty: they
	// are, or nobody can say.
	Partial string
	// Identity is what the run ran with, a document of its own; nil: not known.
	Identity json.RawMessage
}

// Load reads the output of a run from dir: a log dir, the client's folder in it, a run dir with
// logs in it, or a harness c<N> folder. Estimated windows end with the last request. An error is a
// folder without any output of the client, or a file that could not be read; what is wrong inside
// the files is told by the Run.
func Load(ctx context.Context, dir string, rc RunContext) (Run, error) {
	l, err := load(ctx, dir, rc)
	if err != nil {
		return Run{}, err
	}
	defer l.agg.Close()
	return l.run(), nil
}

// loaded is a fold and where it came from.
type loader struct {
	agg     *Aggregator
	logDir  string
	context RunContext
	skipped []string // JSON files that are no statistics
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
	l := &loader{agg: NewAggregator(), logDir: logDir, context: rc}
	l.agg.AddPlan(rc.Planned...)
	if !rc.Start.IsZero() {
		l.agg.SetStart(rc.Start)
	}
	files, err := outputFiles(outDir)
	if err != nil {
		return nil, err
	}
	found := 0
	for _, info := range files {
		ours, err := l.loadFile(ctx, outDir, info.Name())
		if err != nil {
			return nil, err
		}
		if ours {
			found++
		}
	}
	foreign := fileExists(filepath.Join(outDir, foreignFile)) || fileExists(filepath.Join(logDir, foreignFile))
	switch {
	case found == 0 && foreign:
		return nil, problem.Errorf(problem.ResultsNotFound, "read results: %s: found %s of another client, but no output of "+
			"agentperf-client; use the tools of that client", outDir, foreignFile)
	case found == 0:
		return nil, problem.Errorf(problem.ResultsNotFound, "read results: %s: found no %s, %s or statistics file; "+
			"give the log directory of a run whose client has started", outDir, RequestsFile, ManifestFile)
	case foreign:
		l.notes = append(l.notes, foreignFile+": another client's output, left out")
	}
	return l, nil
}

// locate finds the log dir and the client's folder.
func findOutput(dir string) (logDir, outDir string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", "", fmt.Errorf("read results: %w", err)
	}
	if !info.IsDir() {
		return "", "", problem.Errorf(problem.NotADirectory,
			"read results: %s: is not a directory; give the log directory that contains %s/", dir, clientDir)
	}
	for _, log := range []string{dir, filepath.Join(dir, "logs")} {
		if out := filepath.Join(log, clientDir); isDir(out) {
			return log, out, nil
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", "", fmt.Errorf("read results: %s: %w", dir, err)
	}
	if filepath.Base(abs) == clientDir {
		return filepath.Dir(abs), abs, nil
	}
	return dir, dir, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// outputFiles lists the regular files of a folder, the oldest first, so that of
// several statistics files of one phase the newest counts.
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

// file feeds one file to the fold; it reports whether it is the client's.
func (l *loader) loadFile(ctx context.Context, dir, name string) (bool, error) {
	f := l.agg
	path := filepath.Join(dir, name)
	switch name {
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
		l.skipped = append(l.skipped, fmt.Sprintf("%q: the name is not that of a statistics file", name))
	}
	return false, nil
}

// manifest reads a small file of a line a phase.
func (l *loader) loadManifest(path string) error {
	data, err := l.readSmall(path)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(data) {
		line, ended := bytes.CutSuffix(line, []byte("\n"))
		if !ended && !json.Valid(line) {
			l.notes = append(l.notes, ManifestFile+": the last line is half written, not counted")
			continue
		}
		_ = l.agg.AddManifestRow(line) // counted by the fold, and told with the run
	}
	return nil
}

// small is ReadFile; of a file that is too large it makes a note, and gives nil.
func (l *loader) readSmall(path string) ([]byte, error) {
	data, err := ReadFile(path)
	if errors.Is(err, smallfile.ErrTooLarge) {
		l.notes = append(l.notes, err.Error())
		return nil, nil
	}
	return data, err
}

// ReadFile reads one of the small files of a phase's end: its statistics or the
// manifest. One that is no regular file, or larger than 16 MiB ([smallfile.ErrTooLarge]), is an
// error: it is not the client's.
func ReadFile(path string) ([]byte, error) {
	data, err := smallfile.Read(path, maxStatistics>>20)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	return data, nil
}

// lastTime is the latest time that any row tells.
func (f *Aggregator) lastTime() time.Time {
	last := 0.0
	for _, t := range f.tables() {
		last = max(last, t.latest)
	}
	return fromUnix(last)
}

// fromUnix is a time for people; what can't be one is the zero time.
func fromUnix(s float64) time.Time {
	if !(s > 0 && s < 1e10) {
		return time.Time{}
	}
	whole, fraction := math.Modf(s)
	return time.Unix(int64(whole), int64(fraction*1e9))
}

// LoadSeries is Load, and the phases over time in buckets of so many seconds; 0
// chooses them, see [Aggregator.Series].
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
