package porter

import (
	"cmp"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// draft collects the fields and the questions of a port.
type draft struct {
	res     *Result
	layout  layout
	answers answers
	asked   map[string]string // IDs of questions to their messages
}

func newDraft(version int, given answers) *draft {
	return &draft{
		res:    &Result{Schema: version, Answers: given.sorted()},
		layout: newLayout(version), answers: given, asked: map[string]string{},
	}
}

// origin says where a field's value is from; see [Field].
type origin struct {
	class     Class
	rule, why string
	evidence  []Evidence
}

func copied(ev ...Evidence) origin { return origin{class: Copied, evidence: ev} }

func translated(rule, why string, ev ...Evidence) origin { return origin{Translated, rule, why, ev} }

func inferred(rule, why string, ev ...Evidence) origin { return origin{Inferred, rule, why, ev} }

// fixed is the origin of what every port writes alike.
func fixed(why string) origin { return origin{class: Default, rule: "fixed", why: why} }

func fallback(why string, ev ...Evidence) origin { return origin{Default, "fallback", why, ev} }

func placeholder(why string, ev ...Evidence) origin { return origin{Missing, "placeholder", why, ev} }

// recipe adds a field of the recipe.
func (d *draft) recipe(base string, node *yaml.Node, o origin) { d.put(Recipe, base, nil, node, o) }

// entry adds an entry of a field of the recipe that is a mapping.
func (d *draft) entry(base, key string, node *yaml.Node, o origin) {
	d.put(Recipe, base, keys(key), node, o)
}

// workload adds a key of the workload.
func (d *draft) workload(key string, node *yaml.Node, o origin) {
	d.put(Workload, "", keys(key), node, o)
}

// put adds a field, with the value of an answer where there is one, unless the
// written layout has no place for it.
func (d *draft) put(file File, base string, sub []*yaml.Node, node *yaml.Node, o origin) {
	f := Field{
		File: file, base: base, sub: sub, node: node, Path: yamldoc.Join(base, sub),
		Class: o.class, Rule: o.rule, Why: o.why, Evidence: o.evidence,
	}
	if a, ok := d.answers.take(f.File, f.Path); ok {
		for _, part := range f.answered(a) {
			d.place(part)
		}
		return
	}
	d.place(f)
}

func (d *draft) place(f Field) {
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

// drop records an input that is left out. from is what it belonged to: a field of the
// recipe, or a few words.
func (d *draft) drop(from, name, rule, why string, ev Evidence) {
	if p, ok := d.layout.table.Translate(from, d.layout.version); ok {
		from = p
	}
	d.res.Dropped = append(d.res.Dropped, Dropped{from, name, rule, why, ev})
}

// ask opens a question. topic tells the questions about one field apart; it is
// empty for the one that asks for the value itself.
func (d *draft) ask(kind TodoKind, file File, path, topic string, ev []Evidence, format string, args ...any) {
	d.todo(topic, Todo{Kind: kind, File: file, Path: path, Message: fmt.Sprintf(format, args...), Evidence: ev})
}

func evidence(ev ...Evidence) []Evidence { return ev }

// todo opens a question; the same one twice counts once.
func (d *draft) todo(topic string, t Todo) {
	t.Message = safetext.Clip(t.Message, 400)
	id := questionID(t.File, t.Path, topic)
	t.ID = id
	for n := 2; ; n++ {
		said, taken := d.asked[t.ID]
		if taken && said == t.Message {
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

// sort brings the fields into the order in which the files are written: that of the
// schema tables, and of the source below a field.
func (d *draft) sort() {
	rank := map[string]int{}
	for i, f := range d.layout.table.Fields() {
		rank[f.Name()] = i
	}
	keyRank := map[string]int{}
	for i, f := range schema.Workload().Fields() {
		keyRank[f.Name()] = i + 1
	}
	order := func(f Field) int {
		if f.File == Recipe {
			return rank[f.base]
		}
		if r := keyRank[f.sub[0].Value]; r > 0 {
			return len(rank) + r
		}
		return len(rank) + len(keyRank) + 1
	}
	slices.SortStableFunc(d.res.Fields, func(x, y Field) int { return cmp.Compare(order(x), order(y)) })
}

// furtherAnswers sets the fields that only an answer gives. Entries of a mapping
// replace those of the same name; others stay.
func (d *draft) furtherAnswers() {
	for _, a := range d.res.Answers {
		file, path := questionField(a.ID)
		v := d.answers.values[fieldKey(file, path)]
		if v == nil || v.used || v.ID != a.ID {
			continue
		}
		v.used = true
		f := Field{File: file}
		if file == Recipe {
			row, rest, _ := fieldOf(d.layout.table, path)
			f.base, f.sub = row.Name(), splitKeys(rest)
		} else {
			f.sub = splitKeys(path)
		}
		for _, part := range f.answered(v) {
			d.res.Fields = slices.DeleteFunc(d.res.Fields, func(old Field) bool {
				return old.File == part.File && old.Path == part.Path
			})
			d.place(part)
		}
	}
}

// settle closes the questions that are answered, of those from the given one on,
// and marks the fields that were accepted as they are.
func (d *draft) settle(from int) {
	at := make(map[string]int, len(d.res.Fields))
	for i, f := range d.res.Fields {
		at[fieldKey(f.File, f.Path)] = i
	}
	open := d.res.Todos[:from]
	for _, t := range d.res.Todos[from:] {
		key := fieldKey(t.File, t.Path)
		v, valued := d.answers.values[key]
		a, given := d.answers.byID[t.ID]
		if i, has := at[key]; given && a.Accepted && has && !valued {
			f := &d.res.Fields[i]
			if f.Class == Missing && t.Kind == MustFix {
				t.Message += "; a placeholder can't be accepted, give a value"
				open = append(open, t)
				continue
			}
			f.accept(a)
		}
		if given || valued && v.used {
			d.res.Answered = append(d.res.Answered, t)
		} else {
			open = append(open, t)
		}
	}
	d.res.Todos = open
}

// noteAnswers tells of answers that had no effect.
func (d *draft) noteAnswers() {
	set := map[string]bool{}
	for _, f := range d.res.Fields {
		for _, ev := range f.Evidence {
			set[ev.Key] = set[ev.Key] || ev.Artifact == "answer"
		}
	}
	for _, a := range d.res.Answers {
		if _, asked := d.asked[a.ID]; !asked && !set[a.ID] {
			d.ask(Note, "", "", "answer "+a.ID, nil,
				"the answer to %s fits no question of this port; it is kept", safetext.Clip(a.ID, 200))
		}
	}
}

// The draft tells the proof what was done on purpose.

// Answer implements [proof.Reasons].
func (d *draft) Answer(path string) string {
	for top := path; top != ""; top = above(top) {
		if a, ok := d.answers.values[fieldKey(Recipe, top)]; ok {
			return "answer " + a.ID
		}
	}
	return ""
}

// Question implements [proof.Reasons].
func (d *draft) Question(path, topic string) string {
	id := questionID(Recipe, path, topic)
	if _, asked := d.asked[id]; asked {
		return "question " + id
	}
	return ""
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
