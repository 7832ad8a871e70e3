package porter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

var (
	envBases    = map[role]string{prefill: schema.Prefill.EnvPath(), decode: schema.Decode.EnvPath()}
	engineBases = map[role]string{prefill: schema.Prefill.ConfigPath(schema.TRTLLM), decode: schema.Decode.ConfigPath(schema.TRTLLM)}
	engineFiles = map[role]string{prefill: nameCTX, decode: nameGEN}
)

// backend writes the engine: binding, environments and engine configs.
func (b *builder) backend() {
	b.fixed("backend.type", plain(schema.TRTLLM), "the harness serves with TensorRT-LLM")
	b.fixed("backend.numa_memory_bind", boolean(true), "memory stays on the NUMA nodes of the GPUs")
	b.cpuBind()
	for _, r := range []role{prefill, decode} {
		b.workerEnvironment(r)
		b.engineConfig(r)
	}
	b.jobEnvironment()
}

func (b *builder) cpuBind() {
	const base = "backend.numa_cpu_bind"
	switch {
	case b.pinned.found.Artifact != "":
		b.recipe(base, boolean(true), Inferred, "a prefill worker's log shows taskset -c", "", b.pinned.found)
	case len(b.pinned.logs) > 0:
		b.recipe(base, boolean(false), Inferred, "no prefill worker's log shows taskset -c", "in the first 4 MiB of each", b.pinned.logs...)
		if n := len(b.launches.workers[prefill]); n > len(b.pinned.logs) {
			b.ask(Note, Recipe, base, "logs", fmt.Sprintf("only %d of %d prefill workers left a log to look at", len(b.pinned.logs), n))
		}
	default:
		b.recipe(base, boolean(false), Missing, "placeholder", "no prefill worker's log is there")
		b.ask(Confirm, Recipe, base, "", "no log of a prefill worker (3_output_CTX_<i>.log) is there: confirm that workers were not pinned with taskset")
	}
}

func (b *builder) workerEnvironment(r role) {
	base := envBases[r]
	ws := b.launches.workers[r]
	if len(ws) == 0 {
		b.ask(MustFix, Recipe, base, "", fmt.Sprintf("no %s launch line, so its environment is unknown: fill it in", r.harness()))
		b.environmentFields(base, onWorker, nil)
		return
	}
	if !ws[0].hasEnv {
		b.ask(MustFix, Recipe, base, "", fmt.Sprintf("the launch of %s has no list of variables among its arguments: fill them in", ws[0].who()), ws[0].ev("", "", 0))
	}
	b.askBareNames(base, ws[0])
	b.environmentFields(base, onWorker, ws[0].environment())
	b.compareWorkers(base, ws)
}

// jobEnvironment checks that DYNAMO_JOB_ENV reached a launch line.
func (b *builder) jobEnvironment() {
	v, ok := b.params.vars["DYNAMO_JOB_ENV"]
	if !ok {
		return
	}
	vars, _ := splitEnvList(v.value)
	for _, x := range vars {
		found := false
		for _, l := range []*launch{b.launches.frontend, b.first(prefill), b.first(decode)} {
			_, has := l.lookup(x.name)
			found = found || has
		}
		if !found && b.launches.count > 0 {
			b.ask(Confirm, "", "", "DYNAMO_JOB_ENV "+x.name, fmt.Sprintf("DYNAMO_JOB_ENV sets %s, but no launch line has it: add it if the servers need it", clip(x.raw, 100)), v.at)
		}
	}
}

func (b *builder) first(r role) *launch {
	if ws := b.launches.workers[r]; len(ws) > 0 {
		return ws[0]
	}
	return nil
}

