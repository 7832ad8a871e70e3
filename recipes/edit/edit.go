// Package edit changes single values of a YAML file. It replaces only the bytes of
// the value: comments, blank lines, order, quotes, indentation, anchors and line
// endings stay. Each result is parsed again and compared with the wanted one, so that
// an edit either changes exactly what was asked for or fails.
package edit

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Set sets the value at a path. The value is YAML text. A missing key is added at the end of its
// mapping, together with missing parents; index n of a list of n entries appends to the list.
// If the file has an equal value already, it is left unchanged, quotes included.
func Set(data []byte, path, value string) ([]byte, error) {
	return applyOne(data, recipes.Edit{Op: recipes.OpSet, Path: path, Value: value})
}

// Unset removes the entry at a path: the key, its value and the comment on its last
// line. A collection that loses its last entry becomes {} or [].
func Unset(data []byte, path string) ([]byte, error) {
	return applyOne(data, recipes.Edit{Op: recipes.OpUnset, Path: path})
}

// Apply makes edits in order. It stops at the first one that fails.
func Apply(data []byte, edits []recipes.Edit) ([]byte, error) {
	var err error
	for _, e := range edits {
		if data, err = applyOne(data, e); err != nil {
			return nil, err
		}
	}
	return data, nil
}

func applyOne(data []byte, e recipes.Edit) ([]byte, error) {
	out, err := dispatch(data, e)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", e.Op, e.Path, err)
	}
	return out, nil
}

const maxPathElements = 50

func dispatch(data []byte, e recipes.Edit) ([]byte, error) {
	d, err := parse(data)
	if err != nil {
		return nil, err
	}
	path, err := recipes.SplitPath(e.Path)
	if err != nil {
		return nil, err
	}
	if len(path) > maxPathElements {
		return nil, problem.Errorf(problem.EditRefused, "the path has more than %d parts", maxPathElements)
	}
	dst, err := d.locate(path)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case recipes.OpSet:
		return d.set(dst, e.Value)
	case recipes.OpUnset:
		return d.unset(dst, path)
	case recipes.OpRename:
		return d.rename(dst, path, e.Value)
	}
	return nil, problem.New(problem.Internal, "unknown operation")
}

func (d *document) set(dst target, value string) ([]byte, error) {
	if len(dst.missing) == 0 && string(d.data[d.valueStart(dst.node):d.nodeEnd(dst.node, dst.indent)]) == value {
		return d.data, nil
	}
	v, err := parseValue(value)
	if err != nil {
		return nil, err
	}
	var changes []replacement
	if len(dst.missing) == 0 {
		if v.matches(dst.node) {
			return d.data, nil
		}
		changes = d.replace(dst, v.withQuotesOf(dst.node))
	} else if changes, err = d.insert(dst, v); err != nil {
		return nil, err
	}
	if err := setNode(dst, v.node); err != nil {
		return nil, err
	}
	return d.splice(changes)
}

func (d *document) unset(dst target, path []recipes.PathElement) ([]byte, error) {
	if len(dst.missing) > 0 || len(dst.parents) != len(path) {
		return nil, problem.New(problem.EntryNotFound, "the file has no such entry")
	}
	parent, err := d.locate(path[:len(path)-1])
	if err != nil {
		return nil, err
	}
	changes := d.remove(dst, parent)
	dst.parent.Content = slices.Concat(dst.parent.Content[:dst.entryIndex], dst.parent.Content[dst.index+1:])
	return d.splice(changes)
}

// rename renames a key.
func (d *document) rename(dst target, path []recipes.PathElement, key string) ([]byte, error) {
	if len(dst.missing) > 0 || dst.key == nil || len(dst.parents) != len(path) {
		return nil, problem.New(problem.EntryNotFound, "the file has no such key")
	}
	changes := []replacement{{d.valueStart(dst.key), d.nodeEnd(dst.key, dst.indent), keyText(key)}}
	dst.key.Value, dst.key.Tag, dst.key.Style = key, "!!str", 0
	return d.splice(changes)
}

// target is the value at a path, or at the longest part of the path that the file has.
type target struct {
	node       *yaml.Node
	key        *yaml.Node            // nil for a list entry and for the root
	parents    []*yaml.Node          // the collections that contain node, the root first
	parent     *yaml.Node            // the last of parents; nil for the root
	index      int                   // index of node in parent.Content
	entryIndex int                   // index in parent.Content at which the entry starts: its key, or node in a list
	indent     int                   // indentation of the parent's entries
	flow       bool                  // inside {} or []
	engine     bool                  // node is engine: trtllm, the short form of engine: {type: trtllm}
	missing    []recipes.PathElement // the rest of the path, which the file does not have
}

