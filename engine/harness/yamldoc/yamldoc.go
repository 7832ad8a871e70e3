// Package yamldoc reads a YAML mapping as nodes, which preserve the order, spelling and style of
// its values. Anchors and merge keys are expanded, and the last of duplicate keys counts, so that
// all YAML parsers agree on the result.
package yamldoc

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// Bounds of a file.
const (
	maxBytes = 1 << 20
	maxNodes = 200_000 // after anchors are expanded
	maxDepth = 200
)

// Leaf is one leaf of a mapping. A list is one leaf, and so is an empty mapping.
type Leaf struct {
	Keys []*yaml.Node // from the top level
	Node *yaml.Node
}

// Path returns the leaf's keys as a path, spelled as by [recipes.Join].
func (l Leaf) Path() string { return Join("", l.Keys) }

// Join appends keys to a path.
func Join(path string, keys []*yaml.Node) string {
	for _, k := range keys {
		path = recipes.Join(path, k.Value)
	}
	return path
}

// Problem is a line that could not be read, or a remark about one.
type Problem struct {
	Line int // from 1; 0 for the whole file
	Text string
}

// Doc is the first document of a file.
type Doc struct {
	Leaves   []Leaf
	Lines    []string // of the file
	Problems []Problem
	Notes    []Problem

	tagged bool // some value has an explicit tag
}

// Find returns the leaf of a top-level key.
func (d *Doc) Find(key string) (Leaf, bool) {
	for _, l := range d.Leaves {
		if len(l.Keys) == 1 && l.Keys[0].Value == key {
			return l, true
		}
	}
	return Leaf{}, false
}

// Read reads a file of at most 1 MiB.
func Read(r io.Reader) (*Doc, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBytes {
		return nil, problem.Errorf(problem.FileTooLarge, "larger than %d MiB", maxBytes>>20)
	}
	d := &Doc{Lines: strings.Split(string(data), "\n")}
	whole, last := splitCut(data)
	top, err := d.parse(whole)
	if err != nil && last != "" { // cut within brackets or quotes that began on an earlier line
		*d = Doc{Lines: d.Lines}
		whole, last = splitLastKey(data)
		top, err = d.parse(whole)
	}
	if err != nil {
		return nil, err
	}
	if d.tagged {
		if _, err := yaml.Marshal(top); err != nil { // a tag that does not fit its value
			return nil, problem.Errorf(problem.YAMLInvalid, "invalid tag: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
	}
	d.Leaves = Leaves(nil, top)
	if last != "" {
		d.dropCut(last)
	}
	return d, nil
}

// splitCut splits off the last line if it has no line ending, because the file may have been cut within it.
// A comment is no value, and a value that ends with a closing bracket or quote is complete.
func splitCut(data []byte) (whole []byte, last string) {
	at := bytes.LastIndexByte(data, '\n') + 1
	last = strings.TrimSpace(string(data[at:]))
	if last == "" || last[0] == '#' || strings.ContainsAny(last[len(last)-1:], "]}'\"") {
		return data, ""
	}
	return data[:at], string(data[at:])
}

// splitLastKey splits off the last key at the top level with its value.
func splitLastKey(data []byte) (whole []byte, last string) {
	at := len(data)
	for at > 0 {
		at = bytes.LastIndexByte(data[:at-1], '\n') + 1
		if !bytes.ContainsAny(data[at:at+1], " -#]}\t\r\n") {
			break
		}
	}
	return data[:at], string(data[at:])
}

// dropCut removes the value that the cut line belongs to, if it began on an earlier line.
func (d *Doc) dropCut(last string) {
	text := strings.Join(strings.Fields(last), " ")
	line := len(d.Lines) - strings.Count(last, "\n")
	note := Problem{line, "the last line has no line ending, so the file may have been cut; not read: " +
		safetext.Clip(text, 80)}
	if n := len(d.Leaves); n > 0 {
		leaf := d.Leaves[n-1]
		indent, column := len(last)-len(strings.TrimLeft(last, " ")), leaf.Keys[len(leaf.Keys)-1].Column-1
		if indent > column || indent == column && strings.HasPrefix(text, "-") {
			d.Leaves = d.Leaves[:n-1]
			note.Text += ", which belongs to " + safetext.Clip(leaf.Path(), 80)
		}
	}
	d.Problems = append(d.Problems, note)
}

// Parse returns the mapping at the top of the first document, expanded.
func Parse(data []byte) (*yaml.Node, error) { return (&Doc{}).parse(data) }

// ParseValue parses a single value and expands it.
func ParseValue(text string) (*yaml.Node, error) {
	var doc yaml.Node
	if err := decode(yaml.NewDecoder(strings.NewReader(text)), &doc); err != nil || len(doc.Content) == 0 {
		return nil, problem.Errorf(problem.YAMLInvalid, "%q is not a YAML value", safetext.Clip(text, 60))
	}
	x := expander{doc: &Doc{}}
	return x.expand(doc.Content[0], 0), x.err
}

func (d *Doc) parse(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	switch err := decode(dec, &doc); {
	case errors.Is(err, io.EOF):
		return nil, problem.New(problem.YAMLInvalid, "file is empty")
	case err != nil:
		return nil, problem.New(problem.YAMLInvalid, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var second yaml.Node
	if err := decode(dec, &second); !errors.Is(err, io.EOF) {
		text := "more than one document; only the first was read"
		d.Problems = append(d.Problems, Problem{second.Line, text})
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, problem.Errorf(problem.YAMLInvalid, "line %d: the top level must be a mapping", top.Line)
	}
	x := expander{doc: d}
	flat := x.expand(top, 0)
	return flat, x.err
}

// decode converts the panics of the parser on malformed input into errors.
func decode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = problem.Errorf(problem.YAMLInvalid, "parse YAML: %v", p)
		}
	}()
	return dec.Decode(n)
}

// Leaves returns the leaves of a mapping. keys are prepended to those of each leaf.
func Leaves(keys []*yaml.Node, m *yaml.Node) []Leaf { return appendLeaves(nil, keys, m) }

func appendLeaves(out []Leaf, keys []*yaml.Node, m *yaml.Node) []Leaf {
	for i := 0; i+1 < len(m.Content); i += 2 {
		path := append(keys[:len(keys):len(keys)], m.Content[i])
		if v := m.Content[i+1]; v.Kind == yaml.MappingNode && len(v.Content) > 0 {
			out = appendLeaves(out, path, v)
		} else {
			out = append(out, Leaf{path, v})
		}
	}
	return out
}
