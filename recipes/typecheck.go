package recipes

import (
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"path"
	"regexp"
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
	tag := n.Tag
	if tag == "!!float" && scalar11(n).Tag == "!!int" { // yaml.v3 reads large whole numbers so
		tag = "!!int"
	}
	return fmt.Sprintf("%s %q", typeName(tag), text)
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
	fits := true
	switch f.Kind {
	case schema.FreeMap, schema.StrMap, schema.Block:
		fits = n.Kind == yaml.MappingNode
	case schema.ListMap:
		return checkListMap(n, f)
	case schema.BoolOrMap:
		fits = n.Kind == yaml.MappingNode || scalar && n.Tag == "!!bool"
	case schema.StrList:
		return checkList(n, f, func(e *yaml.Node) string { return checkText(e, f) })
	case schema.IntList:
		return checkList(n, f, func(e *yaml.Node) string { return checkBounds(e, f) })
	case schema.Levels:
		return checkLevels(n)
	case schema.Str:
		return checkString(n, f)
	case schema.IntOrStr:
		fits = scalar && (n.Tag == "!!str" || n.Tag == "!!int")
	case schema.FloatsOrStr:
		if !scalar {
			return checkList(n, f, func(e *yaml.Node) string { return checkBounds(e, schema.Field{Kind: schema.Float}) })
		}
		fits = n.Tag == "!!str"
	case schema.Bool, schema.BoolOrStr:
		fits = scalar && (n.Tag == "!!bool" || slices.Contains(f.Enum, n.Value))
		want.fix = strings.Join(append([]string{"write true", "false"}, f.Enum...), " or ")
	case schema.NodeCount, schema.Int, schema.Float:
		return checkNumber(n, f)
	}
	if fits {
		return mismatch{}
	}
	return want
}

func checkString(n *yaml.Node, f schema.Field) mismatch {
	if n.Kind != yaml.ScalarNode {
		return mismatch{message: fmt.Sprintf("expected %s, got %s", f.Kind, describe(n))}
	}
	if n.Tag != "!!str" {
		return mismatch{
			message: fmt.Sprintf("expected %s, got %s", f.Kind, describe(n)),
			fix:     fmt.Sprintf("quote it: %q", n.Value), replacement: fmt.Sprintf("%q", n.Value), safe: true,
		}
	}
	if message := checkText(n, f); message != "" {
		return mismatch{message: message}
	}
	return checkEnum(n, f)
}

// checkText returns why a text does not fit a field's format; empty if it does.
func checkText(n *yaml.Node, f schema.Field) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return fmt.Sprintf("expected string, got %s", describe(n))
	}
	fits := true
	switch f.Format {
	case schema.NotBlank:
		fits = strings.TrimSpace(n.Value) != ""
	case schema.AbsolutePath:
		fits = path.IsAbs(n.Value)
	case schema.SubPath:
		fits = fs.ValidPath(path.Clean(n.Value)) && n.Value != ""
	case schema.VariableName:
		fits = variableName.MatchString(n.Value)
	case schema.CommitID:
		fits = commitID.MatchString(n.Value)
	case schema.Pattern:
		if _, err := regexp.Compile(n.Value); err != nil {
			return fmt.Sprintf("expected %s, got %q: %v", f.Format, n.Value, err)
		}
	}
	if fits {
		return ""
	}
	return fmt.Sprintf("expected %s, got %q", f.Format, n.Value)
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	commitID     = regexp.MustCompile(`^[0-9a-fA-F]{4,40}$`)
)

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
	bad := mismatch{
		message: fmt.Sprintf("%q is unknown to this version; expected one of %s", n.Value, strings.Join(f.Enum, ", ")),
	}
	if near := schema.OneEdit(n.Value, f.Enum); near != "" {
		bad.fix, bad.replacement, bad.safe = "write "+near, near, strings.EqualFold(near, n.Value)
	}
	return bad
}

// checkList checks each entry with a function that returns what is wrong with it.
func checkList(n *yaml.Node, f schema.Field, check func(*yaml.Node) string) mismatch {
	if n.Kind != yaml.SequenceNode {
		return mismatch{message: fmt.Sprintf("expected %s, got %s", f.Kind, describe(n))}
	}
	for i, e := range n.Content {
		if wrong := check(resolveAlias(e)); wrong != "" {
			return mismatch{message: fmt.Sprintf("entry %d: %s", i, wrong)}
		}
	}
	return mismatch{}
}

func checkListMap(n *yaml.Node, f schema.Field) mismatch {
	if n.Kind != yaml.MappingNode {
		return mismatch{message: fmt.Sprintf("expected %s, got %s", f.Kind, describe(n))}
	}
	for _, kv := range pairs(n) {
		if e := resolveAlias(kv[1]); e.Kind != yaml.SequenceNode {
			return mismatch{message: fmt.Sprintf("%s: expected a list, got %s", kv[0].Value, describe(e))}
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
	return mismatch{message: checkBounds(n, f)}
}

// checkBounds returns why a number does not fit a field; empty if it does.
func checkBounds(n *yaml.Node, f schema.Field) string {
	if n.Kind == yaml.ScalarNode && inRange(n, f) {
		return ""
	}
	if r, ok := parseNumber(n); ok && r.IsInt() && !r.Num().IsInt64() && f.Kind != schema.Float {
		return fmt.Sprintf("%s is out of range; expected %s of at most %d", n.Value, kindWithBound(f), int64(math.MaxInt64))
	}
	return fmt.Sprintf("expected %s, got %s", kindWithBound(f), describe(n))
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
	if f.HasMax && r.Cmp(new(big.Rat).SetFloat64(f.Max)) > 0 {
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
		if i, ok := new(big.Int).SetString(text, 0); ok {
			return new(big.Rat).SetInt(i), true
		}
		var i int64 // in a notation that only YAML has
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
