// Package backend defines how a serving engine runs behind its frontend: the configuration files,
// command lines and environments of the processes, when they are ready, which log lines are fatal,
// and what is wrong with a recipe for the engine. To add a backend, add a file to this package
// and a line to [All].
//
// The package is below recipes because both recipes/check and engine/plan use it. It does no
// I/O: the nodes, addresses and ports of a run are placeholders.
package backend

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// All returns the backends of this program.
func All() List {
	return List{
		trtllm{},
	}
}

// Backend is a combination of a serving engine and a frontend that a recipe can select.
type Backend interface {
	Servers

	// Names returns the types of the engine and the frontend in recipes.
	Names() (engine, frontend string)
	// Title returns the display name of the engine.
	Title() string

	// Rules returns the rules that Check reports.
	Rules() []recipes.Rule
	// Check reports findings about a recipe for the engine. cluster may be nil.
	Check(r *recipes.Recipe, cluster *recipes.Cluster, report Report)
}

// Servers defines the processes that serve a model: those of a [Backend], or the mock
// servers that replace them.
type Servers interface {
	// Config returns the configuration file of a role's workers. Its name is empty if they need no file.
	Config(r *recipes.Recipe, role recipes.Role) (File, error)
	// Services returns the processes through which workers and frontend find each other, and reach each
	// other.
	Services(s Deployment) []Process
	// Worker returns the process of a worker.
	Worker(s Deployment, w Worker) Process
	// Frontend returns the process that clients send requests to.
	Frontend(s Deployment) Process
	// Components maps the names of components in the frontend's health response to roles.
	// Components that it does not contain are not counted.
	Components() map[string]schema.Role
}

// Report adds a finding of a rule about the canonical path of a field. The returned pointer
// is valid until the next call.
type Report func(rule, path, fix, format string, args ...any) *recipes.Diagnostic

// Deployment describes the nodes and workers of a run. Its strings may contain placeholders for
// values that are unknown until the run starts.
type Deployment struct {
	Recipe *recipes.Recipe
	Model  string // the model name in requests
	// ServedModel is the name under which workers serve the model.
	ServedModel string
	// ModelPath is the model for workers: a directory in their container, or a model id.
	ModelPath string
	LogDir    string // the log directory in the workers' container
	Workers   []Worker
	// Head is the node whose address is HEAD_NODE_IP, Infra the node of the services.
	Head, Infra, Frontend Node
	JobID                 string
	Program               string                   // path of this program
	Port                  func(step string) string // returns a free port for a step; local runs only
}

// Node is a node of a run.
type Node struct{ Name, Address string }

// Worker is a worker with its nodes and GPUs.
type Worker struct {
	Role   recipes.Role
	Index  int    // among the workers of its role
	Number int    // among all workers
	Nodes  []Node // the first is the leader's
	GPUs   []int  // GPUs of its only node; nil: all GPUs of its nodes
	Ranks  int    // one per GPU
}

// Step returns the name of the worker's step.
func (w Worker) Step() string { return string(w.Role.Name) + "_" + itoa(w.Index) }

// frontendStep is the name of the frontend's step.
const frontendStep = string(schema.Frontend) + "_0"

// Process is the definition of a process of a run.
type Process struct {
	Name  string
	Role  schema.Role
	Tasks int      // ranks
	Srun  []string // options of srun
	Env   Env
	Argv  []string // in the container
	Ready Readiness
	// Fatal are RE2 patterns of log lines after which the process is considered failed, even if it
	// is still running.
	Fatal []string
	// Host and Port are the address of a frontend for clients.
	Host, Port string
	Files      []File // that it reads
}

// File is a file in the log directory that a process reads.
type File struct {
	Name, Text string
	Source     string // path in the recipe
	// Defaults are the keys that the recipe does not set, with their values.
	Defaults []recipes.Var
}

// Probe is the type of a readiness check.
type Probe string

// The probes. ProbeHealth counts the prefill and decode instances in a frontend's health response. ProbeExit
// waits, without a time limit, until the process has exited with code 0.
const (
	ProbeNone   Probe = ""
	ProbeTCP    Probe = "tcp"
	ProbeHTTP   Probe = "http"
	ProbeHealth Probe = "health"
	ProbeExit   Probe = "exit"
)

// Readiness is the condition for the start of the next stage.
type Readiness struct {
	Probe           Probe   `json:"probe,omitempty"`
	Target          string  `json:"target,omitempty"` // host:port or URL
	TimeoutSeconds  int     `json:"timeout_seconds,omitempty"`
	IntervalSeconds float64 `json:"interval_seconds,omitempty"`
	Prefill         int     `json:"prefill,omitempty"` // required number of instances
	Decode          int     `json:"decode,omitempty"`
}

// healthReadiness returns the readiness of a frontend whose health URL lists instances.
// Aggregated workers count as decode instances.
func healthReadiness(r *recipes.Recipe, url string, timeout int, interval float64) Readiness {
	ready := Readiness{
		Probe: ProbeHealth, Target: url, TimeoutSeconds: timeout, IntervalSeconds: interval, Decode: r.Agg.Workers,
	}
	if r.Disaggregated() {
		ready.Prefill, ready.Decode = r.Prefill.Workers, r.Decode.Workers
	}
	return ready
}

// List is a list of backends. A nil list means [All].
type List []Backend

func (l List) orAll() List {
	if l == nil {
		return All()
	}
	return l
}

// For returns the backend of a recipe's engine, or nil. supported is true if the backend
// runs the engine behind the recipe's frontend, without a sidecar.
func (l List) For(r *recipes.Recipe) (b Backend, supported bool) {
	for _, candidate := range l.orAll() {
		switch engine, frontend := candidate.Names(); {
		case engine != r.Engine.Type:
		case frontend == r.Frontend.Type:
			return candidate, !r.Sidecar
		case b == nil:
			b = candidate
		}
	}
	return b, false
}

// Rules returns the rules of all backends.
func (l List) Rules() []recipes.Rule {
	var out []recipes.Rule
	for _, b := range l.orAll() {
		out = append(out, b.Rules()...)
	}
	return out
}

// Components returns the components of all backends and of the mock servers with their
// roles.
func (l List) Components() map[string]schema.Role {
	out := LocalMock().Components()
	for _, b := range l.orAll() {
		maps.Copy(out, b.Components())
	}
	return out
}

// String lists the backends, as in trtllm behind dynamo.
func (l List) String() string {
	var names []string
	for _, b := range l.orAll() {
		engine, frontend := b.Names()
		names = append(names, engine+" behind "+frontend)
	}
	return strings.Join(names, " or ")
}

// Var is an environment variable of a process with its origin.
type Var struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	Origin    string `json:"origin"`          // BuiltIn, a path in the recipe, or the cluster file
	Overrides string `json:"beats,omitempty"` // origin of the value that this one replaced
}

// BuiltIn is the origin of values that this program sets.
const BuiltIn = "built-in"

// Env is the environment of a process. Names are unique.
type Env []Var

// Set sets a variable. If it replaces a value, it records the origin of that value in Overrides.
func (e *Env) Set(name, value, origin string) {
	overrides := ""
	if i := slices.IndexFunc(*e, func(v Var) bool { return v.Name == name }); i >= 0 {
		overrides = (*e)[i].Origin
		*e = slices.Delete(*e, i, i+1)
	}
	*e = append(*e, Var{Name: name, Value: value, Origin: origin, Overrides: overrides})
}

// Add sets the variables of the mapping at a path of the recipe.
func (e *Env) Add(vars recipes.Env, path string) {
	for _, v := range vars {
		e.Set(v.Name, v.Value, path+"."+v.Name)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
