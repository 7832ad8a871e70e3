package edit

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// document is a parsed file. It finds the byte range of each node: yaml.v3 gives only the
// line and column at which a node begins.
type document struct {
	data  []byte
	lines []int  // offset at which each line starts
	eol   string // line ending
	root  *yaml.Node
}

func parse(data []byte) (*document, error) {
	if bytes.HasPrefix(data, []byte{0xfe, 0xff}) || bytes.HasPrefix(data, []byte{0xff, 0xfe}) ||
		bytes.HasPrefix(data, []byte{0}) {
		return nil, problem.New(problem.YAMLInvalid, "the file is not UTF-8; convert it to UTF-8 first")
	}
	doc, found := recipes.Parse("", data)
	if doc.Root == nil {
		if found[0].Line == 0 { // the finding is about the whole file
			return nil, problem.New(problem.YAMLInvalid, found[0].Message)
		}
		return nil, problem.Errorf(problem.YAMLInvalid, "line %d: %s", found[0].Line, found[0].Message)
	}
	return newDocument(data, doc.Root), nil
}

func newDocument(data []byte, root *yaml.Node) *document {
	d := &document{data: data, eol: "\n", lines: []int{0}, root: root}
	for i := 0; i < len(data); {
		n := lineBreakLen(data[i:])
		if n == 0 {
			i++
			continue
		}
		if len(d.lines) == 1 && n == 2 && data[i] == '\r' {
			d.eol = "\r\n"
		}
		i += n
		d.lines = append(d.lines, i)
	}
	return d
}

// lineBreakLen returns the length of the line break at the start of b, or 0. It knows
// the line breaks of YAML 1.1, as yaml.v3 does when it counts lines.
func lineBreakLen(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("\r\n")), bytes.HasPrefix(b, []byte("\u0085")):
		return 2
	case len(b) > 0 && (b[0] == '\n' || b[0] == '\r'):
		return 1
	case bytes.HasPrefix(b, []byte("\u2028")), bytes.HasPrefix(b, []byte("\u2029")):
		return 3
	}
	return 0
}

// nodeStart returns the offset at which a node begins, including its anchor and tag.
func (d *document) nodeStart(n *yaml.Node) int {
	i := len(d.data)
	if n.Line >= 1 && n.Line <= len(d.lines) {
		i = d.lines[n.Line-1]
	}
	if n.Line == 1 && bytes.HasPrefix(d.data, []byte("\ufeff")) {
		i += 3 // a byte order mark is not counted as a column
	}
	for col := 1; col < n.Column && i < len(d.data); col++ {
		_, size := utf8.DecodeRune(d.data[i:])
		i += size
	}
	return i
}

// lineStart returns the offset at which the line of an offset begins.
func (d *document) lineStart(off int) int {
	next, _ := slices.BinarySearch(d.lines, off+1)
	return d.lines[max(next-1, 0)]
}

// lineEnd returns the offset of the line break that ends the line of an offset.
func (d *document) lineEnd(off int) int {
	for off < len(d.data) && lineBreakLen(d.data[off:]) == 0 {
		off++
	}
	return off
}

// column returns the column of an offset, from 0.
func (d *document) column(off int) int { return utf8.RuneCount(d.data[d.lineStart(off):off]) }

// valueStart returns the offset at which a node's value begins, after its anchor and tag.
func (d *document) valueStart(n *yaml.Node) int {
	i := d.nodeStart(n)
	if n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 || n.Kind == yaml.AliasNode {
		return i
	}
	for i < len(d.data) && (d.data[i] == '&' || d.data[i] == '!') {
		for i < len(d.data) && !bytes.ContainsRune([]byte(" \t\r\n"), rune(d.data[i])) {
			i++
		}
		next := d.skip(i)
		if isEmptyScalar(n) || next == len(d.data) {
			return i // the value is empty: null
		}
		if c := d.data[next]; n.Kind == yaml.ScalarNode && n.Style&^yaml.TaggedStyle == 0 && c != '&' && c != '!' {
			return next
		}
		i = next
	}
	return i
}

func isEmptyScalar(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style&^yaml.TaggedStyle == 0 && n.Value == ""
}

