package replay

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Dataset is the trajectories and who plays which, checked for every user of a
// replay. Its methods are safe for concurrent use.
type Dataset struct {
	trajectories *trajectories
	users        int // entries of the assignments file, 0 without one
	perUser      int
	lists        [][]int // a user's conversations, for each user of the highest concurrency

	seed      int64
	maxOffset int
}

// OpenDataset indexes cfg's trajectories and resolves its assignments for the
// highest concurrency. It fails, naming file and line, when a row is malformed,
// a turn missing or a user not covered; nothing has been sent then. Close it.
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

// openError reports a dataset file that can't be opened; key is the workload field that names it.
func openError(what, key string, err error) error {
	id := problem.Of(err)
	if id == problem.FileNotFound {
		id = problem.DatasetMissing
	}
	return problem.Errorf(id, "%s: %w; set %s to a file that this machine can read", what, err, key)
}

// assign fills the users' lists from the assignments file or by choice.
func (d *Dataset) assign(cfg Config) error {
	n := cfg.maxConcurrency()
	d.lists = make([][]int, n)
	if cfg.AssignmentsPath == "" {
		d.perUser = cfg.TrajectoriesPerUser
		d.choose()
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
				"use a file that covers users 0 to %d, or lower the concurrency of %d",
				cfg.AssignmentsPath, user, len(a.users), n-1, n)
		}
		for _, id := range ids {
			i, ok := d.trajectories.byID[id]
			if !ok {
				return problem.Errorf(problem.DatasetInvalid, "user assignments: %s: user %d: conversation %q is not in %s; "+
					"check that the two files belong together", cfg.AssignmentsPath, user, id, cfg.TrajectoryPath)
			}
			d.lists[user] = append(d.lists[user], i)
		}
	}
	return nil
}

// choose deals the conversations out as one shuffled deck, seeded, that starts
// over when it runs out: every conversation is played about as often.
func (d *Dataset) choose() {
	n := len(d.trajectories.conversations)
	deck := rand.New(rand.NewPCG(uint64(d.seed), uint64(n))).Perm(n)
	for user := range d.lists {
		for k := range d.perUser {
			d.lists[user] = append(d.lists[user], deck[(user*d.perUser+k)%n])
		}
	}
}

// conversations is the number of trajectories in the file.
func (d *Dataset) conversations() int { return len(d.trajectories.conversations) }

// turns is the number of requests in all trajectories together.
func (d *Dataset) turns() int { return d.trajectories.turns }

// Prompt reads a step's messages and tools from the file. tools is nil when the turn has none.
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
