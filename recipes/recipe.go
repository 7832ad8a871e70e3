package recipes

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Recipe is a recipe's meaning, whichever layout it is written in. Values that
// the file leaves out have upstream's defaults. The tag of a field is its canonical
// path in the table, by which it is filled.
type Recipe struct {
	File   string
	Schema int // 1 or 2, as written

	Name                  string `path:"name"`
	ModelPath             string `path:"model.path"`
	Container             string `path:"model.container"`
	StageDir              string `path:"model.stage_dir"`
	GPUType               string `path:"resources.gpu_type"`
	GPUsPerNode           int    `path:"resources.gpus_per_node"`
	SpreadWorkers         bool   `path:"resources.spread_workers"`
	Engine                Engine
	Prefill, Decode, Agg  Role
	Frontend              Frontend
	Dynamo                Dynamo
	Benchmark             Benchmark
	DedicatedInfra        bool     `path:"infra.etcd_nats_dedicated_node"` // etcd and NATS have a node of their own
	NATSPayloadMB         int      `path:"infra.nats_max_payload_mb"`      // 0: its own limit of 1
	Environment           Env      `path:"environment"`                    // global: beats a role's own
	ExtraMounts           []string `path:"extra_mount"`
	ContainerMounts       Env      `path:"container_mounts"` // host template to container template
	HealthAttempts        int      `path:"health_check.max_attempts"`
	HealthIntervalSeconds int      `path:"health_check.interval_seconds"`
	FatalMarkers          bool     `path:"health_check.fatal_log_markers"`        // a worker's log may fail the run
	FatalPatterns         []string `path:"health_check.extra_fatal_log_patterns"` // by these patterns too
	Slurm                 Slurm
	SrunOptions           Env    `path:"srun_options"`
	SbatchDirectives      Env    `path:"sbatch_directives"`
	SetupScript           string `path:"setup_script"`
	Observability         bool   `path:"observability.enabled"`
	Telemetry             bool

	doc       *Document
	positions map[string]Position // by canonical path
}

// Var is one environment variable, option or mount, in the file's order.
type Var struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Env is an ordered list of variables.
type Env []Var

// Get is the value of a name; ok is false where it is not set.
func (e Env) Get(name string) (value string, ok bool) {
	for _, v := range e {
		if v.Name == name {
			return v.Value, true
		}
	}
	return "", false
}

// Engine is the serving engine's part.
type Engine struct {
	Type            string `path:"backend.type"`
	NUMAMemoryBind  string `path:"backend.numa_memory_bind"` // "", "true", "false" or "local"; empty: by GPU type
	NUMACPUBind     bool   `path:"backend.numa_cpu_bind"`
	PublishEvents   bool   `path:"backend.publish_events_and_metrics"`
	SequentialStart int    `path:"backend.sequential_node_start"`
	ServedModelName string `path:"backend.served_model_name"`
}

// Role is a group of equal workers. A role that the recipe does not name has
// no nodes, no workers and Given false.
type Role struct {
	Name       schema.Role
	Given      bool
	Nodes      int
	Workers    int
	GPUs       int  // of one worker; 0: derived from nodes and workers
	Colocated  bool // decode only: shares the prefill nodes
	Env        Env
	Args       *yaml.Node // the engine config, verbatim; nil: none
	ConfigPath string     // canonical path of Args
}

// Frontend serves the API.
type Frontend struct {
	Type      string `path:"frontend.type"`
	Multiple  bool   `path:"frontend.enable_multiple_frontends"`
	Placement string `path:"frontend.orchestrator_placement"` // head, first_decode, last_decode
	Dedicated bool   `path:"frontend.dedicated_node"`
	Args      []Flag `path:"frontend.args"`
	Env       Env    `path:"frontend.env"`
}

// Flag is one frontend argument: --Name, or --Name Value.
type Flag struct {
	Name, Value string
	NoValue     bool // no value: the recipe says true
}

// NATSPlane is the word by which one of dynamo's planes runs over NATS.
const NATSPlane = "nats"

