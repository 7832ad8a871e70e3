package proof

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// Reasons tells why a port changed a value. Paths are those of recipe fields in layout 1.
type Reasons interface {
	// Answer names the answer that set a field or one above it; empty if there is none.
	Answer(path string) string
	// Question names a question about a field, or about the run if path is empty; empty if it was not
	// asked. open is false if it was answered.
	Question(path, topic string) (name string, open bool)
	// Fixed reports whether the port writes a field. why is the reason for a value that does not depend
	// on the run; it is empty for other values.
	Fixed(path string) (why string, written bool)
}

// Count returns the account of a run that can't be compared with a plan: what was read, without what
// became of it.
func Count(run *harness.Run, problem string) Proof {
	p := &comparer{run: run, Reasons: noReasons{}}
	p.compareAll(func(ts []harness.Token) {
		p.addRow(Row{Kind: dropped, What: "launch", Name: "the whole launch", Tokens: len(ts)})
	})
	out := p.proof()
	out.Problem, out.Lines = problem, []Line{}
	return out
}

// Compare compares the launches of a run with the plan of its recipe.
func Compare(run *harness.Run, pl *plan.Plan, rewrites rules.Rewrites, why Reasons) Proof {
	p := &comparer{run: run, plan: pl, rewrites: rewrites, Reasons: why, configs: map[schema.Role]Line{}}
	p.compareAll(nil)
	return p.proof()
}

type noReasons struct{}

func (noReasons) Answer(string) string                          { return "" }
func (noReasons) Question(_, _ string) (name string, open bool) { return "", false }
func (noReasons) Fixed(string) (why string, written bool)       { return "", false }

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

// reason is why something differs. It is empty for a bug.
type reason struct {
	text  string
	asked bool // an open question
}

func because(text string) reason { return reason{text: text} }

// or returns the first reason that is not empty.
func (r reason) or(others ...reason) reason {
	for _, o := range others {
		if r.text == "" {
			r = o
		}
	}
	return r
}

func (p *comparer) answer(path string) reason { return because(p.Answer(path)) }

func (p *comparer) question(path, topic string) reason {
	name, open := p.Question(path, topic)
	return reason{name, open}
}

func (p *comparer) proof() Proof {
	ls := &p.run.Launches
	out := Proof{Seen: ls.Seen(), Read: ls.Count, Lines: p.lines}
	if len(p.run.Client.Runs) > 0 {
		out.Clients = 1
	}
	out.sum()
	return out
}

// compareAll accounts for all lines. If whole is not nil, it accounts for the tokens of a launch
// at once.
func (p *comparer) compareAll(whole func([]harness.Token)) {
	position := map[schema.Role]int{}
	for _, l := range p.run.Launches.All() {
		step := l.Service
		switch {
		case l.Service == "frontend":
			step = "frontend_0"
		case l.Role != "":
			step = fmt.Sprintf("%s_%d", l.Role, position[l.Role])
			position[l.Role]++
		}
		p.current = Line{Launches: []string{l.Name()}, Lines: []int{l.Line}, Differences: []Row{}}
		if whole != nil {
			whole(l.Tokens())
		} else {
			p.compareLaunch(l, step)
		}
		p.addLine(l.Role)
	}
	for _, l := range p.run.Launches.Others {
		p.current = Line{Launches: []string{l.Name()}, Lines: []int{l.Line}, Differences: []Row{}}
		p.wholeLaunch(len(l.Tokens()), p.problemAt(l.At("", "", 0)))
		p.addLine("")
	}
	p.compareReplaced()
	p.compareBeside()
	p.addUnread()
	p.compareClientScript(whole)
}

// compareClientScript accounts for the client script, also if it does not show how the client was run.
func (p *comparer) compareClientScript(whole func([]harness.Token)) {
	c := &p.run.Client
	if len(c.Runs) == 0 {
		if ts := c.Tokens(); len(ts) > 0 {
			why := p.question("", "client command")
			p.current = Line{
				Launches: []string{"client script"}, Lines: []int{}, Place: placeOf(ts[0].At), Differences: []Row{},
			}
			p.addRow(Row{
				Kind: dropped, What: "script", Name: "the whole script", Rule: why.text, Asked: why.asked, Tokens: len(ts),
			})
			p.addLine("")
		}
		return
	}
	run := c.Run().Words[0]
	at := c.At("", run)
	p.current = Line{
		Launches: []string{"client"}, Lines: []int{}, Place: placeOf(at), Differences: []Row{},
	}
	if whole != nil {
		ts := make([]harness.Token, len(c.Tokens()))
		whole(ts)
	} else {
		p.compareClient(c)
	}
	p.addLine("")
}

