package recipes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/recipes/secret"
)

const layout1Recipe = `name: ap-demo
model: {path: /m/my-model, container: /img/dyn.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4, prefill_nodes: 2, prefill_workers: 2, decode_nodes: 2, decode_workers: 1}
backend:
  type: trtllm
  decode_environment: {TRTLLM_ENABLE_PDL: "1"}
  trtllm_config:
    prefill: {tensor_parallel_size: 4, disable_overlap_scheduler: true}
    decode: {tensor_parallel_size: 8}
frontend: {type: dynamo, enable_multiple_frontends: false, args: {router-mode: kv, no-router-kv-events: true, x: false}}
dynamo: {install: false, request_plane: tcp, event_plane: zmq}
health_check: {max_attempts: 360, interval_seconds: 10}
benchmark:
  type: agentperf
  client_placement: last_decode
  concurrencies: "64x256"
  agentperf_client_dir: /ap/client
  agentperf_config: /ap/workload.yaml
extra_mount: ["/shared/ap:/ap"]
`

const layout2Recipe = `schema: 2
name: ap-demo
model: {path: /m/my-model, container: /img/dyn.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4}
engine: trtllm
roles:
  prefill: {nodes: 2, workers: 2, args: {tensor_parallel_size: 4, disable_overlap_scheduler: true}}
  decode: {nodes: 2, workers: 1, env: {TRTLLM_ENABLE_PDL: '1'}, args: {tensor_parallel_size: 8}}
frontend: {type: dynamo, enable_multiple_frontends: false, args: {router-mode: kv, no-router-kv-events: true, x: false}}
dynamo: {install: false, request_plane: tcp, event_plane: zmq}
health_check: {max_attempts: 360}
benchmark:
  type: agentperf
  placement: {node: last_decode}
  concurrencies: "64x256"
  agentperf_client_dir: /ap/client
  agentperf_config: /ap/workload.yaml
extra_mount:
  - /shared/ap:/ap
`

func parse(t *testing.T, text string) *Recipe {
	t.Helper()
	r, ds := ParseRecipe("r.yaml", []byte(text))
	if len(ds) > 0 {
		t.Fatalf("diagnostics: %v", ds)
	}
	return r
}

func TestLayoutsAreEquivalent(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"schema 1": layout1Recipe, "schema 2": layout2Recipe} {
		r := parse(t, text)
		if r.Name != "ap-demo" || r.Engine.Type != "trtllm" || r.Frontend.Type != "dynamo" || r.ServedModel() != "my-model" {
			t.Errorf("%s: head %+v", name, r)
		}
		if !slices.Equal(r.Benchmark.Levels, []int{64, 256}) || r.Benchmark.Placement != "last_decode" {
			t.Errorf("%s: benchmark %+v", name, r.Benchmark)
		}
		if r.Prefill.Workers != 2 || r.Prefill.Nodes != 2 || r.GPUsPerWorker(r.Prefill) != 4 ||
			r.GPUsPerWorker(r.Decode) != 8 || r.WorkerNodes() != 4 {
			t.Errorf("%s: roles %+v %+v", name, r.Prefill, r.Decode)
		}
		if v, ok := r.Decode.Env.Get("TRTLLM_ENABLE_PDL"); !ok || v != "1" {
			t.Errorf("%s: env %v", name, r.Decode.Env)
		}
		want := []Flag{{Name: "router-mode", Value: "kv"}, {Name: "no-router-kv-events", NoValue: true}}
		if !slices.Equal(r.Frontend.Args, want) {
			t.Errorf("%s: flags %+v, want %+v", name, r.Frontend.Args, want)
		}
		if r.HealthWindowSeconds() != 3600 {
			t.Errorf("%s: window %d", name, r.HealthWindowSeconds())
		}
	}
	c := DiffRecipes(parse(t, layout1Recipe), parse(t, layout2Recipe))
	if c.Identical != c.Total || len(c.Differences) != 0 {
		t.Errorf("diff of the two layouts: %+v", c)
	}
}