// Dynamo is how the dynamo runtime is installed and how its parts talk.
type Dynamo struct {
	Install      bool   `path:"dynamo.install"`
	RequestPlane string `path:"dynamo.request_plane"`
	EventPlane   string `path:"dynamo.event_plane"` // empty: not set
}

// Benchmark is the client's part.
type Benchmark struct {
	Type       string `path:"benchmark.type"`
	Placement  string `path:"benchmark.client_placement"` // head, first_decode, last_decode
	Dedicated  bool   `path:"benchmark.client_dedicated_node"`
	Colocate   bool   `path:"benchmark.colocate_with_frontend"` // dedicated roles share one node
	Levels     []int  // concurrency levels, one phase each
	ClientDir  string `path:"benchmark.agentperf_client_dir"`
	ConfigPath string `path:"benchmark.agentperf_config"` // container path of the workload file
	Image      string `path:"benchmark.container_image"`  // empty: the model's
	Env        Env    `path:"benchmark.env"`
}

// Slurm is what the allocation is asked for with.
type Slurm struct {
	Account   string `path:"slurm.account"`
	Partition string `path:"slurm.partition"`
	TimeLimit string `path:"slurm.time_limit"`
}

// Position returns the position of the value at a canonical path: that of the nearest mapping above
// it, or the top of the file, if the file leaves it out.
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

// Has says whether the file gives a canonical path.
func (r *Recipe) Has(canonical string) bool { _, ok := r.positions[canonical]; return ok }

// Diag makes a finding about a canonical path of the recipe.
func (r *Recipe) Diag(sev Severity, canonical, message, fix string) Diagnostic {
	return r.Position(canonical).diagnostic(r.File, sev, message, fix)
}

// Roles lists the groups of workers in the order of [schema.WorkerRoles], those
// that the recipe does not name among them.
func (r *Recipe) Roles() []Role { return []Role{r.Prefill, r.Decode, r.Agg} }

// Disaggregated says whether prefill and decode run apart.
func (r *Recipe) Disaggregated() bool { return r.Prefill.Given || r.Decode.Given }

// GPUsPerWorker is the number of GPUs of one worker of a role: given, or its
// share of the role's nodes, or one node's.
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

// WorkerNodes is the number of nodes that workers run on.
func (r *Recipe) WorkerNodes() int {
	if !r.Disaggregated() {
		return max(1, r.Agg.Nodes)
	}
	n := r.Prefill.Nodes
	if !r.Decode.Colocated {
		n += r.Decode.Nodes
	}
	return max(1, n)
}

// GPUsDivideEvenly reports whether the GPUs of a role's nodes can be shared out among its
// workers, none left over.
func (r *Recipe) GPUsDivideEvenly(role Role) bool {
	return role.Nodes > 0 && (role.GPUs > 0 || role.Nodes*r.GPUsPerNode%role.Workers == 0)
}

// Nodes is the number of nodes of the job: the workers', and those that are
// reserved for infra, frontend and client, one for all or one for each.
func (r *Recipe) Nodes() int {
	reserved := 0
	for _, own := range []bool{r.DedicatedInfra, r.Frontend.Dedicated, r.Benchmark.Dedicated} {
		if own {
			reserved++
		}
	}
	if r.Benchmark.Colocate {
		reserved = min(reserved, 1)
	}
	return r.WorkerNodes() + reserved
}

// HealthWindowSeconds is how long servers may take to come up.
func (r *Recipe) HealthWindowSeconds() int { return r.HealthAttempts * r.HealthIntervalSeconds }

// ServedModel is the one name by which workers serve and clients ask: the override if there is one,
// else the last part of the model path. (Upstream resolves symlinks for the workers and not for the
// client, and then every request fails.)
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

// MaxLevel is the highest concurrency; 0 without levels.
func (b Benchmark) MaxLevel() int { return slices.Max(append([]int{0}, b.Levels...)) }

// JoinInts writes whole numbers as command lines take them: 64,1010.
func JoinInts(ns []int) string {
	parts := make([]string, 0, len(ns))
	for _, n := range ns {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ",")
}