func placeOf(at harness.Evidence) string { return fmt.Sprintf("%s:%d", at.Artifact, at.Line) }

// addLine adds the current line. If it equals that of an earlier launch of its role, the two share one.
func (p *comparer) addLine(r schema.Role) {
	for i := range p.lines {
		if old := &p.lines[i]; r != "" && old.matches(p.current, harness.RoleName(r)) {
			old.Launches = append(old.Launches, p.current.Launches...)
			old.Lines = append(old.Lines, p.current.Lines...)
			return
		}
	}
	p.lines = append(p.lines, p.current)
}

// matches reports whether two workers of a role have the same result.
func (l *Line) matches(other Line, role string) bool {
	return strings.HasPrefix(l.Launches[0], role+" ") && l.Unchanged == other.Unchanged && l.Problem == "" &&
		slices.Equal(l.Same, other.Same) && reflect.DeepEqual(l.Differences, other.Differences)
}

// problemAt returns the question about a problem with a line.
func (p *comparer) problemAt(at harness.Evidence) reason {
	return p.question("", fmt.Sprintf("%s:%d", at.Artifact, at.Line)).or(p.question("", at.Artifact+":more"))
}

// compareReplaced accounts for the launches that the ported attempt does not contain.
func (p *comparer) compareReplaced() {
	replaced := p.run.Launches.Replaced()
	if len(replaced) == 0 {
		return
	}
	last := map[string]int{}
	for _, l := range p.run.Launches.All() {
		last[l.Name()] = l.Line
	}
	p.current = Line{Launches: []string{"other launches"}, Lines: []int{}, Differences: []Row{}}
	for _, r := range replaced {
		name, why := fmt.Sprintf("%s (line %d)", r.Name, r.Line), "not part of the attempt that is ported"
		if by := last[r.Name]; by > r.Line {
			why = fmt.Sprintf("replaced by the launch on line %d", by)
		}
		if r.Line == 0 {
			name = plural(r.Count, "more launch")
		} else {
			p.current.Lines = append(p.current.Lines, r.Line)
		}
		p.addRow(Row{Kind: dropped, What: "launch", Name: name, Rule: why, Tokens: r.Tokens})
	}
	p.lines = append(p.lines, p.current)
}

// compareBeside accounts for other commands in launch lines.
func (p *comparer) compareBeside() {
	for i := range p.run.Launches.Beside {
		b := &p.run.Launches.Beside[i]
		ts := b.Tokens()
		if len(ts) == 0 {
			continue
		}
		p.current = Line{
			Launches: []string{"command " + safetext.Clip(secret.RedactText(b.Text()), 60)}, Lines: []int{b.Line},
			Differences: []Row{},
		}
		f := rules.OfCommand(b.Command, harness.JobLog)
		for _, t := range ts {
			p.fated(t, f, false)
		}
		p.lines = append(p.lines, p.current)
	}
}

// addUnread adds the lines that could not be read.
func (p *comparer) addUnread() {
	for _, u := range p.run.Launches.Unread {
		p.lines = append(p.lines, Line{
			Launches: []string{fmt.Sprintf("%s:%d", u.At.Artifact, u.At.Line)}, Lines: []int{u.At.Line},
			Problem: u.Reason, Differences: []Row{},
		})
	}
	if more := p.run.Launches.UnreadN - len(p.run.Launches.Unread); more > 0 {
		p.lines = append(p.lines, Line{
			Launches: []string{plural(more, "more line")}, Lines: []int{}, Problem: "not read either", Differences: []Row{},
		})
	}
}

// wholeLaunch accounts for all tokens of a launch that has no step.
func (p *comparer) wholeLaunch(tokens int, why reason) {
	p.addRow(Row{
		Kind: dropped, What: "launch", Name: "the whole launch", Rule: why.text, Asked: why.asked, Tokens: tokens,
	})
}

func (p *comparer) addRow(r Row) {
	if r.Tokens == 1 {
		r.Tokens = 0
	}
	r.Old, r.New = safetext.Clip(r.Old, harness.MaxRaw), safetext.Clip(r.New, harness.MaxRaw)
	p.current.Differences = append(p.current.Differences, r)
}

