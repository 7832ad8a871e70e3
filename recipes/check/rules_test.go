package check

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

// ruleCase is one change of the valid files that one rule reports.
type ruleCase struct {
	rule              string
	v2                bool   // of recipeLayout2 instead of recipe
	old, new          string // in the recipe
	wold, wnew        string // in the workload
	cluster           string
	sev               recipes.Severity
	path, want, value string // want: part of the message; value: of the edit; "-": unset; empty: no edit
}

func ruleCases() []ruleCase {
	e, w, n := recipes.Error, recipes.Warning, recipes.Note
	more := func(text string) (string, string) {
		return "dynamo: {install: false}\n", "dynamo: {install: false}\n" + text + "\n"
	}
	add := func(c ruleCase, text string) ruleCase { c.old, c.new = more(text); return c }
	return []ruleCase{
		add(ruleCase{
			rule: "string-map", sev: e, path: "environment.FOO", want: "must be a string", value: `"1"`,
		}, "environment: {FOO: 1}"),
		{
			rule: "env-override", old: "backend:\n", new: "environment: {A: x}\nbackend:\n  decode_environment: {A: y}\n",
			sev: w, path: "environment.A", want: "applied last",
		},
		{
			rule: "env-placeholder", old: "backend:\n", new: "backend:\n  prefill_environment: {A: 'n{node_id}'}\n", sev: w,
			path: "backend.prefill_environment.A", want: "are not replaced",
		},
		{
			rule: "sweep-text", old: "    decode: {tensor_parallel_size: 32}\n",
			new: "    decode: {tensor_parallel_size: 32, max_batch_size: '{b}'}\nsweep: {b: [8]}\n", sev: n,
			path: "backend.trtllm_config.decode.max_batch_size", want: `as srtctl inserts them: "8"`,
		},
		add(ruleCase{
			rule: "srun-options", sev: w, path: "srun_options", want: "client's step only",
		}, "srun_options: {mpi: pmix}"),
		{
			rule: "levels", old: "concurrency: 1010", new: "concurrencies: 64", sev: e, path: "benchmark.concurrencies",
			want: "expected a list", value: "[64]",
		},
		{
			rule: "levels", old: "concurrency: 1010", new: `concurrencies: "64,128"`, sev: e, path: "benchmark.concurrencies",
			want: "whole number", value: "[64, 128]",
		},
		{
			rule: "agentperf-fields", old: "  agentperf_client_dir: /ap/client\n", sev: e,
			path: "benchmark.agentperf_client_dir", want: "required by agentperf",
		},
		{
			rule: "container-path", old: "/ap/w.yaml", new: "/other/w.yaml", sev: w, path: "benchmark.agentperf_config",
			want: "no mount",
		},
		{
			rule: "container-path", old: "/shared/ap:/ap:ro", new: "/here/gone:/ap", sev: w, path: "benchmark.agentperf_config",
			want: "/here/gone/w.yaml on the host",
		},
		{
			rule: "placeholder-url", wold: "http://placeholder:8000/v1", wnew: "placeholder", sev: e, path: "base_url",
			want: "not a URL",
		},
		{
			rule: "phase-timeout", wold: "2400.0", wnew: "1548", sev: e, path: "phase_timeout_seconds", want: "short by 1 s",
			value: "1549",
		},
		{
			rule: "assignments", wold: "seed: 1\n", wnew: "user_assignments_path: /ap/few.json\n", sev: e,
			path: "user_assignments_path", want: "assignments for 3 users, but the highest concurrency level is 1010",
		},
		{
			rule: "localhost", old: "  concurrency: 1010\n",
			new: "  concurrency: 1010\n  client_placement: last_decode\n" +
				"  env: {AGENTPERF_EXTRA_ARGS: '--base-url http://localhost:8000/v1'}\n",
			sev: w, path: "benchmark.env.AGENTPERF_EXTRA_ARGS", want: "another node",
		},
		{
			rule: "multiple-frontends", old: "enable_multiple_frontends: false", new: "num_additional_frontends: 2", sev: w,
			path: "frontend.enable_multiple_frontends", want: "45 MB", value: "false",
		},
		{
			rule: "health-window", old: "max_attempts: 300", new: "max_attempts: 100", sev: w, path: "health_check.max_attempts",
			want: "1000 s", value: "300",
		},
		{
			rule: "health-window", old: "max_attempts: 300", new: "interval_seconds: 10",
			cluster: "default_health_check: {max_attempts: 400}", sev: w, path: "health_check.interval_seconds",
			want: "400 attempts are ignored",
		},
		add(ruleCase{
			rule: "time-limit", sev: w, path: "slurm.time_limit", want: "may take 6300 s", value: `"01:45:00"`,
		}, "slurm: {time_limit: '01:30:00'}"),
		{
			rule: "dynamo-install", old: "dynamo: {install: false}", new: "dynamo: {request_plane: tcp}", sev: w,
			path: "dynamo.install", want: "internet access", value: "false",
		},
		{
			rule: "topology", old: "  decode_workers: 1\n", new: "  decode_workers: 1\n  agg_nodes: 1\n  agg_workers: 1\n",
			sev: e, path: "resources", want: "can't be combined",
		},
		{
			rule: "colocate", old: "decode_nodes: 8", new: "decode_nodes: 0", sev: e, path: "resources.decode_nodes",
			want: "decode worker 0 needs 4 GPUs, but the recipe's 5 worker nodes of 4 GPUs are used up",
		},
		{
			rule: "gpus-per-worker", old: "tensor_parallel_size: 32", new: "tensor_parallel_size: 16", sev: e,
			path: "backend.trtllm_config.decode", want: "32 GPUs",
		},
		{
			rule: "gpus-per-worker", old: "prefill_workers: 5", new: "prefill_workers: 9", sev: w,
			path: "resources.prefill_nodes", want: "do not divide",
		},
		{
			rule: "segment", old: "prefill_nodes: 5\n  prefill_workers: 5", new: "prefill_nodes: 12\n  prefill_workers: 12",
			cluster: "cluster: x", sev: w, path: "resources", want: "--segment=20",
		},
		{
			rule: "cluster-file", cluster: "use_het_jobs: true", sev: e, path: "resources.het_jobs",
			want: "rejects every trtllm recipe", value: "false",
		},
		{
			rule: "cluster-gpus", old: "  gpus_per_node: 4\n", cluster: "gpus_per_node: 4", sev: w,
			path: "resources.gpus_per_node", want: "uses 4", value: "4",
		},
		{rule: "not-here", old: "/m/model", new: "/here/gone", sev: w, path: "model.path", want: "not exist on this machine"},
		add(ruleCase{
			rule: "job-options", sev: e, path: "sbatch_directives.array", want: "one job with one log",
		}, "sbatch_directives: {array: '1-4'}"),
		{
			rule: "mounts", old: "/shared/ap:/ap:ro", new: `/shared/ap:/ap", "/x:/configs`, sev: e, path: "extra_mount",
			want: "hides the built-in",
		},
		{
			rule: "mount-order", old: "/shared/ap:/ap:ro", new: `/shared/ap:/ap", "/shared/ap:/other`, sev: w,
			path: "extra_mount", want: "the later wins",
		},
		add(ruleCase{
			rule: "dedicated-infra", sev: n, path: "infra.etcd_nats_dedicated_node", want: "needs 14 nodes",
		}, "infra: {etcd_nats_dedicated_node: true}"),
		{
			rule: "nats-payload", old: "install: false", new: "install: false, request_plane: nats", sev: w,
			path: "dynamo.request_plane", want: "at most 1 MB", value: "24",
		},
		add(ruleCase{
			rule: "observability", sev: w, path: "observability.enabled", want: "affect the measurement", value: "false",
		}, "observability: {enabled: true}"),
		add(ruleCase{rule: "telemetry", sev: w, path: "telemetry", want: "only with sa-bench"}, "telemetry: {enabled: true}"),
		add(ruleCase{
			rule: "not-applied", sev: n, path: "identity", want: "identity (it is not verified)",
		}, "identity: {frameworks: {x: '1'}}"),
		add(ruleCase{
			rule: "not-applied", sev: w, path: "setup_script", want: "figures may differ from those of srtctl: setup_script (",
		}, "setup_script: x.sh"),
		{
			rule: "placement", old: "  type: dynamo\n",
			new: "  type: dynamo\n  dedicated_node: true\n  orchestrator_placement: last_decode\n",
			sev: e, path: "frontend.dedicated_node", want: "requires frontend.orchestrator_placement head",
		},
		{
			rule: "dynamo-source", old: "install: false", new: "install: false, hash: abc, wheel: '1.0'", sev: e,
			path: "dynamo.wheel", want: "dynamo.hash and dynamo.wheel",
		},
		{
			rule: "no-frontend", v2: true, old: "frontend: {", new: "frontend: {type: none, ", sev: e,
			path: "roles.prefill.workers", want: "there are no prefill workers",
		},
		{
			rule: "role-engine", v2: true, old: "prefill: {", new: "prefill: {engine: vllm, ", sev: e,
			path: "roles.prefill.engine.type", want: "the role decode has no engine of its own",
		},
		{
			rule: "sidecar", v2: true, old: "install: false", new: "install: false, sidecar: true", sev: e,
			path: "dynamo.sidecar", want: "aggregated workers only",
		},
		{
			rule: "worker-selection", v2: true, old: "frontend: {",
			new: "frontend: {worker_selection: {a: 1}, env: {DYN_ROUTER_POLICY_CONFIG: x}, ", sev: e,
			path: "frontend.worker_selection", want: "given beside the variable",
		},
		{
			rule: "benchmark-fields", v2: true, old: "  concurrency: 1010\n",
			new: "  concurrency: 1010\n  num_shots: 5\n", sev: e, path: "benchmark.num_shots",
			want: "agentperf does not read", value: "-",
		},
		add(ruleCase{
			rule: "nsys-window", v2: true, sev: e, path: "observability.enabled", want: "warmup of agentperf",
		}, "observability: {enabled: true}"),
		add(ruleCase{
			rule: "services", v2: true, sev: e, path: "services[0].command", want: "required by a generic service",
		}, "services: [{name: x}]"),
		add(ruleCase{
			rule: "profiling", sev: e, path: "profiling.decode", want: "required by nsys",
		}, "profiling: {type: nsys, prefill: {start_step: 1}}"),
		{
			rule: "frontend-engine", old: "type: dynamo\n  enable_multiple_frontends: false",
			new: "type: trtllm_serve\n  enable_multiple_frontends: true", sev: e,
			path: "frontend.enable_multiple_frontends", want: "single frontend",
		},
		{
			rule: "engine-fields", old: "  type: trtllm\n", new: "  type: trtllm\n  numa_memory_bind: local\n", sev: e,
			path: "backend.numa_memory_bind", want: "needs numa_cpu_bind",
		},
		{
			rule: "gpu-type-case", old: "gb300", new: "GB300", sev: w, path: "resources.gpu_type", want: "not lower case",
			value: "gb300",
		},
		{
			rule: "parser-flag", old: "router-mode: kv", new: "dyn-tool-call-parser: x", sev: e,
			path: "frontend.args.dyn-tool-call-parser", want: "refuses to start",
		},
		{
			rule: "hf-home", old: "/m/model", new: "'hf:org/model'", sev: n, path: "model.path",
			want: "prefill workers have no HF_HOME",
		},
		add(ruleCase{
			rule: "no-effect", sev: n, path: "output.log_dir", want: "no effect", value: "-",
		}, "output: {log_dir: x, }"),
		add(ruleCase{rule: "setup-script", sev: w, path: "setup_script", want: "once per GPU"}, "setup_script: x.sh"),
		{
			rule: "results-dir", old: "  concurrency: 1010\n",
			new: "  concurrency: 1010\n  env: {AGENTPERF_EXTRA_ARGS: '--results-dir /x'}\n", sev: w,
			path: "benchmark.env.AGENTPERF_EXTRA_ARGS", want: "--results-dir",
		},
		{
			rule: "model-symlink", old: "/m/model", new: "/here/link", sev: w, path: "model.path", want: "the model as target",
			value: `"/here/target"`,
		},
		add(ruleCase{
			rule: "yaml-1.1", sev: e, path: "slurm.time_limit", want: "int 43200", value: `"12:00:00"`,
		}, "slurm: {time_limit: 12:00:00}"),
		add(ruleCase{
			rule: "yaml-1.1", sev: e, path: "environment.A", want: "bool true", value: `"on"`,
		}, "environment: {A: on}"),
		add(ruleCase{
			rule: "yaml-1.1", sev: e, path: "environment.A", want: "int 750", value: `"12:30"`,
		}, "environment: {A: 12:30}"),
		{
			rule: "yaml-1.1", old: "{max_attempts: 300}", new: "{max_attempts: 0o454}", sev: e,
			path: "health_check.max_attempts", want: "read as string", value: "300",
		},
		{
			rule: "yaml-1.1", old: "{tensor_parallel_size: 4}", new: "{tensor_parallel_size: 4, x: [1e-5]}", sev: w,
			path: "backend.trtllm_config.prefill.x[0]", want: "read as string", value: "1.0e-05",
		},
		{
			rule: "yaml-1.1", old: "{tensor_parallel_size: 4}", new: "{tensor_parallel_size: 4, x: off}", sev: w,
			path: "backend.trtllm_config.prefill.x", want: "bool false",
		},
		{
			rule: "yaml-1.1", wold: "2400.0", wnew: "2.4e3", sev: w, path: "phase_timeout_seconds", want: "read as string",
			value: "2400",
		},
		{
			rule: "duplicate-key", old: "name: ap\n", new: "name: a\nname: ap\n", sev: e, path: "name",
			want: "first given on line 1",
		},
		{
			rule: "unknown-tag", old: "name: ap\n", new: "name: !!python/object/apply:os.getcwd []\n", sev: e, path: "name",
			want: "the tag \"!!python/object/apply:os.getcwd\" is not one of YAML itself",
		},
		{
			rule: "unknown-field", old: "prefill_workers", new: "prefil_workers", sev: e, path: "resources.prefil_workers",
			want: `"prefill_workers"`, value: "prefill_workers",
		},
		{rule: "type", old: "install: false", new: "install: maybe", sev: e, path: "dynamo.install", want: "expected bool"},
		{
			rule: "type", old: "precision: fp4", new: "precision: 4", sev: e, path: "model.precision", want: "expected string",
			value: `"4"`,
		},
		{
			rule: "coerced", old: "max_attempts: 300", new: "max_attempts: '300'", sev: w, path: "health_check.max_attempts",
			want: "is expected", value: "300",
		},
		{
			rule: "coerced", old: "max_attempts: 300", new: "max_attempts: 300.7", sev: w, path: "health_check.max_attempts",
			want: "truncates it to 300", value: "300",
		},
		{
			rule: "coerced", old: "install: false", new: "install: 'no'", sev: w, path: "dynamo.install",
			want: "read as false", value: "false",
		},
		{
			rule: "foreign", old: "type: agentperf", new: "type: sa-bench\n  own_key: 0.8", sev: n,
			path: "benchmark.own_key", want: "kept unchanged",
		},
		{
			rule: "not-run-here", old: "type: agentperf", new: "type: sa-bench", sev: n, path: "benchmark.type",
			want: "can be read but not run here: benchmark sa-bench",
		},
		{rule: "todo", old: "/m/model", new: "/TODO/model", sev: e, path: "model.path", want: "unresolved placeholder"},
	}
}