// skip returns the offset after white space, line breaks and comments.
func (d *document) skip(i int) int {
	for i < len(d.data) {
		r, size := utf8.DecodeRune(d.data[i:])
		switch {
		case unicode.IsSpace(r) || r == '\ufeff' || lineBreakLen(d.data[i:]) > 0:
			i += size
		case r == '#' && (i == 0 || unicode.IsSpace(rune(d.data[i-1]))):
			i = d.lineEnd(i)
		default:
			return i
		}
	}
	return i
}

// nodeEnd returns the offset at which a node ends. indent is the indentation of the
// collection that contains it; it determines where a block scalar ends.
func (d *document) nodeEnd(n *yaml.Node, indent int) int {
	i := d.valueStart(n)
	if n.Kind == yaml.AliasNode {
		return i + 1 + len(n.Value)
	}
	if n.Kind == yaml.ScalarNode {
		return d.scalarEnd(n, i, indent)
	}
	open := i < len(d.data) && (d.data[i] == '{' || d.data[i] == '[') && n.Style&yaml.FlowStyle != 0
	if !open {
		indent = d.column(i)
	} else {
		i++
	}
	for _, c := range n.Content {
		i = max(i, d.nodeEnd(c, indent))
	}
	if open {
		for i = d.skip(i); i < len(d.data) && d.data[i] == ','; i = d.skip(i) {
			i++
		}
		i = min(i+1, len(d.data))
	}
	return i
}

func (d *document) scalarEnd(n *yaml.Node, i, indent int) int {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i++; i < len(d.data) && d.data[i] != '"'; i++ {
			if d.data[i] == '\\' {
				i++
			}
		}
		return min(i+1, len(d.data))
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i++; i < len(d.data); i++ {
			if d.data[i] != '\'' {
				continue
			}
			if i+1 < len(d.data) && d.data[i+1] == '\'' {
				i++
				continue
			}
			return i + 1
		}
		return i
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return d.blockEnd(i, indent)
	}
	// A plain scalar may span lines: only its white space differs from the text.
	for _, r := range n.Value {
		if unicode.IsSpace(r) || lineBreakLen([]byte(string(r))) > 0 {
			continue
		}
		for i < len(d.data) {
			at, size := utf8.DecodeRune(d.data[i:])
			i += size
			if at == r {
				break
			}
		}
	}
	return i
}

// blockEnd returns the end of a literal or folded scalar whose header is at offset i.
func (d *document) blockEnd(i, indent int) int {
	keep, contentIndent := false, -1
	header := d.lineEnd(i)
	for _, c := range d.data[i:header] {
		if c == '#' {
			break
		}
		if c == '+' {
			keep = true
		}
		if c >= '1' && c <= '9' {
			contentIndent = indent + int(c-'0')
		}
	}
	end := header
	for at := header; at < len(d.data); {
		at += lineBreakLen(d.data[at:])
		stop := d.lineEnd(at)
		line := d.data[at:stop]
		lead := len(line) - len(bytes.TrimLeft(line, " "))
		switch blank := len(bytes.TrimSpace(line)) == 0; {
		case blank && (contentIndent < 0 || lead <= contentIndent):
			if keep && at < len(d.data) {
				end = stop
			}
		case contentIndent < 0 && lead > indent:
			contentIndent, end = lead, stop
		case contentIndent >= 0 && lead >= contentIndent:
			end = stop
		default:
			return end
		}
		at = stop
	}
	return end
}

// Spans parses a file and returns its root and the byte range of each node,
// including its anchor and tag.
func Spans(data []byte) (*yaml.Node, map[*yaml.Node][2]int, error) {
	d, err := parse(data)
	if err != nil {
		return nil, nil, err
	}
	spans := map[*yaml.Node][2]int{}
	var visit func(n *yaml.Node, indent int)
	visit = func(n *yaml.Node, indent int) {
		spans[n] = [2]int{d.nodeStart(n), d.nodeEnd(n, indent)}
		if !isFlow(n) {
			indent = d.column(d.valueStart(n))
		}
		for _, c := range n.Content {
			visit(c, indent)
		}
	}
	visit(d.root, 0)
	return d.root, spans, nil
}
