package proof

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// launchComparer compares one launch with its step. It gives each token of the launch one row, and then
// adds what only the step has.
type launchComparer struct {
	*comparer
	launch  *harness.Launch
	on      rules.Process
	base    string // recipe field of the environment
	step    *plan.Step
	env     map[string]plan.Var       // variables of the step
	renames map[string]string         // old names by new ones
	seen    map[string]bool           // variables of the step that the launch has
	flags   map[string]harness.Option // srun flags of the step, without those that the launch has
	mounts  map[string]bool           // mounts that the launch has
	options map[string]string         // flags of the program, without those that the launch has
}

func (p *comparer) findStep(name string) *plan.Step {
	i := slices.IndexFunc(p.plan.Steps, func(s plan.Step) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &p.plan.Steps[i]
}

func (p *comparer) newLaunchComparer(l *harness.Launch, step *plan.Step, env []harness.Var) *launchComparer {
	c := &launchComparer{
		comparer: p, launch: l, step: step, on: rules.Frontend, base: "frontend.env",
		env: make(map[string]plan.Var, len(step.Env)), seen: make(map[string]bool, len(step.Env)),
		flags: make(map[string]harness.Option, len(step.Launch)), mounts: map[string]bool{}, options: map[string]string{},
	}
	switch {
	case l != nil && l.Role != "":
		c.on, c.base = rules.Worker, l.Role.EnvPath()
	case step.Role == schema.Client:
		c.on, c.base = rules.Client, "benchmark.env"
	}
	c.renames = rules.Renames(c.on, env)
	for _, v := range step.Env {
		c.env[v.Name] = v
	}
	for _, f := range harness.SrunOptions(step.Launch) {
		c.flags[f.Name] = f
	}
	return c
}

// compareLaunch compares one launch with the step of a name.
func (p *comparer) compareLaunch(l *harness.Launch, name string) {
	step := p.findStep(name)
	if step == nil {
		p.wholeLaunch(len(l.Tokens()), p.explainSize(l))
		return
	}
	p.current.Step = name
	c := p.newLaunchComparer(l, step, l.Env)
	if l.Service == "frontend" {
		c.options = frontendOptions(step.Argv[min(3, len(step.Argv)):])
		delete(c.options, "http-port")
	}
	for _, t := range l.Tokens() {
		c.account(t)
	}
	c.addNewVariables()
	c.addNewFlags()
	c.addNewMounts()
	c.addNewOptions()
	if l.Role != "" {
		c.addPublishing()
		p.addConfig(l.Role)
	}
}

// account gives a token its row.
func (c *launchComparer) account(t harness.Token) {
	if t.Overridden != "" {
		name, old := t.Name, t.Value
		if name == "" || t.Part == harness.MountEntry {
			name, old = t.Value, ""
		}
		c.addDifference(dropped, string(t.Part), name, old, "", because(t.Overridden))
		return
	}
	if f := rules.Of(c.launch, t); f.Action != "" {
		c.fated(t, f, true)
		return
	}
	switch t.Part {
	case harness.SrunFlag:
		c.flag(t)
	case harness.Variable:
		c.variable(t.Var)
	case harness.BareVariable:
		c.bareVariable(t.Name)
	case harness.ExportWord:
		c.exportWord(t)
	case harness.MountEntry:
		c.mount(t.Value)
	case harness.ProgramFlag:
		c.option(t)
	case harness.Argument:
		c.argument(t)
	}
}

// variable compares a variable of the launch with that of the step.
func (c *launchComparer) variable(v harness.Var) {
	rule := rules.VariableOf(c.on, v.Name)
	name := v.Name
	if rule.Action == rules.Rename {
		name = rule.To
	}
	n, found := c.env[name]
	switch {
	case rule.Action == rules.Drop:
		c.droppedVariable(v, n, found, rule.Why)
	case rule.Action == "" && c.renames[name] != "":
		found = false // the planned variable of this name is the renamed one
		c.addDifference(dropped, "env", v.Name, v.Value, "", because("replaced by "+c.renames[name]+": "+rules.WhyReplaced))
	case found:
		c.keptVariable(v, n, rule)
	case c.launch != nil && c.launch.Service == "etcd":
		c.addDifference(dropped, "env", v.Name, v.Value, "", c.explainEtcd(v.Name))
	default:
		c.addDifference(dropped, "env", v.Name, v.Value, "", c.explainVariable(name))
	}
	c.seen[name] = c.seen[name] || found
}

// droppedVariable compares a variable that is not carried over.
func (c *launchComparer) droppedVariable(v harness.Var, n plan.Var, found bool, why string) {
	switch {
	case !found:
		c.addDifference(dropped, "env", v.Name, v.Value, "", because(why))
	case n.Value == v.Value:
		c.same("env", v.Name)
	default:
		c.addDifference(changed, "env", v.Name, v.Value, n.Value, because(why))
	}
}

// keptVariable compares a variable that is carried over, possibly under a new name.
func (c *launchComparer) keptVariable(v harness.Var, n plan.Var, rule rules.Variable) {
	rewritten, rewrite := c.rewrites.Apply(v.Value)
	var why reason
	switch {
	case n.Value == rewritten && rewrite != "":
		why = because(rewrite + ": " + rules.WhyRewrite)
	case n.Value == rewritten && v.HasCommas:
		passed := strconv.Quote(secret.Redact(v.Name, v.Truncated))
		why = because("srun split the old value at its commas and passed " + passed +
			"; the new job passes the whole value")
	case n.Value != rewritten && n.Origin == "built-in":
		why = because("srt-slurm sets it")
	case n.Value != rewritten:
		why = c.explainVariable(n.Name)
	}
	switch {
	case rule.Action == rules.Rename && n.Value == rewritten:
		c.addDifference(renamed, "env", v.Name, "", "", why.or(because(rule.Why)))
		c.current.Differences[len(c.current.Differences)-1].To = n.Name
	case n.Value == v.Value && !v.HasCommas:
		c.same("env", v.Name)
	default:
		c.addDifference(changed, "env", v.Name, v.Value, n.Value, why)
	}
}

// explainVariable explains a difference by an answer, or by workers that differ in the variable.
func (c *launchComparer) explainVariable(name string) reason {
	path := recipes.Join(c.base, name)
	why := c.answer(path)
	if q := c.question(path, "differs").or(c.question(c.base, "list")); why.text == "" && q.text != "" {
		why = reason{"workers differ, and a role has one environment: " + q.text, q.asked}
	}
	return why
}

// bareVariable accounts for a name without a value in an --export list.
func (c *launchComparer) bareVariable(name string) {
	rule := rules.VariableOf(c.on, name)
	switch q := c.question(c.base, "export "+name); {
	case rule.Action == rules.Drop:
		c.addDifference(dropped, "env", name, "", "", because(rule.Why))
	case c.launch != nil && c.launch.Service == "etcd":
		c.addDifference(dropped, "env", name, "", "", c.explainEtcd(name))
	case q.asked:
		c.addDifference(changed, "env", name, "", "", q)
	default:
		c.addDifference(changed, "env", name, "", "", because("comes from the submitting shell, as before"))
	}
}

// exportWord accounts for ALL, NONE or NIL.
func (c *launchComparer) exportWord(t harness.Token) {
	if t.Value == "ALL" {
		c.compareValue("export", "ALL", "ALL", c.flags["--export"].Value, reason{})
		return
	}
	c.addDifference(changed, "export", t.Value, "", c.flags["--export"].Value, c.question(rules.SrunOptions, "--export"))
}

// addNewVariables adds the variables that the launch does not have.
func (c *launchComparer) addNewVariables() {
	for _, v := range c.step.Env {
		if c.seen[v.Name] {
			continue
		}
		if !strings.HasSuffix(v.Origin, "."+v.Name) && v.Origin != "benchmark.env" {
			c.addDifference(added, "env", v.Name, "", "", because("srt-slurm sets it: "+v.Origin))
			continue
		}
		var why reason
		if fixed, written := c.Fixed(recipes.Join(c.base, v.Name)); written {
			why = c.explainVariable(v.Name)
			for _, r := range rules.Added(c.on) {
				if r.Name == v.Name && r.To == v.Value {
					why = why.or(because(r.Why))
				}
			}
			if c.on == rules.Client {
				why = why.or(because(fixed))
			}
		}
		c.addDifference(added, "env", v.Name, "", v.Value, why)
	}
}

// explainEtcd explains a dropped variable of etcd. etcd reads only variables that begin with ETCD_,
// and there is a question about each of those.
func (c *launchComparer) explainEtcd(name string) reason {
	if !strings.HasPrefix(name, "ETCD_") {
		return because("etcd does not read it; the harness passed one list to all services")
	}
	return c.question("", "etcd "+name)
}

// flag compares a flag of srun.
func (c *launchComparer) flag(t harness.Token) {
	n, found := c.flags[t.Name]
	delete(c.flags, t.Name)
	rule := rules.FlagOf(t.Name)
	ask := c.question(rules.SrunOptions, t.Name)
	switch {
	case t.Name == "--container-image":
		field := "model.container"
		if c.on == rules.Client {
			field = "benchmark.container_image"
		}
		c.compareValue("flag", t.Name, t.Value, n.Value, c.explainField(field, "launched").or(c.answer("model.container")))
	case rule.Action == rules.Separate: // a list without an entry
		c.addDifference(dropped, "flag", t.Name, "", "", ask.or(because("the list is empty")))
	case found && n.Value == t.Value:
		c.same("flag", t.Name)
	case rule.Action == rules.Managed && !rule.Covers(t.Value):
		c.addDifference(changed, "flag", t.Name, t.Value, n.Value, ask)
	case rule.Action == rules.Managed && found:
		c.addDifference(changed, "flag", t.Name, "", "", because(rule.Why))
	case rule.Action == rules.Managed:
		c.addDifference(dropped, "flag", t.Name, "", "", because(rule.Why))
	case rule.Action == rules.Drop && !found:
		c.addDifference(dropped, "flag", t.Name, t.Value, "", because(rule.Why))
	case !found && t.Name == "--mpi" && c.on != rules.Worker:
		c.addDifference(dropped, "flag", t.Name, t.Value, "", because(c.serviceName()+" is not an MPI program"))
	case !found:
		c.addDifference(dropped, "flag", t.Name, t.Value, "", ask)
	default:
		c.compareValue("flag", t.Name, t.Value, n.Value, c.explainFlag(t.Name))
	}
}

func (c *launchComparer) serviceName() string {
	if c.launch == nil {
		return "the client"
	}
	return c.launch.Service
}

// explainFlag explains a different value of a flag that should be unchanged.
func (c *launchComparer) explainFlag(name string) reason {
	if c.on == rules.Worker && (name == "--nodes" || name == "--ntasks") {
		return c.explainSize(c.launch)
	}
	return c.question(rules.SrunOptions, name)
}

// addNewFlags adds the flags of srun that the launch does not have.
func (c *launchComparer) addNewFlags() {
	for _, f := range harness.SrunOptions(c.step.Launch) {
		if _, remaining := c.flags[f.Name]; remaining && rules.FlagOf(f.Name).Action != rules.Separate &&
			f.Name != "--container-image" {
			c.addDifference(added, "flag", f.Name, "", "",
				c.answer(rules.SrunOptions).or(because("srt-slurm starts steps with it")))
		}
	}
}

const mountField = "extra_mount"

func (c *launchComparer) explainMount() reason {
	topic := "client"
	if c.launch != nil {
		topic = c.launch.Name()
	}
	return c.explainField(mountField, topic)
}

// mount compares an entry of --container-mounts with the mounts of the plan.
func (c *launchComparer) mount(m string) {
	to := strings.Join(c.rewrites.Mounts(m), "")
	c.mounts[to] = true
	planned := slices.ContainsFunc(c.plan.Mounts, func(p plan.Mount) bool { return p.Host+":"+p.Container == to })
	switch {
	case planned && to == m:
		c.same("mount", m)
	case planned:
		c.addDifference(changed, "mount", m, "", to, because(rules.WhyRewrite))
	default:
		c.addDifference(dropped, "mount", m, "", "", c.explainMount())
	}
}

// addNewMounts adds the mounts that the launch does not have, if it has a list of mounts.
func (c *launchComparer) addNewMounts() {
	if len(c.mounts) == 0 {
		return
	}
	for _, m := range c.plan.Mounts {
		mount := m.Host + ":" + m.Container
		switch {
		case c.mounts[mount]:
		case m.Source == mountField:
			c.addDifference(added, "mount", mount, "", "", c.explainMount().or(c.clientMount()))
		default:
			c.addDifference(added, "mount", mount, "", "", because("srt-slurm mounts it: "+m.Source))
		}
	}
}

// clientMount explains a mount that only the client had: all steps have the same mounts.
func (c *launchComparer) clientMount() reason {
	if l := c.run.Client.Launch; l != nil && c.on != rules.Client && l.Mounts.Value != "" {
		return because("the client had it; all steps of a recipe have the same mounts")
	}
	if c.on == rules.Client {
		return because("the servers had it; all steps of a recipe have the same mounts")
	}
	return reason{}
}

// argument compares an argument of a worker's start script.
func (c *launchComparer) argument(t harness.Token) {
	name := strconv.Itoa(t.Index + 1)
	switch rules.ComparedArgument(c.launch, t) {
	case rules.ModelArgument:
		c.model(t)
	case rules.LevelsArgument:
		const field = "benchmark.concurrency"
		if c.hasLevels(t.Value) {
			c.addDifference(changed, "argument", name, t.Value, "", because("the concurrency levels are in the recipe"))
			return
		}
		c.addDifference(dropped, "argument", name, t.Value, "",
			c.question(field, "disagrees").or(c.answer(field), c.question(field, "")))
	case rules.ConfigArgument:
		field := c.launch.Role.ConfigPath(schema.TRTLLM)
		why := c.question(field, "file "+t.Value).or(c.question(field, "file"), c.question(field, ""), c.answer(field))
		if c.run.Engines[c.launch.Role] != nil {
			why = why.or(because("its values are in the recipe, one by one"))
		}
		c.addDifference(changed, "argument", name, t.Value, "", why)
	}
}

// hasLevels reports whether the plan has all concurrency levels of a list.
func (c *launchComparer) hasLevels(list string) bool {
	levels := rules.Levels(list)
	return len(levels) > 0 && !slices.ContainsFunc(levels, func(n int) bool {
		return !slices.ContainsFunc(c.plan.Phases, func(p plan.Phase) bool { return p.Concurrency == n })
	})
}

// model compares the old model of a worker with that of the plan.
func (c *launchComparer) model(t harness.Token) {
	const field = "model.path"
	if t.Value == "" {
		c.addDifference(dropped, "argument", "model", "", "", because("the argument is empty"))
		return
	}
	now := ""
	for _, m := range c.plan.Mounts {
		if m.Source == field {
			now = m.Host
		}
	}
	if now == "" && slices.Contains(c.step.Argv, t.Value) { // a model of a hub, which is not mounted
		now = t.Value
	}
	c.compareValue("argument", "model", t.Value, now, c.explainField(field, "launched"))
}

// frontendVariables maps flags of the frontend to the variables from which the harness's start
// script sets them.
var frontendVariables = map[string]string{
	"router-mode": "ROUTER_MODE", "no-router-kv-events": "DYN_FRONTEND_ENABLE_KV_EVENTS",
	"kv-cache-block-size": "DYN_KV_BLOCK_SIZE", "request-plane": "DYN_REQUEST_PLANE",
}

func argPath(name string) string { return recipes.Join("frontend.args", name) }

// option compares a flag of the frontend.
func (c *launchComparer) option(t harness.Token) {
	name := strings.TrimPrefix(t.Name, "--")
	value, found := c.options[name]
	delete(c.options, name)
	why := c.answer(argPath(name)).or(c.question(argPath(name), "launched"))
	switch {
	case found:
		c.compareValue("flag", t.Name, t.Value, value, why)
	case rules.IsParserFlag(name):
		c.addDifference(dropped, "flag", t.Name, t.Value, "", because(rules.WhyParserFlag))
	default:
		c.addDifference(dropped, "flag", t.Name, t.Value, "", why)
	}
}

// addNewOptions adds the flags of the frontend that the launch does not have.
func (c *launchComparer) addNewOptions() {
	for _, name := range sortedNames(c.options) {
		why := c.answer(argPath(name))
		if v := frontendVariables[name]; why.text == "" && v != "" {
			old, given := c.launch.Lookup(v)
			switch value := c.options[name]; {
			case !given:
				why = because("fallback for " + v)
			case value == old.Value, value == "" && old.Value != "1": // a switch that turns off what 1 turns on
				why = because("from " + v)
			default:
				why = c.question(argPath(name), "")
			}
		} else if why.text == "" {
			fixed, _ := c.Fixed(argPath(name))
			why = because(fixed)
		}
		c.addDifference(added, "flag", "--"+name, "", c.options[name], why)
	}
}

// addPublishing adds the flag with which the new workers publish metrics. Whether the old ones did is in the
// harness's start script, which launch lines do not show.
func (c *launchComparer) addPublishing() {
	for _, name := range []string{backend.PublishEventsFlag, backend.PublishMetricsFlag} {
		if slices.Contains(c.step.Argv, name) {
			why := "srt-slurm passes it, unless engine.publish_metrics is false; launch lines do not show the old setting"
			c.addDifference(added, "flag", name, "", "", because(why))
		}
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
