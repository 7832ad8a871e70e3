// Package recipes loads and validates the files that describe a benchmark run: srt-slurm recipes in
// layout 1 or 2, the client's workload file and the cluster file. Findings have a position in the
// file. The package also compares files field by field and checks that a phase's timeout is long
// enough for its load. It does not depend on a scheduler, reads only the files that it is given,
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

// Limits for files from untrusted sources. A recipe has a few kilobytes; a few lines of
// nested aliases can expand to gigabytes.
const (
	maxFileBytes = 4 << 20
	maxNodes     = 200_000
	maxDepth     = 200
)

// Document is a parsed YAML file: its nodes with their positions.
type Document struct {
	File string
	Root *yaml.Node // the top-level mapping; nil if the file could not be parsed

	// keyPaths is the path in the file of each key, and entryPaths that of the keys of an entry of a
	// zip override. Both are nil if paths in the file and in the recipe are the same.
	keyPaths   map[*yaml.Node]string
	entryPaths map[*yaml.Node]string
	prefix     string // of paths in the file of absent fields: base if the file has one
	// swept are the nodes that contain a value of a sweep; true if it is not a string or a list.
	swept map[*yaml.Node]bool
}

// recordKeyPaths returns the path in the file of each key.
func (d *Document) recordKeyPaths() map[*yaml.Node]string {
	paths := map[*yaml.Node]string{}
	recordPaths(d.Root, "", paths, 0)
	return paths
}

// pathOf returns the path of a key in the file. path is its path in the recipe.
func (d *Document) pathOf(key *yaml.Node, path string) string {
	if p, ok := d.entryPaths[key]; ok {
		return p
	}
	if p, ok := d.keyPaths[key]; ok {
		return p
	}
	return path
}

// setPathOf sets the path in the file of a key.
func (d *Document) setPathOf(key *yaml.Node, path string) {
	if d.entryPaths == nil {
		d.entryPaths = map[*yaml.Node]string{}
	}
	d.entryPaths[key] = path
}

// filePath returns the path in the file that an absent field would have.
func (d *Document) filePath(path string) string {
	if d.prefix != "" {
		return d.prefix + "." + path
	}
	return path
}

// Position is the location of a value in a file.
type Position struct {
	Path         string // dotted, as in the file
	Line, Column int    // starting at 1
}

// diagnostic returns a finding at the position.
func (p Position) diagnostic(file string, sev Severity, message, fix string) Diagnostic {
	return Diagnostic{
		File: file, Line: p.Line, Column: p.Column, Path: p.Path, Severity: sev, Message: message, Fix: fix,
	}
}

// withRule returns the finding as one of a rule.
func (d Diagnostic) withRule(rule string) Diagnostic {
	d.Rule = rule
	return d
}

// positionOf returns the position of a node at a path.
func positionOf(n *yaml.Node, path string) Position {
	return Position{Path: path, Line: n.Line, Column: n.Column}
}

// fileStart is the position of findings about the whole file.
var fileStart = Position{Line: 1, Column: 1}

// Read reads a file of at most 4 MiB. A larger file is an error: no recipe or workload is that large.
func Read(path string) ([]byte, error) {
	data, err := smallfile.Read(path, maxFileBytes>>20)
	if errors.Is(err, smallfile.ErrTooLarge) {
		return nil, fmt.Errorf("%w; check that it is the right file", err)
	}
	return data, err
}

// Parse parses the first YAML document of a file. It reports syntax errors, a top level
// that is not a mapping, duplicate keys and documents over the limits as diagnostics.
// Root is nil if the document can't be used.
func Parse(file string, data []byte) (*Document, Diagnostics) {
	d := &Document{File: file}
	fail := func(line, col int, format string, args ...any) (*Document, Diagnostics) {
		return d, Diagnostics{
			Position{Line: line, Column: col}.diagnostic(file, Error, fmt.Sprintf(format, args...), "").withRule("yaml"),
		}
	}
	if len(data) > maxFileBytes {
		return fail(0, 0, "file too large: the limit is %d MiB", maxFileBytes>>20)
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
		return fail(1, 1, "the file is empty; expected a mapping of fields")
	} else if err != nil {
		line, msg := syntaxError(err)
		if at := firstBadLine(data); at > 0 {
			line = at
		}
		return fail(line, 1, "not valid YAML: %s", msg)
	}
	if len(doc.Content) == 0 || resolveAlias(doc.Content[0]).Kind != yaml.MappingNode {
		return fail(doc.Line, doc.Column, "the top level is not a mapping; expected lines of the form `field: value`")
	}
	w := walker{file: file}
	w.walk(doc.Content[0], "", 0)
	if w.tooLarge {
		return fail(0, 0, "more than %d values or %d levels after its aliases are expanded", maxNodes, maxDepth)
	}
	var next yaml.Node
	if err := dec.Decode(&next); err == nil {
		second := Position{Line: next.Line, Column: 1}
		w.diags = append(w.diags, second.diagnostic(file, Warning,
			"the second YAML document is ignored; only the first one is used", "").withRule("yaml"))
	}
	d.Root = doc.Content[0]
	if w.aliases {
		d.keyPaths = d.recordKeyPaths()
	}
	return d, w.diags
}

