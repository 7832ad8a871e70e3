// Package reference implements `agentperf-tui explain`. It looks up fields of recipes,
// workloads and the cluster file by their path in either layout, rules of check, and ids
// of errors. All text comes from packages schema, check and problem.
package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Entry is the description of a field. Texts that do not apply are empty.
type Entry struct {
	File     string `json:"file"`              // recipe, several recipes, workload or cluster
	Path     string `json:"path"`              // in layout 2, or in layout 1 if layout 2 does not have it
	Layout1  string `json:"layout_1"`          // path in layout 1; empty: not in this layout
	Layout2  string `json:"layout_2"`          // path in layout 2; the same as Layout1 in files without layouts
	Type     string `json:"type"`              // as shown to users
	Default  string `json:"default,omitempty"` // as YAML
	Assumed  bool   `json:"assumed,omitempty"` // the default is not documented
	Allowed  string `json:"allowed,omitempty"` // words, bounds or a format
	Unit     string `json:"unit,omitempty"`
	Doc      string `json:"doc"`
	Pitfall  string `json:"gotcha,omitempty"`
	Plan     string `json:"plan"` // what plans do with it, and why they do not apply it; empty for workloads
	Required bool   `json:"required"`
	Nullable bool   `json:"nullable"`
}

// DefaultText returns the default, and whether it is assumed.
func (e Entry) DefaultText() string {
	if e.Assumed {
		return e.Default + " (assumed)"
	}
	return e.Default
}

// Answer is the result of [Explain]: fields, a rule, both if they have the same name, or an error.
// If the word is unknown, Nearest is the most similar name, or empty.
type Answer struct {
	Entries []Entry        `json:"fields"`
	Rule    *recipes.Rule  `json:"rule,omitempty"`
	Error   *problem.Entry `json:"error,omitempty"`
	Nearest string         `json:"nearest,omitempty"`
}

type file struct {
	name   string
	tables []*schema.Table
}

func files() []file {
	return []file{
		{"recipe", []*schema.Table{schema.Recipe(2), schema.Recipe(1)}},
		{"several recipes", []*schema.Table{schema.Several()}},
		{"workload", []*schema.Table{schema.Workload()}},
		{"cluster", []*schema.Table{schema.Cluster()}},
	}
}

// describe converts a field of a table.
func describe(name string, f schema.Field) Entry {
	e := Entry{
		File: name, Path: f.V2, Layout1: f.V1, Layout2: f.V2, Type: string(f.Kind), Default: f.Default,
		Assumed: f.Assumed, Unit: f.Unit,
		Doc: f.Doc, Pitfall: f.Pitfall, Required: f.Required, Nullable: f.Nullable, Allowed: f.Allowed(),
	}
	if name == "recipe" || name == "cluster" {
		e.Plan = planColumn(f)
	}
	if e.Path == "" {
		e.Path = f.V1
	}
	return e
}

// planColumn describes what plans do with a field.
func planColumn(f schema.Field) string {
	use, reason := f.Use()
	if reason == "" {
		return string(use)
	}
	return string(use) + ": " + reason
}

// all returns all fields of all files, in the order in which a file is written.
func all() []Entry {
	var out []Entry
	for _, f := range files() {
		for _, row := range f.tables[0].Fields() {
			out = append(out, describe(f.name, row))
		}
	}
	return out
}

// Explain looks up a word. It is the id of a rule or an error, the path of a field in
// either layout, a path below a field, the path of a mapping (for all fields in it), or
// the last part of a path. An empty word returns all fields.
func Explain(word string) Answer {
	if e, ok := problem.Find(problem.ID(word)); ok {
		return Answer{Entries: []Entry{}, Error: &e}
	}
	a := Answer{Entries: []Entry{}}
	for _, r := range check.Rules() {
		if r.ID == word && word != "" {
			a.Rule = &r
		}
	}
	word = inOneRecipe(word)
	for _, f := range files() {
		seen := map[string]bool{}
		add := func(rows ...schema.Field) {
			for _, row := range rows {
				if !seen[row.Name()] {
					seen[row.Name()] = true
					a.Entries = append(a.Entries, describe(f.name, row))
				}
			}
		}
		for _, t := range f.tables {
			n := t.Lookup(word)
			switch {
			case n == nil:
			case n.Field == nil:
				add(t.FieldsUnder(word)...)
			default:
				add(*n.Field)
				add(keysOf(t, *n.Field)...)
			}
		}
	}
	if len(a.Entries) == 0 && a.Rule == nil {
		a.Entries = slices.DeleteFunc(all(), func(e Entry) bool {
			return lastKey(e.Layout1) != word && lastKey(e.Layout2) != word
		})
	}
	if len(a.Entries) == 0 && a.Rule == nil {
		a.Nearest = nearest(word)
	}
	return a
}

// inOneRecipe returns the path of a field for one in a file with several recipes, or the name of such a
// recipe in the table.
func inOneRecipe(word string) string {
	first, rest, _ := strings.Cut(word, ".")
	first, _, _ = strings.Cut(first, "[")
	switch {
	case first != "base" && !recipes.IsOverrideKey(first):
		return word
	case rest != "":
		return rest
	case recipes.IsZipKey(first):
		return "zip_override_NAME"
	case first == "base":
		return first
	}
	return "override_NAME"
}

// keysOf returns the fields of a block; nil if the field is none.
func keysOf(t *schema.Table, f schema.Field) []schema.Field {
	if !f.Kind.IsBlock() {
		return nil
	}
	path := f.Like
	if rest, ok := strings.CutPrefix(path, "recipe."); ok {
		t, path = schema.Recipe(2), rest
	}
	if path == "" {
		path = f.V2
	}
	return slices.DeleteFunc(t.FieldsUnder(path), func(k schema.Field) bool { return k.V2 == path })
}

func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// Names returns all names that [Explain] finds: paths of fields in either layout, rules and errors.
func Names() []string {
	var names []string
	for _, e := range all() {
		names = append(names, e.Layout2, e.Layout1)
	}
	for _, r := range check.Rules() {
		names = append(names, r.ID)
	}
	for _, e := range problem.All() {
		names = append(names, string(e.ID))
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
}

// nearest returns the name that is most similar to word; empty if none is similar.
func nearest(word string) string {
	names := Names()
	for _, name := range names {
		names = append(names, lastKey(name))
	}
	return schema.Nearest(word, names)
}

// Text formats an entry for a terminal, one line for each property.
func (e Entry) Text() string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s%s\n", name, text)
		}
	}
	fmt.Fprintf(&b, "%s  (%s)\n", e.Path, e.File)
	line("", e.Doc)
	kind := e.Type
	if e.Unit != "" {
		kind += ", " + e.Unit
	}
	if e.Nullable {
		kind += ", or null"
	}
	line("type", kind)
	if e.Required {
		line("default", "none, the field is required")
	} else {
		line("default", e.DefaultText())
	}
	line("allowed", e.Allowed)
	if e.Layout1 != e.Layout2 {
		orNone := func(path string) string { return cmp.Or(path, "no such field") }
		line("layout 1", orNone(e.Layout1))
		line("layout 2", orNone(e.Layout2))
	}
	line("plan", e.Plan)
	line("pitfall", e.Pitfall)
	return b.String()
}
