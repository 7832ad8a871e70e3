package porter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// roles are the worker roles of a harness run.
var roles = []schema.Role{schema.Prefill, schema.Decode}

// topology sets the numbers of nodes, workers and GPUs, and asks where -N, -n, the host lists and
// CUDA_VISIBLE_DEVICES contradict each other.
type topology struct {
	*porting
	gpus gpuCount
}

const gpusPerNode = "resources.gpus_per_node"

func (t *topology) fields() {
	t.gpuType()
	shapes := map[schema.Role]*roleShape{}
	for _, r := range roles {
		shapes[r] = &roleShape{hosts: map[string]bool{}}
		for _, l := range t.run.Launches.Workers[r] {
			t.addWorker(l, shapes[r])
		}
	}
	for _, text := range t.gpus.conflicts {
		t.ask(Confirm, Recipe, gpusPerNode, "shared", nil, "%s", text)
	}
	perNode, from := t.gpus.perNode()
	if perNode == 0 {
		t.setRecipe(gpusPerNode, integer(4), placeholder("no launch line shows it"))
		t.ask(MustFix, Recipe, gpusPerNode, "", nil, "no launch line shows the GPUs per node; 4 is a placeholder")
	} else {
		t.setRecipe(gpusPerNode, integer(perNode), inferred(from, "checked against -n and -N of each worker", t.gpus.ev...))
	}
	for _, r := range roles {
		t.roleSize(r, shapes[r], perNode)
	}
}

func (t *topology) gpuType() {
	const base = "resources.gpu_type"
	if given := t.opt.GPUType; given != "" {
		t.setRecipe(base, plain(given), copied(Evidence{Artifact: "command line", Key: "--gpu-type", Raw: given}))
		return
	}
	t.setRecipe(base, plain("gb300"), origin{Guessed, "guess", "a run directory does not name its GPUs", nil})
	t.ask(Confirm, Recipe, base, "", nil,
		"guessed, since the run directory does not name the GPUs: confirm, or port with --gpu-type")
}

// roleShape is the size of one role, from its launch lines.
type roleShape struct {
	hosts         map[string]bool
	unlistedNodes int   // nodes of workers without a host list
	ranks         []int // GPUs of each worker; 0 if unknown
	nodeCounts    []int // nodes of each worker
	ev            []Evidence
}

func (s *roleShape) nodes() int { return len(s.hosts) + s.unlistedNodes }

// addWorker adds one worker to its role.
func (t *topology) addWorker(l *harness.Launch, s *roleShape) {
	path := l.Role.NodesPath()
	ask := func(format string, args ...any) {
		message := l.Name() + ": " + fmt.Sprintf(format, args...)
		t.ask(Confirm, Recipe, path, l.Name()+" size", evidence(l.At("srun", "", 0)), "%s", message)
	}
	t.askLaunch(path, l)
	nodes := len(l.Hosts)
	switch {
	case nodes == 0 && l.Nodes == 0:
		ask("neither a host list nor -N; 1 node was assumed")
		nodes = 1
	case nodes == 0:
		ask("no valid host list; -N %d was used, on separate nodes", l.Nodes)
		nodes = l.Nodes
	case l.Nodes != 0 && l.Nodes != nodes:
		ask("-N is %d, but its host list names %d nodes; the host list was used", l.Nodes, nodes)
	}
	if len(l.Hosts) == 0 {
		s.unlistedNodes += nodes
	}
	for _, h := range l.Hosts {
		s.hosts[h] = true
	}
	devices, at := visibleDevices(l)
	ranks := l.Tasks
	switch {
	case ranks == 0 && len(devices) > 0:
		ranks = nodes * len(devices)
		ask("no -n; %d GPUs from CUDA_VISIBLE_DEVICES were used", ranks)
	case ranks > 0 && len(devices) > 0 && ranks != nodes*len(devices):
		ask("-n is %d on %d nodes, but CUDA_VISIBLE_DEVICES names %d GPUs per node; -n was used as the worker's size",
			ranks, nodes, len(devices))
	case ranks == 0:
		ask("neither -n nor CUDA_VISIBLE_DEVICES shows its number of GPUs")
	}
	s.ranks, s.nodeCounts = append(s.ranks, ranks), append(s.nodeCounts, nodes)
	if len(s.ev) < 8 {
		s.ev = append(s.ev, shapeEvidence(l))
	}
	t.gpus.addWorker(l, nodes, ranks, devices, at)
}

// shapeEvidence returns the evidence of the host list, or of the launch line if it has none.
func shapeEvidence(l *harness.Launch) Evidence {
	ev := l.OptionAt(l.Nodelist)
	if l.Nodelist.Name == "" {
		ev = l.At("", "", 0)
	}
	ev.Key = strings.TrimSpace(l.Name() + " " + l.Nodelist.Name)
	return ev
}

