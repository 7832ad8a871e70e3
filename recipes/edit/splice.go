package edit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// replacement replaces the bytes from start to end with text.
type replacement struct {
	start, end int
	text       string
}

// splice applies changes to the text. It fails if the result does not parse to the nodes of d,
// to which the caller has applied the same changes.
func (d *document) splice(changes []replacement) ([]byte, error) {
	out := splice(d.data, changes)
	edited, err := parse(out)
	if err != nil {
		return nil, problem.Errorf(problem.EditRefused, "the edited file would be invalid: %w", err)
	}
	if !equal(d.root, edited.root) {
		return nil, problem.New(problem.EditRefused,
			"the value can't be changed without changing others; edit the file by hand")
	}
	return out, nil
}

func splice(data []byte, changes []replacement) []byte {
	slices.SortStableFunc(changes, func(a, b replacement) int { return cmp.Compare(a.start, b.start) })
	var out bytes.Buffer
	at := 0
	for _, c := range changes {
		if c.start < at { // overlaps the previous one: the comparison fails later
			continue
		}
		out.Write(data[at:c.start])
		out.WriteString(c.text)
		at = max(c.end, c.start)
	}
	out.Write(data[min(at, len(data)):])
	return out.Bytes()
}

// indentedBlock indents lines and joins them, with a line break before each.
func (d *document) indentedBlock(lines []string, indent int) string {
	var b strings.Builder
	for _, l := range indented(lines, indent) {
		b.WriteString(d.eol + l)
	}
	return b.String()
}

// indentStep returns the indentation of the first mapping inside the root mapping,
// or 2 if there is none.
func (d *document) indentStep() int {
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		if v := d.root.Content[i+1]; v.Kind == yaml.MappingNode && !isFlow(v) {
			if n := d.column(d.valueStart(v)) - d.column(d.valueStart(d.root)); n > 0 && n <= 8 {
				return n
			}
		}
	}
	return 2
}

// replace replaces an existing value. Its anchor is kept.
func (d *document) replace(dst target, v value) []replacement {
	start, end := d.valueStart(dst.node), d.nodeEnd(dst.node, dst.indent)
	afterKey, prefix := start, ""
	if dst.node.Style&yaml.TaggedStyle != 0 {
		afterKey, start = d.nodeStart(dst.node), d.nodeStart(dst.node)
		if dst.node.Anchor != "" {
			prefix = "&" + dst.node.Anchor + " "
		}
	} else if dst.key != nil {
		if afterKey = d.afterColon(dst); dst.node.Anchor != "" && dst.node.Kind != yaml.AliasNode {
			afterKey = d.nodeStart(dst.node) + 1 + len(dst.node.Anchor)
		}
	}
	if dst.flow {
		return []replacement{{start, end, d.withSeparator(start, end, prefix+flowText(v.node))}}
	}
	valueLine := d.lineStart(start)
	inline := dst.node.Kind == yaml.ScalarNode || dst.node.Kind == yaml.AliasNode || isFlow(dst.node)
	if v.head == "" && (dst.key == nil || inline && valueLine > afterKey) { // the first line replaces the old value
		indent := d.column(start)
		if start == end {
			indent = dst.indent + 2
		}
		head := d.withSeparator(start, end, prefix+v.body[0])
		return []replacement{{start, end, head}, {d.lineEnd(end), d.lineEnd(end), d.indentedBlock(v.body[1:], indent)}}
	}
	indent := dst.indent + d.indentStep()
	if inline || valueLine <= afterKey {
		if v.head == "" && prefix == "" {
			start = afterKey
		}
		return []replacement{
			{start, end, d.withSeparator(start, end, prefix+v.head)},
			{d.lineEnd(end), d.lineEnd(end), d.indentedBlock(v.body, indent)},
		}
	}
	if v.node.Kind == dst.node.Kind {
		indent = d.column(start)
	}
	head := prefix + v.head
	if head != "" {
		head = " " + head
	}
	before := d.lineEnd(d.lineStart(valueLine - 1)) // the end of the line above the block
	return []replacement{{afterKey, afterKey, head}, {before, d.lineEnd(end), d.indentedBlock(v.body, indent)}}
}

// afterColon returns the offset after the colon of the key.
func (d *document) afterColon(dst target) int {
	i := d.skip(d.nodeEnd(dst.key, dst.indent))
	if i < len(d.data) && d.data[i] == ':' {
		i++
	}
	return i
}

// withSeparator adds a space before an inserted value where one is needed, and a
// colon after a key of a flow mapping that has none.
func (d *document) withSeparator(start, end int, s string) string {
	if s == "" || start == 0 || start != end {
		return s
	}
	switch c := d.data[start-1]; {
	case c == ':' || c == '-':
		return " " + s
	case !unicode.IsSpace(rune(c)):
		return ": " + s
	}
	return s
}

