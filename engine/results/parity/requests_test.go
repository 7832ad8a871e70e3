package parity

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// rowsOf writes and loads a run of 40 users and 200 s, with the TTFT multiplied by scale.
func rowsOf(t *testing.T, seed uint64, scale float64, tokens int) Side {
	t.Helper()
	dir := filepath.Join(t.TempDir(), fmt.Sprint("run", seed))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for user := range 40 {
		for i := range 50 {
			pass, turn := i/10, i%10
			start := 1000 + float64(i)*4 + rng.Float64()
			ttft := scale * (0.2 + float64(user)/100 + rng.Float64()/10)
			fmt.Fprintf(&b, `{"phase_idx":0,"concurrency":40,"conversation_id":"c%d","conversation_idx":%d,"user_id":%d,`+
				`"request_id":"%d-%d-%d",`+
				`"start_time":%g,"end_time":%g,"server_input_tokens":%d,"server_output_tokens":%d,"server_cached_tokens":10,`+
				`"ttft":%g,"itl":0.02,"sse_output_speed":60,"success":true}`+"\n",
				user, turn, user, seed, user, pass, start, start+1+ttft, 900*(turn+1), tokens, ttft)
		}
	}
	for name, text := range map[string]string{
		results.RequestsFile: b.String(),
		results.ManifestFile: `{"phase_idx":0,"settling_end":1000,"actual_phase_end":1200}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return load(t, dir)
}

// TestIntervals checks that intervals contain the difference, are reproducible, and have a
// plausible width.
func TestIntervals(t *testing.T) {
	t.Parallel()
	a, b := rowsOf(t, 1, 1, 100), rowsOf(t, 2, 1.1, 100)
	c := Compare(a, b, Options{})
	again, err := json.Marshal(Compare(a, b, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	once, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(once), string(again)); diff != "" {
		t.Errorf("not reproducible: %s", diff)
	}
	n := 0
	for _, r := range c.Rows {
		for _, p := range r.Parts {
			if p.Interval == nil {
				continue
			}
			n++
			if d := *p.Delta; p.Interval.Low > d+1e-9 || p.Interval.High < d-1e-9 ||
				!strings.HasSuffix(p.Interval.Method, "within-run only") {
				t.Errorf("%s: %g is not in %+v", p.Key, d, *p.Interval)
			}
			// TTFT grows by 0.01 s per user over 40 users. The standard error of the median,
			// resampled by user, is at least about 0.4/sqrt(12)*1.25/sqrt(40), 5 % of 0.45.
			// That of the difference of two medians is 7 %, so the 95 % interval is ±14 %.
			if p.Key == "ttft_p50_s" && !(p.Interval.High-p.Interval.Low > 0.15 && p.Interval.High-p.Interval.Low < 0.7) {
				t.Errorf("%s: %+v", p.Key, *p.Interval)
			}
		}
	}
	if n < 15 {
		t.Errorf("%d intervals", n)
	}
	if !strings.Contains(c.Markdown(), "| Δ | 95% within-run only |") ||
		!strings.Contains(c.Text(), "95% within-run only") {
		t.Error(c.Markdown())
	}
	if c.TTFT == nil || len(c.TTFT.Percent) != 103 || math.Abs(c.TTFT.Candidate[50]/c.TTFT.Reference[50]-1.1) > 0.05 {
		t.Errorf("%+v", c.TTFT)
	}
}

// TestRanking checks weighted percentiles against percentiles of a sample in which
// each value is repeated.
func TestRanking(t *testing.T) {
	t.Parallel()
	at := ranking{values: []userValue{{10, 1}, {2, 1}, {3, 0}, {4, 2}, {1, 0}}}
	at.sort(3)
	for _, tt := range []struct {
		weights []int32
		sample  []float64
	}{
		{[]int32{1, 1, 1}, []float64{1, 2, 3, 4, 10}},
		{[]int32{2, 0, 1}, []float64{1, 1, 3, 3, 4}},
		{[]int32{0, 3, 0}, []float64{2, 2, 2, 10, 10, 10}},
		{[]int32{0, 0, 1}, []float64{4}},
	} {
		for _, p := range []float64{0, 5, 50, 77, 95, 100} {
			at.draw(tt.weights)
			if got, want := at.percentile(p), percentile.Of(tt.sample, p); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v, p%g: %g, want %g", tt.weights, p, got, want)
			}
		}
	}
}

func TestPaired(t *testing.T) {
	t.Parallel()
	a, b := rowsOf(t, 1, 1, 100), rowsOf(t, 2, 2, 100)
	b.Requests = b.Requests[:1500] // of 2,000
	p := Compare(a, b, Options{Paired: true}).Paired
	if p.Reference != 2000 || p.Candidate != 1500 || p.Matched != 1500 || p.Ambiguous != 0 {
		t.Fatalf("%+v", p)
	}
	ttft, speed := p.Shift(results.TTFT), p.Shift(results.LocalSpeed)
	if m := *ttft.Median; m < 0.35 || m > 0.55 || ttft.Slower != 1 || speed.Slower != 0 || *speed.Median != 0 {
		t.Errorf("%g, %+v", m, p)
	}
	if len(p.Turns) != 10 || p.Turns[0].User < 35 || p.Users[0].Name != "user 39" {
		t.Errorf("%+v, %+v", p.Turns, p.Users)
	}
	var names []string
	for _, band := range p.Bands {
		names = append(names, fmt.Sprint(band.Name, " ", band.N))
	}
	want := []string{
		"0 to 1,000 tokens 160", "1,001 to 2,000 tokens 160", "2,001 to 5,000 tokens 480",
		"5,001 to 10,000 tokens 700",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	text := p.Text()
	if !strings.HasPrefix(text, "paired requests: 1,500 (75.0% of 2,000 in the reference, 100.0% of 1,500 "+
		"in the candidate)\n") {
		t.Error(text)
	}
	// Two requests with the same key are ambiguous.
	twice := append(a.Requests[:2000:2000], a.Requests[7])
	if p := pairRequests(twice, a.Requests); p.Ambiguous != 1 || p.Matched != 1999 {
		t.Errorf("%d ambiguous, %d matched", p.Ambiguous, p.Matched)
	}
	if pairRequests(nil, a.Requests) != nil {
		t.Error("a side without requests was paired")
	}
}

func TestPairedIntervals(t *testing.T) {
	t.Parallel()
	a, b := rowsOf(t, 1, 1, 100), rowsOf(t, 2, 2, 100)
	// A user's TTFT is 0.25 + user/100 s on average, so the mean shift is 0.445 s, 100 % of the reference.
	// The users are a sample of 40: its standard error is 0.115/√40 = 0.018 s.
	p := Compare(a, b, Options{Paired: true}).Paired
	ttft, text := p.Shift(results.TTFT), p.Text()
	in := ttft.ShiftIntervals
	if in.Users != 40 || math.Abs(*in.Change-1) > 0.02 || in.Change95.Low > 1 || in.Change95.High < 1 ||
		math.Abs(in.Mean95.High-in.Mean95.Low-2*2.02*0.0185) > 0.015 || in.Median95.Low > *ttft.Median ||
		in.Median95.High < *ttft.Median || in.Mean95.Method != overPairs {
		t.Errorf("%+v %+v %+v %+v", in, in.Mean95, in.Median95, in.Change95)
	}
	if !regexp.MustCompile(`(?m)^    95% interval, 40 users +median \+0\.\d{3} to \+0\.\d{3} s, mean \+0\.\d{3} to `+
		`\+0\.\d{3} s \(\+9\d\.\d\d% to \+10\d\.\d\d%\)$`).MatchString(text) || !strings.Contains(text, overPairs) {
		t.Error(text)
	}
	ten := slices.DeleteFunc(slices.Clone(a.Requests), func(r results.Request) bool { return r.User >= 10 })
	if few := pairRequests(ten, b.Requests); !strings.Contains(few.Text(),
		"  95% interval, 10 users           too few users for an interval: 10, must be at least 12\n") {
		t.Error(few.Text())
	}
}

func TestBandFromReferences(t *testing.T) {
	t.Parallel()
	ref, cand := figures(t, 1010, "ttft_s: {p50: 1}"), figures(t, 1045, "ttft_s: {p50: 1.5}")
	more := []Side{figures(t, 1000, "ttft_s: {p50: 1.1}"), figures(t, 990, "ttft_s: {p50: 0.9}")}
	c := Compare(ref, cand, Options{References: more})
	const want = 0.0496828 // t(0.975, 2)·s·√(1 + 1/3) / mean, with s = 10
	if math.Abs(c.Band-want) > 1e-7 || c.Verdict != Within || c.References != 3 ||
		math.Abs(*c.FromMean-0.045) > 1e-12 || math.Abs(*c.Delta-35.0/1010) > 1e-12 {
		t.Errorf("band %g, %s, %+v", c.Band, c.Verdict, c.Rows[0])
	}
	if p := c.Rows[3].Parts[0]; math.Abs(p.Tolerance-10*want) > 1e-6 || *p.Mean != 1 || *p.FromMean != 0.5 ||
		!slices.Contains(p.Flags, "beyond ±49.68%") {
		t.Errorf("TTFT p50: %+v", p)
	}
	if want := "within the band: Output tok/s (server-reported) +4.50% from the mean of 3 references, band ±4.97% " +
		"(the 95% prediction interval for one more run, from 3 references)"; c.Summary() != want {
		t.Error(c.Summary())
	}
	// Around the mean, not around the first reference: 1,052 is 4.16 % from 1,010 and 5.2 % from the mean.
	if c := Compare(ref, figures(t, 1052, ""), Options{References: more}); c.Verdict != Outside {
		t.Error(c.Summary())
	}
	for _, tt := range []struct {
		opt     Options
		verdict string
		summary string
	}{
		{Options{}, Within, "+0.11% from the mean of 2 references, band ±2% (the default; the 95% prediction interval " +
			"for one more run, from 2 references, is ±1.21%)"},
		{Options{DefaultBand: 0.03}, Within, "+0.11% from the mean of 2 references, band ±3% (the default; the 95% " +
			"prediction interval for one more run, from 2 references, is ±1.21%)"},
		{Options{Band: 0.001}, Outside, "+0.11% from the mean of 2 references, band ±0.1%"},
	} {
		tt.opt.References = []Side{figures(t, 1001.1, "")}
		c := Compare(figures(t, 1000, ""), figures(t, 1001.65, ""), tt.opt)
		if c.Verdict != tt.verdict || !strings.HasSuffix(c.Summary(), tt.summary) {
			t.Errorf("%s: %s; want %s", c.Verdict, c.Summary(), tt.summary)
		}
	}
}

// TestUnusableReferences checks which references are ignored, and that the notes tell why.
func TestUnusableReferences(t *testing.T) {
	t.Parallel()
	ref, cand := figures(t, 1010, "ttft_s: {p50: 1}"), figures(t, 1012, "ttft_s: {p50: 1.5}")
	more := []Side{figures(t, 1000, "ttft_s: {p50: 1.1}"), figures(t, 990, "ttft_s: {p50: 0.9}")}
	ref.Phase.Concurrency = 64
	for _, bad := range []struct {
		set  func(*Side)
		note string
	}{
		{func(s *Side) { s.Phase.Concurrency = 8 }, "reference ignored: side: concurrency differs: 64 vs. 8"},
		{
			func(s *Side) { s.Failure = "failed: out of memory" },
			"reference ignored: side: the run failed: out of memory",
		},
	} {
		wide := figures(t, 10, "")
		bad.set(&wide)
		c := Compare(ref, cand, Options{References: append([]Side{wide}, more...)})
		if c.References != 3 || c.Verdict != Within || c.Notes[0] != bad.note {
			t.Errorf("band %g, %s, %q; want the note %q", c.Band, c.Verdict, c.Notes, bad.note)
		}
		if c := Compare(ref, cand, Options{References: []Side{wide}}); c.Verdict != NotComparable || len(c.Reasons) != 1 {
			t.Errorf("without usable references: %s, %q", c.Verdict, c.Reasons)
		}
	}
	for _, twice := range []struct {
		side Side
		note string
	}{
		{ref, "reference ignored: side: it is given more than once"},
		{more[1], "reference ignored: side: it is given more than once"},
		{cand, "reference ignored: side: it is the candidate"},
	} {
		c := Compare(ref, cand, Options{References: append(slices.Clone(more), twice.side)})
		if c.References != 3 || c.Notes[0] != twice.note {
			t.Errorf("%d references, %q; want the note %q", c.References, c.Notes, twice.note)
		}
	}
	// A reference without a figure does not count for that figure.
	c := Compare(ref, cand, Options{References: append(slices.Clone(more), figures(t, 1000, ""))})
	if p := c.Rows[3].Parts[0]; c.References != 4 || p.References != 3 || *p.Mean != 1 {
		t.Errorf("%d references, %+v", c.References, p)
	}
}

func TestWindowNoteDistinguishesValues(t *testing.T) {
	t.Parallel()
	a, b := figures(t, 1000, "measurement_duration_s: 19.7"), figures(t, 1000, "measurement_duration_s: 20.03")
	if notes := strings.Join(Compare(a, b, Options{}).Notes, "\n"); !strings.Contains(notes,
		"measuring windows differ: 19.7 s vs. 20.0 s") {
		t.Error(notes)
	}
}

// TestUnknownReference checks that there is no verdict if the throughput of a reference is unknown.
func TestUnknownReference(t *testing.T) {
	t.Parallel()
	ref, none := figures(t, 1000, ""), figures(t, 1000, "")
	none.Phase.Figures, none.Phase.Invalid = nil, []string{"no request rows for this phase"}
	c := Compare(ref, figures(t, 1001, ""), Options{References: []Side{figures(t, 990, ""), none}})
	const want = "Output tok/s (server-reported) of reference side is unknown: no request rows for this phase"
	if c.Verdict != NotComparable || !slices.Contains(c.Reasons, want) {
		t.Errorf("%s: %q", c.Verdict, c.Reasons)
	}
}

// TestSameRun checks that a comparison of a run with itself is told.
func TestSameRun(t *testing.T) {
	t.Parallel()
	const note = "reference and candidate are the same run: the comparison tells nothing about another one"
	a, b := figures(t, 1000, ""), figures(t, 1000, "")
	if c := Compare(a, a, Options{}); c.Verdict != Within || !slices.Contains(c.Notes, note) {
		t.Errorf("with itself: %s, %q", c.Verdict, c.Notes)
	}
	if c := Compare(a, b, Options{}); slices.Contains(c.Notes, note) {
		t.Errorf("with another file: %q", c.Notes)
	}
}
