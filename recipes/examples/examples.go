// Package examples contains example recipes with their workloads, documented by comments: the
// reference of parity comparisons, a small aggregated run, a run with several concurrency levels,
// and a run for a machine without GPUs.
package examples

import (
	"embed"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

//go:embed *.yaml
var files embed.FS

const workloadSuffix = ".workload.yaml"

// Names returns the names of the examples in alphabetical order.
func Names() []string {
	var names []string
	entries, err := files.ReadDir(".")
	if err != nil { // not possible: the directory is embedded
		return nil
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), workloadSuffix); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Read returns the recipe and the workload of an example as YAML.
func Read(name string) (recipe, workload []byte, err error) {
	if recipe, err = files.ReadFile(name + ".yaml"); err == nil {
		workload, err = files.ReadFile(name + workloadSuffix)
	}
	if err != nil {
		return nil, nil, problem.Errorf(problem.ExampleUnknown, "no such example: %q (available: %s)", name,
			strings.Join(Names(), ", "))
	}
	return recipe, workload, nil
}
