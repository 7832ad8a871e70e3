package check_test

import (
	"fmt"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
)

// Check a recipe and its workload, and print what to correct.
func ExampleRun() {
	recipe, found := recipes.ParseRecipe("recipe.yaml", []byte(`name: example
model: {path: /models/llama, container: /images/trtllm.sqsh, precision: fp4}
resources:
  gpu_type: GB300
  gpus_per_node: 4
  prefill_nodes: 1
  prefill_workers: 1
  decode_nodes: 1
  decode_workers: 1
backend: {type: trtllm}
frontend: {type: dynamo, enable_multiple_frontends: false}
dynamo: {install: false}
benchmark:
  type: agentperf
  concurrency: 64
  agentperf_client_dir: /agentperf/client
  agentperf_config: /agentperf/workload.yaml
extra_mount: ["/shared/agentperf:/agentperf"]
`))
	workload, more := recipes.ParseWorkload("workload.yaml", []byte(`base_url: http://placeholder:8000/v1
model: placeholder
concurrencies: [64]
phase_timeout_seconds: 600
settling_time_seconds: 240
user_spawn_rate: 1
min_measurement_seconds: 300
trajectory_path: /agentperf/trajectories.jsonl
`))

	report := check.Run(check.Files{Recipe: recipe, Workload: workload}, check.Host{})
	for _, d := range append(append(found, more...), report.Diagnostics...) {
		fmt.Println(d)
	}
	for _, t := range report.Timeouts {
		fmt.Println("fixes for level", t.Level, "are any of:")
		for _, fix := range t.Fixes {
			fmt.Println(" ", fix)
		}
	}
	fmt.Println("ready to submit:", report.OK())
	// Output:
	// recipe.yaml:4:13: warning: resources.gpu_type: "GB300" is not lower case: srtctl silently omits NUMA memory binding
	// workload.yaml:4:24: error: phase_timeout_seconds: level 64: (64 − 1) / 1 + 240 + 300 = 603 > 600, short by 3 s
	// fixes for level 64 are any of:
	//   phase_timeout_seconds ≥ 603
	//   user_spawn_rate ≥ 1.05
	//   settling_time_seconds ≤ 237
	//   min_measurement_seconds ≤ 297
	//   concurrency ≤ 61
	// ready to submit: false
}
