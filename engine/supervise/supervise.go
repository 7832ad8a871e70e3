// Package supervise runs the plan of a run directory to its end, in the allocation of the run's
// job or on this machine. It is the main program of the job, and does not depend on watchers.
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
	Program  string // path of this executable, for the steps of a local run
	Getenv   func(string) string
	Now      func() time.Time
}

// Run runs the plan of a run directory until the run or ctx ends, and returns the run's exit code.
// It writes its own log lines to log. It returns an error if the run was
// started before.
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
	if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
		// The run's log was removed too, so the reason is recorded in the registry.
		why := "the supervisor stopped the run at " + s.Now().UTC().Format("2006-01-02 15:04:05 UTC")
		err = errors.Join(
			problem.Errorf(problem.RunDirectoryMissing, "run %s: directory %s was removed during the run; %s", rec.ID, dir, why),
			s.Registry.MarkLost(rec.ID, why))
	}
	return code, err
}

func (s Supervisor) run(ctx context.Context, dir string, rec rundir.Record, p *plan.Plan, log io.Writer) (int, error) {
	if p.Target == plan.Slurm {
		return s.runInAllocation(ctx, dir, rec, p, log)
	}
	release, err := local.Lock(ctx, dir)
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	code, err := s.runLocal(ctx, dir, rec.ID, p, log)
	return code, errors.Join(err, release())
}

func (s Supervisor) runLocal(ctx context.Context, dir, id string, p *plan.Plan, log io.Writer) (int, error) {
	values, err := local.Bindings(p, id, dir, rundir.Logs(dir), s.Program)
	if err == nil {
		p, err = bind(dir, p, values)
	}
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	runner := local.NewRunner()
	defer runner.Close()
	opt := s.options(dir, p, log, runner)
	opt.Started = local.ReportReady
	return job.Run(ctx, opt)
}

// bind replaces the placeholders of the plan and writes the bound plan.
func bind(dir string, p *plan.Plan, values plan.Values) (*plan.Plan, error) {
	p = p.Bind(values)
	return p, rundir.WriteNew(filepath.Join(dir, rundir.BoundFile), p, 0o600)
}

// options returns the options common to local and Slurm runs.
func (s Supervisor) options(dir string, p *plan.Plan, log io.Writer, runner job.Runner) job.Options {
	logs := rundir.Logs(dir)
	return job.Options{
		Plan: p, LogDir: logs, Runner: runner, Log: log, Now: s.Now, Components: backend.All().Components(),
		Identity: func() json.RawMessage { return identity.JSON(dir, logs) },
	}
}

// stopWait is how long a run with a failed step waits for a SIGTERM that explains the failure.
const stopWait = 2 * time.Second

// runInAllocation runs the plan in the job's allocation.
func (s Supervisor) runInAllocation(
	ctx context.Context, dir string, rec rundir.Record, p *plan.Plan, log io.Writer,
) (int, error) {
	id := s.Getenv("SLURM_JOB_ID")
	if id != rec.ID {
		return 1, problem.Errorf(problem.AllocationMismatch, "supervise %s: SLURM_JOB_ID is %q, not %s, the run's job",
			dir, id, rec.ID)
	}
	atStart, err := slurm.Status(ctx, rec)
	if err != nil { // not fatal: stopReason queries Slurm again
		atStart = slurm.Job{}
	}
	values, err := slurm.Bindings(ctx, p, id, s.Getenv("SLURM_JOB_NODELIST"), dir, rundir.Logs(dir))
	if err == nil {
		p, err = bind(dir, p, values)
	}
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	go identify(dir, log)                 // in the background, because the file system may hang
	window := slurm.KillWait(ctx) * 4 / 5 // read now, since there is no time for it after SIGTERM
	running, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	go func() {
		select {
		case <-ctx.Done():
			stop(s.stopReason(dir, rec, atStart, window))
		case <-running.Done():
		}
	}()
	opt := s.options(dir, p, log, slurm.NewRunner(id))
	opt.StopWait = stopWait
	return job.Run(running, opt)
}

// stopReason returns the cause of a SIGTERM: a cancellation by this program, the time limit, or the
// state that the controller reports. If Slurm ends the job, the steps must end within the window.
func (s Supervisor) stopReason(dir string, rec rundir.Record, atStart slurm.Job, window time.Duration) job.StopCause {
	if by := rundir.CancelledBy(dir); by != "" {
		return job.StopCause{State: event.Cancelled, Reason: by}
	}
	ctx, done := context.WithTimeout(context.Background(), 3*time.Second)
	defer done()
	// The time limit may have been changed since the start, so the end time is read again. It
	// follows from the time limit only while the job is running; otherwise the end time that
	// was read at the start is used below.
	j, err := slurm.Status(ctx, rec)
	nodes := s.Getenv("SLURM_JOB_NODELIST")
	if j.WasPreempted() {
		why := "preempted: Slurm assigned the nodes to a job of higher priority"
		return job.StopCause{State: event.Cancelled, Reason: why, KillAfter: window}
	}
	if down := slurm.DownNodes(ctx, nodes); len(down) > 0 {
		why := "node " + strings.Join(down, ", ") + " of the allocation is down"
		return job.StopCause{State: event.Failed, Reason: why, KillAfter: window}
	} else if j.NodeLost() { // the node is up again, for instance after a restart of slurmd
		why := "a node of the allocation was down; the nodes are " + nodes
		return job.StopCause{State: event.Failed, Reason: why, KillAfter: window}
	}
	if err != nil || j.State != "RUNNING" {
		atStart.State = j.State
		j = atStart
	}
	switch {
	case j.NearTimeLimit(s.Now()):
		why := "the job is about to reach its time limit at " + j.End.Local().Format("15:04:05")
		return job.StopCause{State: event.Timeout, Reason: why}
	case j.State == "RUNNING":
		return job.StopCause{State: event.Cancelled, Reason: "SIGTERM was sent to the batch script only"}
	}
	why := "Slurm is ending the job: it was cancelled"
	if err != nil {
		why += " or preempted (slurmctld does not answer)"
	}
	return job.StopCause{State: event.Cancelled, Reason: why, KillAfter: window}
}

// identify updates the identity of the image and the model, which may be visible only on
// compute nodes.
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
		_, _ = fmt.Fprintf(log, "%v\n", err) // not fatal
	}
}
