package parity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

// PairedRate compares the primary figure over the users that are in both runs. Each of them replays the
// same trajectories in both, so what distinguishes users is not in the difference. All measured requests
// of a user count, as in the figure itself.
type PairedRate struct {
	Users          int       `json:"users"`           // in both runs
	ReferenceUsers int       `json:"reference_users"` // with measured requests
	CandidateUsers int       `json:"candidate_users"`
	Reference      *float64  `json:"reference"` // of Users; nil for the reason NoInterval
	Candidate      *float64  `json:"candidate"`
	Difference     *float64  `json:"difference"`
	Change         *float64  `json:"change"`                 // Difference as a fraction of Reference
	Difference95   *Interval `json:"difference_interval_95"` // nil for the reason NoInterval
	Change95       *Interval `json:"change_interval_95"`
	NoInterval     string    `json:"no_interval,omitempty"`
}

// overPairedUsers is the method of the intervals of a PairedRate.
const overPairedUsers = "bootstrap over the differences of users; drift common to a whole run is not in them"

// pairRates compares the primary figure by user.
func pairRates(ref, cand *Side) *PairedRate {
	r := &PairedRate{}
	a, aReason := ref.userRates(sideNames[0])
	b, bReason := cand.userRates(sideNames[1])
	r.ReferenceUsers, r.CandidateUsers = len(a), len(b)
	var p pairs
	var x, y float64
	for _, user := range sortedUsers(a) { // in order, for a reproducible result
		if other, ok := b[user]; ok {
			p.add(user, a[user], other)
			x, y = x+a[user], y+other
			r.Users++
		}
	}
	if reasons := slices.DeleteFunc([]string{aReason, bReason}, func(s string) bool { return s == "" }); len(reasons) > 0 {
		r.NoInterval = strings.Join(reasons, "; ")
		return r
	}
	if r.Users == 0 {
		r.NoInterval = tooFewUsers(0)
		return r
	}
	in := p.intervals(rateStream)
	r.Reference, r.Candidate, r.Difference, r.Change = finite(x), finite(y), finite(y-x), in.Change
	r.NoInterval, r.Change95 = in.NoInterval, in.Change95
	if m := in.Mean95; m != nil {
		n := float64(r.Users)
		r.Difference95 = &Interval{n * m.Low, n * m.High, overPairedUsers}
	}
	if r.Change95 != nil {
		r.Change95.Method = overPairedUsers
	}
	return r
}

// rateStream is the random stream of the primary figure. Those of shifts are numbered from 0.
const rateStream = 1000

func sortedUsers(of map[int32]float64) []int32 {
	users := make([]int32, 0, len(of))
	for u := range of {
		users = append(users, u)
	}
	slices.Sort(users)
	return users
}

// userRates returns the share of each user in the primary figure, or the reason why there is none.
func (s *Side) userRates(name string) (rates map[int32]float64, reason string) {
	m := results.FindMetric(results.Primary)
	seconds := math.NaN()
	if w := s.Phase.Window; w != nil && w.Seconds > 0 {
		seconds = w.Seconds
	}
	rates = map[int32]float64{}
	for i := range s.Requests {
		r := &s.Requests[i]
		if !r.Measured || r.User < 0 {
			continue
		}
		rates[r.User] += 0 // also a user without known tokens is in the run
		if v := m.Formula.Of.Value(r); !math.IsNaN(v) {
			rates[r.User] += v / seconds
		}
	}
	if why := s.unfit(m.Key); why != "" {
		return rates, fmt.Sprintf("%s of the %s is invalid: %s", m.Label, name, why)
	}
	if math.IsNaN(seconds) {
		return rates, fmt.Sprintf("the measuring window of the %s is unknown", name)
	}
	return rates, ""
}

// text formats the comparison in two lines.
func (r *PairedRate) text() string {
	m := results.FindMetric(results.Primary)
	f := newFormat(m.Unit, m.Decimals)
	var b strings.Builder
	fmt.Fprintf(&b, "  %s  ", texttable.AlignLeft(m.Label, 33))
	if r.Reference == nil {
		fmt.Fprintf(&b, "%s: %s\n", dash, r.NoInterval)
		return b.String()
	}
	fmt.Fprintf(&b, "%s to %s, %s", f.number(*r.Reference), f.number(*r.Candidate)+f.unit, shiftText(f, *r.Difference))
	if r.Change != nil {
		fmt.Fprintf(&b, " (%s)", results.Change(*r.Change, 2))
	}
	fmt.Fprintf(&b, "; users in both runs: %d of %d and %d\n", r.Users, r.ReferenceUsers, r.CandidateUsers)
	title := fmt.Sprintf("  95%% interval, %d users", r.Users)
	fmt.Fprintf(&b, "  %s  %s\n", texttable.AlignLeft(title, 33), r.IntervalText())
	return b.String()
}

// IntervalText formats the interval of the difference, or says why there is none.
func (r *PairedRate) IntervalText() string {
	if r.Difference95 == nil {
		return r.NoInterval
	}
	m := results.FindMetric(results.Primary)
	f := newFormat(m.Unit, m.Decimals)
	bare := f
	bare.unit = ""
	out := shiftText(bare, r.Difference95.Low) + " to " + shiftText(f, r.Difference95.High)
	if in := r.Change95; in != nil {
		out += " (" + results.Change(in.Low, 2) + " to " + results.Change(in.High, 2) + ")"
	}
	return out
}
