package recipes

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// Leaf is a field of a file without fields below it. A list is one leaf.
type Leaf struct {
	Canonical string // path in layout 1, by which fields are compared
	Position  Position
	Value     string // canonical text of the value
	node      *yaml.Node
}

// Decoded returns the decoded YAML value, or its text if it can't be decoded.
func (l Leaf) Decoded() any {
	var v any
	if l.node == nil || l.node.Decode(&v) != nil {
		return l.Value
	}
	return v
}

// Difference is a field in which two files differ. A or B is nil if that file omits it.
type Difference struct {
	Path string `json:"path"`
	A    *Side  `json:"a"`
	B    *Side  `json:"b"`
}

// Side is the value of a field in one of the files with its position.
type Side struct {
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Value string `json:"value"`
}

// Comparison is the result of comparing two files leaf by leaf.
type Comparison struct {
	Identical   int          `json:"identical"`
	Total       int          `json:"total"` // leaves of both files, each path once
	Differences []Difference `json:"differences"`
}

// Leaves returns the leaves of a recipe with their canonical paths, without the schema
// field and lock data, which do not affect the run.
func (r *Recipe) Leaves() []Leaf {
	t := recipeTable(r.Schema)
	out := collectLeaves(r.doc, t)
	for i, l := range out {
		out[i].Canonical = unifyEngineConfig(l.Canonical)
		if r.Schema == 2 {
			out[i].Canonical, out[i].Value = layout1Spelling(out[i].Canonical, l.Value)
		}
	}
	out = r.kvEventsByRole(servicesAsInfra(out))
	return slices.DeleteFunc(out, func(l Leaf) bool {
		return l.Canonical == "schema" || strings.HasPrefix(l.Canonical, "lock.")
	})
}

// KVEventRoles returns the worker roles that publish KV events if backend.kv_events_config is true.
func (r *Recipe) KVEventRoles() []schema.Role {
	var out []schema.Role
	for _, role := range r.Roles() {
		if role.Given && (role.Name != schema.Agg || r.Engine.Type == schema.DefaultEngine) {
			out = append(out, role.Name)
		}
	}
	return out
}

// kvEventsByRole replaces backend.kv_events_config: true by the setting of each role.
func (r *Recipe) kvEventsByRole(all []Leaf) []Leaf {
	const name = "backend.kv_events_config"
	i := slices.IndexFunc(all, func(l Leaf) bool { return l.Canonical == name && l.Value == "true" })
	if i < 0 {
		return all
	}
	var each []Leaf
	for _, role := range r.KVEventRoles() {
		l := all[i]
		l.Canonical += "." + role.Layout1Name()
		each = append(each, l)
	}
	return slices.Replace(all, i, i+1, each...)
}

// unifyEngineConfig replaces the engine in the canonical path of an engine configuration
// by TRTLLM, since layout 2 has the same path for all engines.
func unifyEngineConfig(path string) string {
	for _, e := range schema.Engines() {
		if rest, ok := strings.CutPrefix(path, "backend."+e.Name+"_config."); ok {
			return "backend." + schema.TRTLLM + "_config." + rest
		}
	}
	return path
}

// layout1Spelling returns the canonical path and value in layout 1 of a field of layout 2,
// for the fields whose value determines the path or is spelled differently.
func layout1Spelling(name, value string) (string, string) {
	switch name + "=" + value {
	case "benchmark.client_placement=dedicated":
		return "benchmark.client_dedicated_node", "true"
	case "frontend.orchestrator_placement=dedicated":
		return "frontend.dedicated_node", "true"
	case "resources.decode_nodes=colocate":
		return name, "0"
	case "frontend.type=sglang-router":
		return name, "sglang"
	}
	if rest, ok := strings.CutPrefix(name, "engine."); ok { // of an engine whose fields the table does not list
		return "backend." + rest, value
	}
	if role, rest, ok := strings.Cut(strings.TrimPrefix(name, "roles."), ".kv_events"); ok &&
		strings.HasPrefix(name, "roles.") {
		return "backend.kv_events_config." + schema.Role(role).Layout1Name() + rest, value
	}
	return name, value
}

