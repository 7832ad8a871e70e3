package edit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// value is a value to write, as a node and as text.
type value struct {
	node *yaml.Node
	head string   // on the line of the key
	body []string // lines below the key, without their indentation
}

const maxValueBytes = 1 << 20

// parseValue parses YAML text. Values of several lines keep their lines and comments;
// those of one line are kept as written.
func parseValue(s string) (value, error) {
	s = strings.ReplaceAll(strings.Trim(s, "\r\n"), "\r\n", "\n")
	switch {
	case len(s) > maxValueBytes:
		return value{}, problem.Errorf(problem.ValueInvalid, "the value is larger than %d MiB", maxValueBytes>>20)
	case strings.TrimSpace(s) == "":
		s = "null"
	case isAlias(s):
		return value{node: &yaml.Node{Kind: yaml.AliasNode, Value: s[1:]}, head: s}, nil
	}
	lines := dedent(strings.Split(s, "\n"))
	data := []byte("v:\n  " + strings.Join(lines, "\n  ") + "\n")
	doc, found := recipes.Parse("", data)
	if doc.Root == nil {
		return value{}, problem.Errorf(problem.YAMLInvalid, "value %.40q: %s", s, found[0].Message)
	}
	d := newDocument(data, doc.Root)
	if len(d.root.Content) != 2 {
		return value{}, problem.Errorf(problem.YAMLInvalid,
			"value %.40q: more than one YAML value; quote it if it is text", s)
	}
	v := value{node: d.root.Content[1]}
	if v.node.Anchor != "" {
		return value{}, problem.Errorf(problem.EditRefused, "value %.40q: has the anchor &%s; remove it", s, v.node.Anchor)
	}
	source := string(d.data[d.nodeStart(v.node):d.nodeEnd(v.node, 0)])
	first, rest, multi := strings.Cut(source, "\n")
	switch {
	case v.node.Kind != yaml.ScalarNode && !isFlow(v.node):
		v.body = lines
	case !multi:
		v.head = source
	case v.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && !strings.ContainsAny(first, "123456789"):
		v.head, v.body = first, dedent(strings.Split(rest, "\n"))
	default:
		v.head = flowText(v.node)
	}
	if v.head == "" && len(v.body) == 0 {
		v.head = flowText(v.node) // null: the text is only a comment
	}
	return v, nil
}

func isAlias(s string) bool {
	return len(s) > 1 && s[0] == '*' && !strings.ContainsAny(s[1:], " \t\n[]{},:*&")
}

// dedent removes the indentation that all lines have in common.
func dedent(lines []string) []string {
	least := -1
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if n := len(l) - len(strings.TrimLeft(l, " ")); least < 0 || n < least {
			least = n
		}
	}
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out = append(out, l[min(max(least, 0), len(l)-len(strings.TrimLeft(l, " "))):])
	}
	return out
}

// matches reports whether a node of the file has the value already. Adding quotes to a
// plain scalar is a change: readers of YAML 1.1 may read it differently.
func (v value) matches(old *yaml.Node) bool {
	if !equal(v.node, withoutAnchor(old)) {
		return false
	}
	return v.node.Kind != yaml.ScalarNode || isPlain(v.node) || !isPlain(old)
}

// withoutAnchor returns a copy of a node without its anchor.
func withoutAnchor(n *yaml.Node) *yaml.Node {
	c := *n
	if c.Kind != yaml.AliasNode {
		c.Anchor = ""
	}
	return &c
}

// isPlain reports whether a node is a scalar without quotes.
func isPlain(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode &&
		n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// withQuotesOf adds the quotes of the string that v replaces, if v is a string without quotes.
func (v value) withQuotesOf(old *yaml.Node) value {
	if !isPlain(v.node) || !isString(v.node) || !isString(old) || v.node.Style&yaml.TaggedStyle != 0 {
		return v
	}
	switch {
	case old.Style&yaml.DoubleQuotedStyle != 0:
		v.head = quote(v.node.Value)
	case old.Style&yaml.SingleQuotedStyle != 0 && isPrintable(v.node.Value):
		v.head = "'" + strings.ReplaceAll(v.node.Value, "'", "''") + "'"
	}
	return v
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029
	})
}

// flowText formats a value on one line.
func flowText(n *yaml.Node) string {
	switch n.Kind {
	case yaml.AliasNode:
		return "*" + n.Value
	case yaml.SequenceNode:
		parts := make([]string, 0, len(n.Content))
		for _, c := range n.Content {
			parts = append(parts, flowText(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yaml.MappingNode:
		parts := make([]string, 0, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, flowText(n.Content[i])+": "+flowText(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	switch {
	case n.ShortTag() == "!!null":
		return "null"
	case isPlain(n) && isPrintable(n.Value) && !strings.ContainsAny(n.Value, ",[]{}#"):
		return n.Value
	case n.Style&yaml.SingleQuotedStyle != 0 && isPrintable(n.Value):
		return "'" + strings.ReplaceAll(n.Value, "'", "''") + "'"
	}
	return quote(n.Value)
}

// quote formats a string in double quotes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case isPrintable(string(r)) && r != 0xfeff:
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String() + `"`
}

// keyText formats a key, in quotes only if it needs them.
func keyText(key string) string {
	var doc yaml.Node
	if len(key) < 256 && isPrintable(key) && !strings.ContainsAny(key, ":,[]{}#\"'&*!|>%@`?") &&
		yaml.Unmarshal([]byte(key), &doc) == nil && len(doc.Content) == 1 && isString(doc.Content[0]) &&
		doc.Content[0].Value == key && recipes.ResolveYAML11(key).Tag == "!!str" {
		return key
	}
	return quote(key)
}

// wrapInPath wraps a value in the keys and list entries of a path that the file does
// not have yet. indent is the indentation of each level.
func wrapInPath(path []recipes.PathElement, v value, indent int) (value, error) {
	for _, s := range slices.Backward(path) {
		pad := indent
		var first string
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if s.Index >= 0 {
			if s.Index != 0 {
				return v, problem.Errorf(problem.EntryNotFound, "[%d] is out of range: the list is empty; start with [0]", s.Index)
			}
			pad, first = 2, "-"
			n = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{v.node}}
			if v.head == "" {
				v.head, v.body = v.body[0], v.body[1:]
			}
		} else {
			first = keyText(s.Key) + ":"
			n.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: s.Key}, v.node}
		}
		if v.head != "" {
			first += " " + v.head
		}
		v = value{node: n, body: append([]string{first}, indented(v.body, pad)...)}
	}
	return v, nil
}

func indented(lines []string, n int) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		if l != "" {
			l = strings.Repeat(" ", n) + l
		}
		out = append(out, l)
	}
	return out
}
