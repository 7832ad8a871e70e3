package recipes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// value is the node of a field with its position.
type value struct {
	node     *yaml.Node
	position Position
}

// values holds the fields of a document by canonical path.
type values struct {
	doc          *Document
	table        *schema.Table
	strictness   strictness
	byName       map[string]value    // by canonical path
	positions    map[string]Position // of every mapping and field in the file, by path in its layout
	mapPositions map[string]Position // of the entries of string maps, by canonical path
	diags        Diagnostics
}

// strictness determines which findings are errors.
type strictness struct {
	version int
	// reader is the program that uses the file: srtctl or the client.
	reader string
	// unknownKeys is the severity of unknown keys: srtctl rejects them, the client does not.
	unknownKeys Severity
	// foreign lists the paths of an engine or a benchmark that this program does not run.
	// Unknown fields below them are passed on unchanged.
	foreign []string
}

// readValues reads the fields of a document that the table describes. It reports unknown
// keys, wrong types and missing required fields as diagnostics.
func readValues(d *Document, table *schema.Table, s strictness) *values {
	v := &values{
		doc: d, table: table, strictness: s,
		byName: map[string]value{}, positions: map[string]Position{}, mapPositions: map[string]Position{},
	}
	v.readMapping(d.Root, table.Root(), "")
	for _, f := range table.Fields() {
		path := f.Path(s.version)
		if !f.Required || path == "" {
			continue
		}
		if _, ok := v.byName[f.Name()]; !ok && !v.hasFinding(path) {
			v.add(Error, v.nearestPosition(path), d.filePath(path), "required field is missing: "+f.Doc, "add it")
		}
	}
	return v
}

func (v *values) add(sev Severity, at Position, path, msg, fix string) *Diagnostic {
	at.Path = path
	v.diags = append(v.diags, at.diagnostic(v.doc.File, sev, msg, fix))
	return &v.diags[len(v.diags)-1]
}

// hasFinding reports whether there is a finding about the value at a path.
func (v *values) hasFinding(path string) bool {
	at, ok := v.positions[path]
	return ok && slices.ContainsFunc(v.diags, func(d Diagnostic) bool { return d.Path == at.Path })
}

// nearestPosition returns the position of a path, or of its deepest parent in the file.
func (v *values) nearestPosition(path string) Position {
	for up := range schema.PathAndParents(path) {
		if at, ok := v.positions[up]; ok {
			return at
		}
	}
	if v.doc.Root == nil {
		return Position{}
	}
	return Position{Line: v.doc.Root.Line, Column: v.doc.Root.Column}
}

// readMapping reads a mapping at a path of the layout. Findings have the path in the file,
// which differs if the file contains several recipes.
func (v *values) readMapping(n *yaml.Node, t *schema.Node, path string) {
	for _, kv := range pairs(n) {
		key, val := kv[0], kv[1]
		logical := Join(path, key.Value)
		at := Position{Path: v.doc.pathOf(key, logical), Line: val.Line, Column: val.Column}
		if val.Kind != yaml.ScalarNode { // yaml.v3 gives a mapping the position of its first key
			at.Line, at.Column = key.Line, key.Column
		}
		next := t.Children[key.Value]
		if next == nil {
			v.reportUnknownKey(key, t, logical, at.Path)
			continue
		}
		v.positions[logical] = at
		v.readEntry(val, next, logical, at)
	}
}

