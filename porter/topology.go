package porter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// roles are those of the workers that a harness run has.
var roles = []schema.Role{schema.Prefill, schema.Decode}

// topology decides nodes, workers and GPUs, and reports where -N, -n, the host
// lists and CUDA_VISIBLE_DEVICES contradict one another.
type topology struct {
	*porting
	gpus gpuCount
}

const gpusPerNode = "resources.gpus_per_node"

func (t *topology) fields() {
	t.gpuType()
	shapes := map[schema.Role]*shape{}
	for _, r := range roles {
		shapes[r] = &shape{hosts: map[string]bool{}}
		for _, l := range t.run.Launches.Workers[r] {
			t.add(l, shapes[r])
		}
	}
	for _, text := range t.gpus.clashes {
		t.ask(Confirm, Recipe, gpusPerNode, "shared", nil, "%s", text)
	}
	perNode, from := t.gpus.perNode()
	if perNode == 0 {
		t.recipe(gpusPerNode, integer(4), placeholder("no launch line tells it"))
		t.ask(MustFix, Recipe, gpusPerNode, "", nil, "no launch line tells the GPUs of a node; 4 is a placeholder")
	} else {
		t.recipe(gpusPerNode, integer(perNode), inferred(from, "checked against -n and -N of each worker", t.gpus.ev...))
	}
	for _, r := range roles {
		t.roleSize(r, shapes[r], perNode)
	}
}

func (t *topology) gpuType() {
	const base = "resources.gpu_type"
	if given := t.opt.GPUType; given != "" {
		t.recipe(base, plain(given), copied(Evidence{Artifact: "command line", Key: "--gpu-type", Raw: given}))
		return
	}
	t.recipe(base, plain("gb300"), origin{Guessed, "guess", "a run directory does not name its GPUs", nil})
	t.ask(Confirm, Recipe, base, "", nil,
		"guessed, since the run directory does not name the GPUs: confirm, or port with --gpu-type")
}

// shape is the size of one role, from its launch lines.
type shape struct {
	hosts   map[string]bool
	unnamed int   // nodes of workers without a host list
	ranks   []int // GPUs of each worker; 0 where unknown
	spread  []int // nodes of each worker
	ev      []Evidence
}

func (s *shape) nodes() int { return len(s.hosts) + s.unnamed }

// add adds one worker to its role.
func (t *topology) add(l *harness.Launch, s *shape) {
	path := l.Role.NodesPath()
	say := func(format string, args ...any) {
		message := l.Name() + ": " + fmt.Sprintf(format, args...)
		t.ask(Confirm, Recipe, path, l.Name()+" size", evidence(l.At("srun", "", 0)), "%s", message)
	}
	t.askLaunch(path, l)
	nodes := len(l.Hosts)
	switch {
	case nodes == 0 && l.Nodes == 0:
		say("neither a host list nor -N tells its nodes; 1 was assumed")
		nodes = 1
	case nodes == 0:
		say("no host list that can be read; -N %d was taken, on nodes of its own", l.Nodes)
		nodes = l.Nodes
	case l.Nodes != 0 && l.Nodes != nodes:
		say("-N is %d, but its host list names %d nodes; the host list was taken", l.Nodes, nodes)
	}
	if len(l.Hosts) == 0 {
		s.unnamed += nodes
	}
	for _, h := range l.Hosts {
		s.hosts[h] = true
	}
	devices, at := visibleDevices(l)
	ranks := l.Tasks
	switch {
	case ranks == 0 && len(devices) > 0:
		ranks = nodes * len(devices)
		say("no -n; %d GPUs were taken from CUDA_VISIBLE_DEVICES", ranks)
	case ranks > 0 && len(devices) > 0 && ranks != nodes*len(devices):
		say("-n is %d on %d nodes, but CUDA_VISIBLE_DEVICES names %d GPUs a node; -n was taken for the worker's size",
			ranks, nodes, len(devices))
	case ranks == 0:
		say("neither -n nor CUDA_VISIBLE_DEVICES tells its GPUs")
	}
	s.ranks, s.spread = append(s.ranks, ranks), append(s.spread, nodes)
	if len(s.ev) < 8 {
		s.ev = append(s.ev, shapeEvidence(l))
	}
	t.gpus.add(l, nodes, ranks, devices, at)
}

