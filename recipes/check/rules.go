package check

import (
	"sync"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Rule is one thing that goes wrong with recipes: what bites, and what is right.
// Those with an ID are found before anything is submitted.
type Rule struct {
	ID       string           // as in [recipes.Diagnostic]; empty: it can't be known before
	Number   int              // in the reference's table; rules of one number are one gotcha; 0: none
	Severity recipes.Severity // that it is reported with, or the highest of several
	Area     string           // field or part of the run
	Bites    string
	Right    string
	Unknown  string // why it can't be known before
}

// Rules is the table of all rules.
func Rules() []Rule {
	e, w, n := recipes.Error, recipes.Warning, recipes.Note
	return []Rule{
		{ID: "string-map", Number: 1, Severity: e, Area: "environment maps", Bites: "a number or a bool is refused: values are strings", Right: "quote it"},
		{ID: "env-override", Number: 2, Severity: w, Area: "environment", Bites: "the global environment silently beats a role's own", Right: "give each variable in one place"},
		{ID: "env-placeholder", Number: 3, Severity: w, Area: "environment", Bites: "{node} and {node_id} reach trtllm workers as they stand", Right: "do without them"},
		{ID: "srun-options", Number: 4, Severity: w, Area: "srun_options", Bites: "srtctl of layout 1 does not apply them to trtllm workers, frontend and infra", Right: "layout 2, where every step has them"},
		{ID: "levels", Number: 5, Severity: e, Area: "benchmark.concurrencies", Bites: `a bare number is refused, "64,128" fails late`, Right: `a list, or "64x128"`},
		{ID: "agentperf-fields", Number: 6, Severity: e, Area: "benchmark", Bites: "srtctl looks at the fields of agentperf only when the servers are up", Right: "checked before"},
		{ID: "container-path", Number: 7, Severity: w, Area: "agentperf_client_dir, agentperf_config", Bites: "they are paths in the container, not on the host", Right: "a mount that covers them, and something there"},
		{ID: "placeholder-url", Number: 8, Severity: e, Area: "base_url of the workload", Bites: "validated before it is overridden", Right: "a URL"},
		{ID: "phase-timeout", Number: 8, Severity: e, Area: "phase_timeout_seconds", Bites: "a phase without time for its load measures nothing", Right: "the rule, for each level that the recipe injects"},
		{ID: "assignments", Number: 8, Severity: e, Area: "user_assignments_path", Bites: "has to cover the highest level", Right: "entries counted in the file, where this machine sees it"},
		{ID: "localhost", Number: 9, Severity: w, Area: "benchmark.env", Bites: "on another node than the frontend's localhost is wrong", Right: "SRT_FRONTEND_HOST and SRT_FRONTEND_PORT"},
		{ID: "multiple-frontends", Number: 10, Severity: w, Area: "frontend.enable_multiple_frontends", Bites: "the default puts nginx and several frontends in the path", Right: "false for AgentPerf"},
		{ID: "health-window", Number: 11, Severity: w, Area: "health_check", Bites: "30 minutes are short for large models; a block in the recipe hides all of the cluster file's", Right: "300 or more attempts of 10 s"},
		{ID: "time-limit", Number: 12, Severity: w, Area: "slurm.time_limit", Bites: "one hour if nobody sets it", Right: "bring-up, build of the client and all phases"},
		{ID: "dynamo-install", Number: 13, Severity: w, Area: "dynamo.install", Bites: "the default installs into each container, which needs egress", Right: "false for dynamo images"},
		{ID: "topology", Number: 14, Severity: e, Area: "resources, roles", Bites: "both layouts or half a layout; srtctl's dry-run does not look", Right: "checked everywhere"},
		{ID: "colocate", Number: 15, Severity: e, Area: "decode nodes", Bites: "0 means to share the prefill nodes, which may be full", Right: "GPUs of both roles given, and they fit"},
		{ID: "gpus-per-worker", Number: 16, Severity: e, Area: "nodes, workers, gpus", Bites: "division drops GPUs; TP × PP is compared with nothing", Right: "it divides, and TP × PP is the GPUs of a worker"},
		{ID: "segment", Number: 17, Severity: w, Area: "cluster file", Bites: "--segment asks for all nodes in one block; a rack has 18 nodes", Right: "use_segment_sbatch_directive: false for larger jobs"},
		{ID: "cluster-file", Number: 18, Severity: e, Area: "srtslurm.yaml", Bites: "one unknown key voids the whole file with a warning", Right: "an error that names the key; which file is in force is always shown"},
		{ID: "cluster-gpus", Number: 19, Severity: w, Area: "gpus_per_node", Bites: "srtctl of layout 1 does not take it from the cluster file", Right: "write it in the recipe"},
		{ID: "not-here", Number: 20, Severity: w, Area: "model.path, model.container", Bites: "srtctl looks for both on the login node", Right: "preflight: false in the cluster file if only compute nodes see them"},
		{ID: "mounts", Number: 21, Severity: e, Area: "mounts", Bites: "no colon; over /configs, /model or /logs; with the model's host path", Right: "the final list is checked"},
		{ID: "mount-order", Number: 21, Severity: w, Area: "mounts", Bites: "of two mounts with one host path the later wins; two hosts can claim one container path", Right: "one of the two"},
		{Number: 22, Area: "worker exits", Bites: "an exit with code 0 in the middle of a run is no failure to srtctl; a launcher can outlive its engine", Unknown: "happens in the run: any exit of a critical worker fails it there, and worker logs are watched"},
		{ID: "dedicated-infra", Number: 23, Severity: n, Area: "infra, services", Bites: "a node of its own adds one to the job and shifts the workers", Right: "it is counted"},
		{ID: "nats-payload", Number: 24, Severity: w, Area: "dynamo.request_plane", Bites: "NATS carries 1 MB by default, long prompts are larger", Right: "a payload limit of 24 MB or more, or tcp"},
		{ID: "observability", Number: 25, Severity: w, Area: "observability, publish flags", Bites: "debug logs and metrics change the result", Right: "off for measured runs"},
		{ID: "telemetry", Number: 26, Severity: w, Area: "telemetry", Bites: "refused with any benchmark but sa-bench", Right: "off with agentperf"},
		{ID: "gpu-type-case", Number: 27, Severity: w, Area: "resources.gpu_type", Bites: "GB300 silently loses NUMA binding", Right: "lower case"},
		{ID: "parser-flag", Number: 28, Severity: e, Area: "frontend.args", Bites: "the frontend refuses to start with --dyn-*-parser", Right: "DYN_TOOL_CALL_PARSER and DYN_REASONING_PARSER for the workers"},
		{ID: "hf-home", Number: 29, Severity: w, Area: "hf: models", Bites: "without a shared HF_HOME every worker downloads", Right: "HF_HOME in the roles' environment"},
		{ID: "no-effect", Number: 30, Severity: w, Area: "output.log_dir", Bites: "is read and not used", Right: "--output-dir, or output_dir of the cluster file"},
		{ID: "setup-script", Number: 31, Severity: w, Area: "setup_script", Bites: "runs in every task of a trtllm step at once; a missing file is only a warning", Right: "idempotent, with a lock, and there"},
		{ID: "results-dir", Number: 32, Severity: w, Area: "AGENTPERF_EXTRA_ARGS", Bites: "two runs must not share a folder of results", Right: "leave the folder to the run"},
		{ID: "model-symlink", Number: 33, Severity: w, Area: "model.path", Bites: "workers serve under the target's name, the client asks for the link's: every request fails", Right: "served_model_name, or the target"},
		{Number: 34, Area: "CPUs", Bites: "some partitions give few CPUs a task", Unknown: "the partition's own limits decide, after submit: sbatch_directives with cpus-per-gpu or exclusive"},
		{ID: "yaml-1.1", Number: 35, Severity: e, Area: "scalars without quotes", Bites: "srtctl and the engines read YAML 1.1: 12:00:00 is 43200, on is true, 0o14 and 1e-5 are text", Right: "quotes, or a spelling that all read the same"},
		{ID: "duplicate-key", Number: 35, Severity: e, Area: "keys", Bites: "of a key given twice the last wins, without a word", Right: "once"},

		{ID: "unknown-field", Severity: e, Area: "every mapping", Bites: "srtctl refuses fields that it does not know; the client warns", Right: "the nearest known one"},
		{ID: "type", Severity: e, Area: "every field", Bites: "a value of another type, or out of range", Right: "see explain"},
		{ID: "coerced", Severity: w, Area: "every field", Bites: "a value that srtctl takes for another, most likely", Right: "the value that is meant"},
		{ID: "foreign", Severity: n, Area: "other engines and benchmarks", Bites: "a field of something that is not run here: carried, not checked", Right: "srtctl knows it"},
		{ID: "not-run-here", Severity: w, Area: "engine, frontend, benchmark", Bites: "can be read, not run here", Right: "trtllm behind dynamo with agentperf"},
		{ID: "todo", Severity: e, Area: "every value", Bites: "a placeholder that a port left open", Right: "the real value"},
	}
}

var severities = sync.OnceValue(func() map[string]recipes.Severity {
	m := map[string]recipes.Severity{}
	for _, r := range Rules() {
		m[r.ID] = r.Severity
	}
	return m
})
