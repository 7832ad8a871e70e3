package simulate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

const datasets = "../../../testdata/bm_agentperf_dsv4_5p1d/c1010/datasets/"

// newRunDir returns the directory of a run with two prefill workers and a phase for each level.
func newRunDir(t *testing.T, target plan.Target, levels ...int) string {
	t.Helper()
	dir := t.TempDir()
	p := plan.Plan{Target: target, Model: "m", Steps: []plan.Step{{Role: "prefill"}, {Role: "prefill"}, {Role: "decode"}}}
	for _, l := range levels {
		p.Phases = append(p.Phases, plan.Phase{Concurrency: l})
	}
	if err := smallfile.WriteJSON(filepath.Join(dir, rundir.PlanFile), p, 0o600); err != nil {
		t.Fatal(err)
	}
	workload := "base_url: http://h/v1\nmodel: m\nconcurrencies: [4]\nphase_timeout_seconds: 60\n" +
		"settling_time_seconds: 5\nuser_spawn_rate: 2\nmin_measurement_seconds: 10\nmax_tokens: 200\nseed: 42\n" +
		"trajectory_path: " + datasets + "coding-agent-scenario_v2_500traj.jsonl\n" +
		"user_assignments_path: " + datasets + "500-sample-user-trajectory-assignments-20k.json\n"
	if err := os.WriteFile(filepath.Join(dir, "benchmark_config.yaml"), []byte(workload), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The figures depend only on the files: two simulations give the same bytes.
func TestWriteReference(t *testing.T) {
	t.Parallel()
	dir := newRunDir(t, plan.Local, 4)
	var texts [2]string
	for i := range texts {
		path := filepath.Join(t.TempDir(), "reference.yaml")
		if err := WriteReference(t.Context(), dir, path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(data)
		if err := WriteReference(t.Context(), dir, path); !errors.Is(err, fs.ErrExist) {
			t.Errorf("existing file: %v", err)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("two simulations differ:\n%s\n%s", texts[0], texts[1])
	}
	var got struct {
		Concurrency int     `yaml:"concurrency"`
		Seconds     float64 `yaml:"measurement_duration_s"`
		Requests    struct{ Total, Measured, Successful, Failed int }
	}
	if err := yaml.Unmarshal([]byte(texts[0]), &got); err != nil {
		t.Fatal(err)
	}
	// The last of 4 users starts 1.5 s after the first one, and settling takes 5 s.
	if r := got.Requests; got.Concurrency != 4 || got.Seconds < 53.5 || r.Measured < 10 || r.Measured != r.Successful ||
		r.Failed != 0 || r.Total <= r.Measured {
		t.Errorf("%+v", got)
	}
}

func TestWriteReferenceErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ dir, want string }{
		"Slurm job":  {newRunDir(t, plan.Slurm, 4), "must be a local run with 1 phase, got a slurm run with 1"},
		"two phases": {newRunDir(t, plan.Local, 4, 8), "got a local run with 2"},
		"no plan":    {t.TempDir(), "no such file"},
	} {
		err := WriteReference(t.Context(), c.dir, filepath.Join(t.TempDir(), "r.yaml"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
