package results

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

var completeStem = harness.Stem{Model: "m", Concurrency: 12, Timeout: 300, Trajectories: 3}

const completeStatistics = `{"phase":0,"concurrency":12,` +
	`"requests":{"total":1200,"measured":1200,"successful":1200,"failed":0},"measurement_duration_s":300.0,` +
	`"tokens_server":{"input":120000,"output":36000},` +
	`"throughput":{"output_server_tok_s":120.0,"total_server_tok_s":520.0},` +
	`"ttft_s":{"p50":0.15,"p95":0.19,"p99":0.2},"output_speed_per_request_local_tok_s":{"p5":90.0,"p25":95.0}}`

// TestContradictoryStatistics checks statistics files that contradict themselves, without request rows.
func TestContradictoryStatistics(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, old, by string
		figure        string // the invalid one; empty: all
		want          string // empty: valid
	}{
		{name: "none", figure: Primary},
		{name: "rounded rate", old: `"output_server_tok_s":120.0`, by: `"output_server_tok_s":121.1`, figure: Primary},
		{
			"rate", `"output_server_tok_s":120.0`, `"output_server_tok_s":60.0`, Primary,
			"36,000 tokens in 300.0 s are 120.0 tok/s",
		},
		{
			"total rate", `"total_server_tok_s":520.0`, `"total_server_tok_s":120.0`, TotalRate,
			"156,000 tokens in 300.0 s are 520.0 tok/s",
		},
		{"order", `"p99":0.2`, `"p99":0.05`, "ttft_p95_s", "p99 is below p95"},
		{"order of speeds", `"p25":95.0`, `"p25":80.0`, "output_speed_local_p25_tok_s", "p25 is below p5"},
		{
			"few samples", `"measured":1200,"successful":1200`, `"measured":7,"successful":7`, "ttft_p50_s",
			"7 samples, p50 needs 20",
		},
		{
			"sum of requests", `"failed":0`, `"failed":100`, "",
			"1,200 measured requests are not the sum of 1,200 successful and 100 failed ones",
		},
		{"negative count", `"failed":0`, `"failed":-100`, "", "the number of failed requests is negative: -100"},
		{"no success", `"successful":1200,"failed":0`, `"successful":0,"failed":1200`, "", "no request succeeded"},
		{"empty window", "300.0", "0", "", "the measuring window must be longer than 0 s, found 0 s"},
		{"negative window", "300.0", "-3", "", "the measuring window must be longer than 0 s, found -3 s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agg := NewAggregator()
			t.Cleanup(agg.Close)
			data := strings.Replace(completeStatistics, tt.old, tt.by, 1)
			if err := agg.AddStatistics(completeStem, []byte(data)); err != nil {
				t.Fatal(err)
			}
			p := agg.Snapshot(agg.lastTime()).Phases[0]
			got := p.Invalid
			if tt.figure != "" {
				for _, r := range p.Figures.Get(tt.figure).Reasons {
					got = append(got, r.Text)
				}
			}
			if tt.want == "" && len(got) > 0 || tt.want != "" && !slices.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if f := p.Figures.Get(tt.figure); tt.figure != "" && f.IsInvalid() != (tt.want != "") {
				t.Errorf("%s is %q", f.Text(), f.Class)
			}
		})
	}
}

// TestStatisticsAgainstRows checks that rows which are not those that the client measured are told.
func TestStatisticsAgainstRows(t *testing.T) {
	t.Parallel()
	all := rowsWith(func(_ int, row string) string { return row })
	for _, tt := range []struct {
		name, old, by string
		class         Class
		atLeast       bool
		want          string
	}{
		{name: "equal", class: Exact},
		{
			"one more", `"measured":1200`, `"measured":1201`, Exact, false,
			"measured requests: the client reports 1201, the rows contain 1200",
		},
		{
			"more", `"measured":1200`, `"measured":2400`, Invalid, true,
			"measured requests: the client reports 2400, the rows contain 1200",
		},
		{
			"fewer", `"measured":1200`, `"measured":600`, Invalid, false,
			"measured requests: the client reports 600, the rows contain 1200",
		},
		{
			"window", "300.0", "100.0", Exact, false,
			"measuring window: the client reports 100.0 s, phase_manifest.jsonl contains 300.0 s",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agg := aggregateAny(t, all)
			data := strings.Replace(completeStatistics, tt.old, tt.by, 1)
			if err := agg.AddStatistics(completeStem, []byte(data)); err != nil {
				t.Fatal(err)
			}
			p := agg.Snapshot(agg.lastTime()).Phases[0]
			f := p.Figures.Get(Primary)
			if f.Value != 120 || f.Class != tt.class || f.AtLeast != tt.atLeast {
				t.Errorf("%s is %q, want %q", f.MarkedText(), f.Class, tt.class)
			}
			if told := append(p.Warnings, p.Invalid...); tt.want != "" && !slices.Contains(told, tt.want) {
				t.Errorf("%q lack %q", told, tt.want)
			}
		})
	}
}

// TestUnknownThroughout checks that a quantity which no request has is unknown, with the reason, and
// that it does not affect other figures.
func TestUnknownThroughout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, by, key, want string }{
		{
			`"server_output_tokens":30`, `"server_output_tokens":null`, Primary,
			"  unknown: output tokens unknown in 1,200 of 1,200 requests: Output tok/s (server-reported), ",
		},
		{`"itl":0.01`, `"itl":null`, "itl_p50_s", "  unknown: inter-token latency unknown in 1,200 of 1,200 requests: "},
	} {
		p := aggregateAny(t, rowsWith(func(_ int, row string) string {
			return strings.Replace(row, tt.old, tt.by, 1)
		})).Snapshot(fromUnix(2000)).Phases[0]
		if f := p.Figures.Get(tt.key); !math.IsNaN(f.Value) || f.Text() != "-" {
			t.Errorf("%s, want unknown", f.Text())
		}
		if f := p.Figures.Get("ttft_p50_s"); f.Class != Exact || len(p.Invalid) > 0 {
			t.Errorf("TTFT is %q: %q", f.Class, p.Invalid)
		}
		if !strings.Contains(p.Text(), tt.want) {
			t.Errorf("lacks %q:\n%s", tt.want, p.Text())
		}
	}
}
