package recipes

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// loadRules are the rules across fields that srtctl checks when it loads a recipe. Rules about one
// field are in the table of fields.
type loadRules struct {
	*values
	r   *Recipe
	out Diagnostics
}

// checkConsistency applies the rules across fields.
func (v *values) checkConsistency(r *Recipe) Diagnostics {
	l := loadRules{values: v, r: r}
	l.placement()
	l.frontend()
	l.engine()
	l.engineFields()
	l.dynamoSource()
	l.profiling()
	if r.Schema == 2 {
		l.layout2()
	} else if r.Decode.Given && v.str("resources.decode_nodes") == "colocate" {
		l.refuse("colocate", "resources.decode_nodes", "write 0", "colocate is only valid in layout 2")
	}
	return l.out
}

// layout2 applies the rules of layout 2 alone.
func (l *loadRules) layout2() {
	if n, ok := l.byName["resources.decode_nodes"]; ok && n.node.Value == "0" && l.r.Decode.Workers > 0 {
		l.refuse("colocate", "resources.decode_nodes", "write colocate",
			"0 nodes; in layout 2, colocate places decode workers on the prefill nodes").Set("colocate", true)
	}
	l.roleEngines()
	l.sidecar()
	l.workerSelection()
	l.benchmarkFields()
	l.observability()
	l.telemetry()
	l.services()
}

// refuse adds an error about the field with a name, see [values.nameOf], unless its value is invalid
// anyway. The pointer is valid until the next finding.
func (l *loadRules) refuse(rule, name, fix, format string, args ...any) *Diagnostic {
	d := l.r.Diag(Error, name, fmt.Sprintf(format, args...), fix)
	d.Rule = rule
	if slices.ContainsFunc(l.diags, func(have Diagnostic) bool {
		return have.Severity == Error && (have.Path == d.Path || strings.HasPrefix(d.Path, have.Path+"."))
	}) {
		return &d
	}
	l.out = append(l.out, d)
	return &l.out[len(l.out)-1]
}

// has reports whether the file gives a valid value other than null for a field.
func (v *values) has(name string) bool { _, ok := v.byName[name]; return ok }

// isSet reports whether the file gives a value that differs from the field's default.
func (v *values) isSet(name string) bool {
	val, ok := v.byName[name]
	return ok && val.differs()
}

// differs reports whether the value differs from the default of its field. An empty list or mapping
// is the default of its kind.
func (v value) differs() bool {
	n := v.node
	if n.Kind != yaml.ScalarNode {
		return len(n.Content) > 0
	}
	def := &yaml.Node{Kind: yaml.ScalarNode, Value: v.field.Default, Tag: "!!str"}
	switch {
	case v.field.Default == "":
		return true
	case n.Tag == "!!str":
		return n.Value != strings.Trim(v.field.Default, `"`)
	case n.Tag == "!!bool":
		return !strings.EqualFold(n.Value, v.field.Default)
	}
	def.Tag = def.ShortTag()
	if resolved := (&yaml.Node{Kind: yaml.ScalarNode, Value: v.field.Default}); resolved.ShortTag() != "!!str" {
		def.Tag = resolved.ShortTag()
	}
	return canonicalText(n) != canonicalText(def)
}

func (l *loadRules) placement() {
	r := l.r
	for _, p := range []struct {
		dedicated       bool
		node            string
		name, placement string
	}{
		{r.Frontend.Dedicated, r.Frontend.Placement, "frontend.dedicated_node", "frontend.orchestrator_placement"},
		{r.Benchmark.Dedicated, r.Benchmark.Placement, "benchmark.client_dedicated_node", "benchmark.client_placement"},
	} {
		switch {
		case p.dedicated && p.node != "head":
			l.refuse("placement", p.name, "remove one of the two", "a dedicated node requires %s head, got %s",
				r.Position(p.placement).Path, p.node)
		case p.node != "head" && r.Decode.Workers == 0 && r.Agg.Given:
			l.refuse("placement", p.placement, "write head", "%s, but there are no decode workers", p.node)
		}
	}
}

