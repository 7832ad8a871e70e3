package porter

import (
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Proof shows that a port loses nothing: for each launch line of the old run, how
// the environment and the flags differ that the plan of the new recipe gives the
// same process. It is made from the written recipe and the plan, not from what
// the port believes that it wrote.
type Proof struct {
	Problem string      `json:"problem,omitempty"` // why nothing could be compared
	Lines   []ProofLine `json:"lines"`
}

// ProofLine is one old launch line, or several of a role that compare alike.
type ProofLine struct {
	Launches    []string   `json:"launches"` // such as CTX 0
	Lines       []int      `json:"job_log_lines"`
	Step        string     `json:"step"` // of the plan; of the first launch
	Kept        int        `json:"kept"` // names whose value is the same
	Differences []ProofRow `json:"differences"`
}

// ProofRow is one difference.
type ProofRow struct {
	Kind string `json:"kind"` // renamed, dropped, added or changed
	What string `json:"what"` // env, flag, mount or config
	Name string `json:"name"`
	To   string `json:"to,omitempty"` // new name, where renamed
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
	Rule string `json:"rule"` // what explains it; empty: nothing does, an error of the porter
}

const (
	renamed = "renamed"
	lost    = "dropped"
	added   = "added"
	changed = "changed"
)

// Unexplained lists the differences that no rule explains, each after the first
// launch that it was found in.
func (p *Proof) Unexplained() []string {
	var out []string
	for _, l := range p.Lines {
		for _, d := range l.Differences {
			if d.Rule == "" {
				out = append(out, l.Launches[0]+": "+d.String())
			}
		}
	}
	return out
}

// Summary counts, over all launches, what is kept and what differs.
func (p *Proof) Summary() string {
	if p.Problem != "" {
		return "not proved: " + p.Problem
	}
	launches, kept, differ := 0, 0, 0
	for _, l := range p.Lines {
		launches += len(l.Launches)
		kept += l.Kept * len(l.Launches)
		differ += len(l.Differences) * len(l.Launches)
	}
	text := fmt.Sprintf("%s against the new plan: %d kept, %d differ, ", count(launches, "launch line"), kept, differ)
	if n := len(p.Unexplained()); n > 0 {
		return text + fmt.Sprintf("%d WITHOUT A RULE: an error of the porter", n)
	}
	return text + "each by a rule: nothing is lost"
}

// String is the difference in a few words.
func (d ProofRow) String() string {
	text := fmt.Sprintf("%s %s %s", d.Kind, d.What, clip(d.Name, 1000))
	if d.To != "" {
		text += " → " + d.To
	}
	if d.Old != "" {
		text += " old " + clip(d.Old, 200)
	}
	if d.New != "" {
		text += " new " + clip(d.New, 200)
	}
	return text
}

// write prints a summary, then the differences alone.
func (p *Proof) write(b *strings.Builder) {
	b.WriteString(p.Summary() + "\n")
	for _, l := range p.Lines {
		who := l.Launches[0]
		if n := len(l.Launches); n > 1 {
			who = fmt.Sprintf("%s and %d alike", who, n-1)
		}
		fmt.Fprintf(b, "  %s, now %s: %d kept, %d differ\n", who, l.Step, l.Kept, len(l.Differences))
		for _, d := range l.Grouped() {
			rule := d.Rule
			if rule == "" {
				rule = "NO RULE: an error of the porter"
			}
			fmt.Fprintf(b, "    %s | %s\n", d, clip(rule, 300))
		}
	}
}

// Grouped are the differences with one row for those that differ in name alone, or
// are gone for one reason; these have no old values then.
func (l *ProofLine) Grouped() []ProofRow {
	var out []ProofRow
	at := map[ProofRow]int{}
	for _, d := range l.Differences {
		if d.New != "" || d.To != "" || d.Kind != lost && d.Old != "" {
			out = append(out, d)
			continue
		}
		key := ProofRow{Kind: d.Kind, What: d.What, Rule: d.Rule}
		if i, ok := at[key]; ok {
			out[i].Name += ", " + d.Name
			continue
		}
		at[key] = len(out)
		d.Old = ""
		out = append(out, d)
	}
	return out
}

// prover compares old launch lines with the plan's steps.
type prover struct {
	*builder
	plan   *plan.Plan
	fields map[string]*Field  // recipe fields by canonical path
	engine map[role]ProofLine // comparison of engine configs, made once a role
	line   ProofLine          // in the making
}

// prove makes the proof, and turns what it can't explain into questions.
func (b *builder) prove() {
	b.res.Proof.Lines = []ProofLine{}
	all := b.launches.all()
	if len(all) == 0 {
		b.res.Proof.Problem = "job.log shows no launch line"
		return
	}
	pl, err := b.newPlan()
	if err != nil {
		b.res.Proof.Problem = strings.TrimPrefix(err.Error(), "plan recipe: ")
		b.ask(MustFix, Recipe, "resources", "proof", "the recipe can't be planned: "+b.res.Proof.Problem+"; an error of the porter, unless a question or an answer about the resources explains it")
		return
	}
	p := &prover{builder: b, plan: pl, fields: map[string]*Field{}, engine: map[role]ProofLine{}}
	for i, f := range b.res.Fields {
		if f.File == Recipe {
			p.fields[f.Path] = &b.res.Fields[i]
		}
	}
	position := map[role]int{}
	for _, l := range all {
		step := l.infra
		switch {
		case l.infra == "frontend":
			step = "frontend_0"
		case l.role != "":
			step = fmt.Sprintf("%s_%d", l.role, position[l.role])
			position[l.role]++
		}
		p.compare(l, step)
	}
	for i, text := range b.res.Proof.Unexplained() {
		if i == maxProblems {
			break
		}
		b.ask(MustFix, "", "", "proof "+text, "an error of the porter: "+text+", and no rule says so: correct the recipe by hand, and report it")
	}
}

// newPlan is the plan of the recipe as it will be written.
func (b *builder) newPlan() (*plan.Plan, error) {
	r, err := b.parsed()
	if err != nil {
		return nil, err
	}
	return plan.Build(plan.Request{Recipe: r, Target: plan.Slurm})
}

// parsed is the recipe as it will be written and read.
func (b *builder) parsed() (*recipes.Recipe, error) {
	if b.recipeRead != nil {
		return b.recipeRead, nil
	}
	text, err := b.res.RecipeYAML()
	if err != nil {
		return nil, err
	}
	b.res.recipe = text
	r, found := recipes.ParseRecipe("recipe", text)
	if r == nil {
		return nil, fmt.Errorf("plan recipe: %s", found[0])
	}
	b.recipeRead = r
	b.unreadable(Recipe, found)
	return r, nil
}

// compare adds the line of one launch; one that compares like an earlier launch
// of its role joins that one.
func (p *prover) compare(l *launch, name string) {
	p.line = ProofLine{Launches: []string{l.who()}, Lines: []int{l.line}, Step: name, Differences: []ProofRow{}}
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
		case l.infra == "frontend":
			p.arguments(l, step)
		case l.role != "":
			p.model(l)
			p.config(l.role)
		}
	}
	lines := p.res.Proof.Lines
	for i := range lines {
		old := &lines[i]
		if l.role != "" && strings.HasPrefix(old.Launches[0], l.role.harness()) && old.Kept == p.line.Kept && reflect.DeepEqual(old.Differences, p.line.Differences) {
			old.Launches, old.Lines = append(old.Launches, l.who()), append(old.Lines, l.line)
			return
		}
	}
	p.res.Proof.Lines = append(lines, p.line)
}

