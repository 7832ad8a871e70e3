package edit

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// pathAt is the dotted path of the key on a line, told by indentation alone, so
// that it works in a file that is no valid YAML while it is being typed. In a
// list it is the path of the list.
func pathAt(lines []string, row int) []string {
	var path []string
	indent := -1
	for i := min(row, len(lines)-1); i >= 0; i-- {
		trimmed := strings.TrimLeft(lines[i], " ")
		n := len(lines[i]) - len(trimmed)
		if trimmed == "" || trimmed[0] == '#' || trimmed == "\r" {
			if i == row {
				return nil
			}
			continue
		}
		k, _, ok := strings.Cut(trimmed, ":")
		list := strings.HasPrefix(trimmed, "- ")
		switch {
		case indent < 0 && list: // the key above it
			indent = n + 1
			continue
		case indent < 0 && !ok: // a value that goes on, or half a key: what it is below
			indent = n
			continue
		case !ok || list || indent >= 0 && n >= indent:
			continue
		}
		path = append([]string{strings.Trim(strings.TrimSpace(k), `"'`)}, path...)
		if indent = n; n == 0 {
			break
		}
	}
	return path
}

// lookup finds the deepest node of the table along a path, and how many keys of
// the path it took.
func lookup(t *schema.Table, path []string) (n *schema.Node, depth int) {
	n = t.Root()
	for _, k := range path {
		next := n.Children[k]
		if next == nil {
			break
		}
		n, depth = next, depth+1
	}
	return n, depth
}

// field describes what the cursor is on: a title, and what is to be known.
type field struct {
	path   string
	kind   string // type, unit, range
	doc    string
	extra  []string // default, allowed words, keys below
	gotcha string   // what bites
}

// describe looks a path up in the table of its file.
func describe(t *schema.Table, path []string) (field, bool) {
	if len(path) == 0 {
		return field{}, false
	}
	n, depth := lookup(t, path)
	f := field{path: strings.Join(path, ".")}
	switch {
	case depth == 0:
		f.doc = "not a known key"
		if near := schema.Nearest(path[0], t.Root().Keys()); near != "" {
			f.extra = append(f.extra, "nearest: "+near)
		}
		return f, true
	case n.Field == nil || depth < len(path) && len(n.Children) > 0:
		if depth < len(path) {
			f.doc = "not a known key of " + strings.Join(path[:depth], ".")
		}
		f.extra = append(f.extra, "keys: "+strings.Join(n.Keys(), ", "))
		return f, true
	}
	row := n.Field
	f.kind = row.Kind.String()
	if row.Bounded {
		op := "≥"
		if row.Open {
			op = ">"
		}
		f.kind += fmt.Sprintf(" %s %g", op, row.Min)
	}
	if row.Unit != "" {
		f.kind += ", " + row.Unit
	}
	f.doc = row.Doc
	if depth < len(path) { // belongs to somebody else, such as the engine's config
		f.doc = "below " + strings.Join(path[:depth], ".") + ": " + row.Doc
	}
	if row.Default != "" {
		f.extra = append(f.extra, "default "+row.Default)
	}
	if len(row.Enum) > 0 {
		f.extra = append(f.extra, "one of "+strings.Join(row.Enum, ", "))
	}
	if row.Required {
		f.extra = append(f.extra, "required")
	}
	if row.Nullable {
		f.extra = append(f.extra, "null is allowed")
	}
	f.gotcha = row.Gotcha
	return f, true
}

// field describes the field under the cursor, or that of the selected problem.
func (s *Screen) field() (field, bool) {
	if e, ok := s.entry(); ok {
		return describe(s.table(e.side), strings.Split(e.path, "."))
	}
	which, line := s.subject()
	return describe(s.table(which), pathAt(s.sides[which].text.Lines(), line))
}

// entry is the field under the form's cursor.
func (s *Screen) entry() (entry, bool) {
	if s.focus == onForm && s.form.at < len(s.form.rows) {
		return s.form.rows[s.form.at], true
	}
	return entry{}, false
}

// subject is the line that is described, from 0.
func (s *Screen) subject() (which, line int) {
	if e, ok := s.entry(); ok {
		return e.side, e.line
	}
	if s.focus == onProblems && s.cursor < len(s.problems) {
		if p := s.problems[s.cursor]; p.side >= 0 {
			return p.side, p.Line - 1
		}
	}
	return s.active, s.sides[s.active].text.Cursor().Line
}

// doc describes the line under the cursor in lines of w cells: what is wrong with
// it first, then what its field means.
func (s *Screen) doc(w int) []string {
	var out []string
	add := func(r ui.Role, text string) {
		for _, l := range ui.Wrap(text, w) {
			out = append(out, s.th.Paint(r, l))
		}
	}
	for _, p := range s.here() {
		add(p.role(), ui.Sign(p.role())+" "+p.Message)
		if p.Fix != "" && p.Path != "phase_timeout_seconds" { // the bar has these
			add(ui.Plain, "fix: "+p.Fix)
		}
		out = append(out, "")
	}
	d, ok := s.field()
	if !ok {
		if len(out) == 0 && s.sides[s.active].loaded {
			add(ui.Muted, "on a field's line: what it means")
		}
		return out
	}
	for _, l := range ui.Wrap(d.path, w) {
		out = append(out, s.th.Title.Render(l))
	}
	add(ui.Muted, d.kind)
	add(ui.Plain, d.doc)
	for _, e := range d.extra {
		add(ui.Muted, e)
	}
	if d.gotcha != "" {
		add(ui.Warn, "careful: "+d.gotcha)
	}
	return out
}

// docBox is the description in a frame, for where there is no room beside the text.
func (s *Screen) docBox(w, h int) string {
	inner := min(max(w-8, 20), 76)
	lines := s.doc(inner)
	if room := max(h-4, 1); len(lines) > room {
		lines = append(lines[:room-1], s.th.Paint(ui.Muted, "…"))
	}
	return s.th.Framed(ui.Box(strings.Join(lines, "\n"), inner, len(lines)))
}

// docLine is the same in one line, for a narrow terminal: what is wrong, or what
// the field means.
func (s *Screen) docLine() []string {
	for _, p := range s.here() {
		if p.Path == "phase_timeout_seconds" || p.Severity == recipes.Note { // the bar says it
			continue
		}
		text := p.Message
		if p.Fix != "" {
			text += " · fix: " + p.Fix
		}
		return []string{s.th.Paint(p.role(), ui.Sign(p.role())+" "+ui.Clean(text))}
	}
	d, ok := s.field()
	if !ok {
		return nil
	}
	last := d.path[strings.LastIndexByte(d.path, '.')+1:]
	return append([]string{s.th.Title.Render(ui.Clean(last)), s.th.Paint(ui.Muted, d.kind), ui.Clean(d.doc)}, d.extra...)
}

// here are the problems of the line under the cursor; in the list, the one that
// is selected.
func (s *Screen) here() []problem {
	if s.focus == onProblems && len(s.problems) > 0 {
		return s.problems[s.cursor : s.cursor+1]
	}
	var out []problem
	which, line := s.subject()
	for _, p := range s.problems {
		if p.side == which && p.Line == line+1 {
			out = append(out, p)
		}
	}
	return out
}
