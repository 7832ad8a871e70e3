package recipes_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/recipes"
)

const aggregated = `schema: 2
name: chat
model: {path: /models/chat, container: trtllm.sqsh, precision: fp8}
resources: {gpu_type: gb200, gpus_per_node: 4}
engine: trtllm
roles:
  agg: {nodes: 2, workers: 2}
benchmark:
  type: agentperf
  concurrencies: [64, 256]
  agentperf_client_dir: /client
  agentperf_config: /workload.yaml
`

// Load reads a recipe. The error is about the file, the diagnostics about its content.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "recipe")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "chat.yaml")
	if err := os.WriteFile(file, []byte(aggregated), 0o600); err != nil {
		log.Print(err)
		return
	}
	recipe, diagnostics, err := recipes.Load(file)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(recipe.Name, recipe.ServedModel(), recipe.Benchmark.Levels)
	fmt.Println(recipe.Nodes(), "nodes,", recipe.GPUsPerWorker(recipe.Agg), "GPUs per worker")
	fmt.Println(diagnostics.Errors(), "errors")
	// Output:
	// chat chat [64 256]
	// 2 nodes, 4 GPUs per worker
	// 0 errors
}

// Diagnostics have the position, the path and, where possible, a fix.
func ExampleParseRecipe_diagnostics() {
	_, diagnostics := recipes.ParseRecipe("chat.yaml", []byte(aggregated+"slurm: {time_limit: 1:30, acount: perf}\n"))
	for _, d := range diagnostics {
		fmt.Println(d)
		fmt.Println("  fix:", d.Fix)
	}
	// Output:
	// chat.yaml:13:21: error: slurm.time_limit: 1:30 without quotes is read as int 90 by srtctl, which uses YAML 1.1
	//   fix: quote it: "1:30"
	// chat.yaml:13:27: error: slurm.acount: unknown to this version; did you mean "account"?
	//   fix: rename it to account
}

const withOverrides = `base:
  schema: 2
  name: chat
  model: {path: /models/chat, container: trtllm.sqsh, precision: fp8}
  resources: {gpu_type: gb200, gpus_per_node: 4}
  engine: trtllm
  roles: {agg: {nodes: 1, workers: 1}}
  benchmark: {type: agentperf, concurrency: 64, agentperf_client_dir: /client, agentperf_config: /workload.yaml}
override_large:
  roles: {agg: {nodes: 4, workers: 4}}
zip_override_users:
  benchmark: {concurrency: [16, 32]}
`

// Variants lists the recipes of a file with overrides, and Select loads one of them.
func ExampleVariants() {
	data := []byte(withOverrides)
	variants, diagnostics := recipes.Variants("chat.yaml", data, "")
	if diagnostics.Errors() > 0 {
		log.Fatal(diagnostics)
	}
	for _, v := range variants {
		recipe, _, _ := recipes.Select("chat.yaml", data, v.Selector)
		fmt.Println(v.Selector, recipe.Name, recipe.Nodes(), recipe.Benchmark.Levels)
	}
	// Output:
	// override_large chat_large 4 [64]
	// zip_override_users[0] chat_users_0 1 [16]
	// zip_override_users[1] chat_users_1 1 [32]
}

// A sweep expands to one recipe for each combination of its parameters.
func ExampleVariants_sweep() {
	data := []byte(aggregated + `environment: {BATCH: "{batch}"}
sweep:
  batch: [8, 16]
`)
	variants, _ := recipes.Variants("chat.yaml", data, "")
	for _, v := range variants {
		recipe, _, _ := recipes.Select("chat.yaml", data, v.Selector)
		batch, _ := recipe.Environment.Get("BATCH")
		fmt.Println(v.Selector, recipe.Name, batch)
	}
	// Output:
	// sweep[0] chat_batch8 8
	// sweep[1] chat_batch16 16
}
