package edit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// cut replaces the bytes from start to end by text.
type cut struct {
	start, end int
	text       string
}

// splice makes cuts and compares what comes of it with the file's nodes, which are
// changed the same way already: nothing but what was asked for may differ.
func (t *text) splice(cuts []cut) ([]byte, error) {
	out := splice(t.data, cuts)
	now, err := parse(out)
	if err != nil {
		return nil, fmt.Errorf("the file would no longer be valid: %w", err)
	}
	if !same(t.root, now.root) {
		return nil, errors.New("this place can't be changed without touching others: edit it by hand")
	}
	return out, nil
}

func splice(data []byte, cuts []cut) []byte {
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Compare(a.start, b.start) })
	var out bytes.Buffer
	at := 0
	for _, c := range cuts {
		if c.start < at { // overlapping places: verify refuses what comes of it
			continue
		}
		out.Write(data[at:c.start])
		out.WriteString(c.text)
		at = max(c.end, c.start)
	}
	out.Write(data[min(at, len(data)):])
	return out.Bytes()
}

// block is lines as they stand in the file, each behind a line break.
func (t *text) block(lines []string, indent int) string {
	var b strings.Builder
	for _, l := range indented(lines, indent) {
		b.WriteString(t.eol + l)
	}
	return b.String()
}

// step is the file's indentation: that of the first mapping within a mapping.
func (t *text) step() int {
	for i := 0; i+1 < len(t.root.Content); i += 2 {
		if v := t.root.Content[i+1]; v.Kind == yaml.MappingNode && !isFlow(v) {
			if n := t.column(t.content(v)) - t.column(t.content(t.root)); n > 0 && n <= 8 {
				return n
			}
		}
	}
	return 2
}

// replace puts a value in the place of an existing one; its anchor stays.
func (t *text) replace(s spot, v value) []cut {
	start, end := t.content(s.node), t.end(s.node, s.indent)
	from, prefix := start, ""
	if s.node.Style&yaml.TaggedStyle != 0 {
		from, start = t.offset(s.node), t.offset(s.node)
		if s.node.Anchor != "" {
			prefix = "&" + s.node.Anchor + " "
		}
	} else if s.key != nil {
		if from = t.behindKey(s); s.node.Anchor != "" && s.node.Kind != yaml.AliasNode {
			from = t.offset(s.node) + 1 + len(s.node.Anchor)
		}
	}
	if s.flow {
		return []cut{{start, end, t.spaced(start, end, prefix+flowText(v.node))}}
	}
	first := t.lineStart(start)
	inline := s.node.Kind == yaml.ScalarNode || s.node.Kind == yaml.AliasNode || isFlow(s.node)
	if v.head == "" && (s.key == nil || inline && first > from) { // its first line takes the old value's place
		indent := t.column(start)
		if start == end {
			indent = s.indent + 2
		}
		head := t.spaced(start, end, prefix+v.body[0])
		return []cut{{start, end, head}, {t.lineEnd(end), t.lineEnd(end), t.block(v.body[1:], indent)}}
	}
	indent := s.indent + t.step()
	if inline || first <= from {
		if v.head == "" && prefix == "" {
			start = from
		}
		return []cut{
			{start, end, t.spaced(start, end, prefix+v.head)}, {t.lineEnd(end), t.lineEnd(end), t.block(v.body, indent)},
		}
	}
	if v.node.Kind == s.node.Kind {
		indent = t.column(start)
	}
	head := prefix + v.head
	if head != "" {
		head = " " + head
	}
	before := t.lineEnd(t.lineStart(first - 1)) // the end of the line above the block
	return []cut{{from, from, head}, {before, t.lineEnd(end), t.block(v.body, indent)}}
}

// behindKey is the offset behind the colon of a spot's key.
func (t *text) behindKey(s spot) int {
	i := t.skip(t.end(s.key, s.indent))
	if i < len(t.data) && t.data[i] == ':' {
		i++
	}
	return i
}

// spaced puts a space before text that would else touch what stands there; a
// key of a flow mapping that has no value yet gets its colon.
func (t *text) spaced(start, end int, s string) string {
	if s == "" || start == 0 || start != end {
		return s
	}
	switch c := t.data[start-1]; {
	case c == ':' || c == '-':
		return " " + s
	case !unicode.IsSpace(rune(c)):
		return ": " + s
	}
	return s
}

