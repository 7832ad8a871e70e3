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
func (v *values) reads(n *yaml.Node, p Scalar) string {
	what := fmt.Sprintf("%s %s", strings.TrimPrefix(p.Tag, "!!"), p.Value)
	if p.Tag == "!!str" {
		what = "the text " + strconv.Quote(n.Value)
	}
	return fmt.Sprintf("%s without quotes is %s to %s, which reads YAML 1.1", n.Value, what, v.rules.owner)
}

// quote11 reports a string without quotes that YAML 1.1 takes for something
// else, or that only YAML 1.1 takes for a string.
func (v *values) quote11(n *yaml.Node, p Scalar, at Position) {
	sev := Error
	if p.Tag == "!!str" || v.rules.unknown == Warning {
		sev = Warning
	}
	d := v.add(sev, at, at.Path, v.reads(n, p), fmt.Sprintf("quote it: %q", n.Value))
	d.Rule = "yaml-1.1"
	d.Set(strconv.Quote(n.Value), true)
}

// coerce reads a value as srtctl does where that takes more than the field's own
// type: numbers in quotes, fractions of whole numbers, words for true and false.
// Such a value is warned about, not refused.
func (v *values) coerce(n *yaml.Node, f schema.Field, at Position) *yaml.Node {
	if n.Kind == yaml.SequenceNode && f.Kind == schema.StrList {
		v.entries(n, at)
	}
	if n.Kind != yaml.ScalarNode {
		return n
	}
	p, other := reads11(n)
	switch f.Kind {
	case schema.Str:
		if other {
			v.quote11(n, p, at)
			return as(n, "!!str", n.Value)
		}
	case schema.Bool, schema.BoolOrStr:
		if n.Tag == "!!bool" || slices.Contains(f.Enum, n.Value) {
			break
		}
		if yes, ok := truth(n.Value); ok {
			v.warn(at, fmt.Sprintf("%s is taken for %t, where it is taken at all", describe(n), yes), strconv.FormatBool(yes))
			return as(n, "!!bool", strconv.FormatBool(yes))
		}
	case schema.Int, schema.NodeCount, schema.Float:
		return v.coerceNumber(n, p, other, f, at)
	}
	return n
}

func (v *values) coerceNumber(n *yaml.Node, p Scalar, other bool, f schema.Field, at Position) *yaml.Node {
	r, number := rational(n)
	if other && number && canonicalNumber(r) != n.Value { // 0o14 and 1e-5 are text to a reader of YAML 1.1
		text, sev := canonicalNumber(r), Error
		if f.Kind == schema.Float || v.rules.unknown == Warning {
			sev = Warning
		}
		d := v.add(sev, at, at.Path, v.reads(n, p), "write "+text)
		d.Rule = "yaml-1.1"
		d.Set(text, true)
		return n
	}
	if n.Tag == "!!str" && v.rules.unknown == Error {
		if r, ok := rational(as(n, "!!float", strings.TrimSpace(n.Value))); ok {
			n, number = as(n, "!!float", strings.TrimSpace(n.Value)), true
			if r.IsInt() {
				n.Tag = "!!int"
			}
			if !v.doc.swept[n.Value] {
				v.warn(at, fmt.Sprintf("text %q where %s is wanted", n.Value, f.Kind), n.Value)
			}
		}
	}
	if r, ok := rational(n); number && ok && f.Kind != schema.Float && !r.IsInt() && v.rules.unknown == Error {
		whole := new(big.Int).Quo(r.Num(), r.Denom()).String()
		d := v.add(Warning, at, at.Path, fmt.Sprintf("%s is no whole number: srtctl cuts it to %s", n.Value, whole),
			"write "+whole)
		d.Rule = "coerced"
		d.Set(whole, false)
		return as(n, "!!int", whole)
	}
	return n
}

// warn reports a value that srtctl most likely takes for another.
func (v *values) warn(at Position, msg, text string) {
	d := v.add(Warning, at, at.Path, msg, "write "+text)
	d.Rule = "coerced"
	d.Set(text, true)
}

func (v *values) entries(list *yaml.Node, at Position) {
	for i, e := range list.Content {
		if p, other := reads11(resolve(e)); other && p.Tag != "!!str" {
			v.quote11(resolve(e), p, Position{Path: fmt.Sprintf("%s[%d]", at.Path, i), Line: e.Line, Column: e.Column})
		}
	}
}

// free looks through what belongs to somebody else for scalars that they read
// otherwise than they look.
func (v *values) free(n *yaml.Node, path string, depth int) {
	if depth > maxDepth {
		return
	}
	switch n = resolve(n); n.Kind {
	case yaml.MappingNode:
		for _, kv := range pairs(n) {
			v.free(kv[1], v.doc.pathOf(kv[0], Join(path, kv[0].Value)), depth+1)
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			v.free(e, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	case yaml.ScalarNode:
		p, other := reads11(n)
		if !other {
			return
		}
		d := v.add(Warning, Position{Line: n.Line, Column: n.Column}, path, v.reads(n, p),
			fmt.Sprintf("write %s if that is meant, else quote it", p.Value))
		d.Rule = "yaml-1.1"
		if r, ok := rational(n); ok {
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

func as(n *yaml.Node, tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text, Line: n.Line, Column: n.Column}
}

// truth is what srtctl takes a word for.
func truth(s string) (yes, ok bool) {
	switch strings.ToLower(s) {
	case "t", "true", "on", "y", "yes", "1":
		return true, true
	case "f", "false", "off", "n", "no", "0":
		return false, true
	}
	return false, false
}
