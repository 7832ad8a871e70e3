package replay

import "time"

// Step is one request of a user and what follows it.
type Step struct {
	Pass int // trajectories that the user began before this one, from 0
	// Conversation is the trajectory's id, Turn the request's place in it from 0.
	Conversation string
	Turn         int
	// OutputLimit is the trajectory's own limit in tokens, 0 for none; the
	// configured limit holds as well.
	OutputLimit int
	Delay       time.Duration // the recorded tool call after the response
	Last        bool          // marks the trajectory's last turn: after its response the trajectory counts as completed

	turn *turn
}

// Script is the endless sequence of one user's steps: the assigned trajectories in order, the first
// one from a seeded starting offset, then all over again from their beginnings. It is the same for
// equal dataset, seed and user, whatever the server does. Not for concurrent use.
type Script struct {
	conversations []conversation
	list          []int
	pass, turn    int
}

// Script starts the script of a user, who must be below the highest concurrency
// that the dataset was opened for.
func (d *Dataset) Script(user int) *Script {
	s := &Script{conversations: d.trajectories.conversations, list: d.lists[user]}
	s.turn = startOffset(d.seed, user, d.maxOffset, len(s.current().turns))
	return s
}

// startOffset is the turn at which a user enters a trajectory of so many turns:
// what Python's random.Random(seed + user).randint(0, most) draws, the last turn
// at most. The external client draws the same, so that runs can be paired.
func startOffset(seed int64, user, most, turns int) int {
	return min(newPyRandom(seed+int64(user)).randint(most), turns-1)
}

func (s *Script) current() conversation {
	return s.conversations[s.list[s.pass%len(s.list)]]
}

// Next is the next step.
func (s *Script) Next() Step {
	c := s.current()
	t := &c.turns[s.turn]
	step := Step{
		Pass: s.pass, Conversation: c.id, Turn: s.turn, OutputLimit: t.limit, Delay: t.delay,
		Last: s.turn == len(c.turns)-1, turn: t,
	}
	s.turn++
	if step.Last {
		s.pass, s.turn = s.pass+1, 0
	}
	return step
}
