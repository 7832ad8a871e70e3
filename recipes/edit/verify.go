package edit

import (
	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// same compares two values by meaning, anchors and aliases by name.
func same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Kind != yaml.AliasNode && a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.AliasNode {
		return a.Value == b.Value
	}
	if a.ShortTag() != b.ShortTag() || a.Kind == yaml.ScalarNode && a.ShortTag() != "!!null" && a.Value != b.Value {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// put changes a node into another, its anchor kept.
func put(n, v *yaml.Node) {
	anchor := n.Anchor
	if n.Kind == yaml.AliasNode {
		anchor = ""
	}
	*n = *v
	if anchor != "" && n.Kind != yaml.AliasNode {
		n.Anchor = anchor
	}
}

// setNode gives the value at a place another one, as [text.set] gives its text.
func setNode(s spot, v *yaml.Node) error {
	if len(s.rest) == 0 {
		put(s.node, v)
		return nil
	}
	rest := s.rest
	if s.node.Kind == yaml.SequenceNode {
		rest = append([]recipes.Step{{Index: 0}}, rest[1:]...)
	}
	more, err := compose(rest, value{node: v, head: "x"}, 0)
	switch {
	case err != nil:
		return err
	case s.node.Kind != yaml.ScalarNode:
		s.node.Content = append(s.node.Content, more.node.Content...)
	case isWord(s.node):
		put(s.node, expandWord(s.node, more.node))
	default:
		put(s.node, more.node)
	}
	return nil
}
