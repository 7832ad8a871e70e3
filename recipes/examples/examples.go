// Package examples holds recipes to start from, each with its workload and documented in its own
// comments: the baseline that parity is measured with, a small aggregated run, one with several
// levels, one for a machine without GPUs. It holds files and knows nothing of what they mean.
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

// Names lists the examples, in alphabetical order.
func Names() []string {
	var names []string
	entries, err := files.ReadDir(".")
	if err != nil { // the folder is part of the program
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

// Read gives an example's recipe and workload as they are written.
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