func TestDiffReportsPathsOfBothFiles(t *testing.T) {
	t.Parallel()
	b := strings.NewReplacer("workers: 2,", "workers: 1,", "tensor_parallel_size: 8",
		"tensor_parallel_size: 8, new_field: [1, 2]").Replace(layout2Recipe)
	c := DiffRecipes(parse(t, layout1Recipe), parse(t, b))
	if len(c.Differences) != 2 || c.Total-c.Identical != 2 {
		t.Fatalf("differences %+v", c)
	}
	d := c.Differences[0]
	if d.Path != "resources.prefill_workers" || d.A.Path != "resources.prefill_workers" ||
		d.B.Path != "roles.prefill.workers" || d.A.Value != "2" || d.B.Value != "1" || d.B.Line != 7 {
		t.Errorf("first difference %+v %+v %+v", d, d.A, d.B)
	}
	if d := c.Differences[1]; d.A != nil || d.B.Value != "[1, 2]" {
		t.Errorf("second difference %+v", d)
	}
}

// Secrets are hidden on both sides, settings with similar names are not.
func TestDiffHidesSecrets(t *testing.T) {
	t.Parallel()
	recipe := func(key, first string) *Recipe {
		return parse(t, strings.Replace(layout1Recipe, "\nbackend:", "\nenvironment: {WANDB_KEY: "+key+
			", HF_TOKEN: '"+first+"', PLAIN: ghp_"+key+", TLLM_DISAGG_GEN_PRIORITIZE_FIRST_TOKEN: \""+first+"\"}\nbackend:", 1))
	}
	c := DiffRecipes(recipe("sesame1", "1"), recipe("sesame2", "0"))
	shown := map[string]string{}
	for _, d := range c.Differences {
		shown[d.Path] = d.A.Value + " " + d.B.Value
	}
	const hidden = secret.Hidden + " " + secret.Hidden
	want := map[string]string{
		"environment.WANDB_KEY": hidden, "environment.PLAIN": hidden,
		"environment.TLLM_DISAGG_GEN_PRIORITIZE_FIRST_TOKEN": `"1" "0"`,
		"environment.HF_TOKEN":                               `"1" "0"`,
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDiagnosticPositions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, new string
		line           int
		path, message  string
	}{
		{
			"unknown key", "prefill_workers: 2", "prefil_workers: 2", 3, "resources.prefil_workers",
			`did you mean "prefill_workers"`,
		},
		{
			"env value is not a string", `TRTLLM_ENABLE_PDL: "1"`, `TRTLLM_ENABLE_PDL: 1`, 6,
			"backend.decode_environment.TRTLLM_ENABLE_PDL", "must be a string",
		},
		{"enum", "request_plane: tcp", "request_plane: udp", 11, "dynamo.request_plane", "nats, tcp, http"},
		{"bool", "install: false", "install: maybe", 11, "dynamo.install", "expected bool"},
		{
			"long value", "install: false", "install: " + strings.Repeat("é", 41), 11, "dynamo.install",
			`got string "` + strings.Repeat("é", 40) + `…"`,
		},
		{"null", "max_attempts: 360", "max_attempts: null", 12, "health_check.max_attempts", "must not be null"},
		{"range", "gpus_per_node: 4", "gpus_per_node: 0", 3, "resources.gpus_per_node", "≥ 1"},
		{"level", `"64x256"`, `"64,256"`, 16, "benchmark.concurrencies", "whole number"},
		{"bare level", `"64x256"`, `64`, 16, "benchmark.concurrencies", "expected a list"},
		{"empty levels", `"64x256"`, `[]`, 16, "benchmark.concurrencies", "no concurrency level"},
		{"missing", "precision: fp4", "stage_dir: null", 2, "model.precision", "required"},
		{
			"not a mapping", "dynamo: {install: false, request_plane: tcp, event_plane: zmq}", "dynamo: [1]", 11, "dynamo",
			"expected a mapping",
		},
		{"duplicate", "name: ap-demo", "name: a\nname: ap-demo", 2, "name", "first given on line 1"},
		{"schema", "name: ap-demo", "name: ap-demo\nschema: 3", 2, "schema", "unknown layout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(layout1Recipe, c.old) {
				t.Fatalf("%q is not in the recipe", c.old)
			}
			_, ds := ParseRecipe("r.yaml", []byte(strings.Replace(layout1Recipe, c.old, c.new, 1)))
			if len(ds) != 1 {
				t.Fatalf("want one finding, got %v", ds)
			}
			d := ds[0]
			if d.Line != c.line || d.Path != c.path || !strings.Contains(d.Message, c.message) || d.Severity != Error ||
				d.Column < 1 {
				t.Errorf("got %s (fix %q), want line %d path %s with %q", d, d.Fix, c.line, c.path, c.message)
			}
		})
	}
}

