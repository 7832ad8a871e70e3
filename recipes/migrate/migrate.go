// Package migrate converts recipes from layout 1 to layout 2. It moves the text of each field
// to its new path, so that comments, order and spelling are kept where possible. It then
// compares both recipes to make sure that their meaning is the same. The table of fields
// defines the paths in both layouts. The package does no I/O.
package migrate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Result is a recipe in layout 2.
type Result struct {
	Data  []byte
	Notes []string // fields that were removed, with the reason
}

// Recipe migrates a recipe, or a file with a base and overrides. The file name is used in
// errors only. It is an error if a field can't be moved automatically.
func Recipe(file string, data []byte) (Result, error) {
	m, out, err := migrateAndVerify(file, data)
	if err != nil {
		return Result{}, fmt.Errorf("migrate %s: %w", file, err)
	}
	return Result{Data: out, Notes: m.notes}, nil
}

// migrateAndVerify migrates all recipes of a file and compares them with the originals.
func migrateAndVerify(file string, data []byte) (*migration, []byte, error) {
	old, err := readRecipes(file, data)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; correct the errors first", err)
	}
	if old[0].Schema == 2 {
		return nil, nil, problem.New(problem.MigrationNotNeeded, "already in layout 2")
	}
	m := &migration{
		data: data, eol: "\n", agentperf: old[0].Benchmark.Type == "agentperf", dropped: map[string]bool{},
		dedicated: map[string]bool{},
	}
	if bytes.Contains(data, []byte("\r\n")) {
		m.eol = "\r\n"
	}
	if m.root, m.spans, err = edit.Spans(data); err != nil {
		return nil, nil, err
	}
	out, err := m.run()
	if err != nil {
		return nil, nil, err
	}
	migrated, err := readRecipes(file, out)
	if err != nil {
		return nil, nil, problem.Errorf(problem.MigrationRefused,
			"the result would have an error: %w; migrate it by hand", err)
	}
	if err := m.verify(old, migrated); err != nil {
		return nil, nil, err
	}
	return m, out, nil
}

// verify compares the migrated recipes with the originals.
func (m *migration) verify(old, migrated []*recipes.Recipe) error {
	if len(migrated) != len(old) {
		return problem.Errorf(problem.MigrationRefused,
			"the number of recipes would change from %d to %d; migrate it by hand", len(old), len(migrated))
	}
	for i := range old {
		for _, d := range recipes.DiffRecipes(old[i], migrated[i]).Differences {
			if !m.dropped[d.Path] {
				return problem.Errorf(problem.MigrationRefused, "%s would change its meaning; migrate it by hand", d.Path)
			}
		}
	}
	return nil
}

