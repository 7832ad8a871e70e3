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
	field    *schema.Field
	position Position
}

// values holds the fields of a document by canonical path.
type values struct {
	doc          *Document
	table        *schema.Table
	strictness   strictness
	byName       map[string]value    // by canonical path; below a list or a shared block, by the path in the layout
	positions    map[string]Position // of every mapping and field in the file, by path in its layout
	mapPositions map[string]Position // of the entries of maps and lists of strings, by canonical path
	foreign      []foreignKey
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
		if !f.Required || path == "" || table.InBlock(path) {
			continue
		}
		if _, ok := v.byName[f.Name()]; !ok && !v.hasFinding(path) {
			v.add(Error, v.nearestPosition(path), d.filePath(path), "required field is missing: "+f.Doc, "add it").Rule = "type"
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
	near, suggestion := schema.OneEdit(key.Value, t.Keys()), ""
	if near != "" {
		suggestion = fmt.Sprintf("; did you mean %q?", near)
	}
	switch {
	case v.strictness.unknownKeys == Warning:
		v.add(Warning, at, path, "unknown key, passed on to the client"+suggestion, "").Rule = UnknownField
		return
	case v.pathInThisLayout(logical) != "":
		message := fmt.Sprintf("a field of layout %d; in layout %d it is %s", 3-v.strictness.version, v.strictness.version,
			v.pathInThisLayout(logical))
		v.add(Error, at, path, message, "move it, or run migrate").Rule = UnknownField
		return
	case slices.ContainsFunc(v.strictness.foreign, func(p string) bool {
		return logical == p || strings.HasPrefix(logical, p+".")
	}):
		v.foreign = append(v.foreign, foreignKey{at, path})
		return
	}
	fix := "correct it, or ask an installed srtctl: check --srtctl"
	if near != "" {
		fix = "rename it to " + near
	}
	d := v.add(Error, at, path, Unknown+suggestion, fix)
	d.Rule = UnknownField
	if near != "" {
		d.Edit = &Edit{Op: OpRename, Path: path, Value: near}
	}
}

// UnknownField is the rule of keys that the table of fields does not have.
const UnknownField = "unknown-field"

// Unknown is the message about a key that this version of the program does not know. A newer srtctl may.
const Unknown = "unknown to this version"

// UnknownKey reports whether the diagnostic is the error that a key is not known.
func (d Diagnostic) UnknownKey() bool {
	return d.Severity == Error && strings.HasPrefix(d.Message, Unknown)
}

// foreignKey is a key of an engine or a benchmark whose fields the table may lack.
type foreignKey struct {
	at   Position
	path string
}

// reportForeignKeys adds one finding about the keys of engines and benchmarks in layout 1 that
// the table does not have.
func (v *values) reportForeignKeys() {
	if len(v.foreign) == 0 {
		return
	}
	names := make([]string, 0, len(v.foreign))
	for _, k := range v.foreign {
		names = append(names, k.path)
	}
	first := v.foreign[0]
	v.add(Note, first.at, first.path, Unknown+" and kept unchanged: "+strings.Join(names, ", "),
		"").Rule = "foreign"
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
	if n == nil || n.Field != nil && n.Field.Path(3-v.strictness.version) != path {
		return ""
	}
	for _, f := range other.FieldsUnder(path) {
		switch to := f.Path(v.strictness.version); {
		case to == "":
		case f.Path(3-v.strictness.version) == path:
			return to
		default:
			return to[:max(strings.LastIndexByte(to, '.'), 0)]
		}
	}
	return "not available"
}

func (v *values) readEntry(val *yaml.Node, t *schema.Node, logical string, at Position) {
	if f := t.Field; f != nil && (len(t.Children) == 0 || !f.Kind.IsBlock()) {
		v.readField(val, f, logical, at)
		return
	}
	v.readBlock(resolveAlias(val), t, logical, at)
}

// readBlock reads a mapping whose keys are fields, the word that is short for one, or a list of them.
func (v *values) readBlock(n *yaml.Node, t *schema.Node, logical string, at Position) {
	f := schema.Field{Kind: schema.Block}
	if t.Field != nil {
		f = *t.Field
	}
	switch {
	case isNull(n):
		if !f.Nullable {
			v.reportNull(string(f.Kind), at)
		}
		return
	case n.Kind == yaml.MappingNode && f.Kind != schema.BlockList:
		v.setBlock(n, t, logical, at)
		v.readMapping(n, t, logical)
		v.requireFields(t, logical, at)
	case n.Kind == yaml.SequenceNode && (f.Kind == schema.BlockList || f.Kind == schema.BlockOrList):
		v.setBlock(n, t, logical, at)
		for i, e := range n.Content {
			entry := fmt.Sprintf("%s[%d]", logical, i)
			position := Position{Path: fmt.Sprintf("%s[%d]", at.Path, i), Line: e.Line, Column: e.Column}
			v.positions[entry] = position
			if e = resolveAlias(e); e.Kind != yaml.MappingNode {
				v.reportType(position, "expected "+v.blockKeys(t)+", got "+describe(e), "")
				continue
			}
			v.readMapping(e, t, entry)
			v.requireFields(t, entry, position)
		}
	case n.Kind == yaml.ScalarNode && f.Short != "" && t.Children[f.Short] != nil:
		at.Path += "." + f.Short
		v.positions[logical+"."+f.Short] = at
		v.readField(n, t.Children[f.Short].Field, logical+"."+f.Short, at)
	default:
		v.reportType(at, fmt.Sprintf("expected %s, got %s", v.blockKeys(t), describe(n)), "")
	}
}

func (v *values) setBlock(n *yaml.Node, t *schema.Node, logical string, at Position) {
	if t.Field != nil {
		v.byName[v.nameOf(t.Field, logical)] = value{node: n, field: t.Field, position: at}
	}
}

// blockKeys describes a block by its kind and its keys.
func (*values) blockKeys(t *schema.Node) string {
	return "a mapping with " + strings.Join(t.Keys(), ", ")
}

// requireFields reports the required fields that a block does not have.
func (v *values) requireFields(t *schema.Node, logical string, at Position) {
	if t.Field == nil { // readValues does it
		return
	}
	for _, key := range t.Keys() {
		path := Join(logical, key)
		if f := t.Children[key].Field; f == nil || !f.Required {
			continue
		} else if _, ok := v.positions[path]; !ok {
			missing := at
			missing.Path = Join(at.Path, key)
			v.reportType(missing, "required field is missing: "+f.Doc, "add it")
		}
	}
}

func (v *values) reportType(at Position, message, fix string) *Diagnostic {
	d := v.add(Error, at, at.Path, message, fix)
	d.Rule = "type"
	return d
}

func (v *values) reportNull(kind string, at Position) {
	v.reportType(at, "must not be null; expected "+kind, "give a value, or remove the line to use the default")
}

// nameOf returns the name of a value: the canonical path of its field, or its path in the layout if
// the field can occur more than once.
func (v *values) nameOf(f *schema.Field, logical string) string {
	if f.Path(v.strictness.version) == logical {
		return f.Name()
	}
	return logical
}

func (v *values) readField(n *yaml.Node, f *schema.Field, logical string, at Position) {
	n = resolveAlias(n)
	if isNull(n) {
		if !f.Nullable && f.Kind != schema.Opaque {
			v.reportNull(string(f.Kind), at)
		}
		return
	}
	n = v.coerce(n, *f, at)
	if bad := checkType(n, *f); bad.message != "" {
		d := v.reportType(at, bad.message, bad.fix)
		if f.Kind == schema.Levels {
			d.Rule = "levels"
		}
		if bad.replacement != "" {
			d.Set(bad.replacement, bad.safe)
		}
		return
	}
	name := v.nameOf(f, logical)
	switch {
	case f.Kind == schema.StrMap:
		v.readStringMap(n, name, at)
	case f.Kind == schema.StrList:
		for i, e := range n.Content {
			index := fmt.Sprintf("[%d]", i)
			v.mapPositions[name+index] = Position{Path: at.Path + index, Line: e.Line, Column: e.Column}
		}
	case n.Kind == yaml.MappingNode, f.Kind == schema.Opaque:
		sev := Warning
		if f.Name() == "frontend.args" { // a plan has what srtctl reads
			sev = Note
		}
		v.checkFreeForm(n, sev, at.Path, 0)
	}
	v.byName[name] = value{node: n, field: f, position: at}
}

func (v *values) readStringMap(n *yaml.Node, name string, at Position) {
	for _, kv := range pairs(n) {
		val := resolveAlias(kv[1])
		path := v.doc.pathOf(kv[0], Join(at.Path, kv[0].Value))
		position := Position{Path: path, Line: kv[1].Line, Column: kv[1].Column}
		v.mapPositions[Join(name, kv[0].Value)] = position
		if s, differs := yaml11Reading(kv[0]); differs && s.Tag != "!!str" {
			v.add(Warning, positionOf(kv[0], path), path, v.describeYAML11(kv[0], s), "quote the key").Rule = "yaml-1.1"
		}
		s, differs := yaml11Reading(val)
		message := fmt.Sprintf("must be a string, got %s", describe(val))
		switch {
		case val.Kind != yaml.ScalarNode:
			v.add(Error, position, path, message, "").Rule = "string-map"
		case isNull(val): // neither the text ~ nor an empty one is its meaning
			v.add(Error, position, path, "must be a string, got null", `write "", or remove the line`).Rule = "string-map"
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
