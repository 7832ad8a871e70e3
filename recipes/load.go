package recipes

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func table(version int) *schema.Table { return schema.Recipe(version) }

// Load reads a recipe; a selector behind a colon names one of a file that holds
// several (see [Variants]). The error is about the file itself (missing,
// unreadable); what is wrong inside comes as diagnostics. The recipe is nil only if
// nothing of it can be used; with errors among the diagnostics it holds what could be read.
func Load(path string) (*Recipe, Diagnostics, error) {
	file, selector := SplitSelector(path)
	data, err := Read(file)
	if err != nil {
		return nil, nil, fmt.Errorf("load recipe: %w", err)
	}
	r, _, diags := Select(file, data, selector)
	return r, diags, nil
}

// ParseRecipe is [Load] on bytes that are at hand; file only names them.
func ParseRecipe(file string, data []byte) (*Recipe, Diagnostics) {
	r, _, diags := Select(file, data, "")
	return r, diags
}

// parseDoc reads a document that is one recipe.
func parseDoc(doc *Document) (*Recipe, Diagnostics) {
	version, d := schemaVersion(doc)
	if d != nil {
		return nil, Diagnostics{*d}
	}
	engine, bench := kinds(doc, version)
	r := rules{version: version, owner: "srtctl", unknown: Error}
	if !schema.EngineNamed(engine).Described {
		r.foreign = append(r.foreign, "backend", "engine", "roles")
	}
	if bench != "agentperf" {
		r.foreign = append(r.foreign, "benchmark")
	}
	v := read(doc, table(version), r)
	recipe := build(doc, version, v)
	if recipe.Engine.Type = engine; engine == "" {
		recipe.Engine.Type = schema.DefaultEngine
	}
	diags := append(v.diags, v.consistent(recipe)...)
	diags.Sort()
	return recipe, diags
}

// kinds are the engine and the benchmark of a recipe, which decide what else of
// it is known here. An engine may be named by the roles instead of the top.
func kinds(doc *Document, version int) (engine, bench string) {
	word := func(n *yaml.Node, key string) string {
		n = resolve(n)
		if n != nil && n.Kind == yaml.MappingNode {
			n = resolve(lookup(n, key))
		}
		if n == nil || n.Kind != yaml.ScalarNode {
			return ""
		}
		return n.Value
	}
	bench = word(lookup(doc.Root, "benchmark"), "type")
	if version == 1 {
		return word(lookup(doc.Root, "backend"), "type"), bench
	}
	if engine = word(lookup(doc.Root, "engine"), "type"); engine == "" {
		for _, role := range pairs(lookup(doc.Root, "roles")) {
			if e := word(lookup(role[1], "engine"), "type"); e != "" {
				return e, bench
			}
		}
	}
	return engine, bench
}

// lookup is the value of a key; nil where there is none.
func lookup(n *yaml.Node, key string) *yaml.Node {
	for _, kv := range pairs(n) {
		if kv[0].Value == key {
			return kv[1]
		}
	}
	return nil
}

func schemaVersion(doc *Document) (int, *Diagnostic) {
	for _, kv := range pairs(doc.Root) {
		if kv[0].Value != "schema" {
			continue
		}
		n := resolve(kv[1])
		if n.Tag == "!!int" && (n.Value == "1" || n.Value == "2") {
			return int(n.Value[0] - '0'), nil
		}
		d := placeOf(n, "schema").finding(doc.File, Error,
			fmt.Sprintf("unknown layout %s: want 1 (or no schema line) or 2", describe(n)),
			"write schema: 2, or remove the line for layout 1")
		return 0, &d
	}
	return 1, nil
}

