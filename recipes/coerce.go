package recipes

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// reads says how a plain scalar is read by those who read YAML 1.1.
func (v *values) describeYAML11(n *yaml.Node, p Scalar) string {
	what := fmt.Sprintf("%s %s", strings.TrimPrefix(p.Tag, "!!"), p.Value)
	if p.Tag == "!!str" {
		what = "the text " + strconv.Quote(n.Value)
	}
	return fmt.Sprintf("%s without quotes is %s to %s, which reads YAML 1.1", n.Value, what, v.strictness.reader)
}

// quote11 reports a string without quotes that YAML 1.1 takes for something
// else, or that only YAML 1.1 takes for a string.
func (v *values) reportUnquoted(n *yaml.Node, p Scalar, at Position) {
	sev := Error
	if p.Tag == "!!str" || v.strictness.unknownKeys == Warning {
		sev = Warning
	}
	d := v.add(sev, at, at.Path, v.describeYAML11(n, p), fmt.Sprintf("quote it: %q", n.Value))
	d.Rule = "yaml-1.1"
	d.Set(strconv.Quote(n.Value), true)
}

// coerce reads a value as srtctl does where that takes more than the field's own
// type: numbers in quotes, fractions of whole numbers, words for true and false.
// Such a value is warned about, not refused.
func (v *values) coerce(n *yaml.Node, f schema.Field, at Position) *yaml.Node {
	if n.Kind == yaml.SequenceNode && f.Kind == schema.StrList {
		v.checkListEntries(n, at)
	}
	if n.Kind != yaml.ScalarNode {
		return n
	}
	p, other := yaml11Reading(n)
	switch f.Kind {
	case schema.Str:
		if other {
			v.reportUnquoted(n, p, at)
			return scalarNode(n, "!!str", n.Value)
		}
	case schema.Bool, schema.BoolOrStr:
		if n.Tag == "!!bool" || slices.Contains(f.Enum, n.Value) {
			break
		}
		if yes, ok := parseBoolWord(n.Value); ok {
			v.warnCoerced(at, fmt.Sprintf("%s is taken for %t, where it is taken at all", describe(n), yes), strconv.FormatBool(yes))
			return scalarNode(n, "!!bool", strconv.FormatBool(yes))
		}
	case schema.Int, schema.NodeCount, schema.Float:
		return v.coerceNumber(n, p, other, f, at)
	}
	return n
}

func (v *values) coerceNumber(n *yaml.Node, p Scalar, other bool, f schema.Field, at Position) *yaml.Node {
	r, number := parseNumber(n)
	if other && number && canonicalNumber(r) != n.Value { // 0o14 and 1e-5 are text to a reader of YAML 1.1
		text, sev := canonicalNumber(r), Error
		if f.Kind == schema.Float || v.strictness.unknownKeys == Warning {
			sev = Warning
		}
		d := v.add(sev, at, at.Path, v.describeYAML11(n, p), "write "+text)
		d.Rule = "yaml-1.1"
		d.Set(text, true)
		return n
	}
	if n.Tag == "!!str" && v.strictness.unknownKeys == Error {
		if r, ok := parseNumber(scalarNode(n, "!!float", strings.TrimSpace(n.Value))); ok {
			n, number = scalarNode(n, "!!float", strings.TrimSpace(n.Value)), true
			if r.IsInt() {
				n.Tag = "!!int"
			}
			if !v.doc.sweptValues[n.Value] {
				v.warnCoerced(at, fmt.Sprintf("text %q where %s is wanted", n.Value, f.Kind), n.Value)
			}
		}
	}
	if r, ok := parseNumber(n); number && ok && f.Kind != schema.Float && !r.IsInt() && v.strictness.unknownKeys == Error {
		whole := new(big.Int).Quo(r.Num(), r.Denom()).String()
		d := v.add(Warning, at, at.Path, fmt.Sprintf("%s is no whole number: srtctl cuts it to %s", n.Value, whole),
			"write "+whole)
		d.Rule = "coerced"
		d.Set(whole, false)
		return scalarNode(n, "!!int", whole)
	}
	return n
}

// warn reports a value that srtctl most likely takes for another.
func (v *values) warnCoerced(at Position, msg, text string) {
	d := v.add(Warning, at, at.Path, msg, "write "+text)
	d.Rule = "coerced"
	d.Set(text, true)
}

func (v *values) checkListEntries(list *yaml.Node, at Position) {
	for i, e := range list.Content {
		if p, other := yaml11Reading(resolveAlias(e)); other && p.Tag != "!!str" {
			v.reportUnquoted(resolveAlias(e), p, Position{Path: fmt.Sprintf("%s[%d]", at.Path, i), Line: e.Line, Column: e.Column})
		}
	}
}

// free looks through what belongs to somebody else for scalars that they read
// otherwise than they look.
func (v *values) checkFreeForm(n *yaml.Node, path string, depth int) {
	if depth > maxDepth {
		return
	}
	switch n = resolveAlias(n); n.Kind {
	case yaml.MappingNode:
		for _, kv := range pairs(n) {
			v.checkFreeForm(kv[1], v.doc.pathOf(kv[0], Join(path, kv[0].Value)), depth+1)
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			v.checkFreeForm(e, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	case yaml.ScalarNode:
		p, other := yaml11Reading(n)
		if !other {
			return
		}
		d := v.add(Warning, Position{Line: n.Line, Column: n.Column}, path, v.describeYAML11(n, p),
			fmt.Sprintf("write %s if that is meant, else quote it", p.Value))
		d.Rule = "yaml-1.1"
		if r, ok := parseNumber(n); ok {
			d.Fix = "write " + canonicalNumber(r)
			d.Set(canonicalNumber(r), true)
		}
	}
}

// canonicalNumber writes a number so that YAML 1.1 and 1.2 read the same.
func canonicalNumber(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if mantissa, exp, ok := strings.Cut(s, "e"); ok {
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		return mantissa + "e" + exp
	}
	return s
}

func scalarNode(n *yaml.Node, tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text, Line: n.Line, Column: n.Column}
}

// truth is what srtctl takes a word for.
func parseBoolWord(s string) (yes, ok bool) {
	switch strings.ToLower(s) {
	case "t", "true", "on", "y", "yes", "1":
		return true, true
	case "f", "false", "off", "n", "no", "0":
		return false, true
	}
	return false, false
}