// shapeEvidence points at the host list, or at the line where there is none.
func shapeEvidence(l *harness.Launch) Evidence {
	ev := l.OptionAt(l.Nodelist)
	if l.Nodelist.Name == "" {
		ev = l.At("", "", 0)
	}
	ev.Key = strings.TrimSpace(l.Name() + " " + l.Nodelist.Name)
	return ev
}

// visibleDevices are the GPUs that a worker was told to use on each of its nodes.
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

// gpuCount gathers which GPUs of which node are in use.
type gpuCount struct {
	nodes   map[string]*nodeGPUs
	clashes []string
	ev      []Evidence
}

type nodeGPUs struct {
	devices map[string]string // device: worker
	ranks   int
}

func (g *gpuCount) add(l *harness.Launch, nodes, ranks int, devices []string, at Evidence) {
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
			if other, taken := n.devices[d]; taken && len(g.clashes) < 8 {
				g.clashes = append(g.clashes, fmt.Sprintf("%s and %s both use GPU %s of %s: check the launch lines",
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

// perNode is the largest number of GPUs in use on one node, and where it is from.
func (g *gpuCount) perNode() (n int, from string) {
	byDevice, byRank := 0, 0
	for _, node := range g.nodes {
		byDevice, byRank = max(byDevice, len(node.devices)), max(byRank, node.ranks)
	}
	if byDevice > 0 {
		return byDevice, "CUDA_VISIBLE_DEVICES of the workers on one node"
	}
	return byRank, "ranks (-n) over nodes (-N)"
}

// roleSize decides nodes and workers of a role, and the GPUs of one worker where
// they don't follow from these.
func (t *topology) roleSize(r schema.Role, s *shape, perNode int) {
	workers, nodes, word := r.WorkersPath(), r.NodesPath(), harness.RoleName(r)
	n := len(s.ranks)
	if n == 0 {
		t.recipe(nodes, integer(0), placeholder("no launch line of this role"))
		t.recipe(workers, integer(0), placeholder("no launch line of this role"))
		t.ask(MustFix, Recipe, nodes, "", nil, "job.log has no launch line of a %s worker: give the nodes of all", word)
		t.ask(MustFix, Recipe, workers, "", nil, "job.log has no launch line of a %s worker: give their number", word)
		return
	}
	t.recipe(nodes, integer(s.nodes()), inferred("distinct nodes over all "+word+" launches", "", s.ev...))
	t.recipe(workers, integer(n), inferred("distinct "+word+" launches", "", s.ev...))
	size := s.ranks[0]
	if slices.ContainsFunc(s.ranks, func(other int) bool { return other != size }) {
		sizes := strings.Trim(strings.ReplaceAll(fmt.Sprint(s.ranks[:min(n, 16)]), " ", ", "), "[]")
		t.ask(MustFix, Recipe, workers, "sizes", s.ev,
			"%s workers differ in size (%s GPUs), but a role has one size: split the run or choose one", word, sizes)
		return
	}
	if size == 0 || perNode == 0 {
		return
	}
	if spread, want := slices.Max(s.spread), (size+perNode-1)/perNode; spread != want {
		t.ask(Confirm, Recipe, nodes, "packing", s.ev,
			"a %s worker ran on %d nodes; the new job packs its %d GPUs on %d: check that this is meant", word, spread, size,
			want)
	}
	if s.nodes()*perNode/n != size {
		t.recipe(r.GPUsPath(), integer(size),
			inferred("ranks (-n) of one worker", "nodes × GPUs a node / workers would give another size", s.ev...))
	}
}

// askLaunch reports what is odd about a launch line.
func (d *draft) askLaunch(path string, l *harness.Launch) {
	if l.Starts > 1 {
		var at []Evidence
		for _, n := range l.StartLines {
			at = append(at, Evidence{Artifact: harness.JobLog, Line: n})
		}
		d.ask(Note, "", "", l.Name()+" launches", at,
			"%s was launched %d times; the last launch (line %d) counts", l.Name(), l.Starts, l.Line)
	}
	d.askFlags(l)
	for _, p := range l.Problems {
		d.ask(Confirm, Recipe, path, l.Name()+" launch", evidence(l.At("", "", 0)), "%s", l.Name()+": "+p)
	}
}
