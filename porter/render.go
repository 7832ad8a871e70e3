package porter

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// RecipeYAML returns the recipe file, with a short comment at each field whose value
// was not read or that a question is about.
func (r *Result) RecipeYAML() ([]byte, error) {
	if r.recipe != nil {
		return r.recipe, nil
	}
	return r.render(Recipe, "# Ported from "+oneLine(r.Source)+
		". The .provenance.json next to this file tells where each field comes from.\n")
}

// WorkloadYAML returns the client's workload file, with the same kind of comments.
func (r *Result) WorkloadYAML() ([]byte, error) {
	if r.workload != nil {
		return r.workload, nil
	}
	return r.render(Workload, "# Workload of the AgentPerf client, ported from "+oneLine(r.Source)+".\n")
}

func oneLine(s string) string { return safetext.Clip(s, 200) }

func (r *Result) render(file File, head string) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	values := map[string][2]*yaml.Node{} // canonical path to key and value
	var base []*yaml.Node
	written := ""
	for _, f := range r.Fields {
		if f.File != file {
			continue
		}
		if f.written != written { // many fields share a base
			base, written = splitKeys(f.written), f.written
		}
		insert(root, f, append(base[:len(base):len(base)], f.sub...), values)
	}
	asked := map[string]bool{}
	for _, t := range r.Todos {
		for _, path := range t.touched() {
			asked[path] = asked[path] || t.File == file && t.Kind != Note
		}
	}
	for _, f := range r.Fields {
		if f.File == file {
			addComment(values[f.Path], f.comment(asked[f.Path]))
		}
	}
	for _, t := range r.Todos {
		for _, path := range t.touched() {
			if t.File == file && t.Kind != Note {
				addComment(values[path], t.comment())
			}
		}
	}
	var out bytes.Buffer
	out.Grow(64 * (len(r.Fields) + 1))
	out.WriteString(head)
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := enc.Encode(root)
	if err == nil {
		err = enc.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("write the %s as YAML: %w", file, err)
	}
	return out.Bytes(), nil
}

// recipeLayout is a recipe layout with its table of fields.
type recipeLayout struct {
	version int
	table   *schema.Table
}

func newLayout(version int) recipeLayout { return recipeLayout{version, schema.Recipe(version)} }

// insert adds a field's value to the tree and records its key and value nodes, and those of its
// base, by canonical path.
func insert(root *yaml.Node, f Field, keys []*yaml.Node, values map[string][2]*yaml.Node) {
	m := root
	for i, k := range keys {
		last := i == len(keys)-1
		key, value := findKey(m, k)
		if value == nil {
			key = &yaml.Node{Kind: yaml.ScalarNode, Tag: k.Tag, Value: k.Value, Style: k.Style}
			value = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			if last {
				value = copyValue(f.node)
			}
			m.Content = append(m.Content, key, value)
		}
		if below := len(keys) - 1 - i; below == len(f.sub) && f.base != "" {
			if _, have := values[f.base]; !have {
				values[f.base] = [2]*yaml.Node{key, value}
			}
		}
		m = value
		if last {
			values[f.Path] = [2]*yaml.Node{key, value}
		}
	}
}

func findKey(m, key *yaml.Node) (k, v *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key.Value && m.Content[i].Tag == key.Tag {
			return m.Content[i], m.Content[i+1]
		}
	}
	return nil, nil
}

// copyValue copies a value without positions and comments.
func copyValue(n *yaml.Node) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style}
	for _, k := range n.Content {
		c.Content = append(c.Content, copyValue(k))
	}
	return c
}

// comment returns the comment of a field: how its value was obtained, if it was not read. The reason is
// left out if a question about the field gives it.
func (f Field) comment(asked bool) string {
	why := cmp.Or(f.Why, f.Rule)
	if f.Class == Inferred {
		why = cmp.Or(f.Rule, f.Why)
	}
	switch {
	case f.Class == Copied || f.Class == Translated || f.Class == Missing && asked:
		return ""
	case f.Class == Missing:
		return "placeholder: " + safetext.Clip(f.Rule, 110)
	case asked || why == "" || why == "fallback":
		return string(f.Class)
	}
	return string(f.Class) + ": " + safetext.Clip(why, 110)
}

// comment returns the comment of a field that a question is about.
func (t Todo) comment() string {
	text := "TODO: "
	if t.Kind == MustFix {
		text = "TODO must-fix: "
	}
	return text + safetext.Clip(t.Message, 110)
}

// addComment adds a text to the comment of a value.
func addComment(at [2]*yaml.Node, text string) {
	key, value := at[0], at[1]
	if key == nil || text == "" {
		return
	}
	where := &value.LineComment
	if value.Kind != yaml.ScalarNode || strings.Contains(value.Value, "\n") {
		where = &key.HeadComment
	}
	if *where == "" {
		*where = "# " + text
	} else if where == &key.HeadComment {
		*where += "\n# " + text
	} else {
		*where += "; " + text
	}
}

// plain returns text without quotes, or with quotes if a YAML reader might not read it as text.
func plain(s string) *yaml.Node {
	n := scalar("!!str", s)
	if yamldoc.YAML11Type(n) != "" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func scalar(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

// quoted returns text in quotes, as for all values of an environment: srt-slurm accepts only
// strings.
func quoted(s string) *yaml.Node {
	n := scalar("!!str", s)
	n.Style = yaml.DoubleQuotedStyle
	return n
}

func number(text string) *yaml.Node {
	if strings.ContainsAny(text, ".eE") {
		return scalar("!!float", text)
	}
	return scalar("!!int", text)
}

func integer(n int) *yaml.Node { return number(strconv.Itoa(n)) }

func boolean(b bool) *yaml.Node { return scalar("!!bool", strconv.FormatBool(b)) }

func null() *yaml.Node { return scalar("!!null", "null") }

func flowList(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Content: items}
}

func quotedList(items []string) *yaml.Node {
	list := flowList()
	for _, s := range items {
		list.Content = append(list.Content, quoted(s))
	}
	return list
}

func emptyMap() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle}
}
