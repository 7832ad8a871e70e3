package engine

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"time"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/smallfile"
)

// canceller is who asked for a run's end.
type canceller struct {
	User string    `json:"user"`
	Host string    `json:"host"`
	At   time.Time `json:"t"`
}

// cancelledBy tells who asked for a run's end and where; empty: nobody did.
func cancelledBy(dir string) string {
	var by canceller
	if err := smallfile.ReadJSON(filepath.Join(dir, rundir.CancelFile), &by); err != nil {
		return ""
	}
	return "cancelled by " + by.User + " on " + by.Host
}

// orderly is how long a job may take for an orderly end: its client's 30 s and
// its servers' 10, each followed by a kill.
const orderly = 80 * time.Second

// cancelSlurm ends a run's job: one that waits at once, one that runs through its
// batch process, and the hard way when that has not ended it. A scheduler that does
// not answer is an error, and nothing is done.
func (e *Engine) cancelSlurm(ctx context.Context, l Located) error {
	r := l.Record
	j, err := slurm.Status(ctx, r)
	switch {
	case slurm.Gone(err) || err == nil && j.Over():
		return nil
	case err != nil:
		return fmt.Errorf("cancel %s: %w; nothing was done", l.Label(), err)
	}
	by := canceller{Host: e.host, At: e.now().UTC()}
	if u, err := user.Current(); err == nil { // its name is for people only
		by.User = u.Username
	}
	gone := l.gone() != nil
	if !gone {
		if err := smallfile.WriteJSON(filepath.Join(l.Dir, rundir.CancelFile), by, 0o644); err != nil {
			return fmt.Errorf("cancel %s: %w", l.Label(), err)
		}
	}
	if !gone && j.State == "RUNNING" && l.Record.Launcher != string(plan.Srtctl) { // whose script passes no signal on
		if err := slurm.Terminate(ctx, r.ID); err != nil {
			return fmt.Errorf("cancel %s: %w", l.Label(), err)
		}
		patience, done := context.WithTimeout(ctx, orderly)
		err := awaitEnd(patience, r)
		done()
		if err == nil {
			return e.caughtUp(ctx)
		}
	}
	if err := slurm.Withdraw(ctx, r.ID); err != nil {
		return fmt.Errorf("cancel %s: %w", l.Label(), err)
	}
	if err := awaitEnd(ctx, r); err != nil {
		return fmt.Errorf("cancel %s: job %s was cancelled and has not ended yet: %w", l.Label(), r.ID, err)
	}
	return e.caughtUp(ctx)
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
func (e *Engine) caughtUp(ctx context.Context) error {
	since := e.now()
	for {
		if a := e.queue.Ask(ctx); a.At.After(since) || a.Error != "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil // it is cancelled all the same
		case <-time.After(200 * time.Millisecond):
		}
	}
}