// insert adds what a path lacks.
func (t *text) insert(s spot, v value) ([]cut, error) {
	if isWord(s.node) && s.node.Kind == yaml.ScalarNode {
		if s.key == nil || s.key.Value != "engine" || s.parent != t.root {
			return nil, fmt.Errorf("line %d: %q of the text %.40q, which is no mapping", s.node.Line, s.rest[0].Key,
				s.node.Value)
		}
		more, err := compose(s.rest, v, t.step())
		if err != nil {
			return nil, err
		}
		n := expandWord(s.node, more.node)
		return t.replace(s, value{node: n, head: flowText(n)}), nil
	}
	rest := s.rest
	if s.node.Kind == yaml.SequenceNode {
		rest = append([]recipes.Step{{Index: 0}}, rest[1:]...) // at its end, whatever its number
	}
	more, err := compose(rest, v, t.step())
	if err != nil {
		return nil, err
	}
	switch {
	case s.node.Kind == yaml.ScalarNode: // null
		return t.replace(s, more), nil
	case isFlow(s.node):
		return t.insertFlow(s, more.node)
	}
	at := t.lineEnd(t.end(s.node, s.indent))
	return []cut{{at, at, t.block(more.body, t.column(t.content(s.node)))}}, nil
}

func expandWord(word, more *yaml.Node) *yaml.Node {
	c := *word
	c.Anchor = ""
	return &yaml.Node{
		Kind: yaml.MappingNode, Tag: "!!map",
		Content: append([]*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: "type"}, &c}, more.Content...),
	}
}

// insertFlow adds an entry to a collection in brackets: behind its last one, on
// a line of its own if that has one.
func (t *text) insertFlow(s spot, entry *yaml.Node) ([]cut, error) {
	text := flowText(entry)
	text = text[1 : len(text)-1]
	open, closer := t.content(s.node), t.end(s.node, s.indent)-1
	if open >= len(t.data) || t.data[open] != '{' && t.data[open] != '[' {
		return nil, errors.New("a pair without braces: edit it by hand")
	}
	kids := s.node.Content
	if len(kids) == 0 {
		return []cut{{open + 1, open + 1, text}}, nil
	}
	last := 0
	for _, k := range kids {
		last = max(last, t.end(k, s.indent))
	}
	first := kids[len(kids)-1]
	if s.node.Kind == yaml.MappingNode {
		first = kids[len(kids)-2]
	}
	lead := t.offset(first)
	if t.lineStart(lead) == t.lineStart(open) || t.lineStart(closer) == t.lineStart(last) {
		return []cut{{last, last, ", " + text}}, nil
	}
	if i := t.skip(last); i < closer && t.data[i] == ',' {
		at := t.lineEnd(i)
		return []cut{{at, at, t.block([]string{text + ","}, t.column(lead))}}, nil
	}
	return []cut{{last, last, ","}, {t.lineEnd(last), t.lineEnd(last), t.block([]string{text}, t.column(lead))}}, nil
}

// remove takes an entry out of its collection.
func (t *text) remove(s spot, up spot) []cut {
	kids, first := s.parent.Content, s.first
	if first == 0 && len(kids) == s.index+1 {
		empty := value{node: &yaml.Node{Kind: s.parent.Kind}}
		empty.head = flowText(empty.node)
		if up.parent == nil {
			return []cut{{t.content(t.root), t.end(t.root, 0), empty.head}}
		}
		return t.replace(up, empty)
	}
	start, end := t.entry(s, kids[first]), max(t.end(kids[first], s.indent), t.end(s.node, s.indent))
	next := len(t.data)
	if s.index+1 < len(kids) {
		next = t.entry(s, kids[s.index+1])
	}
	switch {
	case isFlow(s.parent) && s.index+1 < len(kids):
		return []cut{{start, next, ""}}
	case isFlow(s.parent):
		before := 0
		for _, k := range kids[:first] {
			before = max(before, t.end(k, s.indent))
		}
		return []cut{{before, end, ""}}
	case len(bytes.TrimSpace(t.data[t.lineStart(start):start])) > 0:
		return []cut{{start, next, ""}} // the first key of a list entry: the next takes its place
	}
	begin, stop := t.lineStart(start), t.lineEnd(end)
	if stop < len(t.data) {
		return []cut{{begin, stop + breakLen(t.data[stop:]), ""}}
	}
	if begin > 0 {
		begin = t.lineEnd(t.lineStart(begin - 1))
	}
	return []cut{{begin, stop, ""}}
}

// entry is where an entry begins: its key, or the dash of a block list.
func (t *text) entry(s spot, n *yaml.Node) int {
	at := t.offset(n)
	if s.parent.Kind == yaml.MappingNode || isFlow(s.parent) {
		return at
	}
	for i := at - 1; i >= 0; i-- {
		if t.data[i] == '-' {
			return i
		}
		if !unicode.IsSpace(rune(t.data[i])) {
			break
		}
	}
	return at
}
