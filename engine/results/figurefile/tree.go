package figurefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// position is a line and a column, from 1; zero if unknown.
type position struct{ line, column int }

// kind is the kind of a node.
type kind int

const (
	none kind = iota // there is no such value
	null
	scalar // number, boolean or text without quotes
	quoted // text in quotes
	list   // its elements are in text, as JSON, unless it is long
	mapping
)

// node is a value of a YAML or JSON file.
type node struct {
	position
	kind   kind
	text   string  // of a scalar as written, of quoted text without quotes
	fields []field // of a mapping, in order
}

type field struct {
	key   string
	at    position // of the key
	value node
}

// isNaN reports whether the value is NaN or Infinity in a JSON file.
func (n node) isNaN() bool {
	return n.kind == null && slices.Contains([]string{"NaN", "Infinity", "-Infinity"}, n.text)
}

// get returns the value of a key; its kind is none if there is none.
func (n node) get(path ...string) node {
	for _, key := range path {
		found := node{}
		for _, f := range n.fields {
			if f.key == key {
				found = f.value
				break
			}
		}
		n = found
	}
	return n
}

// Limits on the content of a file.
const (
	maxDepth  = 50
	maxNodes  = 20_000 // of a YAML file, aliases resolved
	maxFields = 2_000  // of a mapping
	maxList   = 64 << 10
)

// readYAML reads the only document of a YAML file, which must be a mapping.
func readYAML(data []byte) (node, error) {
	in := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := in.Decode(&doc); errors.Is(err, io.EOF) {
		return node{}, errorAt(position{}, "is empty; it must hold figures under the keys of the client's statistics file")
	} else if err != nil {
		return node{}, errorAt(position{}, "is neither JSON, nor a Markdown table, nor a YAML mapping: %v", err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return node{}, errorAt(
			position{root.Line, root.Column},
			"is neither JSON, nor a Markdown table, nor a YAML mapping",
		)
	}
	if in.Decode(&second) == nil {
		return node{}, errorAt(position{second.Line, second.Column}, "a second YAML document; give each its own file")
	}
	budget := maxNodes
	return fromYAML(root, 0, &budget)
}

func fromYAML(y *yaml.Node, depth int, budget *int) (node, error) {
	n := node{position: position{y.Line, y.Column}, text: y.Value}
	if *budget--; *budget < 0 || depth > maxDepth {
		return n, errorAt(n.position, "too many values for a file of figures")
	}
	switch {
	case y.Kind == yaml.AliasNode:
		return fromYAML(y.Alias, depth+1, budget)
	case y.Kind == yaml.SequenceNode:
		n.kind = list
	case y.Kind == yaml.ScalarNode && y.Tag == "!!null":
		n.kind = null
	case y.Kind == yaml.ScalarNode && y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		n.kind = quoted
	case y.Kind == yaml.ScalarNode:
		n.kind = scalar
	}
	if y.Kind != yaml.MappingNode {
		return n, nil
	}
	n.kind = mapping
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		value, err := fromYAML(y.Content[i+1], depth+1, budget)
		if err == nil {
			err = n.add(field{key.Value, position{key.Line, key.Column}, value})
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// add adds a field to a mapping, unless it has the key already.
func (n *node) add(f field) error {
	for _, o := range n.fields {
		if o.key == f.key {
			return errorAt(f.at, "%s: the key occurs twice, first in line %d", f.key, o.at.line)
		}
	}
	if len(n.fields) == maxFields {
		return errorAt(f.at, "too many keys for a file of figures")
	}
	n.fields = append(n.fields, f)
	return nil
}

// jsonReader reads JSON values with their positions.
type jsonReader struct {
	data     []byte
	original []byte // with NaN and Infinity as written; offsets are the same
	in       *json.Decoder

	seen, line, lineStart int // up to the last position that was asked for
}

// readJSON reads all JSON values of a file; there is at least one. NaN and Infinity, which Python
// writes, are read as nulls with that text.
func readJSON(data []byte) ([]node, error) {
	original := data
	data = results.QuoteNaN(data)
	r := jsonReader{data: data, original: original, in: json.NewDecoder(bytes.NewReader(data)), line: 1}
	r.in.UseNumber()
	var out []node
	for {
		if r.next() >= len(data) && len(out) > 0 {
			return out, nil
		}
		n, err := r.value(0)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
}

// next returns the offset of the next token.
func (r *jsonReader) next() int {
	at := int(r.in.InputOffset())
	for at < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[at]) >= 0 {
		at++
	}
	return at
}

// at returns the position of an offset, which must not be before that of an earlier call.
func (r *jsonReader) at(offset int) position {
	for ; r.seen < offset; r.seen++ {
		if r.data[r.seen] == '\n' {
			r.line, r.lineStart = r.line+1, r.seen+1
		}
	}
	return position{r.line, utf8.RuneCount(r.data[r.lineStart:offset]) + 1}
}

func (r *jsonReader) value(depth int) (node, error) {
	start := r.next()
	n := node{position: r.at(min(start, len(r.data)))}
	if depth > maxDepth {
		return n, errorAt(n.position, "nested too deeply")
	}
	if start < len(r.data) && r.data[start] == '[' {
		n.kind = list
		var raw json.RawMessage
		if err := r.in.Decode(&raw); err != nil {
			return n, r.failed(err)
		}
		if len(raw) <= maxList {
			n.text = string(raw)
		}
		return n, nil
	}
	token, err := r.in.Token()
	if err != nil {
		return n, r.failed(err)
	}
	switch v := token.(type) {
	case nil:
		n.kind = null
	case string:
		n.kind, n.text = quoted, v
		if r.original[start] != '"' {
			n.kind, n.text = null, string(r.original[start:r.in.InputOffset()])
		}
	case json.Delim:
		return r.object(n, depth)
	default:
		n.kind, n.text = scalar, fmt.Sprint(v)
	}
	return n, nil
}

// object reads the rest of an object after its brace.
func (r *jsonReader) object(n node, depth int) (node, error) {
	n.kind = mapping
	for r.in.More() {
		at := r.at(r.next())
		token, err := r.in.Token()
		if err != nil {
			return n, r.failed(err)
		}
		value, err := r.value(depth + 1)
		if err == nil {
			err = n.add(field{fmt.Sprint(token), at, value})
		}
		if err != nil {
			return n, err
		}
	}
	if _, err := r.in.Token(); err != nil {
		return n, r.failed(err)
	}
	return n, nil
}

// failed returns the position of a syntax error.
func (r *jsonReader) failed(err error) error {
	offset := r.next()
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		offset = max(int(syntax.Offset)-1, 0)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err, offset = problem.New(problem.FiguresInvalid, "the file ends within a value"), len(r.data)
	}
	return errorAt(r.at(max(r.seen, min(offset, len(r.data)))), "is not valid JSON: %v", err)
}
