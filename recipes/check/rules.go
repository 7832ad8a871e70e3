package check

import (
	"cmp"
	"math"
	"slices"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
)

// Rules is the table of all rules, those of the backends among them.
func Rules() []recipes.Rule {
	number := func(r recipes.Rule) int { return cmp.Or(r.Number, math.MaxInt) }
	all := append(rules(), backend.All().Rules()...)
	slices.SortStableFunc(all, func(a, b recipes.Rule) int { return cmp.Compare(number(a), number(b)) })
	return all
}

// rules are those that hold whatever the backend.
func rules() []recipes.Rule {
	e, w, n := recipes.Error, recipes.Warning, recipes.Note
	rule := func(number int, severity recipes.Severity, id, area, pitfall, fix string) recipes.Rule {
		return recipes.Rule{ID: id, Number: number, Severity: severity, Area: area, Pitfall: pitfall, Fix: fix}
	}
	return []recipes.Rule{
		rule(1, e, "string-map", "environment maps", "a number or a bool is refused: values are strings", "quote it"),
		rule(2, w, "env-override", "environment",
			"the global environment silently beats a role's own", "give each variable in one place"),
		rule(5, e, "levels", "benchmark.concurrencies",
			`a bare number is refused, "64,128" fails late`, `a list, or "64x128"`),
		rule(6, e, "agentperf-fields", "benchmark",
			"srtctl looks at the fields of agentperf only when the servers are up", "checked before"),
		rule(7, w, "container-path", "agentperf_client_dir, agentperf_config",
			"they are paths in the container, not on the host", "a mount that covers them, and something there"),
		rule(8, e, "placeholder-url", "base_url of the workload", "validated before it is overridden", "a URL"),
		rule(8, e, "phase-timeout", "phase_timeout_seconds",
			"a phase without time for its load measures nothing", "the rule, for each level that the recipe injects"),
		rule(8, e, "assignments", "user_assignments_path",
			"has to cover the highest level", "entries counted in the file, where this machine sees it"),
		rule(9, w, "localhost", "benchmark.env",
			"on another node than the frontend's localhost is wrong", "SRT_FRONTEND_HOST and SRT_FRONTEND_PORT"),
		rule(10, w, "multiple-frontends", "frontend.enable_multiple_frontends",
			"the default puts nginx and several frontends in the path", "false for AgentPerf"),
		rule(11, w, "health-window", "health_check",
			"30 minutes are short for large models; a block in the recipe hides all of the cluster file's",
			"300 or more attempts of 10 s"),
		rule(12, w, "time-limit", "slurm.time_limit",
			"one hour if nobody sets it", "bring-up, build of the client and all phases"),
		rule(13, w, "dynamo-install", "dynamo.install",
			"the default installs into each container, which needs egress", "false for dynamo images"),
		rule(14, e, "topology", "resources, roles",
			"both layouts or half a layout; srtctl's dry-run does not look", "checked everywhere"),
		rule(15, e, "colocate", "decode nodes",
			"0 means to share the prefill nodes, which may be full", "GPUs of both roles given, and they fit"),
		rule(16, e, "gpus-per-worker", "nodes, workers, gpus",
			"division drops GPUs; TP × PP is compared with nothing", "it divides, and TP × PP is the GPUs of a worker"),
		rule(17, w, "segment", "cluster file",
			"--segment asks for all nodes in one block; a rack has 18 nodes",
			"use_segment_sbatch_directive: false for larger jobs"),
		rule(18, e, "cluster-file", "srtslurm.yaml",
			"one unknown key voids the whole file with a warning",
			"an error that names the key; which file is in force is always shown"),
		rule(19, w, "cluster-gpus", "gpus_per_node",
			"srtctl of layout 1 does not take it from the cluster file", "write it in the recipe"),
		rule(20, w, "not-here", "model.path, model.container",
			"srtctl looks for both on the login node", "preflight: false in the cluster file if only compute nodes see them"),
		rule(21, e, "mounts", "mounts",
			"no colon; over /configs, /model or /logs; with the model's host path", "the final list is checked"),
		rule(21, w, "mount-order", "mounts",
			"of two mounts with one host path the later wins; two hosts can claim one container path", "one of the two"),
		{
			Number: 22, Area: "worker exits",
			Pitfall: "an exit with code 0 in the middle of a run is no failure to srtctl; a launcher can outlive its engine",
			Unknown: "happens in the run: any exit of a critical worker fails it there, and worker logs are watched",
		},
		rule(23, n, "dedicated-infra", "infra, services",
			"a node of its own adds one to the job and shifts the workers", "it is counted"),
		rule(24, w, "nats-payload", "dynamo.request_plane",
			"NATS carries 1 MB by default, long prompts are larger", "a payload limit of 24 MB or more, or tcp"),
		rule(25, w, "observability", "observability, publish flags",
			"debug logs and metrics change the result", "off for measured runs"),
		rule(26, w, "telemetry", "telemetry", "refused with any benchmark but sa-bench", "off with agentperf"),
		rule(27, w, "gpu-type-case", "resources.gpu_type", "GB300 silently loses NUMA binding", "lower case"),
		rule(28, e, "parser-flag", "frontend.args",
			"the frontend refuses to start with --dyn-*-parser",
			"DYN_TOOL_CALL_PARSER and DYN_REASONING_PARSER for the workers"),
		rule(29, w, "hf-home", "hf: models",
			"without a shared HF_HOME every worker downloads", "HF_HOME in the roles' environment"),
		rule(30, w, "no-effect", "output.log_dir",
			"is read and not used", "--output-dir, or output_dir of the cluster file"),
		rule(31, w, "setup-script", "setup_script",
			"runs in every task of a trtllm step at once; a missing file is only a warning",
			"idempotent, with a lock, and there"),
		rule(32, w, "results-dir", "AGENTPERF_EXTRA_ARGS",
			"two runs must not share a folder of results", "leave the folder to the run"),
		rule(33, w, "model-symlink", "model.path",
			"workers serve under the target's name, the client asks for the link's: every request fails",
			"served_model_name, or the target"),
		{
			Number: 34, Area: "CPUs", Pitfall: "some partitions give few CPUs a task",
			Unknown: "the partition's own limits decide, after submit: sbatch_directives with cpus-per-gpu or exclusive",
		},
		rule(35, e, "yaml-1.1", "scalars without quotes",
			"srtctl and the engines read YAML 1.1: 12:00:00 is 43200, on is true, 0o14 and 1e-5 are text",
			"quotes, or a spelling that all read the same"),
		rule(35, e, "duplicate-key", "keys", "of a key given twice the last wins, without a word", "once"),

		rule(0, e, "unknown-field", "every mapping",
			"srtctl refuses fields that it does not know; the client warns", "the nearest known one"),
		rule(0, e, "type", "every field", "a value of another type, or out of range", "see explain"),
		rule(0, w, "coerced", "every field",
			"a value that srtctl takes for another, most likely", "the value that is meant"),
		rule(0, n, "foreign", "other engines and benchmarks",
			"a field of something that is not run here: carried, not checked", "srtctl knows it"),
		rule(0, w, "not-run-here", "engine, frontend, benchmark",
			"can be read, not run here", backend.All().String()+" with agentperf"),
		rule(0, e, "todo", "every value", "a placeholder that a port left open", "the real value"),
	}
}

func severities(backends backend.List) map[string]recipes.Severity {
	m := map[string]recipes.Severity{}
	for _, r := range append(rules(), backends.Rules()...) {
		m[r.ID] = r.Severity
	}
	return m
}
