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

// describeYAML11 describes how a YAML 1.1 parser reads an unquoted scalar.
func (v *values) describeYAML11(n *yaml.Node, s Scalar) string {
	what := typeName(s.Tag) + " " + s.Value
	if s.Tag == "!!str" {
		what = "string " + strconv.Quote(n.Value)
	}
	return fmt.Sprintf("%s without quotes is read as %s by %s, which uses YAML 1.1", n.Value, what, v.strictness.reader)
}

// reportUnquoted reports an unquoted string that YAML 1.1 reads as another type, or an
// unquoted scalar that only YAML 1.1 reads as a string.
func (v *values) reportUnquoted(n *yaml.Node, s Scalar, at Position) {
	sev := Error
	if s.Tag == "!!str" || v.strictness.unknownKeys == Warning {
		sev = Warning
	}
	d := v.add(sev, at, at.Path, v.describeYAML11(n, s), fmt.Sprintf("quote it: %q", n.Value))
	d.Rule = "yaml-1.1"
	d.Set(strconv.Quote(n.Value), true)
}

// coerce converts a value of another type that srtctl accepts for a field: a number in
// quotes, a fraction for a whole number, a word for true or false. It reports each
// conversion as a finding.
func (v *values) coerce(n *yaml.Node, f schema.Field, at Position) *yaml.Node {
	if n.Kind == yaml.SequenceNode && f.Kind == schema.StrList {
		v.checkListEntries(n, at)
	}
	if n.Kind != yaml.ScalarNode {
		return n
	}
	s, differs := yaml11Reading(n)
	switch f.Kind {
	case schema.Str:
		if differs {
			v.reportUnquoted(n, s, at)
			return scalarNode(n, "!!str", n.Value)
		}
	case schema.Bool, schema.BoolOrStr:
		if n.Tag == "!!bool" || slices.Contains(f.Enum, n.Value) || f.Strict {
			break
		}
		if yes, ok := parseBoolWord(n.Value); ok {
			v.warnCoerced(at, fmt.Sprintf("%s may be rejected; otherwise it is read as %t", describe(n), yes),
				strconv.FormatBool(yes))
			return scalarNode(n, "!!bool", strconv.FormatBool(yes))
		}
	case schema.Int, schema.NodeCount, schema.Float:
		return v.coerceNumber(n, s, differs, f, at)
	}
	return n
}

func (v *values) coerceNumber(n *yaml.Node, s Scalar, differs bool, f schema.Field, at Position) *yaml.Node {
	r, number := parseNumber(n)
	if differs && number && canonicalNumber(r) != n.Value { // YAML 1.1 reads 0o14 and 1e-5 as strings
		text, sev := canonicalNumber(r), Error
		if f.Kind == schema.Float || v.strictness.unknownKeys == Warning {
			sev = Warning
		}
		d := v.add(sev, at, at.Path, v.describeYAML11(n, s), "write "+text)
		d.Rule = "yaml-1.1"
		d.Set(text, true)
		return n
	}
	if n.Tag == "!!str" && v.strictness.unknownKeys == Error {
		if r, ok := parseNumber(scalarNode(n, "!!float", strings.TrimSpace(n.Value))); ok {
			_, swept := v.doc.swept[n]
			n, number = scalarNode(n, "!!float", strings.TrimSpace(n.Value)), true
			if r.IsInt() {
				n.Tag = "!!int"
			}
			if !swept {
				v.warnCoerced(at, fmt.Sprintf("string %q where %s is expected", n.Value, f.Kind), n.Value)
			}
		}
	}
	if r, ok := parseNumber(n); number && ok && f.Kind != schema.Float && !r.IsInt() && v.strictness.unknownKeys == Error {
		whole := new(big.Int).Quo(r.Num(), r.Denom()).String()
		d := v.add(Warning, at, at.Path, fmt.Sprintf("%s is not a whole number; srtctl truncates it to %s", n.Value, whole),
			"write "+whole)
		d.Rule = "coerced"
		d.Set(whole, false)
		return scalarNode(n, "!!int", whole)
	}
	return n
}

// warnCoerced reports a value that srtctl probably converts to a different one.
func (v *values) warnCoerced(at Position, msg, text string) {
	d := v.add(Warning, at, at.Path, msg, "write "+text)
	d.Rule = "coerced"
	d.Set(text, true)
}

func (v *values) checkListEntries(list *yaml.Node, at Position) {
	for i, e := range list.Content {
		if s, differs := yaml11Reading(resolveAlias(e)); differs && s.Tag != "!!str" {
			entry := Position{Path: fmt.Sprintf("%s[%d]", at.Path, i), Line: e.Line, Column: e.Column}
			v.reportUnquoted(resolveAlias(e), s, entry)
		}
	}
}

// checkFreeForm reports scalars that YAML 1.1 reads differently, in a part of the file
// whose fields the table does not list, such as an engine configuration.
func (v *values) checkFreeForm(n *yaml.Node, sev Severity, path string, depth int) {
	if depth > maxDepth {
		return
	}
	switch n = resolveAlias(n); n.Kind {
	case yaml.MappingNode:
		for _, kv := range pairs(n) {
			v.checkFreeForm(kv[1], sev, v.doc.pathOf(kv[0], Join(path, kv[0].Value)), depth+1)
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			v.checkFreeForm(e, sev, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	case yaml.ScalarNode:
		s, differs := yaml11Reading(n)
		if !differs {
			return
		}
		d := v.add(sev, Position{Line: n.Line, Column: n.Column}, path, v.describeYAML11(n, s),
			fmt.Sprintf("write %s if that is intended, or else quote it", s.Value))
		d.Rule = "yaml-1.1"
		if r, ok := parseNumber(n); ok {
			d.Fix = "write " + canonicalNumber(r)
			d.Set(canonicalNumber(r), true)
		}
	}
}

// canonicalNumber formats a number so that YAML 1.1 and 1.2 read the same value.
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

// scalarNode returns a scalar at the position of n.
func scalarNode(n *yaml.Node, tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text, Line: n.Line, Column: n.Column}
}

// parseBoolWord parses a word that srtctl accepts as a boolean.
func parseBoolWord(s string) (yes, ok bool) {
	switch strings.ToLower(s) {
	case "t", "true", "on", "y", "yes", "1":
		return true, true
	case "f", "false", "off", "n", "no", "0":
		return false, true
	}
	return false, false
}
