package replay

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
)

// A replay of two phases writes all files, and the statistics agree with the rows and the manifest.
func TestRunWritesEveryFile(t *testing.T) {
	t.Parallel()
	base := disaggregated(t, mockserver.Config{Model: "org/model", Timing: fastTiming(), ToolCalls: 0.5, Reasoning: true})
	turns := conversations(6, 3, 3)
	for i := range turns {
		turns[i].Tools = []any{map[string]any{"type": "function"}}
	}
	cfg := testConfig(t, base, writeTrajectories(t, turns))
	cfg.Concurrencies, cfg.SpawnRate, cfg.MaxStartingOffset, cfg.ReasoningEffort = []int{3, 8}, 50, 2, "high"
	cfg.SettlingTime, cfg.MinMeasurement = 100*time.Millisecond, 300*time.Millisecond
	cfg.MinTotalTrajectories, cfg.MinTrajectoriesPerUser = 5, 2
	var events []phaseEvent
	cfg.onEvent = func(e phaseEvent) { events = append(events, e) }
	cfg.RequestLogPath = filepath.Join(cfg.ResultsDir, "requests.jsonl")
	manifestPath := filepath.Join(cfg.ResultsDir, "phase_manifest.jsonl")
	const half = `{"phase_idx":0,"conc`
	writeFiles(t, map[string]string{cfg.RequestLogPath: half, manifestPath: `{"phase_idx":7}` + "\n"})
	if err := runConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}

	earlier, rest, _ := strings.Cut(readText(t, cfg.RequestLogPath), "\n")
	if earlier != half {
		t.Errorf("the incomplete row of the earlier start is now %q, want %q", earlier, half)
	}
	all := readRows[requestRow](t, writeFile(t, "rows", rest))
	manifest := readRows[manifestRow](t, manifestPath)
	if len(manifest) != 2 {
		t.Fatalf("got %d phases in the manifest, want 2", len(manifest))
	}
	stems := []string{
		"org_model__3u__phase0__dur20s__settle0.1s__traj2", "org_model__8u__phase1__dur20s__settle0.1s__traj2",
	}
	for i, users := range cfg.Concurrencies {
		checkPhase(t, filepath.Join(cfg.ResultsDir, stems[i]), all, manifest[i], i, users)
	}
	if left, err := filepath.Glob(filepath.Join(cfg.ResultsDir, "*.partial")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, string(e.Kind))
	}
	const perPhase = "phase_start ramp_done settling_done stop drained phase_end"
	if got := strings.Join(kinds, " "); got != perPhase+" "+perPhase {
		t.Errorf("events: got %s, want %s, twice", got, perPhase)
	}
	if last := events[len(events)-1]; last.Reason != stopCriteria || last.Counts.Failed != 0 ||
		last.Counts.InFlight != 0 || last.Counts.CutOff != 0 {
		t.Errorf("last event: got %+v, want no failure and nothing in flight", last)
	}
}

// writeFiles writes files as an earlier start leaves them.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// checkPhase compares one phase's files with each other.
func checkPhase(t *testing.T, base string, all []requestRow, m manifestRow, index, users int) {
	t.Helper()
	rows, measured := phaseRows(t, all, m, index, users)
	var s statistics
	if err := json.Unmarshal([]byte(readText(t, base+".json")), &s); err != nil {
		t.Fatal(err)
	}
	if s.Requests.Total != len(rows) || s.Requests.Measured != len(measured) || s.Requests.Failed != 0 ||
		len(measured) == 0 {
		t.Errorf("phase %d: got %+v, want %d in all and %d measured", index, s.Requests, len(rows), len(measured))
	}
	output := 0
	for _, r := range measured {
		output += *r.Output
	}
	window := m.End - m.SettlingEnd
	if *s.TokensServer.Output != output || s.Duration != number(window) ||
		s.Throughput.OutputServer != number(float64(output)/window) {
		t.Errorf("phase %d: got %d tokens in %v s, want %d in %v s",
			index, *s.TokensServer.Output, s.Duration, output, window)
	}
	if want := implementation + " 1.2.3"; s.Client != want || m.Client != want {
		t.Errorf("client: got %q and %q, want %q", s.Client, m.Client, want)
	}
	analysis := readRows[analysisRow](t, base+".jsonl")
	if len(analysis) != len(rows) {
		t.Errorf("phase %d: got %d analysis rows, want %d", index, len(analysis), len(rows))
	}
	for _, a := range analysis {
		// The mock server generates four bytes per token.
		if a.ClientTokens != *a.Output || a.HTTPStatus != http.StatusOK {
			t.Errorf("analysis row: got %d estimated tokens of %d, status %d", a.ClientTokens, *a.Output, a.HTTPStatus)
		}
	}
	if text := readText(t, base+".txt"); !strings.Contains(text, "Client: "+implementation+" 1.2.3\n") {
		t.Errorf("the summary does not name the client:\n%s", text)
	}
}

