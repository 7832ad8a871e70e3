package schema

// Engine is a serving engine that recipes may name, with what srtctl knows about it
// when it loads a recipe. Package backend knows how to run one.
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

// TRTLLM is the name of TensorRT-LLM. Fields that layout 1 has for each engine and layout 2
// has once use its path as the canonical one.
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
