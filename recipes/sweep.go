package recipes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// sweepParameter is one parameter of a sweep with its values.
type sweepParameter struct {
	name   string
	values []*yaml.Node
}

// expandSweep adds a variant for each combination of a sweep's parameters. The last
// parameter changes fastest. Without a sweep it adds the recipe itself.
// key is the key of the recipe in a file with a base.
func (e *expander) expandSweep(key, selector string, sweep *yaml.Node, build func() *Document) {
	params, total, ok := e.parseSweep(sweep)
	switch {
	case !ok:
		return
	case len(params) == 0:
		e.variants = append(e.variants, Variant{Selector: selector, Key: key, build: build})
		return
	case total > maxVariants:
		e.fail(resolveAlias(sweep), "sweep", "expands to more than %d recipes", maxVariants)
		return
	}
	if selector != "" {
		selector += "/"
	} else {
		key = "sweep"
	}
	for i := range total {
		v := Variant{Selector: fmt.Sprintf("%ssweep[%d]", selector, i), Key: key}
		v.build = func() *Document {
			s := substitution{values: map[string]*yaml.Node{}, inserted: map[*yaml.Node]bool{}}
			suffix, rest := "", i
			for _, p := range slices.Backward(params) {
				v := resolveAlias(p.values[rest%len(p.values)])
				rest /= len(p.values)
				s.values[p.name] = v
				suffix = "_" + p.name + nameLabel(v) + suffix
			}
			doc := *build()
			doc.Root, doc.swept = withNameSuffix(s.apply(doc.Root, 0), suffix), s.inserted
			return &doc
		}
		e.variants = append(e.variants, v)
	}
}

func (e *expander) parseSweep(n *yaml.Node) (all []sweepParameter, total int, ok bool) {
	n = resolveAlias(n)
	if isNull(n) {
		return nil, 1, true
	}
	if n.Kind != yaml.MappingNode {
		e.fail(n, "sweep", "expected a mapping of parameters to lists, got %s", describe(n))
		return nil, 0, false
	}
	total = 1
	for _, kv := range pairs(n) {
		list := resolveAlias(kv[1])
		if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
			e.fail(kv[0], Join("sweep", kv[0].Value), "expected a list of values, got %s", describe(list))
			return nil, 0, false
		}
		all = append(all, sweepParameter{kv[0].Value, list.Content})
		total = min(total*len(list.Content), maxVariants+1)
	}
	return all, total, true
}

// nameLabel formats a value for the name of a recipe.
func nameLabel(n *yaml.Node) string {
	if n.Kind != yaml.SequenceNode {
		return PythonText(n)
	}
	parts := make([]string, 0, len(n.Content))
	for _, c := range n.Content {
		parts = append(parts, PythonText(c))
	}
	return strings.Join(parts, "x")
}

// substitution replaces {name} by the values of a sweep and removes the sweep. As in srtctl, a
// string that is only a placeholder can become a list; other values are inserted as text.
type substitution struct {
	values   map[string]*yaml.Node
	inserted map[*yaml.Node]bool // nodes with a value of the sweep; true if it is a scalar, but not a string
}

var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

func (s substitution) apply(n *yaml.Node, depth int) *yaml.Node {
	n = resolveAlias(n)
	if depth > maxDepth {
		return n
	}
	c := *n
	c.Anchor = ""
	switch n.Kind {
	case yaml.MappingNode:
		c.Content = nil
		for _, kv := range pairs(n) {
			if depth > 0 || kv[0].Value != "sweep" {
				c.Content = append(c.Content, kv[0], s.apply(kv[1], depth+1))
			}
		}
	case yaml.SequenceNode:
		c.Content = nil
		for _, e := range n.Content {
			c.Content = append(c.Content, s.apply(e, depth+1))
		}
	case yaml.ScalarNode:
		if n.Tag != "!!str" || !strings.Contains(n.Value, "{") {
			break
		}
		if m := placeholder.FindStringSubmatch(n.Value); m != nil && m[0] == n.Value {
			if v, ok := s.values[m[1]]; ok && v.Kind == yaml.SequenceNode {
				list := *v
				list.Line, list.Column, list.Anchor = n.Line, n.Column, ""
				s.inserted[&list] = false
				return &list
			}
		}
		c.Value = placeholder.ReplaceAllStringFunc(n.Value, func(m string) string {
			if v, ok := s.values[m[1:len(m)-1]]; ok {
				return PythonText(v)
			}
			return m
		})
		if c.Value != n.Value {
			c.Style = yaml.DoubleQuotedStyle
			s.inserted[&c] = s.isNumber(n.Value)
		}
	}
	return &c
}

// isNumber reports whether a text is the placeholder of a scalar other than a string.
func (s substitution) isNumber(text string) bool {
	m := placeholder.FindStringSubmatch(text)
	if m == nil || m[0] != text || s.values[m[1]].Kind != yaml.ScalarNode {
		return false
	}
	_, isString := pythonString(s.values[m[1]])
	return !isString
}

// SweptText returns the leaves of engine configurations in which a sweep writes a value other than a
// string as text.
func (r *Recipe) SweptText() []Leaf {
	if len(r.doc.swept) == 0 {
		return nil
	}
	configs := "backend." + schema.TRTLLM + "_config." // of all engines: see [Recipe.Leaves]
	var out []Leaf
	for _, l := range r.Leaves() {
		if r.doc.swept[l.node] && strings.HasPrefix(l.Canonical, configs) {
			out = append(out, l)
		}
	}
	return out
}

// KeepSweeps removes the suggested changes of values that come from a sweep: a change would replace
// the placeholder.
func (r *Recipe) KeepSweeps(found Diagnostics) {
	at := map[[2]int]bool{}
	for n := range r.doc.swept {
		at[[2]int{n.Line, n.Column}] = true
	}
	for i, d := range found {
		if d.File == r.File && at[[2]int{d.Line, d.Column}] {
			found[i].Edit = nil
		}
	}
}
