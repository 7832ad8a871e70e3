// Package edit changes one value of a YAML file as a person would: it splices
// text at the value's place and leaves every other byte alone, comments, blank
// lines, order, quotes, indentation, anchors and line ends included. It knows
// YAML and paths, and nothing of what a file means. Each result is parsed again
// and compared, so that an edit either does what was asked for or is refused.
package edit

import (
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Set gives the value at a path another text: YAML, as it is to stand in the file. A key that is
// missing is added at the end of its mapping, with missing parents; index n of a list of n entries
// appends. A value that means what the file says already leaves it as it is, quotes included.
func Set(data []byte, path, value string) ([]byte, error) {
	return one(data, recipes.Edit{Op: recipes.OpSet, Path: path, Value: value})
}

// Unset removes the entry at a path: the key with its value and the comment
// behind it. A collection that loses its last entry stays, as {} or [].
func Unset(data []byte, path string) ([]byte, error) {
	return one(data, recipes.Edit{Op: recipes.OpUnset, Path: path})
}

// Apply makes several edits one after the other; the first that is refused ends it.
func Apply(data []byte, edits []recipes.Edit) ([]byte, error) {
	var err error
	for _, e := range edits {
		if data, err = one(data, e); err != nil {
			return nil, err
		}
	}
	return data, nil
}

func one(data []byte, e recipes.Edit) ([]byte, error) {
	out, err := change(data, e)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", e.Op, e.Path, err)
	}
	return out, nil
}

const maxSteps = 50

func change(data []byte, e recipes.Edit) ([]byte, error) {
	t, err := parse(data)
	if err != nil {
		return nil, err
	}
	steps, err := recipes.SplitPath(e.Path)
	if err != nil {
		return nil, err
	}
	if len(steps) > maxSteps {
		return nil, fmt.Errorf("more than %d levels", maxSteps)
	}
	s, err := t.find(steps)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case recipes.OpSet:
		return t.set(s, e.Value)
	case recipes.OpUnset:
		return t.unset(s, steps)
	case recipes.OpRename:
		return t.rename(s, steps, e.Value)
	}
	return nil, errors.New("unknown operation")
}

func (t *text) set(s spot, value string) ([]byte, error) {
	if len(s.rest) == 0 && string(t.data[t.content(s.node):t.end(s.node, s.indent)]) == value {
		return t.data, nil
	}
	v, err := parseValue(value)
	if err != nil {
		return nil, err
	}
	var cuts []cut
	if len(s.rest) == 0 {
		if v.says(s.node) {
			return t.data, nil
		}
		cuts = t.replace(s, v.like(s.node))
	} else if cuts, err = t.insert(s, v); err != nil {
		return nil, err
	}
	if err := setNode(s, v.node); err != nil {
		return nil, err
	}
	return t.splice(cuts)
}

func (t *text) unset(s spot, steps []recipes.Step) ([]byte, error) {
	if len(s.rest) > 0 || len(s.parents) != len(steps) {
		return nil, errors.New("the file has no such entry")
	}
	up, err := t.find(steps[:len(steps)-1])
	if err != nil {
		return nil, err
	}
	cuts := t.remove(s, up)
	s.parent.Content = slices.Concat(s.parent.Content[:s.first], s.parent.Content[s.index+1:])
	return t.splice(cuts)
}

// rename gives the key another name.
func (t *text) rename(s spot, steps []recipes.Step, key string) ([]byte, error) {
	if len(s.rest) > 0 || s.key == nil || len(s.parents) != len(steps) {
		return nil, errors.New("the file has no such key")
	}
	cuts := []cut{{t.content(s.key), t.end(s.key, s.indent), keyText(key)}}
	s.key.Value, s.key.Tag, s.key.Style = key, "!!str", 0
	return t.splice(cuts)
}

// spot is how far a path leads into a file.
type spot struct {
	node    *yaml.Node   // the deepest value on the path
	key     *yaml.Node   // its key; nil for a list entry and for the top
	parents []*yaml.Node // the collections that hold it, from the top
	parent  *yaml.Node   // the last of them; nil for the top
	index   int          // of the value in the parent's Content
	first   int          // of the entry there: its key, or the value itself in a list
	indent  int          // indentation of the parent's entries
	flow    bool         // stands inside brackets
	rest    []recipes.Step
}

// find follows a path through the file.
func (t *text) find(steps []recipes.Step) (spot, error) {
	s := spot{node: t.root, rest: steps}
	for len(s.rest) > 0 {
		if s.node.Kind == yaml.AliasNode {
			return s, fmt.Errorf("line %d holds an alias, *%s: edit what it stands for, or replace the alias as a whole",
				s.node.Line, s.node.Value)
		}
		if word(s, steps) {
			s.rest = nil
			break
		}
		i, err := child(s.node, s.rest[0])
		if err != nil {
			return s, err
		}
		if i < 0 {
			break
		}
		var key *yaml.Node
		first := i
		if s.node.Kind == yaml.MappingNode {
			first, key = i-1, s.node.Content[i-1]
		}
		s = spot{
			node: s.node.Content[i], key: key, parents: append(s.parents, s.node), parent: s.node, index: i, first: first,
			rest: s.rest[1:],
		}
	}
	if s.parent != nil {
		s.indent = t.column(t.content(s.parent))
		s.flow = slices.ContainsFunc(s.parents, isFlow)
	}
	return s, nil
}

// word: engine: trtllm is short for engine: {type: trtllm}.
func word(s spot, steps []recipes.Step) bool {
	return len(s.rest) == 1 && s.rest[0].Key == "type" && len(steps) == 2 && s.key != nil && s.key.Value == "engine" &&
		isWord(s.node)
}

func isWord(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" }

// child is the index in Content of a step's value; -1 where the node has room
// for it and no such entry.
func child(n *yaml.Node, step recipes.Step) (int, error) {
	empty := n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
	if step.Index >= 0 {
		switch {
		case empty && step.Index == 0, n.Kind == yaml.SequenceNode && step.Index == len(n.Content):
			return -1, nil
		case n.Kind == yaml.SequenceNode && step.Index < len(n.Content):
			return step.Index, nil
		case n.Kind == yaml.SequenceNode:
			return 0, fmt.Errorf("line %d: the list has %d entries, [%d] is none of them", n.Line, len(n.Content), step.Index)
		}
		return 0, fmt.Errorf("line %d: [%d] of something that is no list", n.Line, step.Index)
	}
	if n.Kind != yaml.MappingNode {
		if empty || isWord(n) && step.Key != "" {
			return -1, nil
		}
		return 0, fmt.Errorf("line %d: %q of something that is no mapping", n.Line, step.Key)
	}
	found := -1
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != step.Key || n.Content[i].Kind != yaml.ScalarNode {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("key %q is given twice, on lines %d and %d: remove one of them", step.Key,
				n.Content[found].Line, n.Content[i].Line)
		}
		found = i + 1
	}
	return found, nil
}

// isFlow says whether a collection is written in brackets, or is a pair inside some.
func isFlow(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle != 0 }

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
