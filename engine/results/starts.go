package results

import "math"

const (
	// quietGap without any request in flight may be a restart of the client: it
	// has to load its trajectories again.
	quietGap = 5.0
	// longGap is asked for where the users' requests prove less: one user alone
	// repeats its first request also when it begins its next round, and users
	// that begin another trajectory may just have ended theirs.
	longGap = 60.0
	// proofs is how many users must begin from scratch.
	proofs = 3
)

// starts finds the last client start in the order of the rows of requests.jsonl, which outlives a
// restart of the client. A new start shows by a phase that goes back, by another concurrency in the
// same phase, or, within phase 0, by a gap in which nothing was in flight and after which the users
// do again what they did first (with another seed: begin another trajectory).
type starts struct {
	begins      []float64 // start_time from which on rows are of a later start, a start each
	seen        bool
	phase       uint16 // highest of this start
	concurrency int32
	lastStart   float64 // of this start
	lastEnd     float64
	users       traces // in phase 0

	doubt *doubt // a gap that may prove to be a restart
}

// trace is the first request of a user and the pass of its latest.
type trace struct {
	known              bool
	conversation, pass uint32
	turn               int32
}

// traces are those of all users.
type traces struct {
	perUser[trace]
	n int // users that are known
}

type doubt struct {
	gap       float64 // s
	lastStart float64 // of what came before the gap
	lastEnd   float64
	users     traces // since the gap
	repeats   int    // users that did their first request again
	fresh     int    // users that began another trajectory
}

func newStarts() starts {
	return starts{concurrency: -1, lastStart: math.Inf(-1), lastEnd: math.Inf(-1)}
}

// add takes the rows in file order.
func (s *starts) add(r *Request) {
	if r.noStartTime {
		return
	}
	other := r.concurrency >= 0 && s.concurrency >= 0 && r.concurrency != s.concurrency
	if s.seen && r.Start > s.lastStart && (r.phase < s.phase || r.phase == s.phase && other) {
		s.restart(s.lastStart)
	}
	if r.phase > s.phase || !s.seen {
		s.phase, s.concurrency, s.doubt = r.phase, r.concurrency, nil
	}
	s.seen = true
	if r.phase == 0 && s.phase == 0 && r.User >= 0 {
		s.trace(r)
	}
	s.lastStart = max(s.lastStart, r.Start)
	if !math.IsNaN(r.End) {
		s.lastEnd = max(s.lastEnd, r.End)
	}
}

// restart makes the last start begin after a time.
func (s *starts) restart(after float64) {
	begins := append(s.begins, math.Nextafter(after, math.Inf(1)))
	*s = newStarts()
	s.begins = begins
}

func (s *starts) trace(r *Request) {
	if s.doubt == nil && s.users.n > 0 && r.Start-s.lastEnd >= quietGap {
		s.doubt = &doubt{gap: r.Start - s.lastEnd, lastStart: s.lastStart, lastEnd: s.lastEnd}
	}
	d := s.doubt
	if d == nil || r.Start <= d.lastEnd {
		s.users.follow(r)
		return
	}
	before, again := *s.users.at(r.User), d.users.at(r.User).known
	d.users.follow(r)
	if !before.known || again {
		return
	}
	switch {
	case r.Pass != before.pass && r.Conversation == before.conversation && r.Turn == before.turn:
		d.repeats++
	case r.Pass != before.pass && d.gap >= longGap:
		d.fresh++
	default:
		s.trust() // the user goes on
		return
	}
	few := s.users.n == 1 && d.gap < longGap
	if few || d.repeats < min(proofs, s.users.n) && d.repeats+d.fresh < proofs {
		return
	}
	kept := *s
	s.restart(d.lastStart)
	s.seen, s.concurrency, s.users = true, kept.concurrency, d.users
	s.lastStart, s.lastEnd = kept.lastStart, kept.lastEnd
}

// trust ends a doubt: the gap was no restart.
func (s *starts) trust() {
	s.doubt.users.each(func(user int32, t *trace) {
		if t.known {
			s.users.follow(&Request{User: user, Conversation: t.conversation, Turn: t.turn, Pass: t.pass})
		}
	})
	s.doubt = nil
}

// follow notes a user's first request and its latest pass.
func (t *traces) follow(r *Request) {
	u := t.at(r.User)
	if !u.known {
		*u = trace{known: true, conversation: r.Conversation, turn: r.Turn}
		t.n++
	}
	u.pass = r.Pass
}
