package schema

import "slices"

// Engine is a serving engine that recipes may name, with the properties that srtctl checks
// when it loads a recipe. Package backend defines how to run an engine.
type Engine struct {
	Name                string
	HasRoleConfig       bool     // layout 1 has an engine configuration for each worker role
	HetJobs             bool     // supports heterogeneous jobs
	Sidecar             bool     // can run beside a sidecar of dynamo
	UnsupportedProfiler string   // the profiler that does not work with the engine; empty: none
	Frontends           []string // the frontends that serve only this engine
}

// TRTLLM is the name of TensorRT-LLM. Where layout 1 has a field per engine and layout 2 a single
// one, the canonical path is that of TRTLLM.
const TRTLLM = "trtllm"

// Names of other engines, frontends and benchmarks.
const (
	DefaultEngine = "sglang"
	Dynamo        = "dynamo"       // the default frontend
	TRTLLMServe   = "trtllm_serve" // a router of TensorRT-LLM
	NoFrontend    = "none"         // of jobs that consist of services
	AgentPerf     = "agentperf"
)

// IterStats is the key of TensorRT-LLM's engine config that turns on statistics of iterations. srtctl and
// plans add it to configs that do not have it, with the value false.
const IterStats = "enable_iter_perf_stats"

// Engines returns the engines that recipes may name.
func Engines() []Engine {
	return []Engine{
		{
			Name: TRTLLM, HasRoleConfig: true, Sidecar: true, UnsupportedProfiler: "torch", Frontends: []string{TRTLLMServe},
		},
		{
			Name: DefaultEngine, HasRoleConfig: true, HetJobs: true, Sidecar: true,
			Frontends: []string{"sglang", "sglang-router"},
		},
		{Name: "vllm", HasRoleConfig: true, Sidecar: true, Frontends: []string{"vllm", "vllm-router"}},
		{Name: "mocker"},
		{Name: "atom", Frontends: []string{"atomesh"}},
		{Name: "tilert", Frontends: []string{"tilert-router"}},
		{Name: "tokenspeed"},
	}
}

// FindEngine returns the engine with a name. An unknown engine has only its name set.
func FindEngine(name string) Engine {
	for _, e := range Engines() {
		if e.Name == name {
			return e
		}
	}
	return Engine{Name: name}
}

// EngineOfFrontend returns the engine that the frontend belongs to. The name is empty if
// the frontend serves several engines or is unknown.
func EngineOfFrontend(frontend string) Engine {
	for _, e := range Engines() {
		if slices.Contains(e.Frontends, frontend) {
			return e
		}
	}
	return Engine{}
}

// MemoryBoundGPUs returns the types of GPUs on whose nodes the memory of TensorRT-LLM's prefill and decode
// workers is bound by default.
func MemoryBoundGPUs() []string { return []string{"gb200", "gb300", "vrnvl72"} }
