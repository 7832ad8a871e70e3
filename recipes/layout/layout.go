// Package layout assigns the services and workers of a recipe to the nodes and GPUs of its job, by the
// rules of srt-slurm. It does no I/O.
package layout

import (
	"fmt"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Worker is a worker with its nodes and GPUs.
type Worker struct {
	Role  recipes.Role
	Index int   // among the workers of its role
	Nodes []int // the leader's first; a worker with more GPUs than a node has full nodes first
	GPUs  []int // indexes on its single node; nil: those from 0 on, of each of its nodes
	Ranks int   // one for each GPU
}

// Layout is the assignment of services and workers to node indexes.
type Layout struct {
	Nodes                         int
	Head, Infra, Frontend, Client int
	Workers                       []Worker
}

// maxNodes limits the size of a layout, so that a typo does not exhaust memory.
const maxNodes = 4096

// TooLarge is the error for recipes with more nodes or workers than are supported.
type TooLarge struct{ Nodes, Workers int }

// Error describes the limit.
func (e TooLarge) Error() string {
	return fmt.Sprintf("at most %d nodes and %[1]d workers are supported, got %d nodes and %d workers",
		maxNodes, e.Nodes, e.Workers)
}

// NoPlace is the error for a worker that does not fit on the nodes.
type NoPlace struct {
	Role               schema.Role
	Index, GPUs        int // of the worker
	Nodes, GPUsPerNode int // of the recipe
	Free               int // GPUs that are left on nodes before the last one, which are not used any more
}

// Error describes the worker and the nodes, and what to do.
func (e NoPlace) Error() string {
	return e.Found() + fmt.Sprintf("; increase the %s nodes or reduce its workers", e.Role)
}

// Found describes the worker and the nodes.
func (e NoPlace) Found() string {
	text := fmt.Sprintf("%s worker %d needs %d GPUs, but the recipe's %d worker nodes of %d GPUs are used up",
		e.Role, e.Index, e.GPUs, e.Nodes, e.GPUsPerNode)
	if e.Free > 0 {
		text += fmt.Sprintf(": %d GPUs on earlier nodes stay unused", e.Free)
	}
	return text
}

// New assigns the parts of a recipe to nodes: reserved nodes first, then prefill, decode and aggregated
// workers in this order. The error is a [TooLarge] or a [NoPlace].
func New(r *recipes.Recipe) (Layout, error) {
	front, back := reserved(r)
	n, w := r.WorkerNodes()+r.PoolNodes(), r.Prefill.Workers+r.Decode.Workers+r.Agg.Workers
	if n > maxNodes || w > maxNodes {
		return Layout{}, TooLarge{n, w}
	}
	l := Layout{Nodes: n + len(front) + len(back)}
	l.Head = len(front) // first worker node
	l.Infra, l.Frontend, l.Client = -1, -1, -1
	for i, role := range front {
		l.assign(role, i)
	}
	for i, role := range back {
		l.assign(role, l.Nodes-len(back)+i)
	}
	if l.Frontend >= 0 {
		l.Head = l.Frontend
	}
	if l.Infra < 0 {
		l.Infra = l.Head
	}
	var err error
	if l.Workers, err = placeWorkers(r, len(front)); err != nil {
		return l, err
	}
	if l.Frontend < 0 {
		l.Frontend = l.placementNode(r.Frontend.Placement)
	}
	if l.Client < 0 {
		l.Client = l.placementNode(r.Benchmark.Placement)
	}
	return l, nil
}

// assign assigns roles to a reserved node.
func (l *Layout) assign(roles []schema.Role, node int) {
	for _, r := range roles {
		switch r {
		case schema.Infra:
			l.Infra = node
		case schema.Frontend:
			l.Frontend = node
		case schema.Client:
			l.Client = node
		}
	}
}

// reserved returns the roles of nodes without workers, at the front and at the back of the
// allocation. With Colocate, all roles share one node, which is the last node if the client
// has a dedicated node and the first node otherwise.
func reserved(r *recipes.Recipe) (front, back [][]schema.Role) {
	var roles []schema.Role
	if r.DedicatedInfra {
		roles = append(roles, schema.Infra)
	}
	if r.Frontend.Dedicated {
		roles = append(roles, schema.Frontend)
	}
	switch {
	case r.Benchmark.Colocate && r.Benchmark.Dedicated:
		return nil, [][]schema.Role{append(roles, schema.Client)}
	case r.Benchmark.Colocate && len(roles) > 0:
		return [][]schema.Role{roles}, nil
	}
	for _, role := range roles {
		front = append(front, []schema.Role{role})
	}
	if r.Benchmark.Dedicated {
		back = [][]schema.Role{{schema.Client}}
	}
	return front, back
}

// placementNode returns the node for a placement value: the first node of the first or last
// decode worker, or else the head node.
func (l *Layout) placementNode(placement string) int {
	first, last := -1, -1
	for _, w := range l.Workers {
		if w.Role.Name == schema.Decode {
			if first < 0 {
				first = w.Nodes[0]
			}
			last = w.Nodes[0]
		}
	}
	switch {
	case placement == "first_decode" && first >= 0:
		return first
	case placement == "last_decode" && last >= 0:
		return last
	}
	return l.Head
}
