// Package schema describes all fields of recipes, workload files and cluster files: path
// in both recipe layouts, type, default, allowed values, meaning and pitfalls. The loader,
// checks, diff, migration, completion, explain and the reference use it, so that each
// field is described once, in fields.yaml.
package schema

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Table is a list of fields, with a tree of their paths in one layout.
type Table struct {
	fields  []Field
	root    *Node
	byName  map[string]int
	version int
}

// Node is a key of the tree: a field, a mapping, or both (a mapping with a short form,
// such as engine: trtllm).
type Node struct {
	Field    *Field
	Children map[string]*Node
}

// Keys returns the names of the children in alphabetical order.
func (n *Node) Keys() []string {
	keys := make([]string, 0, len(n.Children))
	for k := range n.Children {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Without returns a node without one of its keys.
func (n *Node) Without(key string) *Node {
	c := *n
	c.Children = maps.Clone(n.Children)
	delete(c.Children, key)
	return &c
}

// newTable returns the table of a layout. other is the table in which blocks that are like one
// of a recipe look for it; nil: there are none.
func newTable(fields []Field, version int, other *Table) *Table {
	t := &Table{fields: fields, root: &Node{Children: map[string]*Node{}}, byName: map[string]int{}, version: version}
	for i := range fields {
		t.byName[fields[i].Name()] = i
		path := fields[i].Path(version)
		if path == "" {
			continue
		}
		n := t.root
		for key := range strings.SplitSeq(path, ".") {
			key = strings.TrimSuffix(key, "[]")
			next := n.Children[key]
			if next == nil {
				next = &Node{Children: map[string]*Node{}}
				n.Children[key] = next
			}
			n = next
		}
		n.Field = &fields[i]
	}
	for i := range fields {
		f := &fields[i]
		if f.Like == "" || f.Path(version) == "" {
			continue
		}
		like := t.Lookup(f.Like)
		if rest, ok := strings.CutPrefix(f.Like, "recipe."); ok && other != nil {
			like = other.Lookup(rest)
		}
		if like != nil {
			t.Lookup(f.Path(version)).Children = like.Children
		}
	}
	return t
}

// Root returns the root of the tree.
func (t *Table) Root() *Node { return t.root }

// Fields returns the fields in the order in which a file is written.
func (t *Table) Fields() []Field { return t.fields }

// Field returns the field with a canonical path.
func (t *Table) Field(name string) (Field, bool) {
	i, ok := t.byName[name]
	if !ok {
		return Field{}, false
	}
	return t.fields[i], true
}

// The tables are built once, on first use.
var (
	recipe1  = sync.OnceValue(func() *Table { return newTable(fields()["recipe"], 1, nil) })
	recipe2  = sync.OnceValue(func() *Table { return newTable(fields()["recipe"], 2, nil) })
	workload = sync.OnceValue(func() *Table { return newTable(fields()["workload"], 1, nil) })
	several  = sync.OnceValue(func() *Table { return newTable(fields()["several"], 1, nil) })
	cluster  = sync.OnceValue(func() *Table { return newTable(fields()["cluster"], 1, recipe2()) })
)

// Recipe returns the table for a recipe layout, 1 or 2.
func Recipe(version int) *Table {
	if version == 2 {
		return recipe2()
	}
	return recipe1()
}

// Several returns the table for the top level of a file with several recipes. NAME in a path stands for
// the name of an override.
func Several() *Table { return several() }

// Workload returns the table for the client's workload file.
func Workload() *Table { return workload() }

// Cluster returns the table for the cluster file, srtslurm.yaml.
func Cluster() *Table { return cluster() }

// Lookup returns the node at a path of this layout, or nil if there is none. A path below a field
// that is not a block, such as environment.UCX_TLS, leads to the node of the field. Indices of
// lists, as in services[0].name or services[].name, are ignored. The empty path is the root.
func (t *Table) Lookup(path string) *Node {
	n := t.root
	for path != "" {
		if f := n.Field; f != nil && len(n.Children) == 0 {
			if f.Kind.hasContent() {
				return n
			}
			return nil
		}
		key := path
		if cut := strings.IndexAny(path, ".["); cut >= 0 {
			key = path[:cut]
		}
		if n = n.Children[key]; n == nil {
			return nil
		}
		path = path[len(key):]
		if n.Field != nil && n.Field.Kind.isList() && strings.HasPrefix(path, "[") {
			_, path, _ = strings.Cut(path, "]")
		}
		path = strings.TrimPrefix(path, ".")
	}
	return n
}

// InBlock reports whether a path is in a block that has a row of its own, and so can be absent.
func (t *Table) InBlock(path string) bool {
	for parent := range PathAndParents(path) {
		if n := t.Lookup(parent); parent != path && n != nil && n.Field != nil {
			return true
		}
	}
	return false
}

// FieldsUnder returns the fields at and below a path of this layout, in the order in
// which a file is written.
func (t *Table) FieldsUnder(path string) []Field {
	var out []Field
	for _, f := range t.fields {
		if p := f.Path(t.version); p != "" &&
			(path == "" || p == path || strings.HasPrefix(p, path+".") || strings.HasPrefix(p, path+"[]")) {
			out = append(out, f)
		}
	}
	return out
}

// Translate converts a canonical path to a path of the given layout. The path may lead
// below a field: backend.prefill_environment.UCX_TLS becomes roles.prefill.env.UCX_TLS.
// ok is false if the layout does not have the field.
func (t *Table) Translate(canonical string, version int) (path string, ok bool) {
	for head := range PathAndParents(canonical) {
		if f, found := t.Field(head); found {
			to := f.Path(version)
			return to + canonical[len(head):], to != ""
		}
	}
	return "", false
}

// PathAndParents iterates over a dotted path and its parents: a.b.c, a.b, a.
func PathAndParents(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path != "" && yield(path) {
			path = path[:max(strings.LastIndexByte(path, '.'), 0)]
		}
	}
}

// OneEdit returns the known word from which a word differs by one edit: a letter more, less or
// different, two letters exchanged, or the letter case. It is empty if there is none.
func OneEdit(word string, known []string) string {
	for _, k := range known {
		a, b := strings.ToLower(word), strings.ToLower(k)
		if distance(a, b) <= 1 || len(a) == len(b) && exchanged(a, b) {
			return k
		}
	}
	return ""
}

// exchanged reports whether two different words of the same length differ by two neighboring
// letters.
func exchanged(a, b string) bool {
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// Nearest returns the known key with the smallest edit distance to key; empty if none is
// similar enough to be a typo of it.
func Nearest(key string, known []string) string {
	best, bestDist := "", len(key)/3+2
	for _, k := range known {
		if d := distance(strings.ToLower(key), strings.ToLower(k)); d < bestDist {
			best, bestDist = k, d
		}
	}
	return best
}

// distance returns the Levenshtein distance of two strings of at most 64 bytes.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 1 << 20
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			prev, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, prev+cost)
		}
	}
	return row[len(b)]
}
