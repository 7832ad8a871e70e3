package parity

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// rollup loads a roll-up with an output rate, whose figure has the members more.
func rollup(t *testing.T, name string, rate float64, more string) Side {
	t.Helper()
	return load(t, write(t, name+".json", fmt.Sprintf(`{"benchmark":"agentperf","phases":[],"agentperf_tui":{"phases":[{`+
		`"phase_idx":0,"concurrency":4,"figures":{"output_server_tok_s":{"value":%g%s}}}]}}`, rate, more)))
}

const (
	exactFigure = `,"class":"exact"`
	doubtful    = `,"class":"uncertain","low":980,"high":1020,"reasons":[{"class":"uncertain",` +
		`"text":"rows are missing","share":0.5}]`
	broken = `,"class":"invalid","reasons":[{"class":"invalid","text":"half of the rows are missing","share":0.5}]`
)

// TestUncertainReference checks verdicts against 1000 tok/s in one reference and 980 to 1020 in another.
// The mean is 990 to 1010. The references may agree, so the band may be the default of 2 %; or they differ by
// 20, with a standard deviation of 14.142, and the interval is t(0.975, 1)·14.142·√1.5 = 220.08, of 990.
func TestUncertainReference(t *testing.T) {
	t.Parallel()
	ref, more := rollup(t, "r1", 1000, exactFigure), rollup(t, "r2", 1000, doubtful)
	told := func(low, high, band string) string {
		return "not comparable: not told apart: the difference of Output tok/s (server-reported) is " + low + " to " + high +
			", the band is " + band + " (reference r2: rows are missing)"
	}
	for _, tt := range []struct {
		rate    float64
		band    float64
		verdict string
		summary string
	}{
		{1000, 0, Within, "within the band: Output tok/s (server-reported) +0.00% from the mean of 2 references, band ±2%"},
		{1030, 0, NotComparable, told("+1.98%", "+4.04%", "±2% to ±22.23%")},
		{970, 0, NotComparable, told("−3.96%", "−2.02%", "±2% to ±22.23%")},
		{1100, 0, NotComparable, told("+8.91%", "+11.11%", "±2% to ±22.23%")},
		{1300, 0, Outside, "outside the band: Output tok/s (server-reported) +30.00% from the mean of 2 references"},
		{1030, 0.05, Within, "within the band: Output tok/s (server-reported) +3.00% from the mean of 2 references"},
		{1055, 0.05, NotComparable, told("+4.46%", "+6.57%", "±5%")},
		{1070, 0.05, Outside, "outside the band: Output tok/s (server-reported) +7.00% from the mean of 2 references"},
	} {
		opt := Options{References: []Side{more}, Band: tt.band}
		for _, opt.Force = range []bool{false, true} { // force does not tell them apart
			c := Compare(ref, rollup(t, "c", tt.rate, exactFigure), opt)
			if c.Verdict != tt.verdict || !strings.HasPrefix(c.Summary(), tt.summary) {
				t.Errorf("%g: %s\n%s, want\n%s", tt.rate, c.Verdict, c.Summary(), tt.summary)
			}
			p := c.Rows[0].Parts[0]
			if (p.ToleranceRange != nil) != (tt.band == 0) || p.DeltaRange == nil || c.References != 2 {
				t.Errorf("%g: %+v", tt.rate, p)
			}
			if !slices.Contains(p.Flags, "reference r2 uncertain: rows are missing") {
				t.Errorf("%g: %q", tt.rate, p.Flags)
			}
		}
	}
	// The reference itself moves the mean by half of what it can be off.
	c := Compare(more, rollup(t, "c", 1000, exactFigure), Options{References: []Side{ref}})
	if got := *c.Rows[0].Parts[0].DeltaRange; math.Abs(got[0]+10.0/1010) > 1e-12 || math.Abs(got[1]-10.0/990) > 1e-12 {
		t.Errorf("%v", got)
	}
}

// TestReferenceWithoutBounds checks that a share of unknown rows stands in for the bounds of a figure.
func TestReferenceWithoutBounds(t *testing.T) {
	t.Parallel()
	more := rollup(t, "r2", 1000, `,"class":"uncertain","reasons":[{"class":"uncertain","text":"x","share":0.02}]`)
	c := Compare(rollup(t, "r1", 1000, exactFigure), rollup(t, "c", 1030, exactFigure), Options{References: []Side{more}})
	if p := c.Rows[0].Parts[0]; c.Verdict != NotComparable || math.Abs(p.DeltaRange[1]-(1030.0/990-1)) > 1e-12 {
		t.Errorf("%s, %v", c.Summary(), p.DeltaRange)
	}
}

