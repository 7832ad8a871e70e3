package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

const sample = "../../testdata/bm_agentperf_dsv4_5p1d/c1010"

func load(t *testing.T) Run {
	t.Helper()
	run, series, err := results.LoadSeries(t.Context(), sample, results.RunContext{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return Run{
		Name: "dsv4/c1010", Run: run, Series: series,
		Tiers: results.TierResults(run.Phases, []results.Tier{{Name: "fast", SpeedFloor: 60, TTFTCeiling: 3}}),
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	r := load(t)
	c := compare(t)
	points := results.Curve("dsv4/c1010", r.Phases, 52)
	for name, write := range map[string]func(io.Writer) error{
		"phases.csv":      func(w io.Writer) error { return PhasesCSV(w, r) },
		"series.csv":      func(w io.Writer) error { return SeriesCSV(w, r) },
		"tiers.csv":       func(w io.Writer) error { return TiersCSV(w, r) },
		"curve.csv":       func(w io.Writer) error { return CurveCSV(w, points) },
		"comparison.csv":  func(w io.Writer) error { return ComparisonCSV(w, c) },
		"run.html":        func(w io.Writer) error { return RunHTML(w, r) },
		"run.md":          func(w io.Writer) error { return RunMarkdown(w, r) },
		"curve.md":        func(w io.Writer) error { return CurveMarkdown(w, points) },
		"comparison.html": func(w io.Writer) error { return ComparisonHTML(w, c) },
		"curve.html": func(w io.Writer) error {
			return CurveHTML(w,
				append(points, results.Curve("other", r.Phases, 40)...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, "testdata/"+name, out.Bytes())
			if strings.HasSuffix(name, ".csv") {
				rows, err := csv.NewReader(&out).ReadAll() // also checks that all lines have the same length
				if err != nil || len(rows) < 2 {
					t.Errorf("%d rows, %v", len(rows), err)
				}
				return
			}
			for _, bad := range []string{"http:", "https:", "<script", "src=", "url("} {
				if strings.Contains(out.String(), bad) {
					t.Errorf("the page contains %q, but must not load anything", bad)
				}
			}
		})
	}
}

// compare compares the sample with itself, with a difference in the recipe.
func compare(t *testing.T) parity.Comparison {
	t.Helper()
	side, err := parity.Load(t.Context(), sample, parity.AnyPhase, results.RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	c := parity.Compare(side, side, parity.Options{Paired: true})
	c.Fields = []parity.FileDiff{{
		File: "recipe",
		Comparison: recipes.Comparison{Identical: 1, Total: 2, Differences: []recipes.Difference{
			{Path: "model.path", A: &recipes.Side{Path: "model.path", Line: 3, Value: "/a"}},
		}},
	}}
	return c
}

// TestForeignTextIsEscaped checks that names from files can't inject HTML or CSV formulas.
func TestForeignTextIsEscaped(t *testing.T) {
	t.Parallel()
	evil := `<script>alert(1)</script>"'&`
	r := load(t)
	r.Name = evil
	r.Warnings = []string{evil}
	c := compare(t)
	c.Reference.Name, c.Notes = evil, []string{evil}
	c.Fields[0].Differences[0].Path = evil
	for name, write := range map[string]func(io.Writer) error{
		"run":        func(w io.Writer) error { return RunHTML(w, r) },
		"comparison": func(w io.Writer) error { return ComparisonHTML(w, c) },
		"curve": func(w io.Writer) error {
			return CurveHTML(w, append(results.Curve(evil, r.Phases, 1), results.Curve("b", r.Phases, 2)...))
		},
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "<script") || !strings.Contains(out.String(), "&lt;script") {
			t.Errorf("%s is not escaped", name)
		}
	}
	// As Markdown it must be text too, not a link, code, HTML or another cell.
	r.Name = "[a](b)`|<i>"
	var text bytes.Buffer
	if err := RunMarkdown(&text, r); err != nil || !strings.HasPrefix(text.String(), "# \\[a\\](b)\\`\\|\\<i\\>\n") ||
		!strings.Contains(text.String(), "|  | \\[a\\](b)\\`\\|\\<i\\> |\n") {
		t.Errorf("%v: %.300s", err, text.String())
	}
	var out bytes.Buffer
	if err := writeCSV(&out, [][]string{{"=cmd|'/c calc'!A1", "-1.5", "+x", "", "plain"}}); err != nil ||
		out.String() != "'=cmd|'/c calc'!A1,-1.5,'+x,,plain\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestChart(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, tt := range []struct {
		name  string
		lines []plotLine
		paths []string // nil: no chart
	}{
		{"nothing", nil, nil},
		{"no value", []plotLine{{"a", []float64{1, 2}, []float64{nan, nan}}}, nil},
		{"a line", []plotLine{{"a", []float64{0, 10}, []float64{0, 4}}}, []string{`d="M70.0 200.0L744.0 30.0"`}},
		{"a gap", []plotLine{{"a", []float64{0, 5, 10}, []float64{4, nan, 4}}}, []string{`d="M70.0 30.0h1M744.0 30.0h1"`}},
		{"all zero", []plotLine{{"a", []float64{0, 1}, []float64{0, 0}}}, []string{`d="M70.0 200.0L744.0 200.0"`}},
		{"one point", []plotLine{{"a", []float64{3}, []float64{2}}}, []string{`d="M70.0 30.0h1"`}},
		{"infinite", []plotLine{{"a", []float64{0, 1, 2}, []float64{1, math.Inf(1), 1}}}, []string{`M70.0`}},
	} {
		text := string(lineChart{title: "x < y", lines: tt.lines, shadeFrom: nan, shadeTo: nan}.svg())
		if (text == "") != (tt.paths == nil) || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: %s", tt.name, text)
		}
		for _, p := range tt.paths {
			if !strings.Contains(text, p) {
				t.Errorf("%s: no %s in %s", tt.name, p, text)
			}
		}
		for in := xml.NewDecoder(strings.NewReader(text)); text != ""; {
			if _, err := in.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
	}
}

// TestColumnTitles checks that the names of runs can be broken in the titles of columns, and that other
// titles are not.
func TestColumnTitles(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	err := page{Sections: []section{{
		Head: []string{"Metric", "bm_agentperf_dsv4_5p1d/c1010", "95% within-run only", "Client reports"},
		Rows: [][]string{{"a"}},
	}}}.write(&b)
	const want = `<th scope="col">Metric</th><th scope="col" class="name">bm_agentperf_dsv4_5p1d/c1010</th>` +
		`<th scope="col">95% within-run only</th><th scope="col">Client reports</th>`
	if err != nil || !strings.Contains(b.String(), want) {
		t.Errorf("%v: lacks %s:\n%s", err, want, b.String())
	}
}
