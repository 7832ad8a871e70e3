package porter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Answer answers a [Todo]: it sets the field's value or accepts the written one. A value may also
// set a field that no question is about. An answer with neither removes a stored answer.
type Answer struct {
	ID       string `json:"id"`                 // of the question
	Value    string `json:"value,omitempty"`    // YAML text
	Accepted bool   `json:"accepted,omitempty"` // the written value is accepted; Value is empty
}

// LoadAnswers reads a YAML or JSON mapping of question IDs to answers. An answer is a value,
// {value: …} or {accepted: true}; {accepted: false} removes a stored answer. A value that is a
// mapping must be given as {value: …}. The file may be a pipe.
func LoadAnswers(ctx context.Context, path string) ([]Answer, error) {
	data, err := smallfile.ReadStream(ctx, path, maxAnswers)
	if err != nil {
		return nil, fmt.Errorf("load answers: %w", err)
	}
	return parseAnswers(path, data)
}

// maxAnswers bounds a file of answers, in MiB.
const maxAnswers = 4

func parseAnswers(path string, data []byte) ([]Answer, error) {
	top, err := yamldoc.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("load answers: %s: %w", path, err)
	}
	var out []Answer
	for i := 0; i+1 < len(top.Content); i += 2 {
		id, value := top.Content[i], top.Content[i+1]
		a, err := parseAnswer(id.Value, value)
		if err != nil {
			return nil, fmt.Errorf("load answers: %s:%d: %s: %w", path, value.Line, safetext.Clip(id.Value, 80), err)
		}
		out = append(out, a)
	}
	return out, nil
}

func parseAnswer(id string, n *yaml.Node) (Answer, error) {
	a := Answer{ID: id}
	if n.Kind != yaml.MappingNode {
		a.Value = yamldoc.Text(n)
		return a, nil
	}
	if len(n.Content) == 2 {
		switch key, v := n.Content[0].Value, n.Content[1]; {
		case key == "value":
			a.Value = yamldoc.Text(v)
			return a, nil
		case key == "accepted" && v.Tag == "!!bool":
			a.Accepted = strings.EqualFold(v.Value, "true")
			return a, nil
		}
	}
	return a, problem.New(problem.AnswerInvalid, "must be a value, {value: …} or {accepted: true}")
}

// storedAnswers returns the answers stored with an earlier port of the same recipe, if there is one.
func storedAnswers(recipe string) ([]Answer, error) {
	if recipe == "" {
		return nil, nil
	}
	answers, err := loadAnswers(ProvenancePath(recipe))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // the write reports a missing directory
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w; repair the file, or move it away (its answers are then lost)", err)
	}
	return answers, nil
}

// questionID returns the ID of a question. A # in a path or topic is escaped as %23.
func questionID(f File, path, topic string) string {
	id := "run"
	if path != "" {
		id = string(f) + ":" + strings.ReplaceAll(path, "#", "%23")
	}
	if topic != "" {
		id += "#" + strings.ReplaceAll(topic, "#", "%23")
	}
	return id
}

// ID returns the ID of the question about the field's value.
func (f Field) ID() string { return questionID(f.File, f.Path, "") }

// questionField returns the file and path in an ID. path is empty if the question is not about a
// field.
func questionField(id string) (f File, path string) {
	id, _, _ = strings.Cut(id, "#")
	file, path, _ := strings.Cut(id, ":")
	return File(file), strings.ReplaceAll(path, "%23", "#")
}

// answers holds the answers of a port.
type answers struct {
	byID   map[string]Answer       // by ID of the question
	values map[string]*fieldAnswer // those that set a value, by file:path
}

type fieldAnswer struct {
	Answer
	node *yaml.Node
	used bool
}

func fieldKey(f File, path string) string { return string(f) + ":" + path }

// use returns the answer that sets a field's value and marks it as used.
func (as *answers) use(f File, path string) (*fieldAnswer, bool) {
	a, ok := as.values[fieldKey(f, path)]
	if ok {
		a.used = true
	}
	return a, ok
}

