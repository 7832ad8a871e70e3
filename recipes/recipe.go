package recipes

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Recipe is the content of a recipe, independent of its layout. Fields that the file omits
// have the defaults of srt-slurm. The path tag of a field is its canonical path in the
// table of fields.
type Recipe struct {
	File   string
	Schema int // layout of the file, 1 or 2

	Name                  string `path:"name"`
	ModelPath             string `path:"model.path"`
	Container             string `path:"model.container"`
	Precision             string `path:"model.precision"`
	StageDir              string `path:"model.stage_dir"`
	GPUType               string `path:"resources.gpu_type"`
	GPUsPerNode           int    `path:"resources.gpus_per_node"`
	SpreadWorkers         bool   `path:"resources.spread_workers"`
	Engine                Engine
	Prefill, Decode, Agg  Role
	Frontend              Frontend
	Dynamo                Dynamo
	Benchmark             Benchmark
	DedicatedInfra        bool     `path:"infra.etcd_nats_dedicated_node"` // etcd and NATS have a dedicated node
	NATSPayloadMB         int      `path:"infra.nats_max_payload_mb"`      // 0: the default of NATS, 1 MB
	Environment           Env      `path:"environment"`                    // overrides the environment of a role
	ExtraMounts           []string `path:"extra_mount"`
	ContainerMounts       Env      `path:"container_mounts"` // host template to container template
	HealthAttempts        int      `path:"health_check.max_attempts"`
	HealthIntervalSeconds int      `path:"health_check.interval_seconds"`
	FatalMarkers          bool     `path:"health_check.fatal_log_markers"`        // fatal log lines fail the run
	FatalPatterns         []string `path:"health_check.extra_fatal_log_patterns"` // additional patterns
	Slurm                 Slurm
	SrunOptions           Env    `path:"srun_options"`
	SbatchDirectives      Env    `path:"sbatch_directives"`
	SetupScript           string `path:"setup_script"`
	Observability         bool   `path:"observability.enabled"`
	Telemetry             bool
	Sidecar               bool      `path:"dynamo.sidecar"` // workers run beside a sidecar of dynamo
	Services              []Service // layout 2

	doc       *Document
	positions map[string]Position // by canonical path
}

// Var is an environment variable, an option or a mount.
type Var struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Env is a list of variables in the order of the file.
type Env []Var

// Get returns the value of a variable. ok is false if it is not set.
func (e Env) Get(name string) (value string, ok bool) {
	for _, v := range e {
		if v.Name == name {
			return v.Value, true
		}
	}
	return "", false
}

// Engine is the configuration of the serving engine.
type Engine struct {
	Type            string `path:"backend.type"`
	NUMAMemoryBind  string `path:"backend.numa_memory_bind"` // "true", "false" or "local"; empty: depends on the GPU type
	NUMACPUBind     bool   `path:"backend.numa_cpu_bind"`
	PublishEvents   bool   `path:"backend.publish_events_and_metrics"`
	PublishMetrics  bool   `path:"backend.publish_metrics"` // if not PublishEvents
	SequentialStart int    `path:"backend.sequential_node_start"`
	ServedModelName string `path:"backend.served_model_name"`
}

// Role is a group of identical workers. If the recipe does not have the role, Given is
// false and Nodes and Workers are 0.
type Role struct {
	Name       schema.Role
	Given      bool
	Nodes      int
	Workers    int
	GPUs       int  // of one worker; 0: derived from nodes and workers
	Colocated  bool // decode only: shares the prefill nodes
	Env        Env
	Container  string     // layout 2; empty: that of the model
	Srun       Env        // layout 2: options of srun, in addition to those of all steps
	Args       *yaml.Node // the engine configuration as written; nil: none
	ConfigPath string     // canonical path of Args
}

// Frontend is the configuration of the server that clients send requests to.
type Frontend struct {
	Type      string `path:"frontend.type"`
	Multiple  bool   `path:"frontend.enable_multiple_frontends"`
	Placement string `path:"frontend.orchestrator_placement"` // head, first_decode, last_decode
	Dedicated bool   `path:"frontend.dedicated_node"`
	Args      []Flag `path:"frontend.args"`
	Env       Env    `path:"frontend.env"`
	// WorkerSelection is the policy of dynamo's router as YAML; empty: its default.
	WorkerSelection string
	NUMABind        bool `path:"frontend.numa_bind"` // layout 2: run on NUMA node 0
}

// Flag is an argument of the frontend: --Name or --Name Value.
type Flag struct {
	Name, Value string
	NoValue     bool // --Name without a value; true in the recipe
}

// NATSPlane is the value of a request or event plane that uses NATS.
const NATSPlane = "nats"

// Dynamo is the configuration of the dynamo runtime.
type Dynamo struct {
	Install      bool   `path:"dynamo.install"`
	RequestPlane string `path:"dynamo.request_plane"`
	EventPlane   string `path:"dynamo.event_plane"` // empty: not set
}

// Benchmark is the configuration of the benchmark and its client.
type Benchmark struct {
	Type       string `path:"benchmark.type"`
	Placement  string `path:"benchmark.client_placement"` // head, first_decode, last_decode
	Dedicated  bool   `path:"benchmark.client_dedicated_node"`
	Colocate   bool   `path:"benchmark.colocate_with_frontend"` // all dedicated roles share one node
	ISL        int    `path:"benchmark.isl"`                    // length of prompts in tokens; 0: unknown
	Levels     []int  // concurrency levels; each is a phase
	ClientDir  string `path:"benchmark.agentperf_client_dir"`
	ConfigPath string `path:"benchmark.agentperf_config"` // container path of the workload file
	Image      string `path:"benchmark.container_image"`  // empty: the container of the model
	Env        Env    `path:"benchmark.env"`
}

