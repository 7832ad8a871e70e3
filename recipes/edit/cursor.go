package edit

import (
	"bytes"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// At is the path of what a cursor stands on or in, line and column from 1: a
// key, its value, or a blank place below a mapping. A file that does not parse,
// as most do while somebody types, is read by its indentation. Empty: the top.
func At(data []byte, line, column int) string {
	if line < 1 || column < 1 {
		return ""
	}
	if t, err := parse(data); err == nil && line <= len(t.lines) {
		off := t.offset(&yaml.Node{Line: line, Column: column})
		off = min(off, t.lineEnd(t.lines[line-1]))
		if blank := len(bytes.TrimSpace(t.data[t.lines[line-1]:t.lineEnd(t.lines[line-1])])) == 0; !blank {
			return t.at(t.root, "", off, 0)
		}
	}
	return byIndentation(data, line, column)
}

// at descends to the deepest entry whose bytes hold an offset, from the start of
// its key to the end of its value.
func (t *text) at(n *yaml.Node, path string, off, depth int) string {
	if depth > maxSteps {
		return path
	}
	indent := t.column(t.content(n))
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k, v := n.Content[i], n.Content[i+1]; t.offset(k) <= off && off <= t.reach(n, max(t.end(v, indent), t.end(k, indent))) {
				return t.at(v, recipes.Join(path, k.Value), off, depth+1)
			}
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			if t.offset(c) <= off && off <= t.reach(n, t.end(c, indent)) {
				return t.at(c, fmt.Sprintf("%s[%d]", path, i), off, depth+1)
			}
		}
	}
	return path
}

// reach: in block style the rest of the line belongs to the entry.
func (t *text) reach(parent *yaml.Node, end int) int {
	if isFlow(parent) {
		return end
	}
	return t.lineEnd(end)
}

// byIndentation reads keys upwards: each line that is indented less is a parent.
func byIndentation(data []byte, line, column int) string {
	lines := strings.Split(string(data[:min(len(data), 4<<20)]), "\n")
	at := min(line, len(lines)) - 1
	var keys []string
	within := column - 1 // what a blank line belongs to is told by the cursor's column
	if key, indent := keyOf(lines[at]); key != "" {
		keys, within = append(keys, key), indent
	} else if body := strings.TrimLeft(lines[at], " -"); strings.TrimSpace(body) != "" {
		within = len(lines[at]) - len(body) // half a key, still without its colon
	}
	for i := at - 1; i >= 0 && within > 0 && len(keys) < maxSteps; i-- {
		if key, indent := keyOf(lines[i]); key != "" && indent < within {
			keys, within = append(keys, key), indent
		}
	}
	path := ""
	for i := len(keys) - 1; i >= 0; i-- {
		path = recipes.Join(path, keys[i])
	}
	return path
}

// keyOf is the key of a line and its indentation; empty if it has none.
func keyOf(line string) (key string, indent int) {
	body := strings.TrimLeft(line, " -")
	if body == "" || body[0] == '#' {
		return "", 0
	}
	key, _, ok := strings.Cut(strings.TrimRight(body, "\r"), ":")
	if !ok || len(key) > 200 || strings.ContainsAny(key, "{[,") {
		return "", 0
	}
	return strings.Trim(strings.TrimSpace(key), `"'`), len(line) - len(body)
}
