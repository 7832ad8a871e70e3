package recipes

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// PythonText returns the text of a value as srtctl writes it: the value that PyYAML reads, formatted
// by Python's str. Numbers become canonical (010 is 8), lists and mappings are Python literals.
func PythonText(n *yaml.Node) string {
	if s, ok := pythonString(n); ok {
		return s
	}
	return pythonLiteral(n, 0)
}

// pythonString returns the value of a scalar that PyYAML reads as a string.
func pythonString(n *yaml.Node) (s string, ok bool) {
	n = resolveAlias(n)
	return n.Value, n.Kind == yaml.ScalarNode && scalar11(n).Tag == "!!str"
}

// scalar11 returns the type and value of a scalar in YAML 1.1.
func scalar11(n *yaml.Node) Scalar {
	quotes := yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&quotes != 0 || n.Style&yaml.TaggedStyle != 0 && n.ShortTag() == "!!str" {
		return Scalar{"!!str", n.Value}
	}
	return ResolveYAML11(n.Value)
}

// pythonLiteral formats a value as Python's repr.
func pythonLiteral(n *yaml.Node, depth int) string {
	n = resolveAlias(n)
	switch {
	case depth > maxDepth:
		return "..."
	case n.Kind == yaml.SequenceNode:
		parts := make([]string, 0, len(n.Content))
		for _, e := range n.Content {
			parts = append(parts, pythonLiteral(e, depth+1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case n.Kind == yaml.MappingNode:
		var parts []string
		for _, kv := range pairs(n) {
			parts = append(parts, pythonLiteral(kv[0], depth+1)+": "+pythonLiteral(kv[1], depth+1))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	switch s := scalar11(n); s.Tag {
	case "!!null":
		return "None"
	case "!!bool":
		return strings.ToUpper(s.Value[:1]) + s.Value[1:]
	case "!!int":
		return s.Value
	case "!!float":
		return pythonFloat(s.Value)
	case "!!str":
		return pythonQuote(s.Value)
	default:
		return n.Value
	}
}

// pythonFloat formats a float in YAML 1.1 as Python: 1.0, 1e+16, inf.
func pythonFloat(text string) string {
	text = strings.ToLower(text)
	if word := strings.TrimLeft(text, "+-."); word == "inf" || word == "nan" {
		return strings.TrimLeft(strings.Replace(text, ".", "", 1), "+")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	_, digits, _ := strings.Cut(scientific, "e")
	if exponent, err := strconv.Atoi(digits); err != nil || exponent < -4 || exponent >= 16 {
		return scientific
	}
	plain := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	return plain
}

// pythonQuote formats a string as Python's repr.
func pythonQuote(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\' || string(r) == quote:
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return quote + b.String() + quote
}

// AsPython returns a copy of a tree as PyYAML writes what it has read: without aliases, merge keys and
// comments, with sorted keys, and with scalars that YAML 1.1 and 1.2 read alike.
func AsPython(n *yaml.Node) *yaml.Node {
	n = expandAliases(n, 0)
	asPython(n)
	return n
}

func asPython(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, child := range n.Content {
		asPython(child)
	}
	switch n.Kind {
	case yaml.MappingNode:
		n.Style = 0
		sortKeys(n)
	case yaml.SequenceNode:
		n.Style = 0
	case yaml.ScalarNode:
		scalarAsPython(n)
	}
}

func scalarAsPython(n *yaml.Node) {
	s := scalar11(n)
	switch s.Tag {
	case "!!str":
		if n.Style == 0 && n.ShortTag() != s.Tag {
			n.Style = yaml.DoubleQuotedStyle
		}
		n.Tag = s.Tag
	case "!!int", "!!float", "!!bool", "!!null":
		if n.Style != 0 { // an explicit tag
			return
		}
		n.Tag, n.Value = s.Tag, s.Value
		switch s.Tag {
		case "!!null":
			n.Value = "null"
		case "!!float":
			n.Value = yamlFloat(s.Value)
		case "!!int":
			if plain := (yaml.Node{Kind: yaml.ScalarNode, Value: s.Value}); plain.ShortTag() != s.Tag {
				n.Tag = "" // yaml.v3 takes a large whole number for a float, and would write the tag
			}
		}
	}
}

// yamlFloat formats a float as PyYAML.
func yamlFloat(text string) string {
	text = pythonFloat(text)
	switch text {
	case "inf", "nan":
		return "." + text
	case "-inf":
		return "-.inf"
	}
	if digits, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(digits, ".") {
		return digits + ".0e" + exponent
	}
	return text
}

// sortKeys sorts the entries of a mapping as Python: texts by code points, numbers by value. It keeps the
// order of a mapping that has both, which Python can't sort.
func sortKeys(n *yaml.Node) {
	type entry struct {
		key, value *yaml.Node
		number     *big.Rat
	}
	entries, numbers, texts := make([]entry, 0, len(n.Content)/2), 0, 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		e := entry{key: n.Content[i], value: n.Content[i+1]}
		if r, ok := parseNumber(e.key); ok {
			e.number = r
			numbers++
		} else if e.key.Kind == yaml.ScalarNode && e.key.Tag == "!!str" {
			texts++
		}
		entries = append(entries, e)
	}
	switch len(entries) {
	case texts:
		slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.key.Value, b.key.Value) })
	case numbers:
		slices.SortStableFunc(entries, func(a, b entry) int { return a.number.Cmp(b.number) })
	}
	n.Content = n.Content[:0]
	for _, e := range entries {
		n.Content = append(n.Content, e.key, e.value)
	}
}
