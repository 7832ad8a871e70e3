package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/replay"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/smallfile"
)

// ErrTodos says that a recipe still has placeholders of a port.
var ErrTodos = errors.New("open placeholders: give the real values, or submit all the same with --allow-todo")

// programName is this program in a run's bin folder.
const programName = "agentperf-tui"

// Apply submits a planned pair and returns the run once it is recorded and at
// work. Errors in the files are [ErrInvalid]; open placeholders are [ErrTodos]
// unless allowed.
func (e *Engine) Apply(ctx context.Context, p *Pair, pl *plan.Plan, allowTodo bool) (rundir.Record, error) {
	return e.ApplyAfter(ctx, p, pl, allowTodo, rundir.Record{})
}

// ApplyAfter is Apply for a run that starts when another one has ended, however
// that ends: repeated runs are to measure the same, not one another. A local run is
// not submitted before; the zero record is no run to wait for.
func (e *Engine) ApplyAfter(ctx context.Context, p *Pair, pl *plan.Plan, allowTodo bool, after rundir.Record) (rundir.Record, error) {
	if err := e.Gate(p, pl, allowTodo); err != nil {
		return rundir.Record{}, err
	}
	if err := ctx.Err(); err != nil {
		return rundir.Record{}, err
	}
	rec, err := e.newRecord(p, pl)
	if err != nil {
		return rundir.Record{}, err
	}
	rec.After = after.ID
	if pl.Target == plan.Srtctl {
		return e.submitSrtctl(ctx, p, pl, rec)
	}
	if pl.Target == plan.Slurm {
		return e.submitSlurm(ctx, p, pl, rec)
	}
	if after.ID != "" {
		if err := local.AwaitEnd(ctx, after.Dir); err != nil {
			return rec, fmt.Errorf("submit %s: wait for the end of %s: %w", pl.Name, after.ID, err)
		}
	}
	return e.submitLocal(ctx, p, pl, rec)
}

// newRecord is what is known of a run before it is submitted.
func (e *Engine) newRecord(p *Pair, pl *plan.Plan) (rundir.Record, error) {
	rec := rundir.Record{
		Version: 1, Name: pl.Name, Launcher: string(pl.Target), Host: e.host, Created: e.now().UTC(), Model: pl.Model, Levels: []int{}, Smoke: pl.Smoke,
	}
	if pl.Target == plan.Local {
		rec.Users, rec.Seconds = pl.Scale.Users, pl.Scale.Seconds
	}
	var err error
	if rec.Recipe, err = filepath.Abs(p.Recipe.File); err != nil {
		return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	if p.Workload != nil {
		if rec.Workload, err = filepath.Abs(p.Workload.File); err != nil {
			return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
		}
	}
	if p.Again.ID != "" { // its files are copies: where they came from is more use
		rec.Again, rec.Recipe, rec.Workload = p.Again.ID, p.Again.Recipe, p.Again.Workload
	}
	for _, ph := range pl.Phases {
		rec.Levels = append(rec.Levels, ph.Level)
	}
	return rec, nil
}

// Gate says what stands against submitting a planned pair: nil is nothing. It is
// asked before the user is.
func (e *Engine) Gate(p *Pair, pl *plan.Plan, allowTodo bool) error {
	switch {
	case !p.Report.OnlyTodos():
		return ErrInvalid
	case p.Report.Todos > 0 && !allowTodo:
		return ErrTodos
	case pl.Target.OnSlurm(): // its paths are those of other machines: see Preflight
		return nil
	}
	for _, path := range []string{p.Workload.TrajectoryPath, p.Workload.AssignmentsPath} {
		if path != "" && p.Visible(path) == "" {
			return fmt.Errorf("submit %s: %s names %s, which this machine does not have; port with --dataset-root, or correct the path", pl.Name, p.Workload.File, path)
		}
	}
	return nil
}

func (e *Engine) submitLocal(ctx context.Context, p *Pair, pl *plan.Plan, rec rundir.Record) (rundir.Record, error) {
	var err error
	if rec.ID, err = rundir.NewLocalID(e.now()); err != nil {
		return rec, err
	}
	if err := checkDataset(ctx, p.Workload, pl); err != nil {
		return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	files, err := e.runFiles(ctx, p, pl, rec)
	if err != nil {
		return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	staged, err := rundir.Stage(pl.OutputDir, files, rundir.Program{Path: e.Program, Name: programName})
	if err != nil {
		return rec, err
	}
	if rec.Dir, err = rundir.Publish(staged, pl.OutputDir, rec.ID); err != nil {
		return rec, err
	}
	// Recorded before it starts: a run that is not listed is worse than a listed
	// one that did not start.
	if err := e.registry.Add(rec); err != nil {
		return rec, errors.Join(err, os.RemoveAll(rec.Dir)) // made a moment ago, and never started
	}
	return rec, local.Submit(ctx, rec.Dir)
}

// checkDataset reads what the client will read, so that a broken file is found
// before any server starts.
func checkDataset(ctx context.Context, w *recipes.Workload, pl *plan.Plan) error {
	opt := replay.Options{Model: pl.Model, DelayKey: replay.DelayKey}
	for _, ph := range pl.Phases {
		opt.Levels = append(opt.Levels, ph.Level)
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

func (e *Engine) runFiles(ctx context.Context, p *Pair, pl *plan.Plan, rec rundir.Record) ([]rundir.File, error) {
	planJSON, err := smallfile.JSON(pl)
	if err != nil {
		return nil, err
	}
	recJSON, err := smallfile.JSON(rec)
	if err != nil {
		return nil, err
	}
	phases, err := smallfile.JSON(pl.Phases)
	if err != nil {
		return nil, err
	}
	id, err := smallfile.JSON(e.identify(ctx, p, pl, planJSON))
	if err != nil {
		return nil, err
	}
	files := []rundir.File{
		{Name: identity.FileName, Data: id, Mode: 0o644},
		{Name: rundir.PhasesFile, Data: phases, Mode: 0o644},
		{Name: rundir.PlanFile, Data: planJSON, Mode: 0o600},
		{Name: rundir.RecordFile, Data: recJSON, Mode: 0o644},
		{Name: rundir.RecipeFile, Data: p.RecipeText, Mode: 0o600}, // its environment may hold secrets too
	}
	if p.Cluster != nil && p.Cluster.File != "" {
		data, err := recipes.Read(p.Cluster.File)
		if err != nil {
			return nil, err
		}
		files = append(files, rundir.File{Name: rundir.ClusterFile, Data: data, Mode: 0o600})
	}
	if e.beside != nil {
		data, err := os.ReadFile(e.beside(p.Recipe.File))
		if err == nil {
			files = append(files, rundir.File{Name: e.beside(rundir.RecipeFile), Data: data, Mode: 0o600})
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	if p.Workload != nil {
		files = append(files, rundir.File{Name: rundir.WorkloadFile, Data: p.WorkloadText, Mode: 0o600}) // and this an API key
	}
	if pl.Script != "" {
		files = append(files, rundir.File{Name: rundir.ScriptFile, Data: []byte(pl.Script), Mode: 0o755})
	}
	return files, nil
}
