package parity

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// ratedSide returns a side of 100 s in which user u has 1000 + 100·u output tokens, multiplied by scale.
func ratedSide(users int, scale float64) Side {
	s := Side{Phase: results.Phase{Window: &results.Window{Seconds: 100}}}
	for u := range users {
		for i := range 10 {
			s.Requests = append(s.Requests, results.Request{
				User: int32(u), Turn: int32(i), Conversation: 1, Measured: true, Input: -1, Cached: -1,
				Output: int32(scale * (100 + 10*float64(u))), TTFT: 1, Start: float64(10 * i),
			})
		}
	}
	return s
}

// TestPairedRate checks the values by hand: 20 users have 20·10 + 190 = 390 tok/s, twice that in the candidate.
// A constant ratio has an interval without width, and the difference varies like the users.
func TestPairedRate(t *testing.T) {
	t.Parallel()
	a, b := ratedSide(20, 1), ratedSide(20, 2)
	r := pairRates(&a, &b)
	if math.Abs(*r.Reference-390) > 1e-9 || math.Abs(*r.Candidate-780) > 1e-9 || math.Abs(*r.Difference-390) > 1e-9 ||
		math.Abs(*r.Change-1) > 1e-12 || r.Users != 20 || r.ReferenceUsers != 20 || r.CandidateUsers != 20 {
		t.Errorf("%+v", r)
	}
	// The standard deviation of 10, 11 … 29 is 5.916; of the sum of 20 draws, 26.5.
	half := 2.093 * 5.916 * math.Sqrt(20)
	if c, d := r.Change95, r.Difference95; math.Abs(c.Low-1) > 1e-12 || math.Abs(c.High-1) > 1e-12 ||
		math.Abs(d.Low-(390-half)) > 12 || math.Abs(d.High-(390+half)) > 12 || d.Method != overPairedUsers {
		t.Errorf("%+v, %+v, want ±%g", c, d, half)
	}
	// Users of one side only are not compared.
	c := ratedSide(25, 1)
	if r := pairRates(&a, &c); r.Users != 20 || r.CandidateUsers != 25 || *r.Change != 0 || *r.Candidate != *r.Reference {
		t.Errorf("%+v", r)
	}
	if text := pairRates(&a, &c).text(); !strings.Contains(text, "390.0 to 390.0 tok/s, +0.0 tok/s (+0.00%); "+
		"users in both runs: 20 of 20 and 25\n") || !strings.Contains(text, "  95% interval, 20 users") {
		t.Error(text)
	}
}

// TestNoPairedRate checks that there is no interval from few users, and no value from figures that have none.
func TestNoPairedRate(t *testing.T) {
	t.Parallel()
	a, b := ratedSide(11, 1), ratedSide(30, 1)
	r := pairRates(&a, &b)
	if *r.Change != 0 || r.Change95 != nil || r.Difference95 != nil ||
		r.IntervalText() != "too few users for an interval: 11, must be at least 12" {
		t.Errorf("%+v", r)
	}
	for want, change := range map[string]func(*Side){
		"the measuring window of the candidate is unknown": func(s *Side) { s.Phase.Window = nil },
		"Output tok/s (server-reported) of the candidate is invalid: half of the tokens are unknown": func(s *Side) {
			s.Phase.Figures = results.Figures{{Key: results.Primary, Value: 5, Invalid: "half of the tokens are unknown"}}
		},
		"too few users for an interval: 0, must be at least 12": func(s *Side) {
			for i := range s.Requests {
				s.Requests[i].User += 100
			}
		},
	} {
		a, b := ratedSide(30, 1), ratedSide(30, 1)
		change(&b)
		r := pairRates(&a, &b)
		if r.NoInterval != want || r.Reference != nil || r.Change != nil || r.Change95 != nil ||
			!strings.HasSuffix(r.text(), dash+": "+want+"\n") {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// TestPairedRateOfRun checks the text and the JSON of loaded runs with 2,000 requests of 100 and of 101 tokens in
// 200 s: 1000 and 1010 tok/s, a difference of 0.25 tok/s in each user.
func TestPairedRateOfRun(t *testing.T) {
	t.Parallel()
	c := Compare(rowsOf(t, 1, 1, 100), rowsOf(t, 2, 1, 101), Options{Paired: true})
	lines := strings.Split(c.Paired.Text(), "\n")
	want := []string{
		"paired requests: 2,000 (100.0% of 2,000 in the reference, 100.0% of 2,000 in the candidate)",
		"  Output tok/s (server-reported)     1,000.0 to 1,010.0 tok/s, +10.0 tok/s (+1.00%); " +
			"users in both runs: 40 of 40 and 40",
		"    95% interval, 40 users           +10.0 to +10.0 tok/s (+1.00% to +1.00%)",
	}
	if !slices.Equal(lines[:3], want) || !strings.Contains(c.Paired.Text(), "drift common to a whole run is not in them") {
		t.Error(c.Paired.Text())
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Paired struct {
			Rate PairedRate `json:"output_server_tok_s"`
		}
	}
	if err := json.Unmarshal(data, &out); err != nil || math.Abs(*out.Paired.Rate.Change-0.01) > 1e-12 ||
		out.Paired.Rate.Users != 40 {
		t.Errorf("%v, %+v", err, out)
	}
}
