package submit

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/replay"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// localLauncher starts runs on this machine.
type localLauncher struct{ *Submitter }

// checkDatasetsExist returns an error if this machine does not have a dataset of a local run.
// The datasets of a Slurm job may exist on the compute nodes only.
func checkDatasetsExist(p *draft.Pair, pl *plan.Plan) error {
	for _, d := range p.Workload.Datasets() {
		if p.HostPath(d.Value) == "" {
			return problem.Errorf(problem.DatasetMissing, "submit %s: %s: dataset not found on this machine: %s; "+
				"correct the path, or port with --dataset-root", pl.Name, p.Workload.File, d.Value)
		}
	}
	return nil
}

func (localLauncher) preflight(context.Context, *draft.Pair, *plan.Plan) ([]string, error) {
	return nil, nil
}

func (s localLauncher) submit(
	ctx context.Context, p *draft.Pair, pl *plan.Plan, rec rundir.Record,
) (rundir.Record, error) {
	var err error
	if rec.ID, err = rundir.NewLocalID(s.opt.Now()); err != nil {
		return rec, err
	}
	if err := checkDataset(ctx, p.Workload, pl); err != nil {
		return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	files, err := s.runFiles(ctx, p, pl, rec)
	if err != nil {
		return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	staged, err := rundir.Stage(pl.OutputDir, files, rundir.Program{Path: s.opt.Program, Name: programName})
	if err != nil {
		return rec, err
	}
	if rec.Dir, err = rundir.Publish(staged, pl.OutputDir, rec.ID); err != nil {
		return rec, err
	}
	// Recorded before it starts: a run that is not listed is worse than a listed one that did
	// not start.
	if err := s.opt.Registry.Add(rec); err != nil {
		return rec, errors.Join(err, os.RemoveAll(rec.Dir)) // created above and never started
	}
	return rec, local.Submit(ctx, rec.Dir)
}

// checkDataset reads the dataset as the client will, to find an invalid file before any server
// starts.
func checkDataset(ctx context.Context, w *recipes.Workload, pl *plan.Plan) error {
	opt := replay.Options{Model: pl.Model, DelayKey: replay.DefaultDelayKey}
	for _, ph := range pl.Phases {
		opt.Levels = append(opt.Levels, ph.Concurrency)
	}
	cfg, err := replay.ConfigOf(w, opt)
	if err != nil {
		return err
	}
	data, err := replay.OpenDataset(ctx, cfg)
	if err != nil {
		return err
	}
	return data.Close()
}
