package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// srtctlRecipe is the name of the recipe for srtctl among the staged files.
const srtctlRecipe = "srtctl.yaml"

// srtctlLauncher submits runs with srtctl, which creates the job, its script and its directory.
// The copy of the recipe for srtctl has a unique comment, by which the job is found even if
// srtctl or this program is interrupted. The files of this program are added to the directory
// of srtctl without replacing any.
type srtctlLauncher struct{ *Submitter }

func (srtctlLauncher) preflight(ctx context.Context, p *draft.Pair, pl *plan.Plan) ([]string, error) {
	path, err := exec.LookPath("srtctl")
	if err != nil {
		return nil, slurm.ErrNoSrtctl
	}
	notes, err := clusterNotes(ctx, p, len(pl.Nodes))
	return append([]string{path + " submits the job; srtctl dry-run shows its script"}, notes...), err
}

func (s srtctlLauncher) submit(
	ctx context.Context, p *draft.Pair, pl *plan.Plan, rec rundir.Record,
) (rundir.Record, error) {
	if err := s.finishInterrupted(ctx); err != nil {
		return rec, err
	}
	at, done, err := s.newAttempt(ctx, p, pl, rec)
	if err != nil {
		return rec, err
	}
	defer done()
	queued, err := runSrtctl(ctx, p, pl, at.Record, at.Staged)
	if errors.Is(err, slurm.ErrSubmitUnconfirmed) {
		return at.Record, fmt.Errorf("submit %s: %w", pl.Name, err) // the attempt is kept for the next submission
	}
	if err != nil {
		return rec, errors.Join(fmt.Errorf("submit %s: %w", pl.Name, err), at.discard())
	}
	at.Record.Created = s.opt.Now().UTC()
	return s.recordSrtctlRun(at, queued)
}

// recordSrtctlRun records a run that srtctl has submitted. If that fails, the attempt is kept
// and the next submission tries again.
func (s *Submitter) recordSrtctlRun(a attempt, job slurm.SrtctlJob) (rundir.Record, error) {
	rec := a.Record
	rec.ID = job.ID
	var err error
	if rec.Dir, err = filepath.Abs(cmp.Or(job.Dir, filepath.Join(a.Base, job.ID))); err != nil {
		return rec, err
	}
	if err = moveStagedFiles(a.Staged, rec); err == nil {
		err = s.opt.Registry.Add(rec)
	}
	if err != nil {
		return rec, fmt.Errorf("record the run of srtctl job %s: %w; the job is queued; submit again to record it",
			rec.ID, err)
	}
	return rec, a.discard()
}

// runSrtctl writes a copy of the recipe with a unique comment and submits it with srtctl.
func runSrtctl(
	ctx context.Context, p *draft.Pair, pl *plan.Plan, rec rundir.Record, staged string,
) (slurm.SrtctlJob, error) {
	var edits []recipes.Edit
	set := func(directive, value string) {
		edits = append(edits,
			recipes.Edit{Op: recipes.OpSet, Path: "sbatch_directives." + directive, Value: strconv.Quote(value)})
	}
	set("comment", strings.TrimSpace(rec.Comment+" "+comment(p)))
	if rec.After != "" {
		set("dependency", "afterany:"+rec.After)
	}
	text, err := edit.Apply(p.RecipeText, edits)
	if err != nil {
		return slurm.SrtctlJob{}, err
	}
	recipe := filepath.Join(staged, srtctlRecipe)
	if err := os.WriteFile(recipe, text, 0o600); err != nil {
		return slurm.SrtctlJob{}, err
	}
	cluster := p.Cluster.File
	if cluster != "" {
		if cluster, err = filepath.Abs(cluster); err != nil {
			return slurm.SrtctlJob{}, err
		}
	}
	queued, err := slurm.Srtctl(ctx, recipe, pl.OutputDir, cluster)
	if err == nil || errors.Is(err, slurm.ErrNoSrtctl) {
		return queued, err
	}
	j, lerr := slurm.Lookup(context.WithoutCancel(ctx), rec.Comment)
	switch {
	case lerr != nil:
		return queued, problem.Errorf(problem.SubmitUnconfirmed,
			"%w; %w: %w; submit again once Slurm answers; it looks up the job first", err, slurm.ErrSubmitUnconfirmed, lerr)
	case j.ID == "" && errors.Is(err, slurm.ErrSubmitUnconfirmed):
		return queued, fmt.Errorf("%w; the next submission looks it up first", err)
	case j.ID == "":
		return queued, err // nothing was queued
	}
	return slurm.SrtctlJob{ID: j.ID}, nil
}

// moveStagedFiles moves the staged files into the run directory of srtctl and writes the record.
// It skips files that exist there, so that an interrupted move can be repeated.
func moveStagedFiles(staged string, rec rundir.Record) error {
	if err := os.MkdirAll(rundir.Logs(rec.Dir), 0o755); err != nil {
		return err
	}
	files, err := os.ReadDir(staged)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		to := filepath.Join(rec.Dir, f.Name())
		if f.IsDir() || f.Name() == srtctlRecipe || f.Name() == rundir.RecordFile || exists(to) {
			continue
		}
		if err := os.Rename(filepath.Join(staged, f.Name()), to); err != nil {
			return err
		}
	}
	return smallfile.WriteJSON(filepath.Join(rec.Dir, rundir.RecordFile), rec, 0o644)
}