func (p *prover) differ(kind, what, name, old, new, rule string) {
	p.line.Differences = append(p.line.Differences, ProofRow{Kind: kind, What: what, Name: name, Old: clip(old, maxRaw), New: clip(new, maxRaw), Rule: rule})
}

// same compares a value that has only been rewritten, if anything. rule explains
// any other difference.
func (p *prover) same(what, name, old, new, rule string) {
	switch moved, how := p.rewrites.apply(old); {
	case old == new:
		p.line.Kept++
	case moved == new:
		p.differ(changed, what, name, old, new, how+": "+whyRewrite)
	default:
		p.differ(changed, what, name, old, new, rule)
	}
}

// answerRule explains a difference by an answer about a field or one above it.
func (p *prover) answerRule(path string) string {
	for top := path; top != ""; top = top[:max(strings.LastIndexByte(top, '.'), 0)] {
		if a, ok := p.answers.values[fieldKey(Recipe, top)]; ok {
			return "answer " + a.ID
		}
	}
	return ""
}

// questionRule explains a difference by a question that tells of it.
func (p *prover) questionRule(path, topic string) string {
	id := questionID(Recipe, path, topic)
	if _, asked := p.asked[id]; asked {
		return "question " + id
	}
	return ""
}

// firstOf is the first explanation there is.
func firstOf(rules ...string) string {
	for _, r := range rules {
		if r != "" {
			return r
		}
	}
	return ""
}