// frontend checks the frontend against the engine and the workers.
func (l *loadRules) frontend() {
	r := l.r
	kind := r.Frontend.Type
	if kind == schema.NoFrontend {
		l.noFrontend()
		return
	}
	required := schema.EngineOfFrontend(kind)
	if required.Name == "" || r.Schema == 1 && required.Name != schema.TRTLLM {
		return
	}
	workers := func() {
		if r.Agg.Given && r.Agg.Workers != 1 {
			l.refuse("frontend-engine", schema.Agg.WorkersPath(), "set it to 1", "%s supports one aggregated worker, got %d",
				kind, r.Agg.Workers)
		}
	}
	switch {
	case r.Engine.Type != required.Name:
		l.refuse("frontend-engine", "frontend.type", "", "%s requires the engine %s, got %s",
			kind, required.Name, r.Engine.Type)
	case kind == schema.TRTLLMServe || kind == required.Name: // without a router in between
		if r.Frontend.Multiple {
			l.refuse("frontend-engine", "frontend.enable_multiple_frontends", "set it to false",
				"%s runs as a single frontend", kind)
			return
		}
		if kind == required.Name && r.Disaggregated() {
			l.refuse("frontend-engine", "frontend.type", "use agg, or another frontend",
				"%s serves aggregated workers only", kind)
			return
		}
		workers()
	}
}

// noFrontend checks a job without frontend, which has no workers.
func (l *loadRules) noFrontend() {
	r := l.r
	for _, role := range r.Roles() {
		if role.Workers > 0 {
			l.refuse("no-frontend", role.Name.WorkersPath(), "remove the role, or use a frontend",
				"without a frontend there are no %s workers: the job consists of services", role.Name)
		}
	}
	for _, p := range []struct {
		dedicated bool
		name      string
	}{{r.Frontend.Dedicated, "frontend.orchestrator_placement"}, {r.Benchmark.Dedicated, "benchmark.client_placement"}} {
		if p.dedicated {
			l.refuse("no-frontend", p.name, "remove it", "without a frontend no node is dedicated")
		}
	}
	if len(r.Services) == 0 {
		l.refuse("no-frontend", "frontend.type", "add services, or use a frontend",
			"without a frontend and services the job is empty")
	}
}

// engine checks the settings of the engine.
func (l *loadRules) engine() {
	r, engine := l.r, schema.FindEngine(l.r.Engine.Type)
	if l.bool("resources.het_jobs") && (!engine.HetJobs || !r.Disaggregated()) {
		l.refuse("engine-fields", "resources.het_jobs", "remove it",
			"heterogeneous jobs require sglang with separate prefill and decode workers; the engine is %s", r.Engine.Type)
	}
	if r.Engine.NUMAMemoryBind == "local" && !r.Engine.NUMACPUBind {
		l.refuse("engine-fields", "backend.numa_memory_bind", "set numa_cpu_bind to true",
			"local binds to the memory beside the CPUs of a rank, which needs numa_cpu_bind")
	}
}

// engineFields refuses settings of other engines, and settings of roles that only other engines have. In
// layout 1, the settings of trtllm alone are all known.
func (l *loadRules) engineFields() {
	refused := ""
	for _, name := range l.names() {
		f := l.byName[name].field
		path := name
		if f.Name() == name {
			path = f.Path(l.r.Schema)
		}
		if f.Engines == nil || refused != "" && strings.HasPrefix(path, refused+".") {
			continue
		}
		engine := l.engineOf(path)
		known := slices.ContainsFunc(schema.Engines(), func(e schema.Engine) bool { return e.Name == engine })
		if known && !slices.Contains(f.Engines, engine) {
			refused = path
			l.refuse("engine-fields", name, "remove it", "only for %s; srtctl refuses it with %s",
				strings.Join(f.Engines, ", "), engine)
		}
	}
}

// engineOf returns the engine whose settings have a path; empty: any.
func (l *loadRules) engineOf(path string) string {
	first, rest, _ := strings.Cut(path, ".")
	switch {
	case first == "backend" && l.r.Engine.Type == schema.TRTLLM, first == "engine":
		return l.r.Engine.Type
	case first == "roles":
		name, _, _ := strings.Cut(rest, ".")
		if own := l.roleEngine(l.r.Role(schema.Role(name))); own != "" {
			return own
		}
		return l.r.Engine.Type
	}
	return ""
}

