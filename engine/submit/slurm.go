package submit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// slurmLauncher submits runs with sbatch. A job is submitted on hold, and released when the run
// directory has its final name and the run is recorded. So a job never runs unrecorded, and the
// job of an interrupted submission does not run.
type slurmLauncher struct{ *Submitter }

func (s slurmLauncher) preflight(ctx context.Context, p *draft.Pair, pl *plan.Plan) ([]string, error) {
	_, note, err := s.programsForPartition(ctx, p.Recipe.Slurm.Partition)
	if err != nil {
		return nil, err
	}
	notes, err := clusterNotes(ctx, p, len(pl.Nodes))
	if note != "" {
		notes = append([]string{note}, notes...)
	}
	if err != nil {
		return notes, err
	}
	message, err := testOnly(ctx, pl.Script)
	if err != nil {
		return notes, err
	}
	return append(notes, message), nil
}

func (s slurmLauncher) submit(
	ctx context.Context, p *draft.Pair, pl *plan.Plan, rec rundir.Record,
) (rundir.Record, error) {
	if err := s.finishInterrupted(ctx); err != nil {
		return rec, err
	}
	programs, _, err := s.programsForPartition(ctx, p.Recipe.Slurm.Partition)
	if err != nil {
		return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	at, done, err := s.newAttempt(ctx, p, pl, rec, programs...)
	if err != nil {
		return rec, err
	}
	defer done()
	id, err := slurm.SubmitHeld(ctx, filepath.Join(at.Staged, rundir.ScriptFile),
		strings.TrimSpace(at.Record.Comment+" "+comment(p)), rec.After)
	if errors.Is(err, slurm.ErrSubmitUnconfirmed) {
		return at.Record, err // the attempt is kept for the next submission
	}
	if err != nil {
		return rec, errors.Join(err, at.discard())
	}
	at.Record.Created = s.opt.Now().UTC()
	return s.publishAndRelease(context.WithoutCancel(ctx), at, id)
}

// comment returns the job comment set in the recipe or the cluster file.
func comment(p *draft.Pair) string {
	if c, ok := p.Recipe.SbatchDirectives.Get("comment"); ok {
		return c
	}
	c, _ := p.Cluster.SbatchDirectives.Get("comment")
	return c
}

// publishAndRelease publishes the run directory of a job on hold, records the run and releases
// the job. If the directory can't be published or the run not recorded, it cancels the job.
func (s *Submitter) publishAndRelease(ctx context.Context, a attempt, id string) (rundir.Record, error) {
	rec := a.Record
	rec.ID, rec.Dir = id, filepath.Join(a.Base, id)
	err := publish(a, rec)
	if err == nil {
		err = s.opt.Registry.Add(rec)
	}
	if err != nil {
		return rec, errors.Join(err, slurm.Cancel(ctx, id), a.discard())
	}
	if err := slurm.Release(ctx, id); err != nil {
		return rec, err // the attempt is kept: the next submission tries again
	}
	return rec, a.remove()
}

func publish(a attempt, rec rundir.Record) error {
	if _, err := os.Stat(a.Staged); errors.Is(err, fs.ErrNotExist) {
		if old, rerr := rundir.ReadRecord(rec.Dir); rerr == nil && old.Comment == rec.Comment {
			return nil // the attempt was interrupted after this point
		}
	}
	if err := smallfile.WriteJSON(filepath.Join(a.Staged, rundir.RecordFile), rec, 0o644); err != nil {
		return err
	}
	_, err := rundir.Publish(a.Staged, a.Base, rec.ID)
	return err
}
