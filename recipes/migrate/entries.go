package migrate

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// entry is the text of a key and its value in a mapping, with the comments above it.
type entry struct {
	comments string // the lines above the key, indented
	key      string
	value    string // the text after the colon; ends with a line break
	indent   int
	node     *yaml.Node
	children []entry // non-nil for mappings whose fields move
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
			return nil, problem.Errorf(problem.MigrationRefused,
				"line %d: %s is not at the start of its line; write key: value on a line of its own", k.Line, k.Value)
		}
		colon := bytes.IndexByte(m.data[end:], ':')
		if colon < 0 || len(bytes.TrimSpace(m.data[end:end+colon])) > 0 {
			return nil, problem.Errorf(problem.MigrationRefused,
				"line %d: no colon follows %s; write key: value on one line", k.Line, k.Value)
		}
		next := m.nextLine(stop)
		out = append(out, entry{
			comments: string(m.data[from:line]), key: k.Value, value: m.withLineEnd(m.data[end+colon+1 : next]),
			indent: utf8.RuneCount(m.data[line:start]), node: v,
		})
		from = next
	}
	return out, nil
}

// flowEntries splits a mapping in braces into entries of one line each.
func (m *migration) flowEntries(n *yaml.Node) []entry {
	var out []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		at := m.spans[n.Content[i+1]]
		out = append(out, entry{
			key: n.Content[i].Value, value: m.withLineEnd([]byte(" " + string(m.data[at[0]:at[1]]))), node: n.Content[i+1],
		})
	}
	return out
}

// children splits the mapping of an entry into entries. It returns nil for other values.
func (m *migration) children(e entry) ([]entry, error) {
	n := e.node
	switch {
	case n.Kind == yaml.AliasNode:
		return nil, problem.Errorf(problem.MigrationRefused,
			"line %d: %s is an alias; replace it by the value it refers to", n.Line, e.key)
	case n.Kind != yaml.MappingNode:
		return nil, nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			return nil, problem.Errorf(problem.MigrationRefused,
				"line %d: %s contains a merge key; replace it by the fields it adds", n.Content[i].Line, e.key)
		}
	}
	if n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 {
		return m.flowEntries(n), nil
	}
	if n.Anchor != "" {
		return nil, problem.Errorf(problem.MigrationRefused,
			"line %d: %s has an anchor; replace its aliases by the value and remove it", n.Line, e.key)
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

// keyComment returns the comment on the line of the key.
func (e entry) keyComment() string {
	first, _, _ := strings.Cut(e.value, "\n")
	if t := strings.TrimSpace(first); strings.HasPrefix(t, "#") {
		return " " + t
	}
	return ""
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

// infraSettings are the fields of infra in layout 1, which are services in layout 2.
type infraSettings struct {
	comments  string
	index     int // in migration.out
	dedicated bool
	payload   string
}

// readInfra reads the infra mapping into m.infra.
func (m *migration) readInfra(e entry) error {
	children, err := m.children(e)
	if err != nil {
		return err
	}
	s := infraSettings{comments: e.comments, index: len(m.out)}
	for _, k := range children {
		s.comments += reindent(k.comments, e.indent-k.indent, m.eol)
		switch k.key {
		case "etcd_nats_dedicated_node":
			s.dedicated = strings.EqualFold(k.node.Value, "true")
		case "nats_max_payload_mb":
			if k.node.ShortTag() != "!!null" {
				s.payload = k.node.Value
			}
		}
	}
	m.infra = s
	return nil
}

// writeServices inserts etcd and NATS as services. It inserts nothing if infra has no settings.
func (s infraSettings) writeServices(m *migration) {
	if !s.dedicated && s.payload == "" {
		return
	}
	var b strings.Builder
	b.WriteString(m.eol)
	line := func(text string) { b.WriteString("  " + text + m.eol) }
	if s.dedicated {
		line("- name: etcd")
		line("  type: etcd")
		line("  placement: {node: dedicated}")
	}
	line("- name: nats")
	line("  type: nats")
	if s.dedicated {
		line("  placement: {node: dedicated}")
	}
	if s.payload != "" {
		line("  options: {max_payload_mb: " + s.payload + "}")
	}
	e := entry{key: "services", comments: s.comments, value: b.String()}
	m.out = append(m.out[:s.index:s.index], append([]entry{e}, m.out[s.index:]...)...)
}
