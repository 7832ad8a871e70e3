package porter

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// topology sets the numbers of nodes, workers and GPUs, and asks where -N, -n, the host lists and
// CUDA_VISIBLE_DEVICES contradict each other.
type topology struct {
	*porting
	workers []placed
	roles   map[schema.Role]*roleShape
	use     gpuUse
	gpuEv   []Evidence // of the GPUs per node
}

const gpusPerNode = "resources.gpus_per_node"

func (t *topology) fields() {
	t.gpuType()
	t.roles = map[schema.Role]*roleShape{}
	for _, r := range t.run.Roles() {
		t.roles[r] = &roleShape{}
		for _, l := range t.run.Launches.Workers[r] {
			t.addWorker(l)
		}
	}
	perNode, from := t.use.perNode()
	if perNode == 0 {
		t.setRecipe(gpusPerNode, integer(4), placeholder("no launch line shows it"))
		t.ask(MustFix, Recipe, gpusPerNode, "", nil, "no launch line shows the GPUs per node; 4 is a placeholder")
	} else {
		t.setRecipe(gpusPerNode, integer(perNode), inferred(from, "checked against -n and -N of each worker", t.gpuEv...))
	}
	fit := t.fit(perNode)
	for _, r := range t.run.Roles() {
		t.roleFields(r, fit, perNode)
	}
	if fit.SpreadWorkers {
		t.setRecipe("resources.spread_workers", boolean(true),
			inferred("each worker ran on a node of its own, and used only a part of it", "", t.gpuEv...))
	}
	t.askAttempts()
	t.askCounts()
	t.askRestarts()
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
	hosts []string // distinct, in the order of the launch lines
	sizes []int    // GPUs of each worker; 0 if unknown
	ev    []Evidence
}

// addWorker adds one worker.
func (t *topology) addWorker(l *harness.Launch) {
	path := l.Role.NodesPath()
	t.askLaunch(path, l)
	w, problems := placeOf(l)
	for _, text := range problems {
		t.askOnce("size "+path+text, l.Name()+" size", Todo{
			Kind: Confirm, File: Recipe, Path: path, Message: text, Steps: []string{l.Name()},
			Evidence: evidence(l.At("srun", "", 0)),
		})
	}
	devices, at := visibleDevices(l)
	switch {
	case len(t.gpuEv) > 0:
	case len(devices) > 0:
		t.gpuEv = append(t.gpuEv, at)
	case l.Tasks > 0:
		t.gpuEv = append(t.gpuEv, l.At("-n", fmt.Sprint(l.Tasks), 0))
	}
	t.use.add(w)
	t.workers = append(t.workers, w)
	s := t.roles[l.Role]
	size := 0
	for _, n := range w.gpus {
		size += n
	}
	s.sizes = append(s.sizes, size)
	for _, h := range w.nodes {
		if !slices.Contains(s.hosts, h) {
			s.hosts = append(s.hosts, h)
		}
	}
	if len(s.ev) < 8 {
		s.ev = append(s.ev, shapeEvidence(l))
	}
}

// placeOf returns the nodes and GPUs of a worker, and where -N, -n, the host list and CUDA_VISIBLE_DEVICES
// contradict each other.
func placeOf(l *harness.Launch) (w placed, problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	w = placed{role: l.Role, name: l.Name(), nodes: l.Hosts}
	switch n := len(l.Hosts); {
	case n == 0 && l.Nodes == 0:
		add("neither a host list nor -N; 1 node was assumed")
		w.nodes = ownNodes(l, 1)
	case n == 0:
		add("no valid host list; -N %d was used, on separate nodes", l.Nodes)
		w.nodes = ownNodes(l, l.Nodes)
	case l.Nodes != 0 && l.Nodes != n:
		add("-N is %d, but its host list names %d nodes; the host list was used", l.Nodes, n)
	}
	nodes := len(w.nodes)
	w.devices, _ = visibleDevices(l)
	visible, size := len(w.devices), l.Tasks
	switch {
	case size == 0 && visible > 0:
		size = nodes * visible
		add("no -n; %d GPUs from CUDA_VISIBLE_DEVICES were used", size)
	case size > 0 && visible > 0 && size != nodes*visible:
		add("-n is %d on %d nodes, but CUDA_VISIBLE_DEVICES names %d GPUs per node; -n was used as the worker's size",
			size, nodes, visible)
	case size == 0:
		add("neither -n nor CUDA_VISIBLE_DEVICES shows its number of GPUs")
	}
	if size > 0 {
		w.gpus = spread(size, nodes, visible)
	}
	return w, problems
}

