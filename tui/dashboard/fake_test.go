package dashboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// fakeEngine is an engine with one run.
type fakeEngine struct {
	ref            engine.RunRef
	findErr        error
	updates        []engine.Update
	phases         []plan.Phase
	files          []engine.LogFile
	opened         []string // steps whose logs were opened
	cancelled      int
	cancelErr      error
	playbackEngine *engine.Engine // plays back the sample of the harness; nil: no playback
}

func (f *fakeEngine) Find(context.Context, string) (engine.RunRef, error) { return f.ref, f.findErr }

func (f *fakeEngine) Watch(context.Context, engine.RunRef, engine.WatchOptions) (<-chan engine.Update, error) {
	return stream(f.updates), nil
}

func (f *fakeEngine) Playback(ctx context.Context, _ engine.RunRef) (*engine.Playback, error) {
	if f.playbackEngine == nil {
		return nil, errors.New("play back: no request rows")
	}
	l, err := f.playbackEngine.Find(ctx, "../../testdata/bm_agentperf_dsv4_5p1d/c1010")
	if err != nil {
		return nil, err
	}
	return f.playbackEngine.Playback(ctx, l)
}

func (f *fakeEngine) Phases(engine.RunRef) ([]plan.Phase, error) { return f.phases, nil }

func (f *fakeEngine) Tiers() []results.Tier {
	return []results.Tier{
		{Name: "gold", SpeedFloor: 40, TTFTCeiling: 5}, {Name: "platinum", SpeedFloor: 100, TTFTCeiling: 2},
	}
}

func (f *fakeEngine) LogFiles(engine.RunRef) ([]engine.LogFile, error) { return f.files, nil }

// LogView opens real files and reports no growth.
func (f *fakeEngine) LogView(_ context.Context, paths ...string) (*logview.View, <-chan logview.Growth, error) {
	for _, p := range paths {
		f.opened = append(f.opened, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "node03_"), ".out"))
	}
	return logview.NewView(time.UTC, paths...), stream([]logview.Growth{}), nil
}

func (f *fakeEngine) Cancel(context.Context, engine.RunRef) error {
	f.cancelled++
	return f.cancelErr
}

// stream returns a closed channel with the values.
func stream[T any](values []T) <-chan T {
	out := make(chan T, len(values))
	for _, v := range values {
		out <- v
	}
	close(out)
	return out
}

// runStart is when the run started.
var runStart = time.Date(2026, 11, 30, 14, 2, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return runStart.Add(time.Duration(seconds * float64(time.Second)))
}

