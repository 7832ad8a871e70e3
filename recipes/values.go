package recipes

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// value is one field's node and where it stands.
type value struct {
	node  *yaml.Node
	place Place
	field schema.Field
}

// values are the fields of a document by canonical path.
type values struct {
	file   string
	byName map[string]value
	spots  map[string]Place // every mapping and field seen, by the user's path
	diags  Diagnostics
}

// read walks a document along the table: unknown keys, wrong types and missing
// fields become diagnostics, the rest values.
func read(d *Document, table *schema.Table, version int, unknown Severity) *values {
	v := &values{file: d.File, byName: map[string]value{}, spots: map[string]Place{}}
	v.mapping(d.Root, table.Root(), "", unknown)
	for _, f := range table.Fields() {
		path := f.Path(version)
		if !f.Required || path == "" {
			continue
		}
		if _, ok := v.byName[f.Name()]; !ok && !v.reported(path) {
			v.add(Error, v.nearest(path, d.Root), path, "required, and not given: "+f.Doc, "add it")
		}
	}
	return v
}

func (v *values) add(sev Severity, at Place, path, msg, fix string) {
	v.diags = append(v.diags, Diagnostic{File: v.file, Line: at.Line, Column: at.Column, Path: path, Severity: sev, Message: msg, Fix: fix})
}

func (v *values) reported(path string) bool {
	return slices.ContainsFunc(v.diags, func(d Diagnostic) bool { return d.Path == path })
}

// nearest is the place of the deepest part of a path that the file has.
func (v *values) nearest(path string, root *yaml.Node) Place {
	for p := path; p != ""; {
		if at, ok := v.spots[p]; ok {
			return at
		}
		cut := strings.LastIndexByte(p, '.')
		if cut < 0 {
			break
		}
		p = p[:cut]
	}
	if root == nil {
		return Place{}
	}
	return Place{Line: root.Line, Column: root.Column}
}

func (v *values) mapping(n *yaml.Node, t *schema.Node, path string, unknown Severity) {
	for _, kv := range pairs(n) {
		key, val := kv[0], kv[1]
		at := Place{Path: Join(path, key.Value), Line: val.Line, Column: val.Column}
		if val.Kind != yaml.ScalarNode { // a mapping's own position is that of its first key
			at.Line, at.Column = key.Line, key.Column
		}
		next := t.Children[key.Value]
		if next == nil {
			msg, fix := "unknown field", "remove it"
			if near := schema.Nearest(key.Value, t.Keys()); near != "" {
				msg += fmt.Sprintf("; did you mean %q?", near)
				fix = "rename it to " + near
			}
			if unknown == Warning {
				msg, fix = "unknown key, kept: the client owns this file; "+strings.TrimPrefix(strings.TrimPrefix(msg, "unknown field"), "; "), ""
				msg = strings.TrimSuffix(msg, "; ")
			}
			v.add(unknown, Place{Line: key.Line, Column: key.Column}, at.Path, msg, fix)
			continue
		}
		v.spots[at.Path] = at
		v.one(val, next, at, unknown)
	}
}

func (v *values) one(val *yaml.Node, t *schema.Node, at Place, unknown Severity) {
	if t.Field != nil {
		v.field(val, *t.Field, at)
		return
	}
	switch n := resolve(val); {
	case isNull(n):
	case n.Kind == yaml.MappingNode:
		v.mapping(n, t, at.Path, unknown)
	case n.Kind == yaml.ScalarNode && t.Children["type"] != nil && t.Children["type"].Field != nil:
		// engine: trtllm is short for engine: {type: trtllm}.
		at.Path += ".type"
		v.spots[at.Path] = at
		v.field(n, *t.Children["type"].Field, at)
	default:
		v.add(Error, at, at.Path, fmt.Sprintf("want a mapping with %s, found %s", strings.Join(t.Keys(), ", "), describe(n)), "")
	}
}

func (v *values) field(n *yaml.Node, f schema.Field, at Place) {
	n = resolve(n)
	if isNull(n) {
		if !f.Nullable && f.Kind != schema.Opaque && f.Kind != schema.FreeMap {
			v.add(Error, at, at.Path, "may not be null: want "+f.Kind.String(), "give a value, or remove the line for the default")
		}
		return
	}
	if msg, fix := wrongType(n, f); msg != "" {
		v.add(Error, at, at.Path, msg, fix)
		return
	}
	if f.Kind == schema.StrMap {
		v.stringMap(n, at)
	}
	v.byName[f.Name()] = value{node: n, place: at, field: f}
}

func (v *values) stringMap(n *yaml.Node, at Place) {
	for _, kv := range pairs(n) {
		val := resolve(kv[1])
		path := Join(at.Path, kv[0].Value)
		place := Place{Path: path, Line: kv[1].Line, Column: kv[1].Column}
		v.spots[path] = place
		if val.Kind != yaml.ScalarNode || val.Tag != "!!str" {
			fix := ""
			if val.Kind == yaml.ScalarNode {
				fix = fmt.Sprintf("quote it: %s: %q", kv[0].Value, val.Value)
			}
			v.add(Error, place, path, fmt.Sprintf("not a string but %s: values here must be strings", describe(val)), fix)
		}
	}
}

