package porter

import (
	"fmt"
	"slices"
	"strings"
)

// shape is the size of one role, from its launch lines.
type shape struct {
	hosts   map[string]bool
	unnamed int   // nodes of workers without a host list
	ranks   []int // GPUs of each worker; 0 where unknown
	spread  []int // nodes of each worker
	ev      []Evidence
}

func (s shape) nodes() int { return len(s.hosts) + s.unnamed }

// topology writes nodes, workers and GPUs, and reports where -N, -n, the host
// lists and CUDA_VISIBLE_DEVICES contradict one another.
func (b *builder) topology() {
	b.gpuType()
	gpus := newGPUCount()
	shapes := map[role]shape{}
	for _, r := range []role{prefill, decode} {
		s := shape{hosts: map[string]bool{}}
		for _, l := range b.launches.workers[r] {
			b.shapeOf(l, &s, gpus)
		}
		shapes[r] = s
	}
	for _, text := range gpus.conflicts() {
		b.ask(Confirm, Recipe, "resources.gpus_per_node", "shared", text)
	}
	perNode, from := gpus.perNode()
	b.gpusPerNode(perNode, from, gpus.ev)
	for _, r := range []role{prefill, decode} {
		b.roleSize(r, shapes[r], perNode)
	}
}

func (b *builder) gpuType() {
	const base = "resources.gpu_type"
	if b.opt.GPUType != "" {
		b.recipe(base, plain(b.opt.GPUType), Copied, "", "", Evidence{Artifact: "command line", Key: "--gpu-type", Raw: b.opt.GPUType})
		return
	}
	b.recipe(base, plain("gb300"), Guessed, "guess", "a run directory does not name its GPUs")
	b.ask(Confirm, Recipe, base, "", "guessed, since the run directory does not name the GPUs: confirm, or port with --gpu-type")
}

// shapeOf adds one worker to its role.
func (b *builder) shapeOf(l *launch, s *shape, gpus *gpuCount) {
	path := "resources." + string(l.role) + "_nodes"
	say := func(format string, args ...any) {
		b.ask(Confirm, Recipe, path, l.who()+" size", l.who()+": "+fmt.Sprintf(format, args...), l.ev("srun", "", 0))
	}
	b.askLaunch(path, l)
	nodes := len(l.hosts)
	switch {
	case nodes == 0 && l.nodes == 0:
		say("neither a host list nor -N tells its nodes; 1 was assumed")
		nodes = 1
	case nodes == 0:
		say("no host list that can be read; -N %d was taken, on nodes of its own", l.nodes)
		nodes = l.nodes
	case l.nodes != 0 && l.nodes != nodes:
		say("-N is %d, but its host list names %d nodes; the host list was taken", l.nodes, nodes)
	}
	if len(l.hosts) == 0 {
		s.unnamed += nodes
	}
	for _, h := range l.hosts {
		s.hosts[h] = true
	}
	devices, at := l.devices()
	ranks := l.tasks
	switch {
	case ranks == 0 && len(devices) > 0:
		ranks = nodes * len(devices)
		say("no -n; %d GPUs were taken from CUDA_VISIBLE_DEVICES", ranks)
	case ranks > 0 && len(devices) > 0 && ranks != nodes*len(devices):
		say("-n is %d on %d nodes, but CUDA_VISIBLE_DEVICES names %d GPUs a node; -n was taken for the worker's size", ranks, nodes, len(devices))
	case ranks == 0:
		say("neither -n nor CUDA_VISIBLE_DEVICES tells its GPUs")
	}
	s.ranks, s.spread = append(s.ranks, ranks), append(s.spread, nodes)
	if len(s.ev) < 8 {
		s.ev = append(s.ev, l.shapeEvidence())
	}
	gpus.add(l, nodes, ranks, devices, at)
}

func launchLines(l *launch) []Evidence {
	var evs []Evidence
	for _, n := range l.startLines {
		evs = append(evs, Evidence{Artifact: l.artifact, Line: n})
	}
	return evs
}

// shapeEvidence points at the host list, or at the line where there is none.
func (l *launch) shapeEvidence() Evidence {
	ev := l.optionEv(l.nodelist)
	if l.nodelist.name == "" {
		ev = l.ev("", "", 0)
	}
	ev.Key = strings.TrimSpace(l.who() + " " + l.nodelist.name)
	return ev
}

// devices are the GPUs that a worker was told to use on each of its nodes.
func (l *launch) devices() ([]string, Evidence) {
	for _, v := range l.environment() {
		if v.name != "CUDA_VISIBLE_DEVICES" || v.value == "" {
			continue
		}
		var ids []string
		for id := range strings.SplitSeq(v.value, ",") {
			if id = strings.TrimSpace(id); id != "" && !slices.Contains(ids, id) && len(ids) < 1024 {
				ids = append(ids, id)
			}
		}
		return ids, v.at
	}
	return nil, Evidence{}
}

