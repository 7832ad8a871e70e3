package proof

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes"
)

// compareEnvironment compares the variables of a launch line with those of its step.
func (p *comparer) compareEnvironment(l *harness.Launch, step *plan.Step) {
	on, base := rules.Frontend, "frontend.env"
	if l.Role != "" {
		on, base = rules.Worker, l.Role.EnvPath()
	}
	planned := map[string]plan.Var{}
	for _, v := range step.Env {
		planned[v.Name] = v
	}
	renames := rules.Renames(on, l.Env)
	seen := map[string]bool{}
	for _, v := range l.Env {
		rule := rules.VariableOf(on, v.Name)
		name := v.Name
		if rule.Action == rules.Rename {
			name = rule.To
		}
		n, found := planned[name]
		switch {
		case rule.Action == rules.Drop:
			p.compareDropped(v, n, found, rule.Why)
		case rule.Action == "" && renames[name] != "":
			found = false // the planned variable of this name is the renamed one
			p.addDifference(dropped, "env", v.Name, v.Value, "", "replaced by "+renames[name]+": "+rules.WhyReplaced)
		case found:
			p.compareVariable(v, n, base, rule)
		case l.Service == "etcd":
			p.addDifference(dropped, "env", v.Name, v.Value, "", p.explainEtcd(v.Name))
		default:
			p.addDifference(dropped, "env", v.Name, v.Value, "", p.explainVariable(base, name))
		}
		seen[name] = seen[name] || found
	}
	for _, v := range l.BareNames {
		p.addDifference(changed, "env", v.Text, "", "", "comes from the submitting shell, as before")
	}
	for _, v := range step.Env {
		if !seen[v.Name] {
			p.addNewVariable(v, on, base)
		}
	}
}

// compareDropped compares a variable that is not carried over.
func (p *comparer) compareDropped(v harness.Var, n plan.Var, found bool, why string) {
	switch {
	case !found:
		p.addDifference(dropped, "env", v.Name, v.Value, "", why)
	case n.Value == v.Value:
		p.current.Unchanged++
	default:
		p.addDifference(changed, "env", v.Name, v.Value, n.Value, why)
	}
}

// compareVariable compares a variable that is carried over, possibly under a new name.
func (p *comparer) compareVariable(v harness.Var, n plan.Var, base string, rule rules.Variable) {
	rewritten, rewrite := p.rewrites.Apply(v.Value)
	explained := ""
	switch {
	case n.Value == rewritten && rewrite != "":
		explained = rewrite + ": " + rules.WhyRewrite
	case n.Value == rewritten && v.HasCommas:
		explained = "srun split the old value at its commas and passed " + strconv.Quote(v.Truncated) +
			"; the new job passes the whole value"
	case n.Value != rewritten && n.Origin == "built-in":
		explained = "srt-slurm sets it"
	case n.Value != rewritten:
		explained = p.explainVariable(base, n.Name)
	}
	switch {
	case rule.Action == rules.Rename && n.Value == rewritten:
		p.addDifference(renamed, "env", v.Name, "", "", cmp.Or(explained, rule.Why))
		p.current.Differences[len(p.current.Differences)-1].To = n.Name
	case n.Value == v.Value && !v.HasCommas:
		p.current.Unchanged++
	default:
		p.addDifference(changed, "env", v.Name, v.Value, n.Value, explained)
	}
}

// explainVariable explains a difference by an answer, or by workers that differ in the variable.
func (p *comparer) explainVariable(base, name string) string {
	path := recipes.Join(base, name)
	rule := p.Answer(path)
	if q := p.Question(path, "differs"); rule == "" && q != "" {
		rule = "workers differ, and a role has one environment: " + q
	}
	return rule
}

// addNewVariable adds a variable that the old launch line did not have.
func (p *comparer) addNewVariable(v plan.Var, on rules.Process, base string) {
	if !strings.HasSuffix(v.Origin, "."+v.Name) {
		p.addDifference(added, "env", v.Name, "", "", "srt-slurm sets it: "+v.Origin)
		return
	}
	rule := ""
	if _, written := p.Fixed(recipes.Join(base, v.Name)); written {
		rule = p.explainVariable(base, v.Name)
		for _, r := range rules.Added(on) {
			if r.Name == v.Name && r.To == v.Value {
				rule = cmp.Or(rule, r.Why)
			}
		}
	}
	p.addDifference(added, "env", v.Name, "", v.Value, rule)
}

// explainEtcd explains a dropped variable of etcd. etcd reads only variables that begin with ETCD_,
// and there is a question about each of those.
func (p *comparer) explainEtcd(name string) string {
	if !strings.HasPrefix(name, "ETCD_") {
		return "etcd does not read it; the harness passed one list to all services"
	}
	return p.Question("", "etcd "+name)
}

