// Package srtctlschema reads the JSON schema that an installed srtctl prints, to tell which keys of a
// recipe or a cluster file that srtctl accepts. It does no I/O.
package srtctlschema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Schema is a JSON schema of a file.
type Schema struct{ root *node }

// node is the part of a JSON schema that says which keys a value may have. A node that is only true or
// false allows any key or none.
type node struct {
	allow *bool

	Ref                  string           `json:"$ref"`
	Type                 types            `json:"type"`
	Properties           map[string]*node `json:"properties"`
	PatternProperties    map[string]*node `json:"patternProperties"`
	AdditionalProperties *node            `json:"additionalProperties"`
	Items                *node            `json:"items"`
	AnyOf                []*node          `json:"anyOf"`
	OneOf                []*node          `json:"oneOf"`
	AllOf                []*node          `json:"allOf"`
	Defs                 map[string]*node `json:"$defs"`
	Definitions          map[string]*node `json:"definitions"`
}

// UnmarshalJSON decodes a schema, which may be a bool.
func (n *node) UnmarshalJSON(data []byte) error {
	if text := strings.TrimSpace(string(data)); text == "true" || text == "false" {
		allow := text == "true"
		n.allow = &allow
		return nil
	}
	type plain node
	return json.Unmarshal(data, (*plain)(n))
}

// types are the types of a value; nil: any.
type types []string

// UnmarshalJSON decodes one type or a list of them.
func (t *types) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = types{one}
		return nil
	}
	var all []string
	err := json.Unmarshal(data, &all)
	*t = all
	return err
}

func (n *node) allows(kind string) bool { return n.Type == nil || slices.Contains(n.Type, kind) }

// Parse parses a JSON schema. It is an error if the text is not a schema of a mapping.
func Parse(data []byte) (*Schema, error) {
	s := &Schema{root: &node{}}
	if err := json.Unmarshal(data, s.root); err != nil {
		return nil, problem.Errorf(problem.SrtctlFailed, "read the schema of srtctl: %w", err)
	}
	for _, n := range s.alternatives([]*node{s.root}) {
		if len(n.Properties) > 0 {
			return s, nil
		}
	}
	return nil, problem.New(problem.SrtctlFailed, "read the schema of srtctl: it has no properties")
}

// Accepts reports whether the schema has the key at the end of a path, or allows any key there. known is false
// if the schema does not tell, because a reference on the way leads to no definition.
func (s *Schema) Accepts(path []recipes.PathElement) (accepts, known bool) {
	at := []*node{s.root}
	for _, e := range path {
		var next []*node
		definitions := s.alternatives(at)
		if len(definitions) == 0 && len(at) > 0 {
			return false, false
		}
		for _, n := range definitions {
			next = append(next, n.child(e)...)
		}
		at = next
	}
	return len(at) > 0, true
}

// child returns the schemas of a key or an entry of the values of a node; nil: it is refused.
func (n *node) child(e recipes.PathElement) []*node {
	if n.allow != nil {
		return []*node{n}[:map[bool]int{true: 1}[*n.allow]]
	}
	if e.Index >= 0 {
		if n.Items == nil || !n.allows("array") {
			return nil
		}
		return []*node{n.Items}
	}
	if !n.allows("object") {
		return nil
	}
	if p := n.Properties[e.Key]; p != nil {
		return []*node{p}
	}
	for pattern, p := range n.PatternProperties {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(e.Key) {
			return []*node{p}
		}
	}
	if n.AdditionalProperties != nil {
		if n.AdditionalProperties.allow != nil && !*n.AdditionalProperties.allow {
			return nil
		}
		return []*node{n.AdditionalProperties}
	}
	anything := true
	return []*node{{allow: &anything}}
}

// alternatives returns the nodes with the references and combinations in them resolved. A node that
// only combines others is left out, because without properties of its own it would allow any key.
func (s *Schema) alternatives(all []*node) []*node {
	var out []*node
	seen := map[*node]bool{}
	var add func(n *node)
	add = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		parts := slices.Concat(n.AnyOf, n.OneOf, n.AllOf)
		if n.Ref != "" {
			parts = append(parts, s.definition(n.Ref))
		}
		for _, p := range parts {
			add(p)
		}
		if len(parts) == 0 || n.Properties != nil || n.Items != nil {
			out = append(out, n)
		}
	}
	for _, n := range all {
		add(n)
	}
	return out
}

// definition returns the node of a reference within the schema; nil: there is none.
func (s *Schema) definition(ref string) *node {
	if ref == "#" {
		return s.root
	}
	if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
		return s.root.Defs[name]
	}
	name, _ := strings.CutPrefix(ref, "#/definitions/")
	return s.root.Definitions[name]
}
