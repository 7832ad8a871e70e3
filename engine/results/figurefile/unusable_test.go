package figurefile

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// TestUnusableNumbers checks values that look like numbers but can't be read: they are errors with their
// place, never values in another unit, and never a reason to take another column.
func TestUnusableNumbers(t *testing.T) {
	t.Parallel()
	table := func(a, b string) string {
		return "| Metric | A | B |\n|-|-|-|\n| Output tok/s (server-reported) | " + a + " | " + b + " |\n"
	}
	const aiperf = `{"time_to_first_token":{"avg":105.0,"p50":105.0},"request_count":{"unit":"requests","avg":12}}`
	for _, tt := range []struct{ text, choice, want string }{
		{table("60.822,2", "60,573.2"), "", "f: 2 columns of figures; append the number or the name of one"},
		{table("60.822,2", "60,573.2"), "A", `f:3:36: Output tok/s (server-reported): "60.822,2" is not a number`},
		{table("120", "-119"), "", "f: 2 columns of figures"},
		{table("120", "-119"), "B", "f:3:42: Output tok/s (server-reported): -119 is negative"},
		{table("NaN", "120k"), "1", `f:3:36: Output tok/s (server-reported): "NaN" is not a number`},
		{table("NaN", "120k"), "2", `f:3:42: Output tok/s (server-reported): "120k" is not a number in tok/s`},
		{
			"{\n\"throughput\": {\"output_server_tok_s\": NaN}}", "",
			`f:2:39: throughput.output_server_tok_s: "NaN" is not a number`,
		},
		{`{"ttft_s": {"p50": -Infinity, "p95": 1}}`, "", `f:1:20: ttft_s.p50: "-Infinity" is not a number`},
		{`{"ttft_s": {"p50": 1, "p99": NaN, "p98": 1}}`, "", `f:1:30: ttft_s.p99: "NaN" is not a number`},
		{aiperf, "", `f:1:24: time_to_first_token: the unit is missing; add it, such as "unit": "s"`},
	} {
		if set, err := parse(tt.text, tt.choice); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %s; want %s", tt.text, err, set.Statistics, tt.want)
		}
	}
}

// TestIncompleteExports checks exports of vLLM that lack the throughput: the other figures are read.
func TestIncompleteExports(t *testing.T) {
	t.Parallel()
	const rest = `"duration":300.0,"completed":1200,"failed":0,"total_output_tokens":36000,"median_ttft_ms":105.0}`
	for _, tt := range []struct{ text, note string }{
		{"{" + rest, ""},
		{`{"total_token_throughput":NaN,"output_throughput":NaN,` + rest, "output_throughput is NaN: unknown"},
	} {
		set, err := parse(tt.text, "")
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		figures := phase(t, set).Figures
		if v := figures.Get(results.Primary).Value; !math.IsNaN(v) || figures.Get(results.TTFT50).Value != 0.105 {
			t.Errorf("%s: %v, %v", tt.text, v, figures.Get(results.TTFT50).Value)
		}
		if tt.note != "" && !slices.Contains(set.Notes, tt.note) {
			t.Errorf("%s: %q lack %q", tt.text, set.Notes, tt.note)
		}
	}
}

// TestContradictoryExport checks that values of an export which contradict each other are invalid.
func TestContradictoryExport(t *testing.T) {
	t.Parallel()
	set, err := parse(`{"duration":300.0,"completed":1200,"total_output_tokens":36000,"output_throughput":60.0,`+
		`"total_token_throughput":160.0,"median_ttft_ms":105.0,"p99_ttft_ms":50.0}`, "")
	if err != nil {
		t.Fatal(err)
	}
	figures := phase(t, set).Figures
	for key, want := range map[string]string{
		results.Primary: "36,000 tokens in 300.0 s are 120.0 tok/s", "ttft_p99_s": "p99 is below p50",
	} {
		if f := figures.Get(key); f.Class != results.Invalid || f.Invalid != want {
			t.Errorf("%s is %q: %s, want %s", f.Text(), f.Class, f.Invalid, want)
		}
	}
}