func (v *values) reportUnknownKey(key *yaml.Node, t *schema.Node, logical, path string) {
	at := Position{Line: key.Line, Column: key.Column}
	near := schema.Nearest(key.Value, t.Keys())
	suggestion := ""
	if near != "" {
		suggestion = fmt.Sprintf("; did you mean %q?", near)
	}
	switch {
	case v.strictness.unknownKeys == Warning:
		v.add(Warning, at, path, "unknown key, passed on to the client"+suggestion, "").Rule = "unknown-field"
		return
	case v.pathInThisLayout(logical) != "":
		message := fmt.Sprintf("a field of layout %d; in layout %d it is %s", 3-v.strictness.version, v.strictness.version,
			v.pathInThisLayout(logical))
		v.add(Error, at, path, message, "move it, or run migrate").Rule = "unknown-field"
		return
	case slices.ContainsFunc(v.strictness.foreign, func(p string) bool {
		return logical == p || strings.HasPrefix(logical, p+".")
	}):
		v.add(Note, at, path, "unknown field of another engine or benchmark; passed on unchanged", "").Rule = "foreign"
		return
	}
	fix := "remove it"
	if near != "" {
		fix = "rename it to " + near
	}
	d := v.add(Error, at, path, "unknown field"+suggestion, fix)
	d.Rule = "unknown-field"
	if near != "" {
		d.Edit = &Edit{Op: OpRename, Path: path, Value: near}
	}
}

// pathInThisLayout returns the path in this layout of a field of the other one, for a message. It is
// "not available" if only the other layout has the field, and empty if the other layout does not
// have it.
func (v *values) pathInThisLayout(path string) string {
	if v.strictness.version == 0 {
		return ""
	}
	other := schema.Recipe(3 - v.strictness.version)
	n := other.Lookup(path)
	switch {
	case n == nil:
		return ""
	case n.Field != nil && n.Field.Path(v.strictness.version) == "":
		return "not available"
	case n.Field != nil:
		return n.Field.Path(v.strictness.version)
	}
	if fields := other.FieldsUnder(path); len(fields) > 0 {
		to := fields[0].Path(v.strictness.version)
		return to[:max(strings.LastIndexByte(to, '.'), 0)]
	}
	return ""
}

func (v *values) readEntry(val *yaml.Node, t *schema.Node, logical string, at Position) {
	if t.Field != nil {
		v.readField(val, *t.Field, at)
		return
	}
	switch n := resolveAlias(val); {
	case isNull(n):
	case n.Kind == yaml.MappingNode:
		v.readMapping(n, t, logical)
	case n.Kind == yaml.ScalarNode && logical == "engine":
		// engine: trtllm is a shorthand for engine: {type: trtllm}.
		at.Path += ".type"
		v.positions[logical+".type"] = at
		v.readField(n, *t.Children["type"].Field, at)
	default:
		v.add(Error, at, at.Path,
			fmt.Sprintf("expected a mapping with %s, got %s", strings.Join(t.Keys(), ", "), describe(n)), "")
	}
}

func (v *values) readField(n *yaml.Node, f schema.Field, at Position) {
	n = resolveAlias(n)
	if isNull(n) {
		if !f.Nullable && f.Kind != schema.Opaque && f.Kind != schema.FreeMap {
			v.add(Error, at, at.Path, "must not be null; expected "+string(f.Kind),
				"give a value, or remove the line to use the default")
		}
		return
	}
	n = v.coerce(n, f, at)
	if bad := checkType(n, f); bad.message != "" {
		d := v.add(Error, at, at.Path, bad.message, bad.fix)
		d.Rule = "type"
		if f.Kind == schema.Levels {
			d.Rule = "levels"
		}
		if bad.replacement != "" {
			d.Set(bad.replacement, bad.safe)
		}
		return
	}
	switch f.Kind {
	case schema.StrMap:
		v.readStringMap(n, f, at)
	case schema.FreeMap, schema.Opaque:
		v.checkFreeForm(n, at.Path, 0)
	}
	v.byName[f.Name()] = value{node: n, position: at}
}