// insert adds the missing part of the path.
func (d *document) insert(dst target, v value) ([]replacement, error) {
	if isString(dst.node) && dst.node.Kind == yaml.ScalarNode {
		if !dst.engine {
			return nil, problem.Errorf(problem.EntryNotFound, "line %d: %.40q is not a mapping, so it has no key %q",
				dst.node.Line, dst.node.Value, dst.missing[0].Key)
		}
		more, err := wrapInPath(dst.missing, v, d.indentStep())
		if err != nil {
			return nil, err
		}
		n := expandEngine(dst.node, more.node)
		return d.replace(dst, value{node: n, head: flowText(n)}), nil
	}
	rest := dst.missing
	if dst.node.Kind == yaml.SequenceNode {
		rest = append([]recipes.PathElement{{Index: 0}}, rest[1:]...) // a list of one entry, to be appended
	}
	more, err := wrapInPath(rest, v, d.indentStep())
	if err != nil {
		return nil, err
	}
	switch {
	case dst.node.Kind == yaml.ScalarNode: // null
		return d.replace(dst, more), nil
	case isFlow(dst.node):
		return d.insertFlow(dst, more.node)
	}
	at := d.lineEnd(d.nodeEnd(dst.node, dst.indent))
	return []replacement{{at, at, d.indentedBlock(more.body, d.column(d.valueStart(dst.node)))}}, nil
}

// expandEngine turns the short form engine: trtllm into a mapping with more entries.
func expandEngine(name, more *yaml.Node) *yaml.Node {
	c := *name
	c.Anchor = ""
	return &yaml.Node{
		Kind: yaml.MappingNode, Tag: "!!map",
		Content: append([]*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: "type"}, &c}, more.Content...),
	}
}

// insertFlow appends an entry to a collection in {} or []. The entry gets its own
// line if the last one has its own line.
func (d *document) insertFlow(dst target, entry *yaml.Node) ([]replacement, error) {
	text := flowText(entry)
	text = text[1 : len(text)-1]
	open, closer := d.valueStart(dst.node), d.nodeEnd(dst.node, dst.indent)-1
	if open >= len(d.data) || d.data[open] != '{' && d.data[open] != '[' {
		return nil, problem.New(problem.EditRefused,
			"the list contains a key: value pair without braces; edit the file by hand")
	}
	children := dst.node.Content
	if len(children) == 0 {
		return []replacement{{open + 1, open + 1, text}}, nil
	}
	last := 0
	for _, c := range children {
		last = max(last, d.nodeEnd(c, dst.indent))
	}
	lastEntry := children[len(children)-1]
	if dst.node.Kind == yaml.MappingNode {
		lastEntry = children[len(children)-2]
	}
	start := d.nodeStart(lastEntry)
	if d.lineStart(start) == d.lineStart(open) || d.lineStart(closer) == d.lineStart(last) {
		return []replacement{{last, last, ", " + text}}, nil
	}
	if i := d.skip(last); i < closer && d.data[i] == ',' {
		at := d.lineEnd(i)
		return []replacement{{at, at, d.indentedBlock([]string{text + ","}, d.column(start))}}, nil
	}
	at := d.lineEnd(last)
	return []replacement{{last, last, ","}, {at, at, d.indentedBlock([]string{text}, d.column(start))}}, nil
}

// remove removes an entry from its collection. parent is the target of the collection.
func (d *document) remove(dst, parent target) []replacement {
	children, first := dst.parent.Content, dst.entryIndex
	if first == 0 && len(children) == dst.index+1 {
		empty := value{node: &yaml.Node{Kind: dst.parent.Kind}}
		empty.head = flowText(empty.node)
		if parent.parent == nil {
			return []replacement{{d.valueStart(d.root), d.nodeEnd(d.root, 0), empty.head}}
		}
		return d.replace(parent, empty)
	}
	start := d.entryStart(dst, children[first])
	end := max(d.nodeEnd(children[first], dst.indent), d.nodeEnd(dst.node, dst.indent))
	next := len(d.data)
	if dst.index+1 < len(children) {
		next = d.entryStart(dst, children[dst.index+1])
	}
	switch {
	case isFlow(dst.parent) && dst.index+1 < len(children):
		return []replacement{{start, next, ""}}
	case isFlow(dst.parent):
		before := 0
		for _, c := range children[:first] {
			before = max(before, d.nodeEnd(c, dst.indent))
		}
		return []replacement{{before, end, ""}}
	case len(bytes.TrimSpace(d.data[d.lineStart(start):start])) > 0:
		return []replacement{{start, next, ""}} // the first key of a list entry: the next key replaces it
	}
	begin, stop := d.lineStart(start), d.lineEnd(end)
	if stop < len(d.data) {
		return []replacement{{begin, stop + lineBreakLen(d.data[stop:]), ""}}
	}
	if begin > 0 {
		begin = d.lineEnd(d.lineStart(begin - 1))
	}
	return []replacement{{begin, stop, ""}}
}

// entryStart returns the offset at which an entry begins: its key, or the dash of a block list.
func (d *document) entryStart(dst target, n *yaml.Node) int {
	at := d.nodeStart(n)
	if dst.parent.Kind == yaml.MappingNode || isFlow(dst.parent) {
		return at
	}
	for i := at - 1; i >= 0; i-- {
		if d.data[i] == '-' {
			return i
		}
		if !unicode.IsSpace(rune(d.data[i])) {
			break
		}
	}
	return at
}
