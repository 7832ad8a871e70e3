package results

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// line returns a request row of user u that starts at s and takes one second. The members
// in more are added to the row, or replace the default ones.
func line(u int, s float64, more string) string {
	members := map[string]any{
		"phase_idx": 0, "concurrency": 8, "conversation_id": fmt.Sprint("c", u), "conversation_idx": 1, "user_id": u,
		"request_id": fmt.Sprint("r", s), "start_time": s, "end_time": s + 1, "server_input_tokens": 100,
		"server_output_tokens": 10,
		"server_cached_tokens": 90, "ttft": 0.25, "itl": 0.02, "sse_output_speed": 40, "success": true,
	}
	if err := json.Unmarshal([]byte("{"+more+"}"), &members); err != nil {
		panic(err)
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return string(text)
}

var testStem = harness.Stem{Model: "m", Concurrency: 8, Phase: 0, Timeout: 100, Settling: 10, Trajectories: 3}

const window = `{"phase_idx":0,"settling_end":110,"actual_phase_end":120}`

// aggregate returns an Aggregator with live rows, a manifest row and a statistics file, if given.
func aggregate(t *testing.T, manifest, stats string, rows ...string) *Aggregator {
	t.Helper()
	f := NewAggregator()
	for _, r := range rows {
		if err := f.AddRequestRow([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	if manifest != "" {
		if err := f.AddManifestRow([]byte(manifest)); err != nil {
			t.Fatal(err)
		}
	}
	if stats != "" {
		if err := f.AddStatistics(testStem, []byte(stats)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func only(t *testing.T, agg *Aggregator) Phase {
	t.Helper()
	run := agg.Snapshot(agg.lastTime())
	if len(run.Phases) != 1 {
		t.Fatalf("%d phases, want 1: %+v", len(run.Phases), run)
	}
	return run.Phases[0]
}

func TestAnalysisRowsReplaceLiveRows(t *testing.T) {
	t.Parallel()
	f := aggregate(t, window, "", line(0, 110, `"server_output_tokens":1`), line(1, 111, ""), line(2, 112, ""))
	for _, l := range []string{
		line(0, 110, `"server_output_tokens":7,"phase_idx":5,"messages":[{"content":"x"}]`),
		line(1, 111, ""),
	} {
		if err := f.AddAnalysisRow(testStem, []byte(l)); err != nil {
			t.Fatal(err)
		}
	}
	p := only(t, f)
	if got := p.Figures.Get("output_tokens").Value; got != 27 || p.Total != 3 {
		t.Errorf("%g output tokens of %d requests, want 27 of 3", got, p.Total)
	}
	// A duplicate row in an analysis file is reported and not counted.
	if err := f.AddAnalysisRow(testStem, []byte(line(1, 111, ""))); err != nil {
		t.Fatal(err)
	}
	run := f.Snapshot(f.lastTime())
	want := []string{testStem.String() + ".jsonl: 1 duplicate row(s) not counted"}
	if diff := cmp.Diff(want, run.Errors); diff != "" || run.Phases[0].Total != 3 {
		t.Error(run.Phases[0].Total, diff)
	}
	if diff := cmp.Diff(want, run.Phases[0].Invalid); diff != "" {
		t.Error(diff)
	}
	f.DropFile(testStem.String() + ".jsonl")
	if got := only(t, f).Figures.Get("output_tokens").Value; got != 21 {
		t.Errorf("%g output tokens by the live rows, want 21", got)
	}
}

func TestDuplicateLiveRows(t *testing.T) {
	t.Parallel()
	f := aggregate(t, window, "", line(0, 110, ""), line(0, 110, ""), line(0, 110, `"request_id":"other"`))
	run := f.Snapshot(f.lastTime())
	if run.Phases[0].Total != 2 || len(run.Warnings) != 1 ||
		!strings.HasPrefix(run.Warnings[0], "requests.jsonl: 1 duplicate row(s)") {
		t.Errorf("%d, %q", run.Phases[0].Total, run.Warnings)
	}
}

func TestDuplicateManifestRow(t *testing.T) {
	t.Parallel()
	f := aggregate(t, window, "", line(0, 110, ""))
	if err := f.AddManifestRow([]byte(window)); err != nil {
		t.Fatal(err)
	}
	run := f.Snapshot(f.lastTime())
	want := []string{"phase_manifest.jsonl: phase 0 occurs 2 times"}
	if diff := cmp.Diff(want, run.Errors); diff != "" {
		t.Error(diff)
	}
	f.DropFile(ManifestFile) // as the client does when it starts
	if p := only(t, f); p.Window != nil {
		t.Errorf("window %+v without a manifest", p.Window)
	}
}

func TestManifestOfEarlierStart(t *testing.T) {
	t.Parallel()
	f := aggregate(t, window, "", line(0, 110, ""))
	f.SetStart(time.Unix(200, 0))
	run := f.Snapshot(time.Unix(201, 0))
	if len(run.Phases) != 0 || run.EarlierStartRows != 1 {
		t.Errorf("%+v", run)
	}
}

func TestInvalidLines(t *testing.T) {
	t.Parallel()
	f := aggregate(t, window, "", line(0, 110, ""))
	for _, l := range []string{"", "  \r", "\x1b[0m", `{"user_id":x}`} {
		if err := f.AddRequestRow([]byte(l)); (err == nil) != (strings.TrimSpace(l) == "") {
			t.Errorf("%q: %v", l, err)
		}
	}
	for _, l := range []string{"", `{"phase_idx":0}`, `[`} {
		if err := f.AddManifestRow([]byte(l)); (err == nil) != (l == "") {
			t.Errorf("%q: %v", l, err)
		}
	}
	want := []string{
		`not counted: phase_manifest.jsonl:3: ` +
			`phase_idx, settling_end or actual_phase_end is missing (first of 2 such lines)`,
		`not counted: requests.jsonl:4: column 1: expected an object, found '\x1b' (first of 2 such lines)`,
	}
	run := f.Snapshot(f.lastTime())
	if diff := cmp.Diff(want, run.Warnings); diff != "" || run.Phases[0].Total != 1 {
		t.Error(diff)
	}
}

func TestStatisticsOfEarlierStart(t *testing.T) {
	t.Parallel()
	stats := `{"requests":{"total":200},"measurement_duration_s":10}`
	f := aggregate(t, "", stats, line(0, 110, ""), line(1, 210, ""))
	f.SetStart(time.Unix(200, 0))
	later := testStem
	later.Phase = 1
	if err := f.AddStatistics(later, []byte(stats)); err != nil {
		t.Fatal(err)
	}
	run := f.Snapshot(f.lastTime())
	if len(run.Phases) != 1 || run.Phases[0].Window != nil || run.Phases[0].Statistics != nil ||
		run.EarlierStartRows != 1 {
		t.Errorf("%+v", run)
	}
	if w := run.Phases[0].Warnings; len(w) != 1 || !strings.Contains(w[0], "rows since the last client start") {
		t.Errorf("%q", w)
	}
}

// TestFileOrder checks that the figures do not depend on how the lines of files are
// interleaved.
func TestFileOrder(t *testing.T) {
	t.Parallel()
	feed := map[string][]string{ManifestFile: {window}}
	for i := range 50 {
		feed[RequestsFile] = append(feed[RequestsFile], line(i, 100+float64(i)/2, ""))
		if i%2 == 0 {
			feed["analysis"] = append(feed["analysis"], line(i, 100+float64(i)/2, `"server_output_tokens":11`))
		}
	}
	var want []byte
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f := NewAggregator()
		at := map[string]int{}
		for left := []string{ManifestFile, RequestsFile, "analysis"}; len(left) > 0; {
			k := rng.IntN(len(left))
			name := left[k]
			if at[name] == len(feed[name]) {
				left = slices.Delete(left, k, k+1)
				continue
			}
			l := []byte(feed[name][at[name]])
			at[name]++
			var err error
			switch name {
			case ManifestFile:
				err = f.AddManifestRow(l)
			case RequestsFile:
				err = f.AddRequestRow(l)
			default:
				err = f.AddAnalysisRow(testStem, l)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.Snapshot(time.Unix(115, 0)) // must not change the result
		}
		got, err := json.Marshal(f.Snapshot(time.Unix(200, 0)))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("order %d: %s", seed, diff)
		}
	}
}

// TestValuesOutOfRange checks that such values are reported and not used in figures.
func TestValuesOutOfRange(t *testing.T) {
	t.Parallel()
	f := NewAggregator()
	if err := f.AddManifestRow([]byte(`{"phase_idx":0,"settling_end":1000,"actual_phase_end":2000}`)); err != nil {
		t.Fatal(err)
	}
	row := func(user int, more string) {
		start := 1000 + 10*user
		line := fmt.Sprintf(`{"phase_idx":0,"conversation_id":"c","conversation_idx":1,"user_id":%d,"request_id":"%d",`+
			`"start_time":%d,"end_time":%d,"success":true,"server_output_tokens":100%s}`, user, user, start, start+5, more)
		if err := f.AddRequestRow([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		row(i, `,"ttft":1,"itl":0.01,"server_input_tokens":1000,"server_cached_tokens":500`)
	}
	for i, odd := range []string{
		`,"ttft":-1`, `,"ttft":1e300`, `,"ttft":NaN`, `,"itl":Infinity`, `,"itl":-0.5`, `,"sse_output_speed":1e200`,
		`,"server_input_tokens":-5`,
		`,"server_cached_tokens":1e30`, `,"server_input_tokens":0.5`,
	} {
		row(20+i, odd)
	}
	run := f.Snapshot(time.Time{})
	fs := run.Phases[0].Figures
	for key, want := range map[string]float64{
		"ttft_p50_s": 1, "ttft_p99_s": 1, "output_speed_local_p50_tok_s": 100, "cache_hit_rate": 0.5,
		"avg_input_per_request": 1000, "output_server_tok_s": 2.9,
	} {
		if got := fs.Get(key).Value; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if got := strings.Join(run.Warnings, "; "); !strings.Contains(got,
		"requests.jsonl: 9 row(s) with a value out of range, treated as unknown; first: ttft -1") {
		t.Errorf("warnings: %s", got)
	}
	f.DropFile(RequestsFile)
	if got := f.Snapshot(time.Time{}).Warnings; len(got) != 0 {
		t.Errorf("after the file was replaced: %v", got)
	}
}

// TestTimesOutOfRange checks that such times are treated as unknown.
func TestTimesOutOfRange(t *testing.T) {
	t.Parallel()
	f := NewAggregator()
	for _, line := range []string{
		`{"user_id":1,"start_time":1000,"end_time":1001,"ttft":0.5,"success":true}`,
		`{"user_id":2,"start_time":1000.5,"end_time":1e300,"ttft":0.5,"success":true}`,
		`{"user_id":3,"start_time":-1e300,"end_time":1001.5,"ttft":0.5,"success":true}`,
	} {
		if err := f.AddRequestRow([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if first, last := f.PhaseSpan(0); first.Unix() != 1000 || last.Unix() != 1001 {
		t.Errorf("from %v to %v", first, last)
	}
	if s, err := f.Series(0, 0); err != nil || len(s.Buckets) > 3 {
		t.Errorf("%d buckets, %v", len(s.Buckets), err)
	}
}
