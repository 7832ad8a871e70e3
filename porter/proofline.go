package porter

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
)

// environment compares the variables of a launch line with those of its step.
func (p *prover) environment(l *launch, step *plan.Step) {
	on, base := onFrontend, "frontend.env"
	if l.role != "" {
		on, base = onWorker, envBases[l.role]
	}
	now := map[string]plan.Var{}
	for _, v := range step.Env {
		now[v.Name] = v
	}
	old := l.environment()
	target := map[string]string{} // new name to the old one that takes it
	for _, v := range old {
		if r, ok := ruleFor(on, v.name); ok && r.verb == "rename" {
			target[r.to] = v.name
		}
	}
	seen := map[string]bool{}
	for _, v := range old {
		rule, ruled := ruleFor(on, v.name)
		name := v.name
		if ruled && rule.verb == "rename" {
			name = rule.to
		}
		n, there := now[name]
		switch {
		case ruled && rule.verb == "drop":
			p.managed(v, n, there, rule.why)
		case !ruled && target[name] != "":
			there = false // another one has the name now
			p.differ(lost, "env", v.name, v.value, "", "replaced by "+target[name]+": the harness script exported that one over it")
		case there:
			p.variable(v, n, base, rule)
		case l.infra == "etcd":
			p.differ(lost, "env", v.name, v.value, "", p.etcdRule(v.name))
		default:
			p.differ(lost, "env", v.name, v.value, "", p.variableRule(base, name))
		}
		seen[name] = seen[name] || there
	}
	p.bareNames(l)
	for _, v := range step.Env {
		if !seen[v.Name] {
			p.newVariable(v, on, base)
		}
	}
}

// bareNames lists variables whose values came from the submitting shell.
func (p *prover) bareNames(l *launch) {
	for _, e := range l.export {
		if e.bare && !slices.Contains([]string{"ALL", "NONE", "NIL"}, e.name) {
			p.differ(changed, "env", e.name, "", "", "came from the submitting shell, and does so again")
		}
	}
}

// managed compares a variable that is not carried over.
func (p *prover) managed(v envVar, n plan.Var, there bool, why string) {
	switch {
	case !there:
		p.differ(lost, "env", v.name, v.value, "", why)
	case n.Value == v.value:
		p.line.Kept++
	default:
		p.differ(changed, "env", v.name, v.value, n.Value, why)
	}
}

// variable compares a variable that is carried over, perhaps under a new name.
func (p *prover) variable(v envVar, n plan.Var, base string, rule envRule) {
	moved, how := p.rewrites.apply(v.value)
	explained := ""
	switch {
	case n.Value == moved && how != "":
		explained = how + ": " + whyRewrite
	case n.Value == moved && v.commas:
		explained = "srun split the old list at its commas and gave " + strconv.Quote(v.slurm) + "; what was meant is given now"
	case n.Value != moved && n.Origin == "built-in":
		explained = "srt-slurm sets it itself"
	case n.Value != moved:
		explained = p.variableRule(base, n.Name)
	}
	switch {
	case rule.verb == "rename" && n.Value == moved:
		p.differ(renamed, "env", v.name, "", "", firstOf(explained, rule.why))
		p.line.Differences[len(p.line.Differences)-1].To = n.Name
	case n.Value == v.value && !v.commas:
		p.line.Kept++
	default:
		p.differ(changed, "env", v.name, v.value, n.Value, explained)
	}
}

// variableRule explains by an answer, or by workers that differ in a variable.
func (p *prover) variableRule(base, name string) string {
	rule := p.answerRule(recipes.Join(base, name))
	if rule == "" && p.questionRule(recipes.Join(base, name), "differs") != "" {
		rule = "workers differ, and a role has one environment: " + p.questionRule(recipes.Join(base, name), "differs")
	}
	return rule
}

