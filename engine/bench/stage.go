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
	key      string // field of the workload
	source   string
	copy     string
	info     fs.FileInfo // of the source
	upToDate bool        // the copy has the size and time of the source
}

// stageDatasets copies the datasets to the node and writes a workload with the paths of the copies.
// A copy has the modification time of its source; it is replaced if size or time differ.
func (s *step) stageDatasets(ctx context.Context, w *recipes.Workload) ([]input, error) {
	inputs, err := s.inputFiles(w)
	if err != nil {
		return nil, err
	}
	var paths []recipes.Var
	changed := false
	for _, in := range inputs {
		text, err := json.Marshal(in.copy) // a JSON string is valid YAML
		if err != nil {
			return nil, fmt.Errorf("stage %s: %w", in.source, err)
		}
		paths = append(paths, recipes.Var{Name: in.key, Value: string(text)})
		changed = changed || !in.upToDate
	}
	text, err := w.With(paths)
	if err != nil {
		return nil, err
	}
	old, err := os.ReadFile(s.in(configFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the workload of the last start: %w", err)
	}
	changed = changed || !bytes.Equal(old, text)
	lock, err := s.lockData(changed)
	if err != nil {
		return nil, err
	}
	s.locks = append(s.locks, lock)
	for _, in := range inputs {
		name := "stage " + filepath.Base(in.source)
		if in.upToDate {
			s.rec.report(name, "unchanged, not copied again")
			continue
		}
		if err := s.rec.step(name, func() error { return s.copyDataset(ctx, in) }); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := renameio.WriteFile(s.in(configFile), text, 0o600); err != nil {
		return nil, fmt.Errorf("write the client's workload: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return nil, fmt.Errorf("share the lock on the client's runtime directory: %w", err)
	}
	return inputs, nil
}

// lockData locks the workload and the datasets in the runtime directory until the client has ended.
// The lock is exclusive if they will change, so that no other client is using them, else shared.
func (s *step) lockData(exclusive bool) (*os.File, error) {
	how := syscall.LOCK_SH
	if exclusive {
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

// inputFiles returns the datasets of the workload. Relative paths are relative to the checkout,
// which is the client's working directory.
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
		in.upToDate = err == nil && have.Mode().IsRegular() && sameSizeAndTime(have, in.info)
		out = append(out, in)
	}
	return out, nil
}

func sameSizeAndTime(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// copyDataset copies a dataset atomically.
func (s *step) copyDataset(ctx context.Context, in input) error {
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
	r := &progress{ctx: ctx, r: io.LimitReader(from, size+1), total: size, report: func(done int64) {
		s.rec.report("stage "+filepath.Base(in.source), fmt.Sprintf("%d of %d MB", done/1e6, size/1e6))
	}}
	n, err := io.CopyBuffer(struct{ io.Writer }{to}, r, make([]byte, 1<<20))
	if err == nil {
		err = verifyCopy(n, in)
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

// verifyCopy returns an error if the source changed while n bytes of it were copied.
func verifyCopy(n int64, in input) error {
	now, err := os.Stat(in.source)
	if err != nil {
		return err
	}
	if n != in.info.Size() || !sameSizeAndTime(now, in.info) {
		return problem.Errorf(problem.DatasetChanged,
			"%s changed while it was copied (%d of %d bytes); start again when it is complete", in.source, n, in.info.Size())
	}
	return nil
}

// progress is a reader that reports each tenth of the total and stops when its context ends.
type progress struct {
	ctx         context.Context
	r           io.Reader
	done, total int64
	report      func(done int64)
}

func (p *progress) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.r.Read(b)
	before := p.done * 10 / p.total
	p.done += int64(n)
	if now := p.done * 10 / p.total; now > before && now < 10 {
		p.report(p.done)
	}
	return n, err
}