func TestParseRejectsHostileDocuments(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 10), ",") +
			"]\n"
	}
	for _, c := range []struct{ name, text, message string }{
		{"empty", "", "empty"},
		{"list", "- a\n- b\n", "not a mapping"},
		{"tab", "a:\n\tb: 1\n", "not valid YAML"},
		{"alias bomb", bomb, "aliases are expanded"},
		{"deep flow", "a: " + strings.Repeat("[", 100_000), "nested deeper"},
		{"deep block", "a:\n" + strings.Repeat("-", 100_000), ""},
		{"unknown alias", "a: *x\n", "not valid YAML"},
		{"too large", strings.Repeat("# comment\n", maxFileBytes/10+1), "too large"},
		{"very many values", "a: [" + strings.Repeat("1,", maxFileBytes/2-10) + "]", "more than 200000 values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, ds := ParseRecipe("r.yaml", []byte(c.text))
			if ds.Errors() == 0 || c.message != "" && !strings.Contains(ds[0].Message, c.message) {
				t.Errorf("got %v, want %q", ds, c.message)
			}
		})
	}
}

func FuzzParseRecipe(f *testing.F) {
	f.Add([]byte(layout1Recipe))
	f.Add([]byte(layout2Recipe))
	f.Add([]byte("schema: 2\nroles: {decode: {nodes: colocate}}\nservices: [{name: etcd, placement: {node: dedicated}}]"))
	f.Add([]byte("a: &a {b: 1}\nc: {<<: *a}\nbenchmark: {concurrency: 99999999999999999999}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, ds := ParseRecipe("f", data)
		if r == nil {
			if ds.Errors() == 0 {
				t.Error("neither a recipe nor an error")
			}
			return
		}
		if c := DiffRecipes(r, r); c.Identical != c.Total {
			t.Errorf("a recipe differs from itself: %+v", c)
		}
		r.ServedModel()
		for _, role := range []Role{r.Prefill, r.Decode, r.Agg} {
			if _, err := role.Text(); err != nil {
				t.Log(err)
			}
		}
	})
}

func TestClusterApply(t *testing.T) {
	t.Parallel()
	c, ds := ParseCluster("srtslurm.yaml",
		[]byte("default_account: perf\ndefault_partition: batch\nmodel_paths: {alias: /models/$X/real}\n"+
			"containers: {dyn: /img/dyn.sqsh}\ndefault_health_check: {max_attempts: 42}\n"))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	text := strings.NewReplacer("/m/my-model", "alias", "/img/dyn.sqsh", "dyn",
		"health_check: {max_attempts: 360, interval_seconds: 10}\n", "").Replace(layout1Recipe) + "slurm: {partition: mine}\n"
	r := parse(t, text)
	env := map[string]string{"X": "x", "SLURM_ACCOUNT": "other"}
	changes := c.Apply(r, func(k string) string { return env[k] })
	if r.Slurm.Account != "perf" || r.Slurm.Partition != "mine" || r.Slurm.TimeLimit != "01:00:00" ||
		r.ModelPath != "/models/x/real" || r.Container != "/img/dyn.sqsh" || r.HealthAttempts != 42 {
		t.Errorf("recipe after the cluster file: %+v", r)
	}
	var fields []string
	for _, ch := range changes {
		fields = append(fields, ch.Field)
	}
	slices.Sort(fields)
	if want := []string{
		"health_check.max_attempts", "model.container", "model.path", "slurm.account", "slurm.time_limit",
	}; !slices.Equal(fields, want) {
		t.Errorf("changes %v, want %v", fields, want)
	}
	if _, ds := ParseCluster("srtslurm.yaml", []byte("default_container: x\n")); ds.Errors() != 1 {
		t.Errorf("an unknown key in the cluster file must be an error, got %v", ds)
	}
}
