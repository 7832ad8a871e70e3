package porter

import (
	"cmp"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// draft collects the fields and questions of a port.
type draft struct {
	res     *Result
	layout  recipeLayout
	answers answers
	asked   map[string]string // messages of questions by ID
	groups  map[string]int    // indexes in res.Todos of questions that may get more fields and steps
	joined  map[string]string // IDs of questions that were joined to another one, by its ID
}

func newDraft(version int, given answers) *draft {
	return &draft{
		res:    &Result{Schema: version, Answers: given.sorted()},
		layout: newLayout(version), answers: given, asked: map[string]string{},
		groups: map[string]int{}, joined: map[string]string{},
	}
}

// origin tells where a field's value comes from; see [Field].
type origin struct {
	class     Class
	rule, why string
	evidence  []Evidence
}

func copied(ev ...Evidence) origin { return origin{class: Copied, evidence: ev} }

func translated(rule, why string, ev ...Evidence) origin { return origin{Translated, rule, why, ev} }

func inferred(rule, why string, ev ...Evidence) origin { return origin{Inferred, rule, why, ev} }

// fixed is the origin of a value that is the same in every port.
func fixed(why string) origin { return origin{class: Default, rule: "fixed", why: why} }

func fallback(why string, ev ...Evidence) origin { return origin{Default, "fallback", why, ev} }

func placeholder(why string, ev ...Evidence) origin { return origin{Missing, "placeholder", why, ev} }

// setRecipe sets a field of the recipe.
func (d *draft) setRecipe(base string, node *yaml.Node, o origin) {
	d.setField(Recipe, base, nil, node, o)
}

// setRecipeEntry sets a key of a recipe field that is a mapping.
func (d *draft) setRecipeEntry(base, key string, node *yaml.Node, o origin) {
	d.setField(Recipe, base, keys(key), node, o)
}

// setWorkload sets a key of the workload.
func (d *draft) setWorkload(key string, node *yaml.Node, o origin) {
	d.setField(Workload, "", keys(key), node, o)
}

// setField sets a field. An answer about the field overrides the value.
func (d *draft) setField(file File, base string, sub []*yaml.Node, node *yaml.Node, o origin) {
	f := Field{
		File: file, base: base, sub: sub, node: node, Path: yamldoc.Join(base, sub),
		Class: o.class, Rule: o.rule, Why: o.why, Evidence: o.evidence,
	}
	d.askSecret(f)
	if a, ok := d.answers.use(f.File, f.Path); ok {
		for _, part := range f.withAnswer(a) {
			d.addField(part)
		}
		return
	}
	d.addField(f)
}

// addField adds a field, unless the recipe layout does not have it.
func (d *draft) addField(f Field) {
	f.Value, f.Written = yamldoc.Text(f.node), f.Path
	if f.File == Recipe {
		path, ok := d.layout.table.Translate(f.base, d.layout.version)
		if !ok {
			return
		}
		f.written, f.Written = path, yamldoc.Join(path, f.sub)
	}
	d.res.Fields = append(d.res.Fields, f)
}

func keys(names ...string) []*yaml.Node {
	out := make([]*yaml.Node, len(names))
	for i, n := range names {
		out[i] = plain(n)
	}
	return out
}

// drop records an input that is not carried over. from is a recipe field or a description.
func (d *draft) drop(from, name, rule, why string, ev Evidence) {
	if p, ok := d.layout.table.Translate(from, d.layout.version); ok {
		from = p
	}
	d.res.Dropped = append(d.res.Dropped, Dropped{from, name, rule, why, ev})
}

// ask adds a question. topic distinguishes questions about one field; it is empty for the question
// about its value.
func (d *draft) ask(kind TodoKind, file File, path, topic string, ev []Evidence, format string, args ...any) {
	d.addTodo(topic, Todo{Kind: kind, File: file, Path: path, Message: fmt.Sprintf(format, args...), Evidence: ev})
}

func evidence(ev ...Evidence) []Evidence { return ev }

// askOnce adds a question about one decision, or the field and the steps of t to the question that was
// asked about the same decision before. Both have the same kind and file.
func (d *draft) askOnce(decision, topic string, t Todo) {
	i, asked := d.groups[decision]
	if !asked {
		n := len(d.res.Todos)
		if d.addTodo(topic, t); len(d.res.Todos) > n {
			d.groups[decision] = n
		}
		return
	}
	old := &d.res.Todos[i]
	for _, path := range t.touched() {
		if have := old.touched(); !slices.Contains(have, path) {
			old.Fields = append(have[:len(have):len(have)], path)
		}
	}
	if id := questionID(t.File, t.Path, topic); id != old.ID {
		d.joined[id] = old.ID
	}
	for _, s := range t.Steps {
		if !slices.Contains(old.Steps, s) {
			old.Steps = append(old.Steps, s)
		}
	}
	for _, ev := range t.Evidence {
		if len(old.Evidence) < maxEvidence && !slices.Contains(old.Evidence, ev) {
			old.Evidence = append(old.Evidence, ev)
		}
	}
}

// maxEvidence bounds the places that one question shows.
const maxEvidence = 16

// addTodo adds a question, unless the same question was asked before.
func (d *draft) addTodo(topic string, t Todo) {
	t.Message = safetext.Clip(secret.RedactText(t.Message), 400)
	for i := range t.Details {
		t.Details[i] = secret.RedactText(t.Details[i])
	}
	id := questionID(t.File, t.Path, topic)
	t.ID = id
	for n := 2; ; n++ {
		message, taken := d.asked[t.ID]
		if taken && message == t.Message {
			return
		}
		if !taken {
			break
		}
		t.ID = fmt.Sprintf("%s~%d", id, n)
	}
	d.asked[t.ID] = t.Message
	d.res.Todos = append(d.res.Todos, t)
}

// sortFields sorts the fields in the order of the written files: that of the schema tables. Keys
// below a field keep the order of their source.
func (d *draft) sortFields() {
	table, workload := d.layout.table.Fields(), schema.Workload().Fields()
	rank, keyRank := make(map[string]int, len(table)), make(map[string]int, len(workload))
	for i := range table {
		rank[table[i].Name()] = i
	}
	for i := range workload {
		keyRank[workload[i].Name()] = i + 1
	}
	type place struct{ order, index int }
	places := make([]place, len(d.res.Fields))
	for i := range d.res.Fields {
		f, order := &d.res.Fields[i], len(rank)+len(keyRank)+1
		switch {
		case f.File == Recipe:
			order = rank[f.base]
		case keyRank[f.sub[0].Value] > 0:
			order = len(rank) + keyRank[f.sub[0].Value]
		}
		places[i] = place{order, i}
	}
	slices.SortStableFunc(places, func(x, y place) int { return cmp.Compare(x.order, y.order) })
	sorted := make([]Field, len(places))
	for i, p := range places {
		sorted[i] = d.res.Fields[p.index]
	}
	d.res.Fields = sorted
}

// applyRemainingAnswers sets the fields of answers that are not used yet. The keys of a mapping are
// merged into existing ones.
func (d *draft) applyRemainingAnswers() {
	for _, a := range d.res.Answers {
		file, path := questionField(a.ID)
		v := d.answers.values[fieldKey(file, path)]
		if v == nil || v.used || v.ID != a.ID {
			continue
		}
		v.used = true
		f := Field{File: file}
		if file == Recipe {
			row, rest, _ := findField(d.layout.table, path)
			f.base, f.sub = row.Name(), splitKeys(rest)
		} else {
			f.sub = splitKeys(path)
		}
		for _, part := range f.withAnswer(v) {
			d.res.Fields = slices.DeleteFunc(d.res.Fields, func(old Field) bool {
				return old.File == part.File && old.Path == part.Path
			})
			d.addField(part)
		}
	}
	d.answerGroups()
}

// answerGroups sets all fields of a question that an answer with a value was given to. A field that has an
// answer of its own keeps it.
func (d *draft) answerGroups() {
	for _, t := range d.res.Todos {
		v := d.answers.values[fieldKey(t.File, t.Path)]
		if len(t.Fields) == 0 || v == nil || v.ID != t.ID {
			continue
		}
		for _, path := range t.Fields {
			i := slices.IndexFunc(d.res.Fields, func(f Field) bool { return f.File == t.File && f.Path == path })
			if d.answers.values[fieldKey(t.File, path)] != nil || i < 0 {
				continue
			}
			d.answers.values[fieldKey(t.File, path)] = &fieldAnswer{Answer: v.Answer, node: v.node, used: true}
			f := d.res.Fields[i]
			d.res.Fields = slices.Delete(d.res.Fields, i, i+1)
			for _, part := range f.withAnswer(v) {
				d.addField(part)
			}
		}
	}
}

// touched returns the paths of the fields that a question is about.
func (t Todo) touched() []string {
	if len(t.Fields) > 0 || t.Path == "" {
		return t.Fields
	}
	return []string{t.Path}
}

// closeAnswered closes the answered questions, starting at index from, and marks accepted fields.
func (d *draft) closeAnswered(from int) {
	d.groups = map[string]int{}
	if len(d.answers.byID)+len(d.answers.values) == 0 {
		return
	}
	at := make(map[string]int, len(d.res.Fields))
	for i, f := range d.res.Fields {
		at[fieldKey(f.File, f.Path)] = i
	}
	open := d.res.Todos[:from]
	for _, t := range d.res.Todos[from:] {
		a, given := d.answers.byID[t.ID]
		var accepted []*Field
		values, placeholder := 0, false
		for _, path := range t.touched() {
			v, hasValue := d.answers.values[fieldKey(t.File, path)]
			if hasValue && v.used {
				values++
			}
			if i, hasField := at[fieldKey(t.File, path)]; hasField && !hasValue && a.Accepted {
				f := &d.res.Fields[i]
				accepted, placeholder = append(accepted, f), placeholder || f.Class == Missing && t.Kind == MustFix
			}
		}
		switch {
		case placeholder:
			t.Message += "; a placeholder can't be accepted: give a value"
			open = append(open, t)
			continue
		case given || values > 0 && values == len(t.touched()):
			d.res.Answered = append(d.res.Answered, t)
		default:
			open = append(open, t)
		}
		for _, f := range accepted {
			f.accept(a)
		}
	}
	d.res.Todos = open
}

// noteUnusedAnswers adds a note for each answer that had no effect.
func (d *draft) noteUnusedAnswers() {
	if len(d.res.Answers) == 0 {
		return
	}
	set := map[string]bool{}
	for _, f := range d.res.Fields {
		for _, ev := range f.Evidence {
			set[ev.Key] = set[ev.Key] || ev.Artifact == "answer"
		}
	}
	for _, a := range d.res.Answers {
		if _, asked := d.asked[a.ID]; !asked && d.joined[a.ID] == "" && !set[a.ID] {
			d.ask(Note, "", "", "answer "+a.ID, nil,
				"the answer to %s matches no question of this port; it is kept", safetext.Clip(a.ID, 200))
		}
	}
}

// Answer implements [proof.Reasons].
func (d *draft) Answer(path string) string {
	for top := path; top != "" && len(d.answers.values) > 0; top = parentPath(top) {
		if a, ok := d.answers.values[fieldKey(Recipe, top)]; ok {
			return "answer " + a.ID
		}
	}
	return ""
}

// Question implements [proof.Reasons].
func (d *draft) Question(path, topic string) (name string, open bool) {
	id := questionID(Recipe, path, topic)
	id = cmp.Or(d.joined[id], id)
	if _, asked := d.asked[id]; !asked {
		return "", false
	}
	if _, answered := d.answers.byID[id]; answered {
		return "answer to question " + id, false
	}
	return "question " + id, true
}

// Fixed implements [proof.Reasons].
func (d *draft) Fixed(path string) (why string, written bool) {
	i := slices.IndexFunc(d.res.Fields, func(f Field) bool { return f.File == Recipe && f.Path == path })
	if i < 0 {
		return "", false
	}
	if f := d.res.Fields[i]; f.Class == Default {
		why = f.Rule + ": " + f.Why
	}
	return why, true
}
