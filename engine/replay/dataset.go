package replay

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Dataset holds the trajectories of a replay and their assignment to users.
// Its methods are safe for concurrent use.
type Dataset struct {
	trajectories *trajectories
	users        int     // entries of the assignments file, 0 without one
	perUser      int     // maximum number of conversations of a user
	assigned     [][]int // indexes of conversations, for each user of the highest concurrency

	seed      int64
	maxOffset int
}

// OpenDataset indexes the trajectories of cfg and resolves the assignments for the highest
// concurrency. If a row is malformed, a turn is missing or a user has no assignment, the error
// names the file and, where there is one, the line. The caller must close the dataset.
func OpenDataset(ctx context.Context, cfg Config) (*Dataset, error) {
	t, err := openTrajectories(ctx, cfg.TrajectoryPath, cfg.DelayKey)
	if err != nil {
		return nil, err
	}
	d := &Dataset{trajectories: t, seed: cfg.Seed, maxOffset: cfg.MaxStartingOffset}
	if err := d.assign(cfg); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// openError returns the error for a dataset file that can't be opened. key is the field of the
// workload that names the file.
func openError(what, key string, err error) error {
	id := problem.Of(err)
	if id == problem.FileNotFound {
		id = problem.DatasetMissing
	}
	return problem.Errorf(id, "%s: %w; set %s to a file that this machine can read", what, err, key)
}

// assign assigns conversations to users, from the assignments file if there is one.
func (d *Dataset) assign(cfg Config) error {
	n := cfg.maxConcurrency()
	d.assigned = make([][]int, n)
	if cfg.AssignmentsPath == "" {
		d.perUser = cfg.TrajectoriesPerUser
		d.assignBySeed()
		return nil
	}
	a, err := readAssignments(cfg.AssignmentsPath)
	if err != nil {
		return err
	}
	d.users, d.perUser = len(a.users), a.perUser
	for user := range n {
		ids, ok := a.users[user]
		if !ok {
			return problem.Errorf(problem.DatasetInvalid, "user assignments: %s: no entry for user %d (%d users in all); "+
				"use a file that covers users 0 to %d, or set a concurrency lower than %d",
				cfg.AssignmentsPath, user, len(a.users), n-1, n)
		}
		for _, id := range ids {
			i, ok := d.trajectories.byID[id]
			if !ok {
				return problem.Errorf(problem.DatasetInvalid, "user assignments: %s: user %d: conversation %q is not in %s; "+
					"check that the two files belong together", cfg.AssignmentsPath, user, id, cfg.TrajectoryPath)
			}
			d.assigned[user] = append(d.assigned[user], i)
		}
	}
	return nil
}

// assignBySeed assigns the conversations in a seeded random order and starts over after the last
// one, so that all are assigned about equally often.
func (d *Dataset) assignBySeed() {
	n := len(d.trajectories.conversations)
	order := rand.New(rand.NewPCG(uint64(d.seed), uint64(n))).Perm(n)
	for user := range d.assigned {
		for k := range d.perUser {
			d.assigned[user] = append(d.assigned[user], order[(user*d.perUser+k)%n])
		}
	}
}

// conversations returns the number of trajectories in the file.
func (d *Dataset) conversations() int { return len(d.trajectories.conversations) }

// turns returns the number of requests in all trajectories.
func (d *Dataset) turns() int { return d.trajectories.turns }

// Prompt reads the messages and tools of a step from the file. tools is nil if the turn has none.
func (d *Dataset) Prompt(s Step) (messages, tools json.RawMessage, err error) {
	if messages, err = d.trajectories.read(s.turn.messages, s.turn.line); err != nil {
		return nil, nil, err
	}
	if s.turn.tools.len > 0 {
		tools, err = d.trajectories.read(s.turn.tools, s.turn.line)
	}
	return messages, tools, err
}

// Close closes the trajectory file.
func (d *Dataset) Close() error { return d.trajectories.file.Close() }
