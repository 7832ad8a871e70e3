package porter

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// engineFields sets the fields of the workers: binding, environments and engine configs.
func (p *porting) engineFields() {
	p.setRecipe("backend.type", plain(schema.TRTLLM), fixed("the harness serves with TensorRT-LLM"))
	p.setRecipe("backend.numa_memory_bind", boolean(true), fixed("memory stays on the NUMA nodes of the GPUs"))
	p.cpuBind()
	for _, r := range p.run.Roles() {
		p.workerEnvironment(r)
		p.engineConfig(r)
	}
	p.jobEnvironment()
}

func (p *porting) cpuBind() {
	const base = "backend.numa_cpu_bind"
	pinning, worker, log := p.run.Pinning, "prefill worker", "3_output_CTX_<i>.log"
	if p.run.Aggregated {
		worker, log = "worker", "3_output_GEN_<i>.log"
	}
	switch {
	case pinning.Found.Artifact != "":
		p.setRecipe(base, boolean(true), inferred("a "+worker+"'s log shows taskset -c", "", pinning.Found))
	case len(pinning.Logs) > 0:
		p.setRecipe(base, boolean(false),
			inferred("no "+worker+"'s log shows taskset -c", "in the first 4 MiB of each", pinning.Logs...))
		if n := len(p.run.Launches.Workers[p.run.Roles()[0]]); n > len(pinning.Logs) {
			p.ask(Note, Recipe, base, "logs", nil, "logs of only %d of %d %ss found", len(pinning.Logs), n, worker)
		}
	default:
		p.setRecipe(base, boolean(false), placeholder("no "+worker+"'s log found"))
		p.ask(Confirm, Recipe, base, "", nil,
			"no log of a %s (%s) found: confirm that workers were not pinned with taskset", worker, log)
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
	for _, w := range ws {
		env.askBareNames(w)
	}
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
				"DYNAMO_JOB_ENV sets %s, but no launch line has it: add it if the servers need it",
				safetext.Clip(secret.RedactText(x.Raw), 100))
		}
	}
}

// engineConfig copies the engine config of a role's first worker and rewrites the path prefixes of its strings.
func (p *porting) engineConfig(r schema.Role) {
	base := r.ConfigPath(schema.TRTLLM)
	files := p.run.EngineFiles[r]
	first := files[0]
	if first.Config == nil {
		p.missingConfig(r, first)
		return
	}
	doc, name := first.Config, first.Config.Artifact
	p.askConfigSource(base, first)
	p.compareConfigs(base, files)
	p.askConfigLines(MustFix, base, name, doc.Problems)
	p.askConfigLines(Note, base, name, doc.Notes)
	found := func(ev Evidence) origin {
		if first.Inferred != "" {
			return inferred(first.Inferred, "", ev)
		}
		return copied(ev)
	}
	if len(doc.Leaves) == 0 {
		p.setRecipe(base, emptyMap(), found(Evidence{Artifact: name, Line: 1}))
	}
	for _, leaf := range doc.Leaves {
		at := doc.At(leaf)
		node, from := p.rewriteNode(leaf.Node, at)
		if from.class == Copied {
			from = found(at)
		}
		p.setField(Recipe, base, leaf.Keys, node, from)
		for _, text := range texts(node) {
			p.askPath(base+"."+leaf.Path(), text, at)
		}
	}
	if size, ok := doc.Find("tensor_parallel_size"); ok {
		p.checkSize(r, doc, size)
	}
}

// missingConfig asks for an engine config that was not found or can't be used.
func (p *porting) missingConfig(r schema.Role, file harness.EngineFile) {
	base := r.ConfigPath(schema.TRTLLM)
	at := evidence(Evidence{Artifact: file.Artifact})
	what := "is missing"
	for _, a := range p.run.Artifacts {
		if a.Name == file.Artifact && a.Problem != "" {
			what = "can't be used: " + a.Problem
		}
	}
	name := safetext.Clip(file.Artifact, 160)
	p.setRecipe(base, emptyMap(), placeholder(name+" "+what))
	if file.Named.Text != "" {
		at = append(at, file.Named.At)
		if usual := harness.UsualConfig(r); p.run.Exists(usual) && usual != file.Artifact {
			what += fmt.Sprintf("; %s was launched with it, so %s is not its config", file.Workers[0].Name(), usual)
		}
	}
	p.ask(MustFix, Recipe, base, "", at, "%s %s: fill in the engine config", name, what)
}

