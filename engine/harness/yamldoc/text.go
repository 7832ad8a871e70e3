package yamldoc

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Text is a value as YAML text on one line.
func Text(n *yaml.Node) string {
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
		odd := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
		return `"` + n.Value + `"`, !strings.ContainsFunc(n.Value, odd)
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

// words are what a reader of YAML 1.1 may take a plain scalar for.
var words = map[string]string{"!!str": "text", "!!bool": "a bool", "!!int": "a whole number", "!!float": "a number"}

// YAML11Type says what a reader of YAML 1.1 makes of a plain scalar, if that is
// something else than what readers of YAML 1.2 make of it: they differ in words (on,
// yes), base 60 (12:00:00), octal (0o14) and exponents (1e-5).
func YAML11Type(n *yaml.Node) string {
	if n.Style&^yaml.FlowStyle != 0 || words[n.Tag] == "" || !strings.ContainsAny(n.Value, "0123456789oOnNyYfF") {
		return ""
	}
	kind := "!!str"
	if first := n.Value[0] | 0x20; len(n.Value) <= 5 || first < 'a' || first > 'z' { // no longer word is a bool
		kind = recipes.ResolveYAML11(n.Value).Tag
	}
	if words[kind] == "" {
		kind = "!!str"
	}
	if n.Tag == kind || len(n.Value) > 64 {
		return ""
	}
	return words[kind]
}
