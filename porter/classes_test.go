package porter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

// classDir has a directory for each class of input that occurs on real clusters.
const classDir = "../testdata/port"

func TestClasses(t *testing.T) {
	t.Parallel()
	const prefillEnv, decodeEnv = "backend.prefill_environment", "backend.decode_environment"
	const prefillArgs, decodeArgs = "backend.trtllm_config.prefill", "backend.trtllm_config.decode"
	for _, c := range []inputCase{
		{ // two workers share a node
			dir: "01-topology/c64",
			want: map[string]string{
				"resources.prefill_workers": "2", "resources.prefill_nodes": "1", "resources.gpus_per_node": "4",
				"resources.gpus_per_prefill": "-",
			},
			silent: []string{"differs", "both use", "-n is"},
		},
		{ // one worker spans two nodes
			dir: "01-topology/c128",
			want: map[string]string{
				"resources.prefill_workers": "1", "resources.prefill_nodes": "2", "resources.gpus_per_node": "4",
				"resources.gpus_per_prefill": "-",
			},
			silent: []string{"packs", "-n is"},
		},
		{ // decode workers of different size
			dir:  "01-topology/c256",
			want: map[string]string{"resources.decode_workers": "2", "resources.decode_nodes": "3"},
			todos: []string{
				"must-fix resources: GEN workers differ in size (8, 4 GPUs), but a role has one size",
			},
			silent: []string{"no plan for the recipe"},
		},
		{ // every spelling of srun's flags
			dir: "02-srun-flags/c64",
			want: map[string]string{
				"resources.prefill_workers": "2", "resources.prefill_nodes": "10", "resources.decode_nodes": "8",
				"resources.gpus_per_node": "4", "health_check.max_attempts": "300",
			},
			todos:  []string{"confirm srun_options: --cpus-per-task=72 is not carried over"},
			silent: []string{"host list", "-n is"},
		},
		{ // an --export list with commas, bare names, quotes
			dir: "03-export/c64",
			want: map[string]string{
				"frontend.env.UCX_TLS": `"cuda_ipc,sm,tcp"`, "frontend.env.EMPTY": `""`, "frontend.env.NAME": `"a b"`,
				"frontend.env.ARGS":            `"--a=b=c"`,
				"frontend.env.LD_LIBRARY_PATH": "-", "frontend.env.PATH": "-", "frontend.env.DYN_KV_BLOCK_SIZE": `"128"`,
				"frontend.env.HOME": `"/tmp"`,
			},
			todos: []string{
				`note frontend.env.UCX_TLS: srun splits --export at every comma, so the old job got "cuda_ipc"`,
				"confirm frontend.env: --export names LD_LIBRARY_PATH without a value",
				"confirm frontend.env.HF_TOKEN: looks like a secret",
			},
			silent: []string{"names PATH"},
		},
		{ // env lists with quotes and spaces, and of one token
			dir: "04-env-list/c64",
			want: map[string]string{
				prefillEnv + ".NAME": `"x y"`, prefillEnv + ".EMPTY": `""`, prefillEnv + ".EQ": `"a=b"`, prefillEnv +
					".TWO": `"two words"`, prefillEnv + ".JSON": `"{\"k\": \"v w\"}"`,
				prefillEnv + ".UCX_TLS": `"rc,sm"`, prefillEnv + ".HOME": "-", decodeEnv +
					".TRTLLM_ENABLE_PDL": `"1"`, "resources.gpus_per_node": "4",
			},
			todos: []string{
				"confirm " + prefillEnv + ".TWO: the value contains an unquoted space",
				`confirm ` + prefillEnv + `.NAME: CTX 1 differs in NAME ("x z", but "x y" in CTX 0)`,
			},
			silent: []string{prefillEnv + ".NAME: the value", "no list of variables"},
		},
		{ // a worker that was started again
			dir:   "05-relaunch/c64",
			want:  map[string]string{prefillEnv + ".A": `"2"`, "resources.prefill_workers": "1", "resources.prefill_nodes": "1"},
			todos: []string{"note : CTX 0 was launched 2 times; the last launch (line 7) was used"},
		},
		{ // paths in env values
			dir: "06-env-paths/c64",
			want: map[string]string{
				decodeEnv + ".EPLB": `"/scratch/eplb.yaml"`, decodeEnv + ".LIST": `"/opt/a:/lustre/b"`, decodeEnv +
					".FLAG": `"--dir=/lustre/x"`, decodeEnv + ".OTHER": `"/lustre2/y"`,
				"frontend.env.CACHE": `"/scratch/cache"`,
			},
			todos: []string{
				"confirm " + decodeEnv + ".EPLB: confirm that the compute containers can read",
				"confirm " + decodeEnv + ".FLAG: contains /lustre/", "confirm " + decodeEnv + ".LIST: contains /lustre/",
			},
		},
		{ // a banner in colours, with CRLF and odd ranks, printed twice
			dir: "07-banner/c64", want: map[string]string{
				"seed": "7", "max_workers": "4", "max_tokens": "100", "trajectory_path": "/TODO/traj.jsonl",
				"phase_timeout_seconds": "600.0",
			},
			todos: []string{"confirm : client.log shows 2 starts of the client (lines 2, 17); the values are those of the " +
				"last one: confirm them"},
		},
		{ // an incomplete banner
			dir: "07-banner/c128", want: map[string]string{
				"phase_timeout_seconds": "600.0", "max_workers": "4", "seed": "42", "trajectory_path": "/TODO/trajectories.jsonl",
			},
			todos: []string{
				"confirm : the banner in client.log (lines 1 to 9) is incomplete: the file ends within line 10: confirm the " +
					"default values of the settings " +
					"that only the banner shows; fields: seed, send_conversation_routing_headers, use_dynamo_conv_aware_routing",
				"must-fix trajectory_path: no artifact names the file",
			},
		},
		{ // booleans, None, several levels, float seconds, and log lines that resemble a banner
			dir: "08-banner-values/c64",
			want: map[string]string{
				"benchmark.concurrencies": "[64, 1010]", "concurrencies": "[64, 1010]", "phase_timeout_seconds": "300.5",
				"reasoning_effort":                  "null",
				"send_conversation_routing_headers": "false", "use_dynamo_conv_aware_routing": "true", "seed": "7",
			},
			todos:  []string{"confirm : tool-call delays were disabled", "confirm : the old client sampled power"},
			silent: []string{"starts of the client"},
		},
		{ // phases with different settling times
			dir: "09-settle/c64", want: map[string]string{
				"settling_time_seconds": "60.0", "benchmark.concurrencies": "[64, 128]",
			},
			todos: []string{"confirm settling_time_seconds: phases had different settling times (60, 0 s)"},
		},
		{ // no output files
			dir: "09-settle/c128", want: map[string]string{"settling_time_seconds": "240.0"},
			todos: []string{"confirm settling_time_seconds: no output file shows", "note : agentperf: missing"},
		},
		{ // a dataset in two places, one in one place, a loop of links
			dir: "10-datasets/c64", opt: Options{DatasetRoots: []string{classDir + "/10-datasets/data"}},
			todos: []string{"must-fix trajectory_path: 2 files below the dataset roots are named traj.jsonl, with different " +
				"content: choose one"},
		},
		{ // anchors, merge keys, comments, a separator, YAML 1.1 scalars; duplicate keys, a second document
			dir: "11-engine-yaml/c64",
			want: map[string]string{
				prefillArgs + ".kv_cache_config.max_batch_size": "64", prefillArgs +
					".kv_cache_config.max_seq_len": "147456", prefillArgs + ".again.max_batch_size": "128",
				prefillArgs + ".enabled": "on", prefillArgs + ".time": "12:00:00", prefillArgs + ".mode": "0o14", prefillArgs +
					".rate": "1e-5", prefillArgs + ".fraction": "0.40",
				prefillArgs + ".nothing": "~", prefillArgs + ".path": "/scratch/eplb.yaml", decodeArgs +
					".max_batch_size": "32", decodeArgs + ".second": "-",
			},
			todos: []string{
				"note " + prefillArgs + ": ctx_config.yaml:6: anchors and merge keys are expanded", "ctx_config.yaml:9: on " +
					"is a bool in YAML 1.1", "ctx_config.yaml:10: 12:00:00 is a whole number",
				"ctx_config.yaml:11: 0o14 is text", "ctx_config.yaml:12: 1e-5 is text", "must-fix " + decodeArgs +
					": gen_config.yaml:3: key max_batch_size is on line 2 and again on line 3",
				"must-fix " + decodeArgs + ": gen_config.yaml:4: more than one document",
			},
			silent: []string{"ctx_config.yaml:13"},
		},
		{ // a tab, invalid UTF-8
			dir: "11-engine-yaml/c128", want: map[string]string{prefillArgs: "{}", decodeArgs: "{}"},
			todos: []string{
				"must-fix " + prefillArgs +
					": ctx_config.yaml can't be used: line 3: found character that cannot start any token", "must-fix " + decodeArgs +
					": gen_config.yaml can't be used",
			},
		},
		{ // servers without dynamo
			dir: "12-backend/c64", want: map[string]string{
				"model.path": "/scratch/models/m-fp8", prefillEnv + ".TRTLLM_ENABLE_PDL": `"1"`,
			},
			todos: []string{`must-fix backend.type: SERVER_BACKEND is "trtllm"`},
		},
		{dir: "14-existing/c64", silent: []string{"bug in the porter"}},
	} {
		t.Run(c.dir, func(t *testing.T) {
			c.run(t)
			if strings.HasPrefix(c.dir, "10-") {
				c.opt.PathRewrites = []rules.Rewrite{{Old: absolute(t, classDir) + "/", New: "/data/"}}
			}
			c.opt.WorkloadOut = "/scratch/out/workload.yaml"
			r := port(t, filepath.Join(classDir, c.dir), c.opt)
			for _, x := range r.Todos {
				for i := range x.Candidates {
					x.Candidates[i].Modified = time.Unix(1_700_000_000, 0) // that of the working copy otherwise
				}
			}
			name := "testdata/port/" + strings.ReplaceAll(c.dir, "/", "-")
			portable := func(text string) string { return strings.ReplaceAll(text, absolute(t, classDir)+"/", "/data/") }
			golden.Equal(t, name+".recipe.yaml", portable(recipeText(t, r)))
			golden.Equal(t, name+".workload.yaml", portable(workloadText(t, r)))
			golden.Equal(t, name+".provenance.txt", portable(r.ProvenanceText()))
			doc, err := r.ProvenanceJSON()
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, name+".provenance.json", portable(string(doc)))
		})
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// Class 13: the argument is a parent of runs, a file, a broken link or unreadable.
func TestNotARunDirectory(t *testing.T) {
	t.Parallel()
	parent := filepath.Join(classDir, "13-parent")
	var pe *ParentError
	for _, dir := range []string{parent, filepath.Join(classDir, "15-tree")} {
		if _, err := Port(t.Context(), dir, Options{}); !errors.As(err, &pe) || len(pe.Runs) < 2 ||
			!strings.Contains(err.Error(), "("+pe.Runs[0]) || problem.Of(err) != problem.HarnessRunNotFound {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for path, want := range map[string]string{
		parent + "/c64/job.log": "is a file; give the run directory", parent +
			"/gone": "broken symbolic link", parent + "/c64/agentperf": "is not a harness run directory", parent +
			"/no": "no such directory",
	} {
		if _, err := Port(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if os.Geteuid() == 0 {
		return // root reads everything
	}
	locked := t.TempDir()
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Port(t.Context(), locked, Options{}); err == nil ||
		!strings.Contains(err.Error(), "check its permissions") {
		t.Errorf("unreadable: %v", err)
	}
}

// Class 14: existing output files are not replaced.
func TestExistingOutput(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := os.CopyFS(out, os.DirFS(filepath.Join(classDir, "14-existing", "out"))); err != nil {
		t.Fatal(err)
	}
	recipe, workload := filepath.Join(out, "recipe.yaml"), filepath.Join(out, "workload.yaml")
	r := port(t, filepath.Join(classDir, "14-existing", "c64"), Options{WorkloadOut: workload})
	var exists *ExistsError
	if _, err := r.Write(recipe, workload, false); !errors.As(err, &exists) ||
		!slices.Equal(exists.Paths, []string{recipe}) {
		t.Errorf("existing recipe: %v", err)
	}
	if names, err := harness.ListDir(out, 10); err != nil || !slices.Equal(names, []string{"recipe.yaml"}) {
		t.Errorf("a refused write left %v, %v", names, err)
	}
	if n, err := r.Write(recipe, workload, true); n != 3 || err != nil {
		t.Errorf("by force: %d files, %v", n, err)
	}
	if n, err := r.Write(recipe, workload, false); n != 0 || err != nil {
		t.Errorf("the same again: %d files, %v", n, err)
	}
}
