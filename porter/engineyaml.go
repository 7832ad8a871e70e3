package porter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// Bounds of an engine config or client config.
const (
	maxYAMLBytes = 1 << 20
	maxYAMLNodes = 200_000 // after anchors are expanded
	maxYAMLDepth = 200
)

// yamlLeaf is one leaf of a YAML mapping; a list is one leaf.
type yamlLeaf struct {
	keys []*yaml.Node
	node *yaml.Node
}

func (l yamlLeaf) path() string { return joinKeys(l.keys) }

// yamlDoc is the first document of a file, flattened.
type yamlDoc struct {
	leaves   []yamlLeaf
	lines    []string
	problems []problem
	notes    []problem
	tagged   bool // some value has a tag of its own
}

// ev is evidence at a leaf.
func (d *yamlDoc) ev(artifact string, l yamlLeaf) Evidence {
	line := ""
	if l.node.Line >= 1 && l.node.Line <= len(d.lines) {
		line = strings.TrimSuffix(d.lines[l.node.Line-1], "\r")
	}
	return evidence(artifact, l.node.Line, line, l.path(), flowText(l.node), l.node.Column-1)
}

// find returns a top-level leaf.
func (d *yamlDoc) find(key string) (yamlLeaf, bool) {
	for _, l := range d.leaves {
		if len(l.keys) == 1 && l.keys[0].Value == key {
			return l, true
		}
	}
	return yamlLeaf{}, false
}

// readYAML reads a mapping as nodes, so that order, spelling and style survive.
// What srt-slurm's YAML reader would refuse or take otherwise is resolved here:
// anchors and merge keys are expanded, of duplicate keys the last one counts.
func readYAML(r io.Reader) (*yamlDoc, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxYAMLBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxYAMLBytes {
		return nil, fmt.Errorf("larger than %d MiB", maxYAMLBytes>>20)
	}
	d := &yamlDoc{lines: strings.Split(string(data), "\n")}
	flat, err := d.parse(data)
	if err != nil {
		return nil, err
	}
	if d.tagged {
		if _, err := yaml.Marshal(flat); err != nil { // a tag that does not fit its value
			return nil, fmt.Errorf("can't be written again: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
	}
	d.flatten(nil, flat)
	return d, nil
}

// parse gives the mapping at the top of the first document, expanded.
func (d *yamlDoc) parse(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	switch err := decodeNode(dec, &doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var second yaml.Node
	if err := decodeNode(dec, &second); !errors.Is(err, io.EOF) {
		d.problems = append(d.problems, problem{second.Line, "the file holds more than one document; only the first was read"})
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: a mapping is expected at the top", top.Line)
	}
	x := expander{doc: d}
	flat := x.expand(top, 0)
	return flat, x.err
}

// decodeNode turns the parser's rare panics on hostile input into errors.
func decodeNode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the YAML parser gave up: %v", p)
		}
	}()
	return dec.Decode(n)
}

func (d *yamlDoc) flatten(keys []*yaml.Node, m *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		path := append(keys[:len(keys):len(keys)], m.Content[i])
		if v := m.Content[i+1]; v.Kind == yaml.MappingNode && len(v.Content) > 0 {
			d.flatten(path, v)
		} else {
			d.leaves = append(d.leaves, yamlLeaf{path, v})
		}
	}
}

// expander copies a tree without anchors, aliases, merge keys, duplicate keys
// and comments.
type expander struct {
	doc      *yamlDoc
	nodes    int
	expanded bool
	err      error
}

func (x *expander) fail(line int, format string, args ...any) *yaml.Node {
	if x.err == nil {
		x.err = fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
}

func (x *expander) expand(n *yaml.Node, depth int) *yaml.Node {
	x.nodes++
	switch {
	case x.err != nil:
		return n
	case x.nodes > maxYAMLNodes || depth > maxYAMLDepth:
		return x.fail(n.Line, "too many or too deeply nested values")
	case n.Kind == yaml.AliasNode:
		x.noteExpansion(n.Line)
		return x.expand(n.Alias, depth+1)
	}
	x.doc.tagged = x.doc.tagged || n.Style&yaml.TaggedStyle != 0
	out := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value, Line: n.Line, Column: n.Column}
	switch n.Kind {
	case yaml.ScalarNode:
		if other := readsDifferently(n); other != "" {
			x.doc.notes = append(x.doc.notes, problem{n.Line, fmt.Sprintf("%s is %s for the engine and srt-slurm (YAML 1.1), but not for newer readers; written as it stands", clip(n.Value, 40), other)})
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			out.Content = append(out.Content, x.expand(c, depth+1))
		}
	case yaml.MappingNode:
		x.mapping(out, n, depth)
	}
	return out
}

func (x *expander) noteExpansion(line int) {
	if !x.expanded {
		x.expanded = true
		x.doc.notes = append(x.doc.notes, problem{line, "anchors and merge keys are written out in full"})
	}
}

func (x *expander) mapping(out, n *yaml.Node, depth int) {
	at := map[string]int{}   // key to its value's place in out
	line := map[string]int{} // key to its line; absent for merged keys
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content) && x.err == nil; i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.Tag == "!!merge" {
			x.noteExpansion(k.Line)
			merged = append(merged, x.mergeSources(v, depth)...)
			continue
		}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			x.fail(k.Line, "a key is a list or a mapping")
			return
		}
		id := k.Tag + " " + k.Value
		value := x.expand(v, depth+1)
		if place, again := at[id]; again {
			x.doc.problems = append(x.doc.problems, problem{k.Line, fmt.Sprintf("key %s stands on line %d and again on line %d; the last one counts, as it did for the engine", clip(k.Value, 60), line[id], k.Line)})
			out.Content[place], line[id] = value, k.Line
			continue
		}
		at[id], line[id] = len(out.Content)+1, k.Line
		out.Content = append(out.Content, &yaml.Node{Kind: k.Kind, Style: k.Style, Tag: k.Tag, Value: k.Value, Line: k.Line, Column: k.Column}, value)
	}
	for _, m := range merged { // a key of the mapping itself, or of an earlier source, wins
		for i := 0; i+1 < len(m.Content); i += 2 {
			id := m.Content[i].Tag + " " + m.Content[i].Value
			if _, have := at[id]; !have {
				at[id] = len(out.Content) + 1
				out.Content = append(out.Content, m.Content[i], m.Content[i+1])
			}
		}
	}
}

// mergeSources expands what stands after "<<:", a mapping or a list of them.
func (x *expander) mergeSources(v *yaml.Node, depth int) []*yaml.Node {
	e := x.expand(v, depth+1)
	list := []*yaml.Node{e}
	if e.Kind == yaml.SequenceNode {
		list = e.Content
	}
	for _, m := range list {
		if m.Kind != yaml.MappingNode {
			x.fail(v.Line, "<< wants a mapping")
			return nil
		}
	}
	return list
}
