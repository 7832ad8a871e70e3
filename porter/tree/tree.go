// Package tree ports all run directories below a directory, several at a time. It records what was
// ported, so that an interrupted port can be continued.
package tree

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Options are the options of a port of a tree. RecipeOut and WorkloadOut are set from OutDir.
// Progress reports the search and the tree as a whole, from one goroutine at a time.
type Options struct {
	porter.Options
	OutDir  string // receives <path below the root>/recipe.yaml, workload.yaml and recipe.provenance.json
	Force   bool   // port all run directories again and replace existing files
	Workers int    // concurrent ports; 0 means four per processor, since a port mostly waits for the disk
	Program string // version of the program; ports by another version are repeated
}

// Row is one run directory of a tree.
type Row struct {
	Run    string                  `json:"run"` // path below the root
	Status string                  `json:"status"`
	Recipe string                  `json:"recipe,omitempty"`
	Fields map[porter.Class]int    `json:"fields,omitempty"`
	Todos  map[porter.TodoKind]int `json:"todos,omitempty"`
	Error  string                  `json:"error,omitempty"`
}

// The status values of a row.
const (
	Ported    = "ported"
	Unchanged = "unchanged" // the files had the same content
	Skipped   = "skipped"   // already ported from the same inputs
	Failed    = "failed"
)

// maxDepth bounds the search for run directories, in levels below the root.
const maxDepth = 16

// recordName is the file in OutDir that records what was ported: one JSON object per line. The
// last line about a run counts. It depends on file times and so on the machine.
const recordName = "port-tree.jsonl"

type recordLine struct {
	Row
	Stamp    string   `json:"stamp"`    // of the inputs
	Datasets []string `json:"datasets"` // names that were searched for
	// Files are the files that were read in other directories than that of the run.
	Files []string `json:"files,omitempty"`
}

// Port ports all run directories below root, several at a time, and calls row for each one in the
// order of paths. Those that are already ported are skipped, so that an interrupted port can be
// continued. A failed port does not stop the others. An error means that root or OutDir can't be
// used, that ctx was cancelled, or that row failed.
func Port(ctx context.Context, root string, opt Options, row func(Row) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t, err := newTree(ctx, root, opt)
	if err != nil {
		return err
	}
	defer t.close()
	done := make([]chan Row, len(t.runs))
	for i := range done {
		done[i] = make(chan Row, 1)
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(t.opt.Workers, len(t.runs)) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(t.runs)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				done[i] <- t.portRun(ctx, t.runs[i])
			}
		})
	}
	defer group.Wait()
	defer cancel()
	for i := range done {
		opt.Report(porter.Progress{Stage: "tree", Name: t.runs[i], Done: int64(i), Total: int64(len(done))})
		var r Row
		select {
		case r = <-done[i]:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return fmt.Errorf("port tree %s: %w; run it again to continue", root, ctx.Err())
		}
		if err := row(r); err != nil {
			return err
		}
	}
	return t.recordErr
}

type tree struct {
	opt       Options
	root      string
	runs      []string // below root
	recorded  map[string]recordLine
	lock      *flock.Flock
	mu        sync.Mutex // guards the fields below
	record    *os.File
	recordErr error // why the record could not be written
}

func newTree(ctx context.Context, root string, opt Options) (*tree, error) {
	t := &tree{opt: opt, root: root, recorded: map[string]recordLine{}}
	if t.opt.Workers < 1 {
		t.opt.Workers = 4 * runtime.GOMAXPROCS(0)
	}
	runs, err := harness.FindRuns(ctx, root, maxDepth)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, problem.Errorf(problem.HarnessRunNotFound, "port tree %s: no run directory found", root)
	}
	for _, r := range runs {
		rel, err := filepath.Rel(root, r)
		if err != nil {
			return nil, fmt.Errorf("port tree %s: %w", root, err)
		}
		t.runs = append(t.runs, rel)
	}
	if t.opt.Datasets == nil && len(opt.DatasetRoots) > 0 {
		if t.opt.Datasets, err = porter.IndexDatasets(ctx, opt.DatasetRoots, opt.Progress); err != nil {
			return nil, err
		}
	}
	t.opt.Progress = nil
	if err = os.MkdirAll(opt.OutDir, 0o755); err == nil {
		err = t.lockOutDir(filepath.Join(opt.OutDir, lockName))
	}
	if err == nil {
		if err = t.openRecord(filepath.Join(opt.OutDir, recordName)); err != nil {
			t.lock.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("port tree %s: %w", root, err)
	}
	return t, nil
}

// openRecord reads the record of earlier ports. An incomplete line, as after a crash, is ignored,
// so its run is ported again.
func (t *tree) openRecord(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("open record of ports: %w", err)
	}
	complete := true
	lines := bufio.NewReaderSize(f, maxRecordLine)
	for err == nil {
		var text []byte
		text, err = lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil // too long; ignored
		}
		var line recordLine
		if json.Unmarshal(smallfile.TrimBOM(text), &line) == nil {
			t.recorded[line.Run] = line
		}
		complete = len(text) == 0 && complete || bytes.HasSuffix(text, []byte("\n"))
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && !complete {
		_, err = f.WriteString("\n")
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("read %s: %w", path, err)
	}
	t.record = f
	return nil
}

