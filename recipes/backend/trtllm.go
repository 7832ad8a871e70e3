package backend

import (
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// trtllm is TensorRT-LLM behind dynamo: a worker is an MPI program, a rank a GPU.
type trtllm struct{ dynamo }

// Names are the engine's and the frontend's.
func (trtllm) Names() (engine, frontend string) { return schema.TRTLLM, schema.Dynamo }

// Title is the engine's own spelling.
func (trtllm) Title() string { return "TensorRT-LLM" }

// Config is the file of a role's engine arguments, as the recipe has them.
func (trtllm) Config(role recipes.Role) (name, text string, err error) {
	text, err = role.Text()
	return configFileName(role), text, err
}

func configFileName(role recipes.Role) string { return "trtllm_config_" + string(role.Name) + ".yaml" }

// Worker is one engine over the GPUs of one node or several whole ones.
func (t trtllm) Worker(s Deployment, w Worker) Process {
	r := s.Recipe
	var argv []string
	var before []Var
	if r.Engine.NUMACPUBind {
		argv = append(argv, "bash", "/configs/numa_cpu_bind.sh")
		before = []Var{{Name: "TLLM_NUMA_AWARE_WORKER_AFFINITY", Value: "0", Origin: "backend.numa_cpu_bind"}}
	}
	if bindsMemory(r, w.Role.Name) {
		argv = append(argv, "numactl", "-m", "0,1")
	}
	argv = append(argv, "trtllm-llmapi-launch", "python3", "-m", "dynamo.trtllm", "--model-path", s.ModelPath,
		"--served-model-name", s.Model)
	if w.Role.Name != schema.Agg {
		argv = append(argv, "--disaggregation-mode", string(w.Role.Name))
	}
	argv = append(argv, "--extra-engine-args", s.LogDir+"/"+configFileName(w.Role), "--request-plane", r.Dynamo.RequestPlane)
	if r.Engine.PublishEvents {
		argv = append(argv, "--publish-events-and-metrics")
	}
	var fatal []string
	if r.FatalMarkers {
		fatal = fatalMarkers()
	}
	// One name for each worker, so that two on one node do not share memory.
	memory := Var{
		Name: "TRTLLM_EPLB_SHM_NAME", Value: "moe_shared_" + string(w.Role.Name) + itoa(w.Index) + "_" + s.JobID,
		Origin: BuiltIn,
	}
	return Process{
		Name: w.Step(), Role: w.Role.Name, Tasks: w.Ranks, Env: t.workerEnv(s, w, before, []Var{memory}), Argv: argv,
		// --wait ends the ranks of a worker whose leader has left without an error.
		Srun:  []string{"--mpi", "pmix", "--oversubscribe", "--cpu-bind=verbose,none", "--kill-on-bad-exit=1", "--wait=10"},
		Fatal: append(fatal, r.FatalPatterns...),
	}
}

// bindMemory: null means by GPU type, for prefill and decode.
func bindsMemory(r *recipes.Recipe, role schema.Role) bool {
	switch r.Engine.NUMAMemoryBind {
	case "true":
		return true
	case "":
		return role != schema.Agg && (r.GPUType == "gb200" || r.GPUType == "gb300")
	}
	return false
}

// fatalMarkers are lines by which a worker tells that its engine is dead. Traceback
// and MPI_Abort are none: they are in logs of healthy runs too.
func fatalMarkers() []string {
	return []string{`Rank\d+ Task exit code: 0*[1-9]`, `Failed to initialize executor`}
}

// Components are dynamo's, and the name that workers for decode give themselves.
func (t trtllm) Components() map[string]schema.Role {
	names := t.dynamo.Components()
	names["tensorrt_llm"] = schema.Decode
	return names
}

// Rules are the pitfalls of TensorRT-LLM alone.
func (trtllm) Rules() []recipes.Rule {
	return []recipes.Rule{
		{
			ID: "env-placeholder", Number: 3, Severity: recipes.Warning, Area: "environment",
			Pitfall: "{node} and {node_id} reach trtllm workers as they stand", Fix: "do without them",
		},
		{
			ID: "srun-options", Number: 4, Severity: recipes.Warning, Area: "srun_options",
			Pitfall: "srtctl of layout 1 does not apply them to trtllm workers, frontend and infra",
			Fix:     "layout 2, where every step has them",
		},
	}
}

// Check finds what srtctl and the engine make of a recipe that nobody expects.
func (trtllm) Check(r *recipes.Recipe, cluster *recipes.Cluster, report Report) {
	for _, role := range r.Roles() {
		checkParallelism(r, role, report)
	}
	checkPlaceholders(r.Environment, "environment", report)
	for _, role := range r.Roles() {
		checkPlaceholders(role.Env, role.Name.EnvPath(), report)
	}
	if r.Schema == 1 && len(r.SrunOptions) > 0 {
		report("srun-options", "srun_options", "migrate to layout 2, where every step has them",
			"srtctl of layout 1 gives them to the client's step alone: not to trtllm workers, frontend and infra")
	}
	if r.SetupScript != "" {
		report("setup-script", "setup_script", "make it idempotent, with a lock",
			"runs in every task of a worker, once a GPU and all at once, on a root that they share")
	}
	if cluster != nil && cluster.HetJobs && !r.Has("resources.het_jobs") {
		report("cluster-file", "resources.het_jobs", "set it to false",
			"use_het_jobs of the cluster file: srtctl refuses every trtllm recipe that does not say otherwise").
			Set("false", false)
	}
}

// parallelism: TP × PP is the number of ranks of a worker; upstream does not verify it.
func checkParallelism(r *recipes.Recipe, role recipes.Role, report Report) {
	tp, ok := role.ArgInt("tensor_parallel_size")
	if !ok || !role.Given || role.Workers == 0 || role.Colocated || !r.GPUsDivideEvenly(role) {
		return
	}
	pp, ok := role.ArgInt("pipeline_parallel_size")
	if !ok {
		pp = 1
	}
	if gpus := r.GPUsPerWorker(role); tp*pp != gpus {
		report("gpus-per-worker", role.ConfigPath, "make them equal",
			"tensor_parallel_size %d × pipeline_parallel_size %d = %d, and a %s worker has %d GPUs", tp, pp,
			tp*pp, role.Name, gpus)
	}
}

func checkPlaceholders(env recipes.Env, path string, report Report) {
	for _, v := range env {
		if strings.Contains(v.Value, "{node}") || strings.Contains(v.Value, "{node_id}") {
			report("env-placeholder", recipes.Join(path, v.Name), "do without the placeholder",
				"%q reaches trtllm workers as it stands: nothing is filled in", v.Value)
		}
	}
}

// Omissions are what only other engines and frontends are given.
func (trtllm) Omissions(r *recipes.Recipe) []Omission {
	var out []Omission
	for _, role := range schema.WorkerRoles() {
		if path := "backend." + role.Layout1Name() + "_extra_args"; r.Has(path) {
			out = append(out, Omission{path, "they are not passed on"})
		}
		if path := "roles." + string(role) + ".kv_events"; r.Has(path) {
			out = append(out, Omission{path, "they are not configured"})
		}
	}
	return out
}