// build turns values into the recipe; where a value is missing or of a wrong
// type the default stands, and the diagnostics say so.
func build(doc *Document, version int, v *values) *Recipe {
	r := &Recipe{
		File: doc.File, Schema: version, doc: doc, places: map[string]Place{},
		Name: v.str("name", ""), ModelPath: v.str("model.path", ""), Container: v.str("model.container", ""),
		StageDir: v.str("model.stage_dir", ""),
		GPUType:  v.str("resources.gpu_type", ""), GPUsPerNode: v.int("resources.gpus_per_node", 4),
		SpreadWorkers: v.bool("resources.spread_workers", false),
		Engine: Engine{
			Type: v.str("backend.type", schema.DefaultEngine), NUMAMemoryBind: v.str("backend.numa_memory_bind", ""),
			NUMACPUBind:     v.bool("backend.numa_cpu_bind", false),
			PublishEvents:   v.bool("backend.publish_events_and_metrics", false),
			SequentialStart: v.int("backend.sequential_node_start", 0), ServedModelName: v.str("backend.served_model_name", ""),
		},
		Prefill: v.role(schema.Prefill), Decode: v.role(schema.Decode), Agg: v.role(schema.Agg),
		Frontend: Frontend{
			Type: v.str("frontend.type", schema.Dynamo), Multiple: v.bool("frontend.enable_multiple_frontends", true),
			Placement: v.str("frontend.orchestrator_placement", "head"), Dedicated: v.bool("frontend.dedicated_node", false),
			Args: v.flags("frontend.args"), Env: v.env("frontend.env"),
		},
		Dynamo: Dynamo{
			Install: v.bool("dynamo.install", true), RequestPlane: v.str("dynamo.request_plane", "tcp"),
			EventPlane: v.str("dynamo.event_plane", ""),
		},
		Benchmark: Benchmark{
			Type: v.str("benchmark.type", "manual"), Placement: v.str("benchmark.client_placement", "head"),
			Dedicated: v.bool("benchmark.client_dedicated_node", false),
			Colocate:  v.bool("benchmark.colocate_with_frontend", true),
			Levels:    v.levels(), ClientDir: v.str("benchmark.agentperf_client_dir", ""),
			ConfigPath: v.str("benchmark.agentperf_config", ""),
			Image:      v.str("benchmark.container_image", ""), Env: v.env("benchmark.env"),
		},
		DedicatedInfra: v.bool("infra.etcd_nats_dedicated_node", false),
		Environment:    v.env("environment"), ExtraMounts: v.strings("extra_mount"),
		ContainerMounts:       v.env("container_mounts"),
		HealthAttempts:        v.int("health_check.max_attempts", 180),
		HealthIntervalSeconds: v.int("health_check.interval_seconds", 10),
		FatalMarkers:          v.bool("health_check.fatal_log_markers", true),
		FatalPatterns:         v.strings("health_check.extra_fatal_log_patterns"),
		Slurm: Slurm{
			Account: v.str("slurm.account", ""), Partition: v.str("slurm.partition", ""),
			TimeLimit: v.str("slurm.time_limit", ""),
		},
		SrunOptions: v.env("srun_options"), SbatchDirectives: v.env("sbatch_directives"),
		SetupScript: v.str("setup_script", ""), Observability: v.bool("observability.enabled", false),
		NATSPayloadMB: v.int("infra.nats_max_payload_mb", 0),
	}
	if val, ok := v.byName["telemetry"]; ok {
		on := resolve(lookup(val.node, "enabled"))
		r.Telemetry = on != nil && strings.EqualFold(on.Value, "true")
	}
	if val, ok := v.byName["services"]; ok {
		dedicated, payload, _ := infraServices(val.node)
		r.DedicatedInfra, r.NATSPayloadMB = r.DedicatedInfra || dedicated, max(r.NATSPayloadMB, payload)
	}
	for name, val := range v.byName {
		r.places[name] = val.place
	}
	for _, more := range []map[string]Place{v.under, v.spots} {
		for path, at := range more {
			if _, ok := r.places[path]; !ok {
				r.places[path] = at
			}
		}
	}
	if r.Frontend.Placement == "dedicated" {
		r.Frontend.Placement, r.Frontend.Dedicated = "head", true
	}
	if r.Benchmark.Placement == "dedicated" {
		r.Benchmark.Placement, r.Benchmark.Dedicated = "head", true
	}
	return r
}

func (v *values) str(name, def string) string {
	if val, ok := v.byName[name]; ok {
		return val.node.Value
	}
	return def
}

