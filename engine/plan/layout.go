package plan

import (
	"fmt"
	"slices"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/layout"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// newLayout returns the layout of a recipe, or an error with an id.
func newLayout(r *recipes.Recipe) (layout.Layout, error) {
	l, err := layout.New(r)
	if err != nil {
		return l, problem.Errorf(problem.PlanInvalid, "%w", err)
	}
	return l, nil
}

// nodeList returns every node with its roles, and the services.
func nodeList(l layout.Layout, services []string) []Node {
	out := make([]Node, l.Nodes)
	for i := range out {
		out[i] = Node{Index: i, Name: nodeName(i), Roles: []string{}}
	}
	add := func(node int, what string) { out[node].Roles = append(out[node].Roles, what) }
	for _, name := range services {
		add(l.Infra, name)
	}
	add(l.Frontend, string(schema.Frontend))
	for _, w := range l.Workers {
		for _, n := range w.Nodes {
			add(n, fmt.Sprintf("%s %d", w.Role.Name, w.Index))
		}
	}
	add(l.Client, string(schema.Client))
	return out
}

// onOneNode returns the layout with all workers on one node, for a local run.
func onOneNode(l layout.Layout) layout.Layout {
	one := layout.Layout{Nodes: 1, Workers: slices.Clone(l.Workers)}
	for i := range one.Workers {
		one.Workers[i].Nodes, one.Workers[i].GPUs = []int{0}, nil
	}
	return one
}

// nodeName and address return the placeholders for the name and address of a node.
func nodeName(i int) string { return NodeName(i).text() }

func address(i int) string { return NodeAddress(i).text() }
