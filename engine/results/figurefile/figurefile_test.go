package figurefile

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

var aboutKeys = []string{"name", "model", "seed", "recipe", "client_commit"}

func parse(text, choice string) (Set, error) {
	return File{Path: "f", Choice: choice, About: aboutKeys}.Parse([]byte(text))
}

// phase returns the figures of a set with what is stated about them.
func phase(t *testing.T, set Set) results.Phase {
	t.Helper()
	p, err := results.ReadStated(harness.Stem{}, set.Statistics, set.StatedBy, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Figures {
		set.Stated[p.Figures[i].Key].Apply(&p.Figures[i])
	}
	return p
}

// TestRefused checks that what can't be true or read is an error at its line and column.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"negative", "throughput: {output_server_tok_s: -5}", "f:1:35: throughput.output_server_tok_s: -5 is negative"},
		{
			"a section of its own unit", "ttft_s: {p50: 1}\nttft_ms: {p50: 100}",
			`f:2:1: no such key: ttft_ms; did you mean "ttft_s"? (available: about, concurrency, `,
		},
		{
			"a typo in a section", "throughput:\n  output_server_toks: 5",
			`f:2:3: no such key: throughput.output_server_toks; did you mean "throughput.output_server_tok_s"? (available: ` +
				"output_client_tok_s, output_server_tok_s, total_server_tok_s)",
		},
		{
			"a key of another section", "cache_hit_rate: 0.5",
			`no such key: cache_hit_rate; did you mean "tokens_server.cache_hit_rate"?`,
		},
		{"a key of our JSON", "ttft_p50_s: 1", `f:1:1: no such key: ttft_p50_s; did you mean "ttft_s.p50"?`},
		{"a section that is none", "throughput: 5", "f:1:1: throughput: must be a mapping"},
		{
			"a percentage as a fraction", "tokens_server: {cache_hit_rate: 96.7}",
			`f:1:33: tokens_server.cache_hit_rate: 96.7 must be a fraction from 0 to 1, or a percentage such as "96.7%"`,
		},
		{"above 100 %", "tokens_server: {cache_hit_rate: 150%}", "tokens_server.cache_hit_rate: 150% must be at most 100%"},
		{
			"separators in braces", "throughput: {output_server_tok_s: 60,822.2}",
			"f:1:38: 822.2: not a key but the rest of a number; in braces, quote a number with thousands separators: " +
				`"60,822.2"`,
		},
		{
			"a decimal comma", "throughput:\n  output_server_tok_s: 60.822,2",
			`f:2:24: throughput.output_server_tok_s: "60.822,2" is not a number: the separators do not group thousands`,
		},
		{"groups of two digits", "throughput:\n  output_server_tok_s: 6,08,22", "the separators do not group thousands"},
		{"a leading zero", "throughput: {output_server_tok_s: 010}", `"010" is not a number in decimal notation`},
		{"hexadecimal", "throughput: {output_server_tok_s: 0x10}", `"0x10" is not a number in decimal notation`},
		{"text", "throughput: {output_server_tok_s: fast}", `"fast" is not a number`},
		{"a boolean", "throughput: {output_server_tok_s: true}", `"true" is not a number`},
		{"not a number", "throughput: {output_server_tok_s: .nan}", `".nan" is not a number`},
		{"too large", "throughput: {output_server_tok_s: 1e999}", `"1e999" is not a number`},
		{"another unit", "ttft_s: {p50: 5 tok/s}", `f:1:15: ttft_s.p50: "5 tok/s" is not a number in s`},
		{"a list", "ttft_s: {p50: [1]}", "f:1:10: ttft_s.p50: must be a number"},
		{"a fraction of a user", "concurrency: 1.5", "f:1:14: concurrency: 1.5 is not a whole number"},
		{"no window", "measurement_duration_s: 0", "measurement_duration_s: 0 must be above 0"},
		{"percentiles in the wrong order", "ttft_s: {p50: 2, p95: 1}", "f:1:23: ttft_s: p95 (1) is below p50 (2)"},
		{
			"contradictory counts", "requests: {measured: 5, successful: 5, failed: 1}",
			"f:1:11: requests: measured (5) is not the sum of successful and failed requests",
		},
		{"more failed than measured", "requests: {measured: 5, failed: 6}", "measured (5) is not the sum"},
		{
			"fewer in total than measured", "requests: {total: 4, measured: 5, failed: 0}",
			"total (4) is below measured (5)",
		},
		{
			"an unknown property", "about: {modl: x}",
			`f:1:9: no such key: about.modl; did you mean "model"? (available: client_commit, `,
		},
		{"a property that is a list", "about: {model: [x]}", "f:1:16: about.model: must be text or a number"},
		{"a key twice", "ttft_s: {p50: 1}\nttft_s: {p50: 2}", "f:2:1: ttft_s: the key occurs twice, first in line 1"},
		{
			"a key twice in JSON", "{\"ttft_s\": {\"p50\": 1,\n \"p50\": 2}}",
			"f:2:2: p50: the key occurs twice, first in line 1",
		},
		{"negative in JSON", "{\n\t\"ttft_s\": {\n\t\t\"p50\": -1}}", "f:3:10: ttft_s.p50: -1 is negative"},
		{"two documents", "ttft_s: {p50: 1}\n---\nttft_s: {p50: 2}", "f:2:1: a second YAML document"},
		{"two objects", "{\"ttft_s\": {\"p50\": 1}}\n{}", "f:2:1: data after the JSON object"},
		{"cut JSON", "{\"ttft_s\":\n {\"p50\": ", "f:2:10: is not valid JSON: the file ends within a value"},
		{"invalid JSON", "{\"ttft_s\":\n {p50: 1}}", "f:2:3: is not valid JSON: "},
		{"empty", " \n", "f: is empty; it must hold figures"},
		{"deep", strings.Repeat(`{"a":`, 100), "nested too deeply"},
		{
			"no known row", "| a | b |\n| - | - |\n| x | 1 |",
			"f:1:3: the table has no known row (rows such as Output tok/s ",
		},
		{
			"text in a table", "| Metric | a |\n| - | - |\n| TTFT p50 | 1 s |\n| TTFT p99 | 1 s |\n| TTFT p95 | fast |",
			`f:5:14: TTFT p95: "fast" is not a number`,
		},
		{
			"a row twice", "| Metric | a |\n| - | - |\n| TTFT p50 | 1 s |\n| **TTFT** p50 | 2 s |",
			"f:4:3: TTFT p50: the row occurs twice, first in line 3",
		},
		{
			"no column of figures", "| Metric | Δ |\n| - | - |\n| TTFT p50 | 1 s |",
			"f:1:3: the table has no column of figures",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set, err := parse(tt.text, "")
			if err == nil || !strings.Contains(err.Error(), tt.want) || problem.Of(err) != problem.FiguresInvalid {
				t.Errorf("%+v, %v; want %q", set, err, tt.want)
			}
		})
	}
}

