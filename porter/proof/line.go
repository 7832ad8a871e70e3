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

// environment compares the variables of a launch line with those of its step.
func (p *prover) environment(l *harness.Launch, step *plan.Step) {
	on, base := rules.Frontend, "frontend.env"
	if l.Role != "" {
		on, base = rules.Worker, l.Role.EnvPath()
	}
	now := map[string]plan.Var{}
	for _, v := range step.Env {
		now[v.Name] = v
	}
	renames := rules.Renames(on, l.Env)
	seen := map[string]bool{}
	for _, v := range l.Env {
		rule := rules.VariableOf(on, v.Name)
		name := v.Name
		if rule.Action == rules.Rename {
			name = rule.To
		}
		n, there := now[name]
		switch {
		case rule.Action == rules.Drop:
			p.managed(v, n, there, rule.Why)
		case rule.Action == "" && renames[name] != "":
			there = false // another one has the name now
			p.differ(lost, "env", v.Name, v.Value, "", "replaced by "+renames[name]+": "+rules.WhyReplaced)
		case there:
			p.variable(v, n, base, rule)
		case l.Service == "etcd":
			p.differ(lost, "env", v.Name, v.Value, "", p.etcdRule(v.Name))
		default:
			p.differ(lost, "env", v.Name, v.Value, "", p.variableRule(base, name))
		}
		seen[name] = seen[name] || there
	}
	for _, v := range l.BareNames {
		p.differ(changed, "env", v.Text, "", "", "came from the submitting shell, and does so again")
	}
	for _, v := range step.Env {
		if !seen[v.Name] {
			p.newVariable(v, on, base)
		}
	}
}

// managed compares a variable that is not carried over.
func (p *prover) managed(v harness.Var, n plan.Var, there bool, why string) {
	switch {
	case !there:
		p.differ(lost, "env", v.Name, v.Value, "", why)
	case n.Value == v.Value:
		p.line.Unchanged++
	default:
		p.differ(changed, "env", v.Name, v.Value, n.Value, why)
	}
}

// variable compares a variable that is carried over, perhaps under a new name.
func (p *prover) variable(v harness.Var, n plan.Var, base string, rule rules.Variable) {
	moved, how := p.rewrites.Apply(v.Value)
	explained := ""
	switch {
	case n.Value == moved && how != "":
		explained = how + ": " + rules.WhyRewrite
	case n.Value == moved && v.HasCommas:
		explained = "srun split the old list at its commas and gave " + strconv.Quote(v.Truncated) +
			"; what was meant is given now"
	case n.Value != moved && n.Origin == "built-in":
		explained = "srt-slurm sets it itself"
	case n.Value != moved:
		explained = p.variableRule(base, n.Name)
	}
	switch {
	case rule.Action == rules.Rename && n.Value == moved:
		p.differ(renamed, "env", v.Name, "", "", cmp.Or(explained, rule.Why))
		p.line.Differences[len(p.line.Differences)-1].To = n.Name
	case n.Value == v.Value && !v.HasCommas:
		p.line.Unchanged++
	default:
		p.differ(changed, "env", v.Name, v.Value, n.Value, explained)
	}
}

// variableRule explains by an answer, or by workers that differ in a variable.
func (p *prover) variableRule(base, name string) string {
	path := recipes.Join(base, name)
	rule := p.Answer(path)
	if q := p.Question(path, "differs"); rule == "" && q != "" {
		rule = "workers differ, and a role has one environment: " + q
	}
	return rule
}

// newVariable explains a variable that the old launch line did not have.
func (p *prover) newVariable(v plan.Var, on rules.Process, base string) {
	if !strings.HasSuffix(v.Origin, "."+v.Name) {
		p.differ(added, "env", v.Name, "", "", "srt-slurm sets it: "+v.Origin)
		return
	}
	rule := ""
	if _, written := p.Fixed(recipes.Join(base, v.Name)); written {
		rule = p.variableRule(base, v.Name)
		for _, r := range rules.Added(on) {
			if r.Name == v.Name && r.To == v.Value {
				rule = cmp.Or(rule, r.Why)
			}
		}
	}
	p.differ(added, "env", v.Name, "", v.Value, rule)
}

// etcdRule explains a variable of etcd that is gone: etcd reads its own alone,
// and about these there is a question.
func (p *prover) etcdRule(name string) string {
	if !strings.HasPrefix(name, "ETCD_") {
		return "etcd does not read it; the harness gave one list to all services"
	}
	return p.Question("", "etcd "+name)
}

