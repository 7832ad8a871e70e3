package porter

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/layout"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// placed is a worker or service with its nodes.
type placed struct {
	role    schema.Role // empty for a service
	name    string      // such as CTX 0
	nodes   []string
	gpus    []int    // on each node; nil if unknown
	devices []string // IDs of the GPUs that it uses on each node; nil if unknown
}

// place returns where a recipe places its workers. It returns nil if they do not fit.
func place(r *recipes.Recipe) []placed {
	l, err := layout.New(r)
	if err != nil {
		return nil
	}
	out := make([]placed, len(l.Workers))
	for i, w := range l.Workers {
		out[i] = placed{role: w.Role.Name, name: fmt.Sprintf("%s %d", w.Role.Name, w.Index)}
		left := w.Ranks
		for _, n := range w.Nodes {
			out[i].nodes = append(out[i].nodes, fmt.Sprintf("node %d", n))
			out[i].gpus = append(out[i].gpus, min(left, r.GPUsPerNode))
			left -= r.GPUsPerNode
		}
	}
	return out
}

// layoutKey describes which workers of which size share which nodes, regardless of the names of nodes and
// workers. It is empty if a size is unknown.
func layoutKey(ws []placed) string {
	nodes := map[string][]string{}
	var workers []string
	for _, w := range ws {
		if w.gpus == nil {
			return ""
		}
		for i, n := range w.nodes {
			nodes[n] = append(nodes[n], fmt.Sprintf("%s %d", w.role, w.gpus[i]))
		}
		sizes := slices.Sorted(slices.Values(w.gpus))
		workers = append(workers, fmt.Sprintf("%s %v", w.role, sizes))
	}
	var shared []string
	for _, on := range nodes {
		slices.Sort(on)
		shared = append(shared, strings.Join(on, "+"))
	}
	slices.Sort(shared)
	slices.Sort(workers)
	return strings.Join(workers, ",") + ";" + strings.Join(shared, ",")
}

// nodeMap returns what runs on each node, a line each. Nodes on which the same runs share a line.
func nodeMap(ws []placed) []string {
	var order []string
	on := map[string][]string{}
	for _, w := range ws {
		for i, n := range w.nodes {
			if on[n] == nil {
				order = append(order, n)
			}
			on[n] = append(on[n], w.on(i))
		}
	}
	type row struct {
		what  string
		nodes []string
	}
	var rows []row
	for _, n := range order {
		what := strings.Join(on[n], ", ")
		i := slices.IndexFunc(rows, func(r row) bool { return r.what == what })
		if i < 0 {
			i, rows = len(rows), append(rows, row{what: what})
		}
		rows[i].nodes = append(rows[i].nodes, n)
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = safetext.Clip(namesText(r.nodes), 120) + ": " + safetext.Clip(r.what, 160)
	}
	return clipDetails(lines)
}

// on describes what runs on the node with an index.
func (w placed) on(i int) string {
	switch {
	case w.role == "":
		return w.name
	case len(w.devices) > 0:
		return fmt.Sprintf("%s (GPU %s)", w.name, deviceText(w.devices))
	case w.gpus == nil:
		return w.name
	}
	return fmt.Sprintf("%s (%s)", w.name, gpuText(w.gpus[i]))
}

func gpuText(n int) string {
	if n == 1 {
		return "1 GPU"
	}
	return fmt.Sprintf("%d GPUs", n)
}

// deviceText shortens consecutive numbers: 0-3,6.
func deviceText(ids []string) string {
	var out []string
	for i := 0; i < len(ids); i++ {
		last := i
		for last+1 < len(ids) && isNext(ids[last], ids[last+1]) {
			last++
		}
		if last > i {
			out = append(out, ids[i]+"-"+ids[last])
		} else {
			out = append(out, ids[i])
		}
		i = last
	}
	return safetext.Clip(strings.Join(out, ","), 60)
}

func isNext(a, b string) bool {
	x, err1 := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	return err1 == nil && err2 == nil && y == x+1
}

// namesText shortens a list of names.
func namesText(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s … %s (%d nodes)", strings.Join(names[:2], ", "), names[len(names)-1], len(names))
}

// gpuUse records which GPUs of each node are in use.
type gpuUse struct {
	nodes     map[string]*nodeGPUs
	conflicts []string
}

type nodeGPUs struct {
	devices map[string]string // device: worker
	ranks   int
}

func (g *gpuUse) add(w placed) {
	if g.nodes == nil {
		g.nodes = map[string]*nodeGPUs{}
	}
	for i, host := range w.nodes {
		n := g.nodes[host]
		if n == nil {
			n = &nodeGPUs{devices: map[string]string{}}
			g.nodes[host] = n
		}
		if w.gpus != nil {
			n.ranks += w.gpus[i]
		}
		for _, d := range w.devices {
			if other, taken := n.devices[d]; taken && len(g.conflicts) < 8 {
				g.conflicts = append(g.conflicts, fmt.Sprintf("%s and %s both use GPU %s of %s",
					other, w.name, safetext.Clip(d, 40), safetext.Clip(host, 80)))
			}
			n.devices[d] = w.name
		}
	}
}

// perNode returns the number of GPUs that a node has at least, and how it was determined.
func (g *gpuUse) perNode() (n int, from string) {
	byDevice, byRank := 0, 0
	for _, node := range g.nodes {
		byDevice, byRank = max(byDevice, len(node.devices)), max(byRank, node.ranks)
		for d := range maps.Keys(node.devices) {
			if id, err := strconv.Atoi(d); err == nil && id < maxGPUs {
				byDevice = max(byDevice, id+1)
			}
		}
	}
	if byDevice > 0 {
		return byDevice, "CUDA_VISIBLE_DEVICES of the workers on one node"
	}
	return byRank, "ranks (-n) divided by nodes (-N)"
}

// maxGPUs bounds the GPUs of a node.
const maxGPUs = 1024
