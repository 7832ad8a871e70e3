package backend

import (
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// trtllm is TensorRT-LLM behind dynamo. A worker is an MPI program with one rank per GPU.
type trtllm struct{ dynamo }

// Names returns the types of the engine and the frontend in recipes.
func (trtllm) Names() (engine, frontend string) { return schema.TRTLLM, schema.Dynamo }

// Title returns the display name of the engine.
func (trtllm) Title() string { return "TensorRT-LLM" }

// Config returns the engine configuration of a role, with srtctl's defaults. They turn off statistics of
// each iteration, which engines other than TensorRT have, unless the run is to be observed.
func (trtllm) Config(r *recipes.Recipe, role recipes.Role) (File, error) {
	f := File{Name: configFileName(role), Source: r.Position(role.ConfigPath).Path}
	add := func(key, value string) {
		if _, given := role.Arg(key); !given {
			f.Defaults = append(f.Defaults, recipes.Var{Name: key, Value: value})
		}
	}
	engine, _ := role.Arg("backend")
	switch {
	case r.Observability:
		add(schema.IterStats, "true")
	case engine != "tensorrt" && engine != "trt":
		add(schema.IterStats, "false")
	}
	if r.Observability || r.Frontend.Type == schema.TRTLLMServe {
		add("return_perf_metrics", "true")
	}
	var err error
	f.Text, err = role.Text(f.Defaults...)
	return f, err
}

// Flags with which workers publish metrics. Publishing takes time of the workers.
const (
	PublishEventsFlag  = "--publish-events-and-metrics"
	PublishMetricsFlag = "--publish-metrics"
)

func configFileName(role recipes.Role) string { return "trtllm_config_" + string(role.Name) + ".yaml" }

// Worker returns a worker, which uses GPUs of one node or all GPUs of several nodes.
func (t trtllm) Worker(s Deployment, w Worker) Process {
	r := s.Recipe
	var argv []string
	var before []Var
	if r.Engine.NUMACPUBind {
		argv = append(argv, "bash", "/configs/numa_cpu_bind.sh")
		if r.Engine.NUMAMemoryBind == "local" {
			argv = append(argv, "--bind-memory")
		}
		origin := r.Position("backend.numa_cpu_bind").Path
		before = []Var{{Name: "TLLM_NUMA_AWARE_WORKER_AFFINITY", Value: "0", Origin: origin}}
	}
	if bindsMemory(r, w.Role.Name) {
		argv = append(argv, "numactl", "-m", "0,1")
	}
	argv = append(argv, "trtllm-llmapi-launch", "python3", "-m", "dynamo.trtllm", "--model-path", s.ModelPath,
		"--served-model-name", s.ServedModel)
	if w.Role.Name != schema.Agg {
		argv = append(argv, "--disaggregation-mode", string(w.Role.Name))
	}
	argv = append(argv, "--extra-engine-args", s.LogDir+"/"+configFileName(w.Role),
		"--request-plane", r.Dynamo.RequestPlane)
	switch {
	case r.Engine.PublishEvents:
		argv = append(argv, PublishEventsFlag)
	case r.Engine.PublishMetrics:
		argv = append(argv, PublishMetricsFlag)
	}
	var fatal []string
	if r.FatalMarkers {
		fatal = fatalMarkers()
	}
	// A unique name, so that two workers on one node do not share memory.
	memory := Var{
		Name: "TRTLLM_EPLB_SHM_NAME", Value: "moe_shared_" + string(w.Role.Name) + itoa(w.Index) + "_" + s.JobID,
		Origin: BuiltIn,
	}
	// --wait ends the remaining ranks when the leader exits without an error.
	srun := []string{"--mpi", "pmix", "--oversubscribe", "--cpu-bind=verbose,none", "--kill-on-bad-exit=1", "--wait=10"}
	if n := len(w.Nodes); n > 1 && w.Ranks < n*r.GPUsPerNode { // full nodes first: by default, srun balances the ranks
		srun = append(srun, "--distribution", "plane="+itoa(r.GPUsPerNode))
	}
	return Process{
		Name: w.Step(), Role: w.Role.Name, Tasks: w.Ranks, Env: t.workerEnv(s, w, before, []Var{memory}), Argv: argv,
		Srun:  srun,
		Fatal: append(fatal, r.FatalPatterns...),
	}
}

// bindsMemory reports whether the memory of a role's workers is bound to NUMA nodes. By default it is
// bound for prefill and decode workers on some types of GPUs. The value local is an option of the
// script that binds to CPUs.
func bindsMemory(r *recipes.Recipe, role schema.Role) bool {
	switch r.Engine.NUMAMemoryBind {
	case "true":
		return true
	case "":
		return role != schema.Agg && slices.Contains(schema.MemoryBoundGPUs(), r.GPUType)
	}
	return false
}

// fatalMarkers returns patterns of log lines that show that the engine has failed. Traceback
// and MPI_Abort are not among them, since they occur in successful runs too.
func fatalMarkers() []string {
	return []string{`Rank\d+ Task exit code: 0*[1-9]`, `Failed to initialize executor`}
}

// Components returns the components of dynamo and the name of TensorRT-LLM's decode workers.
func (t trtllm) Components() map[string]schema.Role {
	names := t.dynamo.Components()
	names["tensorrt_llm"] = schema.Decode
	return names
}

// Rules returns the rules for TensorRT-LLM.
func (trtllm) Rules() []recipes.Rule {
	return []recipes.Rule{
		{
			ID: "env-placeholder", Number: 3, Severity: recipes.Warning, Area: "environment",
			Pitfall: "{node} and {node_id} are not replaced for trtllm workers", Fix: "do not use them",
		},
		{
			ID: "srun-options", Number: 4, Severity: recipes.Warning, Area: "srun_options",
			Pitfall: "in layout 1, srtctl does not apply them to trtllm workers, frontend and infra",
			Fix:     "use layout 2, which applies them to every step",
		},
	}
}

// Check reports settings that srtctl or TensorRT-LLM handle in an unexpected way.
func (trtllm) Check(r *recipes.Recipe, cluster *recipes.Cluster, report Report) {
	for _, role := range r.Roles() {
		checkParallelism(r, role, report)
	}
	checkPlaceholders(r.Environment, "environment", report)
	for _, role := range r.Roles() {
		checkPlaceholders(role.Env, role.Name.EnvPath(), report)
	}
	if r.Schema == 1 && len(r.SrunOptions) > 0 {
		report("srun-options", "srun_options", "migrate to layout 2, which applies them to every step",
			"in layout 1, srtctl applies them to the client's step only, not to trtllm workers, frontend and infra")
	}
	if r.SetupScript != "" {
		report("setup-script", "setup_script", "make it idempotent, with a lock",
			"runs in every task of a worker, once per GPU and concurrently, in a shared root file system")
	}
	if cluster != nil && cluster.HetJobs && !r.Has("resources.het_jobs") {
		report("cluster-file", "resources.het_jobs", "set it to false",
			"use_het_jobs is set in the cluster file: srtctl rejects every trtllm recipe that does not override it").
			Set("false", false)
	}
}

// checkParallelism checks that TP × PP is the number of GPUs of a worker, which srtctl does not check.
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
			"tensor_parallel_size %d × pipeline_parallel_size %d = %d, but a %s worker has %d GPUs", tp, pp,
			tp*pp, role.Name, gpus)
	}
}

func checkPlaceholders(env recipes.Env, path string, report Report) {
	for _, v := range env {
		if strings.Contains(v.Value, "{node}") || strings.Contains(v.Value, "{node_id}") {
			report("env-placeholder", recipes.Join(path, v.Name), "remove the placeholder",
				"placeholders in %q are not replaced for trtllm workers", v.Value)
		}
	}
}
