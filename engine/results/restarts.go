package results

import "math"

const (
	// minIdleGap is the shortest time, in seconds, without a request in flight that may be
	// a restart of the client, which has to load its trajectories again. It may be shorter if requests
	// with the same ids are repeated.
	minIdleGap = 5.0
	// longIdleGap replaces minIdleGap where the requests are weaker evidence: a single user also
	// repeats its first request when it repeats its trajectory, and users that start another
	// trajectory may simply have completed the previous one.
	longIdleGap = 60.0
	// minRestartedUsers is the number of users that must start over.
	minRestartedUsers = 3
)

// restartDetector detects restarts of the client from the order of the rows in requests.jsonl, which
// a restart does not empty. A restart is assumed if the phase index decreases or if the concurrency
// changes within a phase. In phase 0 it is also assumed if no request was in flight for some time and
// the users then repeat their first request or, with another seed, start another trajectory.
type restartDetector struct {
	starts      []float64 // earliest start_time of the rows of each later client start
	seen        bool
	phase       uint16 // highest since the last start
	concurrency int32
	lastStart   float64 // since the last start
	lastEnd     float64
	users       userTraces // in phase 0

	candidate *candidateRestart // possible restart; nil if there is none
}

// userTrace identifies the first request of a user and the pass of its last one.
type userTrace struct {
	known                         bool
	conversation, firstPass, pass uint32
	turn                          int32
}

// userTraces holds the traces of all users.
type userTraces struct {
	perUser[userTrace]
	n int // number of known users
}

// candidateRestart is an idle gap that may be a restart.
type candidateRestart struct {
	gap             float64 // s
	lastStart       float64 // before the gap
	lastEnd         float64
	users           userTraces // since the gap
	repeats         int        // users that repeated their first request
	newTrajectories int        // users that started another trajectory
}

func newRestartDetector() restartDetector {
	return restartDetector{concurrency: -1, lastStart: math.Inf(-1), lastEnd: math.Inf(-1)}
}

// add adds a row. Rows must be added in file order.
func (s *restartDetector) add(r *Request) {
	if r.noStartTime {
		return
	}
	other := r.concurrency >= 0 && s.concurrency >= 0 && r.concurrency != s.concurrency
	phase := r.phase
	if r.flags&noPhase != 0 {
		phase = s.phase
	}
	if s.seen && r.Start > s.lastStart && (phase < s.phase || phase == s.phase && other) {
		s.restart(s.lastStart)
	}
	if phase > s.phase || !s.seen {
		s.phase, s.concurrency, s.candidate = phase, r.concurrency, nil
	}
	s.seen = true
	if phase == 0 && s.phase == 0 && r.User >= 0 {
		s.checkUser(r)
	}
	s.lastStart = max(s.lastStart, r.Start)
	if !math.IsNaN(r.End) {
		s.lastEnd = max(s.lastEnd, r.End)
	}
}

// restart records a client start: the rows that start after a time belong to it.
func (s *restartDetector) restart(after float64) {
	starts := append(s.starts, math.Nextafter(after, math.Inf(1)))
	*s = newRestartDetector()
	s.starts = starts
}

// checkUser updates the traces with a request of phase 0, and confirms or dismisses a candidate.
func (s *restartDetector) checkUser(r *Request) {
	gap := r.Start - s.lastEnd
	if s.candidate == nil && s.users.n > 0 && (gap >= minIdleGap || gap > 0 && s.users.get(r.User).firstRequestIs(r)) {
		s.candidate = &candidateRestart{gap: gap, lastStart: s.lastStart, lastEnd: s.lastEnd}
	}
	d := s.candidate
	if d == nil || r.Start <= d.lastEnd {
		s.users.record(r)
		return
	}
	before, again := *s.users.get(r.User), d.users.get(r.User).known
	d.users.record(r)
	if !before.known || again {
		return
	}
	first, same := before.firstIs(r), before.firstRequestIs(r)
	switch {
	case same || first && r.Pass != before.pass:
		d.repeats++
	case r.Pass != before.pass && d.gap >= longIdleGap:
		d.newTrajectories++
	default:
		s.dismissCandidate() // the user continued its trajectory
		return
	}
	if s.users.n == 1 && d.gap < longIdleGap && !same || !d.confirmed(s.users.n) {
		return
	}
	kept := *s
	s.restart(d.lastStart)
	s.seen, s.concurrency, s.users = true, kept.concurrency, d.users
	s.lastStart, s.lastEnd = kept.lastStart, kept.lastEnd
}

// firstIs reports whether a request is the first one of the user's trajectory, in any pass.
func (t *userTrace) firstIs(r *Request) bool {
	return r.Conversation == t.conversation && r.Turn == t.turn
}

// firstRequestIs reports whether a request has the identity of the user's first one, which occurs once
// in a client start.
func (t *userTrace) firstRequestIs(r *Request) bool {
	return t.known && t.firstIs(r) && r.Pass == t.firstPass && r.Pass != 0
}

// confirmed reports whether enough of the users started over.
func (c *candidateRestart) confirmed(users int) bool {
	return c.repeats >= min(minRestartedUsers, users) || c.repeats+c.newTrajectories >= minRestartedUsers
}

// dismissCandidate discards the candidate: the gap was not a restart.
func (s *restartDetector) dismissCandidate() {
	s.candidate.users.each(func(user int32, t *userTrace) {
		if t.known {
			first := Request{User: user, Conversation: t.conversation, Turn: t.turn, Pass: t.firstPass}
			s.users.record(&first)
			s.users.get(user).pass = t.pass
		}
	})
	s.candidate = nil
}

// record updates the trace of a user with a request.
func (t *userTraces) record(r *Request) {
	u := t.get(r.User)
	if !u.known {
		*u = userTrace{known: true, conversation: r.Conversation, turn: r.Turn, firstPass: r.Pass}
		t.n++
	}
	u.pass = r.Pass
}
