package schema

// Engine is a serving engine that recipes may name, and what srtctl makes of it
// when it loads a recipe. What it takes to run one is told by its backend.
type Engine struct {
	Name   string
	Config bool // layout 1 has a configuration of it for each worker role
	// Described says that the table has all of its fields: an unknown one is a slip.
	// Unknown fields of the other engines are carried.
	Described bool
	HetJobs   bool   // it runs in heterogeneous jobs
	Server    string // the frontend that is a server of its own; empty: none
	Unusable  string // the profiler that does not work with it; empty: none
}

// TRTLLM is TensorRT-LLM's name. Its paths are the canonical ones of what every
// engine has one place for in layout 2.
const TRTLLM = "trtllm"

// Dynamo is the frontend of a recipe that names none.
const Dynamo = "dynamo"

// DefaultEngine is the engine of a recipe that names none.
const DefaultEngine = "sglang"

// Engines lists the engines that recipes may name.
func Engines() []Engine {
	return []Engine{
		{Name: TRTLLM, Config: true, Described: true, Server: "trtllm_serve", Unusable: "torch"},
		{Name: DefaultEngine, Config: true, HetJobs: true},
		{Name: "vllm", Config: true},
		{Name: "mocker"},
	}
}

// EngineNamed is the engine of a name; one that is not listed has nothing but it.
func EngineNamed(name string) Engine {
	for _, e := range Engines() {
		if e.Name == name {
			return e
		}
	}
	return Engine{Name: name}
}

// EngineServedBy is the engine that a frontend is the server of; none has a name
// where the frontend serves several, or is not known.
func EngineServedBy(frontend string) Engine {
	for _, e := range Engines() {
		if e.Server != "" && e.Server == frontend {
			return e
		}
	}
	return Engine{}
}
