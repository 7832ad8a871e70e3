package parity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

// Pairing compares paired requests. Both runs replay the same trajectories, so requests are matched
// by user, conversation, turn and pass. Only requests that were measured and successful in both runs
// are paired.
type Pairing struct {
	Reference int // number of requests
	Candidate int
	Matched   int
	Ambiguous int             // requests of a side with the same key as another one; not paired
	Rate      *PairedRate     // of the primary figure
	Shifts    []Shift         // of results.PairedQuantities, in the same order
	Turns     []PairedRequest // requests with the largest TTFT shifts, slower ones first
	Users     []ShiftGroup    // ordered by median shift, slower ones first
	Bands     []ShiftGroup    // ordered by input tokens
}

// MarshalJSON writes each shift under the key of its quantity.
func (p Pairing) MarshalJSON() ([]byte, error) {
	out := results.Object{
		{Name: "reference_requests", Value: p.Reference},
		{Name: "candidate_requests", Value: p.Candidate},
		{Name: "matched", Value: p.Matched},
		{Name: "ambiguous", Value: p.Ambiguous},
	}
	out.Add(results.Primary, p.Rate)
	for _, s := range p.Shifts {
		out.Add(s.Quantity.Paired().Key, s)
	}
	out.Add("turns", p.Turns)
	out.Add("users", p.Users)
	out.Add("input_lengths", p.Bands)
	return out.MarshalJSON()
}

// Shift returns the shift of one of results.PairedQuantities.
func (p *Pairing) Shift(q results.Quantity) Shift {
	return p.Shifts[slices.IndexFunc(p.Shifts, func(s Shift) bool { return s.Quantity == q })]
}

// Shift summarizes the differences candidate - reference over all pairs.
type Shift struct {
	Quantity results.Quantity `json:"-"`
	N        int              `json:"n"`
	Mean     *float64         `json:"mean"`   // nil if there are no pairs
	Median   *float64         `json:"median"` // in the unit of the quantity
	Slower   float64          `json:"slower"` // fraction of pairs in which the candidate is worse
	*ShiftIntervals
}

// ShiftIntervals are the intervals of the shift over all pairs.
type ShiftIntervals struct {
	Users      int       `json:"users"`            // number of users with pairs
	Change     *float64  `json:"change"`           // Mean as a fraction of the reference's mean over the pairs
	Mean95     *Interval `json:"mean_interval_95"` // nil for the reason NoInterval
	Median95   *Interval `json:"median_interval_95"`
	Change95   *Interval `json:"change_interval_95"`
	NoInterval string    `json:"no_interval,omitempty"`
}

// PairedRequest is one request with its TTFT in both runs.
type PairedRequest struct {
	User      int     `json:"user"`
	Turn      int     `json:"turn"`
	Pass      int     `json:"pass"`
	Input     int     `json:"input_tokens"` // in the reference; -1 if unknown
	Reference float64 `json:"reference_s"`  // TTFT
	Candidate float64 `json:"candidate_s"`
}

// ShiftGroup is the TTFT shift of a group of pairs.
type ShiftGroup struct {
	Name  string `json:"name"`
	N     int    `json:"n"`
	Shift Shift  `json:"ttft_s"`
}

const (
	maxTurns = 10
	maxUsers = 10
	minPairs = 5 // of a listed user
)

// bandEdges are the upper bounds of the input length bands, in tokens.
var bandEdges = []int32{
	1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, math.MaxInt32,
}

// requestKey identifies a request in both runs.
type requestKey struct {
	user, turn         int32
	pass, conversation uint32
}

