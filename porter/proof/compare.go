package proof

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Reasons tells why a port changed a value. Paths are those of recipe fields in layout 1.
type Reasons interface {
	// Answer names the answer that set a field or one above it; empty if there is none.
	Answer(path string) string
	// Question names a question about a field, or about the run if path is empty; empty if it was not
	// asked.
	Question(path, topic string) string
	// Fixed reports whether the port writes a field. why is the reason for a value that does not depend
	// on the run; it is empty for other values.
	Fixed(path string) (why string, written bool)
}

// Compare compares the launches of a run with the plan of its recipe.
func Compare(run *harness.Run, pl *plan.Plan, rewrites rules.Rewrites, why Reasons) Proof {
	p := &comparer{run: run, plan: pl, rewrites: rewrites, Reasons: why, configs: map[schema.Role]Line{}}
	position := map[schema.Role]int{}
	for _, l := range run.Launches.All() {
		step := l.Service
		switch {
		case l.Service == "frontend":
			step = "frontend_0"
		case l.Role != "":
			step = fmt.Sprintf("%s_%d", l.Role, position[l.Role])
			position[l.Role]++
		}
		p.compareLaunch(l, step)
	}
	return Proof{Lines: p.lines}
}

// comparer compares old launch lines with the plan's steps.
type comparer struct {
	Reasons
	run      *harness.Run
	plan     *plan.Plan
	rewrites rules.Rewrites
	configs  map[schema.Role]Line // comparison of engine configs, one per role
	lines    []Line
	current  Line // the launch that is being compared
}

// compareLaunch compares one launch. If the result equals that of an earlier launch of its role,
// the two share a line.
func (p *comparer) compareLaunch(l *harness.Launch, name string) {
	p.current = Line{Launches: []string{l.Name()}, Lines: []int{l.Line}, Step: name, Differences: []Row{}}
	var step *plan.Step
	for i := range p.plan.Steps {
		if p.plan.Steps[i].Name == name {
			step = &p.plan.Steps[i]
		}
	}
	if step == nil {
		p.addDifference(dropped, "flag", "the whole launch", "", "", p.explainSize(l))
	} else {
		p.compareEnvironment(l, step)
		p.compareFlags(l, step)
		p.compareMounts(l)
		switch {
		case l.Service == "frontend":
			p.compareArguments(l, step)
		case l.Role != "":
			p.compareModel(l)
			p.addConfig(l.Role)
		}
	}
	for i := range p.lines {
		if old := &p.lines[i]; l.Role != "" && old.matches(p.current, harness.RoleName(l.Role)) {
			old.Launches, old.Lines = append(old.Launches, l.Name()), append(old.Lines, l.Line)
			return
		}
	}
	p.lines = append(p.lines, p.current)
}

// matches reports whether two workers of a role have the same result.
func (l *Line) matches(other Line, role string) bool {
	return strings.HasPrefix(l.Launches[0], role) && l.Unchanged == other.Unchanged &&
		reflect.DeepEqual(l.Differences, other.Differences)
}

func (p *comparer) addDifference(kind, what, name, old, new, rule string) {
	p.current.Differences = append(p.current.Differences, Row{
		Kind: kind, What: what, Name: name, Rule: rule,
		Old: safetext.Clip(old, harness.MaxRaw), New: safetext.Clip(new, harness.MaxRaw),
	})
}

// compareValue compares a value that should be unchanged or rewritten. rule explains any other
// difference.
func (p *comparer) compareValue(what, name, old, new, rule string) {
	switch rewritten, rewrite := p.rewrites.Apply(old); {
	case old == new:
		p.current.Unchanged++
	case rewritten == new:
		p.addDifference(changed, what, name, old, new, rewrite+": "+rules.WhyRewrite)
	default:
		p.addDifference(changed, what, name, old, new, rule)
	}
}

// explainSize explains a different size of a worker, or a missing worker.
func (p *comparer) explainSize(l *harness.Launch) string {
	for _, path := range []string{l.Role.WorkersPath(), l.Role.NodesPath(), "resources.gpus_per_node", l.Role.GPUsPath()} {
		rule := p.Answer(path)
		for _, topic := range []string{l.Name() + " size", l.Name() + " launch", "shared", "count"} {
			rule = cmp.Or(rule, p.Question(path, topic))
		}
		if rule != "" {
			return rule
		}
	}
	return p.Question("resources", "layout")
}

// explainField explains a different value of a field that launch lines show.
func (p *comparer) explainField(path, topic string) string {
	return cmp.Or(p.Answer(path), p.Question(path, topic), p.Question(path, ""))
}

// compareModel compares the old model of a worker with the one that is mounted.
func (p *comparer) compareModel(l *harness.Launch) {
	const field = "model.path"
	for _, m := range p.plan.Mounts {
		if m.Source == field && l.Model != "" {
			p.compareValue("flag", "model", l.Model, m.Host, p.explainField(field, "launched"))
		}
	}
}

// addConfig adds the comparison of a role's engine config.
func (p *comparer) addConfig(r schema.Role) {
	launch := p.current
	comparison, ok := p.configs[r]
	if !ok {
		p.current = Line{}
		p.compareConfig(r)
		comparison = p.current
		p.configs[r] = comparison
	}
	p.current = launch
	p.current.Unchanged += comparison.Unchanged
	p.current.Differences = append(p.current.Differences, comparison.Differences...)
}

// compareConfig compares the old engine config of a role with the file that the new job writes.
func (p *comparer) compareConfig(r schema.Role) {
	old := p.run.Engines[r]
	if old == nil {
		return
	}
	var text string
	for _, f := range p.plan.Files {
		if f.Role == r {
			text = f.Content
		}
	}
	planned := map[string]*yaml.Node{}
	if d, err := yamldoc.Read(strings.NewReader(text)); err == nil {
		for _, leaf := range d.Leaves {
			planned[leaf.Path()] = leaf.Node
		}
	}
	answer := func(path string) string { return p.Answer(r.ConfigPath(schema.TRTLLM) + "." + path) }
	for _, leaf := range old.Leaves {
		path := leaf.Path()
		node, found := planned[path]
		delete(planned, path)
		rewritten, rewrite := p.rewrites.Node(leaf.Node)
		switch {
		case !found:
			p.addDifference(dropped, "config", path, yamldoc.Text(leaf.Node), "", answer(path))
		case sameNode(leaf.Node, node):
			p.current.Unchanged++
		case sameNode(rewritten, node):
			p.addDifference(changed, "config", path, yamldoc.Text(leaf.Node), yamldoc.Text(node), rewrite+": "+rules.WhyRewrite)
		default:
			p.addDifference(changed, "config", path, yamldoc.Text(leaf.Node), yamldoc.Text(node), answer(path))
		}
	}
	for _, path := range sortedNames(planned) {
		p.addDifference(added, "config", path, "", yamldoc.Text(planned[path]), answer(path))
	}
}

// sameNode reports whether two values are equal, regardless of style.
func sameNode(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
