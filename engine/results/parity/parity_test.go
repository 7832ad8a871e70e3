package parity

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/testdata/golden"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

const publishedTable = `| Metric | script harness | srt-slurm | Δ |
| --- | --- | --- | --- |
| Output tok/s (server-reported) | 60,822.2 | 60,573.2 | −0.41% |
| Output tok/s (client-estimated) | 45,776.2 | 45,697.7 | −0.17% |
| Total tok/s (server-reported) | 8,145,082.8 | 8,014,563.4 | −1.60% |
| TTFT p50 | 1.348 s | 1.376 s | +2.1% |
| TTFT p95 | 2.562 s | 2.495 s | −2.6% |
| TTFT p99 | 4.158 s | 3.759 s | −9.6% |
| Cache hit rate | 96.7% | 96.7% | = |
| Avg input tokens/request | 40,544.8 | 40,448.1 | −0.24% |
| Avg output tokens/request | 305.0 | 308.0 | +1.0% |
| Per-request output speed p50 (local / SSE) | 77.5 / 138.3 tok/s | 77.4 / 136.7 tok/s | −0.1% / −1.2% |
| Measured requests (errors) | 230,509 (0) | 216,835 (0) | - |
`

func load(t *testing.T, path string) Side {
	t.Helper()
	s, err := Load(t.Context(), path, AnyPhase, results.RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPublishedTable(t *testing.T) {
	t.Parallel()
	c := Compare(load(t, "testdata/script-harness.yaml"), load(t, "testdata/srt-slurm.yaml"), Options{})
	if !strings.Contains(c.Markdown(), publishedTable) {
		t.Errorf("the published table is not in\n%s", c.Markdown())
	}
	if c.Verdict != Within || math.Abs(*c.Delta+0.0040939) > 1e-7 {
		t.Errorf("verdict %q, delta %g", c.Verdict, *c.Delta)
	}
	for _, r := range c.Rows {
		if widest := slices.Contains(r.Flags, "widest"); widest != (r.Metric == "TTFT p99") {
			t.Errorf("%s: %v", r.Metric, r.Flags)
		}
	}
	notes := strings.Join(c.Notes, "\n")
	if !strings.Contains(notes, "measuring windows differ: 1,156 s vs. 1,103 s, derived from token counts") ||
		!strings.Contains(notes, "one run per side") {
		t.Errorf("notes: %s", notes)
	}
	golden.Equal(t, "testdata/published.txt", c.Text())
	golden.Equal(t, "testdata/published.md", c.Markdown())
	golden.JSON(t, "testdata/published.json", c)
}

// TestFormsOfOneRun checks that the directory, the roll-up and the statistics file of a run
// compare as equal.
func TestFormsOfOneRun(t *testing.T) {
	t.Parallel()
	dir, sample := runstest.Sample(t), runstest.Sample(t)
	rollup, doc, err := results.WriteRollup(t.Context(), dir, results.RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	doc.Recomputed = results.Run{}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	upstream := write(t, "upstream-rollup.json", string(text))
	statistics := filepath.Join(sample, "agentperf", doc.Phases[0].File)
	ref := load(t, sample)
	if ref.Name != "c1010" || ref.About.Model != "hf-0c0ffee_orig" || ref.Phase.Concurrency != 1010 {
		t.Errorf("%q, %+v", ref.Name, ref.About)
	}
	marked := write(t, "marked-rollup.json", "\ufeff"+string(text))
	for _, path := range []string{filepath.Join(sample, "agentperf"), rollup, upstream, marked, statistics} {
		side := load(t, path)
		if side.About.Model != "hf-0c0ffee_orig" || side.Phase.Concurrency != 1010 {
			t.Errorf("%s: %+v, %d users", path, side.About, side.Phase.Concurrency)
		}
		c := Compare(ref, side, Options{})
		if c.Verdict != Within || len(c.Rows) != len(rowSpecs())+1 { // failed requests
			t.Errorf("%s: %s, %d rows", path, c.Summary(), len(c.Rows))
		}
		for _, r := range c.Rows {
			alone := path == upstream || path == marked || path == statistics // the client does not report inter-token latency
			if alone && strings.HasPrefix(r.Metric, "Inter-token latency") && r.Candidate == "-" {
				continue
			}
			if r.Metric != "Measured requests (errors)" && strings.Trim(r.Delta, "= /") != "" {
				t.Errorf("%s: %s: %s against %s, Δ %s", path, r.Metric, r.Reference, r.Candidate, r.Delta)
			}
		}
	}
}

// figures loads a file of figures with an output rate and other content.
func figures(t *testing.T, rate float64, more string) Side {
	t.Helper()
	text, err := json.Marshal(rate)
	if err != nil {
		t.Fatal(err)
	}
	return load(t, write(t, "side.yaml", "throughput: {output_server_tok_s: "+string(text)+"}\n"+more))
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		a, b      float64
		ref, cand string
		opt       Options
		verdict   string
		summary   string
	}{
		{
			name: "equal", a: 1000, b: 1000, verdict: Within,
			summary: "within the band: Output tok/s (server-reported) +0.00%, band ±2%",
		},
		{
			name: "at the edge", a: 1000, b: 980, verdict: Within,
			summary: "within the band: Output tok/s (server-reported) −2.00%, band ±2%",
		},
		{
			name: "below", a: 1000, b: 979.9, verdict: Outside,
			summary: "outside the band: Output tok/s (server-reported) −2.01%, band ±2%",
		},
		{
			name: "above", a: 1000, b: 1020.1, verdict: Outside,
			summary: "outside the band: Output tok/s (server-reported) +2.01%, band ±2%",
		},
		{
			name: "given band", a: 1000, b: 1020.1, opt: Options{Band: 0.025}, verdict: Within,
			summary: "within the band: Output tok/s (server-reported) +2.01%, band ±2.5%",
		},
		{
			name: "different concurrency", a: 1, b: 1, ref: "concurrency: 64", cand: "concurrency: 1010", verdict: NotComparable,
			summary: "not comparable: concurrency differs: 64 vs. 1,010",
		},
		{
			name: "different model, seed, dataset and client", a: 1, b: 1,
			ref:  "about: {model: a, seed: 42, dataset: x, client_commit: abc, model_revision: r1}",
			cand: "about: {model: b, seed: 43, dataset: y, client_commit: def, model_revision: r2}", verdict: NotComparable,
			summary: "not comparable: model differs: a vs. b; model revision differs: r1 vs. r2; seed differs: 42 " +
				"vs. 43; dataset differs: x vs. y; client commit differs: abc vs. def",
		},
		{
			name: "unknown values", a: 1, b: 1, ref: "about: {model: a, job: 570849}", verdict: Within,
			summary: "within the band: Output tok/s (server-reported) +0.00%, band ±2%",
		},
		{
			name: "forced", a: 1, b: 1, ref: "about: {seed: 1}", cand: "about: {seed: 2}", opt: Options{Force: true},
			verdict: Within,
			summary: "within the band: Output tok/s (server-reported) +0.00%, band ±2% (forced despite: seed differs: 1 " +
				"vs. 2)",
		},
		{
			name: "reference is 0", a: 0, b: 1, opt: Options{Force: true}, verdict: NotComparable,
			summary: "not comparable: the difference of Output tok/s (server-reported) can't be computed",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := Compare(figures(t, tt.a, tt.ref), figures(t, tt.b, tt.cand), tt.opt)
			if c.Verdict != tt.verdict || c.Summary() != tt.summary {
				t.Errorf("%s\n%s; want\n%s", c.Verdict, c.Summary(), tt.summary)
			}
			if _, err := json.Marshal(c); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	a := figures(t, 1000, "ttft_s: {p50: 1, p95: 2, p99: 2}\nmeasurement_duration_s: 100\n"+
		"output_speed_per_request_local_tok_s: {p25: 50}\ntokens_server: {avg_output_per_request: 100}")
	b := figures(t, 1000, "ttft_s: {p50: 1.1, p95: 1.8, p99: 4}\nmeasurement_duration_s: 100.9\n"+
		"output_speed_per_request_local_tok_s: {p25: 40}\ntokens_server: {avg_output_per_request: 110}")
	flags := func(c Comparison) map[string][]string {
		got := map[string][]string{}
		for _, r := range c.Rows {
			if len(r.Flags) > 0 {
				got[r.Metric+" "+r.Candidate] = r.Flags
			}
		}
		return got
	}
	c := Compare(a, b, Options{})
	want := map[string][]string{
		"TTFT p50 1.100 s":                {"worse", "beyond ±2.5%"},
		"TTFT p95 1.800 s":                {"better", "beyond ±5%"},
		"TTFT p99 4.000 s":                {"worse", "noisy", "widest"},
		"Avg output tokens/request 110.0": {"beyond ±2%"},
		"Per-request output speed p25 (local / SSE) 40.0 / - tok/s": {"worse", "beyond ±3%"},
	}
	if diff := cmp.Diff(want, flags(c)); diff != "" {
		t.Error(diff)
	}
	if notes := strings.Join(c.Notes, "\n"); strings.Contains(notes, "windows differ") {
		t.Error(notes)
	}
	b.Phase.Invalid = []string{"no output tokens"}
	marked := Compare(a, b, Options{})
	if diff := cmp.Diff(map[string][]string{"TTFT p99 4.000 s !": {"noisy"}}, flags(marked)); diff != "" {
		t.Error("figures of an invalid phase are judged:", diff)
	}
	if notes := strings.Join(marked.Notes, "\n"); !strings.Contains(notes, "candidate invalid: no output tokens") {
		t.Error(notes)
	}
	for _, r := range c.Rows {
		if r.Metric == "Cache hit rate" && (r.Reference != "-" || r.Delta != "-") {
			t.Errorf("%+v: no figure is a dash", r)
		}
	}
}

func TestDeltaText(t *testing.T) {
	t.Parallel()
	rate, latency := newFormat(results.TokensPerSecond, 1), newFormat(results.Seconds, 3)
	percent := newFormat(results.Fraction, 1)
	for _, tt := range []struct {
		ref, cand float64
		form      numberFormat
		want      string
	}{
		{100, 101, rate, "+1.0%"},
		{10000, 10100, rate, "+1.00%"},
		{9999.9, 10100, rate, "+1.0%"}, // five and six digits
		{0.012345, 0.012346, latency, "="},
		{0.0123, 0.0131, latency, "+6.5%"},
		{123.456, 123.457, latency, "+0.00%"},
		{0.96701, 0.96699, percent, "="},
		{0, 0, rate, "="},
		{0, 5, rate, "-"},
		{math.NaN(), 5, rate, "-"},
		{5, math.NaN(), rate, "-"},
		{1, math.Inf(1), rate, "-"},
		{100, 99.9, rate, "−0.1%"},
	} {
		if got := deltaText((tt.cand-tt.ref)/tt.ref, tt.form.number(tt.ref), tt.form.number(tt.cand)); got != tt.want {
			t.Errorf("%g to %g: %s, want %s", tt.ref, tt.cand, got, tt.want)
		}
	}
}

func TestGauge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		position float64
		want     string
	}{
		{0, "[.....*.....]"},
		{1, "[.....|....*]"},
		{-1, "[*....|.....]"},
		{0.5, "[.....|..*..]"},
		{1.01, "[.....|.....>"},
		{-30, "<.....|.....]"},
	} {
		if got := gauge(tt.position); got != tt.want {
			t.Errorf("%g: %s, want %s", tt.position, got, tt.want)
		}
	}
}

func TestEveryRowHasFigures(t *testing.T) {
	t.Parallel()
	side := load(t, runstest.Sample(t))
	for _, l := range rowSpecs() {
		for _, m := range l.metrics {
			if side.Phase.Figures.Get(m.Key).Label == "" {
				t.Errorf("%s: package results has no figure %s", l.label, m.Key)
			}
		}
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	two := `{"benchmark":"agentperf","phases":[{"file":"m__64u__phase0__dur1s__settle0s__traj1.json","concurrency":64,` +
		`"phase_idx":0,"stats":{}},` +
		`{"file":"x","concurrency":1010,"phase_idx":1,"stats":{"ttft_s":{"p50":2}}}]}`
	tests := []struct {
		name, file, text string
		phase            int
		want             string
	}{
		{
			"two phases", "r.json", two, AnyPhase,
			"more than one phase; choose one with --phase (available: 0 (64 users), 1 (1010 users))",
		},
		{"no such phase", "r.json", two, 2, "no phase 2; choose one with --phase (available: 0 (64 users), 1 (1010 users))"},
		{"no phase", "r.json", `{"benchmark":"agentperf","phases":[]}`, AnyPhase, "no phase has started"},
		{
			"roll-up of another benchmark", "r.json", `{"benchmark":"sa-bench","phases":[]}`, AnyPhase,
			`is a roll-up of benchmark "sa-bench", must be of agentperf`,
		},
		{
			"no figure", "f.yaml", "throughput: {output_server_tok_s: null}", AnyPhase,
			"no figure found; use the keys of the client's statistics file",
		},
		{"invalid YAML", "f.yaml", "a: [", AnyPhase, "yaml: "},
		{"empty YAML", "f.yaml", "", AnyPhase, "f.yaml: is empty; "},
		{"NaN in YAML", "f.yaml", "ttft_s: {p50: .nan}", AnyPhase, `f.yaml:1:15: ttft_s.p50: ".nan" is not a number`},
		{"invalid JSON", "f.json", "{", AnyPhase, "f.json:1:2: is not valid JSON: the file ends within a value"},
		{
			"unknown key in about", "f.json", `{"about":{"commit":1}}`, AnyPhase,
			"f.json:1:11: no such key: about.commit (available: client_commit, cluster, ",
		},
		{"CSV", "f.csv", "a,b\n1,2\n", AnyPhase, "is neither JSON, nor a Markdown table, nor a YAML mapping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(t.Context(), write(t, tt.file, tt.text), tt.phase, results.RunContext{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || problem.Of(err) == problem.Internal {
				t.Errorf("%s: %v, want %q", problem.Of(err), err, tt.want)
			}
		})
	}
	if _, err := Load(t.Context(), "testdata/none", AnyPhase, results.RunContext{}); err == nil {
		t.Error("no such file: no error")
	}
	s, err := Load(t.Context(), write(t, "r.json", two), 1, results.RunContext{})
	if err != nil || s.Phase.Concurrency != 1010 || s.Phase.Figures.Get("ttft_p50_s").Value != 2 {
		t.Errorf("phase 1: %+v, %v", s.Phase, err)
	}
}

// TestFileTypeByContent checks that the type of a file does not depend on its name.
func TestFileTypeByContent(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"table.txt": "throughput: {output_server_tok_s: 5}\n", "table": `{"throughput": {"output_server_tok_s": 5}}`,
		"json.yaml": ` {"throughput": {"output_server_tok_s": 5}}`,
		"yaml.json": "throughput:\n  output_server_tok_s: 5\n",
	} {
		if s := load(t, write(t, name, text)); s.Phase.Figures.Get("output_server_tok_s").Value != 5 {
			t.Errorf("%s: %+v", name, s.Phase.Figures)
		}
	}
}

// TestControlCharactersInNames checks that a name can't move the cursor or break the table.
func TestControlCharactersInNames(t *testing.T) {
	t.Parallel()
	a := figures(t, 1000, "about: {name: \"a|b\\e[31m\\n<x>\\u202e\"}")
	c := Compare(a, figures(t, 1000, ""), Options{})
	if c.Reference.Name != "a|b[31m<x>" {
		t.Errorf("%q", c.Reference.Name)
	}
	if !strings.Contains(c.Markdown(), `| Metric | a\|b\[31m\<x\> | side | Δ |`) {
		t.Error(c.Markdown())
	}
}

func FuzzFigures(f *testing.F) {
	f.Add([]byte("throughput: {output_server_tok_s: 1}\nabout: {seed: 4}\n"))
	f.Add([]byte(`{"benchmark":"agentperf","phases":[{"file":"a","stats":{}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"f.yaml", "f.json"} {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := Load(t.Context(), path, AnyPhase, results.RunContext{})
			if err != nil {
				continue
			}
			c := Compare(s, s, Options{})
			if _, err := json.Marshal(c); err != nil {
				t.Fatal(err)
			}
			if c.Text() == "" || c.Markdown() == "" {
				t.Fatal("no text")
			}
		}
	})
}
