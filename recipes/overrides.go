package recipes

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// expander expands the base, the overrides and the sweeps of a file to variants.
type expander struct {
	doc      *Document
	base     *yaml.Node    // nil: the file has no base
	schema   [2]*yaml.Node // key and value of the layout next to base, which applies to recipes without one
	variants []Variant
	diags    Diagnostics
}

func (e *expander) fail(n *yaml.Node, where, format string, args ...any) {
	d := positionOf(n, where).diagnostic(e.doc.File, Error, fmt.Sprintf(format, args...), "")
	e.diags = append(e.diags, d.withRule("several"))
}

// IsOverrideKey reports whether a key of a file with a base defines one recipe or several.
func IsOverrideKey(key string) bool {
	return strings.HasPrefix(key, "override_") || strings.HasPrefix(key, zipPrefix)
}

// IsZipKey reports whether a key of a file with a base defines a recipe for each entry of its lists.
func IsZipKey(key string) bool { return strings.HasPrefix(key, zipPrefix) }

const zipPrefix = "zip_override_"

// expandOverrides adds a variant for each override of the base, then the base.
func (e *expander) expandOverrides() {
	for _, kv := range pairs(e.doc.Root) {
		key, patch := kv[0].Value, resolveAlias(kv[1])
		switch {
		case key == "base" || key == "lock":
		case key == "schema":
			e.schema = kv
		case !IsOverrideKey(key):
			d := positionOf(kv[0], Join("", key)).diagnostic(e.doc.File, Warning,
				"has no effect next to base; only schema, override_<name> and zip_override_<name> do", "move it into base")
			d.Rule = "unknown-field"
			e.diags = append(e.diags, d)
		case patch.Kind != yaml.MappingNode:
			e.fail(kv[1], key, "expected a mapping of fields, got %s", describe(patch))
		}
	}
	for _, kv := range pairs(e.doc.Root) {
		if len(e.variants) > maxVariants {
			e.fail(kv[0], kv[0].Value, "more than %d recipes in a file", maxVariants)
			return
		}
		key, patch := kv[0].Value, resolveAlias(kv[1])
		switch {
		case !IsOverrideKey(key) || patch.Kind != yaml.MappingNode:
		case IsZipKey(key):
			e.expandZip(key, patch)
		default:
			e.add(override{
				key: key, selector: key, suffix: strings.TrimPrefix(key, "override_"), sweep: lookup(patch, "sweep"),
				hasName: lookup(patch, "name") != nil, patch: func(*Document) *yaml.Node { return patch },
			})
		}
	}
	e.add(override{key: "base", selector: "base"})
}

// override is one recipe of a file with a base.
type override struct {
	key, selector string
	suffix        string     // of the name, if the recipe has no name of its own
	hasName       bool       // the recipe has a name of its own
	sweep         *yaml.Node // nil: that of the base
	patch         func(to *Document) *yaml.Node
}

func (e *expander) add(o override) {
	if o.sweep == nil {
		o.sweep = lookup(e.base, "sweep")
	}
	e.expandSweep(o.key, o.selector, o.sweep, func() *Document {
		doc := &Document{File: e.doc.File, Root: e.base, keyPaths: e.doc.keyPaths, prefix: "base"}
		if o.patch != nil {
			doc.Root = mergeOverride(e.base, o.patch(doc), 0)
		}
		if o.patch != nil && !o.hasName {
			doc.Root = withNameSuffix(doc.Root, "_"+o.suffix)
		}
		if e.schema[0] != nil && lookup(doc.Root, "schema") == nil {
			root := *doc.Root
			root.Content = append([]*yaml.Node{e.schema[0], e.schema[1]}, root.Content...)
			doc.Root = &root
		}
		return doc
	})
}

// expandZip adds a variant for each entry of the lists of a zip override. As in srtctl, the recipes
// have names of their own only if name is one of the lists.
func (e *expander) expandZip(key string, group *yaml.Node) {
	n, ok := e.zipLength(group, key, 0)
	if !ok {
		return
	}
	if n == 0 {
		e.fail(group, key, "no list; expected at least one, with an entry for each recipe")
		return
	}
	name := resolveAlias(lookup(group, "name"))
	named := name != nil && name.Kind == yaml.SequenceNode
	for i := range n {
		var sweep *yaml.Node
		if own := lookup(group, "sweep"); own != nil {
			sweep = zipEntry(own, i, 0, nil)
		}
		e.add(override{
			key: key, selector: fmt.Sprintf("%s[%d]", key, i), sweep: sweep, hasName: named,
			suffix: fmt.Sprintf("%s_%d", strings.TrimPrefix(key, zipPrefix), i),
			patch: func(to *Document) *yaml.Node {
				entry := zipEntry(group, i, 0, to)
				if !named {
					entry = without(entry, "name")
				}
				return entry
			},
		})
	}
}

