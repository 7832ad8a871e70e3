package submit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// commentPrefix is the start of every job comment, before a unique id.
const commentPrefix = "agentperf-tui:"

// attempt is a submission in progress. Its file exists from before sbatch is called until the run is
// recorded. If the submission is interrupted, the next one finds the file and finishes it first.
type attempt struct {
	Staged string        `json:"staged"`
	Base   string        `json:"base"`
	Record rundir.Record `json:"record"`
	path   string
}

func (s *Submitter) attemptDir() string { return filepath.Join(s.opt.State, "submitting") }

// newAttempt stages the files of a run and records the attempt to submit it, with the comment
// that identifies its job. The caller must call done at the end of the submission, as for record.
func (s *Submitter) newAttempt(
	ctx context.Context, p *draft.Pair, pl *plan.Plan, rec rundir.Record, programs ...rundir.Program,
) (at attempt, done func(), err error) {
	files, err := s.runFiles(ctx, p, pl, rec)
	if err != nil {
		return at, nil, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	staged, err := rundir.Stage(pl.OutputDir, files, programs...)
	if err != nil {
		return at, nil, err
	}
	tag := filepath.Base(staged)
	rec.Comment, rec.Cluster = commentPrefix+tag, slurm.ClusterName(ctx)
	at = attempt{Staged: staged, Base: pl.OutputDir, Record: rec, path: filepath.Join(s.attemptDir(), tag+".json")}
	if done, err = at.record(); err != nil {
		return at, nil, errors.Join(fmt.Errorf("submit %s: %w", pl.Name, err), os.RemoveAll(staged))
	}
	return at, done, nil
}

// record writes the attempt to its file and locks it. The lock shows other programs that the
// submission is in progress; done releases it.
func (a attempt) record() (done func(), err error) {
	if err := os.MkdirAll(filepath.Dir(a.path), 0o755); err != nil {
		return nil, fmt.Errorf("record submission: %w", err)
	}
	lock := flock.New(a.path + ".lock")
	if err := lock.Lock(); err != nil {
		return nil, fmt.Errorf("record submission: %w", err)
	}
	if err := smallfile.WriteJSON(a.path, a, 0o600); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return func() { _ = lock.Unlock() }, nil // released at the latest when the process ends
}

// discard removes an attempt without a job.
func (a attempt) discard() error { return errors.Join(os.RemoveAll(a.Staged), a.remove()) }

func (a attempt) remove() error { return errors.Join(os.Remove(a.path), os.Remove(a.path+".lock")) }

// finishInterrupted finishes interrupted submissions. If it has finished one whose job was queued,
// it returns an error: a user who submits again because of the interruption must not get two
// runs.
func (s *Submitter) finishInterrupted(ctx context.Context) error {
	entries, err := os.ReadDir(s.attemptDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list interrupted submissions: %w", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		path := filepath.Join(s.attemptDir(), e.Name())
		lock := flock.New(path + ".lock")
		if free, err := lock.TryLock(); err != nil || !free {
			continue // in progress
		}
		if err := errors.Join(s.finishInterruptedAttempt(ctx, path), lock.Unlock()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Submitter) finishInterruptedAttempt(ctx context.Context, path string) error {
	a := attempt{}
	if err := smallfile.ReadJSON(path, &a); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // finished since it was listed
		}
		return problem.Errorf(problem.SubmitUnfinished, "finish an interrupted submission: %w; remove the file", err)
	}
	a.path = path
	j, err := slurm.Lookup(ctx, a.Record.Comment)
	switch {
	case err != nil:
		return problem.Errorf(problem.SubmitUnfinished,
			"finish the interrupted submission of %s: look up its job: %w; nothing was submitted", a.Record.Name, err)
	case j.ID == "" && a.srtctl() && s.opt.Now().Sub(a.Record.Created) < slurm.SrtctlLimit:
		return problem.Errorf(problem.SubmitUnfinished,
			"finish the interrupted submission of %s: its srtctl may still be running; nothing was submitted; "+
				"try again after %s, or remove %s if no srtctl is running",
			a.Record.Name, a.Record.Created.Add(slurm.SrtctlLimit).Local().Format("15:04:05"), path)
	case j.ID == "" || j.Ended() && !a.srtctl(): // a job on hold that has ended never ran
		return a.discard()
	}
	rec, err := s.finishQueued(context.WithoutCancel(ctx), a, j.ID)
	if err != nil {
		return problem.Errorf(problem.SubmitUnfinished, "finish the interrupted submission of %s: %w", a.Record.Name, err)
	}
	return problem.Errorf(problem.SubmitUnfinished,
		"submit: finished an interrupted submission of %s instead: its job %s was already queued, and its run directory "+
			"is %s; submit again for a second run", rec.Name, rec.ID, rec.Dir)
}

func (a attempt) srtctl() bool { return a.Record.Launcher == string(plan.Srtctl) }

func (s *Submitter) finishQueued(ctx context.Context, a attempt, id string) (rundir.Record, error) {
	if a.srtctl() {
		return s.recordSrtctlRun(a, slurm.SrtctlJob{ID: id})
	}
	return s.publishAndRelease(ctx, a, id)
}