// fakeHost is a machine with the directory /here, a symlink in it, and the file few.json.
func fakeHost() Host {
	return Host{
		Resolve: func(p string) (string, error) {
			switch p {
			case "/here", "/here/target":
				return p, nil
			case "/here/link":
				return "/here/target", nil
			}
			return "", fs.ErrNotExist
		},
		Open: func(p string) (io.ReadCloser, error) {
			if p != "/shared/ap/few.json" {
				return nil, fs.ErrNotExist
			}
			text := `{"metadata": {"n_users_total": 20000}, "assignments": [["a"], ["b"], ["c"]]}`
			return io.NopCloser(strings.NewReader(text)), nil
		},
	}
}

func (c ruleCase) base() string {
	if c.v2 {
		return recipeLayout2
	}
	return recipe
}

func (c ruleCase) run(t *testing.T, base string) recipes.Diagnostics {
	t.Helper()
	rtext, wtext := base, workload+"seed: 1\n"
	if c.old != "" && !strings.Contains(rtext, c.old) || c.wold != "" && !strings.Contains(wtext, c.wold) {
		t.Fatalf("%q or %q is not in the files", c.old, c.wold)
	}
	if c.old != "" {
		rtext = strings.Replace(rtext, c.old, c.new, 1)
	}
	if c.wold != "" {
		wtext = strings.Replace(wtext, c.wold, c.wnew, 1)
	}
	r, found := recipes.ParseRecipe("r.yaml", []byte(rtext))
	w, more := recipes.ParseWorkload("w.yaml", []byte(wtext))
	found = append(found, more...)
	f := Files{Recipe: r, Workload: w}
	if c.cluster != "" {
		f.Cluster, more = recipes.ParseCluster("srtslurm.yaml", []byte(c.cluster))
		found = append(found, more...)
		f.Cluster.Apply(r, func(string) string { return "" })
	}
	return append(found, Run(f, fakeHost()).Diagnostics...)
}

