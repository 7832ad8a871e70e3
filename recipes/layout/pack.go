package layout

import (
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// placeWorkers assigns workers to nodes from first on. Decode workers start on an unused node if there
// is one; the packer never goes back to the node that they leave.
func placeWorkers(r *recipes.Recipe, first int) ([]Worker, error) {
	p := packer{
		node: first, end: first + r.WorkerNodes(), perNode: r.GPUsPerNode, spread: r.SpreadWorkers,
		// Engines other than TensorRT-LLM use all GPUs of each of their nodes.
		exact: r.Engine.Type == schema.TRTLLM,
	}
	var out []Worker
	for _, role := range r.Roles() {
		if role.Name == schema.Decode && p.used > 0 && p.node+1 < p.end {
			p.next()
		}
		gpus := r.GPUsPerWorker(role)
		for i := range role.Workers {
			w, ok := p.place(gpus)
			if !ok {
				return nil, NoPlace{
					Role: role.Name, Index: i, GPUs: gpus, Nodes: r.WorkerNodes(), GPUsPerNode: r.GPUsPerNode, Free: p.left,
				}
			}
			w.Role, w.Index = role, i
			out = append(out, w)
		}
	}
	return out, nil
}

// packer fills worker nodes in order.
type packer struct {
	node, end int // current node, and the first index past the last node
	used      int // GPUs taken on node
	left      int // GPUs that were left unused on earlier nodes
	perNode   int
	spread    bool // each worker starts on an unused node
	exact     bool // a worker on several nodes takes only part of its last node if that suffices
}

func (p *packer) next() {
	if p.used > 0 {
		p.left += p.perNode - p.used
	}
	p.node, p.used = p.node+1, 0
}

// place takes GPUs for a worker: a part of a node, or unused nodes from the first to the last GPU.
func (p *packer) place(gpus int) (Worker, bool) {
	if gpus < 1 || p.perNode < 1 {
		return Worker{}, false
	}
	if p.used > 0 && (p.used+gpus > p.perNode || p.spread) {
		p.next()
	}
	if gpus < p.perNode {
		if p.node >= p.end {
			return Worker{}, false
		}
		w := Worker{Nodes: []int{p.node}, Ranks: gpus}
		for g := range gpus {
			w.GPUs = append(w.GPUs, p.used+g)
		}
		p.take(gpus)
		return w, true
	}
	var w Worker
	for w.Ranks < gpus {
		n := min(p.perNode, gpus-w.Ranks)
		if !p.exact {
			n = p.perNode
		}
		if p.node >= p.end {
			return Worker{}, false
		}
		w.Nodes = append(w.Nodes, p.node)
		w.Ranks += n
		p.take(n)
	}
	return w, true
}

// take takes GPUs of the current node.
func (p *packer) take(gpus int) {
	if p.used += gpus; p.used == p.perNode {
		p.node, p.used = p.node+1, 0
	}
}
