package replay

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The statistics computed from the request rows of the sample run are those of its statistics file.
func TestMeasureAgreesWithTheSampleRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "testdata", "bm_agentperf_dsv4_5p1d", "c1010", "agentperf")
	var samples []sample
	p := &phase{run: &run{}}
	for _, row := range readRows[requestRow](t, filepath.Join(dir, "requests.jsonl")) {
		x := exchange{}
		if !row.Success {
			x.kind = errorStatus
		}
		samples = append(samples, p.sampleOf(row, &x))
	}
	manifest := readRows[manifestRow](t, filepath.Join(dir, "phase_manifest.jsonl"))[0]
	got := measure(samples, window{begin: manifest.SettlingEnd, end: manifest.End})

	data, err := os.ReadFile(filepath.Join(dir, "hf-0c0ffee_orig__1010u__phase0__dur2400s__settle240s__traj3.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want statistics
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if got.Requests.Measured != 199 || got.Requests.Successful != 198 || got.Requests.Failed != 1 {
		t.Errorf("requests: got %+v, want 199 measured, 198 ok, 1 failed", got.Requests)
	}
	figures := func(s statistics) []number {
		ts, th := s.TokensServer, s.Throughput
		return []number{
			s.Duration, number(*ts.Input), number(*ts.Output), number(*ts.Cached), ts.HitRate, ts.AvgInput,
			ts.AvgOutput, ts.Median,
			th.OutputServer, th.TotalServer, s.TTFT.P50, s.TTFT.P95, s.TTFT.P99,
			s.LocalSpeed.P5, s.LocalSpeed.P25, s.LocalSpeed.P50, s.LocalSpeed.P95,
			s.SSESpeed.P5, s.SSESpeed.P25, s.SSESpeed.P50, s.SSESpeed.P95,
			s.Latency.P50, s.Latency.P95, s.Latency.P99,
		}
	}
	wanted := figures(want)
	for i, g := range figures(got) {
		if w := wanted[i]; math.Abs(float64(g-w)) > 1e-9*math.Abs(float64(w)) {
			t.Errorf("figure %d: got %v, want %v", i, g, w)
		}
	}
}

func TestMeasureWithoutData(t *testing.T) {
	t.Parallel()
	s := measure(nil, window{begin: 10, end: 5})
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"phase":0,"concurrency":0,"requests":{"total":0,"measured":0,"successful":0,"failed":0},` +
		`"measurement_duration_s":0,` +
		`"tokens_server":{"input":null,"output":null,"cached":null,"cache_hit_rate":null,"avg_input_per_request":null,` +
		`"avg_output_per_request":null,"median_output_per_request":null,` +
		`"requests_with_input_count":0,"requests_with_output_count":0,"requests_with_cached_count":0},` +
		`"tokens_client":{"output":0,"avg_output_per_request":null},` +
		`"throughput":{"output_client_tok_s":null,"output_server_tok_s":null,"total_server_tok_s":null},` +
		`"ttft_s":{"p50":null,"p95":null,"p99":null},` +
		`"output_speed_per_request_local_tok_s":{"p5":null,"p25":null,"p50":null,"p95":null},` +
		`"output_speed_per_request_sse_tok_s":{"p5":null,"p25":null,"p50":null,"p95":null},` +
		`"e2e_latency_s":{"p50":null,"p95":null,"p99":null},` +
		`"client":"","stop_reason":"","cut_off":0,"errors":{},"notes":{}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

// Sums include the requests whose count is known; the window includes its begin, not its end.
func TestMeasureUnknownCountsAndWindow(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	known := sample{
		start: 10, input: 100, output: 20, cached: 50, ttft: 1, local: 10, sse: nan, client: 8,
		firstOut: 11, lastOut: 13,
	}
	noCached := known
	noCached.cached = -1
	none := known
	none.input, none.output, none.cached = -1, -1, -1
	early, late, bad := known, known, known
	early.start, late.start, bad.kind = 9.999, 20, errorTimeout
	s := measure([]sample{known, noCached, none, early, late, bad}, window{begin: 10, end: 20})
	if s.Requests.Successful != 3 || s.Requests.Failed != 1 || s.Errors[errorTimeout] != 1 {
		t.Errorf("requests: got %+v and errors %v, want 3 ok and one timeout", s.Requests, s.Errors)
	}
	ts := s.TokensServer
	got := []int{*ts.Input, *ts.Output, *ts.Cached, ts.InputKnown, ts.OutputKnown, ts.CachedKnown}
	if want := []int{200, 40, 50, 2, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("sums and counts: got %v, want %v", got, want)
	}
	if ts.HitRate != 0.5 || ts.AvgOutput != 20 || s.Throughput.OutputServer != 4 || s.Throughput.TotalServer != 24 {
		t.Errorf("got hit rate %v, average output %v, throughput %+v, want 0.5, 20, 4 and 24",
			ts.HitRate, ts.AvgOutput, s.Throughput)
	}
	if s.TokensClient.Output != 24 || s.Throughput.OutputClient != 12 {
		t.Errorf("client: got %d tokens at %v tok/s, want 24 at 12", s.TokensClient.Output, s.Throughput.OutputClient)
	}
	if !math.IsNaN(float64(s.SSESpeed.P50)) || s.LocalSpeed.P50 != 10 {
		t.Errorf("got speeds %v (SSE) and %v (local), want none and 10", s.SSESpeed.P50, s.LocalSpeed.P50)
	}
}
