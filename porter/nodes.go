package porter

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
)

// Nodes of generated values. Environment values are always quoted: srt-slurm
// takes strings only, and 1 or none would be something else.

// plain is text without quotes, unless some YAML reader would take it for
// something else.
func plain(s string) *yaml.Node {
	n := scalar("!!str", s)
	if yamldoc.ReadsOtherwise(n) != "" {
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