// gpuCount gathers which GPUs of which node are in use.
type gpuCount struct {
	order   []string
	devices map[string]map[string]string // node, device: worker
	ranks   map[string]int
	clashes []string
	ev      []Evidence
}

func newGPUCount() *gpuCount {
	return &gpuCount{devices: map[string]map[string]string{}, ranks: map[string]int{}}
}

func (g *gpuCount) add(l *launch, nodes, ranks int, devices []string, at Evidence) {
	hosts := l.hosts
	if len(hosts) == 0 {
		hosts = []string{l.who()}
	}
	for _, h := range hosts {
		if g.devices[h] == nil {
			g.devices[h] = map[string]string{}
			g.order = append(g.order, h)
		}
		g.ranks[h] += (ranks + nodes - 1) / nodes
		for _, d := range devices {
			if other, taken := g.devices[h][d]; taken && len(g.clashes) < 8 {
				g.clashes = append(g.clashes, fmt.Sprintf("%s and %s both use GPU %s of %s: check the launch lines", other, l.who(), clip(d, 40), clip(h, 80)))
			}
			g.devices[h][d] = l.who()
		}
	}
	if len(g.ev) == 0 {
		if len(devices) > 0 {
			g.ev = append(g.ev, at)
		} else if ranks > 0 {
			g.ev = append(g.ev, l.ev("-n", fmt.Sprint(l.tasks), 0))
		}
	}
}

// perNode is the largest number of GPUs in use on one node, and where it is from.
func (g *gpuCount) perNode() (n int, from string) {
	byDevice, byRank := 0, 0
	for _, h := range g.order {
		byDevice = max(byDevice, len(g.devices[h]))
		byRank = max(byRank, g.ranks[h])
	}
	if byDevice > 0 {
		return byDevice, "CUDA_VISIBLE_DEVICES of the workers on one node"
	}
	return byRank, "ranks (-n) over nodes (-N)"
}

func (g *gpuCount) conflicts() []string { return g.clashes }

func (b *builder) gpusPerNode(n int, from string, ev []Evidence) {
	const base = "resources.gpus_per_node"
	if n == 0 {
		b.recipe(base, integer(4), Missing, "placeholder", "no launch line tells it")
		b.ask(MustFix, Recipe, base, "", "no launch line tells the GPUs of a node; 4 is a placeholder")
		return
	}
	b.recipe(base, integer(n), Inferred, from, "checked against -n and -N of each worker", ev...)
}

// roleSize writes nodes and workers of a role, and the GPUs of one worker where
// they don't follow from these.
func (b *builder) roleSize(r role, s shape, perNode int) {
	workers, nodes := "resources."+string(r)+"_workers", "resources."+string(r)+"_nodes"
	n := len(s.ranks)
	if n == 0 {
		b.recipe(nodes, integer(0), Missing, "placeholder", "no launch line of this role")
		b.recipe(workers, integer(0), Missing, "placeholder", "no launch line of this role")
		b.ask(MustFix, Recipe, nodes, "", fmt.Sprintf("job.log has no launch line of a %s worker: give the nodes of all", r.harness()))
		b.ask(MustFix, Recipe, workers, "", fmt.Sprintf("job.log has no launch line of a %s worker: give their number", r.harness()))
		return
	}
	b.recipe(nodes, integer(s.nodes()), Inferred, "distinct nodes over all "+r.harness()+" launches", "", s.ev...)
	b.recipe(workers, integer(n), Inferred, "distinct "+r.harness()+" launches", "", s.ev...)
	size := s.ranks[0]
	for _, other := range s.ranks {
		if other != size {
			b.ask(MustFix, Recipe, workers, "sizes", fmt.Sprintf("%s workers differ in size (%s GPUs), but a role has one size: split the run or choose one", r.harness(), joinInts(s.ranks)), s.ev...)
			return
		}
	}
	if want := (size + perNode - 1) / max(perNode, 1); size > 0 && perNode > 0 && slices.Max(s.spread) != want {
		b.ask(Confirm, Recipe, nodes, "packing", fmt.Sprintf("a %s worker ran on %d nodes; the new job packs its %d GPUs on %d: check that this is meant", r.harness(), slices.Max(s.spread), size, want), s.ev...)
	}
	if size > 0 && perNode > 0 && s.nodes()*perNode/n != size {
		b.recipe("resources.gpus_per_"+string(r), integer(size), Inferred, "ranks (-n) of one worker", "nodes × GPUs a node / workers would give another size", s.ev...)
	}
}

func joinInts(ns []int) string {
	parts := make([]string, min(len(ns), 16))
	for i := range parts {
		parts[i] = fmt.Sprint(ns[i])
	}
	return strings.Join(parts, ", ")
}

// nodeCount is the number of nodes over both roles.
func (b *builder) nodeCount() int {
	hosts := map[string]bool{}
	n := 0
	for _, ls := range b.launches.workers {
		for _, l := range ls {
			if len(l.hosts) == 0 {
				n += l.nodes
			}
			for _, h := range l.hosts {
				hosts[h] = true
			}
		}
	}
	return n + len(hosts)
}