// ownNodes names the unknown nodes of a worker.
func ownNodes(l *harness.Launch, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node %d of %s", i, l.Name())
	}
	return names
}

// spread distributes the GPUs of a worker over its nodes: as many on each as it sees there, or the same number on
// each.
func spread(size, nodes, visible int) []int {
	most := (size + nodes - 1) / nodes
	if visible > most && visible*nodes > size && size > visible*(nodes-1) {
		most = visible // full nodes first
	}
	out := make([]int, nodes)
	for i := range out {
		out[i] = min(most, size)
		size -= out[i]
	}
	return out
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
		if id = strings.TrimSpace(id); id != "" && !slices.Contains(ids, id) && len(ids) < maxGPUs {
			ids = append(ids, id)
		}
	}
	return ids, v.At
}

// fit returns the resources of a recipe that places the workers as they were placed. If no recipe does, it asks, and
// returns the one that has the same numbers of nodes and workers.
func (t *topology) fit(perNode int) *recipes.Recipe {
	old := layoutKey(t.workers)
	var plain *recipes.Recipe
	for _, colocated := range []bool{false, true} {
		for _, spread := range []bool{false, true} {
			r := t.resources(perNode, colocated, spread)
			if plain == nil {
				plain = r
			}
			if new := place(r); old != "" && new != nil && layoutKey(new) == old {
				for _, text := range t.use.conflicts {
					t.ask(Confirm, Recipe, gpusPerNode, "shared", nil, "%s: check the launch lines", text)
				}
				return r
			}
		}
	}
	if t.isShared() {
		plain = t.resources(perNode, true, false)
	}
	if t.isComplete() {
		t.askLayout(plain)
	}
	return plain
}

// isComplete reports whether each role has workers and each worker has a size.
func (t *topology) isComplete() bool {
	for _, s := range t.roles {
		if len(s.sizes) == 0 || slices.Contains(s.sizes, 0) {
			return false
		}
	}
	return true
}

// isShared reports whether all decode workers ran on nodes of prefill workers.
func (t *topology) isShared() bool {
	prefill, decode := t.roles[schema.Prefill], t.roles[schema.Decode]
	return prefill != nil && len(decode.hosts) > 0 &&
		!slices.ContainsFunc(decode.hosts, func(h string) bool { return !slices.Contains(prefill.hosts, h) })
}

// resources returns a recipe with the old numbers of nodes and workers. GPUs per worker are set if they can't be
// derived from these.
func (t *topology) resources(perNode int, colocated, spread bool) *recipes.Recipe {
	r := &recipes.Recipe{GPUsPerNode: perNode, SpreadWorkers: spread}
	r.Engine.Type = schema.TRTLLM
	for _, name := range schema.WorkerRoles() {
		s := t.roles[name]
		if s == nil || len(s.sizes) == 0 {
			continue
		}
		role := roleOf(r, name)
		role.Name = name
		role.Given, role.Workers, role.Nodes = true, len(s.sizes), len(s.hosts)
		if role.Name == schema.Decode && colocated {
			role.Colocated, role.Nodes = true, 0
		}
		size := s.sizes[0]
		if size > 0 && (colocated || r.GPUsPerWorker(*role) != size || role.Nodes*perNode%role.Workers != 0) {
			role.GPUs = size
		}
	}
	return r
}

func roleOf(r *recipes.Recipe, name schema.Role) *recipes.Role {
	switch name {
	case schema.Prefill:
		return &r.Prefill
	case schema.Decode:
		return &r.Decode
	}
	return &r.Agg
}