// Slurm holds the options of the allocation.
type Slurm struct {
	Account   string `path:"slurm.account"`
	Partition string `path:"slurm.partition"`
	TimeLimit string `path:"slurm.time_limit"`
}

// Position returns the position of the value at a canonical path. If the file omits it, the
// position is that of the nearest parent, or the start of the file.
func (r *Recipe) Position(canonical string) Position {
	if p, ok := r.positions[canonical]; ok {
		return p
	}
	p := Position{Path: canonical, Line: 1, Column: 1}
	if t, ok := recipeTable(r.Schema).Translate(canonical, r.Schema); ok {
		p.Path = r.doc.filePath(t)
	}
	for up := range schema.PathAndParents(canonical) {
		if at, ok := r.positions[up]; ok {
			p.Line, p.Column = at.Line, at.Column
			break
		}
	}
	return p
}

// Has reports whether the file contains a canonical path.
func (r *Recipe) Has(canonical string) bool { _, ok := r.positions[canonical]; return ok }

// Diag returns a finding about a canonical path.
func (r *Recipe) Diag(sev Severity, canonical, message, fix string) Diagnostic {
	return r.Position(canonical).diagnostic(r.File, sev, message, fix)
}

// Roles returns all roles in the order of [schema.WorkerRoles], including those that the
// recipe does not have.
func (r *Recipe) Roles() []Role { return []Role{r.Prefill, r.Decode, r.Agg} }

// Role returns the role with a name; without workers if it is not that of workers.
func (r *Recipe) Role(name schema.Role) Role {
	for _, role := range r.Roles() {
		if role.Name == name {
			return role
		}
	}
	return Role{Name: name}
}

// firstRole returns the name of the first role that the recipe has.
func (r *Recipe) firstRole() schema.Role {
	for _, role := range r.Roles() {
		if role.Given {
			return role.Name
		}
	}
	return schema.Agg
}

// Disaggregated reports whether prefill and decode have separate workers.
func (r *Recipe) Disaggregated() bool { return r.Prefill.Given || r.Decode.Given }

// GPUsPerWorker returns the number of GPUs of one worker of a role: the number in the
// recipe, or the worker's share of the role's nodes, or the GPUs of one node.
func (r *Recipe) GPUsPerWorker(role Role) int {
	switch {
	case role.GPUs > 0:
		return role.GPUs
	case role.Colocated:
		return r.GPUsPerWorker(r.Prefill)
	case role.Nodes > 0 && role.Workers > 0:
		return role.Nodes * r.GPUsPerNode / role.Workers
	}
	return r.GPUsPerNode
}

// WorkerNodes returns the number of nodes on which workers run.
func (r *Recipe) WorkerNodes() int {
	if r.Frontend.Type == schema.NoFrontend {
		return 0
	}
	if !r.Disaggregated() {
		return max(1, r.Agg.Nodes)
	}
	n := r.Prefill.Nodes
	if !r.Decode.Colocated {
		n += r.Decode.Nodes
	}
	return max(1, n)
}

// GPUsDivideEvenly reports whether the GPUs of a role's nodes can be divided evenly among its
// workers.
func (r *Recipe) GPUsDivideEvenly(role Role) bool {
	return role.Nodes > 0 && (role.GPUs > 0 || role.Nodes*r.GPUsPerNode%role.Workers == 0)
}

// Nodes returns the number of nodes of the job: the nodes of workers, the pools of services, and the
// dedicated nodes of infra services, frontend and client.
func (r *Recipe) Nodes() int {
	reserved := 0
	for _, dedicated := range []bool{r.DedicatedInfra, r.Frontend.Dedicated, r.Benchmark.Dedicated} {
		if dedicated {
			reserved++
		}
	}
	if r.Benchmark.Colocate {
		reserved = min(reserved, 1)
	}
	return r.WorkerNodes() + r.PoolNodes() + reserved
}

// HealthWindowSeconds returns the time limit for the start of the servers.
func (r *Recipe) HealthWindowSeconds() int { return r.HealthAttempts * r.HealthIntervalSeconds }

// ServedModel returns the name of the model in requests: served_model_name, or else the last element
// of the model path. Symbolic links are not resolved: srt-slurm resolves them for the workers but not
// for the client, and then every request fails.
func (r *Recipe) ServedModel() string {
	if r.Engine.ServedModelName != "" {
		return r.Engine.ServedModelName
	}
	p := r.ModelPath
	if trimmed := strings.TrimRight(p, "/"); trimmed != "" {
		p = trimmed
	}
	return p[strings.LastIndexAny(p, "/:")+1:]
}

// MaxLevel returns the highest concurrency level, or 0 if there is none.
func (b Benchmark) MaxLevel() int { return slices.Max(append([]int{0}, b.Levels...)) }

// JoinInts joins numbers by commas, as in 64,1010.
func JoinInts(ns []int) string {
	parts := make([]string, 0, len(ns))
	for _, n := range ns {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ",")
}
