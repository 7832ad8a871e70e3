package porter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

func TestEngineConfigThatALineNames(t *testing.T) {
	t.Parallel()
	const base = "backend.trtllm_config.decode"
	log := smallRun()[harness.JobLog]
	use := func(path string) string { return strings.Replace(log, "/d/gen_config.yaml", path, 1) }
	outside := filepath.Join(t.TempDir(), "gen.yaml")
	if err := os.WriteFile(outside, []byte("tensor_parallel_size: 4\nmax_batch_size: 9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	two := jobLog(frontendLine("n1", ""), workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"),
		workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1"),
		strings.Replace(workerLine("GEN", 1, "-w n3 -N 1 -n 4", "A=1"), "/d/gen_config.yaml", "/d/b.yaml", 1))
	for _, c := range []inputCase{
		{
			name:  "another name in the run directory",
			files: map[string]string{harness.JobLog: use("/d/tuned/gen.yaml"), "tuned/gen.yaml": "max_batch_size: 77\n"},
			want:  map[string]string{base + ".max_batch_size": "77", base + ".tensor_parallel_size": "-"},
		},
		{
			name:  "outside of the run directory",
			files: map[string]string{harness.JobLog: use(outside)},
			want:  map[string]string{base + ".max_batch_size": "9"},
			todos: []string{"confirm " + base + ": …gen.yaml is not in the run directory: confirm that it has not been changed"},
		},
		{
			name:  "a copy in the run directory",
			files: map[string]string{harness.JobLog: use("/elsewhere/gen_config.yaml")},
			want:  map[string]string{base + ".tensor_parallel_size": "4"},
			todos: []string{
				"confirm " + base + ": GEN 0 was launched with /elsewhere/gen_config.yaml, which was not found; gen_config.yaml " +
					"in " +
					"the run directory was read instead",
			},
		},
		{
			name:  "not found",
			files: map[string]string{harness.JobLog: use("/elsewhere/gen.yaml")},
			want:  map[string]string{base: "{}"},
			todos: []string{
				"must-fix " + base + ": /elsewhere/gen.yaml can't be used: missing; GEN 0 was launched with it, so " +
					"gen_config.yaml is " +
					"not its config",
			},
		},
		{
			name:  "cut",
			files: map[string]string{harness.GENConfig: "tensor_parallel_size: 4\nmax_batch_size: 12"},
			want:  map[string]string{base + ".max_batch_size": "-", base + ".tensor_parallel_size": "4"},
			todos: []string{"must-fix " + base + ": gen_config.yaml:2: the last line has no line ending…not read: " +
				"max_batch_size: 12"},
		},
		{
			name:  "two of them",
			files: map[string]string{harness.JobLog: two, "b.yaml": "tensor_parallel_size: 8\nx: 1\n"},
			want:  map[string]string{base + ".tensor_parallel_size": "4", base + ".x": "-"},
			todos: []string{"must-fix " + base + ": launched with b.yaml, but GEN 0 with gen_config.yaml: a role has one " +
				"engine config"},
		},
		{
			name:  "two of them with the same content",
			files: map[string]string{harness.JobLog: two, "b.yaml": smallRun()[harness.GENConfig]},
			todos: []string{"note " + base + ": launched with b.yaml, but GEN 0 with gen_config.yaml; both are the same"},
		},
		{
			name:  "one of two is missing",
			files: map[string]string{harness.JobLog: two},
			todos: []string{
				"must-fix " + base + ": launched with b.yaml, but GEN 0 with gen_config.yaml, and the former can't be read",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
	files := smallRun()
	files[harness.JobLog] = use("-")
	if f := fieldOf(port(t, lay(t, files), Options{}), base+".tensor_parallel_size"); f.Class != Inferred {
		t.Errorf("a config that no line names: %+v", f)
	}
	files[harness.JobLog], files["b.yaml"] = two, "tensor_parallel_size: 8\nx: 1\n"
	files[harness.GENConfig] += numberedKeys(60)
	details := strings.Split(detailsOf(t, port(t, lay(t, files), Options{}), "recipe:"+base+"#file /d/b.yaml"), "\n")
	if len(details) != maxDetails || details[0] != "tensor_parallel_size: 4 (gen_config.yaml:1); 8 (b.yaml:1)" ||
		details[1] != "key0: 0 (gen_config.yaml:2); not in b.yaml" || details[maxDetails-1] != "… and 13 more" {
		t.Errorf("details:\n%s", strings.Join(details, "\n"))
	}
}

// numberedKeys returns YAML with n keys.
func numberedKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("key" + integer(i).Value + ": " + integer(i).Value + "\n")
	}
	return b.String()
}
