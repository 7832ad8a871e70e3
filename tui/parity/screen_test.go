package parity

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// parityCall is one call of Parity.
type parityCall struct {
	ref, cand string
	phase     int
	force     bool
}

type fakeEngine struct {
	calls  []parityCall
	sides  [2]engine.Side
	err    error
	fields []parity.FileDiff
	many   bool // several phases: phase is required
	runs   []engine.Summary
	roots  []string // of the last call
	refs   []string // of the last call
}

func (f *fakeEngine) Parity(
	_ context.Context, ref, cand string, phase int, opt engine.ComparisonOptions,
) (engine.Comparison, error) {
	f.calls = append(f.calls, parityCall{ref, cand, phase, opt.Force})
	if f.err != nil {
		return engine.Comparison{}, f.err
	}
	if f.many && (phase < 0 || phase > 1) {
		return engine.Comparison{}, problem.Errorf(problem.PhaseUnknown, "reference: load figures: x: more than one phase; "+
			"choose one with --phase (available: 0 (505 users), 1 (1010 users))")
	}
	f.sides[0].Phase.Index, f.sides[1].Phase.Index = max(phase, 0), max(phase, 0)
	c := parity.Compare(f.sides[0], f.sides[1], opt)
	c.Fields = f.fields
	return c, nil
}

func (f *fakeEngine) WriteComparison(_ string, c engine.Comparison) (string, error) {
	return "/here/" + c.Candidate.Name + ".html", nil
}

func (f *fakeEngine) Runs(_ context.Context, roots []string) ([]engine.Summary, error) {
	f.roots = roots
	return f.runs, f.err
}

func newSide(name string, scale float64, window float64) engine.Side {
	s := engine.Side{Name: name, Path: "/runs/" + name, About: parity.About{
		Model: "dsv4-fp4", Seed: "42", Dataset: "/scratch/datasets/coding-agent-scenario_v2_500traj.jsonl",
		Job: "5922" + name[:2], Recipe: "/home/me/dsv4-5p1d.yaml",
	}}
	s.Phase = results.Phase{
		Concurrency: 1010, Requests: &results.Requests{Measured: 216835, Successful: 216835},
		Window: &results.Window{Seconds: window, Source: results.FromManifest},
	}
	for _, v := range []struct {
		key   string
		value float64
	}{
		{"output_server_tok_s", 60822.2},
		{"output_client_tok_s", 60511.7},
		{"total_server_tok_s", 8014563},
		{"ttft_p50_s", 1.348},
		{"ttft_p95_s", 2.56},
		{"ttft_p99_s", 4.158},
		{"cache_hit_rate", 0.967},
		{"avg_input_per_request", 70112.3},
		{"avg_output_per_request", 533.1},
		{"output_speed_local_p50_tok_s", 66.1},
		{"output_speed_sse_p50_tok_s", 66},
	} {
		x := scale
		if strings.HasPrefix(v.key, "ttft") {
			x = 1 / scale / scale / scale
		}
		s.Phase.Figures = append(s.Phase.Figures, results.Figure{
			Key: v.key, Value: v.value * x, Client: math.NaN(), Class: results.Exact,
		})
	}
	return s
}

func within() *fakeEngine {
	return &fakeEngine{sides: [2]engine.Side{newSide("10-harness", 1, 1156), newSide("11-srt-slurm", 0.996, 1103)}}
}

func outside() *fakeEngine {
	return &fakeEngine{sides: [2]engine.Side{newSide("10-harness", 1, 1156), newSide("11-srt-slurm", 0.96, 1103)}}
}

func different() *fakeEngine {
	f := within()
	f.sides[1].About.Seed = "43"
	return f
}

// invalid is a comparison whose reference permits no verdict.
func invalid() *fakeEngine {
	f := different()
	f.sides[0].Phase.Invalid = []string{"measuring window too short: 12.0 s, must be at least 300.0 s"}
	return f
}

func fielded() *fakeEngine {
	f := within()
	f.fields = []parity.FileDiff{{
		File: "recipe",
		Comparison: recipes.Comparison{Identical: 176, Total: 184, Differences: []recipes.Difference{
			{
				Path: "backend.decode_environment.TLLM_LOG_LEVEL", A: &recipes.Side{Value: "INFO"},
				B: &recipes.Side{Value: "WARNING"},
			},
			{Path: "health_check.interval_seconds", B: &recipes.Side{Value: "10"}},
		}},
	}, {File: "workload", Comparison: recipes.Comparison{Identical: 19, Total: 19}}}
	return f
}