func TestEachRule(t *testing.T) {
	t.Parallel()
	for i, c := range ruleCases() {
		t.Run(fmt.Sprintf("%d %s", i, c.rule), func(t *testing.T) {
			t.Parallel()
			found := c.run(t, c.base())
			at := slices.IndexFunc(found, func(d recipes.Diagnostic) bool {
				return d.Rule == c.rule && d.Path == c.path && strings.Contains(d.Message, c.want)
			})
			if at < 0 {
				t.Fatalf("%s at %s with %q is not among %v", c.rule, c.path, c.want, found)
			}
			d := found[at]
			if d.Severity != c.sev || d.Line < 1 || d.Column < 1 {
				t.Errorf("got %s, want severity %s and a place", d, c.sev)
			}
			switch {
			case c.value == "" && d.Edit != nil:
				t.Errorf("unexpected edit %+v", d.Edit)
			case c.value == "-" && (d.Edit == nil || d.Edit.Op != recipes.OpUnset),
				c.value != "" && c.value != "-" && (d.Edit == nil || d.Edit.Value != c.value):
				t.Errorf("edit %+v, want %s", d.Edit, c.value)
			}
		})
	}
}

func TestNoPreflight(t *testing.T) {
	t.Parallel()
	c := ruleCase{old: "/m/model", new: "/here/gone", cluster: "preflight: false"}
	for _, d := range c.run(t, recipe) {
		if d.Rule == "not-here" {
			t.Errorf("got %s", d)
		}
	}
}