// locate follows a path through the file.
func (d *document) locate(path []recipes.PathElement) (target, error) {
	dst := target{node: d.root, missing: path}
	for len(dst.missing) > 0 {
		if dst.node.Kind == yaml.AliasNode {
			return dst, problem.Errorf(problem.EditRefused,
				"line %d: the value is the alias *%s; edit the value that it refers to, or replace the alias",
				dst.node.Line, dst.node.Value)
		}
		if dst.engine && len(dst.missing) == 1 && dst.missing[0].Key == "type" {
			dst.missing = nil
			break
		}
		i, err := findChild(dst.node, dst.missing[0])
		if err != nil {
			return dst, err
		}
		if i < 0 {
			break
		}
		var key *yaml.Node
		entry := i
		if dst.node.Kind == yaml.MappingNode {
			entry, key = i-1, dst.node.Content[i-1]
		}
		dst = target{
			node: dst.node.Content[i], key: key, parents: append(dst.parents, dst.node), parent: dst.node,
			index: i, entryIndex: entry, missing: dst.missing[1:],
		}
		dst.engine = isString(dst.node) && isEngine(path[:len(path)-len(dst.missing)])
	}
	if dst.parent != nil {
		dst.indent = d.column(d.valueStart(dst.parent))
		dst.flow = slices.ContainsFunc(dst.parents, isFlow)
	}
	return dst, nil
}

// isEngine reports whether a path is that of the engine of a recipe.
func isEngine(path []recipes.PathElement) bool {
	if len(path) == 2 && (path[0].Key == "base" || recipes.IsOverrideKey(path[0].Key)) {
		path = path[1:]
	}
	return len(path) == 1 && path[0].Key == "engine"
}

func isString(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" }

// findChild returns the index in n.Content of the value that element leads to. It is
// -1 if n has no such entry and one can be added.
func findChild(n *yaml.Node, element recipes.PathElement) (int, error) {
	empty := n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
	if element.Index >= 0 {
		switch {
		case empty && element.Index == 0, n.Kind == yaml.SequenceNode && element.Index == len(n.Content):
			return -1, nil
		case n.Kind == yaml.SequenceNode && element.Index < len(n.Content):
			return element.Index, nil
		case n.Kind == yaml.SequenceNode:
			return 0, problem.Errorf(problem.EntryNotFound, "line %d: [%d] is out of range: the list has %d entries",
				n.Line, element.Index, len(n.Content))
		}
		return 0, problem.Errorf(problem.EntryNotFound, "line %d: not a list, so it has no entry [%d]", n.Line, element.Index)
	}
	if n.Kind != yaml.MappingNode {
		if empty || isString(n) && element.Key != "" {
			return -1, nil
		}
		return 0, problem.Errorf(problem.EntryNotFound, "line %d: not a mapping, so it has no key %q", n.Line, element.Key)
	}
	found := -1
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != element.Key || n.Content[i].Kind != yaml.ScalarNode {
			continue
		}
		if found >= 0 {
			return 0, problem.Errorf(problem.EditRefused, "the key %q is given twice, on lines %d and %d; remove one of them",
				element.Key, n.Content[found].Line, n.Content[i].Line)
		}
		found = i + 1
	}
	return found, nil
}

// isFlow reports whether a collection is written in {} or [], or is a single pair in such a list.
func isFlow(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle != 0 }

// equal compares the values of two nodes, and their anchors and aliases by name.
func equal(a, b *yaml.Node) bool {
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
		if !equal(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// replaceNode overwrites n with v. An anchor of n is kept.
func replaceNode(n, v *yaml.Node) {
	anchor := n.Anchor
	if n.Kind == yaml.AliasNode {
		anchor = ""
	}
	*n = *v
	if anchor != "" && n.Kind != yaml.AliasNode {
		n.Anchor = anchor
	}
}

// setNode makes the same change in the nodes of the file that [document.set] makes in its text.
func setNode(dst target, v *yaml.Node) error {
	if len(dst.missing) == 0 {
		replaceNode(dst.node, v)
		return nil
	}
	rest := dst.missing
	if dst.node.Kind == yaml.SequenceNode {
		rest = append([]recipes.PathElement{{Index: 0}}, rest[1:]...)
	}
	more, err := wrapInPath(rest, value{node: v, head: "x"}, 0)
	switch {
	case err != nil:
		return err
	case dst.node.Kind != yaml.ScalarNode:
		dst.node.Content = append(dst.node.Content, more.node.Content...)
	case isString(dst.node):
		replaceNode(dst.node, expandEngine(dst.node, more.node))
	default:
		replaceNode(dst.node, more.node)
	}
	return nil
}