// askLayout asks about a layout that no recipe can express. It shows the old nodes and those of the recipe.
func (t *topology) askLayout(r *recipes.Recipe) {
	var why []string
	for _, role := range t.run.Roles() {
		sizes := t.roles[role].sizes
		if slices.ContainsFunc(sizes, func(n int) bool { return n != sizes[0] }) {
			list := strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes[:min(len(sizes), 16)]), " ", ", "), "[]")
			why = append(why, fmt.Sprintf("%s workers differ in size (%s GPUs), but a role has one size",
				harness.RoleName(role), list))
		}
	}
	why = append(why, t.use.conflicts[:min(len(t.use.conflicts), 2)]...)
	if len(why) == 0 {
		why = append(why, "a recipe packs workers onto nodes in order")
	}
	todo := Todo{
		Kind: MustFix, File: Recipe, Path: "resources",
		Message: strings.Join(why, "; ") + ": no recipe gives the nodes of the old run; compare them with those of this " +
			"recipe, and change the numbers of nodes, workers and GPUs if necessary",
		Details: append([]string{"old run:"}, indent(nodeMap(t.oldNodes()))...),
	}
	todo.Details = append(todo.Details, "this recipe:")
	if new := place(r); new == nil {
		todo.Details = append(todo.Details, "  the workers do not fit on its nodes")
	} else {
		todo.Details = append(todo.Details, indent(nodeMap(new))...)
	}
	for _, s := range t.roles {
		todo.Evidence = append(todo.Evidence, s.ev[:min(len(s.ev), 4)]...)
	}
	slices.SortFunc(todo.Evidence, func(a, b Evidence) int { return cmp.Compare(a.Line, b.Line) })
	t.addTodo("layout", todo)
}

func indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = "  " + l
	}
	return out
}

// oldNodes returns the workers and services of the old run.
func (t *topology) oldNodes() []placed {
	var all []placed
	for _, l := range []*harness.Launch{t.run.Launches.Etcd, t.run.Launches.Frontend} {
		if l != nil {
			all = append(all, placed{name: l.Name(), nodes: l.Hosts})
		}
	}
	return append(all, t.workers...)
}

// roleFields sets the nodes and workers of a role, and the GPUs of a worker.
func (t *topology) roleFields(r schema.Role, fit *recipes.Recipe, perNode int) {
	workers, nodes, name := r.WorkersPath(), r.NodesPath(), harness.RoleName(r)
	s := t.roles[r]
	n := len(s.sizes)
	if n == 0 {
		noLine := "job.log has no launch line of a %s worker"
		var traces []Evidence
		if r == schema.Prefill && len(t.roles[schema.Decode].sizes) > 0 {
			if traces = t.run.CTXTraces(); len(traces) > 0 {
				noLine += ", but other artifacts show that there was one, so the run was not aggregated"
			}
		}
		t.setRecipe(nodes, integer(0), placeholder("no launch line of this role"))
		t.setRecipe(workers, integer(0), placeholder("no launch line of this role"))
		t.ask(MustFix, Recipe, nodes, "", traces, noLine+": give the number of nodes", name)
		t.ask(MustFix, Recipe, workers, "", traces, noLine+": give the number of workers", name)
		return
	}
	role := roleOf(fit, r)
	switch {
	case role.Colocated:
		value := plain("colocate")
		if t.opt.Schema == 1 {
			value = integer(0)
		}
		t.setRecipe(nodes, value, inferred(name+" workers ran on nodes of CTX workers", "",
			slices.Concat(s.ev, t.roles[schema.Prefill].ev)...))
	default:
		t.setRecipe(nodes, integer(len(s.hosts)), inferred("distinct nodes of all "+name+" launches", "", s.ev...))
	}
	t.setRecipe(workers, integer(n), inferred("distinct "+name+" launches", "", s.ev...))
	if role.GPUs > 0 && perNode > 0 {
		t.setRecipe(r.GPUsPath(), integer(role.GPUs),
			inferred("ranks (-n) of one worker", "nodes × GPUs per node / workers gives a different size", s.ev...))
	}
}

// askCounts asks about workers without a launch line: indices that were skipped, logs, and the number of workers that
// the launcher waited for.
func (t *topology) askCounts() {
	ls := &t.run.Launches
	if ls.WorkerCount() == 0 {
		return // roleFields asks
	}
	path := t.run.Roles()[0].WorkersPath()
	var missing, text []string
	var at []Evidence
	for _, r := range t.run.Roles() {
		names, places := t.unlaunched(r)
		if len(names) > 0 {
			path = r.WorkersPath()
		}
		missing, at = append(missing, names...), append(at, places...)
	}
	if len(missing) > 0 {
		text = append(text, "no launch line of "+safetext.Clip(strings.Join(missing, ", "), 160))
	}
	if n, waiting := ls.WorkerCount(), ls.Waiting; waiting.Text != "" && waiting.Text != strconv.Itoa(n) {
		at = append(at, waiting.At)
		text = append(text, fmt.Sprintf("the launcher waited for %s workers, but there are launch lines of %d",
			waiting.Text, n))
	}
	var unread []string
	for _, u := range ls.Unread {
		if strings.Contains(u.At.Raw, "start_worker") {
			unread, at = append(unread, strings.Trim(where(u.At), "()")), append(at, u.At)
		}
	}
	if len(unread) > 0 {
		text = append(text, fmt.Sprintf("launch lines of workers can't be read: %s", shortList(unread)))
	}
	if len(text) == 0 {
		return
	}
	t.addTodo("count", Todo{
		Kind: MustFix, File: Recipe, Path: path, Evidence: at[:min(len(at), maxEvidence)],
		Message: strings.Join(text, "; ") + ": give the numbers of workers and nodes",
		Details: append([]string{"launched:"}, indent(nodeMap(t.oldNodes()))...),
	})
}