func referenced() *fakeEngine {
	f := within()
	f.runs = summaries()
	return f
}

func summaries() []engine.Summary {
	out := results.Figure{Key: results.Primary, Value: 60573.2}
	now := time.Now()
	return []engine.Summary{
		{
			ID: "592210", Name: "dsv4-5p1d-parity", Dir: "/runs/592210", Source: "slurm", State: event.Done,
			Since: now.Add(-31 * time.Minute), Levels: []int{505, 1010},
			Figures: results.Figures{out, {Key: results.TTFT95, Value: 2.495}},
		},
		{ID: "592233", Name: "pending", Dir: "/runs/592233", State: event.Pending},
		{
			Name: "dsv4/c1010", Dir: "/old/c1010", Source: "harness", State: event.Done, Since: now.Add(-50 * time.Hour),
			Levels: []int{1010}, Figures: results.Figures{out},
		},
	}
}

type rig struct {
	t    *testing.T
	s    *Screen
	f    *fakeEngine
	sent []tea.Msg
}

func newRig(t *testing.T, f *fakeEngine, ref, cand string) *rig {
	t.Helper()
	r := &rig{t: t, f: f, s: New(f, ui.NewTheme(true), ref, cand)}
	t.Cleanup(r.s.Close)
	r.s.SetSize(80, 20)
	r.run(r.s.Init())
	return r
}

func (r *rig) send(msgs ...tea.Msg) {
	for _, m := range msgs {
		r.run(r.s.Update(m))
	}
}

func (r *rig) run(cmd tea.Cmd) {
	r.sent = append(r.sent, frametest.Drive(r.s, cmd, func(msg tea.Msg) bool {
		switch msg.(type) {
		case ui.Toast, ui.Ask, ui.Copy, ui.Back:
			return true
		}
		return false
	})...)
}

func (r *rig) lastSent() tea.Msg {
	if len(r.sent) == 0 {
		return nil
	}
	return r.sent[len(r.sent)-1]
}

func root(s *Screen) *tui.Model { return tui.New(nil, s, tui.Options{Dark: true}) }

func TestFrames(t *testing.T) {
	t.Parallel()
	broken := within()
	broken.err = errors.New("candidate: find run \"x\": not a directory, and no match among 4 recorded runs; " +
		"list them with agentperf-tui runs")
	list := within()
	list.runs = summaries()
	for name, c := range map[string]struct {
		f         *fakeEngine
		ref, cand string
		keys      []string
	}{
		"within":         {within(), "a", "b", []string{"down", "down", "down", "down", "down"}},
		"outside":        {outside(), "a", "b", nil},
		"different":      {different(), "a", "b", []string{"d", "d"}},
		"forced":         {different(), "a", "b", []string{"f"}},
		"notes":          {invalid(), "a", "b", []string{"d"}},
		"pick":           {list, "", "/runs/592240", []string{"down"}},
		"broken":         {broken, "a", "x", nil},
		"paired":         {paired(), "a", "b", nil},
		"turns":          {paired(), "a", "b", []string{"t", "down", "down"}},
		"distribution":   {paired(), "a", "b", []string{"g"}},
		"fields":         {fielded(), "a", "b", []string{"r"}},
		"levels":         {within(), "a", "b", []string{"l"}},
		"nolevels":       {within(), "figures.yaml", "b", []string{"l"}},
		"nopairs":        {within(), "a", "b", []string{"t"}},
		"nodistribution": {within(), "a", "b", []string{"g"}},
		"nofields":       {different(), "a", "b", []string{"r"}},
		"references":     {referenced(), "a", "b", []string{"a", "enter", "a", "enter"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.f, c.ref, c.cand)
			r.send(frametest.Keys(c.keys...)...)
			frametest.Golden(t, name, root(r.s))
			for _, size := range [][2]int{{60, 16}, {61, 17}, {150, 20}} {
				frametest.Frame(t, root(r.s), size[0], size[1])
			}
			r.s.SetSize(0, 0)
			_ = r.s.View()
		})
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	r := newRig(t, within(), "a", "b")
	r.send(frametest.Keys("m")...)
	if c, ok := r.lastSent().(ui.Copy); !ok || !strings.HasPrefix(c.Text, "**within the band") ||
		!strings.Contains(c.Text, "| TTFT p50 |") {
		t.Errorf("m sent %v", r.lastSent())
	}
}

