package edit_test

import (
	"fmt"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
)

const recipe = `name: example # shown by squeue

resources:
  gpu_type: "gb300" # lower case
  prefill_nodes: 5
`

// Set a field: comments, blank lines and quotes stay as they are.
func ExampleSet() {
	out, err := edit.Set([]byte(recipe), "resources.gpu_type", "gb200")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(out))
	// Output:
	// name: example # shown by squeue
	//
	// resources:
	//   gpu_type: "gb200" # lower case
	//   prefill_nodes: 5
}

// Set a field that the file does not have yet, with its parent.
func ExampleSet_newField() {
	out, err := edit.Set([]byte(recipe), "slurm.time_limit", `"02:00:00"`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(out))
	// Output:
	// name: example # shown by squeue
	//
	// resources:
	//   gpu_type: "gb300" # lower case
	//   prefill_nodes: 5
	// slurm:
	//   time_limit: "02:00:00"
}

// Remove a field together with the comment on its line.
func ExampleUnset() {
	out, err := edit.Unset([]byte(recipe), "resources.gpu_type")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(out))
	// Output:
	// name: example # shown by squeue
	//
	// resources:
	//   prefill_nodes: 5
}

// Apply several edits in order. An edit that is not possible changes nothing.
func ExampleApply() {
	_, err := edit.Apply([]byte(recipe), []recipes.Edit{
		{Op: recipes.OpSet, Path: "resources.prefill_nodes", Value: "6"},
		{Op: recipes.OpRename, Path: "resources.decode_nodes", Value: "agg_nodes"},
	})
	fmt.Println(err)
	// Output:
	// rename resources.decode_nodes: the file has no such key
}
