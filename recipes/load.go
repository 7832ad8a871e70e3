package recipes

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func recipeTable(version int) *schema.Table { return schema.Recipe(version) }

// Load reads the recipe at a path. For a file with several recipes, the path ends with a
// colon and a selector (see [Variants]). The error is non-nil only if the file can't be
// read; problems in its content are returned as diagnostics. The recipe is nil if the file
// can't be parsed or does not contain exactly one recipe that matches. Otherwise it contains
// every value that is valid.
func Load(path string) (*Recipe, Diagnostics, error) {
	file, selector := SplitSelector(path)
	data, err := Read(file)
	if err != nil {
		return nil, nil, fmt.Errorf("load recipe: %w", err)
	}
	r, _, diags := Select(file, data, selector)
	return r, diags, nil
}

// ParseRecipe is like [Load] but parses data. The file name is used in diagnostics only.
func ParseRecipe(file string, data []byte) (*Recipe, Diagnostics) {
	r, _, diags := Select(file, data, "")
	return r, diags
}

// parseRecipeDocument parses a document that contains a single recipe.
func parseRecipeDocument(doc *Document) (*Recipe, Diagnostics) {
	version, d := schemaVersion(doc)
	if d != nil {
		return nil, Diagnostics{*d}
	}
	engine, bench := engineAndBenchmark(doc, version)
	s := strictness{version: version, reader: "srtctl", unknownKeys: Error}
	if version == 1 && engine != schema.TRTLLM { // the table has all fields of the others in layout 2 only
		s.foreign = append(s.foreign, "backend")
	}
	if version == 1 && bench != schema.AgentPerf {
		s.foreign = append(s.foreign, "benchmark")
	}
	v := readValues(doc, recipeTable(version), s)
	v.reportForeignKeys()
	recipe := buildRecipe(doc, version, v)
	if recipe.Engine.Type = engine; engine == "" {
		recipe.Engine.Type = schema.DefaultEngine
	}
	diags := append(v.diags, v.checkConsistency(recipe)...)
	diags.Sort()
	return recipe, diags.compact()
}

// engineAndBenchmark returns the types of the engine and the benchmark, which determine the
// fields that the recipe may have. In layout 2 the roles may name the engine.
func engineAndBenchmark(doc *Document, version int) (engine, bench string) {
	textOf := func(n *yaml.Node, key string) string { // of a scalar, or of a key of a mapping
		if n = resolveAlias(n); n != nil && n.Kind == yaml.ScalarNode {
			return n.Value
		}
		return scalarAt(n, key)
	}
	bench = textOf(lookup(doc.Root, "benchmark"), "type")
	if version == 1 {
		return textOf(lookup(doc.Root, "backend"), "type"), bench
	}
	if engine = textOf(lookup(doc.Root, "engine"), "type"); engine == "" {
		for _, role := range pairs(lookup(doc.Root, "roles")) {
			if e := textOf(lookup(role[1], "engine"), "type"); e != "" {
				return e, bench
			}
		}
	}
	return engine, bench
}

// lookup returns the value of a key in a mapping, or nil if it has no such key.
func lookup(n *yaml.Node, key string) *yaml.Node {
	for _, kv := range pairs(n) {
		if kv[0].Value == key {
			return kv[1]
		}
	}
	return nil
}

// scalarAt returns the text of the scalar at a key of a mapping, or "".
func scalarAt(n *yaml.Node, key string) string {
	if v := resolveAlias(lookup(n, key)); v != nil {
		return v.Value
	}
	return ""
}

func schemaVersion(doc *Document) (int, *Diagnostic) {
	n := resolveAlias(lookup(doc.Root, "schema"))
	switch {
	case n == nil:
		return 1, nil
	case n.Tag == "!!int" && (n.Value == "1" || n.Value == "2"):
		return int(n.Value[0] - '0'), nil
	}
	d := positionOf(n, "schema").diagnostic(doc.File, Error,
		fmt.Sprintf("unknown layout %s; expected 1 (or no schema line) or 2", describe(n)),
		"write schema: 2, or remove the line for layout 1").withRule("type")
	return 0, &d
}

