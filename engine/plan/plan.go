// Package plan turns a recipe into a plan of its run: nodes by role, mounts, files, and every step
// with its environment, command and log. It does no I/O. A dry-run prints the plan, and a run
// executes the same plan with its placeholders bound.
package plan

import (
	"encoding/json"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Target is where a plan runs.
type Target string

// The targets: an allocation of a Slurm cluster, or this machine with mock servers instead of
// engines.
const (
	Slurm Target = "slurm"
	Local Target = "local"
	// Srtctl is a Slurm job that an installed srtctl submits from the recipe. The plan shows
	// its nodes and steps, but srtctl builds the commands.
	Srtctl Target = "srtctl"
)

// OnSlurm reports whether a run of this target is a Slurm job.
func (t Target) OnSlurm() bool { return t == Slurm || t == Srtctl }

// Plan describes everything that a run will do. Values of environment variables include
// secrets: use [Plan.Redacted] before display.
type Plan struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Target  Target `json:"target"`
	Model   string `json:"model"` // the served name, which clients send
	// Precision is the label of the model's precision.
	Precision string `json:"precision"`
	Nodes     []Node `json:"nodes"`
	// GPUsPerNode and Image describe the nodes and the containers of the run.
	GPUsPerNode int     `json:"gpus_per_node"`
	Image       string  `json:"image"`
	Mounts      []Mount `json:"mounts"`
	Files       []File  `json:"files"` // written before the first step
	Steps       []Step  `json:"steps"`
	Phases      []Phase `json:"phases"`
	// Substitutions are the differences between the run and the recipe.
	Substitutions []Substitution   `json:"swaps"`
	Changes       []recipes.Change `json:"changes"`    // changes by the cluster file
	Script        string           `json:"script"`     // batch script; empty for local runs
	OutputDir     string           `json:"output_dir"` // parent of the run directory
	Smoke         bool             `json:"smoke,omitempty"`
	// Braces is the number of braces on each side of placeholders; 0: one.
	Braces int        `json:"placeholder_braces,omitempty"`
	Scale  LocalScale `json:"-"` // requested scale of a local plan
}

// Node is one node of the run and its roles.
type Node struct {
	Index int      `json:"index"`
	Name  string   `json:"name"` // {node:N} until bound
	Roles []string `json:"roles"`
}

// Mount is one container mount and its origin.
type Mount struct {
	Host      string `json:"host"`
	Container string `json:"container"` // may have options after a colon
	Source    string `json:"source"`
}

// File is a file that is written before the first step.
type File struct {
	Path    string      `json:"path"`
	Content string      `json:"content"`
	Source  string      `json:"source"`
	Role    schema.Role `json:"-"` // role whose engine it configures; only in a plan that was just built
	// Defaults are the keys that the recipe does not set.
	Defaults []Default `json:"defaults,omitempty"`
}

// Default is a key of a file that the recipe does not set, with its value.
type Default struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Var is one environment variable of a step and its origin.
type Var = backend.Var

// Readiness is the condition for a step to be ready.
type Readiness = backend.Readiness

// The probes of a [Readiness].
const (
	ProbeNone   = backend.ProbeNone
	ProbeTCP    = backend.ProbeTCP
	ProbeHTTP   = backend.ProbeHTTP
	ProbeHealth = backend.ProbeHealth
	ProbeExit   = backend.ProbeExit
)

// Stage is the position of a step in the start order. A stage starts once all steps of the
// previous stages are ready, and is shut down before them.
type Stage int

// The stages.
const (
	Infra Stage = iota
	Workers
	FrontendStage
	Client
)

// Step is one process, or one srun on several nodes.
type Step struct {
	Name   string      `json:"name"`
	Role   schema.Role `json:"role"`
	Stage  Stage       `json:"stage"`
	Nodes  []int       `json:"nodes"`
	Tasks  int         `json:"tasks"`          // number of tasks on all nodes
	GPUs   []int       `json:"gpus,omitempty"` // GPU indexes on its node; empty: all
	Env    []Var       `json:"env"`
	Argv   []string    `json:"argv"`   // what runs in the container
	Launch []string    `json:"launch"` // command that starts it
	// Shell is a command that opens a shell on its node while it runs; empty if not available.
	Shell []string  `json:"shell,omitempty"`
	Log   string    `json:"log"` // file in the log directory
	Ready Readiness `json:"ready"`
	// Fatal are regular expressions (RE2). A matching line in the step's log fails the run,
	// because an engine may fail while its launcher keeps running.
	Fatal   []string `json:"fatal,omitempty"`
	Failure string   `json:"failure"` // consequence of an exit before the end of the run
	// StallSeconds is how long the client may write nothing before a stall is reported; 0: forever.
	StallSeconds float64 `json:"stall_seconds,omitempty"`
	EndsRun      bool    `json:"ends"` // true for the client, whose exit ends the run with its code
}

// Phase is the expected course of one concurrency level. Without a workload its times and minimums
// are unknown: 0, and null in JSON.
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

// Known reports whether the times and minimums of the phase are known.
func (p Phase) Known() bool { return p.TimeoutSeconds > 0 }

// MarshalJSON writes null for what is unknown.
func (p Phase) MarshalJSON() ([]byte, error) {
	if !p.Known() {
		return json.Marshal(struct {
			Index           int  `json:"index"`
			Concurrency     int  `json:"level"`
			RampSeconds     *int `json:"ramp_seconds"`
			SettlingSeconds *int `json:"settling_seconds"`
			TimeoutSeconds  *int `json:"timeout_seconds"`
			MinMeasurement  *int `json:"min_measurement_seconds"`
			MinTotal        *int `json:"min_total_trajectories"`
			MinPerUser      *int `json:"min_trajectories_per_user"`
		}{Index: p.Index, Concurrency: p.Concurrency})
	}
	type known Phase
	return json.Marshal(known(p))
}

// Substitution is one difference between a run and its recipe.
type Substitution struct {
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// Request holds the arguments of [Build].
type Request struct {
	Recipe   *recipes.Recipe
	Workload *recipes.Workload // nil: unknown phases, and the client reads the path in the recipe
	Cluster  *recipes.Cluster
	Changes  []recipes.Change // result of Cluster.Apply
	// ResolvedModel is the model's directory with symbolic links resolved; empty: unknown on this machine.
	ResolvedModel string
	Target        Target
	OutputDir     string       // parent of the run directory
	Smoke         bool         // run a few users for the shortest phase
	StallSeconds  float64      // see [Step.StallSeconds]
	Local         LocalScale   // scale for target Local
	Backends      backend.List // available backends; nil: those of this program
}

// LocalScale is the size of a local run.
type LocalScale struct {
	Users   int           // of the highest concurrency level; lower ones are scaled in proportion
	Seconds float64       // timeout of a phase
	Paths   []recipes.Var // workload keys with other paths on this machine
}
