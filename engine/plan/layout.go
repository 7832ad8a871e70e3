package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// worker is one worker with its nodes and GPUs.
type worker struct {
	role  recipes.Role
	index int
	nodes []int
	gpus  []int // GPU indexes on its single node; nil: all GPUs of its nodes
	ranks int
}

// layout assigns services and workers to node indexes.
type layout struct {
	nodes                 int
	head, infra, frontend int
	client                int
	workers               []worker
}

// maxNodes limits the size of a plan, so that a typo does not exhaust memory.
const maxNodes = 4096

// newLayout assigns the parts of a recipe to nodes by the rules of srt-slurm: reserved nodes
// first, then prefill, decode and aggregated workers in this order.
func newLayout(r *recipes.Recipe) (layout, error) {
	front, back := reserved(r)
	if n, w := r.WorkerNodes(), r.Prefill.Workers+r.Decode.Workers+r.Agg.Workers; n > maxNodes || w > maxNodes {
		return layout{}, problem.Errorf(problem.PlanInvalid,
			"at most %d worker nodes and %[1]d workers are supported, got %d nodes and %d workers", maxNodes, n, w)
	}
	l := layout{nodes: r.WorkerNodes() + len(front) + len(back)}
	l.head = len(front) // first worker node
	l.infra, l.frontend, l.client = -1, -1, -1
	for i, role := range front {
		l.assign(role, i)
	}
	for i, role := range back {
		l.assign(role, l.nodes-len(back)+i)
	}
	if l.frontend >= 0 {
		l.head = l.frontend
	}
	if l.infra < 0 {
		l.infra = l.head
	}
	ws, err := placeWorkers(r, len(front))
	if err != nil {
		return l, err
	}
	l.workers = ws
	if l.frontend < 0 {
		l.frontend = l.placementNode(r.Frontend.Placement)
	}
	if l.client < 0 {
		l.client = l.placementNode(r.Benchmark.Placement)
	}
	return l, nil
}

// assign assigns roles to a reserved node.
func (l *layout) assign(roles []schema.Role, node int) {
	for _, r := range roles {
		switch r {
		case schema.Infra:
			l.infra = node
		case schema.Frontend:
			l.frontend = node
		case schema.Client:
			l.client = node
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
func (l *layout) placementNode(placement string) int {
	first, last := -1, -1
	for _, w := range l.workers {
		if w.role.Name == schema.Decode {
			if first < 0 {
				first = w.nodes[0]
			}
			last = w.nodes[0]
		}
	}
	switch {
	case placement == "first_decode" && first >= 0:
		return first
	case placement == "last_decode" && last >= 0:
		return last
	}
	return l.head
}

// placeWorkers assigns workers to nodes: entire nodes to workers with at least the GPUs of a node,
// contiguous GPU ranges to smaller ones. Decode workers start on an unused node if there is one.
func placeWorkers(r *recipes.Recipe, first int) ([]worker, error) {
	p := packer{node: first, end: first + r.WorkerNodes(), perNode: r.GPUsPerNode, spread: r.SpreadWorkers}
	var out []worker
	for _, role := range r.Roles() {
		if role.Name == schema.Decode && p.used > 0 && p.node+1 < p.end {
			p.next()
		}
		gpus := r.GPUsPerWorker(role)
		for i := range role.Workers {
			w, ok := p.place(gpus)
			if !ok {
				return nil, problem.Errorf(problem.PlanInvalid,
					"%s worker %d needs %d GPUs, but the recipe's %d worker nodes of %d GPUs are used up; "+
						"increase the %s nodes or reduce its workers", role.Name, i, gpus, p.end-first, r.GPUsPerNode, role.Name)
			}
			w.role, w.index = role, i
			out = append(out, w)
		}
	}
	return out, nil
}

// packer fills worker nodes in order.
type packer struct {
	node, end int // current node, and the first index past the last node
	used      int // GPUs taken on node
	perNode   int
	spread    bool
}

func (p *packer) next() { p.node, p.used = p.node+1, 0 }

func (p *packer) place(gpus int) (worker, bool) {
	if gpus < 1 {
		return worker{}, false
	}
	if gpus >= p.perNode {
		if p.used > 0 {
			p.next()
		}
		var w worker
		for range (gpus + p.perNode - 1) / p.perNode {
			if p.node >= p.end {
				return worker{}, false
			}
			w.nodes = append(w.nodes, p.node)
			p.next()
		}
		w.ranks = len(w.nodes) * p.perNode
		return w, true
	}
	if p.used+gpus > p.perNode || p.spread && p.used > 0 {
		p.next()
	}
	if p.node >= p.end {
		return worker{}, false
	}
	w := worker{nodes: []int{p.node}, ranks: gpus}
	for g := range gpus {
		w.gpus = append(w.gpus, p.used+g)
	}
	p.used += gpus
	return w, true
}

// nodeList returns every node with its roles. Registry is the service with which workers
// register; empty: none.
func (l *layout) nodeList(registry string) []Node {
	out := make([]Node, l.nodes)
	for i := range out {
		out[i] = Node{Index: i, Name: nodeName(i), Roles: []string{}}
	}
	add := func(node int, what string) { out[node].Roles = append(out[node].Roles, what) }
	if registry != "" {
		add(l.infra, registry)
	}
	add(l.frontend, string(schema.Frontend))
	for _, w := range l.workers {
		for _, n := range w.nodes {
			add(n, fmt.Sprintf("%s %d", w.role.Name, w.index))
		}
	}
	add(l.client, string(schema.Client))
	return out
}

// onOneNode returns the layout with all workers on one node, for a local run.
func (l layout) onOneNode() layout {
	one := layout{nodes: 1, workers: slices.Clone(l.workers)}
	for i := range one.workers {
		one.workers[i].nodes, one.workers[i].gpus = []int{0}, nil
	}
	return one
}

// nodeName and address return the placeholders for the name and address of a node.
func nodeName(i int) string { return "{node:" + strconv.Itoa(i) + "}" }

func address(i int) string { return "{ip:" + strconv.Itoa(i) + "}" }
