package edit

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// trimIndent splits a line into indentation and content; ok is false for a blank line or a comment.
func trimIndent(line string) (text string, indent int, ok bool) {
	text = strings.TrimLeft(line, " ")
	return text, len(line) - len(text), text != "" && text[0] != '#' && text != "\r"
}

// pathAt returns the path of the key on a line, or of the list that the line is in. It looks
// at indentation alone, so that it works while the file is not valid YAML.
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
		case indent < 0 && list: // continue with the key above the list
			indent = n + 1
			continue
		case indent < 0 && !ok: // a continued value or an incomplete key: continue with the key above it
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

// lookup returns the deepest node of the table along a path, and its depth.
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

// fieldInfo describes a field.
type fieldInfo struct {
	path    string
	kind    string // type, unit, range
	doc     string
	extra   []string // default, allowed values, keys of a mapping
	pitfall string
}

// describeField describes the field at a path; false for an empty path.
func describeField(t *schema.Table, path []string) (fieldInfo, bool) {
	if len(path) == 0 {
		return fieldInfo{}, false
	}
	n, depth := lookup(t, path)
	f := fieldInfo{path: strings.Join(path, ".")}
	switch {
	case depth == 0:
		f.doc = "unknown key"
		if near := schema.OneEdit(path[0], t.Root().Keys()); near != "" {
			f.extra = append(f.extra, "did you mean "+near+"?")
		}
		return f, true
	case n.Field == nil || depth < len(path) && len(n.Children) > 0:
		if depth < len(path) {
			f.doc = "unknown key in " + strings.Join(path[:depth], ".")
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
	if depth < len(path) { // a key that is not in the table, such as a setting of a serving engine
		f.doc = "in " + strings.Join(path[:depth], ".") + ": " + row.Doc
	}
	if row.Default != "" {
		f.extra = append(f.extra, "default "+row.Default)
	}
	if len(row.Enum) > 0 {
		f.extra = append(f.extra, "one of "+strings.Join(row.Enum, ", "))
	}
	if row.Format != "" {
		f.extra = append(f.extra, string(row.Format))
	}
	if row.Required {
		f.extra = append(f.extra, "required")
	}
	if row.Nullable {
		f.extra = append(f.extra, "may be null")
	}
	if len(n.Children) > 0 {
		f.extra = append(f.extra, "keys: "+strings.Join(n.Keys(), ", "))
	}
	if use, reason := row.Use(); reason != "" {
		f.extra = append(f.extra, fmt.Sprintf("%s: %s", use, reason))
	}
	f.pitfall = row.Pitfall
	return f, true
}

// description describes a line: its findings, then its field.
type description struct {
	side     side
	problems []finding
	field    fieldInfo
	known    bool // field is set
	loaded   bool // the text is loaded
}

// lines returns the description in lines of w cells.
func (d description) lines(th ui.Theme, w int) []string {
	var out []string
	add := func(r ui.Role, text string) { out = append(out, th.PaintWrapped(r, text, w)...) }
	for _, p := range d.problems {
		add(p.role(), ui.Sign(p.role())+" "+p.Message)
		if p.Fix != "" && p.Path != "phase_timeout_seconds" { // shown with the timeout rule
			add(ui.Plain, "fix: "+p.Fix)
		}
		out = append(out, "")
	}
	if !d.known {
		if len(out) == 0 && d.loaded {
			add(ui.Muted, "move to a field to see its description")
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
		add(ui.Warn, "pitfall: "+d.field.pitfall)
	}
	return out
}

// View draws the description in a box of w × h cells.
func (d description) View(th ui.Theme, w, h int) string {
	return ui.Box(strings.Join(d.lines(th, w), "\n"), w, h)
}

// framed draws the description in a box over the text.
func (d description) framed(th ui.Theme, w, h int) string {
	inner := min(max(w-8, 20), 76)
	lines := d.lines(th, inner)
	if room := max(h-4, 1); len(lines) > room {
		lines = append(lines[:room-1], th.Paint(ui.Muted, "…"))
	}
	return th.Framed(ui.Box(strings.Join(lines, "\n"), inner, len(lines)))
}

// line returns the most severe finding, or the description of the field, as one line for a
// narrow terminal.
func (d description) line(th ui.Theme) string {
	for _, p := range d.problems {
		if p.Path == "phase_timeout_seconds" || p.Severity == recipes.Note { // errors of the rule are shown with it
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