func TestForceAndSwap(t *testing.T) {
	t.Parallel()
	r := newRig(t, different(), "a", "b")
	if st := r.s.State(); st.Text != "⚠ not comparable" || st.Role != ui.Warn {
		t.Fatalf("state %+v", st)
	}
	r.send(frametest.Keys("f")...)
	if st := r.s.State(); !strings.Contains(st.Text, "(forced)") {
		t.Errorf("state %+v after f", st)
	}
	r.send(frametest.Keys("f", "s")...)
	want := []parityCall{{"a", "b", -1, false}, {"a", "b", -1, true}, {"a", "b", -1, false}, {"b", "a", -1, false}}
	for i, c := range want {
		if i >= len(r.f.calls) || r.f.calls[i] != c {
			t.Fatalf("calls %v, want %v", r.f.calls, want)
		}
	}
	r = newRig(t, invalid(), "a", "b")
	r.send(frametest.Keys("f")...)
	if toast, ok := r.lastSent().(ui.Toast); !ok || !strings.Contains(toast.Text, "measuring window too short") ||
		len(r.f.calls) != 1 {
		t.Errorf("f on an invalid figure sent %v, calls %v", r.lastSent(), r.f.calls)
	}
	r = newRig(t, within(), "a", "b")
	r.send(frametest.Keys("f")...)
	if toast, ok := r.lastSent().(ui.Toast); !ok || !strings.Contains(toast.Text, "comparable") || len(r.f.calls) != 1 {
		t.Errorf("f on comparable runs sent %v, calls %v", r.lastSent(), r.f.calls)
	}
}

// Without a phase, the first one is compared. Keys switch to the other ones.
func TestPhaseKeys(t *testing.T) {
	t.Parallel()
	f := within()
	f.many = true
	r := newRig(t, f, "a", "b")
	for _, step := range []struct {
		key  string
		want int
		said bool
	}{{"", 0, false}, {"]", 1, false}, {"]", 1, true}, {"[", 0, false}, {"[", 0, true}} {
		r.sent = nil
		if step.key != "" {
			r.send(frametest.Keys(step.key)...)
		}
		if r.s.c == nil || r.s.c.Candidate.Phase != step.want || (r.lastSent() != nil) != step.said {
			t.Errorf("after %q: %+v, sent %v, want phase %d", step.key, r.s.c, r.lastSent(), step.want)
		}
	}
}

func TestPicker(t *testing.T) {
	t.Parallel()
	f := within()
	f.runs = summaries()
	r := newRig(t, f, "", "")
	if len(r.s.runs) != 2 {
		t.Fatalf("%d choices, want the two with figures", len(r.s.runs))
	}
	r.send(frametest.Keys("down", "enter")...)
	if r.s.ref != "/old/c1010" || len(r.s.runs) != 1 {
		t.Fatalf("reference %q, %d choices left", r.s.ref, len(r.s.runs))
	}
	r.send(frametest.Keys("enter")...)
	if len(f.calls) != 1 || f.calls[0] != (parityCall{"/old/c1010", "/runs/592210", -1, false}) {
		t.Errorf("calls %v", f.calls)
	}
}

func TestStaleComparisonIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t, within(), "a", "b")
	late := r.s.compare()
	r.send(frametest.Keys("s")...)
	r.f.sides[0].Name = "late"
	r.run(late)
	if r.s.c.Reference.Name == "late" {
		t.Error("the result of an older comparison is shown")
	}
}

func TestGauge(t *testing.T) {
	t.Parallel()
	for position, want := range map[float64]string{
		0: "├────●────┤", 1: "├────┼────●", -1: "●────┼────┤",
		0.4: "├────┼─●──┤", -1.2: "◀────┼────┤", 7: "├────┼────▶",
	} {
		if got := gauge(position, 5); got != want {
			t.Errorf("%v: %s, want %s", position, got, want)
		}
	}
}

// A difference outside tolerance is Bad if it is worse and Warn if it is better. Noisy
// metrics are Muted.
func TestRowRoles(t *testing.T) {
	t.Parallel()
	f := outside()
	f.sides[1].Phase.Figures[6].Value = 0.99 // outside tolerance, but better
	c := parity.Compare(f.sides[0], f.sides[1], engine.ComparisonOptions{})
	got := map[string]ui.Role{}
	for _, l := range tableRows(c, 5) {
		got[l.cells[0].Text] = l.cells[4].Role
	}
	for metric, want := range map[string]ui.Role{
		"Output tok/s (server)": ui.Bad, "TTFT p50": ui.Bad, "TTFT p99": ui.Muted, "Cache hit rate": ui.Warn,
		"Avg input tokens":        ui.Warn,
		"Speed p50 tok/s (local)": ui.Bad, "Speed p50 tok/s (SSE)": ui.Bad,
	} {
		if got[metric] != want {
			t.Errorf("%s: role %v, want %v (%v)", metric, got[metric], want, got)
		}
	}
	if text, role := summary(c); role != ui.Bad ||
		!strings.HasPrefix(text, "10 of 10 compared figures outside tolerance: Output tok/s (server), ") {
		t.Errorf("summary %q %v", text, role)
	}
}

