package replay

import "time"

// Step is one request of a user and the delay after it.
type Step struct {
	Pass         int    // number of trajectories that the user has begun before this one
	Conversation string // id of the trajectory
	Turn         int    // index of the request in the trajectory
	// OutputLimit is the trajectory's output limit in tokens, 0 for none. The configured limit
	// applies as well.
	OutputLimit int
	Delay       time.Duration // duration of the recorded tool call after the response
	Last        bool          // the trajectory is complete after this request

	turn *turn
}

// Script is the endless sequence of one user's steps. It consists of the assigned trajectories in
// order, repeated forever; the first one begins at a seeded turn. It depends only on the dataset,
// the seed and the user. A Script is not safe for concurrent use.
type Script struct {
	conversations []conversation
	assigned      []int
	pass, turn    int
}

// Script returns the script of a user, from the beginning. user must be less than the highest
// concurrency that the dataset was opened for.
func (d *Dataset) Script(user int) *Script {
	s := &Script{conversations: d.trajectories.conversations, assigned: d.assigned[user]}
	s.turn = startOffset(d.seed, user, d.maxOffset, len(s.current().turns))
	return s
}

// startOffset returns the turn at which a user's first trajectory begins: Python's
// random.Random(seed + user).randint(0, maxOffset), but at most the last turn. The external client
// computes the same number, so that runs of both can be compared request by request.
func startOffset(seed int64, user, maxOffset, turns int) int {
	return min(newPyRandom(seed+int64(user)).randint(maxOffset), turns-1)
}

func (s *Script) current() conversation {
	return s.conversations[s.assigned[s.pass%len(s.assigned)]]
}

// Next returns the next step.
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
