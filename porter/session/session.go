// Package session is the state of the port wizard without its screens. It runs the porter on real
// files, lists directories, records what was ported, and reads the lines that evidence points to.
package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Limits for what is read for display.
const (
	maxNames      = 5000
	maxOffset     = 64 << 20 // bytes before the line of an excerpt
	excerptMargin = 240      // bytes of an excerpt on each side of the evidence
	maxRecent     = 20
)

// Session ports run directories. The zero value does not record them.
type Session struct {
	StateDir     string   // state directory, which records what was ported; may be empty
	DatasetRoots []string // directories that are always searched for datasets
}

// Port ports a run directory and records it. A leading ~ in paths is expanded.
func (s Session) Port(ctx context.Context, dir string, opt porter.Options) (*porter.Result, error) {
	opt.DatasetRoots = append(slices.Clone(s.DatasetRoots), opt.DatasetRoots...)
	for i, root := range opt.DatasetRoots {
		opt.DatasetRoots[i] = ExpandHome(root)
	}
	opt.RecipeOut, opt.WorkloadOut = ExpandHome(opt.RecipeOut), ExpandHome(opt.WorkloadOut)
	r, err := porter.Port(ctx, ExpandHome(dir), opt)
	if err == nil {
		s.record(ctx, ExpandHome(dir))
	}
	return r, err
}

// FindRuns returns the run directories below root that are found before ctx ends.
func (Session) FindRuns(ctx context.Context, root string, depth int) ([]string, error) {
	return runUntilDone(ctx, root, func() ([]string, error) { return harness.FindRuns(ctx, ExpandHome(root), depth) })
}

// List returns the names of the directories in a directory, including links to directories.
func (Session) List(ctx context.Context, dir string) ([]string, error) {
	return runUntilDone(ctx, dir, func() ([]string, error) { return listDirectories(ctx, dir) })
}

// grace is how long a cancelled call may take to return its partial result.
const grace = 100 * time.Millisecond

// runUntilDone calls f and returns soon after ctx ends, even if f hangs. A system call that waits for
// a file system can't be interrupted, so its goroutine remains until the call returns.
func runUntilDone[T any](ctx context.Context, name string, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	got := make(chan result, 1)
	go func() {
		v, err := f()
		got <- result{v, err}
	}()
	expired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { close(expired) }) })
	defer stop()
	select {
	case r := <-got:
		return r.value, r.err
	case <-expired:
		var none T
		return none, fmt.Errorf("%s does not respond: %w", name, ctx.Err())
	}
}

func listDirectories(ctx context.Context, dir string) ([]string, error) {
	f, err := os.Open(ExpandHome(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(f.Name(), e.Name()))
			isDir = err == nil && info.IsDir()
		}
		if isDir {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Write writes the files of a port, unless ctx has ended.
func (Session) Write(ctx context.Context, r *porter.Result, recipe, workload string, force bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := r.Write(ExpandHome(recipe), ExpandHome(workload), force)
	return err
}

// Excerpt reads the text around a position in a file. The position must be within the first 64 MiB.
func (Session) Excerpt(ctx context.Context, path string, line, column, length int) (Excerpt, error) {
	var e Excerpt
	f, _, err := smallfile.Open(ExpandHome(path))
	if err != nil {
		return e, err
	}
	defer f.Close()
	unpacked, _, err := smallfile.Decompress(f)
	if err != nil {
		return e, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	begin := &io.LimitedReader{R: unpacked, N: maxOffset}
	// failed returns the error for a failed read before the position.
	failed := func(err error) error {
		switch {
		case !errors.Is(err, io.EOF):
			return fmt.Errorf("%s:%d: %w", path, line, err)
		case begin.N <= 0:
			return problem.Errorf(problem.ArtifactInvalid, "%s:%d: beyond the first %d MiB; open the file to see it",
				path, line, maxOffset>>20)
		}
		return problem.Errorf(problem.ArtifactInvalid, "%s:%d: beyond the end of the file, which has become shorter; "+
			"port the directory again", path, line)
	}
	r := bufio.NewReaderSize(begin, 64<<10)
	for n := 1; n < line; {
		if ctx.Err() != nil {
			return e, ctx.Err()
		}
		part, err := r.ReadSlice('\n')
		switch {
		case err == nil:
			n++
		case errors.Is(err, bufio.ErrBufferFull) && len(part) > 0:
		default:
			return e, failed(err)
		}
	}
	from := max(column-1-excerptMargin, 0)
	if _, err := r.Discard(from); err != nil {
		return e, failed(err)
	}
	text := make([]byte, max(column-1, 0)-from+length+excerptMargin)
	n, err := io.ReadFull(r, text)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return e, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	got, more, _ := strings.Cut(string(text[:n]), "\n")
	at := min(max(column-1, 0)-from, len(got))
	to := min(at+length, len(got))
	e = Excerpt{got[:at], got[at:to], got[to:]}
	if from > 0 {
		e.Before = "…" + e.Before
	}
	if n == len(text) && more == "" {
		e.After += "…"
	}
	return e, nil
}

func (s Session) recordPath() string { return filepath.Join(s.StateDir, "ported") }

// Recent returns the directories that were ported and still exist, the latest first. Those on a
// file system that does not respond within a second are included. A path below the current
// directory is relative to it; all others are absolute.
func (s Session) Recent(ctx context.Context) ([]string, error) {
	dirs, err := s.recorded(ctx)
	here, herr := os.Getwd()
	for i, dir := range dirs {
		if rel, err := filepath.Rel(here, dir); herr == nil && err == nil && filepath.IsLocal(rel) {
			dirs[i] = rel
		}
	}
	return dirs, err
}

// recorded returns the absolute paths of [Session.Recent].
func (s Session) recorded(ctx context.Context) ([]string, error) {
	if s.StateDir == "" {
		return nil, nil
	}
	data, err := smallfile.Read(s.recordPath(), 1)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dirs := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	ctx, done := context.WithTimeout(ctx, time.Second)
	defer done()
	gone := make([]bool, len(dirs))
	var group sync.WaitGroup
	for i, dir := range dirs {
		group.Go(func() {
			info, err := runUntilDone(ctx, dir, func() (fs.FileInfo, error) { return os.Stat(dir) })
			gone[i] = err == nil && !info.IsDir() || err != nil && ctx.Err() == nil
		})
	}
	group.Wait()
	var existing []string
	for i, dir := range dirs {
		if !gone[i] {
			existing = append(existing, dir)
		}
	}
	return existing, nil
}

// record puts a directory first in the list of ported ones. Errors are ignored, since the list is
// only a convenience.
func (s Session) record(ctx context.Context, dir string) {
	abs, err := filepath.Abs(dir)
	if s.StateDir == "" || err != nil || strings.ContainsRune(abs, '\n') {
		return
	}
	dirs, err := s.recorded(ctx)
	if err != nil || os.MkdirAll(s.StateDir, 0o755) != nil {
		return
	}
	dirs = slices.DeleteFunc(dirs, func(o string) bool { return o == abs })
	dirs = append([]string{abs}, dirs[:min(len(dirs), maxRecent-1)]...)
	_ = renameio.WriteFile(s.recordPath(), []byte(strings.Join(dirs, "\n")+"\n"), 0o644) // errors are ignored
}

// ExpandHome replaces a leading ~ of a typed path by the home directory.
func ExpandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return path
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return dir + rest
}

// Excerpt is a part of a line around a piece of evidence, as it is in the file, including escape
// sequences.
type Excerpt struct{ Before, Match, After string }
