package porter

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// frontend sets the fields of dynamo, of the frontend's flags and environment, and of etcd's node.
type frontend struct {
	*porting
	launch  *harness.Launch // nil if there is none
	written []string        // names of the flags that are set
}

const (
	frontendEnv  = "frontend.env"
	frontendArgs = "frontend.args"
)

func (f *frontend) fields() {
	f.launch = f.run.Launches.Frontend
	f.setRecipe("dynamo.install", boolean(false), fixed("the image already contains dynamo"))
	plane, planeFrom := f.requestPlane()
	f.setRecipe("dynamo.request_plane", plain(plane), planeFrom)
	f.setRecipe("dynamo.event_plane", plain("zmq"), fixed("the harness runs no NATS"))
	f.setRecipe("frontend.type", plain(schema.Dynamo), fixed("the harness serves through dynamo's frontend"))
	f.setRecipe("frontend.enable_multiple_frontends", boolean(false),
		fixed("the harness runs one frontend, without nginx"))
	f.frontendPlacement()
	f.argFields(plane, planeFrom)
	f.environment()
	f.etcdNode()
	f.askEtcd()
}

func (f *frontend) environment() {
	env := environment{f.porting, rules.Frontend, frontendEnv}
	l := f.launch
	if l == nil {
		f.ask(MustFix, Recipe, frontendEnv, "", nil,
			"job.log has no launch line of the frontend: fill in its environment and check frontend.args")
		env.fields(nil)
		return
	}
	if l.HasExport {
		env.askBareNames(l)
	} else {
		f.ask(Confirm, Recipe, frontendEnv, "", evidence(l.At("", "", 0)),
			"the frontend's launch line has no --export list: confirm that it needs no environment")
	}
	f.askLaunch(frontendEnv, l)
	env.fields(l.Env)
}

// requestPlane returns DYN_REQUEST_PLANE of the frontend, or else of a worker.
func (f *frontend) requestPlane() (plane string, from origin) {
	var ev []Evidence
	for _, l := range f.run.Launches.FirstOfEach() {
		v, _ := l.Lookup("DYN_REQUEST_PLANE")
		if v.Value == "" {
			continue
		}
		if plane == "" {
			plane = v.Value
		} else if v.Value != plane {
			f.ask(Confirm, Recipe, "dynamo.request_plane", "disagrees", append(ev, v.At),
				"the frontend and %s disagree (%s, %s): confirm which one is right", l.Name(), plane, v.Value)
			continue
		}
		ev = append(ev, v.At)
	}
	if plane == "" {
		return "tcp", fallback("")
	}
	return plane, copied(ev...)
}

// setArg sets a flag of the frontend.
func (f *frontend) setArg(name string, node *yaml.Node, from origin) {
	f.setRecipeEntry(frontendArgs, name, node, from)
	f.written = append(f.written, name)
}

func (f *frontend) argFields(plane string, planeFrom origin) {
	f.fromVariable("router-mode", "ROUTER_MODE", "kv", plain)
	const events = "DYN_FRONTEND_ENABLE_KV_EVENTS"
	if v, ok := f.launch.Lookup(events); ok {
		f.setArg("no-router-kv-events", boolean(v.Value != "1"), translated("true unless "+events+" is 1",
			"the harness script sets the flag from the variable", v.At))
	} else {
		f.setArg("no-router-kv-events", boolean(true), fallback(events+" is not in the frontend's --export list"))
	}
	f.fromVariable("kv-cache-block-size", "DYN_KV_BLOCK_SIZE", "128", func(s string) *yaml.Node {
		if _, err := strconv.Atoi(s); err != nil {
			f.ask(MustFix, Recipe, frontendArgs+".kv-cache-block-size", "", nil,
				"DYN_KV_BLOCK_SIZE is %q, which is not a whole number: correct it", safetext.Clip(s, 40))
			return quoted(s)
		}
		return number(s)
	})
	if !f.run.Aggregated {
		f.setArg("enforce-disagg", boolean(true), fixed("prefill and decode are separate"))
	}
	f.setArg("request-plane", plain(plane), planeFrom)
	f.setArg("event-plane", plain("zmq"), fixed("the harness runs no NATS"))
	if f.launch != nil {
		f.launchArgs()
	}
}

