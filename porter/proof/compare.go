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

// Reasons tells what a port did on purpose. Paths are those of recipe fields in the
// spelling of schema 1.
type Reasons interface {
	// Answer names the answer that set a field, or one above it; empty if none did.
	Answer(path string) string
	// Question names a question that was asked about a field, or with an empty path
	// about the run; empty if it was not.
	Question(path, topic string) string
	// Fixed says whether a field is written, and why its value does not depend on the
	// run; why is empty if it does.
	Fixed(path string) (why string, written bool)
}

// Compare compares the launches of a run with the plan of its recipe.
func Compare(run *harness.Run, pl *plan.Plan, rewrites rules.Rewrites, why Reasons) Proof {
	p := &prover{run: run, plan: pl, rewrites: rewrites, Reasons: why, configs: map[schema.Role]Line{}}
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
		p.launch(l, step)
	}
	return Proof{Lines: p.lines}
}

// prover compares old launch lines with the plan's steps.
type prover struct {
	Reasons
	run      *harness.Run
	plan     *plan.Plan
	rewrites rules.Rewrites
	configs  map[schema.Role]Line // comparison of engine configs, made once per role
	lines    []Line
	line     Line // in the making
}

// launch adds the line of one launch; one that compares like an earlier launch
// of its role joins that one.
func (p *prover) launch(l *harness.Launch, name string) {
	p.line = Line{Launches: []string{l.Name()}, Lines: []int{l.Line}, Step: name, Differences: []Row{}}
	var step *plan.Step
	for i := range p.plan.Steps {
		if p.plan.Steps[i].Name == name {
			step = &p.plan.Steps[i]
		}
	}
	if step == nil {
		p.differ(lost, "flag", "the whole launch", "", "", p.sizeRule(l))
	} else {
		p.environment(l, step)
		p.flags(l, step)
		p.mounts(l)
		switch {
		case l.Service == "frontend":
			p.arguments(l, step)
		case l.Role != "":
			p.model(l)
			p.config(l.Role)
		}
	}
	for i := range p.lines {
		if old := &p.lines[i]; l.Role != "" && old.like(p.line, harness.RoleName(l.Role)) {
			old.Launches, old.Lines = append(old.Launches, l.Name()), append(old.Lines, l.Line)
			return
		}
	}
	p.lines = append(p.lines, p.line)
}

// like says whether the line of a worker compares like another one.
func (l *Line) like(other Line, role string) bool {
	return strings.HasPrefix(l.Launches[0], role) && l.Unchanged == other.Unchanged &&
		reflect.DeepEqual(l.Differences, other.Differences)
}

func (p *prover) differ(kind, what, name, old, new, rule string) {
	p.line.Differences = append(p.line.Differences, Row{
		Kind: kind, What: what, Name: name, Rule: rule,
		Old: safetext.Clip(old, harness.MaxRaw), New: safetext.Clip(new, harness.MaxRaw),
	})
}

// same compares a value that has only been rewritten, if anything. rule explains
// any other difference.
func (p *prover) same(what, name, old, new, rule string) {
	switch moved, how := p.rewrites.Apply(old); {
	case old == new:
		p.line.Unchanged++
	case moved == new:
		p.differ(changed, what, name, old, new, how+": "+rules.WhyRewrite)
	default:
		p.differ(changed, what, name, old, new, rule)
	}
}

// sizeRule explains that a worker has another size, or is gone.
func (p *prover) sizeRule(l *harness.Launch) string {
	for _, path := range []string{l.Role.WorkersPath(), l.Role.NodesPath(), "resources.gpus_per_node", l.Role.GPUsPath()} {
		rule := p.Answer(path)
		for _, topic := range []string{l.Name() + " size", "sizes", "packing", l.Name() + " launch", "shared"} {
			rule = cmp.Or(rule, p.Question(path, topic))
		}
		if rule != "" {
			return rule
		}
	}
	return ""
}

// fieldRule explains another value of a field that launch lines show.
func (p *prover) fieldRule(path, topic string) string {
	return cmp.Or(p.Answer(path), p.Question(path, topic), p.Question(path, ""))
}

// model compares the model that a worker was given with the one that is mounted.
func (p *prover) model(l *harness.Launch) {
	const field = "model.path"
	for _, m := range p.plan.Mounts {
		if m.Source == field && l.Model != "" {
			p.same("flag", "model", l.Model, m.Host, p.fieldRule(field, "launched"))
		}
	}
}

// config adds the comparison of a role's engine config.
func (p *prover) config(r schema.Role) {
	whole := p.line
	known, ok := p.configs[r]
	if !ok {
		p.line = Line{}
		p.compareConfig(r)
		known = p.line
		p.configs[r] = known
	}
	p.line = whole
	p.line.Unchanged += known.Unchanged
	p.line.Differences = append(p.line.Differences, known.Differences...)
}

// compareConfig compares the engine config of a role with the file that the new job writes.
func (p *prover) compareConfig(r schema.Role) {
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
	now := map[string]*yaml.Node{}
	if d, err := yamldoc.Read(strings.NewReader(text)); err == nil {
		for _, leaf := range d.Leaves {
			now[leaf.Path()] = leaf.Node
		}
	}
	answer := func(path string) string { return p.Answer(r.ConfigPath(schema.TRTLLM) + "." + path) }
	for _, leaf := range old.Leaves {
		path := leaf.Path()
		node, there := now[path]
		delete(now, path)
		moved, how := p.rewrites.Node(leaf.Node)
		switch {
		case !there:
			p.differ(lost, "config", path, yamldoc.Text(leaf.Node), "", answer(path))
		case sameNode(leaf.Node, node):
			p.line.Unchanged++
		case sameNode(moved, node):
			p.differ(changed, "config", path, yamldoc.Text(leaf.Node), yamldoc.Text(node), how+": "+rules.WhyRewrite)
		default:
			p.differ(changed, "config", path, yamldoc.Text(leaf.Node), yamldoc.Text(node), answer(path))
		}
	}
	for _, path := range sortedNames(now) {
		p.differ(added, "config", path, "", yamldoc.Text(now[path]), answer(path))
	}
}

// sameNode compares two values, however they are written.
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
