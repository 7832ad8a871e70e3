// Package backend says what it takes to run a serving engine behind its frontend: the config files,
// command lines and environments of its processes, when they are ready, which lines of their logs
// are fatal, what is wrong with recipes of the engine, and what of them a plan leaves out. A
// backend is one file of this package and one line of [All].
//
// It is below both that ask it: recipes/check, for what is wrong with a recipe, and
// engine/plan, for what a recipe comes to. That is why it is with the recipes, which
// know nothing of the engine. It is pure: no file is read, no process asked, and the
// nodes, addresses and ports of a run are placeholders.
package backend

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// All lists the backends of this program.
func All() List {
	return List{
		trtllm{},
	}
}

// Backend is a serving engine behind a frontend, as a recipe asks for both.
type Backend interface {
	Servers

	// Names are the words by which recipes ask for it.
	Names() (engine, frontend string)
	// Title is the engine in the words of people.
	Title() string

	// Rules are the rows that it adds to the table of rules.
	Rules() []recipes.Rule
	// Check reports what is wrong with a recipe of the engine. There may be no cluster file.
	Check(r *recipes.Recipe, cluster *recipes.Cluster, report Report)
	// Omissions lists what a recipe of the engine gives and no plan of it heeds.
	Omissions(r *recipes.Recipe) []Omission
}

// Servers are the processes that serve a model: those of a [Backend], or the mock
// servers that stand in for it.
type Servers interface {
	// Config is the file that the workers of a role are configured with: its name in
	// the log dir, and its text. They need none if the name is empty.
	Config(role recipes.Role) (name, text string, err error)
	// Services are what workers and frontend meet through, the one with which workers register first.
	Services(s Deployment) []Process
	// Worker is one worker of an engine.
	Worker(s Deployment, w Worker) Process
	// Frontend is what clients send their requests to.
	Frontend(s Deployment) Process
	// Components says which role a worker has by the name of its component in the
	// frontend's health answer; one that is not listed is not counted.
	Components() map[string]schema.Role
}

// Report adds a finding of a rule about a field of the recipe, by its canonical path.
// The pointer is good until the next finding.
type Report func(rule, path, fix, format string, args ...any) *recipes.Diagnostic

// Omission is a field that a recipe gives and a plan leaves out.
type Omission struct {
	Path   string // canonical
	Reason string
}

// Deployment describes where the processes of a run are. Its texts may hold placeholders for
// what is known only when the run starts.
type Deployment struct {
	Recipe *recipes.Recipe
	Model  string // the name that workers serve
	// ModelPath is where workers find the model: a folder of their container, or the model's id.
	ModelPath string
	LogDir    string // the log dir as workers see it
	Workers   []Worker
	// Head is the node that addresses the run, Infra that of the services.
	Head, Infra, Frontend Node
	JobID                 string
	Program               string                   // this program
	Port                  func(step string) string // the free port of a step; local runs only
}

// Node is one node of a run.
type Node struct{ Name, Address string }

// Worker is one worker with its place.
type Worker struct {
	Role   recipes.Role
	Index  int    // among the workers of its role
	Number int    // among all workers
	Nodes  []Node // the first leads
	GPUs   []int  // of its one node; nil: all of each node
	Ranks  int    // one a GPU
}

// Step is the name of the worker's step.
func (w Worker) Step() string { return string(w.Role.Name) + "_" + itoa(w.Index) }

// frontendStep is the name of the frontend's step.
const frontendStep = string(schema.Frontend) + "_0"

// Process is one process of a run as its backend starts it.
type Process struct {
	Name  string
	Role  schema.Role
	Tasks int      // ranks
	Srun  []string // options by which srun starts it
	Env   Env
	Argv  []string // in its container
	Ready Readiness
	// Fatal are patterns (RE2) of log lines after which it is dead, whether it runs or not.
	Fatal []string
	// Host and Port are where clients reach a frontend.
	Host, Port string
}

// Probe is how the readiness of a process is seen.
type Probe string