// fromVariable sets a flag that the harness's start script sets from a variable.
func (f *frontend) fromVariable(name, variable, otherwise string, node func(string) *yaml.Node) {
	if v, _ := f.launch.Lookup(variable); v.Value != "" {
		f.setArg(name, node(v.Value), copied(v.At))
		return
	}
	f.setArg(name, node(otherwise), fallback(variable+" is not in the frontend's --export list"))
}

// launchArgs carries over the other flags of the frontend's launch line, except parser flags.
func (f *frontend) launchArgs() {
	for _, t := range f.launch.Tokens() {
		name := strings.TrimPrefix(t.Name, "--")
		if t.Part != harness.ProgramFlag || t.Overridden != "" {
			continue
		}
		ev := f.launch.At(t.Name, t.Source, t.Offset)
		path := recipes.Join(frontendArgs, name)
		switch {
		case rules.IsParserFlag(name):
			f.drop(frontendArgs, name, "exclude", rules.WhyParserFlag, ev)
		case t.Name == rules.PortFlag:
			f.drop(frontendArgs, name, "drop", rules.WhyPort, ev)
		case f.has(name, t.Value):
		case slices.Contains(f.written, name):
			f.ask(Confirm, Recipe, path, "launched", evidence(ev),
				"the launch line also passes %s %s: check the value", t.Name, safetext.Clip(secret.Redact(name, t.Value), 40))
		case len(t.Words) > 1 || strings.Contains(t.Words[0], "="):
			text, from := f.rewritePath(t.Value, ev)
			f.setArg(name, quoted(text), from)
		default:
			f.setArg(name, boolean(true), copied(ev))
		}
	}
}

// has reports whether a flag is set to a value. A flag without a value is true.
func (f *frontend) has(name, value string) bool {
	return slices.ContainsFunc(f.res.Fields, func(x Field) bool {
		return x.base == frontendArgs && x.Path == recipes.Join(frontendArgs, name) &&
			x.node.Value == cmp.Or(value, "true")
	})
}

// etcdNode sets whether etcd has a dedicated node, and asks if it had one.
func (f *frontend) etcdNode() {
	const base = "infra.etcd_nats_dedicated_node"
	l := f.run.Launches.Etcd
	if l == nil || len(l.Hosts) == 0 {
		f.setRecipe(base, boolean(false), fallback("no launch line shows the node of etcd"))
		return
	}
	node, at := l.Hosts[0], evidence(l.OptionAt(l.Nodelist))
	for _, c := range f.placements() {
		if c.value == onHead && c.node == node {
			f.setRecipe(base, boolean(false), inferred("etcd shares a node with "+c.worker, "compared by host lists",
				append(at, c.at)...))
			return
		}
	}
	user, used := f.userOf(node)
	head, first := f.headNode()
	f.setRecipe(base, boolean(false), origin{Default, "fixed", "etcd ran on a node that " + user, at})
	where := base
	if _, ok := f.layout.table.Translate(base, f.layout.version); !ok {
		where = ""
	}
	f.ask(Confirm, Recipe, where, "node", slices.Concat(at, used, first),
		"etcd ran on %s, which %s; in the new job it runs on %s: give it a dedicated node if that matters",
		safetext.Clip(node, 80), user, head)
}

// askEtcd asks about variables that etcd itself reads, since a recipe can't set them.
func (f *frontend) askEtcd() {
	l := f.run.Launches.Etcd
	if l == nil {
		return
	}
	for _, v := range l.Env {
		if strings.HasPrefix(v.Name, "ETCD_") && !rules.IsDropped(v.Name) {
			f.ask(Confirm, "", "", "etcd "+v.Name, evidence(v.At),
				"etcd was started with %s, which a recipe can't set: check that the default is sufficient",
				safetext.Clip(secret.RedactText(v.At.Raw), 80))
		}
	}
}
