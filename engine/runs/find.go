package runs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Recorded returns the recorded runs without looking at their directories. It returns the
// records it could read together with an error for those it could not.
func (s *Store) Recorded() ([]rundir.Record, error) { return s.registry.List() }

// Find returns the run with the given path (run directory or log directory), exact id or
// unique prefix of <name>_<id>, in this order. The error for several matches lists them.
func (s *Store) Find(ctx context.Context, run string) (Ref, error) {
	if err := ctx.Err(); err != nil {
		return Ref{}, err
	}
	if run == "" {
		return Ref{}, problem.New(problem.RunNotFound,
			"find run: the name is empty; list recorded runs with agentperf-tui runs")
	}
	if info, err := os.Stat(run); err == nil {
		if !info.IsDir() {
			return Ref{}, problem.Errorf(problem.NotADirectory,
				"find run %q: is not a directory; give a run directory or its log directory", run)
		}
		return refFromPath(run)
	}
	records, listErr := s.registry.List()
	var hits []rundir.Record
	for _, r := range records {
		if r.ID == run || r.Name+"_"+r.ID == run {
			return refFromRecord(r)
		}
		if strings.HasPrefix(r.Name+"_"+r.ID, run) {
			hits = append(hits, r)
		}
	}
	switch len(hits) {
	case 1:
		return refFromRecord(hits[0])
	case 0:
		err := problem.Errorf(problem.RunNotFound, "find run %q: not a directory, and no match among %d recorded runs; "+
			"list them with agentperf-tui runs", run, len(records))
		return Ref{}, errors.Join(err, listErr)
	}
	names := make([]string, 0, len(hits))
	for _, h := range hits {
		names = append(names, h.Name+"_"+h.ID)
	}
	slices.Sort(names)
	return Ref{}, problem.Errorf(problem.RunAmbiguous, "find run %q: matches %d runs: %s; give more of the name",
		run, len(hits), strings.Join(names, ", "))
}

// refFromRecord returns the Ref of a recorded run. If its directory does not exist, the Ref
// has the record of the registry, which is enough to find its job.
func refFromRecord(r rundir.Record) (Ref, error) {
	ref, err := refFromPath(r.Dir)
	if err == nil && ref.Record.ID == "" {
		ref = Ref{Dir: r.Dir, Logs: rundir.Logs(r.Dir), Record: r}
	}
	return ref, err
}

// refFromPath returns the Ref of a run by its run directory, its log directory or the client's
// output directory.
func refFromPath(dir string) (Ref, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Ref{}, err
	}
	if filepath.Base(dir) == "agentperf" { // the client's output directory
		dir = filepath.Dir(dir)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} { // dir may be the log directory
		rec, err := rundir.ReadRecord(d)
		if err == nil {
			return Ref{Dir: d, Logs: rundir.Logs(d), Record: rec}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Ref{}, err
		}
	}
	return Ref{Dir: dir, Logs: dir}.WithCurrentLogs(), nil
}

// WithCurrentLogs returns the run with its current log directory. That of an external run is not known before
// the client has made its output directory.
func (r Ref) WithCurrentLogs() Ref {
	if r.Record.ID != "" {
		return r
	}
	if _, err := os.Stat(filepath.Join(r.Dir, rundir.LogsDir, "agentperf")); err == nil {
		r.Logs = rundir.Logs(r.Dir)
	}
	return r
}

// maxNamedErrors is the maximum number of unreadable directories that an error lists. The
// error only counts the others.
const maxNamedErrors = 3

// searchDepth limits the search for runs below a root, in directory levels.
const searchDepth = 6

// findRuns returns the run directories below a root. It does not search inside them.
func findRuns(ctx context.Context, root string) ([]string, error) {
	found, bad, err := harness.Find(ctx, root, searchDepth)
	if n := len(bad); n > maxNamedErrors {
		bad = append(bad[:maxNamedErrors], problem.Errorf(problem.SystemError,
			"find runs below %s: %d more directories can't be read", root, n-maxNamedErrors))
	}
	out := make([]string, 0, len(found))
	for _, f := range found {
		out = append(out, f.Dir)
	}
	return out, errors.Join(append(bad, err)...)
}