// servicesAsInfra replaces the services of layout 2 by the equivalent infra leaves of layout 1.
// Services without an equivalent stay.
func servicesAsInfra(all []Leaf) []Leaf {
	for i, l := range all {
		if l.Canonical != "services" || l.node.Kind != yaml.SequenceNode {
			continue
		}
		dedicated, payload, others := parseInfraServices(l.node)
		var in []Leaf
		if dedicated {
			in = append(in, Leaf{Canonical: "infra.etcd_nats_dedicated_node", Position: l.Position, Value: "true"})
		}
		if payload > 0 {
			in = append(in, Leaf{Canonical: "infra.nats_max_payload_mb", Position: l.Position, Value: strconv.Itoa(payload)})
		}
		if len(others) > 0 {
			rest := &yaml.Node{Kind: yaml.SequenceNode, Content: others}
			in = append(in, Leaf{Canonical: l.Canonical, Position: l.Position, Value: canonicalText(rest), node: rest})
		}
		return slices.Replace(all, i, i+1, in...)
	}
	return all
}

// leafCollector collects the leaves of a document.
type leafCollector struct {
	doc *Document
	out []Leaf
}

func collectLeaves(d *Document, t *schema.Table) []Leaf {
	c := leafCollector{doc: d}
	c.collect(d.Root, t.Root(), "", "", false)
	return c.out
}

// collect adds the leaves of a mapping. t is nil below a field of the table. In a shared block, whose
// fields have the paths of another block, the canonical path is that of the mapping.
func (c *leafCollector) collect(n *yaml.Node, t *schema.Node, path, canonical string, shared bool) {
	for _, kv := range pairs(n) {
		val := resolveAlias(kv[1])
		at := Position{
			Path: c.doc.pathOf(kv[0], Join(path, kv[0].Value)), Line: kv[1].Line, Column: kv[1].Column,
		}
		name := Join(canonical, kv[0].Value)
		var next *schema.Node
		if t != nil {
			next = t.Children[kv[0].Value]
		}
		var f *schema.Field
		if next != nil {
			f = next.Field
		}
		if f != nil && !shared {
			name = f.Name()
		}
		if f != nil && f.Short != "" && val.Kind == yaml.ScalarNode && !isNull(val) { // engine: trtllm
			next = next.Children[f.Short]
			if name = Join(name, f.Short); !shared && f.Like == "" {
				name = next.Field.Name()
			}
		}
		if val.Kind == yaml.MappingNode && len(val.Content) > 0 {
			c.collect(val, next, at.Path, name, shared || f != nil && f.Like != "")
			continue
		}
		if val.Kind == yaml.MappingNode && next != nil && (f == nil || f.Kind.IsBlock()) {
			continue // an empty section has no effect
		}
		c.out = append(c.out, Leaf{Canonical: name, Position: at, Value: canonicalText(val), node: val})
	}
}

// parseInfraServices converts the services of layout 2 to the infra settings of layout 1: whether
// etcd and NATS have a dedicated node, and the payload limit of NATS in MB. others are the services
// that layout 1 can't express.
func parseInfraServices(list *yaml.Node) (dedicated bool, payload int, others []*yaml.Node) {
	for _, s := range list.Content {
		infra, otherSettings := "", false
		var node, limit string
		for _, kv := range pairs(s) {
			switch kv[0].Value {
			case "name", "type":
				if name := resolveAlias(kv[1]).Value; name == string(schema.Etcd) || name == string(schema.NATS) {
					infra = name
				}
			case "placement":
				node = scalarAt(kv[1], "node")
			case "options":
				limit = scalarAt(kv[1], natsPayloadOption)
				otherSettings = otherSettings || len(pairs(kv[1])) > 1
			default:
				otherSettings = true
			}
		}
		if infra == "" || otherSettings {
			others = append(others, s)
		}
		if infra == "" {
			continue
		}
		dedicated = dedicated || node == "dedicated"
		if r, ok := parseNumber(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: limit}); ok &&
			infra == string(schema.NATS) && r.Num().IsInt64() {
			payload = int(r.Num().Int64())
		}
	}
	return dedicated, payload, others
}

