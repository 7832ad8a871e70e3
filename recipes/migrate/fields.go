package migrate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// layout2Name returns the name in layout 2 of a key of the top level.
func layout2Name(key string) string {
	if key == "backend" {
		return "engine"
	}
	return key
}

// moveTopLevel moves an entry of the top level.
func (m *migration) moveTopLevel(e entry) error {
	if e.key == string(schema.Infra) {
		return m.moveInfra(e)
	}
	if e.node.Kind != yaml.MappingNode && e.node.Kind != yaml.AliasNode || !m.changes(e.key, e.node) {
		e.key = layout2Name(e.key)
		m.putAt([]string{e.key}, e)
		return nil
	}
	children, err := m.children(e)
	if err != nil {
		return err
	}
	name := layout2Name(e.key)
	m.putAt([]string{name}, entry{
		comments: e.comments, beside: e.beside, indent: e.indent, node: e.node, children: []entry{},
	})
	for _, k := range children {
		if err := m.moveField(recipes.Join(e.key, k.key), k); err != nil {
			return err
		}
	}
	return nil
}

// changes reports whether a value, or a value in it, has another path or value in layout 2.
func (m *migration) changes(path string, n *yaml.Node) bool {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	t := schema.Recipe(1).Lookup(path)
	switch {
	case m.removed(path) != "" || path == "backend":
		return true
	case t != nil && t.Field != nil && t.Field.V1 == path && t.Field.V2 != path:
		return true
	case path == "dynamo.top_of_tree":
		return isTrue(n) && !m.section.complete // it may replace the source of the base
	case path == "frontend.type":
		isRouter := func(n *yaml.Node) bool { return n.Value == schema.DefaultEngine }
		return isRouter(n) || slices.ContainsFunc(n.Content, isRouter)
	case n.Kind != yaml.MappingNode:
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if m.changes(recipes.Join(path, n.Content[i].Value), n.Content[i+1]) {
			return true
		}
	}
	return false
}

// moveField moves an entry below the top level.
func (m *migration) moveField(path string, k entry) error {
	if why := m.removed(path); why != "" {
		m.remove(path, why, k)
		return nil
	}
	if done, err := m.moveSpecial(path, k); done || err != nil {
		return err
	}
	to := path
	t := schema.Recipe(1).Lookup(path)
	if t != nil && t.Field != nil && t.Field.V1 == path {
		if to = t.Field.V2; to == "" {
			return m.refuse(k.node, path, "has no single equivalent in layout 2; move it by hand")
		}
	} else if rest, ok := strings.CutPrefix(path, "backend."); ok { // a key that the table does not list
		to = "engine." + rest
	}
	if k.node.Kind != yaml.MappingNode || !m.changesBelow(path, k.node) {
		m.putAt(strings.Split(to, "."), k)
		return nil
	}
	children, err := m.children(k)
	if err != nil {
		return err
	}
	for i, child := range children {
		if i == 0 {
			child.comments = reindent(k.comments+m.lineComment(k), child.indent-k.indent, m.eol) + child.comments
		}
		if err := m.moveField(recipes.Join(path, child.key), child); err != nil {
			return err
		}
	}
	return nil
}

// changesBelow reports whether a value in a mapping has another path or value in layout 2, apart from
// moving with the mapping.
func (m *migration) changesBelow(path string, n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if m.changes(recipes.Join(path, n.Content[i].Value), n.Content[i+1]) {
			return true
		}
	}
	return false
}

// moveSpecial moves the fields for which the path in the table is not enough: their value changes
// too, or they are split.
func (m *migration) moveSpecial(path string, k entry) (done bool, err error) {
	switch {
	case path == schema.Decode.NodesPath() && !m.section.every(isSeparate):
		return true, m.replaceValue(path, "0", "colocate", k, "roles", string(schema.Decode), "nodes")
	case path == "frontend.type":
		return true, m.replaceValue(path, schema.DefaultEngine, schema.DefaultEngine+"-router", k, "frontend", "type")
	case strings.HasSuffix(path, "dedicated_node") || strings.HasSuffix(path, "_placement"):
		return true, m.movePlacement(path, k)
	case path == "backend.mocker_config" && k.node.Kind == yaml.MappingNode, isEngineConfig(path),
		path == "backend.kv_events_config" && k.node.Kind == yaml.MappingNode:
		return true, m.moveByRole(path, k)
	case path == "backend.kv_events_config":
		return true, m.moveKVEvents(path, k)
	case path == "backend.mooncake_kv_store":
		return true, m.refuse(k.node, path, "in layout 2, the KV store is a service mooncake-master and variables of the "+
			"roles; write them by hand and remove it")
	case path == "dynamo.hash" || path == "dynamo.wheel" || path == "dynamo.top_of_tree" && isTrue(k.node):
		m.replaceSource(path)
	}
	return false, nil
}