// pairRequests pairs the requests of two runs. It returns nil if a side has no requests.
func pairRequests(ref, cand []results.Request) *Pairing {
	if len(ref) == 0 || len(cand) == 0 {
		return nil
	}
	refs, refCount, refAmbiguous := indexRequests(ref)
	cands, candCount, candAmbiguous := indexRequests(cand)
	p := &Pairing{Reference: refCount, Candidate: candCount, Ambiguous: refAmbiguous + candAmbiguous}
	quantities := results.PairedQuantities()
	shifts := make([]pairs, len(quantities))
	users, bands := map[int32][]float64{}, make([][]float64, len(bandEdges))
	var moved []PairedRequest
	for i := range ref { // in order, for a reproducible result
		at := keyOf(&ref[i])
		a, b := refs[at], cands[at]
		if a != &ref[i] || b == nil {
			continue
		}
		p.Matched++
		for k, q := range quantities {
			shifts[k].add(a.User, q.Value(a), q.Value(b))
		}
		d := results.TTFT.Value(b) - results.TTFT.Value(a)
		if math.IsNaN(d) {
			continue
		}
		users[a.User] = append(users[a.User], d)
		if a.Input >= 0 {
			k, _ := slices.BinarySearch(bandEdges, a.Input)
			bands[k] = append(bands[k], d)
		}
		if d != 0 {
			moved = append(moved, PairedRequest{int(a.User), int(a.Turn), int(a.Pass), int(a.Input), a.TTFT, b.TTFT})
		}
	}
	for k, q := range quantities {
		s := newShift(q, shifts[k].differences())
		s.ShiftIntervals = shifts[k].intervals(uint64(k))
		p.Shifts = append(p.Shifts, s)
	}
	p.Turns, p.Users, p.Bands = largestShifts(moved), slowestUsers(users), groupByLength(bands)
	return p
}

func keyOf(s *results.Request) requestKey { return requestKey{s.User, s.Turn, s.Pass, s.Conversation} }

// indexRequests returns the requests of a side by key, nil for ambiguous keys, and the numbers of
// all and of ambiguous requests.
func indexRequests(samples []results.Request) (at map[requestKey]*results.Request, n, ambiguous int) {
	at = make(map[requestKey]*results.Request, len(samples))
	for i := range samples {
		s := &samples[i]
		if !s.Measured || s.Failed {
			continue
		}
		n++
		if s.User < 0 || s.Turn < 0 || s.Conversation == 0 {
			continue
		}
		if _, seen := at[keyOf(s)]; seen {
			s = nil
			ambiguous++
		}
		at[keyOf(&samples[i])] = s
	}
	return at, n, ambiguous
}

func appendKnown(to []float64, v float64) []float64 {
	if math.IsNaN(v) {
		return to
	}
	return append(to, v)
}

// newShift summarizes the differences of a quantity.
func newShift(of results.Quantity, d []float64) Shift {
	s := Shift{Quantity: of, N: len(d)}
	if s.N == 0 {
		return s
	}
	sum, worse := 0.0, 0
	for _, v := range d {
		sum += v
		if v != 0 && (v > 0) == (of.Paired().Better == results.Lower) {
			worse++
		}
	}
	d = slices.Sorted(slices.Values(d))
	s.Mean, s.Median, s.Slower = finite(sum/float64(s.N)), finite(percentile.Of(d, 50)), float64(worse)/float64(s.N)
	return s
}

// largestShifts returns the pairs with the largest shifts, half of them slower and half faster.
func largestShifts(moved []PairedRequest) []PairedRequest {
	slices.SortStableFunc(moved, func(a, b PairedRequest) int {
		return cmp.Compare(b.Candidate-b.Reference, a.Candidate-a.Reference)
	})
	if len(moved) <= maxTurns {
		return append([]PairedRequest{}, moved...)
	}
	return append(slices.Clone(moved[:maxTurns/2]), moved[len(moved)-maxTurns/2:]...)
}

// slowestUsers returns the users with the largest median shifts.
func slowestUsers(users map[int32][]float64) []ShiftGroup {
	out := []ShiftGroup{}
	for user, d := range users {
		if len(d) >= minPairs {
			out = append(out, ShiftGroup{fmt.Sprintf("user %d", user), len(d), newShift(results.TTFT, d)})
		}
	}
	slices.SortFunc(out, func(a, b ShiftGroup) int {
		return cmp.Or(cmp.Compare(*b.Shift.Median, *a.Shift.Median), cmp.Compare(a.Name, b.Name))
	})
	return out[:min(len(out), maxUsers)]
}