// readRecipes returns the recipes of a file, the base first.
func readRecipes(file string, data []byte) ([]*recipes.Recipe, error) {
	all, found := recipes.Variants(file, data, "")
	if len(all) == 0 {
		return nil, invalid(found.BySeverity()[0])
	}
	selectors := []string{}
	if base, _ := recipes.Variants(file, data, "base"); len(base) == 1 && len(all) > 1 {
		selectors = append(selectors, "base")
	}
	for _, v := range all {
		selectors = append(selectors, v.Selector)
	}
	var out []*recipes.Recipe
	for _, s := range selectors[:min(len(selectors), maxCompared)] {
		r, _, found := recipes.Select(file, data, s)
		for _, d := range found {
			if d.Severity == recipes.Error {
				return nil, invalid(d)
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// invalid returns the error for a finding in the recipe. [Recipe] adds the file name.
func invalid(d recipes.Diagnostic) error {
	where := ""
	if d.Line > 0 {
		where = fmt.Sprintf("line %d, column %d: ", d.Line, d.Column)
	}
	if d.Path != "" {
		where += d.Path + ": "
	}
	return problem.Errorf(problem.RecipeInvalid, "%s%s", where, d.Message)
}

// maxCompared is the maximum number of recipes of a file that are compared. The recipes of a
// sweep differ in values only.
const maxCompared = 32

// migration is the state of the migration of a file.
type migration struct {
	data      []byte
	eol       string // line ending of the file
	root      *yaml.Node
	spans     map[*yaml.Node][2]int // start and end offset of each node
	agentperf bool                  // the benchmark is agentperf

	out       []entry // result for the current recipe
	infra     infraSettings
	notes     []string
	dropped   map[string]bool // canonical paths that may differ from the original
	dedicated map[string]bool // frontend, benchmark: has a dedicated node
}

// layout2Names maps the top-level mappings of layout 1 to their names in layout 2.
var layout2Names = map[string]string{
	"backend": "engine", "resources": "resources", "frontend": "frontend", "benchmark": "benchmark", "dynamo": "dynamo",
}

func (m *migration) run() ([]byte, error) {
	if m.root.Style&yaml.FlowStyle != 0 {
		return nil, problem.New(problem.MigrationRefused,
			"the recipe is one mapping in braces; write one field per line")
	}
	all, err := m.entries(m.root, 0)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	rest := ""
	if slices.ContainsFunc(all, func(e entry) bool { return e.key == "base" }) {
		rest, err = m.migrateOverrides(&b, all)
	} else if err = m.migrateRecipe(all, true); err == nil {
		rest = m.render(&b, 0)
	}
	if err != nil {
		return nil, err
	}
	b.WriteString(rest + string(m.data[m.nextLine(m.spans[m.root][1]):]))
	out := b.String()
	if !bytes.HasSuffix(m.data, []byte("\n")) {
		out = strings.TrimSuffix(out, m.eol)
	}
	return []byte(out), nil
}

// migrateOverrides migrates the base and each override.
func (m *migration) migrateOverrides(b *strings.Builder, all []entry) (rest string, err error) {
	for _, e := range all {
		children, err := m.children(e)
		if err != nil {
			return "", err
		}
		if len(children) == 0 || e.key == "lock" {
			e.render(b, 0, m.indentStep(), m.eol)
			continue
		}
		if err := m.migrateRecipe(children, e.key == "base"); err != nil {
			return "", err
		}
		b.WriteString(rest + e.comments + e.key + ":" + e.keyComment() + m.eol)
		rest = m.render(b, m.indentStep())
	}
	return rest, nil
}

// migrateRecipe moves the entries of a recipe. If it is complete, that is, not an override, it
// adds the schema line below the comment at the start of the file.
func (m *migration) migrateRecipe(all []entry, complete bool) error {
	m.out, m.infra = nil, infraSettings{}
	if complete && len(all) > 0 {
		head := entry{key: "schema", value: " 2" + m.eol, indent: all[0].indent}
		if all[0].indent > 0 || m.lineStart(m.spans[m.root.Content[0]][0]) > 0 {
			head.comments, all[0].comments = all[0].comments, ""
		}
		m.out = append(m.out, head)
	}
	for _, e := range all {
		if e.key == "schema" {
			if len(m.out) > 0 && m.out[0].comments == "" {
				m.out[0].comments = e.comments
			}
			continue
		}
		if err := m.moveTopLevel(e); err != nil {
			return err
		}
	}
	m.infra.writeServices(m)
	return nil
}

// render writes the result. The comments of an entry whose children were all moved go to
// the next entry; if there is none, render returns them.
func (m *migration) render(b *strings.Builder, indent int) (rest string) {
	lead := ""
	for _, e := range m.out {
		if e.children != nil && len(e.children) == 0 {
			if e.key != "resources" || indent > 0 {
				lead += e.comments
				continue
			}
			e.children, e.value = nil, " {}"+m.eol
		}
		e.comments, lead = lead+e.comments, ""
		e.render(b, indent, m.indentStep(), m.eol)
	}
	return lead
}

// indentStep returns the indentation of the first nested block of the file.
func (m *migration) indentStep() int {
	for _, v := range m.root.Content {
		if v.Kind == yaml.MappingNode && v.Style&yaml.FlowStyle == 0 && len(v.Content) > 0 {
			if at := m.spans[v.Content[0]][0]; at-m.lineStart(at) > 0 {
				return at - m.lineStart(at)
			}
		}
	}
	return 2
}

// moveTopLevel moves an entry of the top level.
func (m *migration) moveTopLevel(e entry) error {
	if e.key == string(schema.Infra) {
		return m.readInfra(e)
	}
	name, nested := layout2Names[e.key]
	if !nested || e.node.Kind == yaml.ScalarNode && e.node.ShortTag() == "!!null" {
		m.out = append(m.out, e)
		return nil
	}
	children, err := m.children(e)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(children, func(k entry) bool { return m.moves(e.key, k) }) && name == e.key {
		m.out = append(m.out, e) // no field moves
		return nil
	}
	m.out = append(m.out, entry{
		key: name, comments: e.comments, value: e.keyComment() + m.eol, indent: e.indent, children: []entry{},
	})
	for _, k := range children {
		if err := m.moveField(e.key, k); err != nil {
			return err
		}
	}
	return nil
}

// moves reports whether a field has a different path or value in layout 2.
func (m *migration) moves(parent string, k entry) bool {
	path := recipes.Join(parent, k.key)
	n := schema.Recipe(1).Lookup(path)
	if n == nil || n.Field == nil {
		return false
	}
	return n.Field.V2 != path || m.isUnused(path) || path == "frontend.type" && k.node.Value == "sglang"
}

// isUnused reports whether layout 2 rejects a field because agentperf does not use it.
func (m *migration) isUnused(path string) bool {
	return m.agentperf && slices.Contains(recipes.UnreadBy(schema.AgentPerf), path)
}

// moveField moves an entry below the top level.
func (m *migration) moveField(parent string, k entry) error {
	path := recipes.Join(parent, k.key)
	if done, err := m.moveSpecial(path, k); done || err != nil {
		return err
	}
	n := schema.Recipe(1).Lookup(path)
	switch {
	case n == nil: // of an engine or benchmark whose fields the table does not list
		m.putAt(append(strings.Split(layout2Names[strings.SplitN(parent, ".", 2)[0]], "."), k.key), k)
		return nil
	case n.Field != nil && n.Field.V2 == "":
		return problem.Errorf(problem.MigrationRefused, "line %d: %s has no single equivalent in layout 2; move it by hand",
			k.node.Line, path)
	case n.Field != nil:
		m.putAt(strings.Split(n.Field.V2, "."), k)
		return nil
	}
	children, err := m.children(k)
	if err != nil {
		return err
	}
	for i, child := range children {
		if i == 0 {
			child.comments = reindent(k.comments, child.indent-k.indent, m.eol) + child.comments
		}
		if err := m.moveField(path, child); err != nil {
			return err
		}
	}
	return nil
}

// moveSpecial moves the fields for which the path in the table is not enough: their value changes
// too, or they are removed or split.
func (m *migration) moveSpecial(path string, k entry) (done bool, err error) {
	value := k.node.Value
	switch {
	case m.isUnused(path):
		m.dropped[path] = true
		m.notes = append(m.notes,
			fmt.Sprintf("%s (line %d) was removed: agentperf does not use it, and layout 2 rejects it", path, k.node.Line))
	case path == schema.Decode.NodesPath() && value == "0":
		k.value = strings.Replace(k.value, "0", "colocate", 1)
		m.putAt([]string{"roles", string(schema.Decode), "nodes"}, k)
	case path == "frontend.type" && value == "sglang":
		k.value = strings.Replace(k.value, "sglang", "sglang-router", 1)
		m.putAt([]string{"frontend", "type"}, k)
	case strings.HasSuffix(path, "dedicated_node") || strings.HasSuffix(path, "_placement"):
		return m.movePlacement(path, k), nil
	case isEngineConfig(path):
		m.putAt([]string{"roles", roleName(k.key), "args"}, k)
	case path == "backend.kv_events_config" && k.node.Kind == yaml.MappingNode:
		children, err := m.children(k)
		if err != nil {
			return true, err
		}
		for _, child := range children {
			m.putAt([]string{"roles", roleName(child.key), "kv_events"}, child)
		}
	default:
		return false, nil
	}
	return true, nil
}

// movePlacement moves the placement of the frontend or the client. A dedicated node is a value of
// placement.node in layout 2. It replaces head, the only placement that layout 1 allows together with
// a dedicated node.
func (m *migration) movePlacement(path string, k entry) (done bool) {
	part, key, _ := strings.Cut(path, ".")
	switch dedicated := strings.EqualFold(k.node.Value, "true"); {
	case strings.HasSuffix(key, "_placement"):
		m.dropped[path] = m.dedicated[part]
		return m.dedicated[part]
	case !dedicated:
		m.dropped[path] = true
	default:
		m.dedicated[part] = true
		m.dropped["frontend.orchestrator_placement"], m.dropped["benchmark.client_placement"] = true, true
		for i := range m.out {
			if m.out[i].key == part {
				m.out[i].children = slices.DeleteFunc(m.out[i].children, func(e entry) bool { return e.key == "placement" })
			}
		}
		k.value = strings.Replace(k.value, k.node.Value, "dedicated", 1)
		m.putAt([]string{part, "placement", "node"}, k)
	}
	return true
}

// isEngineConfig reports whether a path is in the configuration of an engine for which the table
// has no path in layout 2.
func isEngineConfig(path string) bool {
	return slices.ContainsFunc(schema.Engines(), func(e schema.Engine) bool {
		return e.HasRoleConfig && e.Name != schema.TRTLLM && strings.HasPrefix(path, "backend."+e.Name+"_config.")
	})
}

// roleName returns the name in layout 2 of a role of layout 1.
func roleName(mode string) string {
	for _, r := range schema.WorkerRoles() {
		if r.Layout1Name() == mode {
			return string(r)
		}
	}
	return mode
}

// putAt adds an entry to the result at a path.
func (m *migration) putAt(path []string, e entry) {
	list := &m.out
	for n, key := range path[:len(path)-1] {
		i := slices.IndexFunc(*list, func(have entry) bool { return have.key == key })
		if i < 0 {
			i = len(*list)
			parent := entry{key: key, children: []entry{}, value: m.eol}
			if n == len(path)-2 { // the comment above the first field applies to all of them
				parent.comments, parent.indent, e.comments = e.comments, e.indent, ""
			}
			*list = append(*list, parent)
		}
		list = &(*list)[i].children
	}
	e.key = path[len(path)-1]
	*list = append(*list, e)
}
