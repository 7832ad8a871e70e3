// Package runs finds, lists and cancels recorded and external runs, resolves their state from
// all available evidence, and reads their logs and figures. It does not know how runs are
// submitted.
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

// Store gives access to the recorded runs. Use [New] to create one.
type Store struct {
	registry rundir.Registry
	status   *Resolver

	mu    sync.Mutex
	cache map[string]cachedFigures // figures of the list of runs, by run directory
}

// New returns a Store of the runs in a registry.
func New(registry rundir.Registry, status *Resolver) *Store {
	return &Store{registry: registry, status: status, cache: map[string]cachedFigures{}}
}

// State returns the current status of a run, as [Resolver.State] does.
func (s *Store) State(ref Ref) (event.Status, error) { return s.status.State(ref) }

// Phases returns the planned phases of a run; none for an external run.
func (s *Store) Phases(ref Ref) ([]plan.Phase, error) { return ref.phases() }

// Results computes the figures of a run from its files.
func (s *Store) Results(ctx context.Context, ref Ref) (results.Run, error) {
	c, err := s.runContext(ref)
	if err != nil {
		return results.Run{}, err
	}
	return results.Load(ctx, ref.Logs, c)
}

// Rollup writes benchmark-rollup.json into the log directory and returns its path. The path is
// empty if no phase has ended.
func (s *Store) Rollup(ctx context.Context, ref Ref) (string, results.Rollup, error) {
	c, err := s.runContext(ref)
	if err != nil {
		return "", results.Rollup{}, err
	}
	return results.WriteRollup(ctx, ref.Logs, c)
}

// runContext returns the run context for computing the figures, including whether they are
// partial.
func (s *Store) runContext(ref Ref) (results.RunContext, error) {
	c, err := ref.Context()
	if err != nil || ref.Record.ID == "" {
		return c, err
	}
	status, err := s.State(ref)
	if err != nil {
		return c, err
	}
	c.Running = !status.State.Final() && status.State != event.Unknown
	// During an outage of Slurm it is not known whether the run has ended.
	if status.State != event.Unknown || status.Queue == nil || status.Queue.Error == "" {
		c.Partial = job.PartialReason(status.State, status.Message)
	}
	c.Identity = identity.JSON(ref.Dir, ref.Logs)
	return c, nil
}

// Identity returns the commits, hashes and versions recorded for a run so far. It is zero for
// an external run.
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