// groupByLength returns the shifts of each input length band.
func groupByLength(bands [][]float64) []ShiftGroup {
	out := []ShiftGroup{}
	from := int32(0)
	for k, d := range bands {
		if len(d) > 0 {
			name := fmt.Sprintf("%s to %s tokens", results.Count(from), results.Count(bandEdges[k]))
			if k == len(bands)-1 {
				name = fmt.Sprintf("over %s tokens", results.Count(from))
			}
			out = append(out, ShiftGroup{name, len(d), newShift(results.TTFT, d)})
		}
		if k < len(bands)-1 {
			from = bandEdges[k] + 1
		}
	}
	return out
}

// MatchedPercent returns the percentage of the given number of requests that were paired.
func (p *Pairing) MatchedPercent(of int) string {
	if of == 0 {
		return dash
	}
	return results.Decimal(100*float64(p.Matched)/float64(of), 1) + "%"
}

// Text formats the pairing for a terminal.
func (p *Pairing) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "paired requests: %s (%s of %s in the reference, %s of %s in the candidate)",
		results.Count(p.Matched), p.MatchedPercent(p.Reference), results.Count(p.Reference), p.MatchedPercent(p.Candidate),
		results.Count(p.Candidate))
	if p.Ambiguous > 0 {
		fmt.Fprintf(&b, "; %d ambiguous, not paired", p.Ambiguous)
	}
	b.WriteString("\n")
	line := func(name string, s Shift) {
		f := newFormat(s.Quantity.Paired().Unit, s.Quantity.Paired().Decimals)
		if s.N > 0 {
			fmt.Fprintf(&b, "  %s  median %s, mean %s%s, worse in %s of %s\n", texttable.AlignLeft(name, 33),
				shiftText(f, *s.Median), shiftText(f, *s.Mean), s.changeText(), results.Decimal(100*s.Slower, 1)+"%",
				results.Count(s.N))
		}
		if s.ShiftIntervals != nil && s.N > 0 {
			fmt.Fprintf(
				&b,
				"  %s  %s\n",
				texttable.AlignLeft(fmt.Sprintf("  95%% interval, %d users", s.Users), 33),
				s.intervalText(f),
			)
		}
	}
	if p.Rate != nil {
		b.WriteString(p.Rate.text())
	}
	for _, s := range p.Shifts {
		line(s.Quantity.Paired().Label, s)
	}
	for _, set := range slices.Concat(p.Bands, p.Users) {
		line("TTFT, "+set.Name, set.Shift)
	}
	fmt.Fprintf(&b, "  the intervals are by %s\n", overPairs)
	f := newFormat(results.TTFT.Paired().Unit, results.TTFT.Paired().Decimals)
	for _, m := range p.Turns {
		fmt.Fprintf(&b, "  user %d, pass %d, turn %d: TTFT %s to %s (%s)\n", m.User, m.Pass, m.Turn,
			f.number(m.Reference)+f.unit, f.number(m.Candidate)+f.unit, shiftText(f, m.Candidate-m.Reference))
	}
	return b.String()
}

// shiftText formats a difference with its sign.
func shiftText(f numberFormat, d float64) string {
	text := f.number(d) + f.unit
	if d >= 0 {
		text = "+" + text
	}
	return text
}

// changeText formats the mean relative to the reference, in parentheses, or returns "".
func (s Shift) changeText() string {
	if s.ShiftIntervals == nil || s.Change == nil {
		return ""
	}
	return " (" + results.Change(*s.Change, 2) + ")"
}

// intervalText formats the intervals of the shift, or says why there are none.
func (s Shift) intervalText(f numberFormat) string {
	if s.NoInterval != "" {
		return s.NoInterval
	}
	unitless := f
	unitless.unit = ""
	text := func(in *Interval) string { return shiftText(unitless, in.Low) + " to " + shiftText(f, in.High) }
	out := "median " + text(s.Median95) + ", mean " + text(s.Mean95)
	if in := s.Change95; in != nil {
		out += " (" + results.Change(in.Low, 2) + " to " + results.Change(in.High, 2) + ")"
	}
	return out
}
