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

// Cancel ends a run gracefully and waits until it has ended.
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

// gracePeriod is how long a job may take to stop gracefully: its client's 30 s and
// its servers' 10, each followed by a kill.
const gracePeriod = 80 * time.Second

// cancelSlurm ends a run's job: one that waits at once, one that runs through its
// batch process, and the hard way when that has not ended it. A scheduler that does
// not answer is an error, and nothing is done.
func (s *Store) cancelSlurm(ctx context.Context, ref Ref) error {
	r := ref.Record
	j, err := slurm.Status(ctx, r)
	switch {
	case slurm.IsJobNotFound(err) || err == nil && j.Ended():
		return nil
	case err != nil:
		return fmt.Errorf("cancel %s: %w; nothing was cancelled", ref.Label(), err)
	}
	gone := ref.checkDir() != nil
	if !gone {
		if err := rundir.WriteCancel(ref.Dir, s.status.host, s.status.now()); err != nil {
			return fmt.Errorf("cancel %s: %w", ref.Label(), err)
		}
	}
	if !gone && j.State == "RUNNING" && ref.Record.Launcher != string(plan.Srtctl) { // whose script passes no signal on
		if err := slurm.Terminate(ctx, r.ID); err != nil {
			return fmt.Errorf("cancel %s: %w", ref.Label(), err)
		}
		patience, done := context.WithTimeout(ctx, gracePeriod)
		err := awaitEnd(patience, r)
		done()
		if err == nil {
			s.catchUp(ctx)
			return nil
		}
	}
	if err := slurm.Cancel(ctx, r.ID); err != nil {
		return fmt.Errorf("cancel %s: %w", ref.Label(), err)
	}
	if err := awaitEnd(ctx, r); err != nil {
		return fmt.Errorf("cancel %s: job %s was signalled but has not ended yet: %w", ref.Label(), r.ID, err)
	}
	s.catchUp(ctx)
	return nil
}

// awaitEnd waits until a job does nothing any more. The controller is asked for this one job alone.
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

// catchUp waits for an answer of the queue that is newer than this moment, so that
// what is shown next is not the state before.
func (s *Store) catchUp(ctx context.Context) {
	since := s.status.now()
	for {
		if a := s.status.queue.Ask(ctx); a.At.After(since) || a.Error != "" {
			return
		}
		select {
		case <-ctx.Done():
			return // it is cancelled all the same
		case <-time.After(200 * time.Millisecond):
		}
	}
}
