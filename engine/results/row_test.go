package results

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

func TestParseRow(t *testing.T) {
	t.Parallel()
	var got row
	err := parseRow([]byte(`{"phase_idx":1,"concurrency":64,"conversation_id":"c","conversation_idx":3,"user_id":7,`+
		`"request_id":"ab",`+
		`"start_time":10.5,"end_time":12,"server_input_tokens":100,"server_output_tokens":20.0,"server_cached_tokens":null,`+
		`"ttft":0.5,"itl":NaN,"sse_output_speed":1e999,"success":true,"response_text":"never kept"}`), -1, &got)
	if err != nil {
		t.Fatal(err)
	}
	want := row{Request: Request{
		Turn:  3,
		phase: 1, User: 7, Start: 10.5, End: 12, TTFT: 0.5, ITL: math.NaN(), SSE: math.NaN(),
		Input: 100, Output: 20, Cached: -1, concurrency: 64,
	}, outOfRange: "itl NaN"}
	got.Conversation, got.Pass, got.key = 0, 0, 0 // hashes
	nan := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if diff := cmp.Diff(want, got, nan, cmp.AllowUnexported(row{}, Request{})); diff != "" {
		t.Error(diff)
	}
}

func TestParseRowUnknowns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line string
		ok         bool
		failed     bool
	}{
		{"nothing known", `{}`, true, false},
		{"nulls", `{"success":null,"start_time":null,"phase_idx":null}`, true, false},
		{"failed", `{"success":false}`, true, true},
		{"no output", `{"success":true,"has_output":false}`, true, true},
		{"failed with output", `{"success":false,"has_output":true}`, true, true},
		{"negative time", `{"ttft":-1}`, true, false},
		{"fraction of a token", `{"server_output_tokens":1.5}`, true, false},
		{"string for a time", `{"start_time":"now"}`, false, false},
		{"string for success", `{"success":"yes"}`, false, false},
		{"fraction of a user", `{"user_id":1.5}`, false, false},
		{"huge phase", `{"phase_idx":99999999999}`, false, false},
		{"object for an id", `{"request_id":{}}`, false, false},
	} {
		var r row
		err := parseRow([]byte(tt.line), -1, &r)
		if (err == nil) != tt.ok || r.Failed != tt.failed && tt.ok {
			t.Errorf("%s: %v, failed %v", tt.name, err, r.Failed)
		}
		if tt.ok && (r.phase != 0 || !math.IsNaN(r.TTFT) || r.Output != -1) {
			t.Errorf("%s: %+v, want phase 0 and all else unknown", tt.name, r)
		}
	}
}

func FuzzParseRow(f *testing.F) {
	f.Add([]byte(`{"phase_idx":0,"start_time":1.5,"user_id":3,"request_id":"\u0061","success":true}`))
	f.Add([]byte(`{"start_time":-Infinity,"itl":0}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var r row
		err := parseRow(line, -1, &r)
		if err != nil {
			return
		}
		for _, v := range []float64{r.Start, r.End, r.TTFT, r.ITL, r.SSE} {
			if v < 0 || math.IsInf(v, 0) {
				t.Fatalf("%q: %g, want a finite number from 0 on or NaN", line, v)
			}
		}
		if r.Input < -1 || r.Output < -1 || r.Cached < -1 {
			t.Fatalf("%q: %+v", line, r)
		}
	})
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	s, err := parseStatistics(harness.Stem{},
		[]byte(`{"ttft_s":{"p50":NaN,"p95":1.5},"x":-Infinity,"text":"NaN \" NaN","requests":{"total":12,"failed":1.5},`+
			`"huge":1e999}`))
	if err != nil {
		t.Fatal(err)
	}
	if v := s.number("ttft_s", "p95"); v != 1.5 {
		t.Errorf("p95 %g", v)
	}
	for _, path := range [][]string{{"ttft_s", "p50"}, {"x"}, {"text"}, {"ttft_s"}, {"none"}, {"x", "y"}, {"huge"}} {
		if v := s.number(path...); !math.IsNaN(v) {
			t.Errorf("%v: %g, want NaN", path, v)
		}
	}
	if s.count("requests", "total") != 12 || s.count("requests", "failed") != -1 || s.count("requests", "none") != -1 {
		t.Errorf("counts of %v", s.values)
	}
	if s.values["text"] != `NaN " NaN` {
		t.Errorf("text %q", s.values["text"])
	}
	for _, bad := range []string{``, `null`, `[]`, `{"a":`, `{}{}`} {
		if _, err := parseStatistics(harness.Stem{}, []byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func FuzzStatistics(f *testing.F) {
	f.Add([]byte(`{"measurement_duration_s":1,"requests":{"total":1}}`))
	f.Add([]byte(`{"a":-Infinity,"b":"\"NaN"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseStatistics(harness.Stem{}, data)
		if err != nil {
			if json.Valid(data) && data[0] == '{' {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		if !json.Valid(s.raw) {
			t.Fatalf("%q: kept as %q", data, s.raw)
		}
		agg := NewAggregator()
		if err := agg.AddStatistics(harness.Stem{}, data); err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(agg.Snapshot(agg.lastTime())); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
	})
}
