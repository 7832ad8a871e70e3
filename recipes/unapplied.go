package recipes

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Unapplied is a field or a block of a recipe that plans of this program do not apply, although it
// differs from its default.
type Unapplied struct {
	Name   string // canonical path, or the path in the file's layout if the field can occur several times
	Field  schema.Field
	Reason string
}

// Unapplied returns the fields that plans do not apply, as the table of fields says, in the order of the
// file. A block that they do not apply is one entry, and so is a service that they do not start.
func (r *Recipe) Unapplied() []Unapplied {
	u := unappliedFields{layout: r.Schema, engine: r.Engine.Type, frontend: r.Frontend.Type, benchmark: r.Benchmark.Type}
	u.services = r.Services
	u.collect(r.doc.Root, recipeTable(r.Schema).Root(), "")
	return u.out
}

// Unapplied returns the fields of the cluster file that plans do not apply.
func (c *Cluster) Unapplied() []Unapplied {
	u := unappliedFields{layout: 1, engine: schema.TRTLLM, frontend: schema.Dynamo, benchmark: schema.AgentPerf}
	u.collect(c.doc.Root, schema.Cluster().Root(), "")
	return u.out
}

type unappliedFields struct {
	layout                      int
	engine, frontend, benchmark string
	services                    []Service
	out                         []Unapplied
}

func (u *unappliedFields) collect(n *yaml.Node, t *schema.Node, path string) {
	for _, kv := range pairs(n) {
		next := t.Children[kv[0].Value]
		if next == nil {
			continue
		}
		u.entry(resolveAlias(kv[1]), next, Join(path, kv[0].Value))
	}
}

func (u *unappliedFields) entry(n *yaml.Node, t *schema.Node, path string) {
	f := t.Field
	reason := ""
	if f != nil {
		_, reason = f.UseFor(u.engine, u.frontend, u.benchmark)
	}
	switch {
	case reason != "":
		if hasEffect(n, t) {
			u.add(path, *f, reason)
		}
	case n.Kind == yaml.MappingNode && len(t.Children) > 0:
		u.collect(n, t, path)
	case n.Kind == yaml.SequenceNode && len(t.Children) > 0:
		for i, e := range n.Content {
			u.listEntry(resolveAlias(e), t, path, i)
		}
	}
}

// listEntry adds what is not applied of an entry of a list of blocks. Of services, only etcd and NATS
// are started.
func (u *unappliedFields) listEntry(n *yaml.Node, t *schema.Node, path string, i int) {
	entry := fmt.Sprintf("%s[%d]", path, i)
	if path == "services" && i < len(u.services) {
		s, kind := u.services[i], t.Children["type"].Field
		if !s.Is(schema.Etcd) && !s.Is(schema.NATS) {
			if s.Enabled {
				u.add(entry, *kind, kind.NotApplied)
			}
			return
		}
		another := func(o Service) bool {
			return o.Enabled && (o.Is(schema.Etcd) && s.Is(schema.Etcd) || o.Is(schema.NATS) && s.Is(schema.NATS))
		}
		if s.Enabled && slices.ContainsFunc(u.services[:i], another) {
			u.add(entry, *kind, "only the first of its kind is started")
			return
		}
		if !slices.Contains([]string{"", "head", "infra", "dedicated"}, s.Node) && s.Enabled && s.External == "" {
			at := t.Children["placement"].Children["node"].Field
			u.add(entry+".placement.node", *at, "etcd and nats run on the head node, or on a dedicated one")
		}
		t = t.Without("type")
		if s.Type == genericService { // it starts with this command
			t = t.Without("command").Without("args")
		}
	}
	u.collect(n, t, entry)
}

func (u *unappliedFields) add(path string, f schema.Field, reason string) {
	name := path
	if f.Path(u.layout) == path {
		name = f.Name()
	}
	u.out = append(u.out, Unapplied{Name: name, Field: f, Reason: reason})
}

// hasEffect reports whether a value differs from the default of its field. A block does if one of its
// fields does, and if it is not switched off.
func hasEffect(n *yaml.Node, t *schema.Node) bool {
	n = resolveAlias(n)
	if isNull(n) {
		return false
	}
	if len(t.Children) == 0 || !t.Field.Kind.IsBlock() {
		return value{node: n, field: t.Field}.differs()
	}
	switch n.Kind {
	case yaml.ScalarNode:
		child := t.Children[t.Field.Short]
		return child != nil && value{node: n, field: child.Field}.differs()
	case yaml.SequenceNode:
		return slices.ContainsFunc(n.Content, func(e *yaml.Node) bool { return entriesHaveEffect(e, t) })
	}
	return entriesHaveEffect(n, t)
}

func entriesHaveEffect(n *yaml.Node, t *schema.Node) bool {
	if f := t.Field; f != nil && f.Switch != "" {
		state := t.Children[f.Switch].Field.Default
		if given := resolveAlias(lookup(n, f.Switch)); given != nil && !isNull(given) {
			state = given.Value
		}
		if state == "false" || state == "none" {
			return false
		}
	}
	return slices.ContainsFunc(pairs(n), func(kv [2]*yaml.Node) bool {
		child := t.Children[kv[0].Value]
		return child != nil && child.Field != nil && hasEffect(kv[1], child)
	})
}