// TestInvalidReference checks that a reference without a valid primary figure prevents a verdict, whatever form it has.
func TestInvalidReference(t *testing.T) {
	t.Parallel()
	ref, cand := rollup(t, "r1", 1000, exactFigure), rollup(t, "c", 1001, exactFigure)
	good := rollup(t, "r3", 1002, exactFigure)
	file := figures(t, 1000, "concurrency: 4\n")
	file.Phase.Invalid = []string{"the window is too short"}
	for _, tt := range []struct {
		side   Side
		reason string
	}{
		{rollup(t, "r2", 1000, broken), "reference r2 is invalid: half of the rows are missing"},
		{file, "reference side is invalid: the window is too short"},
	} {
		c := Compare(ref, cand, Options{References: []Side{tt.side, good}})
		if c.Verdict != NotComparable || len(c.Reasons) != 1 || !strings.HasSuffix(c.Reasons[0], tt.reason) {
			t.Errorf("%s: %q, want %q", c.Verdict, c.Reasons, tt.reason)
		}
		c = Compare(ref, cand, Options{References: []Side{tt.side, good}, Force: true})
		if c.Verdict != Within || !c.Forced || c.References != 2 || *c.Rows[0].Parts[0].Mean != 1001 {
			t.Errorf("forced: %s, %+v", c.Summary(), c.Rows[0].Parts[0])
		}
	}
}

// TestReferenceLeftOut checks that the row of another metric says which references are not in its tolerance.
func TestReferenceLeftOut(t *testing.T) {
	t.Parallel()
	side := func(name, ttft string) Side {
		return load(t, write(t, name+".json", `{"benchmark":"agentperf","phases":[],"agentperf_tui":{"phases":[{`+
			`"phase_idx":0,"concurrency":4,"figures":{"output_server_tok_s":{"value":1000,"class":"exact"}`+ttft+`}}]}}`))
	}
	valid := func(v float64) string { return fmt.Sprintf(`,"ttft_p50_s":{"value":%g,"class":"exact"}`, v) }
	c := Compare(side("r1", valid(1)), side("c", valid(1)), Options{References: []Side{
		side("r2", `,"ttft_p50_s":{"value":9`+broken+`}`), side("r3", valid(1.02)), side("r4", ""),
	}})
	p := c.Rows[3].Parts[0]
	want := []string{"reference r2 left out: half of the rows are missing", "reference r4 left out: unknown"}
	if c.Verdict != Within || p.Key != "ttft_p50_s" || p.References != 2 || *p.Mean != 1.01 ||
		!slices.Equal(p.Flags, want) {
		t.Errorf("%s, %+v", c.Summary(), p)
	}
}

// TestReferenceForms compares the forms of one run whose rows leave it uncertain, and its statistics alone, as
// additional references.
func TestReferenceForms(t *testing.T) {
	t.Parallel()
	set := newRowSet()
	setEvery(200, "server_output_tokens", nil)(set)
	doubtful := set.load(t)
	run, err := results.Load(t.Context(), doubtful.Path, results.RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(results.Rollup{Benchmark: "agentperf", Phases: []results.RollupPhase{}, Recomputed: run})
	if err != nil {
		t.Fatal(err)
	}
	sample := runstest.Sample(t)
	for _, tt := range []struct {
		ref       Side
		path      string
		uncertain bool
	}{
		{newRowSet().load(t), doubtful.Path, true},
		{newRowSet().load(t), write(t, "rollup.json", string(text)), true},
		{load(t, sample), filepath.Join(sample, "agentperf", sampleStem+".json"), false},
	} {
		s := load(t, tt.path)
		s.Name, s.About.Job = "other", "another"
		c := Compare(tt.ref, tt.ref, Options{References: []Side{s}})
		p := c.Rows[0].Parts[0]
		if p.References != 2 || (p.DeltaRange != nil) != tt.uncertain {
			t.Errorf("%s: %s, %+v", tt.path, c.Summary(), p)
		}
		if flags := strings.Join(p.Flags, "\n"); strings.Contains(flags, "reference other uncertain: ") != tt.uncertain {
			t.Errorf("%s: %s", tt.path, flags)
		}
		const unknown = "reference other: the completeness of the figures is unknown"
		if slices.Contains(c.Notes, unknown) == tt.uncertain {
			t.Errorf("%s: %q", tt.path, c.Notes)
		}
		if _, err := json.Marshal(c); err != nil {
			t.Error(err)
		}
	}
}

// TestToleranceRange checks that the tolerance for any values of uncertain references is within its stated range.
func TestToleranceRange(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		n := 2 + rng.IntN(5)
		refs, values := exact(make([]float64, n)...), make([]float64, n)
		for i := range refs {
			half := 30 * rng.Float64() * float64(rng.IntN(2))
			refs[i].Value = 1000 + 20*rng.NormFloat64()
			refs[i].Class, refs[i].Low, refs[i].High = results.Uncertain, refs[i].Value-half, refs[i].Value+half/2
		}
		all := newTolerance(refs, 0.02)
		for range 100 {
			for i, f := range refs {
				values[i] = f.Low + (f.High-f.Low)*[]float64{0, 1, rng.Float64()}[rng.IntN(3)]
			}
			one := newTolerance(exact(values...), 0.02)
			if one.center < all.centers[0]-1e-9 || one.center > all.centers[1]+1e-9 ||
				one.width < all.widths[0]-1e-9 || one.width > all.widths[1]+1e-9 {
				t.Fatalf("%+v is not within %+v", one, all)
			}
		}
	}
}
