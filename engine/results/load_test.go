package results

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

// tree writes files to a new directory and returns its path.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadDirectories(t *testing.T) {
	t.Parallel()
	row := line(0, 110, "") + "\n"
	tests := []struct {
		name, file, arg, logDir string
	}{
		{"log directory", "agentperf/requests.jsonl", ".", "."},
		{"directory of the client", "agentperf/requests.jsonl", "agentperf", "."},
		{"run directory", "logs/agentperf/requests.jsonl", ".", "logs"},
		{"directory with another name", "out/requests.jsonl", "out", "out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, map[string]string{tt.file: row})
			run, err := Load(t.Context(), filepath.Join(dir, tt.arg), RunContext{})
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(dir, tt.logDir); run.LogDir != want || len(run.Phases) != 1 || run.Phases[0].Total != 1 {
				t.Errorf("log directory %s, want %s; %+v", run.LogDir, want, run.Phases)
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		arg   string
		id    problem.ID
		want  string
	}{
		{"no such directory", nil, "none", problem.FileNotFound, "read results: stat "},
		{
			"empty directory", nil, ".", problem.ResultsNotFound,
			"found no requests.jsonl, phase_manifest.jsonl or statistics file; give the log directory",
		},
		{
			"a file",
			map[string]string{"f": ""},
			"f", problem.NotADirectory,
			"is not a directory; give the log directory that contains agentperf/",
		},
		{
			"another client",
			map[string]string{"agentperf/profile_export.jsonl": "{}"},
			".", problem.ResultsNotFound,
			"found profile_export.jsonl of another client",
		},
		{
			"another client in the log directory",
			map[string]string{"agentperf/x": "", "profile_export.jsonl": "{}"},
			".", problem.ResultsNotFound,
			"found profile_export.jsonl of another client",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(t.Context(), filepath.Join(tree(t, tt.files), tt.arg), RunContext{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || problem.Of(err) != tt.id {
				t.Errorf("%s: %v, want %s: %q", problem.Of(err), err, tt.id, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, sample, RunContext{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestLoadNotes(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"requests.jsonl":            line(0, 110, "") + "\nrubbish\n" + line(1, 111, "") + "\n" + line(2, 112, "")[:50],
		"phase_manifest.jsonl":      window, // complete except for the newline
		"profile_export.jsonl":      "{}",
		testStem.String():           "no extension",
		testStem.String() + ".json": `{"requests":`,
		"notes.json":                "{}",
	})
	run, err := Load(t.Context(), dir, RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	if p := run.Phases[0]; p.Total != 2 || p.Window == nil || p.Window.Source != FromManifest {
		t.Errorf("%+v", p)
	}
	text := strings.Join(run.Warnings, "\n")
	for _, want := range []string{
		"not counted: requests.jsonl:2: column 1: expected an object, found 'r'",
		"not counted: " + testStem.String() + ".json: statistics: line 1, column 12: unexpected end of JSON input",
		"requests.jsonl: incomplete last line not counted (line 4, column ",
		"profile_export.jsonl ignored: output of another client",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestLoadLongRow(t *testing.T) {
	t.Parallel()
	long := line(0, 110, `"response_text":"`+strings.Repeat("x", 3<<20)+`"`)
	dir := tree(t, map[string]string{testStem.String() + ".jsonl": long + "\n" + line(1, 111, "")})
	run, err := Load(t.Context(), dir, RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	if run.Phases[0].Total != 2 || len(run.Warnings) != 0 {
		t.Errorf("%d rows, want 2; %q", run.Phases[0].Total, run.Warnings)
	}
}

func TestChunkReader(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 40)
	tests := []struct {
		name, in string
		lines    int
		rejected []int // line numbers
		skipped  int
		torn     bool
	}{
		{name: "empty"},
		{name: "lines", in: "{}\n\na\n", lines: 3, rejected: []int{3}},
		{name: "complete line without newline", in: "b\n{}", lines: 2, rejected: []int{1}},
		{name: "incomplete line", in: "{}\n{", lines: 1, torn: true},
		{name: "at the limit", in: long[:29] + "\n", lines: 1, rejected: []int{1}},
		{name: "over the limit", in: "a\n" + long[:30] + "\nb\nL\n{}\n", lines: 5, rejected: []int{1, 3}, skipped: 2},
		{name: "over the limit at the end", in: "{}\nL", lines: 2, skipped: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.ReplaceAll(tt.in, "L", long)
			for piece := 1; piece < len(text)+2; piece++ {
				in := chunkReader{file: strings.NewReader(text), size: int64(len(text)), chunkSize: piece, maxLine: 30, phase: -1}
				lines, rejected, skipped, torn := 0, []int{}, 0, false
				err := in.forEach(t.Context(), func(p *parsedChunk) error {
					for _, f := range p.rejected {
						rejected = append(rejected, lines+f.line)
					}
					lines, skipped, torn = lines+p.lines, skipped+p.tooLong, torn || p.incomplete != nil
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if lines != tt.lines || skipped != tt.skipped || torn != tt.torn || !slices.Equal(rejected, tt.rejected) {
					t.Fatalf("pieces of %d bytes: %d lines, rejected %v, skipped %d, torn %v; want %d, %v, %d, %v",
						piece, lines, rejected, skipped, torn, tt.lines, tt.rejected, tt.skipped, tt.torn)
				}
			}
		})
	}
}

func TestNewestStatisticsFileIsUsed(t *testing.T) {
	t.Parallel()
	old, recent := testStem, testStem
	recent.Settling = 20
	dir := tree(t, map[string]string{
		old.String() + ".json":    `{"ttft_s":{"p50":1}}`,
		recent.String() + ".json": `{"ttft_s":{"p50":2}}`,
	})
	for i, s := range []harness.Stem{old, recent} {
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(filepath.Join(dir, s.String()+".json"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	run, err := Load(t.Context(), dir, RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	p := run.Phases[0]
	if p.Figures.Get("ttft_p50_s").Value != 2 || len(p.Warnings) != 2 || !strings.Contains(p.Warnings[0], old.String()) {
		t.Errorf("%g, %q", p.Figures.Get("ttft_p50_s").Value, p.Warnings)
	}
}

// TestLoadWithRunContext checks that Load uses the client start and the plan.
func TestLoadWithRunContext(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"requests.jsonl": line(0, 50, "") + "\n" + line(1, 110, "") + "\n" +
		line(1, 130, "") + "\n"})
	run, err := Load(t.Context(), dir, RunContext{
		Start:   time.Unix(100, 0),
		Planned: []PlannedPhase{{Ramp: 7, Settling: 3, Timeout: 100, MinMeasurement: 30}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := run.Phases[0]
	if diff := cmp.Diff(&Window{120, 131, 11, Estimated}, p.Window); diff != "" ||
		run.EarlierStartRows != 1 || p.Total != 2 {
		t.Errorf("earlier %d, total %d, %s", run.EarlierStartRows, p.Total, diff)
	}
}

func TestGoldenSample(t *testing.T) {
	t.Parallel()
	run, err := Load(t.Context(), sample, RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "testdata/sample.txt", run.Text())
	run.LogDir = "/run/logs"
	text, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "testdata/sample.json", append(text, '\n'))
	var again Run
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	again.Phases[0].Statistics = run.Phases[0].Statistics // not in JSON
	nan := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if diff := cmp.Diff(run, again, nan, cmp.AllowUnexported(Figure{})); diff != "" {
		t.Errorf("read back: %s", diff)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	f := aggregate(t, window, `{"throughput":{"output_server_tok_s":3},"requests":{"total":9}}`,
		line(0, 100, ""), line(1, 110, ""), line(2, 111, `"success":false`), line(3, 121, `"success":false`),
		line(4, 300, `"phase_idx":1,"concurrency":64`))
	golden.Equal(t, "testdata/two-phases.txt", f.Snapshot(f.lastTime()).Text())
	golden.Equal(t, "testdata/empty.txt", NewAggregator().Snapshot(time.Unix(0, 0)).Text())
}

func TestRollup(t *testing.T) {
	t.Parallel()
	stem := func(users, phase int) string {
		return harness.Stem{Model: "org__m", Concurrency: users, Phase: phase, Timeout: 300.5, Trajectories: 3}.String()
	}
	row := func(user int, at float64, phase string) string { return line(user, at, phase) + "\n" }
	dir := tree(t, map[string]string{
		"agentperf/requests.jsonl": row(0, 110, `"concurrency":64`) +
			row(0, 210, `"phase_idx":1,"concurrency":1010`),
		"agentperf/phase_manifest.jsonl": window + "\n" +
			`{"phase_idx":1,"settling_end":205,"actual_phase_end":215}` + "\n",
		"agentperf/" + stem(1010, 1) + ".json": `{"phase":1,"concurrency":1010,"requests":{"total":1},` +
			`"exact":0.10000000000000001,"later_key":{"b":1,"a":2}}`,
		"agentperf/" + stem(64, 0) + ".json":      `{"phase":0,"concurrency":64,"requests":{"total":1}}`,
		"agentperf/" + stem(8, 2) + ".json":       `{"phase":`,
		"agentperf/other.json":                    `{}`,
		"agentperf/" + stem(64, 0) + ".txt":       "Phase 0 Results",
		"agentperf/" + stem(8, 3) + ".json/empty": "",
	})
	path, doc, err := WriteRollup(t.Context(), dir, RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	if path != filepath.Join(dir, RollupFile) {
		t.Errorf("written to %s", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "testdata/rollup.json", text)
	want := []string{
		`"other.json": is not named like a statistics file`,
		stem(8, 2) + ".json: statistics: line 1, column 9: unexpected end of JSON input",
	}
	slices.Sort(doc.Skipped) // the files have the same modification time
	if diff := cmp.Diff(want, doc.Skipped); diff != "" {
		t.Error(diff)
	}
	// A second roll-up replaces the first and is equal.
	if _, _, err := WriteRollup(t.Context(), dir, RunContext{}); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(path)
	if err != nil || string(again) != string(text) {
		t.Errorf("the second roll-up differs: %v", err)
	}
}

func TestNoRollupWithoutStatistics(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"agentperf/requests.jsonl": line(0, 110, "") + "\n"})
	path, doc, err := WriteRollup(t.Context(), dir, RunContext{})
	if err != nil || path != "" || len(doc.Phases) != 0 || len(doc.Recomputed.Phases) != 1 {
		t.Errorf("%q, %+v, %v", path, doc, err)
	}
	if fileExists(filepath.Join(dir, RollupFile)) {
		t.Error("a roll-up was written")
	}
}

func TestTierResults(t *testing.T) {
	t.Parallel()
	phase := func(users int, speed, ttft float64, invalid ...string) Phase {
		return Phase{Concurrency: users, Invalid: invalid, Figures: Figures{
			{Key: "output_speed_local_p25_tok_s", Value: speed},
			{Key: "ttft_p95_s", Value: ttft},
		}}
	}
	phases := []Phase{
		phase(16, 120, 1), phase(64, 100, 2), phase(256, 60, 4), phase(1010, 30, 2, "no output tokens"),
		phase(2000, math.NaN(), 1),
	}
	got := TierResults(phases, []Tier{{"fast", 100, 2}, {"slow", 20, 10}, {"none", 1000, 1}})
	want := []struct {
		users int
		whys  []string
	}{
		{64, []string{
			"", "", "output speed p25: 60.0 tok/s, must be at least 100.0 tok/s", "invalid: no output tokens",
			"output speed p25: -, must be at least 100.0 tok/s",
		}},
		{256, []string{"", "", "", "invalid: no output tokens", "output speed p25: -, must be at least 20.0 tok/s"}},
		{0, []string{
			"output speed p25: 120.0 tok/s, must be at least 1,000.0 tok/s",
			"output speed p25: 100.0 tok/s, must be at least 1,000.0 tok/s",
			"output speed p25: 60.0 tok/s, must be at least 1,000.0 tok/s", "invalid: no output tokens",
			"output speed p25: -, must be at least 1,000.0 tok/s",
		}},
	}
	for i, w := range want {
		var whys []string
		for _, l := range got[i].Levels {
			whys = append(whys, l.Reason)
			if l.Meets != (l.Reason == "") || l.Unknown != (l.Concurrency > 256) {
				t.Errorf("%+v", l)
			}
		}
		if diff := cmp.Diff(w.whys, whys); diff != "" || got[i].Concurrency != w.users {
			t.Errorf("%s: %d users, want %d; %s", got[i].Tier.Name, got[i].Concurrency, w.users, diff)
		}
	}
	slow := TierResults(phases[2:3], []Tier{{"calm", 50, 3}})
	if why := slow[0].Levels[0].Reason; why != "TTFT p95: 4.000 s, must be at most 3.000 s" {
		t.Error(why)
	}
}

// A tier is met only by a phase that has ended, and at both bounds of an uncertain figure.
func TestTierResultsOfUncertainFigures(t *testing.T) {
	t.Parallel()
	phase := func(low, high float64, provisional bool) Phase {
		return Phase{Concurrency: 8, Provisional: provisional, Figures: Figures{
			{Key: LocalSpeed25, Unit: "tok/s", Value: 50.1, Class: Uncertain, Low: low, High: 51},
			{Key: TTFT95, Unit: "s", Value: 2.9, Class: Uncertain, Low: 2.8, High: high},
		}}
	}
	for _, tt := range []struct {
		phase Phase
		want  string
	}{
		{phase(50, 3, false), ""},
		{phase(49.9, 3, false), "uncertain: output speed p25: 50.1 ±0.9 tok/s, must be at least 50.0 tok/s"},
		{phase(50, 3.1, false), "uncertain: TTFT p95: 2.900 ±0.200 s, must be at most 3.000 s"},
		{phase(50, 3, true), "the phase has not ended"},
	} {
		got := TierResults([]Phase{tt.phase}, []Tier{{"calm", 50, 3}})[0].Levels[0]
		if got.Reason != tt.want || got.Unknown != (tt.want != "") {
			t.Errorf("%+v, want %q", got, tt.want)
		}
	}
}
