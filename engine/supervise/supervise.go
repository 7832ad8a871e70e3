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
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/problem"
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
		why := "the supervisor stopped the run at " + s.Now().UTC().Format("2006-01-02 15:04:05 UTC")
		err = errors.Join(
			problem.Errorf(problem.RunDirectoryMissing, "run %s: directory %s was removed during the run; %s", rec.ID, dir, why),
			s.Registry.MarkLost(rec.ID, why))
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

// settle is how long a step's failure waits for the TERM that may explain it.
const settle = 2 * time.Second

// inAllocation runs the plan in the job's allocation.
func (s Supervisor) inAllocation(
	ctx context.Context, dir string, rec rundir.Record, p *plan.Plan, log io.Writer,
) (int, error) {
	id := s.Getenv("SLURM_JOB_ID")
	if id != rec.ID {
		return 1, problem.Errorf(problem.AllocationMismatch, "supervise %s: SLURM_JOB_ID is %q, not %s, the run's job",
			dir, id, rec.ID)
	}
	atStart, err := slurm.Status(ctx, rec)
	if err != nil { // its end is asked for again when it counts
		atStart = slurm.Job{}
	}
	pairs, err := slurm.Bindings(ctx, p, id, s.Getenv("SLURM_JOB_NODELIST"), dir, rundir.Logs(dir))
	if err == nil {
		p, err = bind(dir, p, pairs)
	}
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	go identify(dir, log)                 // while the servers start; a file system that hangs holds nobody up
	window := slurm.KillWait(ctx) * 4 / 5 // asked now: at the end there is no time for questions
	running, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	go func() {
		select {
		case <-ctx.Done():
			stop(s.whyStopped(dir, rec, atStart, window))
		case <-running.Done():
		}
	}()
	opt := s.options(dir, p, log, slurm.NewRunner(id))
	opt.StopWait = settle
	return job.Run(running, opt)
}

// whyStopped tells what a TERM means: our own cancel, the time limit, or what the
// controller says. A job that Slurm ends is killed within the window.
func (s Supervisor) whyStopped(dir string, rec rundir.Record, atStart slurm.Job, window time.Duration) job.StopCause {
	if by := rundir.CancelledBy(dir); by != "" {
		return job.StopCause{State: event.Cancelled, Reason: by}
	}
	ctx, done := context.WithTimeout(context.Background(), 3*time.Second)
	defer done()
	// The end of a job that Slurm is ending is now: only a running one has its limit
	// there, which may have been changed since the start.
	j, err := slurm.Status(ctx, rec)
	nodes := s.Getenv("SLURM_JOB_NODELIST")
	if j.WasPreempted() {
		why := "preempted: Slurm gives its nodes to a job of higher priority"
		return job.StopCause{State: event.Cancelled, Reason: why, KillAfter: window}
	}
	if down := slurm.DownNodes(ctx, nodes); len(down) > 0 {
		why := "node " + strings.Join(down, ", ") + " of the allocation is down"
		return job.StopCause{State: event.Failed, Reason: why, KillAfter: window}
	} else if j.NodeLost() { // and is back already, as after a restart of its slurmd
		return job.StopCause{State: event.Failed, Reason: "a node of the allocation was down: one of " + nodes, KillAfter: window}
	}
	if err != nil || j.State != "RUNNING" {
		atStart.State = j.State
		j = atStart
	}
	switch {
	case j.NearTimeLimit(s.Now()):
		why := "the time limit of the job, " + j.End.Local().Format("15:04:05") + ", is near"
		return job.StopCause{State: event.Timeout, Reason: why}
	case j.State == "RUNNING":
		return job.StopCause{State: event.Cancelled, Reason: "a TERM signal came for the batch script alone"}
	}
	why := "Slurm is ending the job: somebody cancelled it"
	if err != nil { // without the controller's word
		why += ", or it is preempted: the controller does not answer"
	}
	return job.StopCause{State: event.Cancelled, Reason: why, KillAfter: window}
}

// identify looks again at what a compute node has: image and model.
func identify(dir string, log io.Writer) {
	path := filepath.Join(dir, identity.FileName)
	id, err := identity.Read(dir, "")
	if err == nil && id.Image != nil && id.Model != nil {
		image, model := identity.InspectImage(id.Image.Name), identity.InspectModel(id.Model.Path)
		model.Expected = id.Model.Expected
		id.Image, id.Model = &image, &model
		err = identity.Write(path, id)
	}
	if err != nil {
		_, _ = fmt.Fprintf(log, "%v\n", err) // the run goes on
	}
}