// newAnswers merges the stored answers with the given ones and checks their values.
func newAnswers(opt Options) (answers, error) {
	as := answers{byID: map[string]Answer{}, values: map[string]*fieldAnswer{}}
	stored, err := storedAnswers(opt.RecipeOut)
	if err != nil {
		return as, err
	}
	table := newLayout(opt.Schema).table
	for _, a := range append(stored, opt.Answers...) {
		f, path := questionField(a.ID)
		key := fieldKey(f, path)
		old := as.values[key]
		if old != nil && old.ID == a.ID {
			delete(as.values, key)
		}
		as.byID[a.ID] = a
		if a.Value == "" && !a.Accepted {
			delete(as.byID, a.ID)
		}
		if a.Value == "" || path == "" {
			continue
		}
		if old != nil && old.ID != a.ID {
			delete(as.byID, old.ID)
		}
		node, err := answerNode(table, f, path, a.Value)
		if err != nil {
			return as, problem.Errorf(problem.AnswerInvalid, "answer %s: %w", safetext.Clip(a.ID, 200), err)
		}
		as.values[key] = &fieldAnswer{Answer: a, node: node}
	}
	return as, nil
}

func (as *answers) sorted() []Answer {
	return slices.SortedFunc(maps.Values(as.byID), func(x, y Answer) int { return cmp.Compare(x.ID, y.ID) })
}

// answerNode parses the value of an answer for its field.
func answerNode(table *schema.Table, f File, path, text string) (*yaml.Node, error) {
	if yamldoc.Join("", splitKeys(path)) != path {
		return nil, problem.New(problem.AnswerInvalid, "no such field; copy the ID from the report")
	}
	row, rest, known := findField(table, path)
	switch {
	case f == Workload:
		row, known = schema.Workload().Field(path)
	case f != Recipe || !known:
		return nil, problem.New(problem.AnswerInvalid, "no such field; copy the ID from the report")
	}
	node, err := yamldoc.ParseValue(text)
	wantsText := known && (row.Kind == schema.Str || row.Kind == schema.StrMap && rest != "")
	if wantsText && (err != nil || node.Kind != yaml.ScalarNode) && strings.TrimLeft(text, "{[") == text {
		return quoted(text), nil // text that is not YAML is taken literally
	}
	if err != nil || !known {
		return node, err
	}
	return fitValue(node, row, rest == "")
}

// Preview returns the value of an answer as the YAML text that would be written, on one line. The
// error tells why the value is invalid. It reads no file.
func (r *Result) Preview(id, value string) (string, error) {
	f, path := questionField(id)
	node, err := answerNode(newLayout(r.Schema).table, f, path, value)
	if err != nil {
		return "", err
	}
	return yamldoc.Text(node), nil
}

// findField returns the schema's field at or above a path. rest is the part of the path below it.
func findField(t *schema.Table, path string) (row schema.Field, rest string, ok bool) {
	for head := path; head != ""; head = parentPath(head) {
		if row, ok = t.Field(head); ok {
			return row, strings.TrimPrefix(path[len(head):], "."), true
		}
	}
	return row, "", false
}

// parentPath returns a path without its last key.
func parentPath(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }

// fitValue converts a value to the type of its field, or returns an error. Scalars of text fields
// become text. whole is false for a key below the field.
func fitValue(n *yaml.Node, row schema.Field, whole bool) (*yaml.Node, error) {
	kind := row.Kind
	switch {
	case !whole && kind == schema.StrMap && n.Kind == yaml.ScalarNode:
		return quoted(n.Value), nil // like all values of an environment
	case !whole && kind == schema.StrMap:
		kind = schema.Str
	case !whole:
		return n, nil
	case row.Nullable && n.Tag == "!!null":
		return null(), nil
	}
	n = asStrings(n, kind)
	if _, ok := check.ParseTimeLimit(n.Value); row.Name() == timeLimitField && !ok {
		return nil, problem.Errorf(problem.AnswerInvalid, "invalid value %s; must be a Slurm time, HH:MM:SS or D-HH:MM:SS",
			safetext.Clip(yamldoc.Text(n), 60))
	}
	known := len(row.Enum) == 0 || slices.Contains(row.Enum, n.Value)
	levels := row.Name() == "benchmark.concurrency" && n.Kind == yaml.SequenceNode
	if fitsKind(n, kind, len(row.Enum) > 0 && known) && (known || kind != schema.Str) || levels {
		return n, nil
	}
	want := "of type " + string(kind)
	if len(row.Enum) > 0 {
		want = "one of " + strings.Join(row.Enum, ", ")
	}
	return nil, problem.Errorf(problem.AnswerInvalid, "invalid value %s; must be %s",
		safetext.Clip(yamldoc.Text(n), 60), want)
}

