package recipes

import (
	"fmt"
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
