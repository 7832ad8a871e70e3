package recipes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// Variant is one of the recipes in a file. A file with a base and overrides, or with a
// sweep, has several; other files have one, with an empty selector.
type Variant struct {
	// Selector follows the file name and a colon: base, override_big,
	// zip_override_batch[1], sweep[3].
	Selector string
	build    func() *Document // called on demand, since a few lines can expand to large documents
}

// maxVariants is the limit for the number of recipes in a file.
const maxVariants = 512

// SplitSelector splits a name such as file.yaml:override_x. If a file of the full name exists, the
// selector is empty.
func SplitSelector(name string) (file, selector string) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name, ""
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// Variants returns the recipes of a file that match a selector, which may be a pattern of
// [path.Match]. An empty selector matches all recipes except a base that has overrides.
// The diagnostics are about the structure of the file, not about its recipes.
func Variants(file string, data []byte, selector string) ([]Variant, Diagnostics) {
	doc, diags := Parse(file, data)
	if doc.Root == nil {
		return nil, diags
	}
	if isWorkload(doc) {
		return nil, append(diags, fileStart.diagnostic(file, Error, file+" is a workload file, not a recipe",
			"give the recipe, and pass this file as --workload "+file))
	}
	e := expander{doc: doc}
	if base := resolveAlias(lookup(doc.Root, "base")); base != nil && base.Kind == yaml.MappingNode {
		e.expandOverrides(base)
	} else {
		e.expandSweep("", lookup(doc.Root, "sweep"), func() *Document { return doc })
	}
	diags = append(diags, e.diags...)
	pattern := strings.ReplaceAll(selector, "[", `\[`)
	var out []Variant
	var names []string
	for _, v := range e.variants {
		names = append(names, v.Selector)
		ok, err := path.Match(pattern, v.Selector)
		if v.Selector == selector || err == nil && ok || selector == "" && (v.Selector != "base" || len(e.variants) == 1) {
			out = append(out, v)
		}
	}
	if len(out) == 0 && len(diags) == 0 {
		msg := fmt.Sprintf("no such recipe in the file: %q (available: %s)", selector, strings.Join(names, ", "))
		if len(e.variants) == 1 && e.variants[0].Selector == "" {
			msg = fmt.Sprintf("the file contains a single recipe; %q does not exist", selector)
		}
		diags = append(diags, fileStart.diagnostic(file, Error, msg, ""))
	}
	return out, diags
}

// Select returns the recipe of a file that matches a selector and the YAML of that recipe
// alone. If several recipes match, it reports an error that lists them.
func Select(file string, data []byte, selector string) (*Recipe, []byte, Diagnostics) {
	matches, diags := Variants(file, data, selector)
	if len(matches) > 1 {
		var names []string
		for _, v := range matches {
			names = append(names, v.Selector)
		}
		diags = append(diags, fileStart.diagnostic(file, Error,
			fmt.Sprintf("the file contains %d recipes: %.400s", len(matches), strings.Join(names, ", ")),
			"select one, as in "+file+":"+names[0]))
	}
	if len(matches) != 1 {
		return nil, data, diags
	}
	doc := matches[0].build()
	r, more := parseRecipeDocument(doc)
	diags = append(diags, more...)
	diags.Sort()
	if matches[0].Selector == "" {
		return r, data, diags
	}
	text, err := marshalYAML(doc.Root)
	if err != nil {
		diags = append(diags, fileStart.diagnostic(file, Error, "can't encode the recipe: "+err.Error(), ""))
	}
	return r, []byte(text), diags
}

// expander expands the base, the overrides and the sweeps of a file to variants.
type expander struct {
	doc      *Document
	variants []Variant
	diags    Diagnostics
}

func (e *expander) fail(n *yaml.Node, where, format string, args ...any) {
	e.diags = append(e.diags, positionOf(n, where).diagnostic(e.doc.File, Error, fmt.Sprintf(format, args...), ""))
}

// expandOverrides adds a variant for each override of a base, then the base.
func (e *expander) expandOverrides(base *yaml.Node) {
	paths := sync.OnceValue(func() map[*yaml.Node]string {
		paths := map[*yaml.Node]string{}
		recordPaths(e.doc.Root, "", paths, 0)
		return paths
	})
	add := func(selector, suffix string, patch func() *yaml.Node) {
		sweep := lookup(base, "sweep")
		if patch != nil {
			if own := lookup(patch(), "sweep"); own != nil {
				sweep = own
			}
		}
		e.expandSweep(selector, sweep, func() *Document {
			root := base
			if patch != nil {
				p := patch()
				if root = mergeOverride(base, p, 0); lookup(p, "name") == nil {
					root = withNameSuffix(root, "_"+suffix)
				}
			}
			return &Document{File: e.doc.File, Root: root, keyPaths: paths(), prefix: "base"}
		})
	}
	for _, kv := range pairs(e.doc.Root) {
		if len(e.variants) > maxVariants {
			e.fail(kv[0], kv[0].Value, "more than %d recipes in a file", maxVariants)
			return
		}
		key, patch := kv[0].Value, resolveAlias(kv[1])
		name, over := strings.CutPrefix(key, "override_")
		zip, zipped := strings.CutPrefix(key, "zip_override_")
		switch {
		case key == "base" || key == "lock":
		case !over && !zipped:
			e.fail(kv[0], key, "unknown key next to base; expected override_<name> or zip_override_<name>")
		case patch.Kind != yaml.MappingNode:
			e.fail(kv[1], key, "expected a mapping of fields, got %s", describe(patch))
		case over:
			add(key, name, func() *yaml.Node { return patch })
		default:
			n, ok := e.zipLength(patch, key)
			for i := 0; ok && i < n; i++ {
				add(fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%s_%d", zip, i), func() *yaml.Node { return zipEntry(patch, i, 0) })
			}
		}
	}
	add("base", "", nil)
}

// zipLength returns the number of recipes of a zip override: the common length of its
// lists. The entry of a list of one applies to all recipes.
func (e *expander) zipLength(n *yaml.Node, path string) (length int, ok bool) {
	length, ok = 1, true
	for _, kv := range pairs(n) {
		at, val, k := Join(path, kv[0].Value), resolveAlias(kv[1]), 1
		switch val.Kind {
		case yaml.MappingNode:
			if k, ok = e.zipLength(val, at); !ok {
				return 0, false
			}
		case yaml.SequenceNode:
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

// zipEntry returns a zip override with each list replaced by its i-th entry.
func zipEntry(n *yaml.Node, i, depth int) *yaml.Node {
	n = resolveAlias(n)
	if n.Kind == yaml.SequenceNode {
		return n.Content[min(i, len(n.Content)-1)]
	}
	if n.Kind != yaml.MappingNode || depth > maxDepth {
		return n
	}
	c := *n
	c.Anchor, c.Content = "", nil
	for _, kv := range pairs(n) {
		c.Content = append(c.Content, kv[0], zipEntry(kv[1], i, depth+1))
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
