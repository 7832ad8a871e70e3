package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	r := &Run{Dir: abs, Params: map[string]Value{}, Engines: map[schema.Role]*Config{}}
	for _, e := range entries {
		r.names = append(r.names, e.Name())
	}
	return r, nil
}

// IsRun reports whether the directory contains an artifact of the harness.
func (r *Run) IsRun() bool { return slices.ContainsFunc(ArtifactNames, r.has) }

func (r *Run) has(name string) bool {
	_, found := slices.BinarySearch(r.names, name)
	return found
}

// IsRunName reports whether a directory name has the form c<N>.
func IsRunName(name string) bool {
	digits, ok := strings.CutPrefix(name, "c")
	n, err := strconv.Atoi(digits)
	return ok && err == nil && n > 0 && digits[0] != '+'
}

// FindRuns returns the c<N> directories below root that contain a harness artifact, at most depth
// levels down, sorted by path. An unreadable c<N> directory is included, so that porting it
// reports the reason. Other unreadable directories are skipped. Symbolic links below root are not followed.
func FindRuns(ctx context.Context, root string, depth int) ([]string, error) {
	var runs []string
	base := strings.Count(filepath.Clean(root), string(filepath.Separator))
	start := root
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		start += string(filepath.Separator) // root itself may be a link
	}
	err := filepath.WalkDir(start, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !d.IsDir() {
			if path == start && err != nil {
				return fmt.Errorf("search for run directories: %w", err)
			}
			return nil
		}
		if IsRunName(d.Name()) && slices.ContainsFunc(ArtifactNames, func(n string) bool {
			_, err := os.Lstat(filepath.Join(path, n))
			return !errors.Is(err, fs.ErrNotExist)
		}) {
			if path == start {
				path = root
			}
			runs = append(runs, path)
			return fs.SkipDir
		}
		if filepath.Clean(path) != "." && strings.Count(filepath.Clean(path), string(filepath.Separator))-base >= depth {
			return fs.SkipDir
		}
		return nil
	})
	return runs, err
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
