// Package reference answers `agentperf-tui explain`: it looks up fields of recipe,
// workload and cluster file in the spelling of either layout, rules of check, and
// ids of errors. All text comes from the tables of schema, check and problem.
package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Entry is a field as a person reads about it. Texts are empty where there is nothing to say.
type Entry struct {
	File     string `json:"file"`              // recipe, workload or cluster
	Path     string `json:"path"`              // in layout 2, or the only one it has
	Layout1  string `json:"layout_1"`          // in layout 1; empty: it has none there
	Layout2  string `json:"layout_2"`          // the same for layout 2; files without layouts have both
	Type     string `json:"type"`              // in words
	Default  string `json:"default,omitempty"` // as YAML
	Allowed  string `json:"allowed,omitempty"` // words, or a bound
	Unit     string `json:"unit,omitempty"`
	Doc      string `json:"doc"`
	Pitfall  string `json:"gotcha,omitempty"`
	Required bool   `json:"required"`
	Nullable bool   `json:"nullable"`
}

// Answer describes a word: fields, or a rule, or an error. If nothing has that
// name, Nearest is the most similar name, or empty.
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
		{"workload", []*schema.Table{schema.Workload()}},
		{"cluster", []*schema.Table{schema.Cluster()}},
	}
}

// describe is a row of a table in words.
func describe(name string, f schema.Field) Entry {
	e := Entry{
		File: name, Path: f.V2, Layout1: f.V1, Layout2: f.V2, Type: string(f.Kind), Default: f.Default, Unit: f.Unit,
		Doc: f.Doc, Pitfall: f.Pitfall, Required: f.Required, Nullable: f.Nullable, Allowed: strings.Join(f.Enum, ", "),
	}
	if e.Path == "" {
		e.Path = f.V1
	}
	if bound := f.Bound(); bound != "" {
		e.Allowed = bound
	}
	return e
}

// all lists every field of every file, in the order in which one is written.
func all() []Entry {
	var out []Entry
	for _, f := range files() {
		for _, row := range f.tables[0].Fields() {
			out = append(out, describe(f.name, row))
		}
	}
	return out
}

// Explain looks up a word: the id of a rule or an error; a path in either layout,
// also below a field; a mapping, which lists its fields; or the last part of a path.
// An empty word lists all fields.
func Explain(word string) Answer {
	if e, ok := problem.Find(problem.ID(word)); ok {
		return Answer{Entries: []Entry{}, Error: &e}
	}
	for _, r := range check.Rules() {
		if r.ID == word && word != "" {
			return Answer{Entries: []Entry{}, Rule: &r}
		}
	}
	var a Answer
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
			case n.Field != nil:
				add(*n.Field)
			default:
				add(t.FieldsUnder(word)...)
			}
		}
	}
	if len(a.Entries) == 0 {
		a.Entries = slices.DeleteFunc(all(), func(e Entry) bool { return last(e.Layout1) != word && last(e.Layout2) != word })
	}
	if len(a.Entries) == 0 {
		a.Nearest = nearest(word)
	}
	return a
}

func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// Names lists everything that [Explain] knows: paths of fields in either layout, rules and errors.
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

func nearest(word string) string {
	names := Names()
	for _, name := range names {
		names = append(names, last(name))
	}
	return schema.Nearest(word, names)
}

// Text is an entry for a terminal, a line for each thing there is to say.
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
		line("default", "none: it is required")
	} else {
		line("default", e.Default)
	}
	line("allowed", e.Allowed)
	if e.Layout1 != e.Layout2 {
		spell := func(path string) string {
			if path == "" {
				return "no such field"
			}
			return path
		}
		line("layout 1", spell(e.Layout1))
		line("layout 2", spell(e.Layout2))
	}
	line("careful", e.Pitfall)
	return b.String()
}
