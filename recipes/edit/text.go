package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// text is a file with its nodes and what is needed to find their bytes.
type text struct {
	data  []byte
	lines []int // offset at which each line starts
	eol   string
	root  *yaml.Node
}

func parse(data []byte) (*text, error) {
	t := &text{data: data, eol: "\n", lines: []int{0}}
	if bytes.HasPrefix(data, []byte{0xfe, 0xff}) || bytes.HasPrefix(data, []byte{0xff, 0xfe}) ||
		bytes.HasPrefix(data, []byte{0}) {
		return nil, errors.New("the file is no UTF-8 text: convert it first")
	}
	doc, found := recipes.Parse("", data)
	if doc.Root == nil {
		return nil, fmt.Errorf("line %d: %s", found[0].Line, found[0].Message)
	}
	t.root = doc.Root
	for i := 0; i < len(data); {
		n := breakLen(data[i:])
		if n == 0 {
			i++
			continue
		}
		if len(t.lines) == 1 && n == 2 && data[i] == '\r' {
			t.eol = "\r\n"
		}
		i += n
		t.lines = append(t.lines, i)
	}
	return t, nil
}

// breakLen is the length of a line break at the start of b, as YAML 1.1 has
// them, which is what node positions count by; 0 where there is none.
func breakLen(b []byte) int {
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

// offset is where a node begins, its anchor and tag included.
func (t *text) offset(n *yaml.Node) int {
	i := len(t.data)
	if n.Line >= 1 && n.Line <= len(t.lines) {
		i = t.lines[n.Line-1]
	}
	if n.Line == 1 && bytes.HasPrefix(t.data, []byte("\ufeff")) {
		i += 3 // a byte order mark takes no column
	}
	for col := 1; col < n.Column && i < len(t.data); col++ {
		_, size := utf8.DecodeRune(t.data[i:])
		i += size
	}
	return i
}

// lineStart and lineEnd bound the line of an offset, its line break excluded.
func (t *text) lineStart(off int) int {
	next, _ := slices.BinarySearch(t.lines, off+1)
	return t.lines[max(next-1, 0)]
}

func (t *text) lineEnd(off int) int {
	for off < len(t.data) && breakLen(t.data[off:]) == 0 {
		off++
	}
	return off
}

// column is the indentation, from 0, of what stands at an offset.
func (t *text) column(off int) int { return utf8.RuneCount(t.data[t.lineStart(off):off]) }

// content is where a node's value begins, behind its anchor and tag.
func (t *text) content(n *yaml.Node) int {
	i := t.offset(n)
	if n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 || n.Kind == yaml.AliasNode {
		return i
	}
	for i < len(t.data) && (t.data[i] == '&' || t.data[i] == '!') {
		for i < len(t.data) && !bytes.ContainsRune([]byte(" \t\r\n"), rune(t.data[i])) {
			i++
		}
		next := t.skip(i)
		if t.blank(n) || next == len(t.data) {
			return i // nothing follows: the value is an empty null
		}
		if c := t.data[next]; n.Kind == yaml.ScalarNode && n.Style&^yaml.TaggedStyle == 0 && c != '&' && c != '!' {
			return next
		}
		i = next
	}
	return i
}

func (t *text) blank(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style&^yaml.TaggedStyle == 0 && n.Value == ""
}

// skip passes white space, line breaks and comments.
func (t *text) skip(i int) int {
	for i < len(t.data) {
		r, size := utf8.DecodeRune(t.data[i:])
		switch {
		case unicode.IsSpace(r) || r == '\ufeff' || breakLen(t.data[i:]) > 0:
			i += size
		case r == '#' && (i == 0 || unicode.IsSpace(rune(t.data[i-1]))):
			i = t.lineEnd(i)
		default:
			return i
		}
	}
	return i
}

// end is where a node's bytes end. indent is the indentation of the collection that holds it, which
// block scalars are measured from. yaml.v3 tells where a node begins and nothing more.
func (t *text) end(n *yaml.Node, indent int) int {
	i := t.content(n)
	if n.Kind == yaml.AliasNode {
		return i + 1 + len(n.Value)
	}
	if n.Kind == yaml.ScalarNode {
		return t.scalarEnd(n, i, indent)
	}
	open := i < len(t.data) && (t.data[i] == '{' || t.data[i] == '[') && n.Style&yaml.FlowStyle != 0
	if !open {
		indent = t.column(i)
	} else {
		i++
	}
	for _, c := range n.Content {
		i = max(i, t.end(c, indent))
	}
	if open {
		for i = t.skip(i); i < len(t.data) && t.data[i] == ','; i = t.skip(i) {
			i++
		}
		i = min(i+1, len(t.data))
	}
	return i
}

func (t *text) scalarEnd(n *yaml.Node, i, indent int) int {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i++; i < len(t.data) && t.data[i] != '"'; i++ {
			if t.data[i] == '\\' {
				i++
			}
		}
		return min(i+1, len(t.data))
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i++; i < len(t.data); i++ {
			if t.data[i] != '\'' {
				continue
			}
			if i+1 < len(t.data) && t.data[i+1] == '\'' {
				i++
				continue
			}
			return i + 1
		}
		return i
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return t.blockEnd(i, indent)
	}
	// A plain scalar may be folded over lines: all but its white space is as written.
	for _, r := range n.Value {
		if unicode.IsSpace(r) || breakLen([]byte(string(r))) > 0 {
			continue
		}
		for i < len(t.data) {
			at, size := utf8.DecodeRune(t.data[i:])
			i += size
			if at == r {
				break
			}
		}
	}
	return i
}

// blockEnd is the end of a literal or folded scalar whose header is at i.
func (t *text) blockEnd(i, indent int) int {
	keep, want := false, -1
	header := t.lineEnd(i)
	for _, c := range t.data[i:header] {
		if c == '#' {
			break
		}
		if c == '+' {
			keep = true
		}
		if c >= '1' && c <= '9' {
			want = indent + int(c-'0')
		}
	}
	end := header
	for at := header; at < len(t.data); {
		at += breakLen(t.data[at:])
		stop := t.lineEnd(at)
		line := t.data[at:stop]
		lead := len(line) - len(bytes.TrimLeft(line, " "))
		switch blank := len(bytes.TrimSpace(line)) == 0; {
		case blank && (want < 0 || lead <= want):
			if keep && at < len(t.data) {
				end = stop
			}
		case want < 0 && lead > indent:
			want, end = lead, stop
		case want >= 0 && lead >= want:
			end = stop
		default:
			return end
		}
		at = stop
	}
	return end
}

// Spans parses a file and gives the offsets at which each of its nodes begins,
// anchor and tag included, and ends.
func Spans(data []byte) (*yaml.Node, map[*yaml.Node][2]int, error) {
	t, err := parse(data)
	if err != nil {
		return nil, nil, err
	}
	spans := map[*yaml.Node][2]int{}
	var visit func(n *yaml.Node, indent int)
	visit = func(n *yaml.Node, indent int) {
		spans[n] = [2]int{t.offset(n), t.end(n, indent)}
		if !isFlow(n) {
			indent = t.column(t.content(n))
		}
		for _, c := range n.Content {
			visit(c, indent)
		}
	}
	visit(t.root, 0)
	return t.root, spans, nil
}
