// Package session holds what a person needs at hand to port by eye: the porter on real
// files, the names in a folder, what was ported before, and the line that a piece
// of evidence stands on. It knows no screen.
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

// Limits of what is read for a person's eyes alone.
const (
	maxNames   = 5000
	maxSkipped = 64 << 20 // bytes before the line of an excerpt
	around     = 240      // bytes of an excerpt on each side of the evidence
	maxRecent  = 20
)

// Session works on real files; the zero value remembers nothing.
type Session struct {
	StateDir     string   // folder in which it remembers what was ported; empty: nowhere
	DatasetRoots []string // folders in which datasets are always looked for
}

// Port ports a run directory, and remembers it. The ~ of its folders and files is expanded.
func (s Session) Port(ctx context.Context, dir string, opt porter.Options) (*porter.Result, error) {
	opt.DatasetRoots = append(slices.Clone(s.DatasetRoots), opt.DatasetRoots...)
	for i, root := range opt.DatasetRoots {
		opt.DatasetRoots[i] = ExpandHome(root)
	}
	opt.RecipeOut, opt.WorkloadOut = ExpandHome(opt.RecipeOut), ExpandHome(opt.WorkloadOut)
	r, err := porter.Port(ctx, ExpandHome(dir), opt)
	if err == nil {
		s.remember(ctx, ExpandHome(dir))
	}
	return r, err
}

// FindRuns lists run directories below a folder: those found until ctx ends.
func (Session) FindRuns(ctx context.Context, root string, depth int) ([]string, error) {
	return inTime(ctx, root, func() ([]string, error) { return harness.FindRuns(ctx, ExpandHome(root), depth) })
}

// List lists the folders in a folder, links to folders included.
func (Session) List(ctx context.Context, dir string) ([]string, error) {
	return inTime(ctx, dir, func() ([]string, error) { return list(ctx, dir) })
}

// grace is how long one that was told to end has to say what it has.
const grace = 100 * time.Millisecond

// inTime answers when ctx ends at the latest. A file system that hangs can't be
// interrupted: what waits for it is left behind, and ends when that answers.
func inTime[T any](ctx context.Context, name string, ask func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	got := make(chan answer, 1)
	go func() {
		v, err := ask()
		got <- answer{v, err}
	}()
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { close(over) }) })
	defer stop()
	select {
	case a := <-got:
		return a.value, a.err
	case <-over:
		var none T
		return none, fmt.Errorf("%s does not answer: %w", name, ctx.Err())
	}
}

func list(ctx context.Context, dir string) ([]string, error) {
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
		folder := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(f.Name(), e.Name()))
			folder = err == nil && info.IsDir()
		}
		if folder {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Write writes the files of a port, unless it has been given up before.
func (Session) Write(ctx context.Context, r *porter.Result, recipe, workload string, force bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := r.Write(ExpandHome(recipe), ExpandHome(workload), force)
	return err
}

// Excerpt reads around a place of a file. Lines far into a large file are not looked for.
func (Session) Excerpt(ctx context.Context, path string, line, column, length int) (Excerpt, error) {
	var e Excerpt
	f, _, err := smallfile.Open(ExpandHome(path))
	if err != nil {
		return e, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, maxSkipped), 64<<10)
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
			return e, problem.Errorf(problem.ArtifactInvalid, "%s: no line %d in the first %d MiB", path, line, maxSkipped>>20)
		}
	}
	from := max(column-1-around, 0)
	if _, err := r.Discard(from); err != nil {
		return e, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	text := make([]byte, max(column-1, 0)-from+length+around)
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

func (s Session) file() string { return filepath.Join(s.StateDir, "ported") }

// Recent lists what was ported before and is still there, or on a file system that
// does not answer within a second.
func (s Session) Recent(ctx context.Context) ([]string, error) {
	if s.StateDir == "" {
		return nil, nil
	}
	data, err := smallfile.Read(s.file(), 1)
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
			info, err := inTime(ctx, dir, func() (fs.FileInfo, error) { return os.Stat(dir) })
			gone[i] = err == nil && !info.IsDir() || err != nil && ctx.Err() == nil
		})
	}
	group.Wait()
	var here []string
	for i, dir := range dirs {
		if !gone[i] {
			here = append(here, dir)
		}
	}
	return here, nil
}

// remember puts a directory first in the list. The list is a convenience: when it
// can't be written, the next wizard offers less.
func (s Session) remember(ctx context.Context, dir string) {
	abs, err := filepath.Abs(dir)
	if s.StateDir == "" || err != nil || strings.ContainsRune(abs, '\n') {
		return
	}
	dirs, err := s.Recent(ctx)
	if err != nil || os.MkdirAll(s.StateDir, 0o755) != nil {
		return
	}
	dirs = slices.DeleteFunc(dirs, func(o string) bool { return o == abs })
	dirs = append([]string{abs}, dirs[:min(len(dirs), maxRecent-1)]...)
	_ = renameio.WriteFile(s.file(), []byte(strings.Join(dirs, "\n")+"\n"), 0o644) // see above
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

// Excerpt is a part of a line: what stands before the evidence, it, and what
// follows. It is as found, escapes and all.
type Excerpt struct{ Before, Match, After string }
