package edit

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// ApplyToAll makes edits in order in every recipe of a file. In a file with a base and overrides they
// change the base, and each override that has the field. A path that begins with a key of such a file,
// as in override_x.name, changes only that place. Other files are edited as by [Apply].
func ApplyToAll(data []byte, edits []recipes.Edit) ([]byte, error) {
	for _, e := range edits {
		each, err := inEachRecipe(data, e)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", e.Op, e.Path, err)
		}
		if data, err = Apply(data, each); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// inEachRecipe returns the edits of a file that make an edit in all of its recipes.
func inEachRecipe(data []byte, e recipes.Edit) ([]recipes.Edit, error) {
	d, err := parse(data)
	if err != nil {
		return nil, err
	}
	path, err := recipes.SplitPath(e.Path)
	if err != nil {
		return nil, err
	}
	base, _ := find(d.root, "base")
	if base == nil || base.Kind != yaml.MappingNode || path[0].Key == "base" || recipes.IsOverrideKey(path[0].Key) {
		return []recipes.Edit{e}, nil
	}
	s := spread{edit: e}
	if e.Op == recipes.OpSet {
		if s.value, err = parseValue(e.Value); err != nil {
			return nil, err
		}
		s.add("base."+e.Path, e.Value)
	} else if err := s.visit(base, path, "base", false); err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		key := d.root.Content[i].Value
		if !recipes.IsOverrideKey(key) {
			continue
		}
		if err := s.visit(d.root.Content[i+1], path, recipes.Join("", key), recipes.IsZipKey(key)); err != nil {
			return nil, err
		}
	}
	if len(s.edits) == 0 {
		return nil, problem.New(problem.EntryNotFound, "no recipe of the file has such an entry")
	}
	return s.edits, nil
}

// spread collects the edits of a file that make an edit in all of its recipes.
type spread struct {
	edit  recipes.Edit
	value value // to set
	edits []recipes.Edit
}

func (s *spread) add(path, value string) {
	s.edits = append(s.edits, recipes.Edit{Op: recipes.OpSet, Path: path, Value: value})
}

// visit adds the edits of the node at a path of an override, or of the base. rest is the part of the
// edit's path below it. If zip is true, the entries of a list belong to different recipes.
func (s *spread) visit(n *yaml.Node, rest []recipes.PathElement, at string, zip bool) error {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	set := s.edit.Op == recipes.OpSet
	switch {
	case zip && n.Kind == yaml.SequenceNode:
		for i, entry := range n.Content {
			at := fmt.Sprintf("%s[%d]", at, i)
			if len(rest) == 0 && !set {
				s.add(at, "null") // removes the field from the recipe; the list keeps its length
			} else if err := s.visit(entry, rest, at, false); err != nil {
				return err
			}
		}
	case len(rest) == 0:
		s.change(at, zip)
	case n.Kind == yaml.MappingNode && rest[0].Index < 0:
		return s.visitKey(n, rest, at, zip)
	case n.Kind == yaml.SequenceNode && rest[0].Index >= 0 && rest[0].Index < len(n.Content):
		return s.visit(n.Content[rest[0].Index], rest[1:], fmt.Sprintf("%s[%d]", at, rest[0].Index), false)
	case !set: // the field is not there
	case n.ShortTag() == "!!null":
		return problem.Errorf(problem.EditRefused, "line %d: %s is removed here, so that no field below it can be set; "+
			"edit the file by hand", n.Line, at)
	default: // an error, except for the short form of the engine
		for _, p := range rest {
			if p.Index >= 0 {
				at = fmt.Sprintf("%s[%d]", at, p.Index)
			} else {
				at = recipes.Join(at, p.Key)
			}
		}
		s.change(at, false)
	}
	return nil
}

// visitKey adds the edits of the first key of rest in a mapping.
func (s *spread) visitKey(n *yaml.Node, rest []recipes.PathElement, at string, zip bool) error {
	child, merged := find(n, rest[0].Key)
	at = recipes.Join(at, rest[0].Key)
	switch {
	case child == nil: // the override has the value of the base
		return nil
	case merged && (len(rest) > 1 || s.edit.Op != recipes.OpSet):
		return problem.Errorf(problem.EditRefused, "line %d: %s comes from a merge key; edit the file by hand",
			child.Line, at)
	}
	return s.visit(child, rest[1:], at, zip)
}

// change adds the edit of the value at a path. In a zip override, a value outside of lists applies to
// all of its recipes.
func (s *spread) change(at string, zip bool) {
	switch {
	case s.edit.Op == recipes.OpSet && zip && s.value.node.Kind == yaml.SequenceNode:
		s.add(at, "["+flowText(s.value.node)+"]")
	case s.edit.Op == recipes.OpSet:
		s.add(at, s.edit.Value)
	default:
		s.edits = append(s.edits, recipes.Edit{Op: s.edit.Op, Path: at})
	}
}

// find returns the value of a key in a mapping, or nil. merged is true if it comes from a merge key.
func find(n *yaml.Node, key string) (value *yaml.Node, merged bool) {
	var merges []*yaml.Node
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		switch k := n.Content[i]; {
		case k.Tag == "!!merge":
			merges = append(merges, n.Content[i+1])
		case k.Value == key:
			return n.Content[i+1], false
		}
	}
	for len(merges) > 0 {
		m := merges[0]
		merges = merges[1:]
		switch m.Kind {
		case yaml.AliasNode:
			merges = append([]*yaml.Node{m.Alias}, merges...)
		case yaml.SequenceNode:
			merges = append(append([]*yaml.Node{}, m.Content...), merges...)
		default:
			if v, _ := find(m, key); v != nil {
				return v, true
			}
		}
	}
	return nil, false
}