// flags compares the flags of srun.
func (p *prover) flags(l *harness.Launch, step *plan.Step) {
	if l.Image.Value != "" {
		p.same("flag", "--container-image", l.Image.Value, p.plan.Image, p.fieldRule("model.container", "launched"))
	}
	options := harness.SrunOptions(step.Launch)
	now := map[string]harness.Option{}
	for _, f := range options {
		now[f.Name] = f
	}
	for _, f := range l.Flags {
		n, there := now[f.Name]
		delete(now, f.Name)
		rule := rules.FlagOf(f.Name)
		switch {
		case rule.Action == rules.Separate:
		case rule.Action == rules.Managed:
			p.move(f, n, there, rule.Why)
		case rule.Action == rules.Drop && !there:
			p.differ(lost, "flag", f.Name, f.Value, "", rule.Why)
		case !there && f.Name == "--mpi" && l.Service != "":
			p.differ(lost, "flag", f.Name, f.Value, "", l.Service+" is no MPI program")
		case !there:
			p.differ(lost, "flag", f.Name, f.Value, "", p.Question(rules.SrunOptions, f.Name))
		default:
			p.same("flag", f.Name, f.Value, n.Value, p.flagRule(l, f.Name))
		}
	}
	for _, f := range options {
		if _, left := now[f.Name]; left && rules.FlagOf(f.Name).Action != rules.Separate {
			p.differ(added, "flag", f.Name, "", "", cmp.Or(p.Answer(rules.SrunOptions), "srt-slurm's way to start a step"))
		}
	}
}

// move compares a flag whose value the new job's own rules give.
func (p *prover) move(f, n harness.Option, there bool, why string) {
	switch {
	case there && n.Value == f.Value:
		p.line.Unchanged++
	case there:
		p.differ(changed, "flag", f.Name, "", "", why)
	default:
		p.differ(lost, "flag", f.Name, f.Value, "", why)
	}
}

// flagRule explains another value of a flag that should stay the same.
func (p *prover) flagRule(l *harness.Launch, name string) string {
	if l.Role != "" && (name == "--nodes" || name == "--ntasks") {
		return p.sizeRule(l)
	}
	return p.Question(rules.SrunOptions, name)
}

// mounts compares the mounts of a launch line with the plan's.
func (p *prover) mounts(l *harness.Launch) {
	if l.Mounts.Value == "" {
		return
	}
	const field = "extra_mount"
	because := p.fieldRule(field, l.Name())
	now := map[string]bool{}
	for _, m := range p.plan.Mounts {
		now[m.Host+":"+m.Container] = true
	}
	seen := map[string]bool{}
	for m := range strings.SplitSeq(l.Mounts.Value, ",") {
		to := strings.Join(p.rewrites.Mounts(m), "")
		seen[to] = true
		switch {
		case now[to] && to == m:
			p.line.Unchanged++
		case now[to]:
			p.differ(changed, "mount", m, "", to, rules.WhyRewrite)
		default:
			p.differ(lost, "mount", m, "", "", because)
		}
	}
	for _, m := range p.plan.Mounts {
		spelled := m.Host + ":" + m.Container
		switch {
		case seen[spelled]:
		case m.Source == field:
			p.differ(added, "mount", spelled, "", "", because)
		default:
			p.differ(added, "mount", spelled, "", "", "srt-slurm mounts it: "+m.Source)
		}
	}
}

// frontendVariables are the variables that the harness's start script made the frontend's flags of.
var frontendVariables = map[string]string{
	"router-mode": "ROUTER_MODE", "no-router-kv-events": "DYN_FRONTEND_ENABLE_KV_EVENTS",
	"kv-cache-block-size": "DYN_KV_BLOCK_SIZE", "request-plane": "DYN_REQUEST_PLANE",
}

// arguments compares the frontend's own flags.
func (p *prover) arguments(l *harness.Launch, step *plan.Step) {
	path := func(name string) string { return recipes.Join("frontend.args", name) }
	now := frontendOptions(step.Argv[min(3, len(step.Argv)):])
	if len(l.Args) > 2 {
		p.differ(changed, "flag", "port", l.Args[2].Text, now["http-port"], "srt-slurm's frontends have a port of their own")
	}
	delete(now, "http-port")
	var words []string
	for _, w := range l.Args[min(3, len(l.Args)):] {
		words = append(words, w.Text)
	}
	old := frontendOptions(words)
	for _, name := range sortedNames(old) {
		value, there := now[name]
		delete(now, name)
		rule := cmp.Or(p.Answer(path(name)), p.Question(path(name), "launched"))
		switch {
		case there:
			p.same("flag", "--"+name, old[name], value, rule)
		case rules.IsParserFlag(name):
			p.differ(lost, "flag", "--"+name, old[name], "", rules.WhyParserFlag)
		default:
			p.differ(lost, "flag", "--"+name, old[name], "", rule)
		}
	}
	for _, name := range sortedNames(now) {
		rule := p.Answer(path(name))
		if v := frontendVariables[name]; rule == "" && v != "" {
			rule = "from " + v
			if _, given := l.Lookup(v); !given {
				rule = "fallback for " + v
			}
		} else if rule == "" {
			rule, _ = p.Fixed(path(name))
		}
		p.differ(added, "flag", "--"+name, "", now[name], rule)
	}
}

// frontendOptions reads --name value, --name=value and --name.
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