// phaseRows returns the rows of a phase, and those of them in the measuring window of the manifest.
func phaseRows(t *testing.T, all []requestRow, m manifestRow, index, users int) (rows, measured []requestRow) {
	t.Helper()
	type identity struct {
		id   string
		turn int
	}
	seen := map[identity]bool{}
	for _, r := range all {
		if r.Phase != index {
			continue
		}
		rows = append(rows, r)
		if m.SettlingEnd <= r.Start && r.Start < m.End {
			measured = append(measured, r)
		}
		if seen[identity{r.RequestID, r.Turn}] {
			t.Errorf("request id %s has turn %d twice", r.RequestID, r.Turn)
		}
		seen[identity{r.RequestID, r.Turn}] = true
		if r.Concurrency != users || r.User >= users || len(r.RequestID) != 12 || len(r.XRequestID) != 32 || r.End > m.End {
			t.Errorf("unexpected row %+v in a phase of %d users that ended at %f", r, users, m.End)
		}
	}
	return rows, measured
}

func TestBanner(t *testing.T) {
	t.Parallel()
	cfg := Config{
		BaseURL: "http://h:8000/v1", Model: "m", ServerType: "trtllm", Concurrencies: []int{64, 1010},
		PhaseTimeout: 2400 * time.Second, MaxStartingOffset: 10, AssignmentsPath: "/d/a.json", MaxTokens: 2000,
		DelayKey: "d", RoutingHeaders: true, ResultsDir: "/r", RequestLogPath: "/r/requests.jsonl",
		Seed: 42, Version: "1.2.3",
	}
	const want = `============================================================
agentperf-tui built-in replay 1.2.3
============================================================
  Client: agentperf-tui built-in replay 1.2.3
  Base URL: http://h:8000/v1
  Model: m
  Server type: trtllm
  Concurrencies: [64, 1010]
  Connection pool: 1010 (auto-sized, keepalive expiry disabled)
  Phase Timeout: 2400.0s
  Max ISL offset: 10
  User assignments: /d/a.json
  Max tokens: 2000
  Reasoning effort: None
  Tool-call delays: enabled
  Conversation routing headers: enabled
  Dynamo conv-aware routing (X-Dynamo-Session-ID): disabled
  Power sampling: disabled
  Results dir: /r
  Request log: /r/requests.jsonl
  Seed: 42
============================================================
`
	if got := banner(cfg); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	window := window{begin: 0, end: 2}
	one := sample{
		start: 1, latency: 3.25, ttft: 1.25, local: 80, sse: 79.95, input: 1_234_567, output: 1000, cached: 1_200_000,
		client: 900, firstOut: 2.25, lastOut: 4.25,
	}
	s := measure([]sample{one, {start: 1, kind: errorTimeout}}, window)
	s.Phase, s.Concurrency, s.Client = 1, 64, "agentperf-tui built-in replay 1.2.3"
	s.StopReason, s.CutOff, s.Requests.Total = stopInterrupted, 2, 12_345
	const want = `
============================================================
Phase 1 Results (concurrency=64)
============================================================
Client: agentperf-tui built-in replay 1.2.3
Total requests: 12345
Measured: 2 (1 ok, 1 err)
Window: 2.0s
Stopped by: interrupted
Cut off at the end of the drain, not counted: 2
Errors: timeout 1
Tokens (server):
  Input: 1,234,567 (1,234,567.0 per request)
  Output: 1,000 (1,000.0 per request, median 1,000.0)
  Cached: 1,200,000 (hit rate 97.2%)
Tokens (client estimate): 900 (900.0 per request)
System Throughput (server output): 500.0 tok/s
System Throughput (client output): 450.0 tok/s
System Throughput (server total): 617,783.5 tok/s
TTFT p50/p95/p99: 1.250s / 1.250s / 1.250s
Output Speed (per-request local, tok/s):
  p5: 80.0
  p25: 80.0
  p50: 80.0
  p95: 80.0
Output Speed (per-request SSE, tok/s):
  p5: 80.0
  p25: 80.0
  p50: 80.0
  p95: 80.0
============================================================
`
	if got := summary(s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
