package results

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRequestCounts(t *testing.T) {
	t.Parallel()
	p := only(t, aggregate(t, window, "",
		line(0, 109.999, ""), line(1, 109, `"success":false`), // settling
		line(2, 110, ""), line(3, 119.999, ""), // at the limits of the window
		line(4, 112, `"success":false,"server_input_tokens":null,"server_output_tokens":null,"server_cached_tokens":null,`+
			`"ttft":null,"itl":null`),
		line(5, 113, `"has_output":false`),
		line(6, 120, ""), line(7, 121, `"success":false`), // after
		line(0, 111, `"start_time":null`),
	))
	want := Requests{
		Measured: 4, Successful: 2, Failed: 2, Settling: 2, SettlingFailed: 1, After: 2, AfterFailed: 1,
		NoStartTime: 1,
	}
	if diff := cmp.Diff(want, *p.Requests); diff != "" || p.Total != 9 {
		t.Errorf("total %d, %s", p.Total, diff)
	}
	if p.Concurrency != 8 {
		t.Errorf("concurrency %d", p.Concurrency)
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	p := only(t, aggregate(t, window, "",
		line(0, 110, `"server_output_tokens":20,"ttft":0.1`),
		line(1, 111, `"server_output_tokens":null,"ttft":0.2`),
		line(2, 112, `"server_cached_tokens":null,"ttft":0.4,"itl":0`),
		line(3, 113, `"server_input_tokens":null,"ttft":null,"itl":null,"sse_output_speed":null`),
		line(4, 114, `"has_output":false,"server_output_tokens":0`),
	))
	type value struct {
		Value float64
		N     int
	}
	got := map[string]value{}
	for _, f := range p.Figures {
		got[f.Key] = value{f.Value, f.N}
	}
	want := map[string]value{
		"output_server_tok_s":       {4, 4},   // 20 + 10 + 10 + 0 over 10 s
		"total_server_tok_s":        {33, 3},  // 120 + 110 + 100: both counts known
		"cache_hit_rate":            {0.9, 3}, // 270 of 300
		"avg_input_per_request":     {100, 3}, // successful requests with a count
		"avg_output_per_request":    {40. / 3, 3},
		"median_output_per_request": {10, 3},
		"ttft_p50_s":                {0.2, 3},
		"ttft_p95_s":                {0.38, 3},
		"ttft_p99_s":                {0.396, 3},
		"input_tokens":              {400, 4},
		"output_tokens":             {40, 4},
		"cached_tokens":             {360, 4},
		"e2e_p50_s":                 {1, 4}, "e2e_p95_s": {1, 4}, "e2e_p99_s": {1, 4},
		"itl_p50_s": {0.02, 2}, "itl_p95_s": {0.02, 2}, "itl_p99_s": {0.02, 2}, // one value is null, one is 0
		"output_client_tok_s": {math.NaN(), 0},
	}
	for _, p := range []string{"p5", "p25", "p50", "p95"} {
		want["output_speed_local_"+p+"_tok_s"] = value{50, 2}
		want["output_speed_sse_"+p+"_tok_s"] = value{40, 3}
	}
	near := cmp.Comparer(func(a, b float64) bool {
		return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-12
	})
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Error(diff)
	}
}

