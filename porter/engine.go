package porter

import (
	"fmt"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

var engineFiles = map[schema.Role]string{schema.Prefill: harness.CTXConfig, schema.Decode: harness.GENConfig}

// engineFields sets the fields of the workers: binding, environments and engine configs.
func (p *porting) engineFields() {
	p.setRecipe("backend.type", plain(schema.TRTLLM), fixed("the harness serves with TensorRT-LLM"))
	p.setRecipe("backend.numa_memory_bind", boolean(true), fixed("memory stays on the NUMA nodes of the GPUs"))
	p.cpuBind()
	for _, r := range roles {
		p.workerEnvironment(r)
		p.engineConfig(r)
	}
	p.jobEnvironment()
}

func (p *porting) cpuBind() {
	const base = "backend.numa_cpu_bind"
	pinning := p.run.Pinning
	switch {
	case pinning.Found.Artifact != "":
		p.setRecipe(base, boolean(true), inferred("a prefill worker's log shows taskset -c", "", pinning.Found))
	case len(pinning.Logs) > 0:
		p.setRecipe(base, boolean(false),
			inferred("no prefill worker's log shows taskset -c", "in the first 4 MiB of each", pinning.Logs...))
		if n := len(p.run.Launches.Workers[schema.Prefill]); n > len(pinning.Logs) {
			p.ask(Note, Recipe, base, "logs", nil, "only %d of %d prefill workers have a log", len(pinning.Logs), n)
		}
	default:
		p.setRecipe(base, boolean(false), placeholder("no prefill worker's log found"))
		p.ask(Confirm, Recipe, base, "", nil,
			"no log of a prefill worker (3_output_CTX_<i>.log) found: confirm that workers were not pinned with taskset")
	}
}

func (p *porting) workerEnvironment(r schema.Role) {
	env := environment{p, rules.Worker, r.EnvPath()}
	ws := p.run.Launches.Workers[r]
	if len(ws) == 0 {
		p.ask(MustFix, Recipe, env.base, "", nil,
			"no %s launch line, so its environment is unknown: fill it in", harness.RoleName(r))
		env.fields(nil)
		return
	}
	if !ws[0].HasEnv {
		p.ask(MustFix, Recipe, env.base, "", evidence(ws[0].At("", "", 0)),
			"the launch line of %s has no list of variables: fill in its environment", ws[0].Name())
	}
	env.askBareNames(ws[0])
	env.fields(ws[0].Env)
	env.compareWorkers(ws)
}

// jobEnvironment asks about variables of DYNAMO_JOB_ENV that no launch line has.
func (p *porting) jobEnvironment() {
	v := p.run.Params["DYNAMO_JOB_ENV"]
	launches := &p.run.Launches
	for _, x := range harness.SplitEnvList(v.Text) {
		sets := func(l *harness.Launch) bool { _, has := l.Lookup(x.Name); return has }
		if launches.Count > 0 && !slices.ContainsFunc(launches.FirstOfEach(), sets) {
			p.ask(Confirm, "", "", "DYNAMO_JOB_ENV "+x.Name, evidence(v.At),
				"DYNAMO_JOB_ENV sets %s, but no launch line has it: add it if the servers need it", safetext.Clip(x.Raw, 100))
		}
	}
}

// engineConfig copies an engine config and rewrites the path prefixes of its strings.
func (p *porting) engineConfig(r schema.Role) {
	base, name := r.ConfigPath(schema.TRTLLM), engineFiles[r]
	doc := p.run.Engines[r]
	if doc == nil {
		what := "is missing"
		for _, a := range p.run.Artifacts {
			if a.Name == name && a.Problem != "" {
				what = "can't be used: " + a.Problem
			}
		}
		p.setRecipe(base, emptyMap(), placeholder(name+" "+what))
		p.ask(MustFix, Recipe, base, "", evidence(Evidence{Artifact: name}), "%s %s: fill in the engine config", name, what)
		return
	}
	p.askConfigLines(MustFix, base, name, doc.Problems)
	p.askConfigLines(Note, base, name, doc.Notes)
	if len(doc.Leaves) == 0 {
		p.setRecipe(base, emptyMap(), copied(Evidence{Artifact: name, Line: 1}))
	}
	for _, leaf := range doc.Leaves {
		at := doc.At(leaf)
		node, from := p.rewriteNode(leaf.Node, at)
		p.setField(Recipe, base, leaf.Keys, node, from)
		for _, text := range texts(node) {
			p.askPath(base+"."+leaf.Path(), text, at)
		}
	}
	if size, ok := doc.Find("tensor_parallel_size"); ok {
		p.checkSize(r, doc, size)
	}
}

func (p *porting) askConfigLines(kind TodoKind, base, name string, problems []harness.Problem) {
	for _, x := range problems {
		p.ask(kind, Recipe, base, fmt.Sprintf("line %d", x.Line), evidence(Evidence{Artifact: name, Line: x.Line}),
			"%s:%d: %s", name, x.Line, x.Text)
	}
}

// checkSize compares tensor × pipeline parallelism with the ranks of a worker.
func (p *porting) checkSize(r schema.Role, doc *harness.Config, size yamldoc.Leaf) {
	l := p.run.Launches.First(r)
	tp, err := strconv.Atoi(size.Node.Value)
	pp := 1
	if leaf, ok := doc.Find("pipeline_parallel_size"); ok && err == nil {
		pp, err = strconv.Atoi(leaf.Node.Value)
	}
	if err != nil || l == nil || l.Tasks == 0 || tp*pp == l.Tasks {
		return
	}
	at := evidence(doc.At(size), l.At("-n", strconv.Itoa(l.Tasks), 0))
	p.ask(Confirm, Recipe, r.ConfigPath(schema.TRTLLM)+".tensor_parallel_size", "ranks", at,
		"tensor × pipeline parallelism is %d, but %s was launched with -n %d: check both", tp*pp, l.Name(), l.Tasks)
}

// texts returns the strings of a value.
func texts(n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		if n.Tag == "!!str" {
			return []string{n.Value}
		}
		return nil
	}
	var out []string
	for _, c := range n.Content {
		out = append(out, texts(c)...)
	}
	return out
}
