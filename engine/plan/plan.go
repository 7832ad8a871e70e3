// Package plan turns a recipe into everything that a run will do: nodes by role, mounts, files, and
// every step with its environment, command and log. It is pure: no file is read, no process asked.
// A dry-run prints the plan, and what runs is the same value with its placeholders bound.
package plan

import (
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Target is where a plan runs.
type Target string

// The targets: an allocation of a Slurm cluster, or this machine, on which mock
// servers stand in for the engines.
const (
	Slurm Target = "slurm"
	Local Target = "local"
	// Srtctl is a Slurm job too, which an installed srtctl makes from the recipe: the
	// plan says what it comes to, not how.
	Srtctl Target = "srtctl"
)

// OnSlurm says whether a run of this target is a job of Slurm's.
func (t Target) OnSlurm() bool { return t == Slurm || t == Srtctl }

// Placeholders that stand for what is not known before the run; [Plan.Bind] replaces them. {node:N}
// is the name of node N of the allocation, {ip:N} its address, {port:STEP} a local step's port.
const (
	JobID  = "{job_id}"
	RunDir = "{run_dir}" // the run's own folder
	LogDir = "{log_dir}" // its logs
	Binary = "{bin}"     // this program
)

// Plan is a run before it runs. JSON keeps field order; env values are as they
// will be set, secrets included: redact before display with [Plan.Redacted].
type Plan struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Target  Target `json:"target"`
	Model   string `json:"model"` // the served name, the one that clients send
	Nodes   []Node `json:"nodes"`
	// GPUsPerNode and Image say what a node and a container of the run are.
	GPUsPerNode int     `json:"gpus_per_node"`
	Image       string  `json:"image"`
	Mounts      []Mount `json:"mounts"`
	Files       []File  `json:"files"` // written before the first step
	Steps       []Step  `json:"steps"`
	Phases      []Phase `json:"phases"`
	// Substitutions are what the run does instead of what the recipe says.
	Substitutions []Substitution   `json:"swaps"`
	Changes       []recipes.Change `json:"changes"`    // what the cluster file changed
	Script        string           `json:"script"`     // sbatch script; empty for local
	OutputDir     string           `json:"output_dir"` // the base below which the run's folder is made
	Smoke         bool             `json:"smoke,omitempty"`
	Scale         LocalScale       `json:"-"` // what a local plan was asked to play
}

// Node is one node of the run and what happens on it.
type Node struct {
	Index int      `json:"index"`
	Name  string   `json:"name"` // {node:N} until bound
	Roles []string `json:"roles"`
}

// Mount is one container mount and who asked for it.
type Mount struct {
	Host      string `json:"host"`
	Container string `json:"container"` // options behind a second colon
	Source    string `json:"source"`
}

// File is a file that the run needs and that the plan makes.
type File struct {
	Path    string      `json:"path"`
	Content string      `json:"content"`
	Source  string      `json:"source"`
	Role    schema.Role `json:"-"` // the one whose engine it configures, in a plan that was just built
}

// Var is one environment variable of a step with its origin, as a backend gives it.
type Var = backend.Var

// Readiness is what must be seen of a step before the next stage starts.
type Readiness = backend.Readiness

// The probes of a [Readiness].
const (
	ProbeNone   = backend.ProbeNone
	ProbeTCP    = backend.ProbeTCP
	ProbeHTTP   = backend.ProbeHTTP
	ProbeHealth = backend.ProbeHealth
)

// Stage is the place of a step in the order: a stage starts once the steps
// before it are ready, and is shut down before them.
type Stage int

// The stages.
const (
	Infra Stage = iota
	Workers
	FrontendStage
	Client
)

// Step is one process, or one srun over several nodes.
type Step struct {
	Name   string      `json:"name"`
	Role   schema.Role `json:"role"`
	Stage  Stage       `json:"stage"`
	Nodes  []int       `json:"nodes"`
	Tasks  int         `json:"tasks"`          // ranks over all nodes
	GPUs   []int       `json:"gpus,omitempty"` // of its node; empty: all
	Env    []Var       `json:"env"`
	Argv   []string    `json:"argv"`   // what runs in the container
	Launch []string    `json:"launch"` // what this machine executes for it
	// Shell is what a user executes to look around beside it, while it runs; empty
	// where there is no such way.
	Shell []string  `json:"shell,omitempty"`
	Log   string    `json:"log"` // file in the log dir
	Ready Readiness `json:"ready"`
	// Fatal are patterns (RE2); a line of the step's log that one of them matches
	// fails the run: an engine may die while its launcher lives on.
	Fatal   []string `json:"fatal,omitempty"`
	Failure string   `json:"failure"` // what an exit of the step before the run's end means
	// StallSeconds is how long the client may be silent until that is told; 0: for ever.
	StallSeconds float64 `json:"stall_seconds,omitempty"`
	EndsRun      bool    `json:"ends"` // true for the client, whose exit ends the run with its code
}

// Phase is one concurrency level as the plan expects it, in seconds.
type Phase struct {
	Index           int     `json:"index"`
	Concurrency     int     `json:"level"` // users
	RampSeconds     float64 `json:"ramp_seconds"`
	SettlingSeconds float64 `json:"settling_seconds"`
	TimeoutSeconds  float64 `json:"timeout_seconds"`
	MinMeasurement  float64 `json:"min_measurement_seconds"`
	MinTotal        int     `json:"min_total_trajectories"`
	MinPerUser      int     `json:"min_trajectories_per_user"`
}

// Substitution is one thing that a run does instead of what the recipe says.
type Substitution struct {
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// Request is what [Build] needs beside the recipe.
type Request struct {
	Recipe       *recipes.Recipe
	Workload     *recipes.Workload // nil: the recipe's container path stands, phases unknown
	Cluster      *recipes.Cluster
	Changes      []recipes.Change // what Cluster.Apply did to the recipe
	Target       Target
	OutputDir    string       // the base of run folders
	Smoke        bool         // plays a few users for the shortest phase
	StallSeconds float64      // how long the client may be silent until that is told
	Local        LocalScale   // scales a run to this machine; used by target local alone
	Backends     backend.List // those that a recipe may ask for; nil: those of this program
}

// LocalScale is how much of a run this machine plays.
type LocalScale struct {
	Users   int           // of the highest level; lower ones in proportion
	Seconds float64       // of one phase: its timeout
	Paths   []recipes.Var // workload keys whose files this machine sees elsewhere
}