func (p *comparer) addDifference(kind, what, name, old, new string, why reason) {
	p.addRow(Row{
		Kind: kind, What: what, Name: secret.RedactText(name), Old: secret.Redact(name, old), New: secret.Redact(name, new),
		Rule: why.text, Asked: why.asked,
	})
}

// same accounts for a token that the new job has unchanged.
func (p *comparer) same(what, name string) {
	p.current.Same = append(p.current.Same, what+" "+safetext.Clip(name, 200))
	p.current.Unchanged++
}

// fated accounts for a token that has no place in the recipe. An argument of a start script is named by its
// number.
func (p *comparer) fated(t harness.Token, f rules.Fate, numbered bool) {
	what, name, old := string(t.Part), t.Name, t.Value
	switch {
	case t.Part == harness.Argument && f.Action == rules.Managed:
		name = strconv.Itoa(t.Index + 1)
	case t.Name == harness.BearerToken:
	case t.Part == harness.Argument && numbered:
		name, old = strings.TrimSpace(fmt.Sprintf("%d %s", t.Index+1, safetext.Clip(t.Value, 200))), ""
	case name == "":
		name, old = safetext.Clip(t.Value, 200), ""
	}
	switch f.Action {
	case rules.Ask:
		p.addDifference(dropped, what, name, old, "", p.question("", f.Topic))
	case rules.Managed: // the value may differ from worker to worker
		p.addDifference(dropped, what, name, "", "", because(f.Why))
	default:
		p.addDifference(dropped, what, name, old, "", because(f.Why))
	}
}

// compareValue compares a value that should be unchanged or rewritten. why explains any other
// difference.
func (p *comparer) compareValue(what, name, old, new string, why reason) {
	switch rewritten, rewrite := p.rewrites.Apply(old); {
	case old == new:
		p.same(what, name)
	case rewritten == new:
		p.addDifference(changed, what, name, old, new, because(rewrite+": "+rules.WhyRewrite))
	default:
		p.addDifference(changed, what, name, old, new, why)
	}
}

// explainSize explains a different size of a worker, or a missing worker.
func (p *comparer) explainSize(l *harness.Launch) reason {
	for _, path := range []string{l.Role.WorkersPath(), l.Role.NodesPath(), "resources.gpus_per_node", l.Role.GPUsPath()} {
		why := p.answer(path)
		for _, topic := range []string{l.Name() + " size", l.Name() + " launch", "shared", "count"} {
			why = why.or(p.question(path, topic))
		}
		if why.text != "" {
			return why
		}
	}
	return p.question("resources", "layout")
}

// explainField explains a different value of a field that launch lines show.
func (p *comparer) explainField(path, topic string) reason {
	return p.answer(path).or(p.question(path, topic), p.question(path, ""))
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
	var file plan.File
	for _, f := range p.plan.Files {
		if f.Role == r {
			file = f
		}
	}
	planned := map[string]*yaml.Node{}
	if d, err := yamldoc.Read(strings.NewReader(file.Content)); err == nil {
		for _, leaf := range d.Leaves {
			planned[leaf.Path()] = leaf.Node
		}
	}
	answer := func(path string) reason { return p.answer(r.ConfigPath(schema.TRTLLM) + "." + path) }
	for _, leaf := range old.Leaves {
		path := leaf.Path()
		node, found := planned[path]
		delete(planned, path)
		rewritten, rewrite := p.rewrites.Node(leaf.Node)
		switch {
		case !found:
			p.addDifference(dropped, config, path, yamldoc.Text(leaf.Node), "", answer(path))
		case sameNode(leaf.Node, node):
			p.current.Unchanged++
		case sameNode(rewritten, node):
			p.addDifference(changed, config, path, yamldoc.Text(leaf.Node), yamldoc.Text(node),
				because(rewrite+": "+rules.WhyRewrite))
		default:
			p.addDifference(changed, config, path, yamldoc.Text(leaf.Node), yamldoc.Text(node), answer(path))
		}
	}
	for _, path := range sortedNames(planned) {
		why := answer(path)
		if slices.ContainsFunc(file.Defaults, func(d plan.Default) bool { return d.Key == path }) {
			why = why.or(because("srt-slurm adds it to engine configs that do not set it"))
		}
		p.addDifference(added, config, path, "", yamldoc.Text(planned[path]), why)
	}
}

// sameNode reports whether an engine reads two values alike, whatever their spelling.
func sameNode(a, b *yaml.Node) bool { return equalNodes(recipes.AsPython(a), recipes.AsPython(b)) }

func equalNodes(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !equalNodes(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
