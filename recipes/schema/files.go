package schema

// workloadFields lists the client's keys; the first 19 are the ones that a port
// writes, in this order. Defaults are those of published configurations where
// the client documents none.
func workloadFields() []Field {
	k := func(path string, kind Kind, doc string) Field { return Field{V1: path, V2: path, Kind: kind, Doc: doc} }
	return []Field{
		k("base_url", Str, "placeholder; overridden at run time, must be a valid URL").required(),
		k("api_key", Str, ""),
		k("model", Str, "placeholder; overridden at run time").required(),
		k("server_type", Str, "").def("trtllm"),
		k("concurrencies", IntList, "placeholder; the recipe's levels are injected").required().min(1).unit("users"),
		k("phase_timeout_seconds", Float, "the whole phase, ramp-up included").def("3600.0").above(0).unit("s"),
		k("settling_time_seconds", Float, "after the last user started, before measurement").def("240.0").min(0).unit("s"),
		k("trajectory_path", Str, "JSONL of recorded conversations").required(),
		k("user_assignments_path", Str, "JSON; must cover the highest concurrency").nullable(),
		k("max_starting_line_offset", Int, "random first turn of a user's first trajectory").def("10").min(0),
		k("seed", Int, "").def("42"),
		k("timeout_seconds", Float, "one request").def("300.0").above(0).unit("s"),
		k("max_workers", Int, "client worker processes").def("8").min(1),
		k("max_tokens", Int, "one request").def("16384").min(1).unit("tok"),
		k("reasoning_effort", Str, "").nullable(),
		k("client_impl", Str, "").oneOf("rust", "python").def("rust"),
		k("send_conversation_routing_headers", Bool, "X-Session-ID and X-Correlation-ID").def("false"),
		k("use_dynamo_conv_aware_routing", Bool, "X-Dynamo-Session-ID").def("false"),
		k("power_dcgm_url", Str, "").nullable(),
		k("user_spawn_rate", Float, "ramp-up").def("1.0").above(0).unit("users/s"),
		k("min_measurement_seconds", Float, "stop criterion: not before this much measurement").def("300.0").min(0).unit("s"),
		k("min_total_trajectories", Int, "stop criterion: trajectories completed in all").def("30").min(0),
		k("min_trajectories_per_user", Int, "stop criterion: completed by every user").def("3").min(0),
		k("trajectories_per_user", Int, "when no assignments file is given").min(1),
		k("tool_calls_args_only", Bool, ""), k("record_err_reasons", Bool, ""), k("record_err_reasons_include_input", Bool, ""),
		k("exp_prefix", Str, "").nullable(), k("results_dir", Str, "").nullable(),
	}
}

// PortedWorkloadKeys is how many of the workload's keys a port writes.
const PortedWorkloadKeys = 19

func clusterFields() []Field {
	k := func(path string, kind Kind, doc string) Field { return Field{V1: path, V2: path, Kind: kind, Doc: doc} }
	return []Field{
		k("cluster", Str, "name of the cluster").nullable(),
		k("default_account", Str, "fills slurm.account").nullable(), k("default_partition", Str, "fills slurm.partition").nullable(),
		k("default_time_limit", Str, "fills slurm.time_limit").nullable(), k("default_gpu_type", Str, "fills resources.gpu_type").nullable(),
		k("gpus_per_node", Int, "fills resources.gpus_per_node").nullable().min(1), k("network_interface", Str, "").nullable(),
		k("use_gpus_per_node_directive", Bool, "").def("true"), k("use_segment_sbatch_directive", Bool, "").def("true"),
		k("use_exclusive_sbatch_directive", Bool, "").def("false"), k("use_het_jobs", Bool, "true breaks every trtllm recipe").def("false"),
		k("default_sbatch_directives", StrMap, "merged under the recipe's").nullable(), k("default_health_check", FreeMap, "used if the recipe has no health_check at all").nullable(),
		k("srtctl_root", Str, "checkout on compute nodes").nullable(), k("output_dir", Str, "base of job directories").nullable(),
		k("model_paths", StrMap, "alias to path").nullable(), k("containers", StrMap, "alias to image").nullable(),
		k("default_mounts", StrMap, "host to container").nullable(), k("default_bash_preamble", Str, "").nullable(),
		k("reporting", Opaque, "").nullable(), k("nginx_raise_ulimit", Bool, "").nullable(), k("telemetry", Opaque, "").nullable(), k("cloud", Opaque, "").nullable(),
		k("visible_devices_env", Str, "").def("CUDA_VISIBLE_DEVICES"), k("default_gpu_exporter", Opaque, "").nullable(), k("record_launch_plan", Bool, "").nullable(),
		k("default_host_setup", Opaque, "").nullable(), k("preflight", Bool, "false: never check paths on the login node").def("true"),
		k("git_http_version", Str, "").nullable(), k("launcher", Str, "").oneOf("slurm", "docker").def("slurm"), k("docker_args", Opaque, "").nullable(),
	}
}
