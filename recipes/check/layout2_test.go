package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

// recipeLayout2 is recipe in layout 2.
const recipeLayout2 = `schema: 2
name: ap
model: {path: /m/model, container: /img/x.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4}
engine: {type: trtllm}
roles:
  prefill: {nodes: 5, workers: 5, args: {tensor_parallel_size: 4}}
  decode: {nodes: 8, workers: 1, args: {tensor_parallel_size: 32}}
frontend: {enable_multiple_frontends: false}
dynamo: {install: false}
health_check: {max_attempts: 300}
benchmark:
  type: agentperf
  concurrency: 1010
  agentperf_client_dir: /ap/client
  agentperf_config: /ap/w.yaml
extra_mount: ["/shared/ap:/ap:ro"]
`

func TestLayout2(t *testing.T) {
	t.Parallel()
	if ds := (ruleCase{}).run(t, recipeLayout2); len(ds) != 0 {
		t.Fatalf("the valid recipe: %v", ds)
	}
	for _, c := range []ruleCase{
		{old: "gpu_type: gb300", new: "gpu_type: GB300", path: "resources.gpu_type", want: "lower case", value: "gb300"},
		{
			old: "frontend: {enable_multiple_frontends: false}\n", path: "frontend.enable_multiple_frontends", want: "45 MB",
			value: "false",
		},
		{old: "nodes: 8", new: "nodes: 0", path: "roles.decode.nodes", want: "colocate", value: "colocate"},
		{
			old: "resources: {", new: "resources: {prefill_nodes: 5, ", path: "resources.prefill_nodes",
			want: "a field of layout 1; in layout 2 it is roles.prefill.nodes",
		},
		{
			old: "engine: {type: trtllm}", new: "backend: {type: trtllm}", path: "backend",
			want: "a field of layout 1; in layout 2 it is engine",
		},
		{
			old: "  concurrency: 1010\n", new: "  concurrency: 1010\n  osl: 5\n", path: "benchmark.osl", want: "rejects",
			value: "-",
		},
		{old: "engine: {type: trtllm}", new: "engine: vllm", path: "engine.type", want: "can be read but not run"},
		{old: "{tensor_parallel_size: 32}", new: "{tensor_parallel_size: 8}", path: "roles.decode.args", want: "32 GPUs"},
	} {
		found := c.run(t, recipeLayout2)
		at := slices.IndexFunc(found,
			func(d recipes.Diagnostic) bool { return d.Path == c.path && strings.Contains(d.Message, c.want) })
		if at < 0 {
			t.Errorf("%s with %q is not among %v", c.path, c.want, found)
			continue
		}
		if ed := found[at].Edit; c.value != "" && (ed == nil || c.value != "-" && ed.Value != c.value) {
			t.Errorf("%s: edit %+v, want %s", c.path, ed, c.value)
		}
	}
}

// Publishing events is worth a warning, the default of metrics alone is not.
func TestPublishedMetrics(t *testing.T) {
	t.Parallel()
	const metrics, nothing = "workers then publish metrics only", "workers then publish nothing"
	for _, c := range []struct{ engine, fix string }{
		{"", ""},
		{", publish_metrics: true", ""},
		{", publish_metrics: false", ""},
		{", publish_events_and_metrics: false", ""},
		{", publish_events_and_metrics: null", ""},
		{", publish_events_and_metrics: true", metrics},
		{", publish_events_and_metrics: true, publish_metrics: false", nothing},
	} {
		text := strings.Replace(recipeLayout2, "{type: trtllm}", "{type: trtllm"+c.engine+"}", 1)
		r, found := recipes.ParseRecipe("r.yaml", []byte(text))
		if found.Errors() > 0 {
			t.Fatal(found)
		}
		fix := ""
		for _, d := range append(found, Run(Files{Recipe: r}, Host{}).Diagnostics...) {
			if strings.Contains(d.Path, "publish") || strings.Contains(d.Message, "publish") {
				fix += d.Fix
				if d.Severity != recipes.Warning || d.Path != "engine.publish_events_and_metrics" || d.Edit == nil {
					t.Errorf("%s: %+v", c.engine, d)
				}
			}
		}
		if (fix == "") != (c.fix == "") || !strings.Contains(fix, c.fix) {
			t.Errorf("%s: fix %q, want %q", c.engine, fix, c.fix)
		}
	}
}