// engineConfig carries an engine config over as it is written, with path
// prefixes rewritten inside strings.
func (b *builder) engineConfig(r role) {
	base, name := engineBases[r], engineFiles[r]
	doc := b.engines[r]
	if doc == nil {
		what := "is missing"
		for _, a := range b.res.Artifacts {
			if a.Name == name && a.Problem != "" {
				what = "can't be used: " + a.Problem
			}
		}
		b.recipe(base, emptyMap(), Missing, "placeholder", name+" "+what)
		b.ask(MustFix, Recipe, base, "", fmt.Sprintf("%s %s: fill in the engine config", name, what), Evidence{Artifact: name})
		return
	}
	for _, p := range doc.problems {
		b.ask(MustFix, Recipe, base, fmt.Sprintf("line %d", p.line), fmt.Sprintf("%s:%d: %s", name, p.line, p.text), Evidence{Artifact: name, Line: p.line})
	}
	for _, p := range doc.notes {
		b.ask(Note, Recipe, base, fmt.Sprintf("line %d", p.line), fmt.Sprintf("%s:%d: %s", name, p.line, p.text), Evidence{Artifact: name, Line: p.line})
	}
	if len(doc.leaves) == 0 {
		b.recipe(base, emptyMap(), Copied, "", "", Evidence{Artifact: name, Line: 1})
	}
	for _, leaf := range doc.leaves {
		ev := doc.ev(name, leaf)
		f := Field{File: Recipe, base: base, sub: leaf.keys, Class: Copied, Evidence: []Evidence{ev}}
		f.node, f.Rule = b.rewriteNode(leaf.node)
		if f.Rule != "" {
			f.Class, f.Why = Translated, whyRewrite
		}
		b.put(f)
		for _, text := range texts(f.node) {
			b.pathTodos(base+"."+leaf.path(), text, ev)
		}
	}
	if size, ok := doc.find("tensor_parallel_size"); ok {
		b.checkSize(r, doc, size)
	}
}

// checkSize compares tensor × pipeline parallelism with the ranks of a worker.
func (b *builder) checkSize(r role, doc *yamlDoc, size yamlLeaf) {
	l := b.first(r)
	tp, err := strconv.Atoi(size.node.Value)
	pp := 1
	if leaf, ok := doc.find("pipeline_parallel_size"); ok && err == nil {
		pp, err = strconv.Atoi(leaf.node.Value)
	}
	if err != nil || l == nil || l.tasks == 0 || tp*pp == l.tasks {
		return
	}
	b.ask(Confirm, Recipe, engineBases[r]+".tensor_parallel_size", "ranks", fmt.Sprintf("tensor × pipeline parallelism is %d, but %s was launched with -n %d: check both", tp*pp, l.who(), l.tasks), doc.ev(engineFiles[r], size), l.ev("-n", strconv.Itoa(l.tasks), 0))
}

