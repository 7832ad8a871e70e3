package edit

import (
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// trimIndent is a line without its indentation; false if nothing but a comment is on it.
func trimIndent(line string) (text string, indent int, ok bool) {
	text = strings.TrimLeft(line, " ")
	return text, len(line) - len(text), text != "" && text[0] != '#' && text != "\r"
}

// pathAt is the dotted path of the key on a line, told by indentation alone, so that it works in a
// file that is no valid YAML while it is being typed. In a list it is the path of the list.
func pathAt(lines []string, row int) []string {
	var path []string
	indent := -1
	for i := min(row, len(lines)-1); i >= 0; i-- {
		trimmed, n, ok := trimIndent(lines[i])
		if !ok {
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

// lookup finds the deepest node of the table along a path, and how many keys of the path it took.
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

// fieldInfo describes what the cursor is on: a title, and what is to be known.
type fieldInfo struct {
	path    string
	kind    string // type, unit, range
	doc     string
	extra   []string // default, allowed words, keys below
	pitfall string   // what bites
}

// describeField looks a path up in the table of its file.
func describeField(t *schema.Table, path []string) (fieldInfo, bool) {
	if len(path) == 0 {
		return fieldInfo{}, false
	}
	n, depth := lookup(t, path)
	f := fieldInfo{path: strings.Join(path, ".")}
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
	f.kind = strings.TrimRight(string(row.Kind)+" "+row.Bound(), " ")
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
	f.pitfall = row.Pitfall
	return f, true
}

// description is what is told of a line: what is wrong with it first, then what its field means.
type description struct {
	side     side
	problems []finding
	field    fieldInfo
	known    bool // there is a field
	loaded   bool // there is a text
}

// lines are the description in lines of w cells.
func (d description) lines(th ui.Theme, w int) []string {
	var out []string
	add := func(r ui.Role, text string) { out = append(out, th.PaintWrapped(r, text, w)...) }
	for _, p := range d.problems {
		add(p.role(), ui.Sign(p.role())+" "+p.Message)
		if p.Fix != "" && p.Path != "phase_timeout_seconds" { // the rule has these
			add(ui.Plain, "fix: "+p.Fix)
		}
		out = append(out, "")
	}
	if !d.known {
		if len(out) == 0 && d.loaded {
			add(ui.Muted, "on a field's line: what it means")
		}
		return out
	}
	for _, l := range ui.Wrap(d.field.path, w) {
		out = append(out, th.Title.Render(l))
	}
	add(ui.Muted, d.field.kind)
	add(ui.Plain, d.field.doc)
	for _, e := range d.field.extra {
		add(ui.Muted, e)
	}
	if d.field.pitfall != "" {
		add(ui.Warn, "careful: "+d.field.pitfall)
	}
	return out
}

// View draws the description in a box of w × h cells.
func (d description) View(th ui.Theme, w, h int) string {
	return ui.Box(strings.Join(d.lines(th, w), "\n"), w, h)
}

// framed is the description for where there is no room beside the text.
func (d description) framed(th ui.Theme, w, h int) string {
	inner := min(max(w-8, 20), 76)
	lines := d.lines(th, inner)
	if room := max(h-4, 1); len(lines) > room {
		lines = append(lines[:room-1], th.Paint(ui.Muted, "…"))
	}
	return th.Framed(ui.Box(strings.Join(lines, "\n"), inner, len(lines)))
}

// line is the description in one line, for a narrow terminal: what is wrong, or
// what the field means.
func (d description) line(th ui.Theme) string {
	for _, p := range d.problems {
		if p.Path == "phase_timeout_seconds" || p.Severity == recipes.Note { // the rule says it
			continue
		}
		text := p.Message
		if p.Fix != "" {
			text += " · fix: " + p.Fix
		}
		return th.Paint(p.role(), ui.Sign(p.role())+" "+ui.Clean(text))
	}
	if !d.known {
		return ""
	}
	f := d.field
	last := f.path[strings.LastIndexByte(f.path, '.')+1:]
	parts := []string{th.Title.Render(ui.Clean(last)), th.Paint(ui.Muted, f.kind), ui.Clean(f.doc)}
	return strings.Join(append(parts, f.extra...), "  ")
}
