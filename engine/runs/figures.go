package runs

import (
	"context"
	"fmt"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// State is what can be said of a run now, see [Resolver.State].
func (s *Store) State(ref Ref) (event.Status, error) { return s.status.State(ref) }

// Results reads a run's figures from its files.
func (s *Store) Results(ctx context.Context, ref Ref) (results.Run, error) {
	c, err := s.context(ref)
	if err != nil {
		return results.Run{}, err
	}
	return results.Load(ctx, ref.Logs, c)
}

// Rollup writes benchmark-rollup.json into the log dir and returns its path;
// empty when no phase has ended.
func (s *Store) Rollup(ctx context.Context, ref Ref) (string, results.Rollup, error) {
	c, err := s.context(ref)
	if err != nil {
		return "", results.Rollup{}, err
	}
	return results.WriteRollup(ctx, ref.Logs, c)
}

// context is what a run's files tell for its figures, and whether they are all.
func (s *Store) context(ref Ref) (results.RunContext, error) {
	c, err := ref.Context()
	if err != nil || ref.Record.ID == "" {
		return c, err
	}
	now, err := s.State(ref)
	if err != nil {
		return c, err
	}
	if now.State != event.Unknown || now.Queue == nil || now.Queue.Error == "" { // an outage says nothing of the run
		c.Partial = job.Partial(now.State, now.Message)
	}
	c.Identity = identity.JSON(ref.Dir, ref.Logs)
	return c, nil
}

// Identity is what a run of ours ran with, as far as it is known by now; the zero
// value for outputs of other tools.
func (s *Store) Identity(ref Ref) (identity.Identity, error) {
	if ref.Record.ID == "" {
		return identity.Identity{}, nil
	}
	id, err := identity.Read(ref.Dir, ref.Logs)
	if err != nil {
		return id, fmt.Errorf("%s: %w", ref.Label(), err)
	}
	return id, nil
}
