package rules

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Rewrite replaces the beginning of a path. Old and New usually end in a slash, so that /lustre/
// leaves /lustre2 alone; the bare folder (/lustre) is rewritten as well.
type Rewrite struct{ Old, New string }

// DefaultRewrites holds on clusters where /lustre is a root symlink to the same
// place as /scratch and containers mount only the latter.
var DefaultRewrites = []Rewrite{{"/lustre/", "/scratch/"}}

// WhyRewrite is why a path is rewritten.
const WhyRewrite = "containers mount only the new prefix"

// Rewrites is the ordered list of a port; the first match wins.
type Rewrites []Rewrite

// Apply rewrites the beginning of s. rule names what was done; it is empty if nothing was.
func (rs Rewrites) Apply(s string) (out, rule string) {
	for _, r := range rs {
		if r.Old == "" {
			continue
		}
		switch rest, ok := strings.CutPrefix(s, r.Old); {
		case ok:
			out = r.New + rest
		case s == strings.TrimSuffix(r.Old, "/") && s != "":
			out = strings.TrimSuffix(r.New, "/")
		default:
			continue
		}
		if out == s {
			return s, ""
		}
		return out, "rewrite " + r.Old + " → " + r.New
	}
	return s, ""
}

// Inside finds an old prefix that stands within a value, where no rule reaches.
func (rs Rewrites) Inside(s string) string {
	for _, r := range rs {
		if r.Old != "" && r.Old != r.New && strings.Contains(s, r.Old) {
			return r.Old
		}
	}
	return ""
}

// Node rewrites the strings of a YAML value; the original stays as it is.
func (rs Rewrites) Node(n *yaml.Node) (out *yaml.Node, rule string) {
	if n.Kind == yaml.ScalarNode {
		if n.Tag != "!!str" {
			return n, ""
		}
		text, rule := rs.Apply(n.Value)
		if rule == "" {
			return n, ""
		}
		c := *n
		c.Value = text
		return &c, rule
	}
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, k := range n.Content {
		var did string
		c.Content[i], did = rs.Node(k)
		if did != "" && !strings.Contains(rule, did) {
			rule = Join(rule, did)
		}
	}
	return &c, rule
}

// Mounts rewrites both sides of each mount of a comma-separated list, each once: the paths that the
// recipe holds are rewritten as well, so that is where the containers look.
func (rs Rewrites) Mounts(list string) []string {
	var out []string
	for m := range strings.SplitSeq(list, ",") {
		parts := strings.Split(strings.TrimSpace(m), ":")
		for i := range min(2, len(parts)) {
			parts[i], _ = rs.Apply(parts[i])
		}
		if m = strings.Join(parts, ":"); m != "" && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// Join puts two rules or reasons, either of which may be empty, behind one another.
func Join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