// rewriteNode rewrites the strings of a value; the original stays as it is.
func (b *builder) rewriteNode(n *yaml.Node) (*yaml.Node, string) {
	if n.Kind == yaml.ScalarNode {
		if n.Tag != "!!str" {
			return n, ""
		}
		text, rule := b.rewrites.apply(n.Value)
		if rule == "" {
			return n, ""
		}
		c := *n
		c.Value = text
		return &c, rule
	}
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	rule := ""
	for i, k := range n.Content {
		var did string
		c.Content[i], did = b.rewriteNode(k)
		if did != "" && !strings.Contains(rule, did) {
			rule = join(rule, did)
		}
	}
	return &c, rule
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

// frontend writes dynamo, the frontend's flags and environment, and where etcd
// runs.
func (b *builder) frontend() {
	b.fixed("dynamo.install", boolean(false), "the image already holds dynamo")
	plane, planeRule, planeEv := b.requestPlane()
	class := Copied
	if len(planeEv) == 0 {
		class = Default
	}
	b.recipe("dynamo.request_plane", plain(plane), class, planeRule, "", planeEv...)
	b.fixed("dynamo.event_plane", plain("zmq"), "the harness runs no NATS")
	b.fixed("frontend.type", plain("dynamo"), "the harness serves through dynamo's frontend")
	b.fixed("frontend.enable_multiple_frontends", boolean(false), "the harness runs one frontend, with no nginx before it")
	b.frontendArgs(plane, planeRule, planeEv)
	l := b.launches.frontend
	var vars []envVar
	switch {
	case l == nil:
		b.ask(MustFix, Recipe, "frontend.env", "", "job.log has no launch line of the frontend: fill in its environment and check frontend.args")
	case !l.hasExport:
		b.ask(Confirm, Recipe, "frontend.env", "", "the frontend's launch line has no --export list: confirm that it needs no environment", l.ev("", "", 0))
	default:
		vars = l.environment()
		b.askBareNames("frontend.env", l)
	}
	if l != nil {
		b.askLaunch("frontend.env", l)
	}
	b.environmentFields("frontend.env", onFrontend, vars)
	b.infra()
	b.askEtcd()
}

// askBareNames asks about variables that came from the submitting shell.
func (b *builder) askBareNames(base string, l *launch) {
	for _, e := range l.export {
		if e.bare && e.name != "ALL" && e.name != "NONE" && e.name != "NIL" && !dropped(e.name) {
			b.ask(Confirm, Recipe, base, "export "+e.name, fmt.Sprintf("--export of %s names %s without a value: it came from the submitting shell, add it if it is needed", l.who(), clip(e.name, 60)), l.ev(e.name, e.raw, l.exportAt+e.offset))
		}
	}
}

// askLaunch reports what is odd about a launch line.
func (b *builder) askLaunch(path string, l *launch) {
	if l.starts > 1 {
		b.ask(Note, "", "", l.who()+" launches", fmt.Sprintf("%s was launched %d times; the last launch (line %d) counts", l.who(), l.starts, l.line), launchLines(l)...)
	}
	b.askFlags(l)
	for _, p := range l.problems {
		b.ask(Confirm, Recipe, path, l.who()+" launch", l.who()+": "+p, l.ev("", "", 0))
	}
}

// requestPlane is DYN_REQUEST_PLANE of the frontend, else of a worker.
func (b *builder) requestPlane() (plane, rule string, ev []Evidence) {
	for _, l := range []*launch{b.launches.frontend, b.first(prefill), b.first(decode)} {
		v, ok := l.lookup("DYN_REQUEST_PLANE")
		if !ok || v.value == "" {
			continue
		}
		if plane == "" {
			plane = v.value
		} else if v.value != plane {
			b.ask(Confirm, Recipe, "dynamo.request_plane", "disagrees", fmt.Sprintf("the frontend and %s disagree (%s, %s): confirm which one", l.who(), plane, v.value), append(ev, v.at)...)
			continue
		}
		ev = append(ev, v.at)
	}
	if plane == "" {
		return "tcp", "fallback", nil
	}
	return plane, "", ev
}

func (b *builder) frontendArgs(plane, planeRule string, planeEv []Evidence) {
	l := b.launches.frontend
	arg := func(name string, node *yaml.Node, c Class, rule, why string, ev ...Evidence) {
		b.put(Field{File: Recipe, base: "frontend.args", sub: keys(name), node: node, Class: c, Rule: rule, Why: why, Evidence: ev})
	}
	fromVariable := func(name, variable, fallback string, node func(string) *yaml.Node) {
		if v, ok := l.lookup(variable); ok && v.value != "" {
			arg(name, node(v.value), Copied, "", "", v.at)
			return
		}
		arg(name, node(fallback), Default, "fallback", variable+" is not in the frontend's --export list")
	}
	fromVariable("router-mode", "ROUTER_MODE", "kv", plain)
	events, ok := l.lookup("DYN_FRONTEND_ENABLE_KV_EVENTS")
	if ok {
		arg("no-router-kv-events", boolean(events.value != "1"), Translated, "true unless DYN_FRONTEND_ENABLE_KV_EVENTS is 1", "the variable is the harness's, the flag is the frontend's", events.at)
	} else {
		arg("no-router-kv-events", boolean(true), Default, "fallback", "DYN_FRONTEND_ENABLE_KV_EVENTS is not in the frontend's --export list")
	}
	fromVariable("kv-cache-block-size", "DYN_KV_BLOCK_SIZE", "128", func(s string) *yaml.Node {
		if _, err := strconv.Atoi(s); err != nil {
			b.ask(MustFix, Recipe, "frontend.args.kv-cache-block-size", "", fmt.Sprintf("DYN_KV_BLOCK_SIZE is %q: want a whole number", clip(s, 40)))
			return quoted(s)
		}
		return number(s)
	})
	arg("enforce-disagg", boolean(true), Default, "fixed", "prefill and decode are separate")
	class := Copied
	if len(planeEv) == 0 {
		class = Default
	}
	arg("request-plane", plain(plane), class, planeRule, "", planeEv...)
	arg("event-plane", plain("zmq"), Default, "fixed", "the harness runs no NATS")
	if l != nil && len(l.args) > 3 {
		b.frontendFlags(l, l.args[3:], arg)
	}
}

// frontendFlags carries over further flags of the frontend's launch line, but
// for those that would keep it from starting.
func (b *builder) frontendFlags(l *launch, words []word, arg func(string, *yaml.Node, Class, string, string, ...Evidence)) {
	set := []string{"router-mode", "no-router-kv-events", "kv-cache-block-size", "enforce-disagg", "request-plane", "event-plane"}
	for i := 0; i < len(words); i++ {
		name, ok := strings.CutPrefix(words[i].text, "--")
		if !ok || name == "" {
			continue
		}
		name, value, attached := strings.Cut(name, "=")
		ev := l.ev("--"+name, words[i].source, words[i].offset)
		if !attached && i+1 < len(words) && !strings.HasPrefix(words[i+1].text, "-") {
			i++
			value, attached = words[i].text, true
		}
		switch {
		case isParserFlag(name):
			b.res.Dropped = append(b.res.Dropped, Dropped{"frontend.args", name, "exclude", "the frontend refuses to start with it; parsers are set in the workers' environment", ev})
		case slices.Contains(set, name):
			b.ask(Confirm, Recipe, recipes.Join("frontend.args", name), "launched", fmt.Sprintf("the launch line passes --%s %s as well: check the value", name, clip(value, 40)), ev)
		case attached:
			text, class, rule, why := b.moved(value)
			arg(name, quoted(text), class, rule, why, ev)
			set = append(set, name)
		default:
			arg(name, boolean(true), Copied, "", "", ev)
			set = append(set, name)
		}
	}
}

// infra says whether etcd had a node of its own.
func (b *builder) infra() {
	const base = "infra.etcd_nats_dedicated_node"
	l := b.launches.etcd
	if l == nil || len(l.hosts) == 0 {
		b.recipe(base, boolean(false), Default, "fallback", "no launch line shows the node of etcd")
		return
	}
	ev := []Evidence{l.optionEv(l.nodelist)}
	for _, r := range []role{prefill, decode} {
		for _, w := range b.launches.workers[r] {
			if slices.Contains(w.hosts, l.hosts[0]) {
				b.recipe(base, boolean(false), Inferred, "etcd shares a node with "+w.who(), "compared by host lists", append(ev, w.optionEv(w.nodelist))...)
				return
			}
		}
	}
	b.recipe(base, boolean(false), Default, "fixed", "etcd ran on a node without workers", ev...)
	where := base
	if _, ok := b.table.Translate(base, b.opt.Schema); !ok {
		where = ""
	}
	b.ask(Confirm, Recipe, where, "node", fmt.Sprintf("etcd ran on %s, which no worker used; here it shares a node with the first worker: give it a dedicated node if that matters", clip(l.hosts[0], 80)), ev...)
}
