package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// input is a dataset of the workload and its copy on the node.
type input struct {
	key    string // of the workload
	source string
	copy   string
	info   fs.FileInfo // of the source
	fresh  bool        // the copy is as the source is now
}

// stage brings the datasets to the node and writes the workload that names the copies. A copy has
// its source's time: one whose size or time differs from the source is made again.
func (s *step) stage(ctx context.Context, w *recipes.Workload) ([]input, error) {
	inputs, err := s.inputFiles(w)
	if err != nil {
		return nil, err
	}
	var paths []recipes.Var
	change := false
	for _, in := range inputs {
		text, err := json.Marshal(in.copy) // a JSON string is a YAML one
		if err != nil {
			return nil, fmt.Errorf("stage %s: %w", in.source, err)
		}
		paths = append(paths, recipes.Var{Name: in.key, Value: string(text)})
		change = change || !in.fresh
	}
	text, err := w.With(paths)
	if err != nil {
		return nil, err
	}
	old, err := os.ReadFile(s.in(configFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the last workload: %w", err)
	}
	change = change || !bytes.Equal(old, text)
	use, err := s.claim(change)
	if err != nil {
		return nil, err
	}
	s.held = append(s.held, use)
	for _, in := range inputs {
		name := "stage " + filepath.Base(in.source)
		if in.fresh {
			s.rec.note(name, "unchanged since it was copied")
			continue
		}
		if err := s.rec.step(name, func() error { return s.bring(ctx, in) }); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := renameio.WriteFile(s.in(configFile), text, 0o600); err != nil {
		return nil, fmt.Errorf("write the client's workload: %w", err)
	}
	if err := syscall.Flock(int(use.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return nil, fmt.Errorf("share the lock on the client's runtime directory: %w", err)
	}
	return inputs, nil
}

// claim marks the runtime's data as in use until the client has ended, by us alone while it is
// about to change: a client that reads it must not get another's workload.
func (s *step) claim(change bool) (*os.File, error) {
	how := syscall.LOCK_SH
	if change {
		how = syscall.LOCK_EX
	}
	f, err := flock(s.in(".in-use"), how)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, problem.Errorf(problem.ResultsInUse, "client's runtime directory: a client with another workload or "+
			"dataset is running in %s; choose another one with AGENTPERF_RUNTIME", s.runtime)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the client's runtime directory: %w", err)
	}
	return f, nil
}

// inputFiles finds the datasets. A relative path is relative to the checkout,
// where the client runs.
func (s *step) inputFiles(w *recipes.Workload) ([]input, error) {
	var out []input
	for _, p := range []recipes.Var{
		{Name: "trajectory_path", Value: w.TrajectoryPath}, {Name: "user_assignments_path", Value: w.AssignmentsPath},
	} {
		if p.Value == "" {
			continue
		}
		in := input{key: p.Name, source: p.Value}
		if !filepath.IsAbs(in.source) {
			in.source = filepath.Join(s.ClientDir, in.source)
		}
		in.copy = s.in(dataDir, filepath.Base(in.source))
		var err error
		if in.info, err = os.Stat(in.source); err != nil {
			return nil, problem.Errorf(problem.DatasetMissing,
				"%s: %w; mount its directory into the container, or correct the workload", p.Name, err)
		}
		if !in.info.Mode().IsRegular() || in.info.Size() == 0 {
			return nil, problem.Errorf(problem.DatasetInvalid,
				"%s: %s is empty or not a regular file; correct the workload or the dataset", p.Name, in.source)
		}
		for _, other := range out {
			if other.copy == in.copy {
				return nil, problem.Errorf(problem.DatasetInvalid,
					"%s and %s: both files are named %s, so one copy would overwrite the other; rename one of them",
					other.key, in.key, filepath.Base(in.source))
			}
		}
		have, err := os.Lstat(in.copy)
		in.fresh = err == nil && have.Mode().IsRegular() && same(have, in.info)
		out = append(out, in)
	}
	return out, nil
}

func same(a, b fs.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

// bring copies a dataset; the copy appears whole or not at all.
func (s *step) bring(ctx context.Context, in input) error {
	from, _, err := smallfile.Open(in.source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := renameio.NewPendingFile(in.copy, renameio.WithPermissions(0o600))
	if err != nil {
		return err
	}
	size := in.info.Size()
	r := &progress{ctx: ctx, r: io.LimitReader(from, size+1), total: size, tell: func(done int64) {
		s.rec.note("stage "+filepath.Base(in.source), fmt.Sprintf("%d of %d MB", done/1e6, size/1e6))
	}}
	n, err := io.CopyBuffer(struct{ io.Writer }{to}, r, make([]byte, 1<<20))
	if err == nil {
		err = whole(n, in)
	}
	if err == nil {
		err = to.CloseAtomicallyReplace()
	}
	if err == nil {
		err = os.Chtimes(in.copy, in.info.ModTime(), in.info.ModTime())
	}
	if err != nil {
		return errors.Join(err, to.Cleanup())
	}
	return nil
}

// whole says whether a copy of n bytes is the source, which has not changed.
func whole(n int64, in input) error {
	now, err := os.Stat(in.source)
	if err != nil {
		return err
	}
	if n != in.info.Size() || !same(now, in.info) {
		return problem.Errorf(problem.DatasetChanged,
			"%s changed while it was copied (%d of %d bytes); start again when it is complete", in.source, n, in.info.Size())
	}
	return nil
}

// progress is a reader that tells of each tenth that has been read, and ends with its context.
type progress struct {
	ctx         context.Context
	r           io.Reader
	done, total int64
	tell        func(done int64)
}

func (p *progress) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.r.Read(b)
	before := p.done * 10 / p.total
	p.done += int64(n)
	if now := p.done * 10 / p.total; now > before && now < 10 {
		p.tell(p.done)
	}
	return n, err
}
