package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/smallfile"
)

// Supervise runs the plan of a published run folder in this process, until the
// run ends or ctx does; log gets the orchestrator's own lines. It returns the
// run's exit code. A run is supervised once: a second start is refused.
func (e *Engine) Supervise(ctx context.Context, dir string, log io.Writer) (int, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return 1, err
	}
	rec, err := rundir.ReadRecord(dir)
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	var p plan.Plan
	if err := smallfile.ReadJSON(filepath.Join(dir, rundir.PlanFile), &p); err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	code, err := e.superviseTarget(ctx, dir, rec, &p, log)
	if _, gone := os.Stat(dir); errors.Is(gone, fs.ErrNotExist) { // and its log with it
		why := "its supervisor stopped it at " + e.now().UTC().Format("2006-01-02 15:04:05 UTC")
		err = errors.Join(fmt.Errorf("run %s: its folder %s was removed while it ran; %s", rec.ID, dir, why), e.registry.Lose(rec.ID, why))
	}
	return code, err
}

func (e *Engine) superviseTarget(ctx context.Context, dir string, rec rundir.Record, p *plan.Plan, log io.Writer) (int, error) {
	if p.Target == plan.Slurm {
		return e.superviseSlurm(ctx, dir, rec, p, log)
	}
	release, err := local.Hold(ctx, dir)
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	code, err := e.supervise(ctx, dir, rec.ID, p, log)
	return code, errors.Join(err, release())
}

func (e *Engine) supervise(ctx context.Context, dir, id string, p *plan.Plan, log io.Writer) (int, error) {
	pairs, err := local.Bindings(p, id, dir, rundir.Logs(dir), e.Program)
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	p = p.Bind(pairs...)
	if err := rundir.WriteNew(filepath.Join(dir, rundir.BoundFile), p, 0o600); err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	runner := local.NewRunner()
	defer runner.Close()
	return job.Run(ctx, job.Options{
		Plan: p, LogDir: rundir.Logs(dir), Runner: runner, Log: log, Now: e.now, Started: local.Tell,
		Components: backend.All().Components(),
		Identity:   func() json.RawMessage { return identity.JSON(dir, rundir.Logs(dir)) },
	})
}
