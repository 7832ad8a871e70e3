package parity

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

func (f *fakeEngine) References(_ context.Context, names []string, _ int) ([]engine.Side, error) {
	f.refs = names
	var out []engine.Side
	for i, n := range names {
		out = append(out, newSide(n, 1+0.013*float64(i+1), 1150))
	}
	return out, f.err
}

func (f *fakeEngine) RunCurve(_ context.Context, run string, _ int) ([]results.Point, []results.TierResult, error) {
	if run == "figures.yaml" {
		return nil, nil, errors.New("run figures.yaml: a file, want a run directory or a log directory")
	}
	scale := 1.0
	if run == "b" {
		scale = 0.93
	}
	var out []results.Point
	for i, users := range []int{64, 256, 512, 1010} {
		x := float64(i)
		out = append(out, results.Point{
			Run: "dsv4-5p1d_" + run, Concurrency: users, GPUs: 52, OutputPerGPU: scale * (180 + 330*x), TotalPerGPU: 9000,
			Speed50: 140 - 21*x*scale, Speed25: 120 - 20*x, TTFT95: 1 + 0.5*x,
		})
	}
	tier := results.Tier{Name: "gold", SpeedFloor: 40, TTFTCeiling: 5}
	return out, []results.TierResult{{Tier: tier, Concurrency: 512}, {Tier: results.Tier{Name: "platinum"}}}, nil
}

// paired returns an engine whose sides have requests. The candidate is slower, the more
// so the longer the input.
func paired() *fakeEngine {
	f := within()
	for k := range f.sides {
		s := &f.sides[k]
		s.Phase.Window.Start, s.Phase.Window.End = 0, s.Phase.Window.Seconds
		for i := range 1200 {
			user, turn := int32(i%40), int32(i/40)
			input := int32(900 * (1 + i%97))
			ttft := 0.8 + 0.01*float64(i%83) + float64(i%29)*float64(i%29)/400
			if k == 1 {
				ttft += float64(input)/400_000 - 0.05
			}
			start := 30*float64(turn) + float64(user)/2
			s.Requests = append(s.Requests, results.Request{
				User: user, Turn: turn, Conversation: 7, Input: input, Output: 300, Cached: input / 2,
				Measured: i%200 != 3 || k == 0, Start: start, End: start + ttft + 4, TTFT: ttft, ITL: 0.013, SSE: 80,
			})
		}
	}
	return f
}

// The key of a view, pressed again, returns to the figures, and so does Leave. From
// the figures, Leave closes the screen.
func TestViewKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, paired(), "a", "b")
	for k, want := range map[string]view{"r": fieldsView, "t": turnsView, "g": distributionView, "l": levelsView} {
		r.send(frametest.Keys(k)...)
		if r.s.view != want {
			t.Errorf("%s shows view %d, want %d", k, r.s.view, want)
		}
		r.send(frametest.Keys(k)...)
		if r.s.view != figuresView {
			t.Errorf("%s twice shows view %d", k, r.s.view)
		}
	}
	r.send(frametest.Keys("t", "down", "down")...)
	if r.s.turns.Cursor != 2 || r.s.table.Cursor != 0 {
		t.Errorf("rows %d and %d after two downs", r.s.turns.Cursor, r.s.table.Cursor)
	}
	r.run(r.s.Leave())
	if r.s.view != figuresView || r.lastSent() != nil {
		t.Errorf("Leave in a view: view %d, sent %v", r.s.view, r.lastSent())
	}
	r.run(r.s.Leave())
	if _, ok := r.lastSent().(ui.Back); !ok {
		t.Errorf("Leave in the figures: sent %v", r.lastSent())
	}
}

// The list below the chart of levels scrolls.
func TestLevelsScroll(t *testing.T) {
	t.Parallel()
	r := newRig(t, within(), "a", "b")
	r.s.SetSize(60, 12)
	r.send(frametest.Keys("l")...)
	if v := r.s.View(); strings.Contains(v, "1,088.1") || !strings.Contains(v, "meets gold up to 512 users") {
		t.Errorf("%s", v)
	}
	r.send(frametest.Keys("end")...)
	if v := r.s.View(); !strings.Contains(v, "1,088.1") {
		t.Errorf("at the end:\n%s", v)
	}
	r.send(frametest.Keys("up", "home")...)
	if v := r.s.View(); !strings.Contains(v, "meets gold") {
		t.Errorf("back at the top:\n%s", v)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	r := newRig(t, referenced(), "a", "b")
	r.send(frametest.Keys("a")...)
	if st := r.s.State(); !strings.Contains(st.Text, "another reference") {
		t.Errorf("state %q", st.Text)
	}
	r.run(r.s.Leave())
	if r.s.picking() || len(r.f.calls) != 1 {
		t.Errorf("after Leave: picking %v, %d comparisons", r.s.picking(), len(r.f.calls))
	}
	r.send(frametest.Keys("a", "down", "enter")...)
	if len(r.f.refs) != 1 || r.f.refs[0] != "/old/c1010" {
		t.Errorf("references %v", r.f.refs)
	}
	if c := r.s.c; c == nil || c.BandSource == "" || !strings.Contains(r.s.State().Age, "2 references") {
		t.Errorf("band %+v, %q", c, r.s.State().Age)
	}
}

func TestCDF(t *testing.T) {
	t.Parallel()
	d := &engine.Distribution{Percent: []float64{0, 50, 100}, Reference: []float64{1, 2, 4}}
	for i, want := range []float64{0, 0, 25, 50} {
		if got := cdf(d, d.Reference, 0, 2, 4)[i]; got != want {
			t.Errorf("step %d: %v, want %v", i, got, want)
		}
	}
}