func (v *values) int(name string, def int) int {
	if val, ok := v.byName[name]; ok {
		if r, ok := rational(val.node); ok && r.IsInt() {
			return int(r.Num().Int64())
		}
	}
	return def
}

func (v *values) bool(name string, def bool) bool {
	if val, ok := v.byName[name]; ok {
		return strings.EqualFold(val.node.Value, "true")
	}
	return def
}

func (v *values) strings(name string) []string {
	var out []string
	if val, ok := v.byName[name]; ok {
		for _, e := range val.node.Content {
			out = append(out, resolve(e).Value)
		}
	}
	return out
}

func (v *values) env(name string) Env {
	val, ok := v.byName[name]
	if !ok {
		return nil
	}
	var out Env
	for _, kv := range pairs(val.node) {
		out = append(out, Var{Name: kv[0].Value, Value: resolve(kv[1]).Value})
	}
	return out
}

func (v *values) flags(name string) []Flag {
	var out []Flag
	for _, kv := range pairs(v.byName[name].node) {
		n := resolve(kv[1])
		switch {
		case isNull(n) || n.Tag == "!!bool" && !strings.EqualFold(n.Value, "true"):
		case n.Tag == "!!bool":
			out = append(out, Flag{Name: kv[0].Value, Bare: true})
		default:
			out = append(out, Flag{Name: kv[0].Value, Value: n.Value})
		}
	}
	return out
}

// levels: concurrency wins over concurrencies, as upstream has it.
func (v *values) levels() []int {
	if n := v.int("benchmark.concurrency", 0); n > 0 {
		return []int{n}
	}
	if v.reported("benchmark.concurrency") { // it wins, whatever was meant
		return nil
	}
	if val, ok := v.byName["benchmark.concurrencies"]; ok {
		ls, err := levels(val.node)
		if err == nil { // an error is among the diagnostics already
			return ls
		}
	}
	return nil
}

func (v *values) role(name schema.Role) Role {
	nodes, workers := name.NodesPath(), name.WorkersPath()
	r := Role{
		Name: name, Nodes: v.int(nodes, 0), Workers: v.int(workers, 0), GPUs: v.int(name.GPUsPath(), 0),
		Env: v.env(name.EnvPath()), ConfigPath: name.ConfigPath(schema.TRTLLM),
	}
	_, givenNodes := v.byName[nodes]
	_, givenWorkers := v.byName[workers]
	r.Given = givenNodes || givenWorkers
	if name == schema.Decode && givenNodes && r.Workers > 0 {
		r.Colocated = v.str(nodes, "") == "colocate" || r.Nodes == 0
	}
	for _, engine := range schema.Engines() {
		path := name.ConfigPath(engine.Name)
		if val, ok := v.byName[path]; ok && r.Args == nil {
			r.Args, r.ConfigPath = val.node, path
		}
	}
	return r
}

// Text is the engine config of a role as YAML, as written; empty without one.
func (r Role) Text() (string, error) {
	if r.Args == nil {
		return "", nil
	}
	var b strings.Builder
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(expanded(r.Args, 0)); err != nil {
		return "", fmt.Errorf("write engine config: %w", err)
	}
	return b.String(), enc.Close()
}

// expanded is a copy without aliases and merge keys, which point out of the part
// that is written; scalars keep their spelling.
func expanded(n *yaml.Node, depth int) *yaml.Node {
	n = resolve(n)
	if n == nil || depth > maxDepth {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	c := *n
	c.Anchor, c.Content = "", nil
	if n.Kind == yaml.MappingNode {
		for _, kv := range pairs(n) {
			c.Content = append(c.Content, expanded(kv[0], depth+1), expanded(kv[1], depth+1))
		}
		return &c
	}
	for _, e := range n.Content {
		c.Content = append(c.Content, expanded(e, depth+1))
	}
	return &c
}

// ArgInt is a whole number at the top level of a role's engine config.
func (r Role) ArgInt(key string) (int, bool) {
	for _, kv := range pairs(r.Args) {
		if kv[0].Value == key {
			n, err := strconv.Atoi(resolve(kv[1]).Value)
			return n, err == nil
		}
	}
	return 0, false
}