// TestRead checks the spellings of figures.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, key string
		want            float64
	}{
		{"plain", "throughput: {output_server_tok_s: 60822.2}", results.Primary, 60822.2},
		{"separators", "throughput:\n  output_server_tok_s: 60,822.2", results.Primary, 60822.2},
		{"quoted separators", `throughput: {output_server_tok_s: "60,822.2"}`, results.Primary, 60822.2},
		{"separators and unit", "throughput:\n  total_server_tok_s: 8,145,082.8 tok/s", results.TotalRate, 8145082.8},
		{"underscores", "throughput: {output_server_tok_s: 60_822}", results.Primary, 60822},
		{"spaces", "throughput: {output_server_tok_s: 60 822}", results.Primary, 60822},
		{"exponent", "throughput: {output_server_tok_s: 6e4}", results.Primary, 60000},
		{"JSON", "{\n\t\"throughput\": {\"output_server_tok_s\": 6.5}}", results.Primary, 6.5},
		{"byte-order mark", "\xef\xbb\xbfthroughput: {output_server_tok_s: 5}", results.Primary, 5},
		{"byte-order mark in JSON", "\xef\xbb\xbf{\"throughput\": {\"output_server_tok_s\": 5}}", results.Primary, 5},
		{"an alias", "ttft_s: &a {p50: 2}\ne2e_latency_s: *a", "e2e_p50_s", 2},
		{"milliseconds", "ttft_s: {p50: 1348 ms}", results.TTFT50, 1.348},
		{"a fraction", "tokens_server: {cache_hit_rate: 0.967}", "cache_hit_rate", 0.967},
		{"a percentage", "tokens_server: {cache_hit_rate: 96.7%}", "cache_hit_rate", 0.967},
		{"null beside a figure", "ttft_s: {p50: 2, p95: null}", results.TTFT50, 2},
		{
			"a table of runs", "| run | Output tok/s (server-reported) | TTFT p50 |\n|---|---|---|\n| a | 5.5 | 90 ms |",
			results.TTFT50, 0.09,
		},
		{"a lower bound", "|m|a|\n|-|-|\n|TTFT p50|1 s|\n|Output tok/s (server-reported)|≥ 5.5 !|", results.Primary, 5.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set, err := parse(tt.text, "")
			if err != nil {
				t.Fatal(err)
			}
			if f := phase(t, set).Figures.Get(tt.key); f.Value != tt.want {
				t.Errorf("%v, want %v", f.Value, tt.want)
			}
		})
	}
}