// names returns the names of all values, sorted.
func (v *values) names() []string {
	names := make([]string, 0, len(v.byName))
	for n := range v.byName {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// roleEngines checks engines of single roles.
func (l *loadRules) roleEngines() {
	r := l.r
	var with, without []Role
	for _, role := range r.Roles() {
		switch {
		case l.roleEngine(role) != "":
			with = append(with, role)
		case role.Given:
			without = append(without, role)
		}
	}
	if len(with) == 0 {
		return
	}
	name := "roles." + string(with[0].Name) + ".engine.type"
	fail := func(name, fix, format string, args ...any) { l.refuse("role-engine", name, fix, format, args...) }
	if len(without) > 0 {
		fail(name, "set it for every role, or at the top", "the role %s has no engine of its own", without[0].Name)
	}
	for _, x := range []struct {
		given bool
		what  string
	}{
		{l.has("backend.type"), "an engine at the top"},
		{r.Frontend.Type == schema.Dynamo, "the frontend dynamo"},
		{r.Sidecar, "sidecars"},
		{l.bool("resources.het_jobs"), "heterogeneous jobs"},
		{l.str("profiling.type") != "none", "profiling"},
		{r.Observability && l.bool("observability.nsys.enabled"), "observability.nsys"},
	} {
		if x.given {
			fail(name, "use one engine for all roles, or remove the other", "engines of roles do not work with %s", x.what)
		}
	}
	for _, role := range with {
		gpus := r.GPUsPerWorker(role)
		name := "roles." + string(role.Name) + ".engine.type"
		switch {
		case gpus <= r.GPUsPerNode:
		case l.roleEngine(role) == schema.TRTLLM:
			fail(name, "use an engine at the top", "an engine of a role can't be trtllm on several nodes")
		case gpus%r.GPUsPerNode != 0:
			fail(name, "use whole nodes", "a worker of %d GPUs does not fill its nodes of %d GPUs", gpus, r.GPUsPerNode)
		}
	}
}

// roleEngine returns the type of a role's own engine; empty: it has none.
func (l *loadRules) roleEngine(role Role) string {
	name := "roles." + string(role.Name) + ".engine"
	if l.has(name + ".type") {
		return l.str(name + ".type")
	}
	if l.has(name) {
		return schema.DefaultEngine
	}
	return ""
}

// sidecar checks the sidecars of dynamo.
func (l *loadRules) sidecar() {
	r := l.r
	fail := func(name, fix, format string, args ...any) { l.refuse("sidecar", name, fix, format, args...) }
	top := "dynamo.sidecar"
	if l.has(top) || r.Sidecar {
		for _, role := range r.Roles() {
			name := "roles." + string(role.Name) + ".sidecar"
			own, given := l.bool(name), l.has(name)
			switch {
			case given && l.has(top) && own != l.bool(top):
				fail(name, "make them equal", "differs from dynamo.sidecar")
			case role.Given && !l.has(top) && own != r.Sidecar:
				fail("roles."+string(role.Name), "make them equal", "the roles differ in sidecar")
			}
		}
	}
	if !r.Sidecar {
		return
	}
	if !l.has(top) {
		top = "roles." + string(r.firstRole()) + ".sidecar"
	}
	engine := schema.FindEngine(r.Engine.Type)
	switch {
	case r.Frontend.Type != schema.Dynamo:
		fail(top, "use the frontend dynamo", "sidecars require the frontend dynamo, got %s", r.Frontend.Type)
	case !engine.Sidecar:
		fail(top, "remove it", "the engine %s has no sidecar", engine.Name)
	case l.str("backend.dp_launch_mode") != "per_node":
		fail("backend.dp_launch_mode", "write per_node", "sidecars require per_node")
	case engine.Name == schema.TRTLLM && r.Disaggregated():
		fail(top, "use agg workers, or remove it",
			"sidecars of trtllm serve aggregated workers only; srtctl refuses it at the launch")
	}
}

// workerSelection checks the selection of workers by dynamo's router.
func (l *loadRules) workerSelection() {
	r := l.r
	const name = "frontend.worker_selection"
	if !l.has(name) {
		return
	}
	if r.Frontend.Type != schema.Dynamo {
		l.refuse("worker-selection", name, "remove it", "requires the frontend dynamo, got %s", r.Frontend.Type)
		return
	}
	const flag, variable = "router-policy-config", "DYN_ROUTER_POLICY_CONFIG"
	_, inFrontend := r.Frontend.Env.Get(variable)
	_, everywhere := r.Environment.Get(variable)
	switch {
	case slices.ContainsFunc(r.Frontend.Args, func(f Flag) bool { return strings.TrimPrefix(f.Name, "--") == flag }):
		l.refuse("worker-selection", name, "remove one of the two", "given beside frontend.args.%s", flag)
	case inFrontend || everywhere:
		l.refuse("worker-selection", name, "remove one of the two", "given beside the variable %s", variable)
	}
}