// buildRecipe converts values to a recipe. Values that are missing or invalid get
// their defaults; the diagnostics report them.
func buildRecipe(doc *Document, version int, v *values) *Recipe {
	r := &Recipe{
		File: doc.File, Schema: version, doc: doc, positions: map[string]Position{},
		Prefill: v.role(schema.Prefill), Decode: v.role(schema.Decode), Agg: v.role(schema.Agg),
	}
	v.fill(r)
	r.Benchmark.Levels = v.concurrencyLevels()
	if val, ok := v.byName["telemetry"]; ok {
		r.Telemetry = strings.EqualFold(scalarAt(val.node, "enabled"), "true")
	}
	r.Frontend.WorkerSelection = v.yamlText("frontend.worker_selection")
	r.Services = v.readServices()
	for _, s := range r.Services {
		if s.Is(schema.NATS) && s.Enabled && s.External == "" {
			r.NATSPayloadMB = max(r.NATSPayloadMB, s.PayloadMB)
		}
		infra := s.Is(schema.Etcd) || s.Is(schema.NATS)
		r.DedicatedInfra = r.DedicatedInfra || infra && s.Enabled && s.External == "" && s.Node == "dedicated"
	}
	for _, role := range r.Roles() {
		r.Sidecar = r.Sidecar || v.bool("roles."+string(role.Name)+".sidecar")
	}
	for name, val := range v.byName {
		r.positions[name] = val.position
	}
	for _, more := range []map[string]Position{v.mapPositions, v.positions} {
		for path, at := range more {
			if _, ok := r.positions[path]; !ok {
				r.positions[path] = at
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

// fill sets the fields of a struct and its nested structs to the values at their path tags.
func (v *values) fill(to any) { v.fillStruct(reflect.ValueOf(to).Elem()) }

func (v *values) fillStruct(s reflect.Value) {
	for i := range s.NumField() {
		path := s.Type().Field(i).Tag.Get("path")
		if path == "" {
			if s.Field(i).Kind() == reflect.Struct {
				v.fillStruct(s.Field(i))
			}
			continue
		}
		switch to := s.Field(i).Addr().Interface().(type) {
		case *string:
			*to = v.str(path)
		case *int:
			*to = v.int(path)
		case *int64:
			*to = int64(v.int(path))
		case *float64:
			*to = v.quantity(path).Float()
		case *bool:
			*to = v.bool(path)
		case *[]string:
			*to = v.strings(path)
		case *Env:
			*to = v.env(path)
		case *[]Flag:
			*to = v.flags(path)
		case *Quantity:
			*to = v.quantity(path)
		default:
			panic(fmt.Sprintf("%s: unsupported field type %T", path, to))
		}
	}
}

// str returns the text of a field, or its default.
func (v *values) str(name string) string {
	if val, ok := v.byName[name]; ok {
		return val.node.Value
	}
	return v.fieldOf(name).Default
}

// fieldOf returns the field of a value's name, see [values.nameOf].
func (v *values) fieldOf(name string) schema.Field {
	if f, ok := v.table.Field(name); ok {
		return f
	}
	if n := v.table.Lookup(name); n != nil && n.Field != nil {
		return *n.Field
	}
	return schema.Field{}
}

func (v *values) int(name string) int {
	if val, ok := v.byName[name]; ok {
		if r, ok := parseNumber(val.node); ok && r.IsInt() {
			return int(r.Num().Int64())
		}
	}
	n, _ := strconv.Atoi(v.fieldOf(name).Default) // 0 if it has no default
	return n
}

func (v *values) bool(name string) bool { return strings.EqualFold(v.str(name), "true") }

func (v *values) strings(name string) []string {
	var out []string
	if val, ok := v.byName[name]; ok {
		for _, e := range val.node.Content {
			out = append(out, resolveAlias(e).Value)
		}
	}
	return out
}

func (v *values) env(name string) Env {
	var out Env
	for _, kv := range pairs(v.byName[name].node) {
		out = append(out, Var{Name: kv[0].Value, Value: resolveAlias(kv[1]).Value})
	}
	return out
}

func (v *values) flags(name string) []Flag {
	var out []Flag
	for _, kv := range pairs(v.byName[name].node) {
		text, isString := pythonString(kv[1])
		if !isString {
			text = PythonText(kv[1])
		}
		switch {
		case !isString && (text == "None" || text == "False"):
		case !isString && text == "True":
			out = append(out, Flag{Name: kv[0].Value, NoValue: true})
		default:
			out = append(out, Flag{Name: kv[0].Value, Value: text})
		}
	}
	return out
}

// concurrencyLevels returns the concurrency levels. As in srt-slurm, concurrency overrides concurrencies.
func (v *values) concurrencyLevels() []int {
	if n := v.int("benchmark.concurrency"); n > 0 {
		return []int{n}
	}
	if v.hasFinding("benchmark.concurrency") { // it overrides the list even if it is invalid
		return nil
	}
	if val, ok := v.byName["benchmark.concurrencies"]; ok {
		ls, err := parseLevels(val.node)
		if err == nil { // readField has reported an error
			return ls
		}
	}
	return nil
}

func (v *values) role(name schema.Role) Role {
	nodes, workers := name.NodesPath(), name.WorkersPath()
	r := Role{
		Name: name, Nodes: v.int(nodes), Workers: v.int(workers), GPUs: v.int(name.GPUsPath()),
		Env: v.env(name.EnvPath()), Container: v.str("roles." + string(name) + ".container"),
		Srun: v.env("roles." + string(name) + ".srun_options"), ConfigPath: name.ConfigPath(schema.TRTLLM),
	}
	_, givenNodes := v.byName[nodes]
	_, givenWorkers := v.byName[workers]
	r.Given = givenNodes || givenWorkers
	if name == schema.Decode && givenNodes && r.Workers > 0 {
		r.Colocated = v.str(nodes) == "colocate" || r.Nodes == 0
	}
	for _, engine := range []string{schema.TRTLLM, v.str("backend.type")} { // layout 2 has one path for all engines
		path := name.ConfigPath(engine)
		if val, ok := v.byName[path]; ok && (v.strictness.version == 2 || engine == v.str("backend.type")) {
			r.Args, r.ConfigPath = val.node, path
		}
	}
	return r
}

// yamlText returns the value of a field as YAML that YAML 1.1 and 1.2 read alike; empty if it is not set.
func (v *values) yamlText(name string) string {
	val, ok := v.byName[name]
	if !ok || isNull(val.node) {
		return ""
	}
	text, err := marshalYAML(AsPython(val.node))
	if err != nil {
		v.reportType(val.position, "can't be encoded: "+err.Error(), "")
	}
	return text
}

// Text returns the engine configuration of a role as YAML, or "" if it has none. Like the file that srtctl
// writes, it has sorted keys and the values that YAML 1.1 reads. The defaults are added.
func (r Role) Text(defaults ...Var) (string, error) {
	if r.Args == nil && len(defaults) == 0 {
		return "", nil
	}
	all := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if r.Args != nil {
		all = expandAliases(r.Args, 0)
	}
	if all.Kind == yaml.MappingNode {
		for _, d := range defaults {
			all.Content = append(all.Content, scalarNode(all, "!!str", d.Name), parseTyped(d.Value))
		}
	}
	text, err := marshalYAML(AsPython(all))
	if err != nil {
		return "", problem.Errorf(problem.YAMLInvalid, "encode engine configuration: %w", err)
	}
	return text, nil
}

// marshalYAML encodes a node as YAML without aliases and merge keys.
func marshalYAML(n *yaml.Node) (string, error) {
	var b strings.Builder
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(expandAliases(n, 0)), enc.Close())
	return b.String(), err
}

// expandAliases returns a copy of a node without aliases and merge keys, since their
// anchors may be outside of it. Scalars keep their spelling.
func expandAliases(n *yaml.Node, depth int) *yaml.Node {
	n = resolveAlias(n)
	if n == nil || depth > maxDepth {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	c := *n
	c.Anchor, c.Content = "", nil
	if n.Kind == yaml.MappingNode {
		for _, kv := range pairs(n) {
			c.Content = append(c.Content, expandAliases(kv[0], depth+1), expandAliases(kv[1], depth+1))
		}
		return &c
	}
	for _, e := range n.Content {
		c.Content = append(c.Content, expandAliases(e, depth+1))
	}
	return &c
}

// Arg returns the scalar at the top level of a role's engine configuration; given is false if there is none.
func (r Role) Arg(key string) (text string, given bool) {
	for _, kv := range pairs(r.Args) {
		if kv[0].Value == key {
			return resolveAlias(kv[1]).Value, true
		}
	}
	return "", false
}

// ArgInt returns a whole number at the top level of a role's engine configuration.
func (r Role) ArgInt(key string) (int, bool) {
	text, _ := r.Arg(key)
	n, err := strconv.Atoi(text)
	return n, err == nil
}
