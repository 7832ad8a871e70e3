package porter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// smallRun returns the files of a small, complete run. Tests replace or remove some of them.
func smallRun() map[string]string {
	return map[string]string{
		harness.JobParams: "MODEL_PATH=/lustre/models/m-fp8\nCONTAINER_IMAGE='/lustre/img.sqsh'\nexport " +
			"CONTAINER_MOUNTS=\"/lustre:/lustre,/data:/data:ro\"\nCONCURRENCIES=\"64\" # one\nSERVER_BACKEND=dynamo\n",
		harness.CTXConfig: "tensor_parallel_size: 4\n",
		harness.GENConfig: "tensor_parallel_size: 4\n",
		harness.ClientScript: "srun -N 1 --nodelist <node0_placeholder> bash -c 'cd /lustre/client; uv run python " +
			"agentperf/run.py --config c.yaml --concurrencies 64' &> /logs/client.log\n",
		harness.ClientLog: smallBanner,
		harness.JobLog: jobLog(
			frontendLine("n1", ""),
			workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"),
			workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1"),
		),

		"3_output_CTX_0.log": "0: started\n",
		"agentperf/m__64u__phase0__dur600s__settle60s__traj3.json": "{}",
	}
}

const smallBanner = `0:   Server type: trtllm
0:   Phase Timeout: 600.0s
0:   User assignments: /tmp/agentperf-1/data/users.json
0:   Max ISL offset: 5
0:   Max workers: 4
0:   Max tokens: 100
0:   Reasoning effort: None
0:   Conversation routing headers: disabled
0:   Dynamo conv-aware routing (X-Dynamo-Session-ID): enabled
0:   Seed: 7
0: Loading trajectories from /tmp/agentperf-1/data/traj.jsonl...
0: Running 1 phase(s): concurrencies=[64]
`

func jobLog(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func frontendLine(host, export string) string {
	return "[server] Executing: srun -l --export=ALL,ROUTER_MODE=kv" + export + " --nodelist " + host +
		" -N 1 -n 1 bash /h/start_dynamo_infra.sh frontend " + host + " 8333 </dev/null &> /d/4_output_frontend.log &"
}

func workerLine(role string, index int, flags, env string) string {
	config := map[string]string{"CTX": harness.CTXConfig}[role]
	if config == "" {
		config = harness.GENConfig
	}
	return fmt.Sprintf(
		"[server] Executing: srun -l --export=ALL,HOME=/home/u %s --mpi=pmix --overlap bash /h/start_worker_dynamo.sh %s "+
			"%d /lustre/models/m-fp8 8101 e2e '64' true /d false '0-0' /d/%s '%s CUDA_VISIBLE_DEVICES=0,1,2,3' none "+
			"none &> /d/3_output_%s_%d.log &",
		flags,
		role,
		index,
		config,
		env,
		role,
		index,
	)
}

// lay writes files to a new directory bm_x/c64 and returns its path.
func lay(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bm_x", "c64")
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

// inputCase is the small run with some files changed, or another run directory.
type inputCase struct {
	name   string
	dir    string            // below testdata/port
	files  map[string]string // "" removes a file
	opt    Options
	want   map[string]string // canonical path to value; "-" means there is none
	todos  []string          // "kind path: part of the message"
	silent []string          // texts that no todo may contain
}

func (c inputCase) run(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(classDir, c.dir)
	if c.dir == "" {
		files := smallRun()
		for name, text := range c.files {
			if text == "" {
				delete(files, name)
			} else {
				files[name] = text
			}
		}
		dir = lay(t, files)
	}
	for _, schema := range []int{1, 2} {
		c.opt.Schema = schema
		r := port(t, dir, c.opt)
		checkRows(t, dir, r)
		if bad := r.Proof.Unexplained(); len(bad) > 0 {
			t.Errorf("schema %d: unexplained: %q", schema, bad)
		}
		got := map[string]string{}
		for _, f := range r.Fields {
			got[f.Path] = f.Value
		}
		for path, value := range c.want {
			have, there := got[path]
			if _, ok := r.layoutHas(path); !ok {
				continue
			}
			if value == "-" && there || value != "-" && have != value {
				t.Errorf("schema %d: %s = %q, want %q", schema, path, have, value)
			}
		}
		all := todoLines(r)
		for _, want := range c.todos {
			if !slices.ContainsFunc(all, func(s string) bool { return matches(s, want) }) {
				t.Errorf("schema %d: no open question %q in:\n%s", schema, want, strings.Join(all, "\n"))
			}
		}
		for _, not := range c.silent {
			for _, s := range all {
				if strings.Contains(s, not) {
					t.Errorf("schema %d: unexpected %q", schema, s)
				}
			}
		}
	}
}

// layoutHas reports whether the recipe layout has a canonical path.
func (r *Result) layoutHas(path string) (string, bool) {
	if !strings.Contains(path, ".") && path != "name" && path != "extra_mount" {
		return path, true // a workload key
	}
	return newLayout(r.Schema).table.Translate(path, r.Schema)
}

func todoLines(r *Result) []string {
	var out []string
	for _, t := range r.Todos {
		out = append(out, fmt.Sprintf("%s %s: %s", t.Kind, t.Path, t.Message))
	}
	return out
}

// matches reports whether s matches a pattern in which "…" stands for any text.
func matches(s, pattern string) bool {
	for part := range strings.SplitSeq(pattern, "…") {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

func TestSmallRun(t *testing.T) {
	inputCase{
		want: map[string]string{
			"name": "bm-x", "model.path": "/scratch/models/m-fp8", "model.precision": "fp8",
			"model.container": "/scratch/img.sqsh",
			"extra_mount":     `["/scratch:/scratch", "/data:/data:ro"]`, "resources.gpus_per_node": "4",
			"health_check.max_attempts":      "-",
			"benchmark.agentperf_client_dir": "/scratch/client", "reasoning_effort": "null", "seed": "7",
			"send_conversation_routing_headers": "false", "use_dynamo_conv_aware_routing": "true",
			"phase_timeout_seconds": "600.0",
			"settling_time_seconds": "60.0", "max_starting_line_offset": "5", "resources.gpus_per_prefill": "-",
			"benchmark.env.AGENTPERF_EXTRA_ARGS": "-",
		},
		silent: []string{"incomplete", "launched"},
	}.run(t)
}

func TestMissingArtifacts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		harness.JobParams, harness.CTXConfig, harness.GENConfig, harness.ClientScript, harness.ClientLog, harness.JobLog,
		"agentperf/m__64u__phase0__dur600s__settle60s__traj3.json", "3_output_CTX_0.log",
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{
				harness.JobParams:    "must-fix model.container: CONTAINER_IMAGE is not in",
				harness.CTXConfig:    "must-fix backend.trtllm_config.prefill: ctx_config.yaml can't be used: missing",
				harness.GENConfig:    "must-fix backend.trtllm_config.decode: gen_config.yaml",
				harness.ClientScript: "must-fix benchmark.agentperf_client_dir",
				harness.ClientLog:    "confirm : client.log: missing", harness.JobLog: "must-fix resources.prefill_workers",
				"3_output_CTX_0.log": "confirm backend.numa_cpu_bind: no log",
			}[name]
			if want == "" {
				want = "confirm settling_time_seconds"
			}
			inputCase{files: map[string]string{name: ""}, todos: []string{want}}.run(t)
		})
	}
}