// unlaunched returns the workers of a role without a launch line, and what shows that they existed. A role
// without any launch line has none.
func (t *topology) unlaunched(r schema.Role) (names []string, at []Evidence) {
	launched := map[int]bool{} // in any attempt
	for _, a := range t.run.Launches.Attempts {
		for _, l := range a.Workers[r] {
			launched[l.Index] = true
		}
	}
	ws := t.run.Launches.Workers[r]
	if len(ws) == 0 {
		return nil, nil
	}
	for _, index := range t.run.Launches.Gaps(r) {
		names = append(names, fmt.Sprintf("%s %d", harness.RoleName(r), index))
	}
	for i, l := range ws {
		switch {
		case i > 0 && ws[i-1].Index+1 < l.Index:
			at = append(at, ws[i-1].At("", ws[i-1].Name(), 0), l.At("", l.Name(), 0))
		case i == 0 && l.Index > 0:
			at = append(at, l.At("", l.Name(), 0))
		}
	}
	for _, log := range t.run.WorkerLogs(r) {
		if name := fmt.Sprintf("%s %d", harness.RoleName(r), log.Index); !launched[log.Index] {
			at = append(at, Evidence{Artifact: log.Name})
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, at
}

// askRestarts asks about workers of a role of which some, but not all, were launched again.
func (t *topology) askRestarts() {
	for _, r := range t.run.Roles() {
		var again, once []string
		var at []Evidence
		for _, l := range t.run.Launches.Workers[r] {
			if l.Starts > 1 {
				again, at = append(again, l.Name()), append(at, l.At("", "", 0))
			} else {
				once = append(once, l.Name())
			}
		}
		if len(again) > 1 && len(once) > 0 {
			t.ask(Confirm, Recipe, r.WorkersPath(), "restarts", at[:min(len(at), maxEvidence)],
				"%s were launched again, but %s not: confirm that all of them ran", safetext.Clip(strings.Join(again, ", "), 120),
				safetext.Clip(strings.Join(once, ", "), 120))
		}
	}
}

// askLaunch asks about repeated launches and problems of a launch line.
func (d *draft) askLaunch(path string, l *harness.Launch) {
	if l.Starts > 1 {
		t := Todo{Kind: Note, Message: fmt.Sprintf("%s was launched %d times; the last launch (line %d) was used", l.Name(),
			l.Starts, l.Line)}
		for _, n := range l.StartLines {
			t.Evidence = append(t.Evidence, Evidence{Artifact: l.At("", "", 0).Artifact, Line: n})
		}
		if old := l.Previous; old != nil {
			if !slices.Equal(old.Hosts, l.Hosts) {
				if l.Service != "" { // both may have run; a worker is relaunched on other nodes if one fails
					t.Kind, t.Message = Confirm, t.Message+": confirm that it replaced the one on other nodes"
				}
				t.Details = append(t.Details, fmt.Sprintf("%s: nodes: %s %s, %s %s", l.Name(), namesText(old.Hosts),
					where(old.OptionAt(old.Nodelist)), namesText(l.Hosts), where(l.OptionAt(l.Nodelist))))
			}
			t.Details = clipDetails(append(t.Details, launchDifferences(old, l)...))
		}
		d.addTodo(l.Name()+" launches", t)
	}
	for _, text := range l.Problems {
		d.askOnce("launch "+path+text, l.Name()+" launch", Todo{
			Kind: Confirm, File: Recipe, Path: path, Message: text, Steps: []string{l.Name()},
			Evidence: evidence(l.At("", "", 0)),
		})
	}
}