func TestCountUsers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
		err  string
	}{
		{`{"assignments": [["a", "b"], ["c"]]}`, 2, ""},
		{`{"metadata": {"x": [{}]}, "assignments": {"0": ["a"], "1": [], "3": []}, "more": {`, 2, ""},
		{"\ufeff" + `{"assignments": [["a", "b"], ["c"]]}`, 2, ""},
		{"\ufeff", 0, "file is empty"},
		{"\ufeff\ufeff{}", 0, "invalid character"},
		{`{"assignments": []}`, 0, ""},
		{`{"metadata": {}}`, 0, "is missing"},
		{`[]`, 0, "not a JSON object"},
		{`{"assignments": 5}`, 0, "neither"},
		{`{"assignments": {"x": 1}}`, 0, "not a user number"},
		{`{"assignments": [[`, 0, "unexpected EOF"},
		{`{"assignments":`, 0, "unexpected EOF"},
		{"", 0, "file is empty"},
		{" \n", 0, "file is empty"},
	} {
		got, err := countUsers(strings.NewReader(c.text))
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %d, %v; want %d with error %q", c.text, got, err, c.want, c.err)
		}
	}
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	rep := run(t, strings.Replace(recipe, "dynamo:", "slurm: {time_limit: '02:00:00'}\ndynamo:", 1), workload)
	want := "at most 1h45m: 50m startup, 10m client build, level 1010 25m49s to 45m; 13 nodes, 22.8 " +
		"node-hours; within the time limit of 2h"
	if rep.Estimate == nil || rep.Estimate.Summary() != want {
		t.Errorf("got  %+v\nwant %s", rep.Estimate, want)
	}
	if rep := run(t, recipe, strings.Replace(workload, "2400.0", "x", 1)); rep.Estimate != nil {
		t.Errorf("an estimate from an invalid workload: %+v", rep.Estimate)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for in, want := range map[float64]string{
		0: "0s", 59.2: "1m", 1050: "17m30s", 600: "10m", 3600: "1h", 3610: "1h0m10s", 36000: "10h", 90000: "25h",
	} {
		if got := duration(in); got != want {
			t.Errorf("%v s: got %s, want %s", in, got, want)
		}
	}
}

