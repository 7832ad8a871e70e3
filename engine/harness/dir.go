package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Open returns the run in a directory, without reading its artifacts. Any directory can be opened;
// see [Run.IsRun].
func Open(dir string) (*Run, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		what := "no such directory"
		if _, lerr := os.Lstat(abs); lerr == nil {
			what = "broken symbolic link"
		}
		return nil, problem.Errorf(problem.FileNotFound, "%s; give a run directory (c<N>)", what)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, problem.New(problem.NotADirectory, "is a file; give the run directory (c<N>) that contains it")
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return nil, fmt.Errorf("not readable; check its permissions: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		real = abs
	}
	r := &Run{Dir: abs, Real: real, Params: map[string]Value{}, Engines: map[schema.Role]*Config{}}
	for _, e := range entries {
		r.names = append(r.names, e.Name())
	}
	return r, nil
}

// IsRun reports whether the directory contains an artifact of the harness.
func (r *Run) IsRun() bool {
	return slices.ContainsFunc(ArtifactNames, func(name string) bool { return r.has(name) || r.has(name+".gz") })
}

func (r *Run) has(name string) bool {
	_, found := slices.BinarySearch(r.names, name)
	return found
}

// ListDir returns at most limit names of a directory, sorted.
func ListDir(dir string, limit int) ([]string, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, problem.New(problem.NotADirectory, "is not a directory")
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}
