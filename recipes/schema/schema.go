// Package schema is the table of every field that a recipe, a workload file or a
// cluster file may hold: its path in both recipe layouts, its type, default and
// allowed values, what it means and its pitfalls. Loader, checker, diff, migration,
// completion, explain and the reference are driven by it, so that a field is
// described once, in fields.yaml. It knows nothing of the files that are described.
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

// The kinds, in a user's words. Opaque values are carried, never looked into.
const (
	Str       Kind = "string"
	Int       Kind = "int" // whole number
	Float     Kind = "float"
	Bool      Kind = "bool"
	BoolOrStr Kind = "bool or word"    // bool, or one of the field's allowed words
	NodeCount Kind = "int or colocate" // decode only
	StrMap    Kind = "map of strings"  // environment variables, options
	FreeMap   Kind = "map"             // it belongs to somebody else: engine config, frontend flags
	StrList   Kind = "list of strings"
	Levels    Kind = `list of ints or "64x1010"` // concurrency levels
	IntList   Kind = "list of ints"
	Opaque    Kind = "any"
)

// Field is one row of the table.
type Field struct {
	// V1 and V2 are the dotted paths in schema 1 and schema 2; empty where the
	// layout has no such field. V1, or V2 where there is no V1, is the name that
	// the rest of the program knows the field by: see [Field.Name].
	V1, V2   string
	Kind     Kind
	Required bool
	Nullable bool
	Default  string   // as YAML text; empty: none
	Enum     []string // allowed words; nil: any
	Min      float64  `yaml:"-"` // smallest number allowed, where Bounded
	Bounded  bool     `yaml:"-"`
	Open     bool     `yaml:"-"` // Min itself is not allowed
	Unit     string
	Doc      string // what it is, for a person; never empty
	Pitfall  string // what goes wrong with it; empty: nothing known
}

// PortedWorkloadKeys is how many of the workload's keys a port writes.
const PortedWorkloadKeys = 19

// Name is the canonical path of the field.
func (f Field) Name() string {
	if f.V1 != "" {
		return f.V1
	}
	return f.V2
}

// Path is the field's path in a layout, 1 or 2; empty where it has none.
func (f Field) Path(version int) string {
	if version == 2 {
		return f.V2
	}
	return f.V1
}

// Bound is the least that a number may be, as ≥ 1 or > 0; empty where there is none.
func (f Field) Bound() string {
	switch {
	case !f.Bounded:
		return ""
	case f.Open:
		return fmt.Sprintf("> %g", f.Min)
	}
	return fmt.Sprintf("≥ %g", f.Min)
}

// Table is a set of fields with a tree over their paths in one layout.
type Table struct {
	fields  []Field
	root    *Node
	byName  map[string]int
	version int
}

// Node is one key of the tree: a field, an inner mapping, or both (a mapping
// that may also be written as one word, such as engine: trtllm).
type Node struct {
	Field    *Field
	Children map[string]*Node
}

// Keys lists the children's names in alphabetical order.
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

// Root is the top of the tree.
func (t *Table) Root() *Node { return t.root }

// Fields lists the table's rows in the order in which a file is written.
func (t *Table) Fields() []Field { return t.fields }

// Field finds a row by its canonical path.
func (t *Table) Field(name string) (Field, bool) {
	i, ok := t.byName[name]
	if !ok {
		return Field{}, false
	}
	return t.fields[i], true
}

// The tables never change, so each is built once.
var (
	recipe1  = sync.OnceValue(func() *Table { return newTable(fields()["recipe"], 1) })
	recipe2  = sync.OnceValue(func() *Table { return newTable(fields()["recipe"], 2) })
	workload = sync.OnceValue(func() *Table { return newTable(fields()["workload"], 1) })
	cluster  = sync.OnceValue(func() *Table { return newTable(fields()["cluster"], 1) })
)

// Recipe is the table of the recipe layout, version 1 or 2.
func Recipe(version int) *Table {
	if version == 2 {
		return recipe2()
	}
	return recipe1()
}

// Workload is the table of the client's workload file.
func Workload() *Table { return workload() }

// Cluster is the table of srtslurm.yaml.
func Cluster() *Table { return cluster() }

// Lookup follows a path as a user of this layout spells it. A path that reaches
// below a field, as environment.UCX_TLS does, gives the node of that field; nil
// says that the layout has no such path. The empty path is the top.
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

// Under lists the fields at and below a path of this layout, in the order in
// which a file is written.
func (t *Table) Under(path string) []Field {
	var out []Field
	for _, f := range t.fields {
		if p := f.Path(t.version); p != "" && (path == "" || p == path || strings.HasPrefix(p, path+".")) {
			out = append(out, f)
		}
	}
	return out
}

// Translate gives the path, in the wanted layout, of a canonical path that may
// reach below a field: backend.prefill_environment.UCX_TLS becomes
// roles.prefill.env.UCX_TLS. ok is false where the layout has no such field.
func (t *Table) Translate(canonical string, version int) (path string, ok bool) {
	for head := range Upwards(canonical) {
		if f, found := t.Field(head); found {
			to := f.Path(version)
			return to + canonical[len(head):], to != ""
		}
	}
	return "", false
}

// Upwards lists a dotted path and what it is below: a.b.c, a.b, a.
func Upwards(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path != "" && yield(path) {
			path = path[:max(strings.LastIndexByte(path, '.'), 0)]
		}
	}
}

// Nearest is the known key closest to an unknown one, by edit distance; empty
// when none is close enough to be what was meant.
func Nearest(key string, known []string) string {
	best, bestDist := "", len(key)/3+2
	for _, k := range known {
		if d := distance(strings.ToLower(key), strings.ToLower(k)); d < bestDist {
			best, bestDist = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two short words.
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