// newVariable explains a variable that the old launch line did not have.
func (p *prover) newVariable(v plan.Var, on, base string) {
	f := p.fields[recipes.Join(base, v.Name)]
	_, fromEnv := strings.CutSuffix(v.Origin, "."+v.Name)
	switch {
	case !fromEnv:
		p.differ(added, "env", v.Name, "", "", "srt-slurm sets it: "+v.Origin)
		return
	case f == nil:
		p.differ(added, "env", v.Name, "", v.Value, "")
		return
	}
	rule := p.variableRule(base, v.Name)
	for _, r := range envRules {
		if r.verb == "add" && r.name == v.Name && r.to == v.Value && (r.on == on || r.on == onBoth) {
			rule = firstOf(rule, r.why)
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
	if _, asked := p.asked[questionID("", "", "etcd "+name)]; asked {
		return "question " + questionID("", "", "etcd "+name)
	}
	return ""
}

// flags compares the flags of srun.
func (p *prover) flags(l *launch, step *plan.Step) {
	if l.image.value != "" {
		const field = "model.container"
		p.same("flag", "--container-image", l.image.value, p.plan.Image, firstOf(p.answerRule(field), p.questionRule(field, "launched"), p.questionRule(field, "")))
	}
	now := map[string]option{}
	for _, f := range launchFlags(step) {
		now[f.name] = f
	}
	for _, f := range l.flags {
		n, there := now[f.name]
		delete(now, f.name)
		rule, known := flagRuleFor(f.name)
		switch {
		case known && rule.verb == flagApart:
		case known && rule.verb == flagMove:
			p.move(f, n, there, rule.why)
		case known && rule.verb == flagDrop && !there:
			p.differ(lost, "flag", f.name, f.value, "", rule.why)
		case !there && f.name == "--mpi" && l.infra != "":
			p.differ(lost, "flag", f.name, f.value, "", l.infra+" is no MPI program")
		case !there:
			p.differ(lost, "flag", f.name, f.value, "", p.questionRule(srunOptions, f.name))
		default:
			p.same("flag", f.name, f.value, n.value, p.flagRule(l, f.name))
		}
	}
	for _, f := range launchFlags(step) {
		rule, known := flagRuleFor(f.name)
		if _, new := now[f.name]; !new || known && rule.verb == flagApart {
			continue
		}
		p.differ(added, "flag", f.name, "", "", firstOf(p.answerRule(srunOptions), "srt-slurm's way to start a step"))
	}
}

func (p *prover) move(f, n option, there bool, why string) {
	switch {
	case there && n.value == f.value:
		p.line.Kept++
	case there:
		p.differ(changed, "flag", f.name, "", "", why)
	default:
		p.differ(lost, "flag", f.name, f.value, "", why)
	}
}

// flagRule explains another value of a flag that should stay the same.
func (p *prover) flagRule(l *launch, name string) string {
	if l.role != "" && (name == "--nodes" || name == "--ntasks") {
		return p.sizeRule(l)
	}
	return p.questionRule(srunOptions, name)
}

// launchFlags takes a step's srun command apart.
func launchFlags(step *plan.Step) []option {
	var out []option
	for i := 1; i < len(step.Launch) && strings.HasPrefix(step.Launch[i], "--"); i++ {
		name, value, attached := strings.Cut(step.Launch[i], "=")
		if !attached && !noValue[name] && i+1 < len(step.Launch) && !strings.HasPrefix(step.Launch[i+1], "-") {
			i++
			value = step.Launch[i]
		}
		out = append(out, option{name: name, value: value})
	}
	return out
}

// mounts compares the mounts of a launch line with the plan's.
func (p *prover) mounts(l *launch) {
	if l.mounts.value == "" {
		return
	}
	const field = "extra_mount"
	because := firstOf(p.answerRule(field), p.questionRule(field, l.who()), p.questionRule(field, ""))
	now := map[string]plan.Mount{}
	for _, m := range p.plan.Mounts {
		now[m.Host+":"+m.Container] = m
	}
	seen := map[string]bool{}
	for m := range strings.SplitSeq(l.mounts.value, ",") {
		to := ""
		if list := p.mountList(m); len(list.Content) > 0 {
			to = list.Content[0].Value
		}
		_, there := now[to]
		seen[to] = true
		switch {
		case there && to == m:
			p.line.Kept++
		case there:
			p.differ(changed, "mount", m, "", to, whyRewrite)
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

// frontendVariables are the variables that the harness's start script made the
// frontend's flags of.
var frontendVariables = map[string]string{
	"router-mode": "ROUTER_MODE", "no-router-kv-events": "DYN_FRONTEND_ENABLE_KV_EVENTS", "kv-cache-block-size": "DYN_KV_BLOCK_SIZE", "request-plane": "DYN_REQUEST_PLANE",
}

// arguments compares the frontend's own flags.
func (p *prover) arguments(l *launch, step *plan.Step) {
	const base = "frontend.args"
	now := frontendOptions(step.Argv[min(3, len(step.Argv)):])
	if len(l.args) > 2 {
		p.differ(changed, "flag", "port", l.args[2].text, now["http-port"], "srt-slurm's frontends have a port of their own")
	}
	delete(now, "http-port")
	var words []string
	for _, w := range l.args[min(3, len(l.args)):] {
		words = append(words, w.text)
	}
	old := frontendOptions(words)
	for _, name := range sortedNames(old) {
		value, there := now[name]
		delete(now, name)
		switch {
		case isParserFlag(name) && !there:
			p.differ(lost, "flag", "--"+name, old[name], "", "the frontend refuses to start with it; parsers are set in the workers' environment")
		case !there:
			p.differ(lost, "flag", "--"+name, old[name], "", firstOf(p.answerRule(recipes.Join(base, name)), p.questionRule(recipes.Join(base, name), "launched")))
		default:
			p.same("flag", "--"+name, old[name], value, firstOf(p.answerRule(recipes.Join(base, name)), p.questionRule(recipes.Join(base, name), "launched")))
		}
	}
	for _, name := range sortedNames(now) {
		rule := p.answerRule(recipes.Join(base, name))
		if v := frontendVariables[name]; rule == "" && v != "" {
			rule = "from " + v
			if _, given := l.lookup(v); !given {
				rule = "fallback for " + v
			}
		} else if f := p.fields[recipes.Join(base, name)]; rule == "" && f != nil && f.Class == Default {
			rule = f.Rule + ": " + f.Why
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

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