// The probes. Health counts the frontend's prefill and decode instances.
const (
	ProbeNone   Probe = ""
	ProbeTCP    Probe = "tcp"
	ProbeHTTP   Probe = "http"
	ProbeHealth Probe = "health"
)

// Readiness is what must be seen of a process before the next stage starts.
type Readiness struct {
	Probe           Probe   `json:"probe,omitempty"`
	Target          string  `json:"target,omitempty"` // host:port or URL
	TimeoutSeconds  int     `json:"timeout_seconds,omitempty"`
	IntervalSeconds float64 `json:"interval_seconds,omitempty"`
	Prefill         int     `json:"prefill,omitempty"` // instances wanted
	Decode          int     `json:"decode,omitempty"`
}

// health is the readiness of a frontend that counts instances at a URL. Aggregated
// workers count as decode instances.
func healthReadiness(r *recipes.Recipe, url string, timeout int, interval float64) Readiness {
	ready := Readiness{
		Probe: ProbeHealth, Target: url, TimeoutSeconds: timeout, IntervalSeconds: interval, Decode: r.Agg.Workers,
	}
	if r.Disaggregated() {
		ready.Prefill, ready.Decode = r.Prefill.Workers, r.Decode.Workers
	}
	return ready
}

// List is a choice of backends; the zero value stands for [All].
type List []Backend

func (l List) orAll() List {
	if l == nil {
		return All()
	}
	return l
}

// For returns the backend of a recipe's engine, nil if there is none, and whether it runs
// the engine behind the recipe's frontend.
func (l List) For(r *recipes.Recipe) (b Backend, runs bool) {
	for _, have := range l.orAll() {
		switch engine, frontend := have.Names(); {
		case engine != r.Engine.Type:
		case frontend == r.Frontend.Type:
			return have, true
		case b == nil:
			b = have
		}
	}
	return b, false
}

// Rules are the rows that the backends add to the table of rules.
func (l List) Rules() []recipes.Rule {
	var out []recipes.Rule
	for _, b := range l.orAll() {
		out = append(out, b.Rules()...)
	}
	return out
}

// Omissions lists what the recipe's backend leaves out. Of an engine that none runs it
// is what all of them leave out.
func (l List) Omissions(r *recipes.Recipe) []Omission {
	if b, _ := l.For(r); b != nil {
		return b.Omissions(r)
	}
	var out []Omission
	for _, b := range l.orAll() {
		out = append(out, b.Omissions(r)...)
	}
	return out
}

// Components says which role a worker has by its name in the health answer of any
// backend's frontend, the mock servers' among them.
func (l List) Components() map[string]schema.Role {
	out := LocalMock().Components()
	for _, b := range l.orAll() {
		maps.Copy(out, b.Components())
	}
	return out
}

// String names the backends: trtllm behind dynamo.
func (l List) String() string {
	var names []string
	for _, b := range l.orAll() {
		engine, frontend := b.Names()
		names = append(names, engine+" behind "+frontend)
	}
	return strings.Join(names, " or ")
}

// Var is one environment variable of a process with its origin.
type Var struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	Origin    string `json:"origin"`          // built-in, recipe path, cluster file
	Overrides string `json:"beats,omitempty"` // origin of a value that this one replaced
}

// BuiltIn is the origin of what comes from this program.
const BuiltIn = "built-in"

// Env is the environment of a process. A name stands in it once.
type Env []Var

// Set gives a variable a value; a former value is replaced, and its origin kept as what was beaten.
func (e *Env) Set(name, value, origin string) {
	beats := ""
	if i := slices.IndexFunc(*e, func(v Var) bool { return v.Name == name }); i >= 0 {
		beats = (*e)[i].Origin
		*e = slices.Delete(*e, i, i+1)
	}
	*e = append(*e, Var{Name: name, Value: value, Origin: origin, Overrides: beats})
}

// Add sets variables of a mapping in a file, given by its path there.
func (e *Env) Add(vars recipes.Env, path string) {
	for _, v := range vars {
		e.Set(v.Name, v.Value, path+"."+v.Name)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