// visibleDevices returns the GPUs in CUDA_VISIBLE_DEVICES of a worker.
func visibleDevices(l *harness.Launch) ([]string, Evidence) {
	v, _ := l.Lookup("CUDA_VISIBLE_DEVICES")
	var ids []string
	for id := range strings.SplitSeq(v.Value, ",") {
		if id = strings.TrimSpace(id); id != "" && !slices.Contains(ids, id) && len(ids) < 1024 {
			ids = append(ids, id)
		}
	}
	return ids, v.At
}

// gpuCount records which GPUs are in use on each node.
type gpuCount struct {
	nodes     map[string]*nodeGPUs
	conflicts []string
	ev        []Evidence
}

type nodeGPUs struct {
	devices map[string]string // device: worker
	ranks   int
}

func (g *gpuCount) addWorker(l *harness.Launch, nodes, ranks int, devices []string, at Evidence) {
	hosts := l.Hosts
	if len(hosts) == 0 {
		hosts = []string{l.Name()}
	}
	if g.nodes == nil {
		g.nodes = map[string]*nodeGPUs{}
	}
	for _, h := range hosts {
		n := g.nodes[h]
		if n == nil {
			n = &nodeGPUs{devices: map[string]string{}}
			g.nodes[h] = n
		}
		n.ranks += (ranks + nodes - 1) / nodes
		for _, d := range devices {
			if other, taken := n.devices[d]; taken && len(g.conflicts) < 8 {
				g.conflicts = append(g.conflicts, fmt.Sprintf("%s and %s both use GPU %s of %s: check the launch lines",
					other, l.Name(), safetext.Clip(d, 40), safetext.Clip(h, 80)))
			}
			n.devices[d] = l.Name()
		}
	}
	switch {
	case len(g.ev) > 0:
	case len(devices) > 0:
		g.ev = append(g.ev, at)
	case ranks > 0:
		g.ev = append(g.ev, l.At("-n", fmt.Sprint(l.Tasks), 0))
	}
}

// perNode returns the largest number of GPUs in use on one node and how it was determined.
func (g *gpuCount) perNode() (n int, from string) {
	byDevice, byRank := 0, 0
	for _, node := range g.nodes {
		byDevice, byRank = max(byDevice, len(node.devices)), max(byRank, node.ranks)
	}
	if byDevice > 0 {
		return byDevice, "CUDA_VISIBLE_DEVICES of the workers on one node"
	}
	return byRank, "ranks (-n) divided by nodes (-N)"
}

// roleSize sets the nodes and workers of a role, and the GPUs of a worker if they can't be
// derived from these.
func (t *topology) roleSize(r schema.Role, s *roleShape, perNode int) {
	workers, nodes, name := r.WorkersPath(), r.NodesPath(), harness.RoleName(r)
	n := len(s.ranks)
	if n == 0 {
		const noLine = "job.log has no launch line of a %s worker: "
		t.setRecipe(nodes, integer(0), placeholder("no launch line of this role"))
		t.setRecipe(workers, integer(0), placeholder("no launch line of this role"))
		t.ask(MustFix, Recipe, nodes, "", nil, noLine+"give the number of nodes", name)
		t.ask(MustFix, Recipe, workers, "", nil, noLine+"give the number of workers", name)
		return
	}
	t.setRecipe(nodes, integer(s.nodes()), inferred("distinct nodes of all "+name+" launches", "", s.ev...))
	t.setRecipe(workers, integer(n), inferred("distinct "+name+" launches", "", s.ev...))
	size := s.ranks[0]
	if slices.ContainsFunc(s.ranks, func(other int) bool { return other != size }) {
		sizes := strings.Trim(strings.ReplaceAll(fmt.Sprint(s.ranks[:min(n, 16)]), " ", ", "), "[]")
		t.ask(MustFix, Recipe, workers, "sizes", s.ev,
			"%s workers differ in size (%s GPUs), but a role has one size: split the run or choose one", name, sizes)
		return
	}
	if size == 0 || perNode == 0 {
		return
	}
	if spread, want := slices.Max(s.nodeCounts), (size+perNode-1)/perNode; spread != want {
		t.ask(Confirm, Recipe, nodes, "packing", s.ev,
			"a %s worker ran on %d nodes; the new job packs its %d GPUs on %d: confirm that this is intended",
			name, spread, size, want)
	}
	if s.nodes()*perNode/n != size {
		t.setRecipe(r.GPUsPath(), integer(size),
			inferred("ranks (-n) of one worker", "nodes × GPUs per node / workers gives a different size", s.ev...))
	}
}

// askLaunch asks about repeated launches and problems of a launch line.
func (d *draft) askLaunch(path string, l *harness.Launch) {
	if l.Starts > 1 {
		var at []Evidence
		for _, n := range l.StartLines {
			at = append(at, Evidence{Artifact: l.At("", "", 0).Artifact, Line: n})
		}
		d.ask(Note, "", "", l.Name()+" launches", at,
			"%s was launched %d times; the last launch (line %d) was used", l.Name(), l.Starts, l.Line)
	}
	for _, p := range l.Problems {
		d.ask(Confirm, Recipe, path, l.Name()+" launch", evidence(l.At("", "", 0)), "%s", l.Name()+": "+p)
	}
}
