// Package migrate converts recipes from layout 1 to layout 2. It moves the text of each field
// to its new path, so that comments, order and spelling are kept where possible. It then
// compares both recipes to make sure that their meaning is the same. The table of fields
// defines the paths in both layouts. The package does no I/O.
package migrate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Result is a recipe in layout 2.
type Result struct {
	Data  []byte
	Notes []string // fields that were removed, with the reason
}

// Recipe migrates a recipe, or a file with a base and overrides. The file name is used in
// errors only. It is an error if a field can't be moved automatically: it names the line.
func Recipe(file string, data []byte) (Result, error) {
	old, err := readRecipes(file, data)
	if err != nil {
		return Result{}, fmt.Errorf("migrate %w; correct the errors first", err)
	}
	if old[0].recipe.Schema == 2 {
		return Result{}, problem.Errorf(problem.MigrationNotNeeded, "migrate %s: already in layout 2", file)
	}
	m, err := newMigration(file, data, old)
	if err != nil {
		return Result{}, fmt.Errorf("migrate %w", err)
	}
	out, err := m.run()
	if err == nil {
		err = m.verify(out)
	}
	if err != nil {
		return Result{}, fmt.Errorf("migrate %w", err)
	}
	return Result{Data: out, Notes: m.notes}, nil
}

// variant is one of the recipes in a file.
type variant struct {
	recipes.Variant
	recipe *recipes.Recipe
}

// readRecipes returns the recipes of a file, the base first.
func readRecipes(file string, data []byte) ([]variant, error) {
	all, found := recipes.Variants(file, data, "")
	if len(all) == 0 {
		return nil, invalid(found.BySeverity()[0])
	}
	if base, _ := recipes.Variants(file, data, "base"); all[0].Key != "" && all[0].Key != "base" {
		all = append(base, all...)
	}
	out := make([]variant, 0, len(all))
	for _, v := range all {
		r, _, found := v.Load(data)
		if errs := found.BySeverity(); errs.Errors() > 0 {
			return nil, invalid(errs[0])
		}
		out = append(out, variant{v, r})
	}
	return out, nil
}

// invalid returns the error for a finding: file:line:col: path: message.
func invalid(d recipes.Diagnostic) error {
	text := d.String()
	return problem.New(problem.RecipeInvalid, strings.Replace(text, ": "+string(d.Severity)+": ", ": ", 1))
}

// migration is the state of the migration of a file.
type migration struct {
	file  string
	data  []byte
	eol   string // line ending of the file
	root  *yaml.Node
	spans map[*yaml.Node][2]int // start and end offset of each node
	old   []variant

	section section
	out     []entry // result for the current section
	pending string  // comments of removed entries, without indentation
	notes   []string
	origins map[string]*yaml.Node // the value of the old file for a path of the new one
}

