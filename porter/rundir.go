package porter

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
)

// ParentError says that the directory holds run directories, but is none.
type ParentError struct {
	Dir  string
	Runs []string // paths of the c<N> directories below it
}

func (e *ParentError) Error() string {
	return fmt.Sprintf("port %s: this is the parent of %d run directories; name one of them: %s", e.Dir, len(e.Runs), strings.Join(e.Runs, ", "))
}

// Names of the artifacts of a run.
const (
	nameParams  = "job_params.env"
	nameCTX     = "ctx_config.yaml"
	nameGEN     = "gen_config.yaml"
	nameCommand = "client_cmds_base.sh"
	nameClient  = "client.log"
	nameJob     = "job.log"
	nameResults = "agentperf"
	nameConfig  = "benchmark_config.yaml"
)

var artifactNames = []string{nameParams, nameCTX, nameGEN, nameCommand, nameClient, nameJob, nameResults, nameConfig}

// runDir is an opened run directory.
type runDir struct {
	path  string   // absolute
	names []string // entries, sorted
}

// openRun checks that dir is a run directory.
func openRun(ctx context.Context, dir string) (runDir, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return runDir{}, fmt.Errorf("port %s: %w", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, lerr := os.Lstat(abs); lerr == nil {
			return runDir{}, fmt.Errorf("port %s: the link leads nowhere; give a run directory (c<N>): %w", dir, err)
		}
		return runDir{}, fmt.Errorf("port %s: no such directory; give a run directory (c<N>): %w", dir, err)
	case err != nil:
		return runDir{}, fmt.Errorf("port %s: %w", dir, err)
	case !info.IsDir():
		return runDir{}, fmt.Errorf("port %s: this is a file; give the run directory (c<N>) that holds it", dir)
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return runDir{}, fmt.Errorf("port %s: can't list it; check its permissions: %w", dir, err)
	}
	rd := runDir{path: abs}
	for _, e := range entries {
		rd.names = append(rd.names, e.Name())
	}
	if slices.ContainsFunc(artifactNames, rd.has) {
		return rd, nil
	}
	runs, err := FindRuns(ctx, dir, 4)
	if err != nil {
		return runDir{}, err
	}
	if len(runs) > 0 {
		return runDir{}, &ParentError{dir, runs}
	}
	return runDir{}, fmt.Errorf("port %s: no run directory: none of %s is there, nor a c<N> directory below it", dir, strings.Join(artifactNames, ", "))
}

func (rd *runDir) has(name string) bool {
	_, found := slices.BinarySearch(rd.names, name)
	return found
}

// source is what a report calls the directory: the same on every machine.
func (rd *runDir) source() string {
	return filepath.Base(filepath.Dir(rd.path)) + "/" + filepath.Base(rd.path)
}

// isRunName recognises c<N>.
func isRunName(name string) bool {
	digits, ok := strings.CutPrefix(name, "c")
	n, err := strconv.Atoi(digits)
	return ok && err == nil && n > 0 && digits[0] != '+'
}

// FindRuns lists the c<N> directories below root that hold a harness artifact, at
// most depth levels down, sorted by path; one that can't be looked into is listed
// too, so that its port says why. Links below root are not followed; other folders
// that can't be read are passed over.
func FindRuns(ctx context.Context, root string, depth int) ([]string, error) {
	var runs []string
	base := strings.Count(filepath.Clean(root), string(filepath.Separator))
	start := root
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		start += string(filepath.Separator) // the root itself may be a link
	}
	err := filepath.WalkDir(start, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !d.IsDir() {
			if path == start && err != nil {
				return fmt.Errorf("look for runs below %s: %w", root, err)
			}
			return nil
		}
		if isRunName(d.Name()) && slices.ContainsFunc(artifactNames, func(n string) bool {
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

// read opens an artifact, hands it to use and records how that went. An artifact
// that is absent, no regular file or unreadable is a problem, not an error; only
// a cancelled context is.
func (b *builder) read(ctx context.Context, name string, use func(io.Reader) (lines int, found string, err error)) (bool, error) {
	a := Artifact{Name: name}
	defer func() { b.res.Artifacts = append(b.res.Artifacts, a) }()
	path := filepath.Join(b.run.path, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.Problem = "missing"
		if _, lerr := os.Lstat(path); lerr == nil {
			a.Problem = "the link leads nowhere"
		}
		return false, nil
	case err != nil:
		a.Problem = reason(err)
		return false, nil
	case !info.Mode().IsRegular():
		a.Present, a.Problem = true, "not a regular file"
		return false, nil
	}
	a.Present = true
	b.opt.report(Progress{Stage: "read", Name: name, Total: info.Size()})
	f, err := os.Open(path)
	if err != nil {
		a.Problem = reason(err)
		return false, nil
	}
	defer f.Close()
	a.Lines, a.Found, err = use(f)
	if ctx.Err() != nil {
		return false, fmt.Errorf("port %s: read %s: %w", b.run.path, name, ctx.Err())
	}
	if err != nil {
		a.Problem = reason(err)
		return false, nil
	}
	if info.Size() == 0 {
		a.Problem = "empty"
	}
	return true, nil
}

// reason is an error without the path, which differs from machine to machine.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
