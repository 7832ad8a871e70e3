package results

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// seriesAggregator returns an Aggregator with requests of one user and a failed one of another.
func seriesAggregator(t *testing.T) *Aggregator {
	t.Helper()
	f := NewAggregator()
	for i, row := range []string{
		`"user_id":0,"start_time":100,"end_time":104,"server_input_tokens":100,"server_output_tokens":10,"ttft":1,"itl":0.1`,
		`"user_id":0,"start_time":105,"end_time":108,"server_input_tokens":200,"server_output_tokens":30,"ttft":3,"itl":0.05`,
		`"user_id":1,"start_time":106,"end_time":112,"success":false`,
		`"user_id":0,"start_time":109,"end_time":121,"server_input_tokens":300,"server_output_tokens":40,"ttft":2,"itl":0.2`,
	} {
		line := fmt.Appendf(nil, `{"phase_idx":0,"conversation_id":"c","conversation_idx":%d,"request_id":"r",%s}`, i, row)
		if err := f.AddRequestRow(line); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestSeries(t *testing.T) {
	t.Parallel()
	series := func(phase int, seconds float64) Series {
		s, err := seriesAggregator(t).Series(phase, seconds)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := series(0, 10)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"phase_idx":0,"bucket_seconds":10,"buckets":[` +
		`{"start":100,"seconds":10,"requests":2,"failed":0,"output_tok_s":4,"total_tok_s":34,"ttft_p50_s":2,` +
		`"ttft_p95_s":2.9,"output_speed_local_p25_tok_s":12.5,"users":2,"in_flight":1.2},` +
		`{"start":110,"seconds":10,"requests":1,"failed":1,"output_tok_s":null,"total_tok_s":null,"ttft_p50_s":null,` +
		`"ttft_p95_s":null,"output_speed_local_p25_tok_s":null,"users":2,"in_flight":1.2},` +
		`{"start":120,"seconds":1,"requests":1,"failed":0,"output_tok_s":40,"total_tok_s":340,"ttft_p50_s":2,` +
		`"ttft_p95_s":2,"output_speed_local_p25_tok_s":5,"users":1,"in_flight":1}]}`
	if string(text) != want {
		t.Errorf("%s, want\n%s", text, want)
	}
	if s := series(0, 0); s.Seconds != 1 || len(s.Buckets) != 22 {
		t.Errorf("chosen %g s, %d buckets; want 1 s, 22 (a last one for what ends at 121 sharp)", s.Seconds, len(s.Buckets))
	}
	if s := series(1, 10); len(s.Buckets) != 0 {
		t.Errorf("a phase without rows: %+v", s)
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	f := seriesAggregator(t)
	recent := func(f *Aggregator, seconds float64, now time.Time) Recent {
		r, err := f.Recent(0, seconds, now)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := recent(f, 15, time.Time{})
	if r.N != 3 || r.Failed != 1 || r.Errors["unknown"] != 1 || r.Until.Unix() != 121 {
		t.Errorf("%+v", r)
	}
	if out := r.Figures.Get("output_server_tok_s"); math.Abs(out.Value-70.0/15) > 1e-12 || out.N != 2 {
		t.Errorf("output %+v", out)
	}
	if r := recent(f, 60, time.Unix(500, 0)); r.N != 0 || !math.IsNaN(r.Figures.Get("ttft_p50_s").Value) {
		t.Errorf("long after the last request: %+v", r)
	}
	text, err := json.Marshal(recent(NewAggregator(), 60, time.Time{}))
	if err != nil || len(text) == 0 {
		t.Errorf("%s, %v", text, err)
	}
}

// TestFailuresByKind checks that failed requests are counted by error kind, and that a kind
// that is not a plain word is counted as unknown.
func TestFailuresByKind(t *testing.T) {
	t.Parallel()
	f := aggregate(t, window, "", line(0, 110, ""), line(1, 110, `"success":false,"error_kind":"timeout"`),
		line(2, 110, `"success":false,"error_kind":"timeout"`),
		line(3, 111, `"success":false,"error_kind":"\u001b[31m"`), line(4, 111, `"success":false`),
		line(5, 300, `"success":false,"error_kind":"status"`))
	p := only(t, f)
	if diff := cmp.Diff(map[string]int{"timeout": 2, "unknown": 2}, p.Errors); diff != "" {
		t.Error(diff)
	}
	if text := p.Text(); !strings.Contains(text, "  failures  timeout 2, unknown 2\n") {
		t.Error(text)
	}
	r, err := f.Recent(0, 10, time.Time{})
	if diff := cmp.Diff(map[string]int{"status": 1}, r.Errors); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