// canonicalText formats a value independently of its style: quotes, flow or block, 1.0 or
// 1.00. A string differs from a number: "1" is not 1.
func canonicalText(n *yaml.Node) string {
	n = resolveAlias(n)
	switch n.Kind {
	case yaml.SequenceNode:
		parts := make([]string, 0, len(n.Content))
		for _, e := range n.Content {
			parts = append(parts, canonicalText(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yaml.MappingNode:
		var parts []string
		for _, kv := range pairs(n) {
			parts = append(parts, kv[0].Value+": "+canonicalText(kv[1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if r, ok := parseNumber(n); ok {
		return r.RatString()
	}
	switch n.Tag {
	case "!!null":
		return "null"
	case "!!bool":
		return strings.ToLower(n.Value)
	case "!!str":
		if plain := (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}); plain.ShortTag() != "!!str" {
			return fmt.Sprintf("%q", n.Value)
		}
	}
	return n.Value
}

// DiffRecipes compares two recipes by their meaning. It ignores their layouts, and treats an
// absent field as one that has its default.
func DiffRecipes(a, b *Recipe) Comparison {
	return compareLeaves(a.Leaves(), b.Leaves(), recipeTable(1))
}

// diffWorkloads compares two workload files. An absent key differs from any value, since
// the client's defaults are not documented.
func diffWorkloads(a, b *Workload) Comparison {
	return compareLeaves(a.Leaves(), b.Leaves(), nil)
}

// Leaves returns the leaves of a workload file.
func (w *Workload) Leaves() []Leaf {
	return collectLeaves(w.doc, schema.Workload())
}

func compareLeaves(a, b []Leaf, defaults *schema.Table) Comparison {
	right := map[string]Leaf{}
	for _, l := range b {
		right[l.Canonical] = l
	}
	c := Comparison{Differences: []Difference{}}
	seen := map[string]bool{}
	for _, l := range a {
		seen[l.Canonical] = true
		r, ok := right[l.Canonical]
		c.Total++
		switch {
		case ok && r.Value == l.Value, !ok && isDefault(l, defaults):
			c.Identical++
		case ok:
			c.Differences = append(c.Differences, Difference{Path: l.Canonical, A: newSide(l), B: newSide(r)})
		default:
			c.Differences = append(c.Differences, Difference{Path: l.Canonical, A: newSide(l)})
		}
	}
	for _, l := range b {
		if seen[l.Canonical] {
			continue
		}
		c.Total++
		if isDefault(l, defaults) {
			c.Identical++
			continue
		}
		c.Differences = append(c.Differences, Difference{Path: l.Canonical, B: newSide(l)})
	}
	return c
}

func isDefault(l Leaf, defaults *schema.Table) bool {
	if defaults == nil {
		return false
	}
	f, ok := defaults.Field(l.Canonical)
	if !ok {
		return false
	}
	if f.Default == "" {
		return f.Nullable && l.Value == "null"
	}
	return l.Value == f.Default
}

// newSide returns a side for display. It hides the values of secrets.
func newSide(l Leaf) *Side {
	s := &Side{Path: l.Position.Path, Line: l.Position.Line, Value: l.Value}
	keys, err := SplitPath(l.Position.Path)
	if err == nil && len(keys) > 0 && secret.Is(keys[len(keys)-1].Key, strings.Trim(l.Value, `"'`)) {
		s.Value = secret.Hidden
	}
	return s
}

// isWorkload reports whether a file is a workload rather than a recipe: it has keys of the
// client at its top level, and neither resources nor benchmark.
func isWorkload(doc *Document) bool {
	have := map[string]bool{}
	for _, kv := range pairs(doc.Root) {
		have[kv[0].Value] = true
	}
	return (have["base_url"] || have["trajectory_path"] || have["concurrencies"]) && !have["resources"] &&
		!have["benchmark"]
}

// DiffFiles compares two recipes or two workload files field by field. It detects the
// type of the files from their keys.
func DiffFiles(a, b string) (Comparison, error) {
	var c Comparison
	kinds := [2]bool{}
	for i, name := range []string{a, b} {
		path, _ := SplitSelector(name)
		data, err := Read(path)
		if err != nil {
			return c, fmt.Errorf("diff: %w", err)
		}
		doc, _ := Parse(path, data)
		kinds[i] = isWorkload(doc)
	}
	if kinds[0] != kinds[1] {
		return c, problem.Errorf(problem.FileKindMismatch, "diff %s %s: one is a recipe and the other a workload file; "+
			"give two files of the same type", a, b)
	}
	if kinds[0] {
		return loadAndDiff(a, b, LoadWorkload, diffWorkloads)
	}
	return loadAndDiff(a, b, Load, DiffRecipes)
}

func loadAndDiff[T any](
	a, b string, load func(string) (*T, Diagnostics, error), diff func(a, b *T) Comparison,
) (Comparison, error) {
	x, err := requireNoErrors(load(a))
	y, err2 := requireNoErrors(load(b))
	if err := errors.Join(err, err2); err != nil {
		return Comparison{}, err
	}
	return diff(x, y), nil
}

// requireNoErrors returns an error if the findings of a file include errors, since its meaning is
// uncertain.
func requireNoErrors[T any](v *T, found Diagnostics, err error) (*T, error) {
	i := slices.IndexFunc(found, func(d Diagnostic) bool { return d.Severity == Error })
	if err == nil && i >= 0 {
		err = problem.Errorf(problem.RecipeInvalid, "diff: %s; correct the errors first", found[i])
	}
	return v, err
}
