package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Cancel stops a run gracefully and waits until it has ended.
func (s *Store) Cancel(ctx context.Context, ref Ref) error {
	switch {
	case ref.Record.ID == "":
		return problem.Errorf(problem.RunExternal,
			"cancel %s: external run; cancel it with the program that submitted it", ref.Dir)
	case ref.OnSlurm():
		return s.cancelSlurm(ctx, ref)
	case ref.Record.Host != s.status.host:
		return problem.Errorf(problem.RunOnOtherHost, "cancel %s: the run is on host %s; cancel it there",
			ref.Record.ID, ref.Record.Host)
	}
	if err := ref.checkDir(); err != nil {
		return fmt.Errorf("cancel %s: %w", ref.Label(), err)
	}
	return local.Cancel(ctx, ref.Dir)
}

// gracePeriod is how long a job may take to stop gracefully: 30 s for the client and 10 s for
// each group of servers, each followed by a kill.
const gracePeriod = 80 * time.Second

// cancelSlurm cancels the job of a run. It cancels a pending job at once. It asks the batch
// process of a running job to stop, and cancels the job if it has not ended after
// gracePeriod. If Slurm does not answer, it changes nothing and returns an error.
func (s *Store) cancelSlurm(ctx context.Context, ref Ref) error {
	r := ref.Record
	j, err := slurm.Status(ctx, r)
	switch {
	case slurm.IsJobNotFound(err) || err == nil && j.Ended():
		return nil
	case err != nil:
		return fmt.Errorf("cancel %s: %w; nothing was cancelled", ref.Label(), err)
	}
	noDir := ref.checkDir() != nil
	if !noDir {
		if err := rundir.WriteCancel(ref.Dir, s.status.host, s.status.now()); err != nil {
			return fmt.Errorf("cancel %s: %w", ref.Label(), err)
		}
	}
	// The batch script of srtctl does not forward signals.
	if !noDir && j.State == "RUNNING" && ref.Record.Launcher != string(plan.Srtctl) {
		if err := slurm.Terminate(ctx, r.ID); err != nil {
			return fmt.Errorf("cancel %s: %w", ref.Label(), err)
		}
		graceCtx, done := context.WithTimeout(ctx, gracePeriod)
		err := awaitEnd(graceCtx, r)
		done()
		if err == nil {
			s.awaitFreshQueue(ctx)
			return nil
		}
	}
	if err := slurm.Cancel(ctx, r.ID); err != nil {
		return fmt.Errorf("cancel %s: %w", ref.Label(), err)
	}
	if err := awaitEnd(ctx, r); err != nil {
		return fmt.Errorf("cancel %s: job %s was signaled but has not ended yet: %w", ref.Label(), r.ID, err)
	}
	s.awaitFreshQueue(ctx)
	return nil
}

// awaitEnd waits until a job has ended. It asks the controller for this job once a second.
func awaitEnd(ctx context.Context, r rundir.Record) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		j, err := slurm.Status(ctx, r)
		if slurm.IsJobNotFound(err) || err == nil && j.Ended() {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
	}
}

// awaitFreshQueue waits for an answer of the queue that is newer than now, so that the next
// status shown is not the one before the cancellation.
func (s *Store) awaitFreshQueue(ctx context.Context) {
	since := s.status.now()
	for {
		if a := s.status.queue.Ask(ctx); a.At.After(since) || a.Error != "" {
			return
		}
		select {
		case <-ctx.Done():
			return // the job is cancelled anyway
		case <-time.After(200 * time.Millisecond):
		}
	}
}
