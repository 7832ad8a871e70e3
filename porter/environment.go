package porter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// envVar is a variable that a launch line gave, with its place.
type envVar struct {
	name, value string
	at          Evidence
	spaced      bool
	slurm       string // see exportEntry
	commas      bool
}

// environment is what a launch line sets: its --export list, over which the list
// among a worker's arguments wins.
func (l *launch) environment() []envVar {
	if l.vars != nil {
		return l.vars
	}
	out := make([]envVar, 0, len(l.export)+len(l.env))
	at := map[string]int{}
	set := func(v envVar) {
		if i, again := at[v.name]; again {
			out[i] = v
			return
		}
		at[v.name] = len(out)
		out = append(out, v)
	}
	for _, e := range l.export {
		if !e.bare {
			set(envVar{name: e.name, value: e.value, at: l.ev(e.name, e.raw, l.exportAt+e.offset), slurm: e.slurm, commas: e.commas})
		}
	}
	for _, v := range l.env {
		set(envVar{name: v.name, value: v.value, at: l.ev(v.name, v.raw, l.envAt+v.offset), spaced: v.spaced})
	}
	l.vars = out
	return out
}

// lookup finds a variable of a launch line.
func (l *launch) lookup(name string) (envVar, bool) {
	if l == nil {
		return envVar{}, false
	}
	vars := l.environment()
	i := slices.IndexFunc(vars, func(v envVar) bool { return v.name == name })
	if i < 0 {
		return envVar{}, false
	}
	return vars[i], true
}

// environmentFields writes a launch line's variables below base: dropped,
// renamed, rewritten and added to as the tables say.
func (b *builder) environmentFields(base, on string, vars []envVar) {
	where := b.layoutPath(base)
	taken := map[string]string{} // name in the recipe to its name in the launch line
	for _, v := range vars {
		rule, _ := ruleFor(on, v.name)
		if rule.verb == "rename" {
			taken[rule.to] = v.name
		}
	}
	written := map[string]bool{}
	for _, v := range vars {
		rule, ruled := ruleFor(on, v.name)
		f := Field{File: Recipe, base: base, Class: Copied, Evidence: []Evidence{v.at}}
		name := v.name
		switch {
		case ruled && rule.verb == "drop":
			b.res.Dropped = append(b.res.Dropped, Dropped{where, v.name, "drop", rule.why, v.at})
			continue
		case ruled:
			name, f.Class, f.Rule, f.Why = rule.to, Translated, "rename "+rule.name+" → "+rule.to, rule.why
		case taken[v.name] != "":
			b.res.Dropped = append(b.res.Dropped, Dropped{where, v.name, "replaced by " + taken[v.name], "the harness script exported that one over it", v.at})
			continue
		}
		text, moved := b.rewrites.apply(v.value)
		if moved != "" {
			f.Class, f.Rule, f.Why = Translated, join(f.Rule, moved), join(f.Why, whyRewrite)
		}
		f.sub, f.node = keys(name), quoted(text)
		written[name] = true
		b.put(f)
		b.valueTodos(recipes.Join(base, name), text, v)
	}
	for _, r := range envRules {
		if r.verb == "add" && (r.on == on || r.on == onBoth) && !written[r.name] {
			b.put(Field{File: Recipe, base: base, sub: keys(r.name), node: quoted(r.to), Class: Default, Rule: "add " + r.name + "=" + r.to, Why: r.why})
		}
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// layoutPath spells a canonical path in the written layout.
func (b *builder) layoutPath(base string) string {
	if p, ok := b.table.Translate(base, b.opt.Schema); ok {
		return p
	}
	return base
}

// valueTodos asks about what a variable's value holds.
func (b *builder) valueTodos(path, text string, v envVar) {
	if v.commas {
		b.ask(Note, Recipe, path, "commas", fmt.Sprintf("srun splits --export at every comma, so the old job really got %q; what was meant, %q, is written", v.slurm, v.value), v.at)
	}
	if v.spaced {
		b.ask(Confirm, Recipe, path, "space", "the value holds a space that nothing quotes in the launch line: confirm that it belongs to the value", v.at)
	}
	if recipes.Secret(v.name) && text != "" {
		b.ask(Confirm, Recipe, path, "secret", "looks like a secret, and stands in the recipe and the report now: take it out before you share them", v.at)
	}
	b.pathTodos(path, text, v.at)
	b.askVariable(Recipe, path, text, v.at)
}

// pathTodos asks about an absolute path that is left in an engine config or an
// environment, and about an old prefix where no rewrite reaches.
func (b *builder) pathTodos(path, text string, at Evidence) {
	if strings.HasPrefix(text, "/") {
		b.ask(Confirm, Recipe, path, "readable", "confirm that the compute containers can read this path; copy it if it belongs to another user", at)
	}
	if old := b.rewrites.inside(text); old != "" {
		b.ask(Confirm, Recipe, path, "inside", fmt.Sprintf("holds %s inside, where only a prefix is rewritten: correct it by hand if need be", old), at)
	}
}

// compareWorkers reports in what the workers of a role differ from the first
// one, whose environment is written. What is dropped anyway may differ.
func (b *builder) compareWorkers(base string, ws []*launch) {
	first := ws[0].environment()
	want := make(map[string]envVar, len(first))
	for _, v := range first {
		want[v.name] = v
	}
	var report diffReport
	for _, w := range ws[1:] {
		have := map[string]bool{}
		for _, v := range w.environment() {
			have[v.name] = true
			ref, known := want[v.name]
			if known && ref.value == v.value || dropped(v.name) {
				continue
			}
			was := "not set"
			if known {
				was = fmt.Sprintf("%q", clip(ref.value, 60))
			}
			report.add(v.name, w.who(), fmt.Sprintf("%q", clip(v.value, 60)), was, v.at)
		}
		for _, v := range first {
			if !have[v.name] && !dropped(v.name) {
				report.add(v.name, w.who(), "not set", fmt.Sprintf("%q", clip(v.value, 60)), v.at)
			}
		}
	}
	for _, d := range report.rows {
		name := d.name
		if r, ok := ruleFor(onWorker, name); ok && r.verb == "rename" {
			name = r.to
		}
		b.ask(Confirm, Recipe, recipes.Join(base, name), "differs", fmt.Sprintf("%s differs in %s (%s there, %s in %s): a role has one environment, that of %s is written",
			strings.Join(d.workers, ", "), d.name, d.there, d.here, ws[0].who(), ws[0].who()), d.at)
	}
}

func dropped(name string) bool {
	r, ok := ruleFor(onWorker, name)
	return ok && r.verb == "drop"
}

// diffReport gathers differences, so that ten workers that differ in the same
// way make one row.
type diffReport struct{ rows []diffRow }

type diffRow struct {
	name, there, here string
	workers           []string
	at                Evidence
}

func (r *diffReport) add(name, worker, there, here string, at Evidence) {
	for i := range r.rows {
		if d := &r.rows[i]; d.name == name && d.there == there {
			if len(d.workers) < 16 {
				d.workers = append(d.workers, worker)
			}
			return
		}
	}
	if len(r.rows) < maxProblems {
		r.rows = append(r.rows, diffRow{name, there, here, []string{worker}, at})
	}
}