// asStrings converts scalars to text if the field holds text.
func asStrings(n *yaml.Node, kind schema.Kind) *yaml.Node {
	switch {
	case kind == schema.Str && n.Kind == yaml.ScalarNode && (n.Tag != "!!str" || yamldoc.YAML11Type(n) != ""):
		return quoted(n.Value) // 12:00:00 is a number in YAML 1.1
	case kind == schema.StrMap && n.Kind == yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			if n.Content[i].Kind == yaml.ScalarNode {
				n.Content[i] = quoted(n.Content[i].Value)
			}
		}
	}
	return n
}

// fitsKind reports whether a value has the type of a field. isEnum tells that it is one of the
// field's enumerated values.
func fitsKind(n *yaml.Node, kind schema.Kind, isEnum bool) bool {
	switch kind {
	case schema.Str:
		return n.Kind == yaml.ScalarNode
	case schema.Int:
		return n.Tag == "!!int"
	case schema.NodeCount:
		return n.Tag == "!!int" || n.Value == "colocate"
	case schema.Float:
		return n.Tag == "!!int" || n.Tag == "!!float"
	case schema.Bool, schema.BoolOrStr:
		return n.Tag == "!!bool" || isEnum
	case schema.StrList, schema.IntList, schema.Levels:
		return n.Kind == yaml.SequenceNode
	case schema.FreeMap:
		return n.Kind == yaml.MappingNode
	case schema.StrMap:
		for i := 1; i < len(n.Content); i += 2 {
			if n.Content[i].Tag != "!!str" {
				return false
			}
		}
		return n.Kind == yaml.MappingNode
	}
	return true
}

func answerEvidence(a Answer) Evidence {
	raw := a.Value
	if a.Accepted {
		raw = "accepted"
	}
	return Evidence{Artifact: "answer", Key: a.ID, Raw: safetext.Clip(raw, harness.MaxRaw)}
}

// withAnswer returns the field with the value of an answer. A mapping gives one field per leaf.
func (f Field) withAnswer(a *fieldAnswer) []Field {
	f.Class, f.Rule, f.Why, f.Evidence = Copied, "", "", append([]Evidence{answerEvidence(a.Answer)}, f.Evidence...)
	if f.base == "benchmark.concurrency" && a.node.Kind == yaml.SequenceNode {
		f.base = "benchmark.concurrencies"
	}
	if a.node.Kind != yaml.MappingNode || len(a.node.Content) == 0 {
		f.node = a.node
		f.Path = yamldoc.Join(f.base, f.sub)
		return []Field{f}
	}
	leaves := yamldoc.Leaves(f.sub, a.node)
	out := make([]Field, 0, len(leaves))
	for _, leaf := range leaves {
		part := f
		part.sub, part.node = leaf.Keys, leaf.Node
		part.Path = yamldoc.Join(part.base, part.sub)
		out = append(out, part)
	}
	return out
}

// splitKeys is the inverse of [yamldoc.Join]. It returns nil for an invalid path or one with an
// index.
func splitKeys(path string) []*yaml.Node {
	elements, err := recipes.SplitPath(path)
	if err != nil {
		return nil
	}
	out := make([]*yaml.Node, len(elements))
	for i, e := range elements {
		if e.Index >= 0 {
			return nil
		}
		out[i] = plain(e.Key)
	}
	return out
}

// accept marks a field whose value was accepted by a person. Its class becomes copied, unless
// it is translated.
func (f *Field) accept(a Answer) {
	switch f.Class {
	case Copied, Translated:
	default:
		f.Class, f.Rule, f.Why = Copied, "", ""
	}
	f.Evidence = append(f.Evidence, answerEvidence(a))
}