// isSeparate reports whether decode workers have nodes of their own.
func isSeparate(r *recipes.Recipe) bool { return !r.Decode.Colocated }

func isTrue(n *yaml.Node) bool { return strings.EqualFold(n.Value, "true") }

// replaceValue puts an entry at a path, with another value if it has the value from. In a zip override
// the entries of a list are replaced.
func (m *migration) replaceValue(path, from, to string, k entry, at ...string) error {
	source := func(n *yaml.Node) string { return string(m.data[m.spans[n][0]:m.spans[n][1]]) }
	switch {
	case k.node.Kind == yaml.ScalarNode && k.node.Value == from:
		k.value = strings.Replace(k.value, source(k.node), to, 1)
	case k.node.Kind == yaml.SequenceNode && m.section.zip:
		var entries []string
		for _, n := range k.node.Content {
			text := source(n)
			if n.Kind == yaml.ScalarNode && n.Value == from {
				text = to
			}
			entries = append(entries, text)
		}
		k.value = strings.Replace(k.value, strings.TrimRight(source(k.node), "\r\n"), "["+strings.Join(entries, ", ")+"]", 1)
	case k.node.Kind != yaml.ScalarNode:
		return m.refuse(k.node, path, "is not a single value; write one")
	}
	m.putAt(at, k)
	return nil
}

// isEngineConfig reports whether a path is in the configuration of an engine for which the table
// has no path in layout 2.
func isEngineConfig(path string) bool {
	return slices.ContainsFunc(schema.Engines(), func(e schema.Engine) bool {
		return e.HasRoleConfig && e.Name != schema.TRTLLM && path == "backend."+e.Name+"_config"
	})
}

// moveByRole moves a mapping with a key for each role to the roles.
func (m *migration) moveByRole(path string, k entry) error {
	children, err := m.children(k)
	if err != nil {
		return err
	}
	field := "args"
	if path == "backend.kv_events_config" {
		field = "kv_events"
	}
	for i, child := range children {
		role := roleOf(child.key)
		if role == "" {
			return m.refuse(child.node, recipes.Join(path, child.key),
				"is not a role (%s); write the settings of each role", strings.Join(modes(), ", "))
		}
		if i == 0 {
			child.comments = reindent(k.comments+m.lineComment(k), child.indent-k.indent, m.eol) + child.comments
		}
		m.putAt([]string{"roles", role, field}, child)
	}
	return nil
}

// modes returns the names of the worker roles in the engine's fields of layout 1.
func modes() []string {
	var out []string
	for _, r := range schema.WorkerRoles() {
		out = append(out, r.Layout1Name())
	}
	return out
}

// roleOf returns the name in layout 2 of a role of layout 1; empty: there is none.
func roleOf(mode string) string {
	for _, r := range schema.WorkerRoles() {
		if r.Layout1Name() == mode {
			return string(r)
		}
	}
	return ""
}

// moveKVEvents moves kv_events_config: true to the roles that publish events then.
func (m *migration) moveKVEvents(path string, k entry) error {
	if !isTrue(k.node) {
		m.remove(path, "KV events are off by default", k)
		return nil
	}
	roles, ok := common(m.section, func(r *recipes.Recipe) string { return fmt.Sprint(r.KVEventRoles()) })
	if !ok {
		return m.refuse(k.node, path, "the roles differ between the recipes of %s (the first has %s); write it for each role",
			m.section.where(), roles)
	}
	each := m.section.recipes[0].KVEventRoles()
	if len(each) == 0 {
		m.remove(path, "no role publishes KV events", k)
		return nil
	}
	for i, role := range each {
		if i > 0 {
			k.comments, k.value = "", " true"+m.eol
		}
		m.putAt([]string{"roles", string(role), "kv_events"}, k)
	}
	return nil
}

// replaceSource removes the release of dynamo that an override inherits from the base: in layout 1,
// another source overrides it.
func (m *migration) replaceSource(path string) {
	if m.section.complete {
		return
	}
	if base := m.recipesOf("base"); len(base) == 0 || leaf(base[0], "dynamo.version") == "" {
		return
	}
	null := entry{value: " null" + m.eol}
	if path == "dynamo.top_of_tree" {
		m.putAt([]string{"dynamo", "source"}, null)
	} else {
		m.putAt([]string{"dynamo", "source", "pypi"}, null)
	}
}

