// Package schema describes all fields of recipes, workload files and cluster files: path
// in both recipe layouts, type, default, allowed values, meaning and pitfalls. The loader,
// checks, diff, migration, completion, explain and the reference use it, so that each
// field is described once, in fields.yaml.
package schema

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
)

// Kind is the type of a field's value.
type Kind string

// The kinds, as shown to users.
const (
	Str       Kind = "string"
	Int       Kind = "int" // whole number
	Float     Kind = "float"
	Bool      Kind = "bool"
	BoolOrStr Kind = "bool or word"    // bool, or one of the field's allowed words
	NodeCount Kind = "int or colocate" // decode only
	StrMap    Kind = "map of strings"  // environment variables, options
	FreeMap   Kind = "map"             // passed on without validation: engine config, frontend flags
	StrList   Kind = "list of strings"
	Levels    Kind = `list of ints or "64x1010"` // concurrency levels
	IntList   Kind = "list of ints"
	Opaque    Kind = "any" // passed on without validation
)

// Field is one row of the table.
type Field struct {
	// V1 and V2 are the dotted paths in layouts 1 and 2; empty if the layout does not
	// have the field. The canonical path is V1 or, if that is empty, V2: see [Field.Name].
	V1, V2      string
	Kind        Kind
	Required    bool
	Nullable    bool
	Default     string   // as YAML text; empty: none
	Enum        []string // allowed words; nil: any
	Min         float64  `yaml:"-"` // smallest number allowed, if HasMin
	HasMin      bool     `yaml:"-"`
	MinExcluded bool     `yaml:"-"` // Min itself is not allowed
	Unit        string
	Doc         string // meaning; never empty
	Pitfall     string // what goes wrong with it; empty: none known
}

// PortedWorkloadKeys is the number of workload keys that a port writes: the first ones of the table.
const PortedWorkloadKeys = 19

// Name returns the canonical path of the field.
func (f Field) Name() string {
	if f.V1 != "" {
		return f.V1
	}
	return f.V2
}

// Path returns the field's path in layout 1 or 2; empty if the layout does not have it.
func (f Field) Path(version int) string {
	if version == 2 {
		return f.V2
	}
	return f.V1
}

// Bound formats the lower bound of a number as ≥ 1 or > 0; empty if there is none.
func (f Field) Bound() string {
	switch {
	case !f.HasMin:
		return ""
	case f.MinExcluded:
		return fmt.Sprintf("> %g", f.Min)
	}
	return fmt.Sprintf("≥ %g", f.Min)
}

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

func newTable(fields []Field, version int) *Table {
	t := &Table{fields: fields, root: &Node{Children: map[string]*Node{}}, byName: map[string]int{}, version: version}
	for i := range fields {
		t.byName[fields[i].Name()] = i
		path := fields[i].Path(version)
		if path == "" {
			continue
		}
		n := t.root
		for key := range strings.SplitSeq(path, ".") {
			next := n.Children[key]
			if next == nil {
				next = &Node{Children: map[string]*Node{}}
				n.Children[key] = next
			}
			n = next
		}
		n.Field = &fields[i]
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
	recipe1  = sync.OnceValue(func() *Table { return newTable(fields()["recipe"], 1) })
	recipe2  = sync.OnceValue(func() *Table { return newTable(fields()["recipe"], 2) })
	workload = sync.OnceValue(func() *Table { return newTable(fields()["workload"], 1) })
	cluster  = sync.OnceValue(func() *Table { return newTable(fields()["cluster"], 1) })
)

// Recipe returns the table for a recipe layout, 1 or 2.
func Recipe(version int) *Table {
	if version == 2 {
		return recipe2()
	}
	return recipe1()
}

// Workload returns the table for the client's workload file.
func Workload() *Table { return workload() }

// Cluster returns the table for the cluster file, srtslurm.yaml.
func Cluster() *Table { return cluster() }

// Lookup returns the node at a path of this layout, or nil if there is none. A path
// below a field, such as environment.UCX_TLS, leads to the node of the field. The empty
// path is the root.
func (t *Table) Lookup(path string) *Node {
	n := t.root
	for path != "" {
		if f := n.Field; f != nil && len(n.Children) == 0 {
			if f.Kind == StrMap || f.Kind == FreeMap || f.Kind == Opaque || f.Kind == StrList || f.Kind == IntList ||
				f.Kind == Levels {
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
		path = strings.TrimPrefix(path[len(key):], ".")
	}
	return n
}

// FieldsUnder returns the fields at and below a path of this layout, in the order in
// which a file is written.
func (t *Table) FieldsUnder(path string) []Field {
	var out []Field
	for _, f := range t.fields {
		if p := f.Path(t.version); p != "" && (path == "" || p == path || strings.HasPrefix(p, path+".")) {
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
