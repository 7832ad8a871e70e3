package migrate

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// entry is the text of a key and its value in a mapping, with the comments above it.
type entry struct {
	comments string // the lines above the key, indented
	key      string
	value    string // the text after the colon; ends with a line break
	indent   int
	node     *yaml.Node
	children []entry // non-nil for mappings whose fields move

	beside      string // the comment on the line of the key, or after a value on one line
	hasComments bool   // beside the value or in it
}

// entries splits a block mapping into entries. from is the offset of the first comment. Comments
// after the last entry belong to what follows the mapping.
func (m *migration) entries(n *yaml.Node, from int) ([]entry, error) {
	var out []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		start, end := m.spans[k][0], m.spans[k][1]
		stop := max(m.spans[v][1], end)
		line := m.lineStart(start)
		if len(bytes.TrimSpace(m.data[line:start])) > 0 || line < from {
			return nil, m.refuse(k, k.Value, "is not at the start of its line; write key: value on a line of its own")
		}
		colon := bytes.IndexByte(m.data[end:], ':')
		if colon < 0 || len(bytes.TrimSpace(m.data[end:end+colon])) > 0 {
			return nil, m.refuse(k, k.Value, "no colon follows; write key: value on one line")
		}
		next := m.nextLine(stop)
		beside := [2]int{end + colon + 1, min(m.spans[v][0], m.nextLine(end))}
		if v.Kind == yaml.ScalarNode || v.Kind == yaml.AliasNode || v.Style&yaml.FlowStyle != 0 {
			beside = [2]int{stop, next}
		}
		out = append(out, entry{
			beside:   strings.Join(comments(m.data, m.spans, beside[0], beside[1]), " "),
			comments: string(m.data[from:line]), key: k.Value, value: m.withLineEnd(m.data[end+colon+1 : next]),
			indent: utf8.RuneCount(m.data[line:start]), node: v, hasComments: m.hasComments(end+colon+1, next),
		})
		from = next
	}
	return out, nil
}

// flowEntries splits a mapping in braces into entries of one line each.
func (m *migration) flowEntries(n *yaml.Node) ([]entry, error) {
	var out []entry
	from := m.spans[n][0]
	for i := 0; i+1 < len(n.Content); i += 2 {
		at := m.spans[n.Content[i+1]]
		if m.hasComments(from, at[1]) {
			return nil, m.refuse(n.Content[i], n.Content[i].Value, "a comment in braces; write one field per line")
		}
		from = at[1]
		out = append(out, entry{
			key: n.Content[i].Value, value: m.withLineEnd([]byte(" " + string(m.data[at[0]:at[1]]))), node: n.Content[i+1],
		})
	}
	if m.hasComments(from, m.spans[n][1]) {
		return nil, m.refuse(n, "mapping", "a comment in braces; write one field per line")
	}
	return out, nil
}

// children splits the mapping of an entry into entries. It returns nil for other values.
func (m *migration) children(e entry) ([]entry, error) {
	n := e.node
	switch {
	case n.Kind == yaml.AliasNode:
		return nil, m.refuse(n, e.key, "an alias; replace it by the value it refers to")
	case n.Kind != yaml.MappingNode:
		return nil, nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			return nil, m.refuse(n.Content[i], e.key, "a merge key; replace it by the fields it adds")
		}
	}
	if n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 {
		return m.flowEntries(n)
	}
	if n.Anchor != "" {
		return nil, m.refuse(n, e.key, "an anchor; replace its aliases by the value and remove it")
	}
	from := m.lineStart(m.spans[n.Content[0]][0])
	for from > 0 { // comments and blank lines above the first key belong to it
		above := m.lineStart(from - 1)
		if t := bytes.TrimSpace(m.data[above:from]); len(t) > 0 && t[0] != '#' {
			break
		}
		from = above
	}
	return m.entries(n, from)
}

func (m *migration) lineStart(off int) int { return bytes.LastIndexByte(m.data[:off], '\n') + 1 }

func (m *migration) nextLine(off int) int {
	if i := bytes.IndexByte(m.data[off:], '\n'); i >= 0 {
		return off + i + 1
	}
	return len(m.data)
}

func (m *migration) withLineEnd(b []byte) string {
	if bytes.HasSuffix(b, []byte("\n")) {
		return string(b)
	}
	return string(b) + m.eol
}

// keyComment returns the comment beside the key of a mapping whose fields move.
func (e entry) keyComment() string {
	if e.beside == "" {
		return ""
	}
	return " " + e.beside
}

// render writes an entry with an indentation of indent spaces.
func (e entry) render(b *strings.Builder, indent, step int, eol string) {
	b.WriteString(reindent(e.comments, indent-e.indent, eol))
	b.WriteString(strings.Repeat(" ", indent) + e.key + ":")
	if e.children == nil {
		first, more, _ := strings.Cut(e.value, "\n")
		b.WriteString(first + "\n" + reindent(more, indent-e.indent, eol))
		return
	}
	b.WriteString(e.keyComment() + eol)
	for _, k := range e.children {
		k.render(b, indent+step, step, eol)
	}
}

// reindent changes the indentation of lines by some spaces. Empty lines stay empty.
func reindent(text string, by int, eol string) string {
	if by == 0 || text == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimLeft(line, " ")
		lead := len(line) - len(body)
		if lead == 0 && strings.Trim(body, "\r\n") == "" {
			b.WriteString(eol)
			continue
		}
		b.WriteString(strings.Repeat(" ", max(0, lead+by)) + body)
	}
	return b.String()
}

// lineComment returns the comment beside an entry as a line of its own, for the entry that follows.
func (m *migration) lineComment(e entry) string {
	if e.beside == "" {
		return ""
	}
	return strings.Repeat(" ", e.indent) + e.beside + m.eol
}

// comments returns the comments of a text from one offset to another. A # in a value is none.
func comments(data []byte, spans map[*yaml.Node][2]int, from, to int) []string {
	var values [][2]int
	for n, at := range spans {
		if n.Kind == yaml.ScalarNode && at[1] > from && at[0] < to {
			values = append(values, at)
		}
	}
	slices.SortFunc(values, func(a, b [2]int) int { return a[0] - b[0] })
	var out []string
	for i := from; i < to; i++ {
		for len(values) > 0 && values[0][1] <= i {
			values = values[1:]
		}
		if len(values) > 0 && i >= values[0][0] {
			i = values[0][1] - 1
			continue
		}
		if data[i] == '#' && (i == 0 || bytes.IndexByte([]byte(" \t\r\n"), data[i-1]) >= 0) {
			end := i
			for end < len(data) && data[end] != '\n' {
				end++
			}
			out = append(out, string(bytes.TrimRight(data[i:end], "\r ")))
			i = end
		}
	}
	return out
}

func (m *migration) hasComments(from, to int) bool {
	return len(comments(m.data, m.spans, from, to)) > 0
}
