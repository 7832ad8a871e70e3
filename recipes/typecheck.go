package recipes

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// describe describes the value of a node by its type and its text, which it truncates.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	text := fmt.Sprintf("%.40s", n.Value) // 40 characters
	if len(text) < len(n.Value) {
		text += "…"
	}
	return fmt.Sprintf("%s %q", typeName(n.Tag), text)
}

// typeName returns the name of a YAML tag's type as in [schema.Kind].
func typeName(tag string) string {
	if tag == "!!str" {
		return "string"
	}
	return strings.TrimPrefix(tag, "!!")
}

// mismatch describes why a value is not valid for a field. The message is empty if it is valid.
type mismatch struct {
	message, fix string
	replacement  string // valid value as YAML; empty if there is no obvious one
	safe         bool   // replacement has the same meaning
}

func checkType(n *yaml.Node, f schema.Field) mismatch {
	want := mismatch{message: fmt.Sprintf("expected %s, got %s", f.Kind, describe(n))}
	scalar := n.Kind == yaml.ScalarNode
	switch f.Kind {
	case schema.Opaque:
		return mismatch{}
	case schema.FreeMap, schema.StrMap:
		if n.Kind != yaml.MappingNode {
			return want
		}
	case schema.StrList:
		return checkList(n, f, func(e *yaml.Node) bool { return e.Tag == "!!str" })
	case schema.IntList:
		return checkList(n, f, func(e *yaml.Node) bool { return inRange(e, f) })
	case schema.Levels:
		return checkLevels(n)
	case schema.Str:
		if !scalar || n.Tag != "!!str" {
			if scalar {
				want.fix, want.replacement, want.safe = fmt.Sprintf("quote it: %q", n.Value), fmt.Sprintf("%q", n.Value), true
			}
			return want
		}
		return checkEnum(n, f)
	case schema.Bool, schema.BoolOrStr:
		if !scalar || n.Tag != "!!bool" && !slices.Contains(f.Enum, n.Value) {
			want.fix = strings.Join(append([]string{"write true", "false"}, f.Enum...), " or ")
			return want
		}
	case schema.NodeCount, schema.Int, schema.Float:
		return checkNumber(n, f)
	}
	return mismatch{}
}

func checkLevels(n *yaml.Node) mismatch {
	_, err := parseLevels(n)
	if err == nil {
		return mismatch{}
	}
	bad := mismatch{message: err.Error(), fix: `write a list, [64, 1010], or "64x1010"`}
	if n.Kind != yaml.ScalarNode {
		return bad
	}
	// A single number or a comma-separated list is unambiguous.
	words := strings.FieldsFunc(n.Value, func(r rune) bool { return r == ',' || r == ' ' || r == 'x' })
	for _, w := range words {
		if l, err := strconv.Atoi(w); err != nil || l < 1 {
			return bad
		}
	}
	if len(words) > 0 {
		bad.replacement, bad.safe = "["+strings.Join(words, ", ")+"]", true
	}
	return bad
}

func checkEnum(n *yaml.Node, f schema.Field) mismatch {
	if len(f.Enum) == 0 || slices.Contains(f.Enum, n.Value) {
		return mismatch{}
	}
	bad := mismatch{message: fmt.Sprintf("%q is not allowed; expected one of %s", n.Value, strings.Join(f.Enum, ", "))}
	if near := schema.Nearest(n.Value, f.Enum); near != "" {
		bad.fix, bad.replacement, bad.safe = "write "+near, near, strings.EqualFold(near, n.Value)
	}
	return bad
}

func checkList(n *yaml.Node, f schema.Field, good func(*yaml.Node) bool) mismatch {
	if n.Kind != yaml.SequenceNode {
		return mismatch{message: fmt.Sprintf("expected %s, got %s", f.Kind, describe(n))}
	}
	for i, e := range n.Content {
		if e = resolveAlias(e); e.Kind != yaml.ScalarNode || !good(e) {
			return mismatch{message: fmt.Sprintf("entry %d is %s; expected %s", i, describe(e), kindWithBound(f))}
		}
	}
	return mismatch{}
}

// kindWithBound returns the kind of a field's value with its bound, as in int ≥ 1.
func kindWithBound(f schema.Field) string {
	return strings.TrimRight(string(f.Kind)+" "+f.Bound(), " ")
}

func checkNumber(n *yaml.Node, f schema.Field) mismatch {
	if f.Kind == schema.NodeCount && n.Value == "colocate" {
		return mismatch{}
	}
	if n.Kind != yaml.ScalarNode || !inRange(n, f) {
		return mismatch{message: fmt.Sprintf("expected %s, got %s", kindWithBound(f), describe(n))}
	}
	return mismatch{}
}

func inRange(n *yaml.Node, f schema.Field) bool {
	whole := f.Kind != schema.Float
	r, ok := parseNumber(n)
	if !ok || whole && !r.IsInt() {
		return false
	}
	if whole && !r.Num().IsInt64() {
		return false
	}
	if !f.HasMin {
		return true
	}
	c := r.Cmp(new(big.Rat).SetFloat64(f.Min))
	return c > 0 || c == 0 && !f.MinExcluded
}

// parseNumber returns the exact value of a number: 0.3 is 3/10, not the nearest float64. It
// accepts all notations of YAML integers, such as hexadecimal.
func parseNumber(n *yaml.Node) (*big.Rat, bool) {
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
	// Limit the exponent: the exact value of 1e999999999 would exhaust memory.
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, false
	}
	if f != 0 && (math.Abs(f) > 1e30 || math.Abs(f) < 1e-30) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// parseLevels parses concurrency levels: a list of whole numbers above 0, or a string such as "64x1010".
func parseLevels(n *yaml.Node) ([]int, error) {
	var words []string
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		words = strings.Split(n.Value, "x")
	case n.Kind == yaml.SequenceNode:
		for _, e := range n.Content {
			words = append(words, resolveAlias(e).Value)
		}
	default:
		return nil, problem.Errorf(problem.ValueInvalid, "expected a list of whole numbers or a string like %q, got %s",
			"64x1010", describe(n))
	}
	if len(words) == 0 {
		return nil, problem.New(problem.ValueInvalid,
			"no concurrency level: the client would use the placeholder levels in the workload")
	}
	out := make([]int, 0, len(words))
	for _, w := range words {
		l, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil || l < 1 {
			return nil, problem.Errorf(problem.ValueInvalid, "concurrency level must be a whole number of at least 1, got %q", w)
		}
		out = append(out, l)
	}
	return out, nil
}