// sizeRule explains that a worker has another size, or is gone.
func (p *prover) sizeRule(l *launch) string {
	var rules []string
	for _, path := range []string{"resources." + string(l.role) + "_workers", "resources." + string(l.role) + "_nodes", "resources.gpus_per_node", "resources.gpus_per_" + string(l.role)} {
		rules = append(rules, p.answerRule(path), p.questionRule(path, l.who()+" size"), p.questionRule(path, "sizes"), p.questionRule(path, "packing"), p.questionRule(path, l.who()+" launch"), p.questionRule(path, "shared"))
	}
	return firstOf(rules...)
}

// model compares the model that a worker was given with the one that is mounted.
func (p *prover) model(l *launch) {
	const field = "model.path"
	for _, m := range p.plan.Mounts {
		if m.Source == field && l.model != "" {
			p.same("flag", "model", l.model, m.Host, firstOf(p.answerRule(field), p.questionRule(field, "launched"), p.questionRule(field, "")))
		}
	}
}

// config adds the comparison of a role's engine config.
func (p *prover) config(r role) {
	whole := p.line
	known, ok := p.engine[r]
	if !ok {
		p.line = ProofLine{}
		p.compareConfig(r)
		known = p.line
		p.engine[r] = known
	}
	p.line = whole
	p.line.Kept += known.Kept
	p.line.Differences = append(p.line.Differences, known.Differences...)
}

// compareConfig compares the engine config of a role with the file that the new
// job writes.
func (p *prover) compareConfig(r role) {
	old := p.engines[r]
	if old == nil {
		return
	}
	base := engineBases[r]
	var text string
	for _, f := range p.plan.Files {
		if strings.HasSuffix(f.Path, "trtllm_config_"+string(r)+".yaml") {
			text = f.Content
		}
	}
	now := map[string]*yaml.Node{}
	if d, err := readYAML(strings.NewReader(text)); err == nil {
		for _, leaf := range d.leaves {
			now[leaf.path()] = leaf.node
		}
	}
	for _, leaf := range old.leaves {
		path := leaf.path()
		node, there := now[path]
		delete(now, path)
		moved, how := p.rewriteNode(leaf.node)
		switch {
		case !there:
			p.differ(lost, "config", path, flowText(leaf.node), "", p.answerRule(base+"."+path))
		case sameNode(leaf.node, node):
			p.line.Kept++
		case sameNode(moved, node):
			p.differ(changed, "config", path, flowText(leaf.node), flowText(node), how+": "+whyRewrite)
		default:
			p.differ(changed, "config", path, flowText(leaf.node), flowText(node), p.answerRule(base+"."+path))
		}
	}
	for _, path := range sortedNames(now) {
		p.differ(added, "config", path, "", flowText(now[path]), p.answerRule(base+"."+path))
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