// askConfigSource asks about an engine config that is not in the run directory, or that the launch lines do
// not name by its path.
func (p *porting) askConfigSource(base string, file harness.EngineFile) {
	at := evidence(Evidence{Artifact: file.Artifact}, file.Named.At)
	switch {
	case file.Named.Text == "":
	case file.Inferred != "":
		p.ask(Confirm, Recipe, base, "file", at, "%s was launched with %s, which was not found; %s in the run directory "+
			"was read instead: confirm that it is a copy", file.Workers[0].Name(), safetext.Clip(file.Named.Text, 160),
			file.Artifact)
	case filepath.IsAbs(file.Artifact):
		p.ask(Confirm, Recipe, base, "file", at, "%s is not in the run directory: confirm that it has not been changed "+
			"since the run", safetext.Clip(file.Artifact, 160))
	}
}

// compareConfigs asks about the engine configs in which the other workers of a role differ from the first one.
func (p *porting) compareConfigs(base string, files []harness.EngineFile) {
	first := files[0]
	for _, other := range files[1:] {
		at := evidence(first.Named.At, other.Named.At)
		var names []string
		for _, l := range other.Workers[:min(len(other.Workers), 16)] {
			names = append(names, l.Name())
		}
		t := Todo{Kind: MustFix, File: Recipe, Path: base, Evidence: at, Steps: names}
		same := fmt.Sprintf("launched with %s, but %s with %s", safetext.Clip(other.Artifact, 120),
			first.Workers[0].Name(), safetext.Clip(first.Artifact, 120))
		if other.Config == nil {
			t.Message = same + ", and the former can't be read: a role has one engine config; compare the two"
		} else if t.Details = configDifferences(first.Config, other.Config); len(t.Details) > 0 {
			t.Message = same + ": a role has one engine config; the latter is written"
		} else {
			t.Kind, t.Message = Note, same+"; both are the same"
		}
		p.addTodo("file "+other.Named.Text, t)
	}
}

// maxDetails bounds the lines of details of a question.
const maxDetails = 50

// configDifferences returns the differences of two engine configs, one per line, with both places.
func configDifferences(a, b *harness.Config) []string {
	have := map[string]yamldoc.Leaf{}
	for _, l := range b.Leaves {
		have[l.Path()] = l
	}
	place := func(c *harness.Config, l yamldoc.Leaf) string {
		return fmt.Sprintf("%s (%s:%d)", safetext.Clip(yamldoc.Text(l.Node), 60), c.Artifact, l.Node.Line)
	}
	var out []string
	for _, l := range a.Leaves {
		other, ok := have[l.Path()]
		delete(have, l.Path())
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%s: %s; not in %s", l.Path(), place(a, l), b.Artifact))
		case yamldoc.Text(l.Node) != yamldoc.Text(other.Node):
			out = append(out, fmt.Sprintf("%s: %s; %s", l.Path(), place(a, l), place(b, other)))
		}
	}
	for _, l := range b.Leaves {
		if _, only := have[l.Path()]; only {
			out = append(out, fmt.Sprintf("%s: %s; not in %s", l.Path(), place(b, l), a.Artifact))
		}
	}
	return clipDetails(out)
}

// clipDetails shortens a list of details.
func clipDetails(lines []string) []string {
	if n := len(lines); n > maxDetails {
		return append(lines[:maxDetails-1:maxDetails-1], fmt.Sprintf("… and %d more", n-maxDetails+1))
	}
	return lines
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