// describe names what a node holds, shortened.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	text := n.Value
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return fmt.Sprintf("%s %q", strings.TrimPrefix(n.Tag, "!!"), text)
}

// wrongType says what is wrong with a node for a field; empty when nothing is.
func wrongType(n *yaml.Node, f schema.Field) (msg, fix string) {
	want := func() string { return fmt.Sprintf("want %s, found %s", f.Kind, describe(n)) }
	scalar := n.Kind == yaml.ScalarNode
	switch f.Kind {
	case schema.Opaque:
		return "", ""
	case schema.FreeMap, schema.StrMap:
		if n.Kind != yaml.MappingNode {
			return want(), ""
		}
	case schema.StrList:
		return listOf(n, f, func(e *yaml.Node) bool { return e.Tag == "!!str" })
	case schema.IntList:
		return listOf(n, f, func(e *yaml.Node) bool { return inRange(e, f) })
	case schema.Levels:
		if _, err := levels(n); err != nil {
			return err.Error(), `write a list, [64, 1010], or "64x1010"`
		}
	case schema.Str:
		if !scalar || n.Tag != "!!str" {
			return want(), quoteFix(n)
		}
		return enum(n, f)
	case schema.Bool, schema.BoolOrStr:
		if !scalar || n.Tag != "!!bool" && !slices.Contains(f.Enum, n.Value) {
			return want(), strings.Join(append([]string{"write true", "false"}, f.Enum...), " or ")
		}
	case schema.NodeCount, schema.Int, schema.Float:
		return number(n, f)
	}
	return "", ""
}

func quoteFix(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return fmt.Sprintf("quote it: %q", n.Value)
	}
	return ""
}

func enum(n *yaml.Node, f schema.Field) (msg, fix string) {
	if len(f.Enum) == 0 || slices.Contains(f.Enum, n.Value) {
		return "", ""
	}
	msg = fmt.Sprintf("%q is not allowed: want one of %s", n.Value, strings.Join(f.Enum, ", "))
	if near := schema.Nearest(n.Value, f.Enum); near != "" {
		fix = "write " + near
	}
	return msg, fix
}

func listOf(n *yaml.Node, f schema.Field, good func(*yaml.Node) bool) (msg, fix string) {
	if n.Kind != yaml.SequenceNode {
		return fmt.Sprintf("want %s, found %s", f.Kind, describe(n)), ""
	}
	for i, e := range n.Content {
		if e = resolve(e); e.Kind != yaml.ScalarNode || !good(e) {
			return fmt.Sprintf("entry %d is %s: want %s%s", i, describe(e), f.Kind, bound(f)), ""
		}
	}
	return "", ""
}

func bound(f schema.Field) string {
	if !f.Bounded {
		return ""
	}
	op := "≥"
	if f.Open {
		op = ">"
	}
	return fmt.Sprintf(" %s %s", op, strconv.FormatFloat(f.Min, 'f', -1, 64))
}

func number(n *yaml.Node, f schema.Field) (msg, fix string) {
	if f.Kind == schema.NodeCount && n.Value == "colocate" {
		return "", ""
	}
	if n.Kind != yaml.ScalarNode || !inRange(n, f) {
		return fmt.Sprintf("want %s%s, found %s", f.Kind, bound(f), describe(n)), ""
	}
	return "", ""
}

func inRange(n *yaml.Node, f schema.Field) bool {
	whole := f.Kind != schema.Float
	r, ok := rational(n)
	if !ok || whole && !r.IsInt() {
		return false
	}
	if whole && !r.Num().IsInt64() {
		return false
	}
	if !f.Bounded {
		return true
	}
	c := r.Cmp(new(big.Rat).SetFloat64(f.Min))
	return c > 0 || c == 0 && !f.Open
}

// rational is a number exactly as written: 0.3 is three tenths here, which no
// float is. Hexadecimal and other notations of YAML integers count too.
func rational(n *yaml.Node) (*big.Rat, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" {
		return nil, false
	}
	if len(n.Value) > 64 {
		return nil, false
	}
	text := strings.ReplaceAll(n.Value, "_", "")
	if n.Tag == "!!int" {
		var i int64
		if err := n.Decode(&i); err != nil {
			return nil, false
		}
		return new(big.Rat).SetInt64(i), true
	}
	// The exponent bounds the work: 1e999999999 would fill the memory.
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, false
	}
	if f != 0 && (math.Abs(f) > 1e30 || math.Abs(f) < 1e-30) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// levels reads concurrency levels: a list of whole numbers above 0, or an
// x-separated string.
func levels(n *yaml.Node) ([]int, error) {
	var words []string
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		words = strings.Split(n.Value, "x")
	case n.Kind == yaml.SequenceNode:
		for _, e := range n.Content {
			words = append(words, resolve(e).Value)
		}
	default:
		return nil, fmt.Errorf("want a list of whole numbers or %q, found %s", "64x1010", describe(n))
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("no level: the client would fall back to the placeholder levels of the workload")
	}
	out := make([]int, 0, len(words))
	for _, w := range words {
		l, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil || l < 1 {
			return nil, fmt.Errorf("level %q is no whole number above 0", w)
		}
		out = append(out, l)
	}
	return out, nil
}
