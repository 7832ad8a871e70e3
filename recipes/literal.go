package recipes

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Literal writes what a person typed for a field as YAML: text of a field that
// holds strings gets quotes where it would else be read as something else, so
// that environment.FOO=1 sets "1". A path behind base. or override_x. is read
// from there.
func Literal(t *schema.Table, path, typed string) string {
	if first, rest, ok := strings.Cut(path, "."); ok && (first == "base" || strings.HasPrefix(first, "override_")) {
		path = rest
	}
	n := t.Lookup(path)
	if n == nil || n.Field == nil {
		return typed
	}
	f := n.Field
	entry := len(path) > len(f.V1) && len(path) > len(f.V2)
	if f.Kind != schema.Str && !(f.Kind == schema.StrMap && entry) || f.Nullable && !entry && typed == "null" {
		return typed
	}
	var doc yaml.Node
	if len(typed) < 1<<16 && !nestsTooDeep([]byte(typed)) && yaml.Unmarshal([]byte(typed), &doc) == nil &&
		len(doc.Content) == 1 {
		if v := doc.Content[0]; v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" {
			if _, other := reads11(v); !other {
				return typed
			}
		}
	}
	return strconv.Quote(typed)
}

// LayoutOf is the layout that a recipe's bytes are in, 1 or 2, as far as it can
// be told; a file of several recipes is asked for its base.
func LayoutOf(data []byte) int {
	doc, _ := Parse("", data)
	root := doc.Root
	if base := lookup(root, "base"); base != nil {
		root = base
	}
	if textAt(root, "schema") == "2" {
		return 2
	}
	return 1
}
