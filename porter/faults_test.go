package porter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// Faults of earlier porters, one by one. Other tests cover more inputs of the same kind.
func TestFaultsOfEarlierPorters(t *testing.T) {
	t.Parallel()
	gen := workerLine("GEN", 0, "-w n9 -N 1 -n 4", "A=1")
	half := func(index int, gpus string) string {
		return strings.ReplaceAll(workerLine("CTX", index, "-w n1 -N1 -n2", "A=1"), "DEVICES=0,1,2,3", "DEVICES="+gpus)
	}
	for _, c := range []inputCase{
		{
			name:  "1 two workers on one node are one",
			files: map[string]string{harness.JobLog: jobLog(half(0, "0,1"), half(1, "2,3"), gen)},
			want:  map[string]string{"resources.prefill_workers": "2", "resources.prefill_nodes": "1"},
		},
		{
			name:  "1 a worker of two nodes has one",
			files: map[string]string{harness.JobLog: jobLog(workerLine("CTX", 0, "--nodelist n1,n2 -N 2 -n 8", "A=1"), gen)},
			want:  map[string]string{"resources.prefill_workers": "1", "resources.prefill_nodes": "2"},
		},
		{
			name: "2 a compressed host list is one node",
			files: map[string]string{
				harness.JobLog: jobLog(workerLine("CTX", 0, "--nodelist=node[01-08] -N 8 -n 32", "A=1"), gen),
			},
			want: map[string]string{"resources.prefill_nodes": "8"},
		},
		{
			name:  "3 a topology from a log without launch lines",
			files: map[string]string{harness.JobLog: "nothing was launched\n"},
			todos: []string{"must-fix resources.prefill_workers", "must-fix resources.decode_nodes"},
		},
		{
			name: "4 only the first worker's environment, split at spaces",
			files: map[string]string{
				harness.JobLog: jobLog(
					workerLine("CTX", 0, "-w n1 -N 1 -n 4", `A=1 B="two words"`),
					workerLine("CTX", 1, "-w n2 -N 1 -n 4", `A=2 B="two words"`), gen,
				),
			},
			want:  map[string]string{"backend.prefill_environment.B": `"two words"`},
			todos: []string{"backend.prefill_environment.A: CTX 1"},
		},
		{
			name: "6 a word with a dot is read as a number",
			files: map[string]string{
				harness.ClientLog: strings.NewReplacer(
					"Server type: trtllm", "Server type: trt.llm", "effort: None", "effort: v1.high",
				).Replace(smallBanner),
			},
			want: map[string]string{"server_type": "trt.llm", "reasoning_effort": "v1.high"},
		},
		{
			name:  "7 another backend is ported as if it were dynamo",
			files: map[string]string{harness.JobParams: "SERVER_BACKEND=trtllm-serve\n"},
			todos: []string{`must-fix backend.type: SERVER_BACKEND is "trtllm-serve"`},
		},
		{
			name:  "7 broken YAML ends the port",
			files: map[string]string{harness.CTXConfig: "a: [1\n"},
			todos: []string{"must-fix backend.trtllm_config.prefill: ctx_config.yaml can't be used"},
		},
		{
			name:  "8 the result breaks the client's ramp-up rule",
			files: map[string]string{harness.ClientLog: strings.Replace(smallBanner, "600.0s", "60.0s", 1)},
			todos: []string{"confirm phase_timeout_seconds: 60 s is too short for concurrency level 64"},
		},
		{
			name: "10 CPU pinning is searched for in one log",
			files: map[string]string{
				harness.JobLog: jobLog(
					workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"), workerLine("CTX", 1, "-w n2 -N 1 -n 4", "A=1"), gen,
				),
				"3_output_CTX_1.log": "0: taskset -c 0-71 python\n",
			},
			want: map[string]string{"backend.numa_cpu_bind": "true"},
		},
	} {
		t.Run(c.name, c.run)
	}
	t.Run("3 evidence that does not exist", func(t *testing.T) {
		t.Parallel()
		files := smallRun()
		files[harness.JobLog] = "nothing was launched\n"
		for _, f := range port(t, lay(t, files), Options{}).Fields {
			for _, e := range f.Evidence {
				if strings.HasPrefix(f.Path, "resources.") && e.Artifact == harness.JobLog {
					t.Errorf("%s has evidence %+v", f.Path, e)
				}
			}
		}
	})
	t.Run("5 fallbacks are not reported", testFallbacksAreReported)
	t.Run("8 files are replaced without --force", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		recipe, workload := filepath.Join(dir, "r.yaml"), filepath.Join(dir, "w.yaml")
		put(t, workload, "mine\n")
		var exists *ExistsError
		if _, err := port(t, sampleDir, Options{}).Write(recipe, workload, false); !errors.As(err, &exists) {
			t.Errorf("replaced it: %v", err)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
			t.Errorf("some files were written: %v %v", names, err)
		}
	})
}

// With an empty job_params.env alone every value is a fallback. Each field has the class and rule
// of one.
func testFallbacksAreReported(t *testing.T) {
	t.Parallel()
	r := port(t, lay(t, map[string]string{harness.JobParams: "\n"}), Options{})
	for _, name := range []string{
		"resources.gpus_per_node", "model.precision", "seed", "max_workers", "max_tokens", "phase_timeout_seconds",
		"max_starting_line_offset", "timeout_seconds", "client_impl", "extra_mount",
	} {
		i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Path == name })
		if i < 0 {
			continue // not written at all
		}
		if f := r.Fields[i]; f.Class == Copied || f.Class == Translated || f.Rule == "" {
			t.Errorf("%s = %s: %s by rule %q", name, f.Value, f.Class, f.Rule)
		}
	}
}