// zipLength returns the number of recipes of a zip override: the common length of its lists, or 0 if
// it has none. The entry of a list of one applies to all recipes.
func (e *expander) zipLength(n *yaml.Node, path string, depth int) (length int, ok bool) {
	for _, kv := range pairs(n) {
		at, val, k := Join(path, kv[0].Value), resolveAlias(kv[1]), 0
		switch {
		case val.Kind == yaml.MappingNode && depth < maxDepth:
			if k, ok = e.zipLength(val, at, depth+1); !ok {
				return 0, false
			}
		case val.Kind == yaml.SequenceNode:
			if k = len(val.Content); k == 0 || k > maxVariants {
				e.fail(kv[1], at, "list of %d entries; expected 1 to %d, one per recipe", k, maxVariants)
				return 0, false
			}
		}
		if k > 1 && length > 1 && k != length {
			e.fail(kv[1], at, "list of %d entries, but another list has %d; lists must have the same length, or 1", k, length)
			return 0, false
		}
		length = max(length, k)
	}
	return length, true
}

// zipEntry returns a zip override with each list replaced by its i-th entry. The paths of the entries
// are recorded in a document, unless it is nil.
func zipEntry(n *yaml.Node, i, depth int, to *Document) *yaml.Node {
	n = resolveAlias(n)
	if n.Kind != yaml.MappingNode || depth > maxDepth {
		return n
	}
	c := *n
	c.Anchor, c.Content = "", nil
	for _, kv := range pairs(n) {
		list := resolveAlias(kv[1])
		if list.Kind != yaml.SequenceNode {
			c.Content = append(c.Content, kv[0], zipEntry(kv[1], i, depth+1, to))
			continue
		}
		key, index := *kv[0], min(i, len(list.Content)-1)
		if to != nil {
			to.setPathOf(&key, fmt.Sprintf("%s[%d]", to.pathOf(kv[0], ""), index))
		}
		c.Content = append(c.Content, &key, list.Content[index])
	}
	return &c
}

// mergeOverride applies a patch to a base: it merges mappings, replaces other
// values, and removes fields that the patch sets to null.
func mergeOverride(base, patch *yaml.Node, depth int) *yaml.Node {
	base, patch = resolveAlias(base), resolveAlias(patch)
	if base.Kind != yaml.MappingNode || patch.Kind != yaml.MappingNode || depth > maxDepth {
		return patch
	}
	c := *base
	c.Anchor, c.Content = "", nil
	over := map[string][2]*yaml.Node{}
	for _, kv := range pairs(patch) {
		over[kv[0].Value] = kv
	}
	for _, kv := range pairs(base) {
		o, given := over[kv[0].Value]
		delete(over, kv[0].Value)
		switch {
		case !given:
			c.Content = append(c.Content, kv[0], kv[1])
		case isNull(o[1]):
		case resolveAlias(kv[1]).Kind == yaml.MappingNode && resolveAlias(o[1]).Kind == yaml.MappingNode:
			c.Content = append(c.Content, kv[0], mergeOverride(kv[1], o[1], depth+1))
		default:
			c.Content = append(c.Content, o[0], o[1])
		}
	}
	for _, kv := range pairs(patch) {
		if _, left := over[kv[0].Value]; left && !isNull(kv[1]) {
			c.Content = append(c.Content, kv[0], kv[1])
		}
	}
	return &c
}

// withNameSuffix returns a copy of a recipe with a suffix appended to its name.
func withNameSuffix(root *yaml.Node, suffix string) *yaml.Node {
	c := *root
	c.Content = append([]*yaml.Node{}, root.Content...)
	for i := 0; i+1 < len(c.Content); i += 2 {
		if n := resolveAlias(c.Content[i+1]); c.Content[i].Value == "name" && n.Kind == yaml.ScalarNode {
			to := *n
			to.Anchor, to.Value = "", n.Value+suffix
			c.Content[i+1] = &to
		}
	}
	return &c
}

// without returns a copy of a mapping without a key.
func without(n *yaml.Node, key string) *yaml.Node {
	c := *n
	c.Content = nil
	for _, kv := range pairs(n) {
		if kv[0].Value != key {
			c.Content = append(c.Content, kv[0], kv[1])
		}
	}
	return &c
}

// recordPaths records the path of every key of a file in paths.
func recordPaths(n *yaml.Node, path string, paths map[*yaml.Node]string, depth int) {
	if depth > maxDepth {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			at := Join(path, n.Content[i].Value)
			paths[n.Content[i]] = at
			recordPaths(n.Content[i+1], at, paths, depth+1)
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			recordPaths(c, fmt.Sprintf("%s[%d]", path, i), paths, depth+1)
		}
	}
}