func TestFiguresWithoutData(t *testing.T) {
	t.Parallel()
	for _, f := range only(t, aggregate(t, window, "", line(0, 100, ""))).Figures {
		if !math.IsNaN(f.Value) || f.Text() != "-" {
			t.Errorf("%s: %g without a measured request", f.Key, f.Value)
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	level := PlannedPhase{Phase: 0, Concurrency: 8, Ramp: 7, Settling: 3, Timeout: 100}
	rows := []string{line(0, 100, ""), line(1, 130, "")}
	tests := []struct {
		name            string
		manifest, stats string
		level           bool
		more            string
		now             int64
		want            *Window
	}{
		{"manifest preferred", window, `{"measurement_duration_s":5}`, true, "", 150, &Window{110, 120, 10, FromManifest}},
		{"statistics second", "", `{"measurement_duration_s":5}`, true, "", 150, &Window{126, 131, 5, FromStatistics}},
		{"statistics without duration", "", `{}`, true, "", 150, &Window{110, 150, 40, Estimated}},
		{"plan, to now", "", "", true, "", 150, &Window{110, 150, 40, Estimated}},
		{"plan, to the timeout", "", "", true, "", 900, &Window{110, 200, 90, Estimated}},
		{"plan, during settling", "", "", true, "", 105, nil},
		{
			"phase ended during settling", `{"phase_idx":0,"settling_end":120,"actual_phase_end":110}`, "", true, "", 150,
			nil,
		},
		{"plan, next phase started", "", "", true, line(0, 140, `"phase_idx":1`), 150, &Window{110, 131, 21, Estimated}},
		{"no source", "", "", false, "", 150, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all := rows
			if tt.more != "" {
				all = append(slices.Clone(rows), tt.more)
			}
			f := aggregate(t, tt.manifest, tt.stats, all...)
			if tt.level {
				f.AddPlan(level)
			}
			p := f.Snapshot(time.Unix(tt.now, 0)).Phases[0]
			if diff := cmp.Diff(tt.want, p.Window); diff != "" {
				t.Error(diff)
			}
			text := "none: settling not completed"
			if p.Requests == nil {
				text = "unknown"
			}
			if tt.want == nil && (!strings.Contains(p.Text(), "window    "+text) || len(p.Invalid) != 1 ||
				tt.level != (p.Requests != nil)) {
				t.Errorf("without a window: %+v, %q", p.Requests, p.Invalid)
			}
		})
	}
}

// A run that was planned without its workload has phases of unknown length.
func TestWindowOfPlanWithoutTimes(t *testing.T) {
	t.Parallel()
	f := aggregate(t, "", "", line(0, 100, ""), line(1, 130, ""))
	f.AddPlan(PlannedPhase{Phase: 0, Concurrency: 8})
	if p := f.Snapshot(time.Unix(150, 0)).Phases[0]; p.Window != nil || p.Requests != nil || p.Concurrency != 8 {
		t.Errorf("window %+v, requests %v, concurrency %d", p.Window, p.Requests, p.Concurrency)
	}
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	good := []string{line(0, 110, ""), line(1, 111, ""), line(0, 112, "")}
	tests := []struct {
		name     string
		rows     []string
		manifest string
		least    float64
		want     []string
	}{
		{name: "valid", rows: good, least: 10},
		{
			name: "too short", rows: good, least: 10.5,
			want: []string{"measuring window too short: 10.0 s, must be at least 10.5 s"},
		},
		{
			name: "no measured request", rows: []string{line(0, 100, "")},
			want: []string{"settling not completed: no request started in the measuring window"},
		},
		{name: "no output", rows: []string{
			line(0, 110, `"server_output_tokens":0`),
			line(1, 110, `"server_output_tokens":null`),
		}, want: []string{"no output tokens"}},
		{
			name: "end before start", rows: append(good[:3:3], line(2, 115, `"end_time":114`)),
			want: []string{"clock changed: 1 request(s) end before their start or first token"},
		},
		{
			name: "end before the first token", rows: append(good[:3:3], line(2, 115, `"ttft":30`)),
			want: []string{"clock changed: 1 request(s) end before their start or first token"},
		},
		{
			name: "overlap", rows: append(good[:3:3], line(0, 112.5, "")),
			want: []string{"1 request(s) start before the previous request of the same user ends"},
		},
		{
			name: "overlap, rows out of order", rows: []string{line(0, 112.5, ""), line(0, 112, `"end_time":115`)},
			want: []string{"1 request(s) start before the previous request of the same user ends"},
		},
		{
			name: "phase ended during settling", rows: good,
			manifest: `{"phase_idx":0,"settling_end":120,"actual_phase_end":110}`,
			want:     []string{"settling not completed: the phase ended 10.0 s too early"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.manifest == "" {
				tt.manifest = window
			}
			f := aggregate(t, tt.manifest, "", tt.rows...)
			f.AddPlan(PlannedPhase{MinMeasurement: tt.least})
			if diff := cmp.Diff(append([]string{}, tt.want...), only(t, f).Invalid); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvalidFigures(t *testing.T) {
	t.Parallel()
	rows := func(n, silent int) (rows []string) {
		for i := range n {
			more := ""
			if i < silent {
				more = `"itl":null`
			}
			rows = append(rows, line(i, 110, more))
		}
		return rows
	}
	tests := []struct {
		name      string
		n, silent int
		key, want string
	}{
		{"p50 of 20", 20, 0, "ttft_p50_s", ""},
		{"p50 of 19", 19, 0, "ttft_p50_s", "19 samples, p50 needs 20"},
		{"p95 of 200", 200, 0, "ttft_p95_s", ""},
		{"p95 of 199", 199, 0, "ttft_p95_s", "199 samples, p95 needs 200"},
		{"p99 of 1000", 1000, 0, "e2e_p99_s", ""},
		{"p99 of 999", 999, 0, "e2e_p99_s", "999 samples, p99 needs 1,000"},
		{"p25 of 40", 40, 0, "output_speed_local_p25_tok_s", ""},
		{"1 % without speed", 200, 2, "output_speed_local_p50_tok_s", ""},
		{"more without speed", 200, 3, "output_speed_local_p50_tok_s", "speed unknown in 3 of 200 requests"},
		{"ITL is 1 / speed", 200, 3, "itl_p50_s", "inter-token latency unknown in 3 of 200 requests"},
		{"SSE speed is known", 201, 101, "output_speed_sse_p50_tok_s", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := only(t, aggregate(t, window, "", rows(tt.n, tt.silent)...))
			if got := p.Figures.Get(tt.key).Invalid; got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestSpeedsOfChunkedOutputAreInvalid(t *testing.T) {
	t.Parallel()
	rows := make([]string, 20)
	for i := range rows {
		rows[i] = line(i, 110, `"itl":0.0001`)
	}
	p := only(t, aggregate(t, window, "", rows...))
	for _, key := range []string{LocalSpeed50, "itl_p50_s"} {
		if f := p.Figures.Get(key); f.Class != Invalid ||
			!strings.Contains(f.Invalid, "the server sends tokens in large chunks") {
			t.Errorf("%s: %+v", key, f)
		}
	}
	if f := p.Figures.Get(TTFT50); f.Class != Exact {
		t.Errorf("TTFT: %+v", f)
	}
}

func TestClientStatistics(t *testing.T) {
	t.Parallel()
	stats := `{"phase":0,"concurrency":8,"requests":{"total":3,"measured":2,"successful":2,"failed":0},` +
		`"measurement_duration_s":10,` +
		`"throughput":{"output_server_tok_s":2.01,"output_client_tok_s":7,"total_server_tok_s":23},"ttft_s":{"p50":null},` +
		`"new":{"key":1}}`
	p := only(t, aggregate(t, window, stats, line(0, 110, ""), line(1, 111, "")))
	for _, tt := range []struct {
		key           string
		value, client float64
	}{
		{"output_server_tok_s", 2, math.NaN()}, // differs by 0.5 %
		{"total_server_tok_s", 22, 23},         // differs by 4.5 %
		{"output_client_tok_s", 7, math.NaN()}, // reported by the client only
		{"ttft_p50_s", 0.25, math.NaN()},
	} {
		f := p.Figures.Get(tt.key)
		if f.Value != tt.value || f.Client != tt.client && !(math.IsNaN(f.Client) && math.IsNaN(tt.client)) {
			t.Errorf("%s: %g, client %g; want %g, %g", tt.key, f.Value, f.Client, tt.value, tt.client)
		}
	}
	if diff := cmp.Diff([]string{"total requests: the client reports 3, the rows contain 2"}, p.Warnings); diff != "" {
		t.Error(diff)
	}
	if string(p.Statistics) != stats {
		t.Errorf("kept %s", p.Statistics)
	}
}

func TestStatisticsWithoutRows(t *testing.T) {
	t.Parallel()
	p := only(t, aggregate(t, "", `{"concurrency":8,"requests":{"total":9,"measured":5,"successful":4,"failed":1},`+
		`"measurement_duration_s":10,"ttft_s":{"p50":1.5}}`))
	f := p.Figures.Get("ttft_p50_s")
	if f.Value != 1.5 || f.N != 0 || f.Method != "as stated by the client" || p.Window.Seconds != 10 || p.Total != 9 ||
		p.Requests.Failed != 1 {
		t.Errorf("%+v, %+v, %+v", f, p.Window, p.Requests)
	}
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 0, "0"},
		{999, 0, "999"},
		{1000, 0, "1,000"},
		{8145082.84, 1, "8,145,082.8"},
		{1.3476, 3, "1.348"},
		{-1234.5, 1, "-1,234.5"},
		{-0.04, 1, "0.0"},
		{999.96, 1, "1,000.0"},
		{math.NaN(), 1, "-"},
		{math.Inf(1), 1, "-"},
	} {
		if got := Decimal(tt.v, tt.decimals); got != tt.want {
			t.Errorf("%g: %s, want %s", tt.v, got, tt.want)
		}
	}
}