func (v *values) readStringMap(n *yaml.Node, f schema.Field, at Position) {
	for _, kv := range pairs(n) {
		val := resolveAlias(kv[1])
		path := v.doc.pathOf(kv[0], Join(at.Path, kv[0].Value))
		position := Position{Path: path, Line: kv[1].Line, Column: kv[1].Column}
		v.mapPositions[Join(f.Name(), kv[0].Value)] = position
		if s, differs := yaml11Reading(kv[0]); differs && s.Tag != "!!str" {
			v.add(Warning, positionOf(kv[0], path), path, v.describeYAML11(kv[0], s), "quote the key").Rule = "yaml-1.1"
		}
		s, differs := yaml11Reading(val)
		message := fmt.Sprintf("must be a string, got %s", describe(val))
		switch {
		case val.Kind != yaml.ScalarNode:
			v.add(Error, position, path, message, "").Rule = "string-map"
		case differs:
			v.reportUnquoted(val, s, position)
		case val.Tag != "!!str":
			d := v.add(Error, position, path, message, fmt.Sprintf("quote it: %s: %q", kv[0].Value, val.Value))
			d.Rule = "string-map"
			d.Set(strconv.Quote(val.Value), true)
		}
	}
}

// YAMLValue returns the YAML for a value that a user typed. It quotes the values of string fields
// that YAML would otherwise read as another type, so that environment.FOO=1 sets "1". As in srtctl, a
// mapping is text, unless the field is a mapping. Text of several lines keeps its line breaks. A prefix
// base. or override_x. of the path is ignored.
func YAMLValue(t *schema.Table, path, typed string) string {
	if first, rest, ok := strings.Cut(path, "."); ok && (first == "base" || IsOverrideKey(first)) {
		path = rest
	}
	var f schema.Field
	entry := false // below a field
	n := t.Lookup(path)
	if n != nil && n.Field != nil {
		f, entry = *n.Field, path != n.Field.V1 && path != n.Field.V2
	}
	v := parseTyped(typed)
	switch {
	case f.Kind == schema.Str && !entry && f.Nullable && typed == "null":
		return typed
	case f.Kind == schema.Str || f.Kind == schema.StrMap && entry:
		if !isText(v, typed) {
			return strconv.Quote(typed)
		}
	case v == nil: // the edit reports the error
	case linesInPlain(v, typed), v.Kind == yaml.MappingNode && (entry || !takesMapping(n, f)):
		return strconv.Quote(typed)
	}
	return typed
}

// isText reports whether YAML of both versions reads a text as a string, and keeps its line breaks.
func isText(v *yaml.Node, typed string) bool {
	if v == nil || v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" || linesInPlain(v, typed) {
		return false
	}
	_, differs := yaml11Reading(v)
	return !differs
}

// takesMapping reports whether the value of a node of the table can be a mapping.
func takesMapping(n *schema.Node, f schema.Field) bool {
	return n != nil && (n.Field == nil || len(n.Children) > 0 ||
		slices.Contains([]schema.Kind{schema.StrMap, schema.FreeMap, schema.Opaque}, f.Kind))
}

// parseTyped returns the value of a text as YAML, or nil if it is not a single valid value.
func parseTyped(typed string) *yaml.Node {
	var doc yaml.Node
	if len(typed) >= 1<<16 || nestsTooDeep([]byte(typed)) || yaml.Unmarshal([]byte(typed), &doc) != nil ||
		len(doc.Content) != 1 {
		return nil
	}
	return doc.Content[0]
}

// linesInPlain reports whether a text is an unquoted scalar of several lines, whose line breaks YAML
// would replace by spaces.
func linesInPlain(v *yaml.Node, typed string) bool {
	return v.Kind == yaml.ScalarNode && v.Style == 0 && strings.ContainsAny(strings.Trim(typed, "\r\n"), "\r\n")
}

// LayoutOf returns the layout of a recipe, 1 or 2. For a file with several recipes it is that of
// the base; for a file that can't be parsed it is 1.
func LayoutOf(data []byte) int {
	doc, _ := Parse("", data)
	layout := scalarAt(lookup(doc.Root, "base"), "schema")
	if layout == "" {
		layout = scalarAt(doc.Root, "schema")
	}
	if layout == "2" {
		return 2
	}
	return 1
}
