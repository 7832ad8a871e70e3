// Package supervise runs the plan of a run's folder to its end: in the allocation of
// its job, or on this machine. It is what the job itself does; nobody need watch.
package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Supervisor runs plans in this process.
type Supervisor struct {
	Registry rundir.Registry
	Program  string // this executable, which the steps of a local run start
	Getenv   func(string) string
	Now      func() time.Time
}

// Run runs the plan of a published run folder in this process, until the
// run ends or ctx does; log gets the orchestrator's own lines. It returns the
// run's exit code. A run is supervised once: a second start is refused.
func (s Supervisor) Run(ctx context.Context, dir string, log io.Writer) (int, error) {
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
	code, err := s.run(ctx, dir, rec, &p, log)
	if _, gone := os.Stat(dir); errors.Is(gone, fs.ErrNotExist) { // and its log with it
		why := "its supervisor stopped it at " + s.Now().UTC().Format("2006-01-02 15:04:05 UTC")
		err = errors.Join(fmt.Errorf("run %s: its folder %s was removed while it ran; %s", rec.ID, dir, why),
			s.Registry.Lose(rec.ID, why))
	}
	return code, err
}

func (s Supervisor) run(ctx context.Context, dir string, rec rundir.Record, p *plan.Plan, log io.Writer) (int, error) {
	if p.Target == plan.Slurm {
		return s.inAllocation(ctx, dir, rec, p, log)
	}
	release, err := local.Hold(ctx, dir)
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	code, err := s.here(ctx, dir, rec.ID, p, log)
	return code, errors.Join(err, release())
}

func (s Supervisor) here(ctx context.Context, dir, id string, p *plan.Plan, log io.Writer) (int, error) {
	pairs, err := local.Bindings(p, id, dir, rundir.Logs(dir), s.Program)
	if err == nil {
		p, err = bind(dir, p, pairs)
	}
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	runner := local.NewRunner()
	defer runner.Close()
	opt := s.options(dir, p, log, runner)
	opt.Started = local.Tell
	return job.Run(ctx, opt)
}

// bind fills in what is known by now, and writes the plan as it is run.
func bind(dir string, p *plan.Plan, pairs []string) (*plan.Plan, error) {
	p = p.Bind(pairs...)
	return p, rundir.WriteNew(filepath.Join(dir, rundir.BoundFile), p, 0o600)
}

// options are those of any run of a bound plan.
func (s Supervisor) options(dir string, p *plan.Plan, log io.Writer, runner job.Runner) job.Options {
	logs := rundir.Logs(dir)
	return job.Options{
		Plan: p, LogDir: logs, Runner: runner, Log: log, Now: s.Now, Components: backend.All().Components(),
		Identity: func() json.RawMessage { return identity.JSON(dir, logs) },
	}
}