// TestCounts checks that two of the numbers of requests give the third.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"measured: 12, failed: 2", "measured: 12, successful: 10", "successful: 10, failed: 2"} {
		set, err := parse("ttft_s: {p50: 1}\nrequests: {"+text+"}", "")
		if err != nil {
			t.Fatal(err)
		}
		if n := phase(t, set).Requests; n == nil || n.Measured != 12 || n.Successful != 10 || n.Failed != 2 {
			t.Errorf("%s: %+v", text, n)
		}
	}
}

// TestMarks checks that marks of a table are kept.
func TestMarks(t *testing.T) {
	t.Parallel()
	const text = "| Metric | a\\|b | Δ |\n| --- | --- | --- |\n" +
		"| Output tok/s (server-reported) | \\~ ≥ 1,234.5 ! | +1% |\n| TTFT p50 | 1.500 ±0.250 s | = |\n"
	_, err := parse(text+"| Cache hit rate | 150.0% | - |\n", "")
	if err == nil || !strings.Contains(err.Error(), "f:5:20: Cache hit rate: 150.0% must be at most 100%") {
		t.Errorf("%v", err)
	}
	set, err := parse(text, "a|b")
	if err != nil {
		t.Fatal(err)
	}
	p := phase(t, set)
	if f := p.Figures.Get(results.Primary); !f.AtLeast || f.Class != results.Invalid || f.Invalid == "" ||
		f.Text() != "~ ≥ 1,234.5 tok/s" || !f.Provisional {
		t.Errorf("%+v", f)
	}
	if f := p.Figures.Get(results.TTFT50); f.Class != results.Uncertain || f.Low != 1.25 || f.High != 1.75 {
		t.Errorf("%+v", f)
	}
	if set.Name != "a|b" {
		t.Errorf("%q", set.Name)
	}
}

// TestIdentityInTables checks that a table may state what the figures are of.
func TestIdentityInTables(t *testing.T) {
	t.Parallel()
	text := "| | ref | cand |\n|-|-|-|\n| Model | m\\_1 | m2 |\n| Client commit | unknown | abc |\n" +
		"| Concurrency | 1,010 | 64 |\n| Measuring window | 1,156 s | 60 s |\n\n" +
		"| Metric | ref | cand |\n|-|-|-|\n| TTFT p50 | 1 s | 2 s |\n"
	set, err := parse(text, "ref")
	if err != nil {
		t.Fatal(err)
	}
	p := phase(t, set)
	if set.About["model"] != "m_1" || len(set.About) != 1 || p.Concurrency != 1010 || p.Window.Seconds != 1156 {
		t.Errorf("%v, %d users, %+v", set.About, p.Concurrency, p.Window)
	}
}

// TestTables checks that one of several tables can be chosen by the heading above it.
func TestTables(t *testing.T) {
	t.Parallel()
	const text = "# run\n\n| | run |\n|-|-|\n| Model | m |\n\n" +
		"## Phase 0\n\n| Metric | Value | n |\n|-|-|-|\n| TTFT p50 | 1 s | 5 |\n| Concurrency | 4 | |\n\n" +
		"## Phase 1\n\n| Metric | Value | n |\n|-|-|-|\n| TTFT p50 | 2 s | 6 |\n| Concurrency | 8 | |\n"
	set, err := parse(text, "phase 1: value")
	if err != nil {
		t.Fatal(err)
	}
	if p := phase(t, set); p.Figures.Get(results.TTFT50).Value != 2 || p.Concurrency != 8 || set.About["model"] != "m" {
		t.Errorf("%+v, %d users", set, p.Concurrency)
	}
	if _, err := parse(text, ""); err == nil || !strings.Contains(err.Error(), "#1 Phase 0: Value, #2 Phase 1: Value") {
		t.Error(err)
	}
}