// maxRecordLine bounds a line of the record, in bytes.
const maxRecordLine = 1 << 20

// portRun ports a run directory, unless it was already ported from the same inputs.
func (t *tree) portRun(ctx context.Context, run string) Row {
	out := filepath.Join(t.opt.OutDir, run)
	recipe, workload := filepath.Join(out, "recipe.yaml"), filepath.Join(out, "workload.yaml")
	line := recordLine{Row: Row{Run: run, Status: Failed}}
	fail := func(err error) Row {
		line.Error = err.Error()
		return line.Row
	}
	old, ported := t.recorded[run]
	if ported && !t.opt.Force && outputsExist(recipe, workload) {
		stamp, err := t.inputStamp(run, old)
		if err != nil {
			return fail(err)
		}
		if stamp == old.Stamp {
			old.Status = Skipped
			return old.Row
		}
	}
	opt := t.opt.Options
	opt.RecipeOut, opt.WorkloadOut = recipe, workload
	r, err := porter.Port(ctx, filepath.Join(t.root, run), opt)
	if err != nil {
		return fail(err)
	}
	line.Datasets = r.DatasetNames
	for _, a := range r.Artifacts {
		if a.Present && filepath.Base(a.Name) != a.Name {
			line.Files = append(line.Files, a.Name)
		}
	}
	if line.Stamp, err = t.inputStamp(run, line); err != nil {
		return fail(err)
	}
	n := 1
	if _, lerr := os.Lstat(out); errors.Is(lerr, fs.ErrNotExist) {
		err = r.WriteDirectory(out)
	} else {
		n, err = r.Write(recipe, workload, t.opt.Force)
	}
	if err != nil {
		return fail(err)
	}
	line.Status, line.Recipe, line.Fields, line.Todos = Ported, recipe, r.Summary(), map[porter.TodoKind]int{}
	if n == 0 {
		line.Status = Unchanged
	}
	for _, td := range r.Todos {
		line.Todos[td.Kind]++
	}
	t.appendRecord(line)
	return line.Row
}

// outputsExist reports whether all files of a port exist. An empty file is
// left by a crash and counts as missing.
func outputsExist(recipe, workload string) bool {
	for _, p := range []string{recipe, workload, porter.ProvenancePath(recipe)} {
		if info, err := os.Stat(p); err != nil || info.Size() == 0 {
			return false
		}
	}
	return true
}

// appendRecord appends to the record. [Port] returns the error.
func (t *tree) appendRecord(line recordLine) {
	text, err := json.Marshal(line)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		_, err = t.record.Write(append(text, '\n'))
	}
	if err != nil && t.recordErr == nil {
		t.recordErr = fmt.Errorf("port tree %s: write record of ports: %w", t.root, err)
	}
}

// inputStamp returns a hash of the inputs of a port: options, sizes and times of the run's files and of
// those that line names, and the datasets that it would find.
func (t *tree) inputStamp(run string, line recordLine) (string, error) {
	o := t.opt.Options
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %q %q %t %q %t\n", t.opt.Program, o.Schema, o.GPUType, o.PathRewrites, o.NoDefaultRewrites,
		fmt.Sprint(o.Answers), o.Datasets == nil)
	dir := filepath.Join(t.root, run)
	names, err := harness.ListDir(dir, 100_000)
	if err != nil {
		return "", fmt.Errorf("port %s: %w", dir, err)
	}
	for _, name := range slices.Concat(names, line.Files) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			fmt.Fprintf(h, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, name := range line.Datasets {
		for _, c := range o.Datasets.Find(name) {
			fmt.Fprintf(h, "%q %d %d\n", c.Value, c.Size, c.Modified.UnixNano())
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// lockName is the lock file in OutDir. It contains the process and host that hold the lock.
const lockName = ".port-tree.lock"

// lockOutDir locks OutDir, since concurrent ports would replace each other's incomplete
// directories. The kernel releases the lock of a process that ended. A file system without locks is
// not an error.
func (t *tree) lockOutDir(path string) error {
	t.lock = flock.New(path)
	switch got, err := t.lock.TryLock(); {
	case errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOSYS):
		return nil
	case err != nil:
		return fmt.Errorf("lock %s: %w", path, err)
	case !got:
		holder := "another process"
		if text, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(text)) > 0 {
			holder = safetext.Clip(string(bytes.TrimSpace(text)), 200) // process and host
		}
		return problem.Errorf(problem.OutputInUse, "%s is in use by %s; wait until it has ended, or pass another --out-dir",
			t.opt.OutDir, holder)
	}
	host, err := os.Hostname()
	if err == nil {
		err = os.WriteFile(path, fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), host), 0o644)
	}
	if err != nil {
		t.lock.Close()
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return nil
}

func (t *tree) close() {
	t.record.Close()
	t.lock.Close()
}