func TestBrokenArtifacts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		harness.JobParams, harness.CTXConfig, harness.GENConfig, harness.ClientScript, harness.ClientLog, harness.JobLog,
	} {
		for kind, text := range map[string]string{
			"bytes": "\xff\xfe\x00\x1b[ \x80 : '", "one line": strings.Repeat("x", 5<<18),
			"open quote": "A='\n[server] Executing: srun bash start_worker_dynamo.sh CTX 0 'x\n",
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				inputCase{files: map[string]string{name: text}}.run(t)
			})
		}
	}
	for _, name := range []string{harness.JobParams, harness.CTXConfig, harness.JobLog, harness.ClientLog} {
		t.Run(name+" is a directory", func(t *testing.T) {
			t.Parallel()
			files := smallRun()
			delete(files, name)
			files[name+"/x"] = ""
			r := port(t, lay(t, files), Options{})
			if !slices.ContainsFunc(
				r.Artifacts,
				func(a Artifact) bool { return a.Name == name && a.Problem == "not a regular file" },
			) {
				t.Errorf("artifacts: %+v", r.Artifacts)
			}
		})
	}
}

func TestDirectoryErrors(t *testing.T) {
	t.Parallel()
	dir := lay(t, smallRun())
	parent := filepath.Dir(dir)
	if err := os.CopyFS(filepath.Join(parent, "c128"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(parent, "gone")
	if err := os.Symlink(filepath.Join(parent, "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	var pe *ParentError
	if _, err := Port(t.Context(), parent, Options{}); !errors.As(err, &pe) || len(pe.Runs) != 2 ||
		filepath.Base(pe.Runs[0]) != "c128" {
		t.Errorf("parent: %v", err)
	}
	for n, want := range map[int]string{
		1: "port p: is not a run directory, but contains one; give c0",
		3: "port p: is not a run directory, but contains 3 (c0, c1, c2); give one of them, or pass --tree",
		5: "port p: is not a run directory, but contains 5 (c0, c1, c2 and 2 more); give one of them, or pass --tree",
	} {
		err := &ParentError{Dir: "p"}
		for i := range n {
			err.Runs = append(err.Runs, fmt.Sprintf("c%d", i))
		}
		if err.Error() != want {
			t.Errorf("%d runs: %v", n, err)
		}
	}
	if _, err := Port(t.Context(), filepath.Dir(parent), Options{}); !errors.As(err, &pe) || len(pe.Runs) != 2 {
		t.Errorf("grandparent: %v", err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, harness.JobLog): "is a file", link: "broken symbolic link",
		empty:                    "is not a harness run directory",
		filepath.Join(dir, "no"): "no such directory",
	} {
		if _, err := Port(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := Port(t.Context(), dir, Options{Schema: 3}); err == nil {
		t.Error("schema 3 was accepted")
	}
	if _, err := Port(t.Context(), dir, Options{DatasetRoots: []string{filepath.Join(dir, "no")}}); err == nil ||
		!strings.Contains(err.Error(), "search for datasets") {
		t.Errorf("missing dataset root: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Port(ctx, dir, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
