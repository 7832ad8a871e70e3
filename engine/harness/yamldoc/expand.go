package yamldoc

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// expander copies a tree of nodes without anchors, aliases, merge keys, duplicate keys and
// comments.
type expander struct {
	doc      *Doc
	nodes    int
	expanded bool
	err      error
}

func (x *expander) fail(line int, format string, args ...any) *yaml.Node {
	if x.err == nil {
		x.err = problem.Errorf(problem.YAMLInvalid, "line %d: %s", line, fmt.Sprintf(format, args...))
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
}

func (x *expander) expand(n *yaml.Node, depth int) *yaml.Node {
	x.nodes++
	switch {
	case x.err != nil:
		return n
	case x.nodes > maxNodes || depth > maxDepth:
		return x.fail(n.Line, "too many values, or nested too deeply")
	case n.Kind == yaml.AliasNode:
		x.noteExpansion(n.Line)
		return x.expand(n.Alias, depth+1)
	}
	x.doc.tagged = x.doc.tagged || n.Style&yaml.TaggedStyle != 0
	x.checkTag(n)
	out := copyNode(n)
	switch n.Kind {
	case yaml.ScalarNode:
		if other := YAML11Type(n); other != "" {
			x.note(n.Line, "%s is %s in YAML 1.1 (engine, srt-slurm), but not in YAML 1.2; written unchanged",
				safetext.Clip(n.Value, 40), other)
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			out.Content = append(out.Content, x.expand(c, depth+1))
		}
	case yaml.MappingNode:
		x.expandMapping(out, n, depth)
	}
	return out
}

// checkTag reports a tag that only some loaders know.
func (x *expander) checkTag(n *yaml.Node) {
	if text := recipes.TagProblem(n); text != "" {
		text += ": remove the tag, or give the value that it stands for"
		x.doc.Problems = append(x.doc.Problems, Problem{n.Line, text})
	}
}

func (x *expander) noteExpansion(line int) {
	if !x.expanded {
		x.expanded = true
		x.note(line, "anchors and merge keys are expanded")
	}
}

func (x *expander) note(line int, format string, args ...any) {
	x.doc.Notes = append(x.doc.Notes, Problem{line, fmt.Sprintf(format, args...)})
}

// copyNode copies a node without anchor, comments and content.
func copyNode(n *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value, Line: n.Line, Column: n.Column}
}

func (x *expander) expandMapping(out, n *yaml.Node, depth int) {
	at := map[string]int{}   // key to the index of its value in out
	line := map[string]int{} // key to its line; absent for merged keys
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content) && x.err == nil; i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.Tag == "!!merge" {
			x.noteExpansion(k.Line)
			merged = append(merged, x.expandMergeSources(v, depth)...)
			continue
		}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			x.fail(k.Line, "a key must not be a list or a mapping")
			return
		}
		x.checkTag(k)
		id := k.Tag + " " + k.Value
		value := x.expand(v, depth+1)
		if index, again := at[id]; again {
			text := fmt.Sprintf("key %s is on line %d and again on line %d; the last one was used, as the engine does",
				safetext.Clip(k.Value, 60), line[id], k.Line)
			x.doc.Problems = append(x.doc.Problems, Problem{k.Line, text})
			out.Content[index], line[id] = value, k.Line
			continue
		}
		at[id], line[id] = len(out.Content)+1, k.Line
		out.Content = append(out.Content, copyNode(k), value)
	}
	for _, m := range merged { // the mapping's own keys take precedence, then those of earlier sources
		for i := 0; i+1 < len(m.Content); i += 2 {
			id := m.Content[i].Tag + " " + m.Content[i].Value
			if _, have := at[id]; !have {
				at[id] = len(out.Content) + 1
				out.Content = append(out.Content, m.Content[i], m.Content[i+1])
			}
		}
	}
}

// expandMergeSources expands the value of "<<:", a mapping or a list of mappings.
func (x *expander) expandMergeSources(v *yaml.Node, depth int) []*yaml.Node {
	e := x.expand(v, depth+1)
	list := []*yaml.Node{e}
	if e.Kind == yaml.SequenceNode {
		list = e.Content
	}
	for _, m := range list {
		if m.Kind != yaml.MappingNode {
			x.fail(v.Line, "<< must be followed by a mapping or a list of mappings")
			return nil
		}
	}
	return list
}