// TestChoice checks how one of several sets is chosen.
func TestChoice(t *testing.T) {
	t.Parallel()
	two := "| Metric | ref | cand |\n|-|-|-|\n| TTFT p50 | 1 s | 2 s |\n"
	for choice, want := range map[string]float64{"1": 1, "2": 2, "cand": 2, "REF": 1} {
		set, err := parse(two, choice)
		if err != nil || phase(t, set).Figures.Get(results.TTFT50).Value != want {
			t.Errorf("%s: %v", choice, err)
		}
	}
	for _, tt := range []struct{ text, choice, want string }{
		{two, "", "f: 2 columns of figures; append the number or the name of one, such as f#1 (available: #1 ref, #2 cand)"},
		{two, "3", `f: no set "3"; append`},
		{"ttft_s: {p50: 1}", "2", `f: no set "2": a file of figures has a single one; omit #2`},
	} {
		if _, err := parse(tt.text, tt.choice); err == nil || !strings.Contains(err.Error(), tt.want) ||
			problem.Of(err) != problem.FiguresAmbiguous {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// TestExports checks the figures and notes of the samples in testdata.
func TestExports(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, choice, out string }{
		{"vllm.json", "", "vllm"},
		{"sglang.jsonl", "1", "sglang-1"},
		{"sglang.jsonl", "2", "sglang-2"},
		{"profile_export_aiperf.json", "", "aiperf"},
	} {
		data, err := os.ReadFile("testdata/" + tt.file)
		if err != nil {
			t.Fatal(err)
		}
		set, err := File{Path: tt.file, Choice: tt.choice, About: aboutKeys}.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		p := phase(t, set)
		var b strings.Builder
		b.WriteString("by " + set.StatedBy + "\n")
		for _, f := range p.Figures {
			if f.Class == "" && f.Text() == "-" {
				continue
			}
			b.WriteString(f.Label + ": " + f.Text())
			for _, r := range f.Reasons {
				b.WriteString("; " + string(r.Class) + ": " + r.Text)
			}
			b.WriteByte('\n')
		}
		about, err := json.Marshal(set.About)
		if err != nil {
			t.Fatal(err)
		}
		requests, err := json.Marshal(p.Requests)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("about " + string(about) + "\nrequests " + string(requests) + "\n")
		b.WriteString(strings.Join(set.Notes, "\n") + "\n")
		golden.Equal(t, "testdata/"+tt.out+".txt", b.String())
	}
}

// TestExportValues checks values of the exports that follow from others, and refuses impossible ones.
func TestExportValues(t *testing.T) {
	t.Parallel()
	base := `"duration": 10, "completed": 5, "output_throughput": 7, "total_token_throughput": 9`
	for _, tt := range []struct{ text, want string }{
		{`{` + base + `, "median_ttft_ms": -1}`, "f:1:105: median_ttft_ms: -1 is negative"},
		{`{` + base + `, "median_ttft_ms": "3"}`, "median_ttft_ms: must be a number"},
		{`{"duration": 10, "completed": 0, "output_throughput": 0, "total_token_throughput": 0}`, "f:1:31: completed: 0"},
		{
			`{"time_to_first_token": {"unit": "furlongs", "avg": 5, "p50": 5}}`,
			`time_to_first_token.p50: "5 furlongs" is not a number in s`,
		},
	} {
		if _, err := parse(tt.text, ""); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	set, err := parse(`{"input_config": {"endpoint": {"use_server_token_count": true}}, "output_token_throughput": `+
		`{"unit": "tokens/sec", "avg": 12.5}}`, "")
	if err != nil || phase(t, set).Figures.Get(results.Primary).Value != 12.5 {
		t.Errorf("tokens counted by the server: %v", err)
	}
	set, err = parse(`{`+base+`, "median_ttft_ms": 0, "p99_ttft_ms": NaN, "num_prompts": 8}`, "")
	if err != nil {
		t.Fatal(err)
	}
	p := phase(t, set)
	if p.Figures.Get(results.TTFT50).Text() != "-" || p.Figures.Get(results.TTFT99).Text() != "-" ||
		p.Requests.Failed != 3 {
		t.Errorf("a latency of 0 is unknown: %+v", p.Figures.Get(results.TTFT50))
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"vllm.json", "sglang.jsonl", "profile_export_aiperf.json"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("throughput: {output_server_tok_s: 1}\nabout: {seed: 4}\n"))
	f.Add([]byte("| Metric | a |\n| --- | --- |\n| TTFT p50 | 1.5 ±0.2 s ! |\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, choice := range []string{"", "1"} {
			set, err := File{Path: "f", Choice: choice, About: aboutKeys}.Parse(data)
			if err != nil {
				if problem.Of(err) == problem.Internal {
					t.Fatal(err)
				}
				continue
			}
			for _, figure := range phase(t, set).Figures {
				if figure.Value < 0 && set.StatedBy != "the client" {
					t.Fatalf("%+v", figure)
				}
			}
		}
	})
}
