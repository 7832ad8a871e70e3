package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

const recipe = `name: ap
model: {path: /m/model, container: /img/x.sqsh, precision: fp4}
resources:
  gpu_type: gb300
  gpus_per_node: 4
  prefill_nodes: 5
  prefill_workers: 5
  decode_nodes: 8
  decode_workers: 1
backend:
  type: trtllm
  trtllm_config:
    prefill: {tensor_parallel_size: 4}
    decode: {tensor_parallel_size: 32}
frontend:
  type: dynamo
  enable_multiple_frontends: false
  args: {router-mode: kv}
dynamo: {install: false}
health_check: {max_attempts: 300}
benchmark:
  type: agentperf
  concurrency: 1010
  agentperf_client_dir: /ap/client
  agentperf_config: /ap/w.yaml
extra_mount: ["/shared/ap:/ap:ro"]
`

const workload = `base_url: http://placeholder:8000/v1
model: placeholder
concurrencies: [8]
phase_timeout_seconds: 2400.0
settling_time_seconds: 240.0
trajectory_path: /ap/t.jsonl
user_spawn_rate: 1.0
min_measurement_seconds: 300.0
`

func run(t *testing.T, r, w string) Report {
	t.Helper()
	rec, ds := recipes.ParseRecipe("r.yaml", []byte(r))
	if rec == nil {
		t.Fatal(ds)
	}
	wl, ws := recipes.ParseWorkload("w.yaml", []byte(w))
	if wl == nil {
		t.Fatal(ws)
	}
	return Run(Files{Recipe: rec, Workload: wl}, Host{})
}

func TestValidFilesHaveNoFindings(t *testing.T) {
	t.Parallel()
	rep := run(t, recipe, workload)
	if len(rep.Diagnostics) != 0 || len(rep.Timeouts) != 1 || !rep.Timeouts[0].OK || rep.Timeouts[0].Level != 1010 {
		t.Errorf("got %+v", rep)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, new string
		sev            recipes.Severity
		path, want     string
		line           int
	}{
		{
			"workers do not divide", "prefill_workers: 5", "prefill_workers: 9", recipes.Warning, "resources.prefill_nodes",
			"do not divide evenly among 9 workers: each gets 2", 6,
		},
		{
			"TP differs from GPUs per worker", "{tensor_parallel_size: 32}", "{tensor_parallel_size: 16}", recipes.Error,
			"backend.trtllm_config.decode", "16", 14,
		},
		{"no decode", "  decode_nodes: 8\n  decode_workers: 1\n", "", recipes.Error, "resources", "only one of", 3},
		{
			"agg beside disagg", "  decode_workers: 1\n", "  decode_workers: 1\n  agg_nodes: 1\n  agg_workers: 1\n",
			recipes.Error, "resources", "can't be combined", 3,
		},
		{"gpu type case", "gpu_type: gb300", "gpu_type: GB300", recipes.Warning, "resources.gpu_type", "not lower case", 4},
		{
			"parser flag", "{router-mode: kv}", "{dyn-tool-call-parser: x}", recipes.Error, "frontend.args.dyn-tool-call-parser",
			"refuses to start", 18,
		},
		{
			"several frontends", "enable_multiple_frontends: false", "enable_multiple_frontends: true", recipes.Warning,
			"frontend.enable_multiple_frontends", "45 MB", 17,
		},
		{"dynamo install", "install: false", "install: true", recipes.Warning, "dynamo.install", "internet access", 19},
		{"window", "max_attempts: 300", "max_attempts: 100", recipes.Warning, "health_check.max_attempts", "1000 s", 20},
		{
			"no client dir", "  agentperf_client_dir: /ap/client\n", "", recipes.Error, "benchmark.agentperf_client_dir",
			"required by agentperf", 21,
		},
		{"relative path", "/ap/client", "ap/client", recipes.Error, "benchmark.agentperf_client_dir", "not an absolute", 24},
		{"not mounted", "/ap/w.yaml", "/elsewhere/w.yaml", recipes.Warning, "benchmark.agentperf_config", "no mount", 25},
		{"no level", "  concurrency: 1010\n", "", recipes.Error, "benchmark.concurrencies", "no concurrency level", 21},
		{"mount without colon", "/shared/ap:/ap:ro", "/shared:/ap\", \"x", recipes.Error, "extra_mount[1]", "no colon", 26},
		{
			"mount hides configs", "/shared/ap:/ap:ro", "/shared/ap:/ap\", \"/x:/configs", recipes.Error, "extra_mount",
			"/configs", 26,
		},
		{"placeholder", "/m/model", "/TODO/model", recipes.Error, "model.path", "unresolved placeholder", 2},
		{"other benchmark", "type: agentperf", "type: sa-bench", recipes.Note, "benchmark.type", "but not run", 22},
		{
			"short limit", "dynamo:", "slurm: {time_limit: '01:00:00'}\ndynamo:", recipes.Warning, "slurm.time_limit", "6300 s",
			19,
		},
		{
			"observability", "dynamo:", "observability: {enabled: true}\ndynamo:", recipes.Warning, "observability.enabled",
			"affect the measurement", 19,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(recipe, c.old) {
				t.Fatalf("%q is not in the recipe", c.old)
			}
			rep := run(t, strings.Replace(recipe, c.old, c.new, 1), workload)
			if len(rep.Diagnostics) != 1 {
				t.Fatalf("want one finding, got %v", rep.Diagnostics)
			}
			d := rep.Diagnostics[0]
			if d.Severity != c.sev || d.Path != c.path || !strings.Contains(d.Message, c.want) || d.Line != c.line {
				t.Errorf("got %s, want %s at %s line %d with %q", d, c.sev, c.path, c.line, c.want)
			}
		})
	}
}

