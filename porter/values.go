package porter

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Nodes of generated values. Environment values are always quoted: srt-slurm
// takes strings only, and 1 or none would be something else.

// plain is text without quotes, unless some YAML reader would take it for
// something else.
func plain(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if readsDifferently(n) != "" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func quoted(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
}

func number(text string) *yaml.Node {
	tag := "!!int"
	if strings.ContainsAny(text, ".eE") {
		tag = "!!float"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

func integer(n int) *yaml.Node { return number(strconv.Itoa(n)) }

func boolean(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(b)}
}

func null() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

func flowList(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Content: items}
}

func emptyMap() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle}
}

// flowText is a value as YAML text on one line.
func flowText(n *yaml.Node) string {
	if text, ok := simpleText(n); ok {
		return text
	}
	out, err := yaml.Marshal(inFlow(n))
	if err != nil {
		return strconv.Quote(n.Value)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// simpleText spares the encoder, which is costly to set up, for what is plain to
// see. ok is false for anything that may need quotes.
func simpleText(n *yaml.Node) (text string, ok bool) {
	switch {
	case n.Kind == yaml.SequenceNode && n.Style&yaml.TaggedStyle == 0:
		parts := make([]string, len(n.Content))
		for i, c := range n.Content {
			if parts[i], ok = simpleText(c); !ok {
				return "", false
			}
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	case n.Kind != yaml.ScalarNode || n.Style&^yaml.DoubleQuotedStyle != 0 || n.Value == "":
		return "", false
	case n.Style == yaml.DoubleQuotedStyle:
		return `"` + n.Value + `"`, !strings.ContainsFunc(n.Value, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
	case n.Tag == "!!str" && strings.Trim(n.Value[:1], "0123456789.-+~=nNtTfF") == "":
		return "", false // may resolve to something else
	}
	return n.Value, strings.Trim(n.Value, plainBytes) == ""
}

// plainBytes never need quotes within a value that does not begin like a number.
const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-./"

func inFlow(n *yaml.Node) *yaml.Node {
	c := *n
	switch {
	case n.Kind != yaml.ScalarNode:
		c.Style |= yaml.FlowStyle
		c.Content = make([]*yaml.Node, len(n.Content))
		for i, k := range n.Content {
			c.Content[i] = inFlow(k)
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.ContainsAny(n.Value, "\n\r"):
		c.Style = yaml.DoubleQuotedStyle
	}
	return &c
}

// joinKeys spells a path as the rest of the program does.
func joinKeys(keys []*yaml.Node) string { return joinBelow("", keys) }

func joinBelow(path string, keys []*yaml.Node) string {
	for _, k := range keys {
		path = recipes.Join(path, k.Value)
	}
	return path
}

// What a YAML 1.1 reader takes for a number or a bool. Newer readers differ in
// words (on, yes), base 60 (12:00:00), octal (0o14) and exponents (1e-5).
var yaml11 = sync.OnceValue(func() (p struct{ float, integer *regexp.Regexp }) {
	p.float = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	p.integer = regexp.MustCompile(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	return p
})

var bools11 = map[string]bool{
	"yes": true, "Yes": true, "YES": true, "no": true, "No": true, "NO": true, "true": true, "True": true, "TRUE": true,
	"false": true, "False": true, "FALSE": true, "on": true, "On": true, "ON": true, "off": true, "Off": true, "OFF": true,
}

// readsDifferently says what a YAML 1.1 reader makes of a plain scalar, if that
// is something else than what YAML 1.2 readers make of it.
func readsDifferently(n *yaml.Node) string {
	const plainStyles = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
	if n.Style&plainStyles != 0 || n.Value == "" || len(n.Value) > 64 || !strings.ContainsAny(n.Value, "0123456789oOnNyYfF") {
		return ""
	}
	p := yaml11()
	kind, word := "!!str", "text"
	switch first := n.Value[0] | 0x20; {
	case bools11[n.Value]:
		kind, word = "!!bool", "a bool"
	case first >= 'a' && first <= 'z' || n.Value[0] == '/' || n.Value[0] == '_': // no number begins so
	case p.integer.MatchString(n.Value):
		kind, word = "!!int", "a whole number"
	case p.float.MatchString(n.Value):
		kind, word = "!!float", "a number"
	}
	switch n.Tag {
	case "!!str", "!!bool", "!!int", "!!float":
		if n.Tag != kind {
			return word
		}
	}
	return ""
}
