package schema

func key(path string, kind Kind, doc string) Field {
	return Field{V1: path, V2: path, Kind: kind, Doc: doc}
}

// workloadFields lists the client's keys; the first 19 are the ones that a port
// writes, in this order. Defaults are those of published configurations where
// the client documents none.
func workloadFields() []Field {
	const rule = "part of the phase-timeout rule, see phase_timeout_seconds"
	return []Field{
		key("base_url", Str, "placeholder; overridden at run time").required().
			pitfall("validated before it is overridden: has to be a URL all the same"),
		key("api_key", Str, "key that requests carry"),
		key("model", Str, "placeholder; overridden at run time").required(),
		key("server_type", Str, "kind of server").def(TRTLLM),
		key("concurrencies", IntList, "placeholder; the recipe's levels are injected").required().min(1).unit("users"),
		key("phase_timeout_seconds", Float, "the whole phase, ramp-up included").def("3600.0").above(0).unit("s").
			pitfall("at least (level - 1) / user_spawn_rate + settling_time_seconds + min_measurement_seconds, for each level " +
				"that the recipe injects"),
		key("settling_time_seconds", Float, "after the last user started, before measurement").def("240.0").min(0).unit("s").
			pitfall(rule),
		key("trajectory_path", Str, "recorded conversations, JSONL").required(),
		key("user_assignments_path", Str, "which user plays which conversations, JSON").nullable().
			pitfall("has to cover the highest concurrency"),
		key("max_starting_line_offset", Int, "random first turn of a user's first trajectory").def("10").min(0),
		key("seed", Int, "of the random choices").def("42"),
		key("timeout_seconds", Float, "one request; also how long requests may drain at the end of a phase").def("300.0").
			above(0).unit("s"),
		key("max_workers", Int, "client worker processes").def("8").min(1),
		key("max_tokens", Int, "most output of one request").def("16384").min(1).unit("tok"),
		key("reasoning_effort", Str, "reasoning effort that requests ask for").nullable(),
		key("client_impl", Str, "streaming core of the client").oneOf("rust", "python").def("rust"),
		key("send_conversation_routing_headers", Bool, "send X-Session-ID and X-Correlation-ID").def("false"),
		key("use_dynamo_conv_aware_routing", Bool, "send X-Dynamo-Session-ID").def("false"),
		key("power_dcgm_url", Str, "where power is sampled").nullable(),
		key("user_spawn_rate", Float, "users that start a second").def("1.0").above(0).unit("users/s").pitfall(rule),
		key("min_measurement_seconds", Float, "stop criterion: not before this much measurement").def("300.0").min(0).
			unit("s").pitfall(rule),
		key("min_total_trajectories", Int, "stop criterion: trajectories completed in all").def("30").min(0),
		key("min_trajectories_per_user", Int, "stop criterion: trajectories completed by every user").def("3").min(0),
		key("trajectories_per_user", Int, "trajectories of a user when no assignments file is given").min(1),
		key("tool_calls_args_only", Bool, "count the arguments of tool calls alone"),
		key("record_err_reasons", Bool, "write down why requests failed"),
		key("record_err_reasons_include_input", Bool, "and what they asked"),
		key("exp_prefix", Str, "prefix of result files").nullable(),
		key("results_dir", Str, "folder of results; overridden at run time").nullable(),
	}
}

// PortedWorkloadKeys is how many of the workload's keys a port writes.
const PortedWorkloadKeys = 19

func clusterFields() []Field {
	return []Field{
		key("cluster", Str, "name of the cluster, for status reports").nullable(),
		key("default_account", Str, "fills slurm.account").nullable(),
		key("default_partition", Str, "fills slurm.partition").nullable(),
		key("default_time_limit", Str, "fills slurm.time_limit").nullable().unit("HH:MM:SS"),
		key("default_gpu_type", Str, "fills resources.gpu_type").nullable(),
		key("gpus_per_node", Int, "fills resources.gpus_per_node").nullable().min(1).
			pitfall("older srtctl does not apply it"),
		key("network_interface", Str, "interface whose address nodes are reached at").nullable(),
		key("use_gpus_per_node_directive", Bool, "emit --gpus-per-node").def("true").
			pitfall("false where sbatch says invalid gres"),
		key("use_segment_sbatch_directive", Bool, "emit --segment with all nodes").def("true").
			pitfall("false where sbatch says invalid segment; a segment can't be larger than a rack"),
		key("use_exclusive_sbatch_directive", Bool, "emit --exclusive").def("false"),
		key("use_het_jobs", Bool, "default of resources.het_jobs").def("false").pitfall("true breaks every trtllm recipe"),
		key("default_sbatch_directives", StrMap, "merged under the recipe's sbatch_directives").nullable(),
		key("default_health_check", FreeMap, "max_attempts and interval_seconds of recipes without any health_check").
			nullable(),
		key("srtctl_root", Str, "checkout of srtctl on compute nodes").nullable(),
		key("output_dir", Str, "base of job folders").nullable(),
		key("model_paths", StrMap, "aliases of models, exact match").nullable(),
		key("containers", StrMap, "aliases of images, exact match").nullable(),
		key("default_mounts", StrMap, "host to container mounts of every job").nullable(),
		key("default_bash_preamble", Str, "put before every command of a step").nullable(),
		key("reporting", Opaque, "used by recipes without reporting").nullable(),
		key("nginx_raise_ulimit", Bool, "default of frontend.nginx_raise_ulimit").nullable(),
		key("telemetry", Opaque, "live metrics").nullable(),
		key("cloud", Opaque, "unused").nullable(),
		key("visible_devices_env", Str, "variable that selects GPUs").def("CUDA_VISIBLE_DEVICES"),
		key("default_gpu_exporter", Opaque, "exporter of GPU metrics").nullable(),
		key("record_launch_plan", Bool, "default of output.record_launch_plan").nullable(),
		key("default_host_setup", Opaque, "used by recipes without host_setup").nullable(),
		key("preflight", Bool, "false: never look for model and image on the login node").def("true"),
		key("git_http_version", Str, "HTTP version that git uses").nullable(),
		key("launcher", Str, "what starts containers").oneOf("slurm", "docker").def("slurm"),
		key("docker_args", Opaque, "more arguments of docker").nullable(),
	}
}
