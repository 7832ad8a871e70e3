package porter

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// flagUse is one srun flag and its values, each with the launches that have it.
type flagUse struct {
	name   string
	values []flagValue
}

type flagValue struct {
	option harness.Option
	rule   rules.Flag
	steps  []string
	at     []Evidence
}

// askFlags asks about srun flags without a rule and about values that the new job does not use, once
// per flag. They are not carried over, since srun_options of a recipe apply to all steps.
func (p *porting) askFlags() {
	var uses []flagUse
	for _, l := range p.allLaunches() {
		for _, f := range l.Flags {
			rule := rules.FlagOf(f.Name)
			sized := l.Role != "" && (f.Name == "--nodes" || f.Name == "--ntasks") // reported by topology
			if rule.Covers(f.Value) || sized {
				continue
			}
			i := slices.IndexFunc(uses, func(u flagUse) bool { return u.name == f.Name })
			if i < 0 {
				i, uses = len(uses), append(uses, flagUse{name: f.Name})
			}
			uses[i].add(flagValue{f, rule, []string{l.Name()}, evidence(l.OptionAt(f))})
		}
	}
	for _, u := range uses {
		t := Todo{Kind: Confirm, File: Recipe, Path: rules.SrunOptions, Message: u.text()}
		for _, v := range u.values {
			t.Steps, t.Evidence = append(t.Steps, v.steps...), append(t.Evidence, v.at...)
		}
		t.Evidence = t.Evidence[:min(len(t.Evidence), maxEvidence)]
		p.addTodo(u.name, t)
	}
	p.askExport()
}

// allLaunches returns the launches of the servers and that of the client.
func (p *porting) allLaunches() []*harness.Launch {
	all := p.run.Launches.All()
	if l := p.run.Client.Launch; l != nil && len(p.run.Client.Runs) > 0 {
		all = append(all, l)
	}
	return all
}

func (u *flagUse) add(v flagValue) {
	for i := range u.values {
		if old := &u.values[i]; old.option.Value == v.option.Value {
			old.steps, old.at = append(old.steps, v.steps...), append(old.at, v.at...)
			return
		}
	}
	u.values = append(u.values, v)
}

// text returns the question about a flag.
func (u *flagUse) text() string {
	var parts []string
	for _, v := range u.values {
		shown := harness.Option{Name: v.option.Name, Value: secret.Redact(v.option.Name, v.option.Value)}
		text := safetext.Clip(shown.String(), 80)
		if len(u.values) > 1 {
			text += " (" + joinSteps(v.steps) + ")"
		}
		parts = append(parts, text)
	}
	subject, verb := strings.Join(parts, ", "), "is"
	if len(parts) > 1 {
		verb = "are"
	}
	switch rule := u.values[0].rule; rule.Action {
	case "":
	case rules.Managed:
		return fmt.Sprintf("%s %s not carried over; %s: confirm that this is right", subject, verb, rule.Why)
	default:
		want := harness.Option{Name: u.name, Value: rule.Expected}
		return fmt.Sprintf("%s %s not carried over, because the new job uses %s: confirm that this is right",
			subject, verb, want)
	}
	return fmt.Sprintf("%s %s not carried over: add it to srun_options if all steps need it", subject, verb)
}

// askExport asks about launches whose --export list kept the environment of the submitting shell away.
func (p *porting) askExport() {
	for _, l := range p.allLaunches() {
		i := slices.IndexFunc(l.Flags, func(f harness.Option) bool { return f.Name == "--export" })
		if i < 0 || l.ExportsAll() {
			continue
		}
		f := l.Flags[i]
		p.askOnce("--export", "--export", Todo{
			Kind: Confirm, File: Recipe, Path: rules.SrunOptions, Steps: []string{l.Name()},
			Evidence: evidence(l.OptionAt(f)),
			Message: "--export without ALL kept the environment of the submitting shell from the old processes, " +
				"but the new steps get all of it: submit from a shell without variables that change the servers",
		})
	}
}

// joinSteps joins the names of launches, such as CTX 0-4, GEN 0.
func joinSteps(names []string) string {
	var parts []string
	kind, first, last := "", 0, 0
	flush := func() {
		switch {
		case kind == "":
		case first == last:
			parts = append(parts, fmt.Sprintf("%s %d", kind, first))
		default:
			parts = append(parts, fmt.Sprintf("%s %d-%d", kind, first, last))
		}
		kind = ""
	}
	for _, name := range names {
		k, digits, _ := strings.Cut(name, " ")
		index, err := strconv.Atoi(digits)
		switch {
		case err != nil:
			flush()
			parts = append(parts, name)
		case k == kind && index == last+1:
			last = index
		default:
			flush()
			kind, first, last = k, index, index
		}
	}
	flush()
	return strings.Join(parts, ", ")
}

// nameTouched adds the fields and the steps that a question is about to its message.
func (p *porting) nameTouched() {
	const most = 40
	for i := range p.res.Todos {
		t := &p.res.Todos[i]
		if n := len(t.Fields); n > 0 {
			paths := make([]string, 0, n)
			for _, path := range t.Fields[:min(n, most)] {
				paths = append(paths, safetext.Clip(p.layout.writtenPath(t.File, path), 100))
			}
			t.Message += "; fields: " + strings.Join(paths, ", ")
			if n > most {
				t.Message += fmt.Sprintf(" and %d more", n-most)
			}
		}
		if len(t.Steps) > 0 {
			t.Message += "; launches: " + safetext.Clip(joinSteps(t.Steps), 200)
		}
	}
}

// writtenPath returns the path of a field in the layout that is written.
func (l recipeLayout) writtenPath(file File, path string) string {
	if file != Recipe {
		return path
	}
	written, _ := l.table.Translate(path, l.version)
	return cmp.Or(written, path)
}
