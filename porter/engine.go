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

// engineFields decides what runs the workers: binding, environments and engine
// configs.
type engineFields struct {
	in  *input
	out *draft
}

var engineFiles = map[schema.Role]string{schema.Prefill: harness.CTXConfig, schema.Decode: harness.GENConfig}

func (e *engineFields) fields() {
	e.out.recipe("backend.type", plain(schema.TRTLLM), fixed("the harness serves with TensorRT-LLM"))
	e.out.recipe("backend.numa_memory_bind", boolean(true), fixed("memory stays on the NUMA nodes of the GPUs"))
	e.cpuBind()
	for _, r := range roles {
		e.environment(r)
		e.config(r)
	}
	e.jobEnvironment()
}

func (e *engineFields) cpuBind() {
	const base = "backend.numa_cpu_bind"
	pinning := e.in.run.Pinning
	switch {
	case pinning.Found.Artifact != "":
		e.out.recipe(base, boolean(true), inferred("a prefill worker's log shows taskset -c", "", pinning.Found))
	case len(pinning.Logs) > 0:
		e.out.recipe(base, boolean(false),
			inferred("no prefill worker's log shows taskset -c", "in the first 4 MiB of each", pinning.Logs...))
		if n := len(e.in.run.Launches.Workers[schema.Prefill]); n > len(pinning.Logs) {
			e.out.ask(Note, Recipe, base, "logs", nil,
				"only %d of %d prefill workers left a log to look at", len(pinning.Logs), n)
		}
	default:
		e.out.recipe(base, boolean(false), placeholder("no prefill worker's log is there"))
		e.out.ask(Confirm, Recipe, base, "", nil,
			"no log of a prefill worker (3_output_CTX_<i>.log) is there: confirm that workers were not pinned with taskset")
	}
}

func (e *engineFields) environment(r schema.Role) {
	env := environment{e.in, e.out, rules.Worker, r.EnvPath()}
	ws := e.in.run.Launches.Workers[r]
	if len(ws) == 0 {
		e.out.ask(MustFix, Recipe, env.base, "", nil,
			"no %s launch line, so its environment is unknown: fill it in", harness.RoleWord(r))
		env.fields(nil)
		return
	}
	if !ws[0].HasEnv {
		e.out.ask(MustFix, Recipe, env.base, "", evidence(ws[0].At("", "", 0)),
			"the launch of %s has no list of variables among its arguments: fill them in", ws[0].Name())
	}
	env.askBareNames(ws[0])
	env.fields(ws[0].Env)
	env.compare(ws)
}

// jobEnvironment checks that DYNAMO_JOB_ENV reached a launch line.
func (e *engineFields) jobEnvironment() {
	v := e.in.run.Params["DYNAMO_JOB_ENV"]
	launches := &e.in.run.Launches
	for _, x := range harness.SplitEnvList(v.Text) {
		gives := func(l *harness.Launch) bool { _, has := l.Lookup(x.Name); return has }
		if launches.Count > 0 && !slices.ContainsFunc(launches.FirstOfEach(), gives) {
			e.out.ask(Confirm, "", "", "DYNAMO_JOB_ENV "+x.Name, evidence(v.At),
				"DYNAMO_JOB_ENV sets %s, but no launch line has it: add it if the servers need it", safetext.Clip(x.Raw, 100))
		}
	}
}

// config carries an engine config over as it is written, with path prefixes
// rewritten inside strings.
func (e *engineFields) config(r schema.Role) {
	base, name := r.ConfigPath(schema.TRTLLM), engineFiles[r]
	doc := e.in.run.Engines[r]
	if doc == nil {
		what := "is missing"
		for _, a := range e.in.run.Artifacts {
			if a.Name == name && a.Problem != "" {
				what = "can't be used: " + a.Problem
			}
		}
		e.out.recipe(base, emptyMap(), placeholder(name+" "+what))
		e.out.ask(MustFix, Recipe, base, "", evidence(Evidence{Artifact: name}),
			"%s %s: fill in the engine config", name, what)
		return
	}
	e.askLines(MustFix, base, name, doc.Problems)
	e.askLines(Note, base, name, doc.Notes)
	if len(doc.Leaves) == 0 {
		e.out.recipe(base, emptyMap(), copied(Evidence{Artifact: name, Line: 1}))
	}
	for _, leaf := range doc.Leaves {
		at := doc.At(leaf)
		node, from := e.in.movedNode(leaf.Node, at)
		e.out.put(Recipe, base, leaf.Keys, node, from)
		for _, text := range texts(node) {
			askPath(e.in, e.out, base+"."+leaf.Path(), text, at)
		}
	}
	if size, ok := doc.Find("tensor_parallel_size"); ok {
		e.checkSize(r, doc, size)
	}
}

func (e *engineFields) askLines(kind TodoKind, base, name string, ps []harness.Problem) {
	for _, p := range ps {
		e.out.ask(kind, Recipe, base, fmt.Sprintf("line %d", p.Line), evidence(Evidence{Artifact: name, Line: p.Line}),
			"%s:%d: %s", name, p.Line, p.Text)
	}
}

// checkSize compares tensor × pipeline parallelism with the ranks of a worker.
func (e *engineFields) checkSize(r schema.Role, doc *harness.Config, size yamldoc.Leaf) {
	l := e.in.run.Launches.First(r)
	tp, err := strconv.Atoi(size.Node.Value)
	pp := 1
	if leaf, ok := doc.Find("pipeline_parallel_size"); ok && err == nil {
		pp, err = strconv.Atoi(leaf.Node.Value)
	}
	if err != nil || l == nil || l.Tasks == 0 || tp*pp == l.Tasks {
		return
	}
	at := evidence(doc.At(size), l.At("-n", strconv.Itoa(l.Tasks), 0))
	e.out.ask(Confirm, Recipe, r.ConfigPath(schema.TRTLLM)+".tensor_parallel_size", "ranks", at,
		"tensor × pipeline parallelism is %d, but %s was launched with -n %d: check both", tp*pp, l.Name(), l.Tasks)
}

// texts lists the strings of a value.
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