// TestInvalidLevels checks that invalid levels of the recipe are reported once and not
// replaced by those of the workload.
func TestInvalidLevels(t *testing.T) {
	t.Parallel()
	for _, levels := range []string{
		"concurrency: abc", "concurrency: 99999999999999999999999", "concurrencies: []",
		"concurrencies: [8]\n  concurrency: abc",
	} {
		text := strings.Replace(recipe, "concurrency: 1010", levels, 1)
		_, found := recipes.ParseRecipe("r.yaml", []byte(text))
		if len(found) != 1 {
			t.Errorf("%s: %v", levels, found)
		}
		if rep := run(t, text, workload); len(rep.Timeouts) > 0 ||
			slices.ContainsFunc(rep.Diagnostics,
				func(d recipes.Diagnostic) bool { return strings.Contains(d.Message, "no concurrency level") }) {
			t.Errorf("%s: %v, timeouts %v", levels, rep.Diagnostics, rep.Timeouts)
		}
	}
}

func TestTimeoutFindingHasLineAndFixes(t *testing.T) {
	t.Parallel()
	rep := run(t, recipe, strings.Replace(workload, "2400.0", "1548.0", 1))
	if rep.OK() || len(rep.Diagnostics) != 1 {
		t.Fatalf("got %+v", rep)
	}
	d := rep.Diagnostics[0]
	want := "any one of: phase_timeout_seconds ≥ 1549; user_spawn_rate ≥ 1.001; settling_time_seconds ≤ 239; " +
		"min_measurement_seconds ≤ 299; concurrency ≤ 1009"
	if d.File != "w.yaml" || d.Line != 4 || d.Fix != want || !strings.Contains(d.Message, "short by 1 s") {
		t.Errorf("got %s\nfix %s", d, d.Fix)
	}
	if rep = run(t, recipe, strings.Replace(workload, "2400.0", "1549", 1)); !rep.OK() {
		t.Errorf("a timeout of exactly the needed time: %+v", rep)
	}
}

func TestDefaultValuesAreReported(t *testing.T) {
	t.Parallel()
	rep := run(t, recipe,
		strings.NewReplacer("user_spawn_rate: 1.0\n", "", "min_measurement_seconds: 300.0\n", "").Replace(workload))
	if len(rep.Diagnostics) != 1 || rep.Diagnostics[0].Severity != recipes.Note ||
		!strings.Contains(rep.Diagnostics[0].Message, "user_spawn_rate 1.0, min_measurement_seconds 300.0") {
		t.Errorf("got %v", rep.Diagnostics)
	}
	if rep.Timeouts[0].Slack != 851 || len(rep.Timeouts[0].Assumed) != 2 {
		t.Errorf("got %+v", rep.Timeouts[0])
	}
}

func TestOnlyTodos(t *testing.T) {
	t.Parallel()
	rep := run(t, recipe, strings.Replace(workload, "/ap/t.jsonl", "/TODO/t.jsonl", 1))
	if rep.OK() || !rep.OnlyTodos() || rep.Todos != 1 {
		t.Errorf("got %+v", rep)
	}
}

func TestParseTimeLimit(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{
		"90": 5400, "01:30": 90, "02:00:00": 7200, "1-00": 86400, "1-02:30": 95400, "1-00:00:01": 86401,
	} {
		if got, ok := ParseTimeLimit(in); !ok || got != want {
			t.Errorf("ParseTimeLimit(%q) = %d, %v; want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "x", "1:2:3:4", "-5", "1-", "1-2:3:4:5", "99999999999:00"} {
		if got, ok := ParseTimeLimit(in); ok {
			t.Errorf("ParseTimeLimit(%q) = %d, want none", in, got)
		}
	}
}

// Only prompts that may not fit into a NATS message are reported.
func TestPayloadOfPrompts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		benchmark, payload string
		want               bool
	}{
		{"type: agentperf", "", true},
		{"type: agentperf", "infra: {nats_max_payload_mb: 8}\n", true},
		{"type: agentperf", "infra: {nats_max_payload_mb: 24}\n", false},
		{"type: sa-bench\n  isl: 8192", "", false},
		{"type: sa-bench\n  isl: 131072", "", true},
		{"type: sa-bench\n  isl: 131072", "infra: {nats_max_payload_mb: 2}\n", false},
		{"type: gsm8k", "", false},
	} {
		text := strings.NewReplacer("type: agentperf", c.benchmark, "install: false", "install: false, request_plane: nats").
			Replace(recipe) + c.payload
		rep := run(t, text, workload)
		got := slices.ContainsFunc(rep.Diagnostics, func(d recipes.Diagnostic) bool { return d.Rule == "nats-payload" })
		if got != c.want {
			t.Errorf("%s, %s: %v", c.benchmark, c.payload, rep.Diagnostics)
		}
	}
}
