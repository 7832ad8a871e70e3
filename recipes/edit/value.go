package edit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// value is what is to be written: its meaning, and its text for block context.
// The head goes behind the key, the body on lines of its own, indented.
type value struct {
	node *yaml.Node
	head string
	body []string
}

const maxValueBytes = 1 << 20

// parseValue reads a value as YAML text. Blocks keep their lines, comments too;
// what is written in one line stays as it is.
func parseValue(s string) (value, error) {
	s = strings.ReplaceAll(strings.Trim(s, "\r\n"), "\r\n", "\n")
	switch {
	case len(s) > maxValueBytes:
		return value{}, fmt.Errorf("the value is larger than %d MiB", maxValueBytes>>20)
	case strings.TrimSpace(s) == "":
		s = "null"
	case alias(s):
		return value{node: &yaml.Node{Kind: yaml.AliasNode, Value: s[1:]}, head: s}, nil
	}
	lines := dedent(strings.Split(s, "\n"))
	t, err := parse([]byte("v:\n  " + strings.Join(lines, "\n  ") + "\n"))
	if err != nil {
		return value{}, fmt.Errorf("the value is not valid YAML: %w", err)
	}
	if len(t.root.Content) != 2 {
		return value{}, fmt.Errorf("the value %.40q is no single YAML value: quote it if it is text", s)
	}
	v := value{node: t.root.Content[1]}
	if v.node.Anchor != "" {
		return value{}, fmt.Errorf("the value begins with an anchor, &%s: the place keeps the one it has", v.node.Anchor)
	}
	source := string(t.data[t.offset(v.node):t.end(v.node, 0)])
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
		v.head = flowText(v.node) // a comment alone, say, is null
	}
	return v, nil
}

func alias(s string) bool {
	return len(s) > 1 && s[0] == '*' && !strings.ContainsAny(s[1:], " \t\n[]{},:*&")
}

// dedent takes away the indentation that all lines share.
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

// says tells whether the file says already what the value means. Quotes that
// are given for a plain scalar are meant: they change how other readers take it.
func (v value) says(old *yaml.Node) bool {
	if !same(v.node, bare(old)) {
		return false
	}
	return v.node.Kind != yaml.ScalarNode || plain(v.node) || !plain(old)
}

// bare is a node without its anchor.
func bare(n *yaml.Node) *yaml.Node {
	c := *n
	if c.Kind != yaml.AliasNode {
		c.Anchor = ""
	}
	return &c
}

func plain(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode &&
		n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// like gives plain text the quotes of the text that it replaces.
func (v value) like(old *yaml.Node) value {
	if !plain(v.node) || !isWord(v.node) || !isWord(old) || v.node.Style&yaml.TaggedStyle != 0 {
		return v
	}
	switch {
	case old.Style&yaml.DoubleQuotedStyle != 0:
		v.head = quote(v.node.Value)
	case old.Style&yaml.SingleQuotedStyle != 0 && printable(v.node.Value):
		v.head = "'" + strings.ReplaceAll(v.node.Value, "'", "''") + "'"
	}
	return v
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029
	})
}

// flowText writes a value in one line.
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
	case plain(n) && printable(n.Value) && !strings.ContainsAny(n.Value, ",[]{}#"):
		return n.Value
	case n.Style&yaml.SingleQuotedStyle != 0 && printable(n.Value):
		return "'" + strings.ReplaceAll(n.Value, "'", "''") + "'"
	}
	return quote(n.Value)
}

// quote writes a string in double quotes.
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
		case printable(string(r)) && r != 0xfeff:
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String() + `"`
}

// keyText writes a key, in quotes only if it needs some.
func keyText(key string) string {
	var doc yaml.Node
	if len(key) < 256 && printable(key) && !strings.ContainsAny(key, ":,[]{}#\"'&*!|>%@`?") &&
		yaml.Unmarshal([]byte(key), &doc) == nil && len(doc.Content) == 1 && isWord(doc.Content[0]) &&
		doc.Content[0].Value == key && recipes.YAML11(key).Tag == "!!str" {
		return key
	}
	return quote(key)
}

// compose wraps a value into the keys and list entries of a path that the file does not have yet.
func compose(rest []recipes.Step, v value, step int) (value, error) {
	for _, s := range slices.Backward(rest) {
		pad := step
		var first string
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if s.Index >= 0 {
			if s.Index != 0 {
				return v, fmt.Errorf("[%d] of a list that the file does not have: begin with [0]", s.Index)
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
