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
)

// Cancel ends a run gracefully and waits until it has ended.
func (s *Store) Cancel(ctx context.Context, l Ref) error {
	switch {
	case l.Record.ID == "":
		return fmt.Errorf("cancel %s: it was not started here, so there is nothing to tell it to", l.Dir)
	case l.OnSlurm():
		return s.cancelSlurm(ctx, l)
	case l.Record.Host != s.status.host:
		return fmt.Errorf("cancel %s: it runs on %s; cancel it there", l.Record.ID, l.Record.Host)
	}
	if err := l.gone(); err != nil {
		return fmt.Errorf("cancel %s: %w", l.Label(), err)
	}
	return local.Cancel(ctx, l.Dir)
}

// gracePeriod is how long a job may take to stop gracefully: its client's 30 s and
// its servers' 10, each followed by a kill.
const gracePeriod = 80 * time.Second

// cancelSlurm ends a run's job: one that waits at once, one that runs through its
// batch process, and the hard way when that has not ended it. A scheduler that does
// not answer is an error, and nothing is done.
func (s *Store) cancelSlurm(ctx context.Context, l Ref) error {
	r := l.Record
	j, err := slurm.Status(ctx, r)
	switch {
	case slurm.Gone(err) || err == nil && j.Over():
		return nil
	case err != nil:
		return fmt.Errorf("cancel %s: %w; nothing was done", l.Label(), err)
	}
	gone := l.gone() != nil
	if !gone {
		if err := rundir.WriteCancel(l.Dir, s.status.host, s.status.now()); err != nil {
			return fmt.Errorf("cancel %s: %w", l.Label(), err)
		}
	}
	if !gone && j.State == "RUNNING" && l.Record.Launcher != string(plan.Srtctl) { // whose script passes no signal on
		if err := slurm.Terminate(ctx, r.ID); err != nil {
			return fmt.Errorf("cancel %s: %w", l.Label(), err)
		}
		patience, done := context.WithTimeout(ctx, gracePeriod)
		err := awaitEnd(patience, r)
		done()
		if err == nil {
			return s.caughtUp(ctx)
		}
	}
	if err := slurm.Withdraw(ctx, r.ID); err != nil {
		return fmt.Errorf("cancel %s: %w", l.Label(), err)
	}
	if err := awaitEnd(ctx, r); err != nil {
		return fmt.Errorf("cancel %s: job %s was cancelled and has not ended yet: %w", l.Label(), r.ID, err)
	}
	return s.caughtUp(ctx)
}

// awaitEnd waits until a job does nothing any more. The controller is asked for this
// one job alone.
func awaitEnd(ctx context.Context, r rundir.Record) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		j, err := slurm.Status(ctx, r)
		if slurm.Gone(err) || err == nil && j.Over() {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
	}
}

// caughtUp waits for an answer of the queue that is newer than this moment, so that
// what is shown next is not the state before.
func (s *Store) caughtUp(ctx context.Context) error {
	since := s.status.now()
	for {
		if a := s.status.queue.Ask(ctx); a.At.After(since) || a.Error != "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil // it is cancelled all the same
		case <-time.After(200 * time.Millisecond):
		}
	}
}
