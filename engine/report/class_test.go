package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

// writeRows writes a run of 1,200 requests in a window of 300 s. Every requests/unknown-th one has no
// token counts; 0: none.
func writeRows(t *testing.T, unknown int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 1200 {
		start := 1789642000 + float64(i)/4
		tokens := "30"
		if unknown > 0 && i%(1200/unknown) == 0 {
			tokens = "null"
		}
		fmt.Fprintf(&b, `{"phase_idx":0,"concurrency":12,"conversation_id":"c%d","conversation_idx":%d,"user_id":%d,`+
			`"request_id":"r%d","start_time":%f,"end_time":%f,"server_input_tokens":100,"server_output_tokens":%s,`+
			`"server_cached_tokens":40,"ttft":0.1,"itl":0.01,"sse_output_speed":90,"success":true}`+"\n",
			i%40, i/40, i%12, i, start, start+0.5, tokens)
	}
	for name, text := range map[string]string{
		results.RequestsFile: b.String(),
		results.ManifestFile: `{"phase_idx":0,"settling_end":1789642000,"actual_phase_end":1789642300}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// formats returns a run and its comparison with a plain one in all formats.
func formats(t *testing.T, dir string) map[string]string {
	t.Helper()
	run, series, err := results.LoadSeries(t.Context(), dir, results.RunContext{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Name: "run", Run: run, Series: series}
	var sides []parity.Side
	for _, d := range []string{writeRows(t, 0), dir} {
		s, err := parity.Load(t.Context(), d, parity.AnyPhase, results.RunContext{})
		if err != nil {
			t.Fatal(err)
		}
		sides = append(sides, s)
	}
	c := parity.Compare(sides[0], sides[1], parity.Options{})
	out := map[string]string{}
	for name, write := range map[string]func(io.Writer) error{
		"run.csv":     func(w io.Writer) error { return PhasesCSV(w, r) },
		"run.html":    func(w io.Writer) error { return RunHTML(w, r) },
		"run.md":      func(w io.Writer) error { return RunMarkdown(w, r) },
		"run.json":    func(w io.Writer) error { return json.NewEncoder(w).Encode(r) },
		"parity.csv":  func(w io.Writer) error { return ComparisonCSV(w, c) },
		"parity.html": func(w io.Writer) error { return ComparisonHTML(w, c) },
		"parity.md":   func(w io.Writer) error { _, err := io.WriteString(w, c.Markdown()); return err },
		"parity.json": func(w io.Writer) error { return json.NewEncoder(w).Encode(c) },
		"curve.csv":   func(w io.Writer) error { return CurveCSV(w, results.Curve("run", run.Phases, 4)) },
		"curve.html":  func(w io.Writer) error { return CurveHTML(w, results.Curve("run", run.Phases, 4)) },
		"rollup.json": func(w io.Writer) error {
			_, doc, err := results.WriteRollup(t.Context(), dir, results.RunContext{})
			if err != nil {
				return err
			}
			return json.NewEncoder(w).Encode(doc)
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = strings.ReplaceAll(b.String(), "\u00a0", " ")
	}
	return out
}

const lack48 = "output tokens unknown in 48 of 1,200 requests"

// TestClassesInExports checks that each format shows how far a figure can be relied on, and why.
func TestClassesInExports(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		unknown int
		want    map[string][]string
	}{
		{"lower bound", 48, map[string][]string{
			"run.html":    {"≥ 115.2 tok/s !", "1,152 of 1,200", "invalid: " + lack48, "Steady state: yes; output 115.2, "},
			"run.md":      {"≥ 115.2 tok/s !", "1,152 of 1,200", "invalid: " + lack48, "Steady state: yes; output 115.2, "},
			"run.json":    {`"class":"invalid"`, `"at_least":true`, `"unknown-quantity"`, `"steady_state":{"thirds":[{`},
			"parity.html": {"≥ 115.2 !", "candidate invalid: " + lack48},
			"parity.md":   {"| 120.0 | ≥ 115.2 ! |", "candidate invalid: " + lack48},
			"parity.json": {`"class":"invalid"`, `"at_least":true`, `"unknown-quantity"`},
			"parity.csv":  {"invalid: " + lack48},
			"curve.csv":   {"invalid"},
			"curve.html":  {"≥ 28.8", lack48},
			"rollup.json": {`"class":"invalid"`, `"at_least":true`, `"steady_state":{"thirds":[{`},
		}},
		{"uncertain", 12, map[string][]string{
			"run.html":    {"118.8 ±1.2 tok/s", "uncertain: output tokens unknown in 12 of 1,200 requests"},
			"run.md":      {"118.8 ±1.2 tok/s", "uncertain: output tokens unknown in 12 of 1,200 requests"},
			"run.json":    {`"class":"uncertain","low":118.8,"high":120`},
			"parity.html": {"118.8 ±1.2", "candidate uncertain: output tokens unknown in 12 of 1,200 requests"},
			"parity.md":   {"118.8 ±1.2", "candidate uncertain: output tokens unknown in 12 of 1,200 requests"},
			"parity.json": {`"class":"uncertain","low":118.8,"high":120`},
			"parity.csv":  {`,uncertain,118.8,120,false,"uncertain: output tokens unknown in 12 of 1,200 requests"`},
			"curve.csv":   {",uncertain"},
			"curve.html":  {"29.7 ±", "uncertain: output tokens unknown in 12 of 1,200 requests"},
			"rollup.json": {`"class":"uncertain","low":118.8,"high":120`},
		}},
	} {
		out := formats(t, writeRows(t, tt.unknown))
		for name, all := range tt.want {
			for _, want := range all {
				if !strings.Contains(out[name], want) {
					t.Errorf("%s: no %q in %s:\n%.4000s", tt.name, want, name, out[name])
				}
			}
		}
		rows, err := csv.NewReader(strings.NewReader(out["run.csv"])).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		cell := func(metric, column string) string {
			at := slices.Index(rows[0], column)
			i := slices.IndexFunc(rows, func(r []string) bool { return r[4] == metric })
			if at < 0 || i < 0 {
				t.Fatalf("no %s of %s", column, metric)
			}
			return rows[i][at]
		}
		class := map[int]string{48: "invalid", 12: "uncertain"}[tt.unknown]
		if cell(results.Primary, "class") != class || cell(results.Primary, "of") != "1200" ||
			!strings.Contains(cell(results.Primary, "reasons"), class+": output tokens unknown in ") ||
			cell("drift", "value") != "0" || cell("third_2_output_server_tok_s", "value") == "" ||
			cell("more_settling_s", "value") != "" {
			t.Errorf("%s: %v", tt.name, rows[:2])
		}
	}
}

// TestLegend checks that the legend is below the title, and that names do not overlap.
func TestLegend(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("name-", 40)
	c := lineChart{title: "TTFT", lines: []plotLine{{name: "a"}, {name: "b"}, {name: long}, {name: long}, {name: "文字"}}}
	entries, height := c.legend()
	for i, e := range entries {
		if e.y <= titleHeight-12 || e.y > height {
			t.Errorf("%+v: on the title, or in the chart below %d", e, height)
		}
		end := e.x + swatchWidth + cellWidth*len([]rune(e.name))
		if end > width {
			t.Errorf("%s ends at %d of %d", e.name, end, width)
		}
		if i > 0 && entries[i-1].y == e.y && e.x < entries[i-1].x+swatchWidth+cellWidth*len([]rune(entries[i-1].name)) {
			t.Errorf("%s overlaps %s", e.name, entries[i-1].name)
		}
	}
	if len(entries) != 5 || entries[2].y == entries[3].y || entries[0].y != entries[1].y {
		t.Errorf("%+v", entries)
	}
	if entries, height = (lineChart{lines: c.lines[:1]}).legend(); len(entries) != 0 || height != titleHeight {
		t.Errorf("a single line needs no legend: %+v, %d", entries, height)
	}
}
