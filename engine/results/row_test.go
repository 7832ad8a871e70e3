package results

import (
	"encoding/json"
	"math"
	"strings"
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
		Input: 100, Output: 20, Cached: -1, concurrency: 64, flags: lacksHasOutput | lacksKind,
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
		name, line            string
		failed                bool
		outOfRange, wrongType string
	}{
		{name: "nothing known", line: `{}`},
		{name: "nulls", line: `{"success":null,"start_time":null,"phase_idx":null}`},
		{name: "failed", line: `{"success":false}`, failed: true},
		{name: "no output", line: `{"success":true,"has_output":false}`, failed: true},
		{name: "failed with output", line: `{"success":false,"has_output":true}`, failed: true},
		{name: "the last value counts", line: `{"ttft":1,"ttft":"x","ttft":null,"success":false,"success":true}`},
		{name: "negative time", line: `{"ttft":-1}`, outOfRange: "ttft -1"},
		{name: "NaN", line: `{"ttft":NaN,"itl":-Infinity}`, outOfRange: "ttft NaN"},
		{name: "fraction of a token", line: `{"server_output_tokens":1.5}`, outOfRange: "server_output_tokens 1.5"},
		{name: "fraction of a user", line: `{"user_id":1.5}`, outOfRange: "user_id 1.5"},
		{name: "huge phase", line: `{"phase_idx":99999999999}`, outOfRange: "phase_idx 99999999999"},
		{name: "string for a time", line: `{"start_time":"now"}`, wrongType: `start_time "now"`},
		{name: "string for a count", line: `{"phase_idx":"3","server_output_tokens":"3"}`, wrongType: `phase_idx "3"`},
		{name: "string for success", line: `{"success":"false"}`, wrongType: `success "false"`},
		{name: "object for an id", line: `{"request_id":{}}`, wrongType: "request_id {}"},
		{name: "both", line: `{"ttft":[],"itl":-1}`, outOfRange: "itl -1", wrongType: "ttft []"},
	} {
		var r row
		if err := parseRow([]byte(tt.line), -1, &r); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if r.Failed != tt.failed || r.outOfRange != tt.outOfRange || r.wrongType != tt.wrongType {
			t.Errorf("%s: failed %v, out of range %q, wrong type %q", tt.name, r.Failed, r.outOfRange, r.wrongType)
		}
		if r.phase != 0 || !math.IsNaN(r.TTFT) || r.Output != -1 || r.User != -1 || !r.noStartTime || r.key != 0 {
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
			if json.Valid(data) && data[0] == '{' && !strings.HasSuffix(err.Error(), "occurs twice") {
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
