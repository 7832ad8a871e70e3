package migrate

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/layout"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// verify loads the migrated recipes and compares them with the originals.
func (m *migration) verify(out []byte) error {
	all, found := recipes.Variants(m.file, out, "")
	if errs := found.BySeverity(); errs.Errors() > 0 {
		return m.refused(errs[0])
	}
	if base, _ := recipes.Variants(m.file, out, "base"); len(all) > 0 && all[0].Key != "" && all[0].Key != "base" {
		all = append(base, all...)
	}
	if len(all) != len(m.old) {
		return m.refuse(m.root, "recipe", "the number of recipes would change from %d to %d; migrate it by hand",
			len(m.old), len(all))
	}
	for i, v := range all {
		r, _, found := v.Load(out)
		if errs := found.BySeverity(); errs.Errors() > 0 {
			return m.refused(errs[0])
		}
		if _, err := layout.New(r); err != nil && r.Decode.Colocated { // found at load time, unlike in layout 1
			at := m.old[i].recipe.Position(schema.Decode.NodesPath())
			return m.refuse(&yaml.Node{Line: at.Line}, at.Path, "layout 2 refuses it: %v", err)
		}
		if path := difference(m.old[i].recipe, r); path != "" {
			at := m.old[i].recipe.Position(path)
			return m.refuse(&yaml.Node{Line: at.Line}, at.Path, "its meaning would change; migrate it by hand")
		}
	}
	return m.verifyComments(out)
}

// refused returns the error for a finding in the result, with the place in the original.
func (m *migration) refused(d recipes.Diagnostic) error {
	fix := "migrate it by hand"
	if d.Fix != "" {
		fix = d.Fix + ", then migrate again"
	}
	return m.refuse(m.origin(d.Path), d.Path, "layout 2 refuses it: %s; %s", d.Message, fix)
}

// origin returns the value of the original that a path of the result comes from, or the nearest one
// that contains it.
func (m *migration) origin(path string) *yaml.Node {
	keys, err := recipes.SplitPath(path)
	if err != nil {
		return m.root
	}
	for end := len(keys); end > 0; end-- {
		names := make([]string, 0, end)
		for _, k := range keys[:end] {
			names = append(names, k.Key)
		}
		n, ok := m.origins[strings.Join(names, ".")]
		if !ok {
			continue
		}
		for _, k := range keys[end:] {
			child := childOf(n, k)
			if child == nil {
				break
			}
			n = child
		}
		return n
	}
	return m.root
}

// childOf returns the value of a key or the entry of a list; nil: there is none.
func childOf(n *yaml.Node, k recipes.PathElement) *yaml.Node {
	switch {
	case n.Kind == yaml.SequenceNode && k.Index >= 0 && k.Index < len(n.Content):
		return n.Content[k.Index]
	case n.Kind == yaml.MappingNode && k.Index < 0:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == k.Key {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// difference returns the canonical path of a field that has another meaning in the result; empty: there
// is none.
func difference(old, migrated *recipes.Recipe) string {
	for _, c := range []struct {
		path string
		of   func(*recipes.Recipe) any
	}{
		{"frontend.orchestrator_placement", func(r *recipes.Recipe) any { return r.Frontend.Placement }},
		{"frontend.dedicated_node", func(r *recipes.Recipe) any { return r.Frontend.Dedicated }},
		{"benchmark.client_placement", func(r *recipes.Recipe) any { return r.Benchmark.Placement }},
		{"benchmark.client_dedicated_node", func(r *recipes.Recipe) any { return r.Benchmark.Dedicated }},
		{"infra.etcd_nats_dedicated_node", func(r *recipes.Recipe) any { return r.DedicatedInfra }},
		{schema.Prefill.NodesPath(), func(r *recipes.Recipe) any { return workers(r, r.Prefill) }},
		{schema.Decode.NodesPath(), func(r *recipes.Recipe) any { return workers(r, r.Decode) }},
		{schema.Agg.NodesPath(), func(r *recipes.Recipe) any { return workers(r, r.Agg) }},
	} {
		if c.of(old) != c.of(migrated) {
			return c.path
		}
	}
	compared := []string{ // above
		"frontend.orchestrator_placement", "frontend.dedicated_node", "benchmark.client_placement",
		"benchmark.client_dedicated_node", "infra.etcd_nats_dedicated_node",
		schema.Prefill.GPUsPath(), schema.Decode.GPUsPath(),
	}
	for _, d := range recipes.DiffRecipes(old, migrated).Differences {
		// Null is the default of the fields that may be null.
		noEffect := d.A != nil && d.B == nil && (removedFrom(old, d.Path) != "" || isOff(d))
		if !noEffect && !slices.Contains(compared, d.Path) {
			return d.Path
		}
	}
	return ""
}

// isOff reports whether a difference is KV events that are off, which is their default.
func isOff(d recipes.Difference) bool {
	return d.Path == "backend.kv_events_config" && (d.A.Value == "false" || d.A.Value == "null")
}

// workers describes the nodes and workers of a role.
func workers(r *recipes.Recipe, role recipes.Role) string {
	nodes := role.Nodes
	if role.Colocated {
		nodes = r.Prefill.Nodes
	}
	if role.Workers == 0 {
		return fmt.Sprint(nodes)
	}
	return fmt.Sprint(nodes, role.Workers, role.Colocated, r.GPUsPerWorker(role))
}

// verifyComments checks that the result has every comment of the original.
func (m *migration) verifyComments(out []byte) error {
	_, spans, err := edit.Spans(out)
	if err != nil {
		return m.refuse(m.root, "recipe", "%v", err)
	}
	left := comments(out, spans, 0, len(out))
	text := strings.Join(left, "\n")
	for _, c := range comments(m.data, m.spans, 0, len(m.data)) {
		if i := slices.Index(left, c); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else if !strings.Contains(text, c) { // of a removed field, which is a comment now
			line := 1 + strings.Count(string(m.data[:strings.Index(string(m.data), c)]), "\n")
			return m.refuse(&yaml.Node{Line: line}, "comment", "%.40s would be lost; move it to a line of its own", c)
		}
	}
	return nil
}
