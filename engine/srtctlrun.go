package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
)

// submitSrtctl hands the recipe to srtctl, which makes the job, its script and its
// folder. The recipe gets a comment of its own, by which the job is found again
// whatever becomes of srtctl's answer. What we know of the run lies beside srtctl's
// own files, none of which is replaced.
func (e *Engine) submitSrtctl(ctx context.Context, p *Pair, pl *plan.Plan, rec rundir.Record) (rundir.Record, error) {
	files, err := e.runFiles(ctx, p, pl, rec)
	if err != nil {
		return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	staged, err := rundir.Stage(pl.OutputDir, files)
	if err != nil {
		return rec, err
	}
	rec.Comment, rec.Cluster = commentTag+filepath.Base(staged), slurm.ClusterName(ctx)
	handed, err := e.handOver(ctx, p, pl, rec, staged)
	if err != nil {
		return rec, errors.Join(fmt.Errorf("submit %s: %w", pl.Name, err), os.RemoveAll(staged))
	}
	rec.ID, rec.Dir, rec.Created = handed.ID, handed.Dir, e.now().UTC()
	if rec.Dir == "" {
		rec.Dir = filepath.Join(pl.OutputDir, rec.ID)
	}
	if rec.Dir, err = filepath.Abs(rec.Dir); err != nil {
		return rec, err
	}
	if err := adopt(staged, rec, files); err != nil {
		return rec, fmt.Errorf("job %s of srtctl is queued, and could not be recorded: %w", rec.ID, err)
	}
	if err := e.registry.Add(rec); err != nil {
		return rec, fmt.Errorf("job %s of srtctl is queued, and could not be recorded: %w", rec.ID, err)
	}
	return rec, nil
}

// handOver gives srtctl a copy of the recipe that can be recognized.
func (e *Engine) handOver(ctx context.Context, p *Pair, pl *plan.Plan, rec rundir.Record, staged string) (slurm.Handed, error) {
	edits := []recipes.Edit{{Op: recipes.OpSet, Path: "sbatch_directives.comment", Value: strconv.Quote(strings.TrimSpace(rec.Comment + " " + comment(p)))}}
	if rec.After != "" {
		edits = append(edits, recipes.Edit{Op: recipes.OpSet, Path: "sbatch_directives.dependency", Value: strconv.Quote("afterany:" + rec.After)})
	}
	text, err := edit.Apply(p.recipeBytes, edits)
	if err != nil {
		return slurm.Handed{}, err
	}
	recipe := filepath.Join(staged, "srtctl.yaml")
	if err := os.WriteFile(recipe, text, 0o600); err != nil {
		return slurm.Handed{}, err
	}
	cluster := p.Cluster.File
	if cluster != "" {
		if cluster, err = filepath.Abs(cluster); err != nil {
			return slurm.Handed{}, err
		}
	}
	handed, err := slurm.Srtctl(ctx, recipe, pl.OutputDir, cluster)
	if err == nil || errors.Is(err, slurm.ErrMissing) {
		return handed, err
	}
	j, lerr := slurm.Lookup(context.WithoutCancel(ctx), rec.Comment)
	switch {
	case lerr != nil:
		return handed, fmt.Errorf("%w; %w: %w; look for a job with the comment %s before you submit again", err, slurm.ErrUnsure, lerr, rec.Comment)
	case j.ID == "":
		return handed, err // nothing was queued
	}
	return slurm.Handed{ID: j.ID}, nil
}

// adopt puts our files beside srtctl's.
func adopt(staged string, rec rundir.Record, files []rundir.File) error {
	if err := os.MkdirAll(rundir.Logs(rec.Dir), 0o755); err != nil {
		return err
	}
	for _, f := range files {
		to := filepath.Join(rec.Dir, f.Name)
		if exists(to) || f.Name == rundir.RecordFile {
			continue
		}
		if err := os.Rename(filepath.Join(staged, f.Name), to); err != nil {
			return err
		}
	}
	if err := rundir.Write(filepath.Join(rec.Dir, rundir.RecordFile), rec, 0o644); err != nil {
		return err
	}
	return os.RemoveAll(staged)
}
