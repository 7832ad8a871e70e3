package plan

import (
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Placement is where a worker runs.
type Placement struct {
	Role  schema.Role
	Index int
	Nodes []int // indexes among the nodes of workers
	GPUs  []int // GPUs on each of its nodes
}

// PlaceWorkers returns where the workers of a recipe run. Only the fields of its resources matter.
func PlaceWorkers(r *recipes.Recipe) ([]Placement, error) {
	ws, err := placeWorkers(r, 0)
	if err != nil {
		return nil, err
	}
	out := make([]Placement, len(ws))
	for i, w := range ws {
		out[i] = Placement{Role: w.role.Name, Index: w.index, Nodes: w.nodes}
		for left := w.ranks; len(out[i].GPUs) < len(w.nodes); left -= r.GPUsPerNode {
			out[i].GPUs = append(out[i].GPUs, min(left, r.GPUsPerNode))
		}
	}
	return out, nil
}
