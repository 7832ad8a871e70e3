package results

import "math"

const (
	// quietGap without any request in flight may be a restart of the client: it
	// has to load its trajectories again.
	minIdleGap = 5.0
	// longGap is asked for where the users' requests prove less: one user alone
	// repeats its first request also when it begins its next round, and users
	// that begin another trajectory may just have ended theirs.
	longIdleGap = 60.0
	// proofs is how many users must begin from scratch.
	minRestartedUsers = 3
)

// starts finds the last client start in the order of the rows of requests.jsonl, which outlives a
// restart of the client. A new start shows by a phase that goes back, by another concurrency in the
// same phase, or, within phase 0, by a gap in which nothing was in flight and after which the users
// do again what they did first (with another seed: begin another trajectory).
type restartDetector struct {
	starts      []float64 // start_time from which on rows are of a later start, a start each
	seen        bool
	phase       uint16 // highest of this start
	concurrency int32
	lastStart   float64 // of this start
	lastEnd     float64
	users       userTraces // in phase 0

	candidate *candidateRestart // a gap that may prove to be a restart
}

// trace is the first request of a user and the pass of its latest.
type userTrace struct {
	known              bool
	conversation, pass uint32
	turn               int32
}

// traces are those of all users.
type userTraces struct {
	perUser[userTrace]
	n int // users that are known
}

type candidateRestart struct {
	gap             float64 // s
	lastStart       float64 // of what came before the gap
	lastEnd         float64
	users           userTraces // since the gap
	repeats         int        // users that did their first request again
	newTrajectories int        // users that began another trajectory
}

func newRestartDetector() restartDetector {
	return restartDetector{concurrency: -1, lastStart: math.Inf(-1), lastEnd: math.Inf(-1)}
}

// add takes the rows in file order.
func (s *restartDetector) add(r *Request) {
	if r.noStartTime {
		return
	}
	other := r.concurrency >= 0 && s.concurrency >= 0 && r.concurrency != s.concurrency
	if s.seen && r.Start > s.lastStart && (r.phase < s.phase || r.phase == s.phase && other) {
		s.restart(s.lastStart)
	}
	if r.phase > s.phase || !s.seen {
		s.phase, s.concurrency, s.candidate = r.phase, r.concurrency, nil
	}
	s.seen = true
	if r.phase == 0 && s.phase == 0 && r.User >= 0 {
		s.checkUser(r)
	}
	s.lastStart = max(s.lastStart, r.Start)
	if !math.IsNaN(r.End) {
		s.lastEnd = max(s.lastEnd, r.End)
	}
}

// restart makes the last start begin after a time.
func (s *restartDetector) restart(after float64) {
	begins := append(s.starts, math.Nextafter(after, math.Inf(1)))
	*s = newRestartDetector()
	s.starts = begins
}

func (s *restartDetector) checkUser(r *Request) {
	if s.candidate == nil && s.users.n > 0 && r.Start-s.lastEnd >= minIdleGap {
		s.candidate = &candidateRestart{gap: r.Start - s.lastEnd, lastStart: s.lastStart, lastEnd: s.lastEnd}
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
	switch {
	case r.Pass != before.pass && r.Conversation == before.conversation && r.Turn == before.turn:
		d.repeats++
	case r.Pass != before.pass && d.gap >= longIdleGap:
		d.newTrajectories++
	default:
		s.dismissCandidate() // the user goes on
		return
	}
	few := s.users.n == 1 && d.gap < longIdleGap
	if few || d.repeats < min(minRestartedUsers, s.users.n) && d.repeats+d.newTrajectories < minRestartedUsers {
		return
	}
	kept := *s
	s.restart(d.lastStart)
	s.seen, s.concurrency, s.users = true, kept.concurrency, d.users
	s.lastStart, s.lastEnd = kept.lastStart, kept.lastEnd
}

// trust ends a doubt: the gap was no restart.
func (s *restartDetector) dismissCandidate() {
	s.candidate.users.each(func(user int32, t *userTrace) {
		if t.known {
			s.users.record(&Request{User: user, Conversation: t.conversation, Turn: t.turn, Pass: t.pass})
		}
	})
	s.candidate = nil
}

// follow notes a user's first request and its latest pass.
func (t *userTraces) record(r *Request) {
	u := t.get(r.User)
	if !u.known {
		*u = userTrace{known: true, conversation: r.Conversation, turn: r.Turn}
		t.n++
	}
	u.pass = r.Pass
}