func newMigration(file string, data []byte, old []variant) (*migration, error) {
	m := &migration{file: file, data: data, eol: "\n", old: old, origins: map[string]*yaml.Node{}}
	if bytes.Contains(data, []byte("\r\n")) {
		m.eol = "\r\n"
	}
	var err error
	if m.root, m.spans, err = edit.Spans(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// refuse returns the error for a node that can't be migrated: file:line: path: what was found.
func (m *migration) refuse(n *yaml.Node, path, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	return problem.Errorf(problem.MigrationRefused, "%s:%d: %s", m.file, n.Line, text)
}

func (m *migration) run() ([]byte, error) {
	if m.root.Style&yaml.FlowStyle != 0 {
		return nil, m.refuse(m.root, "recipe", "a mapping in braces; write one field per line")
	}
	all, err := m.entries(m.root, 0)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	rest := ""
	if slices.ContainsFunc(all, func(e entry) bool { return e.key == "base" }) {
		rest, err = m.migrateOverrides(&b, all)
	} else if err = m.migrateSection(section{complete: true, recipes: m.recipesOf(m.old[0].Key)}, all); err == nil {
		rest = m.render(&b, 0)
	}
	if err != nil {
		return nil, err
	}
	b.WriteString(rest + string(m.data[m.nextLine(m.spans[m.root][1]):]))
	out := b.String()
	if !bytes.HasSuffix(m.data, []byte("\n")) {
		out = strings.TrimSuffix(out, m.eol)
	}
	return []byte(out), nil
}

// migrateOverrides migrates the base and each override.
func (m *migration) migrateOverrides(b *strings.Builder, all []entry) (rest string, err error) {
	for _, e := range all {
		if e.key == "schema" { // the base gets its own
			rest += e.comments + m.lineComment(e)
			continue
		}
		children, err := m.children(e)
		if err != nil {
			return "", err
		}
		if len(children) == 0 || e.key != "base" && !recipes.IsOverrideKey(e.key) {
			b.WriteString(rest)
			rest = ""
			e.render(b, 0, m.indentStep(), m.eol)
			continue
		}
		s := section{
			key: e.key, complete: e.key == "base", zip: recipes.IsZipKey(e.key), recipes: m.recipesOf(e.key),
		}
		if err := m.migrateSection(s, children); err != nil {
			return "", err
		}
		var fields strings.Builder
		comments := m.render(&fields, m.indentStep())
		value := ""
		if fields.Len() == 0 {
			value = " {}"
		}
		b.WriteString(rest + e.comments + e.key + ":" + value + e.keyComment() + m.eol + fields.String())
		rest = comments
	}
	return rest, nil
}

// section is the part of a file that is migrated: a recipe, the base or an override.
type section struct {
	key      string // base or the key of an override; empty for a file without a base
	complete bool   // not an override
	zip      bool   // its lists have an entry for each recipe
	recipes  []*recipes.Recipe
}

// recipesOf returns the recipes that a key of the file defines.
func (m *migration) recipesOf(key string) []*recipes.Recipe {
	var out []*recipes.Recipe
	for _, v := range m.old {
		if v.Key == key {
			out = append(out, v.recipe)
		}
	}
	return out
}

// every reports whether a condition is true for all recipes of the section.
func (s section) every(is func(*recipes.Recipe) bool) bool {
	return !slices.ContainsFunc(s.recipes, func(r *recipes.Recipe) bool { return !is(r) })
}

// common returns the value of all recipes of a section. ok is false if it differs between them.
func common[T comparable](s section, value func(*recipes.Recipe) T) (v T, ok bool) {
	v = value(s.recipes[0])
	return v, s.every(func(r *recipes.Recipe) bool { return value(r) == v })
}

// migrateSection moves the entries of a recipe, a base or an override. It adds the schema line to a
// complete one, below the comment at the start of the file.
func (m *migration) migrateSection(s section, all []entry) error {
	m.section, m.out, m.pending = s, nil, ""
	if s.complete && len(all) > 0 {
		head := entry{key: "schema", value: " 2" + m.eol, indent: all[0].indent}
		if all[0].indent > 0 || m.lineStart(m.spans[m.root.Content[0]][0]) > 0 {
			head.comments, all[0].comments = all[0].comments, ""
		}
		m.out = append(m.out, head)
	}
	for _, e := range all {
		if e.key == "schema" {
			m.pending += reindent(e.comments+m.lineComment(e), -e.indent, m.eol)
			continue
		}
		if err := m.moveTopLevel(e); err != nil {
			return err
		}
	}
	return m.writeGPUs()
}

// render writes the result. The comments of an entry whose children were all moved go to
// the next entry; if there is none, render returns them.
func (m *migration) render(b *strings.Builder, indent int) (rest string) {
	lead := ""
	for _, e := range m.out {
		if e.children != nil && len(e.children) == 0 {
			if e.key != "resources" || indent > 0 {
				lead += e.comments + m.lineComment(e)
				continue
			}
			e.children, e.value = nil, " {}"+e.keyComment()+m.eol
		}
		e.comments, lead = lead+e.comments, ""
		e.render(b, indent, m.indentStep(), m.eol)
	}
	return lead + reindent(m.pending, indent, m.eol)
}

// indentStep returns the indentation of the first nested block of the file.
func (m *migration) indentStep() int {
	for _, v := range m.root.Content {
		if v.Kind == yaml.MappingNode && v.Style&yaml.FlowStyle == 0 && len(v.Content) > 0 {
			if at := m.spans[v.Content[0]][0]; at-m.lineStart(at) > 0 {
				return at - m.lineStart(at)
			}
		}
	}
	return 2
}