// compareFlags compares the flags of srun.
func (p *comparer) compareFlags(l *harness.Launch, step *plan.Step) {
	if l.Image.Value != "" {
		p.compareValue("flag", "--container-image", l.Image.Value, p.plan.Image,
			p.explainField("model.container", "launched"))
	}
	options := harness.SrunOptions(step.Launch)
	planned := map[string]harness.Option{}
	for _, f := range options {
		planned[f.Name] = f
	}
	for _, f := range l.Flags {
		n, found := planned[f.Name]
		delete(planned, f.Name)
		rule := rules.FlagOf(f.Name)
		switch {
		case rule.Action == rules.Separate:
		case rule.Action == rules.Managed:
			p.compareManaged(f, n, found, rule.Why)
		case rule.Action == rules.Drop && !found:
			p.addDifference(dropped, "flag", f.Name, f.Value, "", rule.Why)
		case !found && f.Name == "--mpi" && l.Service != "":
			p.addDifference(dropped, "flag", f.Name, f.Value, "", l.Service+" is not an MPI program")
		case !found:
			p.addDifference(dropped, "flag", f.Name, f.Value, "", p.Question(rules.SrunOptions, f.Name))
		default:
			p.compareValue("flag", f.Name, f.Value, n.Value, p.explainFlag(l, f.Name))
		}
	}
	for _, f := range options {
		if _, remaining := planned[f.Name]; remaining && rules.FlagOf(f.Name).Action != rules.Separate {
			p.addDifference(added, "flag", f.Name, "", "", cmp.Or(p.Answer(rules.SrunOptions), "srt-slurm starts steps with it"))
		}
	}
}

// compareManaged compares a flag for which the new job sets its own value.
func (p *comparer) compareManaged(f, n harness.Option, found bool, why string) {
	switch {
	case found && n.Value == f.Value:
		p.current.Unchanged++
	case found:
		p.addDifference(changed, "flag", f.Name, "", "", why)
	default:
		p.addDifference(dropped, "flag", f.Name, f.Value, "", why)
	}
}

// explainFlag explains a different value of a flag that should be unchanged.
func (p *comparer) explainFlag(l *harness.Launch, name string) string {
	if l.Role != "" && (name == "--nodes" || name == "--ntasks") {
		return p.explainSize(l)
	}
	return p.Question(rules.SrunOptions, name)
}

// compareMounts compares the mounts of a launch line with those of the plan.
func (p *comparer) compareMounts(l *harness.Launch) {
	if l.Mounts.Value == "" {
		return
	}
	const field = "extra_mount"
	reason := p.explainField(field, l.Name())
	planned := map[string]bool{}
	for _, m := range p.plan.Mounts {
		planned[m.Host+":"+m.Container] = true
	}
	seen := map[string]bool{}
	for m := range strings.SplitSeq(l.Mounts.Value, ",") {
		to := strings.Join(p.rewrites.Mounts(m), "")
		seen[to] = true
		switch {
		case planned[to] && to == m:
			p.current.Unchanged++
		case planned[to]:
			p.addDifference(changed, "mount", m, "", to, rules.WhyRewrite)
		default:
			p.addDifference(dropped, "mount", m, "", "", reason)
		}
	}
	for _, m := range p.plan.Mounts {
		mount := m.Host + ":" + m.Container
		switch {
		case seen[mount]:
		case m.Source == field:
			p.addDifference(added, "mount", mount, "", "", reason)
		default:
			p.addDifference(added, "mount", mount, "", "", "srt-slurm mounts it: "+m.Source)
		}
	}
}

// frontendVariables maps flags of the frontend to the variables from which the harness's start
// script sets them.
var frontendVariables = map[string]string{
	"router-mode": "ROUTER_MODE", "no-router-kv-events": "DYN_FRONTEND_ENABLE_KV_EVENTS",
	"kv-cache-block-size": "DYN_KV_BLOCK_SIZE", "request-plane": "DYN_REQUEST_PLANE",
}

// compareArguments compares the frontend's own flags.
func (p *comparer) compareArguments(l *harness.Launch, step *plan.Step) {
	path := func(name string) string { return recipes.Join("frontend.args", name) }
	planned := frontendOptions(step.Argv[min(3, len(step.Argv)):])
	if len(l.Args) > 2 {
		p.addDifference(changed, "flag", "port", l.Args[2].Text, planned["http-port"],
			"srt-slurm sets the port of its frontends")
	}
	delete(planned, "http-port")
	var words []string
	for _, w := range l.Args[min(3, len(l.Args)):] {
		words = append(words, w.Text)
	}
	old := frontendOptions(words)
	for _, name := range sortedNames(old) {
		value, found := planned[name]
		delete(planned, name)
		rule := cmp.Or(p.Answer(path(name)), p.Question(path(name), "launched"))
		switch {
		case found:
			p.compareValue("flag", "--"+name, old[name], value, rule)
		case rules.IsParserFlag(name):
			p.addDifference(dropped, "flag", "--"+name, old[name], "", rules.WhyParserFlag)
		default:
			p.addDifference(dropped, "flag", "--"+name, old[name], "", rule)
		}
	}
	for _, name := range sortedNames(planned) {
		rule := p.Answer(path(name))
		if v := frontendVariables[name]; rule == "" && v != "" {
			rule = "from " + v
			if _, given := l.Lookup(v); !given {
				rule = "fallback for " + v
			}
		} else if rule == "" {
			rule, _ = p.Fixed(path(name))
		}
		p.addDifference(added, "flag", "--"+name, "", planned[name], rule)
	}
}

// frontendOptions parses --name value, --name=value and --name.
func frontendOptions(words []string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(words); i++ {
		name, ok := strings.CutPrefix(words[i], "--")
		if !ok || name == "" {
			continue
		}
		name, value, attached := strings.Cut(name, "=")
		if !attached && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value = words[i]
		}
		out[name] = value
	}
	return out
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
