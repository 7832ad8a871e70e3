// Package migrate writes a recipe of layout 1 in layout 2. It moves the text of
// each field to its new place, so that comments, order and spelling stay as far
// as they can, and proves by reading both that they mean the same. It knows the
// two layouts through their table and reads and writes no file.
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
	Notes []string // what was left out or has to be looked at
}

// Recipe migrates a recipe, or a file with a base and overrides; file names it in
// errors. What can't be moved by a program is an error that says where it stands.
func Recipe(file string, data []byte) (Result, error) {
	m, out, err := migrateAndVerify(file, data)
	if err != nil {
		return Result{}, fmt.Errorf("migrate %s: %w", file, err)
	}
	return Result{Data: out, Notes: m.notes}, nil
}

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
	now, err := readRecipes(file, out)
	if err != nil {
		return nil, nil, problem.Errorf(problem.MigrationRefused,
			"the result would have an error: %w; migrate it by hand", err)
	}
	for i := range old {
		for _, d := range recipes.DiffRecipes(old[i], now[i]).Differences {
			if !m.dropped[d.Path] {
				return nil, nil, problem.Errorf(problem.MigrationRefused,
					"%s would change its meaning; migrate it by hand", d.Path)
			}
		}
	}
	return m, out, nil
}

// read reads every recipe of a file, the base first.
func readRecipes(file string, data []byte) ([]*recipes.Recipe, error) {
	all, found := recipes.Variants(file, data, "")
	if len(all) == 0 {
		return nil, invalid(found[0])
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

// maxProved is how many recipes of one file are compared; those of a sweep are all alike.
const maxCompared = 32

type migration struct {
	data      []byte
	eol       string
	root      *yaml.Node
	spans     map[*yaml.Node][2]int
	agentperf bool

	out       []entry
	infra     infraSettings
	notes     []string
	dropped   map[string]bool
	dedicated map[string]bool
}

// homes is what the mappings of layout 1 are called in layout 2.
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

// family migrates the base and each override by itself.
func (m *migration) migrateOverrides(b *strings.Builder, all []entry) (rest string, err error) {
	for _, e := range all {
		kids, err := m.children(e)
		if err != nil {
			return "", err
		}
		if len(kids) == 0 || e.key == "lock" {
			e.render(b, 0, m.indentStep(), m.eol)
			continue
		}
		if err := m.migrateRecipe(kids, e.key == "base"); err != nil {
			return "", err
		}
		b.WriteString(rest + e.comments + e.key + ":" + e.keyComment() + m.eol)
		rest = m.render(b, m.indentStep())
	}
	return rest, nil
}

// recipe moves the entries of one recipe; a whole one gets the line of its
// layout, below the head of the file, which stays on top.
func (m *migration) migrateRecipe(all []entry, whole bool) error {
	m.out, m.infra = nil, infraSettings{}
	if whole && len(all) > 0 {
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

// render writes the result; comments of what is left with nothing go to the next
// entry, and are returned behind the last.
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

// step is the indentation of the file's first nested block.
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

// top moves one entry of the top level.
func (m *migration) moveTopLevel(e entry) error {
	if e.key == string(schema.Infra) {
		return m.readInfra(e)
	}
	home, apart := layout2Names[e.key]
	if !apart || e.node.Kind == yaml.ScalarNode && e.node.ShortTag() == "!!null" {
		m.out = append(m.out, e)
		return nil
	}
	kids, err := m.children(e)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(kids, func(k entry) bool { return m.moves(e.key, k) }) && home == e.key {
		m.out = append(m.out, e) // nothing of it moves: as it is
		return nil
	}
	m.out = append(m.out, entry{key: home, comments: e.comments, value: e.keyComment() + m.eol, indent: e.indent, children: []entry{}})
	for _, k := range kids {
		if err := m.moveField(e.key, k); err != nil {
			return err
		}
	}
	return nil
}

// moves says whether a field is another in layout 2.
func (m *migration) moves(parent string, k entry) bool {
	path := recipes.Join(parent, k.key)
	n := schema.Recipe(1).Lookup(path)
	if n == nil || n.Field == nil {
		return false
	}
	return n.Field.V2 != path || m.isUnused(path) || path == "frontend.type" && k.node.Value == "sglang"
}

func (m *migration) isUnused(path string) bool {
	return m.agentperf && slices.Contains(recipes.UnusedByAgentPerf(), path)
}

// field moves one entry below the top level.
func (m *migration) moveField(parent string, k entry) error {
	path := recipes.Join(parent, k.key)
	if done, err := m.moveSpecial(path, k); done || err != nil {
		return err
	}
	n := schema.Recipe(1).Lookup(path)
	switch {
	case n == nil: // of an engine or benchmark that is not known here: carried
		m.putAt(append(strings.Split(layout2Names[strings.SplitN(parent, ".", 2)[0]], "."), k.key), k)
		return nil
	case n.Field != nil && n.Field.V2 == "":
		return problem.Errorf(problem.MigrationRefused, "line %d: %s has no single equivalent in layout 2; move it by hand",
			k.node.Line, path)
	case n.Field != nil:
		m.putAt(strings.Split(n.Field.V2, "."), k)
		return nil
	}
	kids, err := m.children(k)
	if err != nil {
		return err
	}
	for i, kid := range kids {
		if i == 0 {
			kid.comments = reindent(k.comments, kid.indent-k.indent, m.eol) + kid.comments
		}
		if err := m.moveField(path, kid); err != nil {
			return err
		}
	}
	return nil
}

// special moves what the table alone does not tell.
func (m *migration) moveSpecial(path string, k entry) (done bool, err error) {
	word := k.node.Value
	switch {
	case m.isUnused(path):
		m.dropped[path] = true
		m.notes = append(m.notes,
			fmt.Sprintf("%s (line %d) is left out: agentperf does not use it, and layout 2 refuses it", path, k.node.Line))
	case path == schema.Decode.NodesPath() && word == "0":
		k.value = strings.Replace(k.value, "0", "colocate", 1)
		m.putAt([]string{"roles", string(schema.Decode), "nodes"}, k)
	case path == "frontend.type" && word == "sglang":
		k.value = strings.Replace(k.value, "sglang", "sglang-router", 1)
		m.putAt([]string{"frontend", "type"}, k)
	case strings.HasSuffix(path, "dedicated_node") || strings.HasSuffix(path, "_placement"):
		return m.movePlacement(path, k), nil
	case isEngineConfig(path):
		m.putAt([]string{"roles", roleName(k.key), "args"}, k)
	case path == "backend.kv_events_config" && k.node.Kind == yaml.MappingNode:
		kids, err := m.children(k)
		if err != nil {
			return true, err
		}
		for _, kid := range kids {
			m.putAt([]string{"roles", roleName(kid.key), "kv_events"}, kid)
		}
	default:
		return false, nil
	}
	return true, nil
}

// placement moves where frontend and client run: a node of their own is one of the places in layout
// 2, and goes before head, the only place that may stand beside it in layout 1.
func (m *migration) movePlacement(path string, k entry) (done bool) {
	part, key, _ := strings.Cut(path, ".")
	switch own := strings.EqualFold(k.node.Value, "true"); {
	case strings.HasSuffix(key, "_placement"):
		m.dropped[path] = m.dedicated[part]
		return m.dedicated[part]
	case !own:
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

// isConfig says whether a path is a role's configuration of an engine for which the
// table names no place in layout 2.
func isEngineConfig(path string) bool {
	return slices.ContainsFunc(schema.Engines(), func(e schema.Engine) bool {
		return e.HasRoleConfig && e.Name != schema.TRTLLM && strings.HasPrefix(path, "backend."+e.Name+"_config.")
	})
}

// role is a role of layout 2 by its name in layout 1.
func roleName(mode string) string {
	for _, r := range schema.WorkerRoles() {
		if r.Layout1Name() == mode {
			return string(r)
		}
	}
	return mode
}

// place puts an entry at a path of the result, under its last name.
func (m *migration) putAt(path []string, e entry) {
	list := &m.out
	for n, key := range path[:len(path)-1] {
		i := slices.IndexFunc(*list, func(have entry) bool { return have.key == key })
		if i < 0 {
			i = len(*list)
			made := entry{key: key, children: []entry{}, value: m.eol}
			if n == len(path)-2 { // what is said above the first field holds for all
				made.comments, made.indent, e.comments = e.comments, e.indent, ""
			}
			*list = append(*list, made)
		}
		list = &(*list)[i].children
	}
	e.key = path[len(path)-1]
	*list = append(*list, e)
}
