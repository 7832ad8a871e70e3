package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// worker is one engine with its place.
type worker struct {
	role  recipes.Role
	index int
	nodes []int
	gpus  []int // of its one node; nil: all of each node
	ranks int
}

// layout is who runs where, by node index.
type layout struct {
	nodes                 int
	head, infra, frontend int
	client                int
	workers               []worker
}

// mostNodes bounds a plan: a slip of the keyboard must not fill the memory.
const mostNodes = 4096

// place lays a recipe out over nodes by upstream's rules: reserved nodes first,
// then prefill, decode and aggregated workers over the rest in order.
func place(r *recipes.Recipe) (layout, error) {
	front, back := reserved(r)
	if n, w := r.WorkerNodes(), r.Prefill.Workers+r.Decode.Workers+r.Agg.Workers; n > mostNodes || w > mostNodes {
		return layout{}, problem.Errorf(problem.PlanInvalid,
			"at most %d worker nodes and %[1]d workers are supported, got %d nodes and %d workers", mostNodes, n, w)
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
		l.frontend = l.pick(r.Frontend.Placement)
	}
	if l.client < 0 {
		l.client = l.pick(r.Benchmark.Placement)
	}
	return l, nil
}

// assign gives a reserved node its roles; one node may hold several.
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

// reserved lists nodes that are kept for roles, at the front and at the back of
// the allocation. Roles share one node unless the recipe says otherwise; that
// node is the last one where a client node is asked for.
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

// pick finds the node of a placement word: the leader of the first or last
// decode worker, else the head.
func (l *layout) pick(placement string) int {
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

// placeWorkers packs workers over worker nodes: whole nodes for those of a node's GPUs or more,
// contiguous GPU ranges for smaller ones. Decode starts on a fresh node while there is one.
func placeWorkers(r *recipes.Recipe, first int) ([]worker, error) {
	p := packer{node: first, end: first + r.WorkerNodes(), perNode: r.GPUsPerNode, spread: r.SpreadWorkers}
	var out []worker
	for _, role := range r.Roles() {
		if role.Name == schema.Decode && p.used > 0 && p.node+1 < p.end {
			p.next()
		}
		gpus := r.GPUsPerWorker(role)
		for i := range role.Workers {
			w, ok := p.put(gpus)
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

type packer struct {
	node, end int // next node, and the first one beyond
	used      int // GPUs taken on node
	perNode   int
	spread    bool
}

func (p *packer) next() { p.node, p.used = p.node+1, 0 }

func (p *packer) put(gpus int) (worker, bool) {
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

// describe names every node and what happens on it. Registry is the service with
// which workers register; empty: none.
func (l *layout) describe(registry string) []Node {
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

// together is the layout on one node, as a machine that shares nothing out has it.
func (l layout) together() layout {
	one := layout{nodes: 1, workers: slices.Clone(l.workers)}
	for i := range one.workers {
		one.workers[i].nodes, one.workers[i].gpus = []int{0}, nil
	}
	return one
}

// nodeName and address stand for a node's until the plan is bound.
func nodeName(i int) string { return "{node:" + strconv.Itoa(i) + "}" }

func address(i int) string { return "{ip:" + strconv.Itoa(i) + "}" }
