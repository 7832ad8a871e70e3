package porter

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// RecipeYAML is the recipe as a file, with a short comment at each open question.
func (r *Result) RecipeYAML() ([]byte, error) {
	if r.recipe != nil {
		return r.recipe, nil
	}
	return r.render(Recipe, "# Ported from "+oneLine(r.Source)+
		". Where each field comes from: see the .provenance.json beside this file.\n")
}

// WorkloadYAML is the client's workload file, commented likewise.
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
		if f.written != written { // many fields lie below one
			base, written = splitKeys(f.written), f.written
		}
		insert(root, f, append(base[:len(base):len(base)], f.sub...), values)
	}
	for _, t := range r.Todos {
		if t.File == file && t.Kind != Note {
			comment(values[t.Path], t)
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

// layout spells paths in one recipe layout.
type layout struct {
	version int
	table   *schema.Table
}

func newLayout(version int) layout { return layout{version, schema.Recipe(version)} }

// insert puts a field's value into the tree, and records the nodes on its way by
// their canonical paths.
func insert(root *yaml.Node, f Field, keys []*yaml.Node, values map[string][2]*yaml.Node) {
	m := root
	for i, k := range keys {
		last := i == len(keys)-1
		key, value := child(m, k)
		if value == nil {
			key = &yaml.Node{Kind: yaml.ScalarNode, Tag: k.Tag, Value: k.Value, Style: k.Style}
			value = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			if last {
				value = bare(f.node)
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

func child(m, key *yaml.Node) (k, v *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key.Value && m.Content[i].Tag == key.Tag {
			return m.Content[i], m.Content[i+1]
		}
	}
	return nil, nil
}

// bare copies a value without the positions and comments of its source.
func bare(n *yaml.Node) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style}
	for _, k := range n.Content {
		c.Content = append(c.Content, bare(k))
	}
	return c
}

// comment puts a short remark at a value, several behind one another.
func comment(at [2]*yaml.Node, t Todo) {
	key, value := at[0], at[1]
	if key == nil {
		return
	}
	text := "TODO: " + safetext.Clip(t.Message, 110)
	if t.Kind == MustFix {
		text = "TODO must-fix: " + safetext.Clip(t.Message, 110)
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

// Nodes of generated values. Environment values are always quoted: srt-slurm
// takes strings only, and 1 or none would be something else.

// plain is text without quotes, unless some YAML reader would take it for something else.
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