type blockedEngine struct{ until chan struct{} }

func (b blockedEngine) Parity(
	context.Context, string, string, int, engine.ComparisonOptions,
) (engine.Comparison, error) {
	<-b.until
	return engine.Comparison{}, nil
}

func (b blockedEngine) References(context.Context, []string, int) ([]engine.Side, error) {
	<-b.until
	return nil, nil
}

func (b blockedEngine) RunCurve(context.Context, string, int) ([]results.Point, []results.TierResult, error) {
	<-b.until
	return nil, nil, nil
}

func (blockedEngine) WriteComparison(string, engine.Comparison) (string, error) { select {} }

func (b blockedEngine) Runs(context.Context, []string) ([]engine.Summary, error) {
	<-b.until
	return nil, nil
}

// No key blocks Update while the engine blocks, and all bindings can be reached.
func TestBlockedEngine(t *testing.T) {
	t.Parallel()
	eng := blockedEngine{make(chan struct{})}
	defer close(eng.until)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, s := range []*Screen{New(eng, ui.NewTheme(true), "a", "b"), New(eng, ui.NewTheme(true), "", "b")} {
			s.SetSize(80, 20)
			s.Init()
			for _, m := range append(frametest.Keys("m", "f", "s", "d", "]", "[", "R", "enter", "down", "pgdown", "end", "r",
				"t", "g", "l", "l", "a"), ui.Mouse{Y: 5}, ui.Resumed{}) {
				s.Update(m)
				if ansi.Strip(s.View()) == "" {
					t.Error("the body is empty")
				}
			}
			seen := map[string]bool{}
			for _, b := range s.Keys() {
				for _, k := range b.Keys() {
					if k == " " || seen[k] {
						t.Errorf("binding %q never matches", k)
					}
					seen[k] = true
				}
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(frametest.Timeout):
		t.Fatal("Update blocks")
	}
}

func TestArrangeLayout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w, h, rows, notes, sides int
		show                     lowerPane
		want                     layout
	}{
		"all in one column": {
			120, 40, 12, 4, 11, tablePane,
			layout{tableY: 3, tableH: 13, tableW: 120, lowerH: 23, showsAll: true, gaugeHalf: 5},
		},
		"beside": {
			160, 30, 23, 4, 11, tablePane,
			layout{tableY: 3, tableH: 27, tableW: 95, sideW: 62, showsAll: true, gaugeHalf: 5},
		},
		"wide": {
			190, 60, 23, 4, 11, tablePane,
			layout{tableY: 3, tableH: 24, tableW: 190, lowerH: 32, showsAll: true, gaugeHalf: 18},
		},
		"notes":         {80, 20, 12, 5, 11, tablePane, layout{tableY: 3, tableH: 13, tableW: 80, lowerH: 3, gaugeHalf: 5}},
		"table scrolls": {60, 12, 23, 5, 11, tablePane, layout{tableY: 3, tableH: 5, tableW: 60, lowerH: 3, gaugeHalf: 5}},
		"sides":         {80, 20, 23, 5, 11, sidesPane, layout{tableY: 3, tableH: 5, tableW: 80, lowerH: 11, gaugeHalf: 5}},
		"sides alone":   {60, 12, 23, 5, 11, sidesPane, layout{tableY: 3, tableW: 60, lowerH: 8, gaugeHalf: 5}},
		"all notes":     {80, 20, 23, 5, 11, notesPane, layout{tableY: 3, tableH: 11, tableW: 80, lowerH: 5, gaugeHalf: 5}},
		"nothing":       {0, 0, 23, 5, 11, tablePane, layout{tableY: 3, gaugeHalf: 5}},
	} {
		if got := arrangeLayout(c.w, c.h, c.rows, c.notes, c.sides, c.show); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestWriteHTMLPage(t *testing.T) {
	t.Parallel()
	r := newRig(t, within(), "a", "b")
	r.sent = nil
	r.send(frametest.Keys("h")...)
	if said, ok := r.sent[0].(ui.Toast); !ok || said.Role != ui.OK || !strings.HasPrefix(said.Text, "wrote /here/") {
		t.Errorf("got %+v", r.sent)
	}
}
