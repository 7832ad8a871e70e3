// Package runs is the runs that are known here, and the folders of other tools: how
// one is found, what its state is by all the evidence, its logs and figures, and how
// it is cancelled. It knows what a run left behind, not how it was submitted.
package runs

import (
	"context"
	"fmt"
	"sync"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// Store is the runs that are known here. Make it with [New].
type Store struct {
	registry rundir.Registry
	status   *Resolver

	mu    sync.Mutex
	cache map[string]cachedFigures // figures of the list of runs, by folder
}

// New makes the store of the runs in a registry.
func New(registry rundir.Registry, status *Resolver) *Store {
	return &Store{registry: registry, status: status, cache: map[string]cachedFigures{}}
}

// State is what can be said of a run now, see [Resolver.State].
func (s *Store) State(ref Ref) (event.Status, error) { return s.status.State(ref) }

// Phases are what the plan of a run says of its phases; none for external runs.
func (s *Store) Phases(ref Ref) ([]plan.Phase, error) { return ref.phases() }

// Results reads a run's figures from its files.
func (s *Store) Results(ctx context.Context, ref Ref) (results.Run, error) {
	c, err := s.runContext(ref)
	if err != nil {
		return results.Run{}, err
	}
	return results.Load(ctx, ref.Logs, c)
}

// Rollup writes benchmark-rollup.json into the log dir and returns its path;
// empty when no phase has ended.
func (s *Store) Rollup(ctx context.Context, ref Ref) (string, results.Rollup, error) {
	c, err := s.runContext(ref)
	if err != nil {
		return "", results.Rollup{}, err
	}
	return results.WriteRollup(ctx, ref.Logs, c)
}

// context is what a run's files tell for its figures, and whether they are all.
func (s *Store) runContext(ref Ref) (results.RunContext, error) {
	c, err := ref.Context()
	if err != nil || ref.Record.ID == "" {
		return c, err
	}
	now, err := s.State(ref)
	if err != nil {
		return c, err
	}
	if now.State != event.Unknown || now.Queue == nil || now.Queue.Error == "" { // an outage says nothing of the run
		c.Partial = job.PartialReason(now.State, now.Message)
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
		return id, fmt.Errorf("read the identity of %s: %w", ref.Label(), err)
	}
	return id, nil
}
