// Package recipes holds the files that describe a benchmark run: the srt-slurm recipe in both of
// its layouts, the client's workload file and the cluster file. It loads and validates them with
// positions, keeps them comparable field by field, and knows the rule that ties a phase's timeout
// to its load. It knows nothing of schedulers or processes, reads only the files that it is given,
// and never prints.
package recipes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Limits on a file that somebody else may have written: a recipe is some
// kilobytes, and an alias bomb is a few lines.
const (
	maxFileBytes = 4 << 20
	maxNodes     = 200_000
	maxDepth     = 200
)

// Document is a YAML file as written: its nodes with their positions.
type Document struct {
	File string
	Root *yaml.Node // the top mapping; nil when the file could not be parsed

	// For one recipe of a file that holds several: the path in the file of each
	// key, where absent fields would go, and the texts that a sweep put in.
	keyPaths    map[*yaml.Node]string
	prefix      string
	sweptValues map[string]bool
}

// pathOf is a key's path as the file spells it.
func (d *Document) pathOf(key *yaml.Node, path string) string {
	if p, ok := d.keyPaths[key]; ok {
		return p
	}
	return path
}

// spell is the path in the file of a field that the file does not give.
func (d *Document) filePath(path string) string {
	if d.prefix != "" {
		return d.prefix + "." + path
	}
	return path
}

// Position is the location of a value in a file.
type Position struct {
	Path         string // dotted, as the user spells it
	Line, Column int    // from 1
}

// finding makes a finding about the place.
func (p Position) diagnostic(file string, sev Severity, message, fix string) Diagnostic {
	return Diagnostic{
		File: file, Line: p.Line, Column: p.Column, Path: p.Path, Severity: sev, Message: message, Fix: fix,
	}
}

// placeOf is where a node stands, under a path.
func positionOf(n *yaml.Node, path string) Position {
	return Position{Path: path, Line: n.Line, Column: n.Column}
}

// top is the beginning of a file, for what is said of it as a whole.
var fileStart = Position{Line: 1, Column: 1}

// Read reads a file of at most 4 MiB. A larger file is an error: no recipe or workload is that large.
func Read(path string) ([]byte, error) {
	data, err := smallfile.Read(path, maxFileBytes>>20)
	if errors.Is(err, smallfile.ErrTooLarge) {
		return nil, fmt.Errorf("%w; check that it is the right file", err)
	}
	return data, err
}

// Parse parses the first YAML document of a file. A syntax error, a top level
// that is no mapping, duplicate keys and anything too large come back as
// diagnostics; Root is nil if nothing can be used.
func Parse(file string, data []byte) (*Document, Diagnostics) {
	d := &Document{File: file}
	fail := func(line, col int, format string, args ...any) (*Document, Diagnostics) {
		return d, Diagnostics{Position{Line: line, Column: col}.diagnostic(file, Error, fmt.Sprintf(format, args...), "")}
	}
	if len(data) > maxFileBytes {
		return fail(0, 0, "larger than %d MiB", maxFileBytes>>20)
	}
	if countSeparators(data) > 2*maxNodes {
		return fail(0, 0, "more than %d values", maxNodes)
	}
	if nestsTooDeep(data) {
		return fail(0, 0, "nested deeper than %d levels", maxDepth)
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return fail(1, 1, "the file is empty: want a mapping of fields")
	} else if err != nil {
		line, msg := syntaxError(err)
		if at := firstBadLine(data); at > 0 {
			line = at
		}
		return fail(line, 1, "not valid YAML: %s", msg)
	}
	if len(doc.Content) == 0 || resolveAlias(doc.Content[0]).Kind != yaml.MappingNode {
		return fail(doc.Line, doc.Column, "the top level is no mapping: want `field: value` lines")
	}
	w := walker{file: file}
	w.walk(doc.Content[0], "", 0)
	if w.tooLarge {
		return fail(0, 0, "more than %d values or %d levels once its aliases are expanded", maxNodes, maxDepth)
	}
	var next yaml.Node
	if err := dec.Decode(&next); err == nil {
		second := Position{Line: next.Line, Column: 1}
		w.diags = append(w.diags, second.diagnostic(file, Warning, "a second YAML document: only the first one is read", ""))
	}
	d.Root = doc.Content[0]
	return d, w.diags
}

