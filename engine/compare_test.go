package engine

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

const sampleRun = "../testdata/bm_agentperf_dsv4_5p1d/c1010"

// comparer compares runs by path.
func comparer(t *testing.T) *Engine {
	t.Helper()
	return &Engine{Store: runstest.New(t).Store, band: 0.02}
}

// ours makes a recorded run of this program from the outputs of the sample.
func ours(t *testing.T, id string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), id)
	out := filepath.Join(dir, "logs", "agentperf")
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(out, os.DirFS(filepath.Join(sampleRun, "agentperf"))); err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(rundir.Record{Version: 1, ID: id, Name: "sample", Launcher: "slurm", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../recipes/examples/c1010.yaml")
	if err != nil {
		t.Fatal(err)
	}
	recipe := strings.Replace(string(example), "name: agentperf-dsv4-c1010", "name: run-"+id, 1)
	for name, text := range map[string]string{
		rundir.RecordFile: string(record), rundir.PhasesFile: `[]`, rundir.RecipeFile: recipe,
		rundir.WorkloadFile: "base_url: http://h:8000/v1\nmodel: m\nconcurrencies: [1]\n" +
			"trajectory_path: /t.jsonl\nseed: 42\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The sample has 5 prefill workers with 4 GPUs each and one decode worker with 32.
func TestCurve(t *testing.T) {
	t.Parallel()
	c := comparer(t)
	points, err := c.Curve(t.Context(), []string{ours(t, "1"), sampleRun}, 0)
	if err != nil || len(points) != 2 {
		t.Fatal(points, err)
	}
	if p := points[0]; p.GPUs != 52 || math.Abs(p.OutputPerGPU*52-p.Output) > 1e-9 {
		t.Errorf("%+v, want 52 GPUs", p)
	}
	if p := points[1]; p.GPUs != 0 || !math.IsNaN(p.OutputPerGPU) {
		t.Errorf("%+v: no recipe, so nothing is per GPU", p)
	}
	if n := (runs.Ref{Dir: ours(t, "2"), Record: rundir.Record{ID: "2", Launcher: "local"}}).GPUs(); n != 0 {
		t.Errorf("%d GPUs of a local run", n)
	}
	if points, err = c.Curve(t.Context(), []string{sampleRun}, 26); err != nil || points[0].GPUs != 26 {
		t.Errorf("%+v, %v: the GPUs were given", points, err)
	}
}

func TestParityComparesInputs(t *testing.T) {
	t.Parallel()
	e := comparer(t)
	c, err := e.Parity(t.Context(), ours(t, "1"), ours(t, "2"), parity.AnyPhase, parity.Options{Paired: true})
	if err != nil {
		t.Fatal(err)
	}
	text := c.Text()
	for _, want := range []string{
		" recipe fields and 5/5 workload fields identical",
		"recipe name: run-1 vs. run-2", "paired requests: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	other := ours(t, "3")
	path := filepath.Join(other, rundir.WorkloadFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), "seed: 42", "seed: 43", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err = e.Parity(t.Context(), ours(t, "1"), other, parity.AnyPhase, parity.Options{})
	if err != nil || !slices.Contains(c.Reasons, "seed differs: 42 vs. 43") {
		t.Errorf("reasons %q, %v", c.Reasons, err)
	}
	// A run of the harness has the same identity, from other files.
	c, err = e.Parity(t.Context(), ours(t, "4"), sampleRun, parity.AnyPhase, parity.Options{})
	if reasons := strings.Join(c.Reasons, "\n"); err != nil || strings.Contains(reasons, "seed") ||
		!strings.Contains(reasons, "dataset differs: /t.jsonl vs. /tmp/agentperf-570849/data/coding-agent") ||
		!strings.Contains(strings.Join(c.Notes, "\n"), "max_tokens 16384 vs. 2000") {
		t.Errorf("reasons %q, notes %q, %v", c.Reasons, c.Notes, err)
	}
	more, err := e.References(t.Context(), []string{sampleRun}, parity.AnyPhase)
	if err != nil || len(more) != 1 || more[0].Requests != nil {
		t.Errorf("%d references, %v", len(more), err)
	}
}

// TestShortWindowOfHarnessRun checks that the client's configuration in a harness directory determines
// the minimum length of the measuring window.
func TestShortWindowOfHarnessRun(t *testing.T) {
	t.Parallel()
	e, dir := comparer(t), runstest.Sample(t)
	config := filepath.Join(dir, "benchmark_config.yaml")
	for text, want := range map[string]string{
		"min_measurement_seconds: 300\n": "measuring window too short: 120.5 s, must be at least 300.0 s",
		"min_measurement_seconds: 120\n": "",
		"seed: 42\n":                     "", // the default may be another one in another version
	} {
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, filepath.Join(dir, "agentperf")} {
			ref, err := e.Find(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			run, err := e.Results(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(run.Phases[0].Invalid, "; "); got != want {
				t.Errorf("%s, %s: invalid %q, want %q", path, text, got, want)
			}
		}
	}
}