// countSeparators returns an upper bound for the number of values in a file, before
// memory is allocated for them: each value is preceded or followed by a separator.
func countSeparators(data []byte) int {
	n := 0
	for _, mark := range []string{",", "\n", "\r", ":", "[", "{", "- "} {
		n += bytes.Count(data, []byte(mark))
	}
	return n
}

// nestsTooDeep reports whether a file is nested too deeply for the parser, whose stack grows with
// nesting. The numbers of open brackets and of indentation characters are upper bounds for the depth.
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

// syntaxError splits a message of yaml.v3 into the line number and the rest.
func syntaxError(err error) (line int, msg string) {
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1]) // the pattern admits digits only
		msg = strings.Replace(msg, m[0], "", 1)
	}
	return line, msg
}

// firstBadLine returns the first line at which a file stops being valid YAML. yaml.v3
// often reports the start of the enclosing mapping instead, which may be line 1. The
// result is 0 if no line was found or the file is too large for the search.
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

// resolveAlias returns the node that an alias refers to, or n if it is not an alias.
func resolveAlias(n *yaml.Node) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.AliasNode && i < maxDepth; i++ {
		n = n.Alias
	}
	return n
}

// walker counts the nodes of a document after alias expansion and finds duplicate keys,
// which the node API of yaml.v3 does not report.
type walker struct {
	file     string
	nodes    int
	tooLarge bool
	aliases  bool // the file has aliases, so that a key can have several paths in the recipe
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
		w.aliases = true
		w.walk(n.Alias, path, depth+1)
		return
	}
	w.checkTag(n, path)
	if strings.Contains(n.Value, "\x00") {
		d := positionOf(n, path).diagnostic(w.file, Error, "contains the character NUL, which no text of a program can have",
			"remove it")
		w.diags = append(w.diags, d.withRule("yaml"))
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
		if strings.Contains(key.Value, "\x00") {
			w.walk(key, path, depth+1)
		}
		if line, dup := first[key.Value]; dup && key.Tag != "!!merge" {
			d := positionOf(key, at).diagnostic(w.file, Error, fmt.Sprintf(
				"duplicate key, first given on line %d: parsers disagree on which value is used", line), "remove one of the two")
			w.diags = append(w.diags, d.withRule("duplicate-key"))
		}
		first[key.Value] = key.Line
		w.walk(n.Content[i+1], at, depth+1)
	}
}

// checkTag reports a tag that srtctl does not load.
func (w *walker) checkTag(n *yaml.Node, path string) {
	if text := TagProblem(n); text != "" {
		d := positionOf(n, path).diagnostic(w.file, Error, text, "remove the tag, or give the value that it stands for")
		d.Rule = TagRule
		w.diags = append(w.diags, d)
	}
}

// TagRule is the rule of a finding about a tag.
const TagRule = "unknown-tag"

// TagProblem returns what is wrong with the tag of a node; empty if it is one of YAML itself. Loaders that only read
// data refuse other tags.
func TagProblem(n *yaml.Node) string {
	switch tag := n.ShortTag(); tag {
	case "", "!", "!!null", "!!bool", "!!int", "!!float", "!!str", "!!seq", "!!map", "!!merge", "!!timestamp", "!!binary",
		"!!set", "!!omap", "!!pairs":
		return ""
	default:
		return fmt.Sprintf("the tag %.60q is not one of YAML itself, and a loader that only reads data refuses the file", tag)
	}
}

// pairs returns the keys and values of a mapping in order, its own first, then those
// added by merge keys (<<).
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
