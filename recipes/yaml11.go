package recipes

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Scalar is the type and value of an unquoted scalar.
type Scalar struct {
	Tag   string // !!str, !!int, !!float, !!bool, !!null, !!timestamp, !!merge or !!value
	Value string // canonical: 43200 for 12:00:00, true for on
}

// The patterns of PyYAML's resolver, which srtctl, the engines and the client use. It follows
// YAML 1.1: http://yaml.org/type.
var (
	int11 = regexp.MustCompile(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|` +
		`[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	float11 = regexp.MustCompile(`^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|` +
		`\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|` +
		`[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	time11 = regexp.MustCompile(`^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)` +
		`[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$`)
)

// ResolveYAML11 returns the type and value of an unquoted scalar in YAML 1.1.
func ResolveYAML11(s string) Scalar {
	if s == "" {
		return Scalar{"!!null", s}
	}
	// Most scalars are words. Other types begin with one of these characters.
	if len(s) > 64 || !strings.ContainsRune("0123456789+-.~nNyYtTfFoO<=", rune(s[0])) {
		return Scalar{"!!str", s}
	}
	switch {
	case isDecimal(s):
		return Scalar{"!!int", s}
	case s == "~" || s == "null" || s == "Null" || s == "NULL":
		return Scalar{"!!null", "null"}
	case s == "<<":
		return Scalar{"!!merge", s}
	case s == "=":
		return Scalar{"!!value", s} // PyYAML fails to construct it
	case s[0] >= 'A': // a word
		return wordYAML11(s)
	case int11.MatchString(s):
		return Scalar{"!!int", int11Value(s)}
	case float11.MatchString(s):
		return Scalar{"!!float", float11Value(s)}
	case time11.MatchString(s):
		return Scalar{"!!timestamp", s}
	}
	return Scalar{"!!str", s}
}

// wordYAML11 returns the type and value of an unquoted scalar that begins with a letter.
func wordYAML11(s string) Scalar {
	switch s {
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return Scalar{"!!bool", "true"}
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return Scalar{"!!bool", "false"}
	}
	return Scalar{"!!str", s}
}

// isDecimal reports whether a scalar is a whole number in its canonical spelling.
func isDecimal(s string) bool {
	return (s[0] != '0' || len(s) == 1) && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

func int11Value(s string) string {
	neg := strings.HasPrefix(s, "-")
	s = strings.ReplaceAll(strings.TrimLeft(s, "+-"), "_", "")
	v := new(big.Int)
	switch {
	case strings.Contains(s, ":"):
		for part := range strings.SplitSeq(s, ":") {
			n, ok := new(big.Int).SetString(part, 10)
			if !ok {
				return s
			}
			v.Add(v.Mul(v, big.NewInt(60)), n)
		}
	case strings.HasPrefix(s, "0b"), strings.HasPrefix(s, "0x"):
		v.SetString(s, 0)
	case len(s) > 1 && s[0] == '0':
		v.SetString(s, 8)
	default:
		v.SetString(s, 10)
	}
	if neg {
		v.Neg(v)
	}
	return v.String()
}

func float11Value(s string) string {
	neg := strings.HasPrefix(s, "-")
	t := strings.ReplaceAll(strings.TrimLeft(s, "+-"), "_", "")
	v := 0.0
	for part := range strings.SplitSeq(t, ":") {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return s // infinity or NaN
		}
		v = v*60 + f
	}
	if neg {
		v = -v
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// yaml11Reading returns the YAML 1.1 reading of an unquoted scalar. differs is true if
// YAML 1.2 reads it differently.
func yaml11Reading(n *yaml.Node) (s Scalar, differs bool) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || n.Value == "" {
		return Scalar{}, false
	}
	s = ResolveYAML11(n.Value)
	if s.Tag == "!!int" && n.ShortTag() == "!!float" { // yaml.v3 reads large whole numbers so
		whole, ok := new(big.Int).SetString(strings.ReplaceAll(n.Value, "_", ""), 10)
		return s, !ok || whole.String() != s.Value
	}
	if s.Tag != n.ShortTag() {
		return s, true
	}
	if s.Tag != "!!int" {
		return s, false
	}
	r, ok := parseNumber(n)
	return s, ok && r.RatString() != s.Value
}