// newFake returns a run of two phases on five prefill workers and one decode worker.
func newFake(t testing.TB) *fakeEngine {
	t.Helper()
	f := &fakeEngine{ref: engine.RunRef{
		Dir: "/runs/592210", Logs: "/runs/592210/logs", Record: engine.Record{ID: "592210", Name: "dsv4-5p1d-parity"},
	}}
	for i, level := range []int{505, 1010} {
		f.phases = append(f.phases, plan.Phase{
			Index: i, Concurrency: level, RampSeconds: float64(level - 1), SettlingSeconds: 240, TimeoutSeconds: 2400,
			MinMeasurement: 300, MinTotal: 30, MinPerUser: 3,
		})
	}
	client := []string{"agentperf-tui built-in replay", "  Concurrencies: [505, 1010]", "  Seed: 42"}
	for i := range 60 {
		client = append(client, fmt.Sprintf("14:%02d:00  %d requests, 0 errors \x1b[31mred\x1b[0m", 3+i%50, 1000*i))
	}
	client = append(
		client, "2026-11-30 14:41:12 WARN a user waits for its tool",
		"2026-11-30 14:42:12 ERROR request 17 of conversation 4 failed: 503",
	)
	dir := t.TempDir()
	for _, l := range []struct {
		step string
		text []string
	}{
		{"client", client},
		{"decode_0", nil},
		{"job", []string{"Sweep Orchestrator", "Starting backend workers"}},
		{"prefill_2", []string{"loading weights", "torch.OutOfMemoryError: CUDA out of memory"}},
	} {
		file := engine.LogFile{Step: l.step, Path: filepath.Join(dir, "node03_"+l.step+".out")}
		text := strings.Join(append(l.text, ""), "\n")
		if err := os.WriteFile(file.Path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f.files = append(f.files, file)
	}
	return f
}

func steps(ready int, client bool) []event.StepStatus {
	var out []event.StepStatus
	for i, name := range []string{
		"etcd", "nats", "prefill_0", "prefill_1", "prefill_2", "prefill_3", "prefill_4", "decode_0", "frontend_0",
	} {
		s := event.StepStatus{Name: name, State: "starting", Started: at(float64(i)), Log: "node03_" + name + ".out"}
		if i < ready {
			s.State, s.Seconds = "ready", 12.4*float64(i+1)
		}
		out = append(out, s)
	}
	if client {
		out = append(out, event.StepStatus{Name: "client", State: "starting", Started: at(150), Log: "benchmark.out"})
	}
	return out
}

func figures(scale float64, n int) results.Figures {
	var fs results.Figures
	for _, v := range []struct {
		key   string
		value float64
	}{
		{"output_server_tok_s", 60573.2},
		{"total_server_tok_s", 8014563},
		{"ttft_p50_s", 1.376},
		{"ttft_p95_s", 2.495},
		{"ttft_p99_s", 3.759},
		{"output_speed_local_p25_tok_s", 61.2},
		{"output_speed_local_p50_tok_s", 66.1},
		{"cache_hit_rate", 0.967},
		{"e2e_p50_s", 9.1},
		{"e2e_p95_s", 31.25},
		{"avg_input_per_request", 70112.3},
		{"avg_output_per_request", 533.1},
	} {
		f := results.Figure{Key: v.key, Value: v.value, N: n, Client: math.NaN()}
		if v.key != "cache_hit_rate" {
			f.Value *= scale
		}
		fs = append(fs, f)
	}
	return fs
}

func series(phase int, from float64, n int) results.Series {
	s := results.Series{Phase: phase, Seconds: 60}
	for i := range n {
		x := float64(i)
		values := map[string]float64{
			results.Primary: min(4000*x, 60000) + 900*math.Sin(x), results.TotalRate: min(5e5*x, 8e6),
			results.TTFT50: 1.3 + 0.1*math.Sin(x/2), results.TTFT95: 2.4 + 0.4*math.Cos(x/3),
			results.LocalSpeed25: 61 + math.Sin(x),
		}
		if i == 0 {
			values[results.TTFT50], values[results.TTFT95] = math.NaN(), math.NaN()
		}
		s.Buckets = append(s.Buckets, results.Bucket{
			Start: float64(at(from + 60*x).Unix()), Seconds: 60, N: 6000, Values: trendValues(values),
			Users: min(60*i, 1010), InFlight: min(50*x, 900),
		})
	}
	return s
}

func measured(index, level, n int, start, end float64) results.Phase {
	return results.Phase{
		Index: index, Concurrency: level, Total: n + 900, Figures: figures(1, n),
		Requests: &results.Requests{Measured: n, Successful: n},
		Window: &results.Window{
			Start: float64(at(start).Unix()), End: float64(at(end).Unix()), Seconds: end - start, Source: results.FromManifest,
		},
	}
}

// bringUpUpdate is a run in startup, 80 s after its start.
func bringUpUpdate() engine.Update {
	return engine.Update{At: at(80), Status: event.Status{
		State: event.Starting, Since: at(0), Started: at(0), Last: at(75), Steps: steps(6, false),
		Have: event.Count{Prefill: 3}, Want: event.Count{Prefill: 5, Decode: 1},
	}}
}

// pendingUpdate is a job in the queue.
func pendingUpdate() engine.Update {
	queue := &event.QueueEntry{
		State: "PENDING", Reason: "Priority", Start: at(2280), Position: 3, Waiting: 41, At: at(76),
	}
	return engine.Update{At: at(80), Status: event.Status{State: event.Pending, Message: "Priority", Queue: queue}}
}

// measuringUpdate is a run in its second phase.
func measuringUpdate() engine.Update {
	const second = 2600.0
	u := engine.Update{At: at(second + 1009 + 240 + 612), Status: event.Status{
		State: event.Measuring, Since: at(second + 1249), Started: at(0), Last: at(second + 1249), Steps: steps(9, true),
		Phases: []event.PhaseTimes{
			{
				Phase: 0, Concurrency: 505, Ramp: at(160), Settling: at(664), Measuring: at(904), Stop: at(2560),
				Reason: "timeout", Cut: 3,
			},
			{Phase: 1, Concurrency: 1010, Ramp: at(second), Settling: at(second + 1009), Measuring: at(second + 1249)},
		},
	}}
	p := measured(1, 1010, 114201, second+1249, second+1861)
	p.Provisional = true
	u.Run = results.Run{Phases: []results.Phase{measured(0, 505, 90011, 904, 2560), p}}
	u.Series = []results.Series{series(0, 160, 40), series(1, second, 32)}
	u.Recent = &results.Recent{Phase: 1, Seconds: 60, N: 11020, Users: 1004, Until: u.At, Figures: figures(1.01, 11020)}
	return u
}

func doneUpdate() engine.Update {
	u := measuringUpdate()
	u.Done, u.At = true, at(5100)
	u.Status.State, u.Status.Since, u.Status.Last = event.Done, at(5010), at(5010)
	u.Status.Phases[1].Stop, u.Status.Phases[1].Reason = at(5000), "timeout"
	u.Run.Phases[1].Figures[4].Invalid, u.Run.Phases[1].Provisional = "too few samples", false
	return u
}

func failedUpdate() engine.Update {
	u := bringUpUpdate()
	one := 1
	u.Done = true
	u.Status.State, u.Status.ExitCode = event.Failed, &one
	u.Status.Message = "prefill_2 ended with code 1: torch.OutOfMemoryError: CUDA out of memory. " +
		"Tried to allocate 3.91 GiB"
	u.Status.Steps[4].State, u.Status.Steps[4].ExitCode, u.Status.Steps[4].Message = "exited", &one, "CUDA out of memory"
	return u
}

// killedUpdate is a run whose worker was killed during ramp.
func killedUpdate() engine.Update {
	u := bringUpUpdate()
	one := 1
	u.Done, u.At = true, at(500)
	u.Status.State, u.Status.ClientExitCode = event.Failed, &one
	u.Status.Message = "decode_0 exited with code 137 before the run's end; last log line: listening on 127.0.0.1:28682"
	u.Status.Last = at(400)
	u.Status.Phases = []event.PhaseTimes{{Phase: 0, Concurrency: 505, Ramp: at(160), Stop: at(400), Reason: "interrupted"}}
	p := measured(0, 505, 0, 904, 400)
	p.Figures, p.Invalid = nil, []string{
		"settling not completed: the phase ended 504.0 s too early",
		"measuring window too short: 0.0 s, must be at least 300.0 s",
	}
	u.Run.Phases = []results.Phase{p}
	u.Series = []results.Series{series(0, 160, 5)}
	return u
}

// rig is a screen whose commands are run at once.
type rig struct {
	t    *testing.T
	s    *Screen
	f    *fakeEngine
	sent []tea.Msg // messages to the workbench
}

func newRig(t *testing.T, updates ...engine.Update) *rig {
	t.Helper()
	f := newFake(t)
	f.updates = updates
	r := &rig{t: t, f: f, s: New(f, ui.NewTheme(true), "592210")}
	r.s.run.zone = time.UTC
	t.Cleanup(r.s.Close)
	r.s.SetSize(120, 36)
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
		case ui.Toast, ui.Ask, ui.OpenParity, ui.Copy, ui.Back:
			return true
		}
		return false
	})...)
}

// lastSent returns the last message to the workbench.
func (r *rig) lastSent() tea.Msg {
	if len(r.sent) == 0 {
		return nil
	}
	return r.sent[len(r.sent)-1]
}

// trendValues returns the values of a bucket; missing ones are NaN.
func trendValues(by map[string]float64) []float64 {
	out := make([]float64, len(results.TrendMetrics))
	for i, m := range results.TrendMetrics {
		v, ok := by[m.Key]
		if out[i] = v; !ok {
			out[i] = math.NaN()
		}
	}
	return out
}