// movePlacement moves the placement of the frontend or the client. A dedicated node is a value of
// placement.node in layout 2. It replaces head, the only placement that layout 1 allows together with
// a dedicated node.
func (m *migration) movePlacement(path string, k entry) error {
	part, key, _ := strings.Cut(path, ".")
	place := func(r *recipes.Recipe) (dedicated bool, node string) {
		if part == string(schema.Frontend) {
			return r.Frontend.Dedicated, r.Frontend.Placement
		}
		return r.Benchmark.Dedicated, r.Benchmark.Placement
	}
	dedicated, ok := common(m.section, func(r *recipes.Recipe) bool { d, _ := place(r); return d })
	if !ok {
		return m.refuse(k.node, path, "differs between the recipes of %s; write an override for each",
			m.section.where())
	}
	at := []string{part, "placement", "node"}
	switch isPlacement := strings.HasSuffix(key, "_placement"); {
	case isPlacement && !dedicated:
		m.putAt(at, k)
	case isPlacement:
		m.remove(path, "the node is dedicated", k)
	case dedicated:
		return m.replaceValue(path, k.node.Value, "dedicated", k, at...)
	case m.section.complete:
		m.remove(path, "no node is dedicated by default", k)
	default: // the base may have a dedicated node
		node, ok := common(m.section, func(r *recipes.Recipe) string { _, n := place(r); return n })
		if !ok {
			return m.refuse(k.node, path, "the placement differs between the recipes of %s; write an override for each",
				m.section.where())
		}
		if m.has(at) { // the override names the node too
			m.remove(path, "placement.node names the node", k)
			return nil
		}
		return m.replaceValue(path, k.node.Value, node, k, at...)
	}
	return nil
}

// writeGPUs writes the GPUs per worker of both roles if decode shares the prefill nodes: layout 2 does
// not derive them.
func (m *migration) writeGPUs() error {
	base := map[schema.Role]int{} // written to the base
	if b := m.recipesOf("base"); len(b) > 0 && !m.section.complete && b[0].Decode.Colocated {
		for _, role := range []recipes.Role{b[0].Prefill, b[0].Decode} {
			if role.GPUs == 0 {
				base[role.Name] = b[0].GPUsPerWorker(role)
			}
		}
	}
	for _, role := range []func(*recipes.Recipe) recipes.Role{
		func(r *recipes.Recipe) recipes.Role { return r.Prefill }, func(r *recipes.Recipe) recipes.Role { return r.Decode },
	} {
		name := role(m.section.recipes[0]).Name
		needed := func(r *recipes.Recipe) bool { // a value other than that of the base
			return role(r).GPUs == 0 && (r.Decode.Colocated || base[name] > 0) && r.GPUsPerWorker(role(r)) != base[name]
		}
		if m.section.every(func(r *recipes.Recipe) bool { return !needed(r) }) {
			continue
		}
		gpus, ok := common(m.section, func(r *recipes.Recipe) int {
			if !needed(r) {
				return 0
			}
			return r.GPUsPerWorker(role(r))
		})
		if !ok {
			return m.refuse(m.root, schema.Decode.NodesPath(), "decode shares the prefill nodes, and the GPUs per %s worker "+
				"differ between the recipes of %s; set them in the recipe", name, m.section.where())
		}
		m.putAt([]string{"roles", string(name), "gpus"}, entry{value: " " + strconv.Itoa(gpus) + m.eol})
	}
	return nil
}

func (s section) where() string {
	if s.key == "" {
		return "the file"
	}
	return s.key
}

// leaf returns the value of a field as written in a recipe; empty: it is absent or null.
func leaf(r *recipes.Recipe, name string) string {
	for _, l := range r.Leaves() {
		if l.Canonical == name && l.Value != "null" {
			return l.Value
		}
	}
	return ""
}

// putAt adds an entry to the result at a path.
func (m *migration) putAt(path []string, e entry) {
	if e.node != nil {
		m.origins[strings.Join(append(m.section.prefix(), path...), ".")] = e.node
	}
	if m.pending != "" {
		e.comments, m.pending = reindent(m.pending, e.indent, m.eol)+e.comments, ""
	}
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

// prefix returns the path of the section in the file.
func (s section) prefix() []string {
	if s.key == "" || s.key == "sweep" {
		return nil
	}
	return []string{s.key}
}

// has reports whether the result has an entry at a path.
func (m *migration) has(path []string) bool {
	list := m.out
	for _, key := range path {
		i := slices.IndexFunc(list, func(e entry) bool { return e.key == key })
		if i < 0 {
			return false
		}
		list = list[i].children
	}
	return true
}