// FuzzCheck checks that no files cause a panic or an empty finding.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(recipe), []byte(workload))
	f.Add([]byte(recipeLayout2), []byte("concurrencies: [1]\nphase_timeout_seconds: 1e30\nuser_spawn_rate: 1e-9"))
	f.Add([]byte("schema: 2\nroles: {decode: {nodes: colocate, workers: 9999999, gpus: 99999999}}\n"+
		"benchmark: {type: agentperf, concurrencies: 1x2}"), []byte("{}"))
	for _, name := range upstreamNames() {
		data, err := os.ReadFile(filepath.Join("testdata", "upstream", name+".yaml"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte(workload))
	}
	f.Fuzz(func(t *testing.T, r, w []byte) {
		rec, found := recipes.ParseRecipe("r", r)
		wl, _ := recipes.ParseWorkload("w", w)
		rep := Run(Files{Recipe: rec, Workload: wl}, fakeHost())
		for _, d := range append(found, rep.Diagnostics...) {
			if d.Message == "" || d.Severity == "" {
				t.Errorf("empty finding: %+v", d)
			}
		}
	})
}

func BenchmarkCheck2000Lines(b *testing.B) {
	var text strings.Builder
	text.WriteString(strings.Split(recipeLayout2, "extra_mount")[0] + "environment:\n")
	for i := range 1980 {
		fmt.Fprintf(&text, "  VARIABLE_%d: \"value %d\" # what it is for\n", i, i)
	}
	r, w := []byte(text.String()), []byte(workload)
	for b.Loop() {
		rec, _ := recipes.ParseRecipe("r.yaml", r)
		wl, _ := recipes.ParseWorkload("w.yaml", w)
		Run(Files{Recipe: rec, Workload: wl}, Host{})
	}
}
