package yamldoc

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Text returns a value as YAML text on one line.
func Text(n *yaml.Node) string {
	if text, ok := simpleText(n); ok {
		return text
	}
	out, err := yaml.Marshal(flowStyle(n))
	if err != nil {
		return strconv.Quote(n.Value)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// simpleText formats simple values without the encoder, which is costly to set up. ok is false for
// anything that may need quotes.
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
		needsEscape := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
		return `"` + n.Value + `"`, !strings.ContainsFunc(n.Value, needsEscape)
	case n.Tag == "!!str" && strings.Trim(n.Value[:1], "0123456789.-+~=nNtTfF") == "":
		return "", false // may be read as another type
	}
	return n.Value, strings.Trim(n.Value, plainBytes) == ""
}

// plainBytes need no quotes in a value that does not begin like a number.
const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-./"

func flowStyle(n *yaml.Node) *yaml.Node {
	c := *n
	switch {
	case n.Kind != yaml.ScalarNode:
		c.Style |= yaml.FlowStyle
		c.Content = make([]*yaml.Node, len(n.Content))
		for i, k := range n.Content {
			c.Content[i] = flowStyle(k)
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.ContainsAny(n.Value, "\n\r"):
		c.Style = yaml.DoubleQuotedStyle
	}
	return &c
}

// typeNames names the types that YAML 1.1 may give to a plain scalar.
var typeNames = map[string]string{"!!str": "text", "!!bool": "a bool", "!!int": "a whole number", "!!float": "a number"}

// YAML11Type returns the name of the type that a plain scalar has in YAML 1.1, or "" if it has the
// same type in YAML 1.2. The versions differ in words (on, yes), base 60 (12:00:00), octal (0o14) and
// exponents (1e-5).
func YAML11Type(n *yaml.Node) string {
	if n.Style&^yaml.FlowStyle != 0 || typeNames[n.Tag] == "" || !strings.ContainsAny(n.Value, "0123456789oOnNyYfF") {
		return ""
	}
	kind := "!!str"
	if first := n.Value[0] | 0x20; len(n.Value) <= 5 || first < 'a' || first > 'z' { // longer words are never a bool
		kind = recipes.ResolveYAML11(n.Value).Tag
	}
	if typeNames[kind] == "" {
		kind = "!!str"
	}
	if n.Tag == kind || len(n.Value) > 64 {
		return ""
	}
	return typeNames[kind]
}
