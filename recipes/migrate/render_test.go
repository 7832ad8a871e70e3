package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// node is a key of a generated file with its value or its children, in order.
type node struct {
	key, value string
	children   []*node
}

// tree returns fields as a tree of keys. path selects the path and the value of a field; fields with an
// empty path are left out.
func tree(fields []field, of func(field) (path, value string)) *node {
	root := &node{}
	for _, f := range fields {
		path, value := of(f)
		if path == "" {
			continue
		}
		keys, err := recipes.SplitPath(path)
		if err != nil {
			panic(err)
		}
		n := root
		for _, k := range keys {
			i := slices.IndexFunc(n.children, func(c *node) bool { return c.key == k.Key })
			if i < 0 {
				i = len(n.children)
				n.children = append(n.children, &node{key: k.Key})
			}
			n = n.children[i]
		}
		n.value = value
	}
	return root
}

// writer writes a tree as YAML with comments, blank lines, and mappings in blocks or braces.
type writer struct {
	*generator
	b        strings.Builder
	comments []string
	step     int // indentation
}

// comment returns a comment that no other place of the file has.
func (w *writer) comment() string {
	c := fmt.Sprintf("# note %d: a 'b", len(w.comments))
	w.comments = append(w.comments, c)
	return c
}

func (w *writer) write(n *node, indent int) {
	for _, c := range n.children {
		pad := strings.Repeat(" ", indent)
		switch w.IntN(6) {
		case 0:
			w.b.WriteString("\n")
		case 1:
			w.b.WriteString(pad + w.comment() + "\n")
		case 2:
			w.b.WriteString("\n" + pad + w.comment() + "\n" + pad + w.comment() + "\n")
		}
		beside := ""
		if w.IntN(4) == 0 {
			beside = "  " + w.comment()
		}
		key := c.key
		if strings.ContainsAny(key, "./") {
			key = `"` + key + `"`
		}
		switch {
		case c.children == nil:
			w.b.WriteString(pad + key + ": " + c.value + beside + "\n")
		case w.IntN(4) == 0:
			w.b.WriteString(pad + key + ": " + braces(c) + beside + "\n")
		default:
			w.b.WriteString(pad + key + ":" + beside + "\n")
			w.write(c, indent+w.step)
		}
	}
}

func braces(n *node) string {
	if n.children == nil {
		return n.value
	}
	parts := make([]string, 0, len(n.children))
	for _, c := range n.children {
		key := c.key
		if strings.ContainsAny(key, "./#") {
			key = `"` + key + `"`
		}
		parts = append(parts, key+": "+braces(c))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// layout1 returns the fields as a file in layout 1, and its comments.
func (g *generator) layout1() (text string, comments []string) {
	w := &writer{generator: g, step: 2 + 2*g.IntN(2)}
	w.b.WriteString(w.comment() + "\n")
	w.write(tree(g.fields, func(f field) (string, string) { return f.path, f.value }), 0)
	if g.IntN(2) == 0 {
		w.b.WriteString(w.comment() + "\n")
	}
	text = w.b.String()
	if g.IntN(6) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text, w.comments
}

// layout2 returns the fields in layout 2, without a schema line.
func (g *generator) layout2() *node {
	return tree(slices.Concat(g.fields, g.added), func(f field) (string, string) {
		if f.is != "" {
			return f.to, f.is
		}
		return f.to, f.value
	})
}
