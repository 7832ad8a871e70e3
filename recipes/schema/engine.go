package schema

// Engine is a serving engine that recipes may name, with the properties that srtctl checks
// when it loads a recipe. Package backend defines how to run an engine.
type Engine struct {
	Name          string
	HasRoleConfig bool // layout 1 has an engine configuration for each worker role
	// AllFieldsKnown is true if the table has all fields of the engine, so that an unknown
	// field is an error. Unknown fields of other engines are kept.
	AllFieldsKnown      bool
	HetJobs             bool   // supports heterogeneous jobs
	OwnFrontend         string // the frontend that serves only this engine; empty: none
	UnsupportedProfiler string // the profiler that does not work with the engine; empty: none
}

// TRTLLM is the name of TensorRT-LLM. Where layout 1 has a field per engine and layout 2 a single
// one, the canonical path is that of TRTLLM.
const TRTLLM = "trtllm"

// Dynamo is the default frontend.
const Dynamo = "dynamo"

// DefaultEngine is the default engine.
const DefaultEngine = "sglang"

// Engines returns the engines that recipes may name.
func Engines() []Engine {
	return []Engine{
		{Name: TRTLLM, HasRoleConfig: true, AllFieldsKnown: true, OwnFrontend: "trtllm_serve", UnsupportedProfiler: "torch"},
		{Name: DefaultEngine, HasRoleConfig: true, HetJobs: true},
		{Name: "vllm", HasRoleConfig: true},
		{Name: "mocker"},
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
		if e.OwnFrontend != "" && e.OwnFrontend == frontend {
			return e
		}
	}
	return Engine{}
}