// separators bounds the number of values from above before any of them takes
// memory: a value has a mark before it or behind it.
func countSeparators(data []byte) int {
	n := 0
	for _, mark := range []string{",", "\n", "\r", ":", "[", "{", "- "} {
		n += bytes.Count(data, []byte(mark))
	}
	return n
}

// nestsTooDeep guards the parser itself, whose stack grows with nesting: flow
// brackets and block indentation both bound the depth from above.
func nestsTooDeep(data []byte) bool {
	depth := 0
	for line := range bytes.Lines(data) {
		trimmed := bytes.TrimLeft(line, " -?")
		if len(line)-len(trimmed) > 4*maxDepth {
			return true
		}
		for _, c := range line {
			switch c {
			case '[', '{':
				if depth++; depth > 4*maxDepth {
					return true
				}
			case ']', '}':
				depth = max(0, depth-1)
			}
		}
	}
	return false
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// syntaxError splits yaml.v3's message, which carries its position as text.
func syntaxError(err error) (line int, msg string) {
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1]) // the pattern admits digits only
		msg = strings.Replace(msg, m[0], "", 1)
	}
	return line, msg
}

// brokenLine is the first line with which a file can't be read any more. yaml.v3
// often names the start of the mapping that an error is in, which may be the top
// of the file. 0: not found, or too large to look for it.
func firstBadLine(data []byte) int {
	if len(data) > maxFileBytes/16 {
		return 0
	}
	var ends []int
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	bad := func(n int) bool { // the first n lines
		var doc yaml.Node
		err := yaml.Unmarshal(data[:ends[n-1]], &doc)
		return err != nil && !strings.Contains(err.Error(), "unexpected end of stream") &&
			!strings.Contains(err.Error(), "expected ',' or")
	}
	if len(ends) == 0 || !bad(len(ends)) {
		return 0
	}
	return 1 + sort.Search(len(ends)-1, func(i int) bool { return bad(i + 1) })
}

// resolve follows an alias to what it stands for.
func resolveAlias(n *yaml.Node) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.AliasNode && i < maxDepth; i++ {
		n = n.Alias
	}
	return n
}

// walker counts what a document expands to and finds duplicate keys, which the
// node API of yaml.v3 takes silently.
type walker struct {
	file     string
	nodes    int
	tooLarge bool
	diags    Diagnostics
}

func (w *walker) walk(n *yaml.Node, path string, depth int) {
	if w.nodes++; w.nodes > maxNodes || depth > maxDepth {
		w.tooLarge = true
	}
	if w.tooLarge {
		return
	}
	if n.Kind == yaml.AliasNode {
		w.walk(n.Alias, path, depth+1)
		return
	}
	if n.Kind != yaml.MappingNode {
		for i, c := range n.Content {
			w.walk(c, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
		return
	}
	first := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := Join(path, key.Value)
		if line, dup := first[key.Value]; dup && key.Tag != "!!merge" {
			d := positionOf(key, at).diagnostic(w.file, Error, fmt.Sprintf(
				"key given twice, first on line %d: which one holds depends on the reader", line), "remove one of the two")
			d.Rule = "duplicate-key"
			w.diags = append(w.diags, d)
		}
		first[key.Value] = key.Line
		w.walk(n.Content[i+1], at, depth+1)
	}
}

// pairs lists a mapping's keys and values in order, merge keys (<<) expanded
// behind the mapping's own.
func pairs(n *yaml.Node) [][2]*yaml.Node {
	n = resolveAlias(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	out := make([][2]*yaml.Node, 0, len(n.Content)/2)
	have := make(map[string]bool, len(n.Content)/2)
	add := func(k, v *yaml.Node) {
		if !have[k.Value] {
			have[k.Value] = true
			out = append(out, [2]*yaml.Node{k, v})
		}
	}
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			merges = append(merges, n.Content[i+1])
			continue
		}
		add(n.Content[i], n.Content[i+1])
	}
	for _, m := range merges {
		m = resolveAlias(m)
		sources := []*yaml.Node{m}
		if m.Kind == yaml.SequenceNode {
			sources = m.Content
		}
		for _, s := range sources {
			for _, kv := range pairs(s) {
				add(kv[0], kv[1])
			}
		}
	}
	return out
}

func isNull(n *yaml.Node) bool {
	n = resolveAlias(n)
	return n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}
