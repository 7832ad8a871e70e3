package schema

func same(path string, k Kind, doc string) Field { return Field{V1: path, V2: path, Kind: k, Doc: doc} }

func moved(v1, v2 string, k Kind, doc string) Field { return Field{V1: v1, V2: v2, Kind: k, Doc: doc} }

func (f Field) required() Field                 { f.Required = true; return f }
func (f Field) nullable() Field                 { f.Nullable = true; return f }
func (f Field) def(text string) Field           { f.Default = text; return f }
func (f Field) oneOf(words ...string) Field     { f.Enum = words; return f }
func (f Field) min(least float64) Field         { f.Min, f.Bounded = least, true; return f }
func (f Field) above(least float64) Field       { f.Min, f.Bounded, f.Open = least, true, true; return f }
func (f Field) unit(u string) Field             { f.Unit = u; return f }
func only1(path string, k Kind, d string) Field { return Field{V1: path, Kind: k, Doc: d} }
func only2(path string, k Kind, d string) Field { return Field{V2: path, Kind: k, Doc: d} }

// recipeFields lists a recipe's fields in the order in which one is written.
func recipeFields() []Field {
	groups := [][]Field{headFields(), resourceFields(), engineFields(), frontendFields(), benchmarkFields(), jobFields()}
	var all []Field
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

func headFields() []Field {
	return []Field{
		same("schema", Int, "layout of the recipe: 1 (or absent) or 2; today's srtctl loads only 2"),
		same("name", Str, "Slurm job name and label of the run").required(),
		same("model.path", Str, "model directory, alias of the cluster file, or hf:<id>; mounted at /model").required(),
		same("model.container", Str, "image: alias, .sqsh file or registry reference").required(),
		same("model.precision", Str, "label only: fp4, fp8, bf16 …").required(),
		same("model.stage_dir", Str, "node-local folder that the model is copied to before workers start").nullable(),
	}
}

func resourceFields() []Field {
	fs := []Field{
		same("resources.gpu_type", Str, "exact, lower case: gb200 and gb300 switch NUMA memory binding on").nullable(),
		same("resources.gpus_per_node", Int, "GPUs of one node").def("4").min(1),
	}
	for _, r := range []struct{ v1, v2 string }{{"prefill", "prefill"}, {"decode", "decode"}, {"agg", "agg"}} {
		kind := Int
		if r.v1 == "decode" {
			kind = NodeCount
		}
		fs = append(fs,
			moved("resources."+r.v1+"_nodes", "roles."+r.v2+".nodes", kind, "nodes over all "+r.v1+" workers").nullable().min(0),
			moved("resources."+r.v1+"_workers", "roles."+r.v2+".workers", Int, "number of "+r.v1+" workers").nullable().min(0),
			moved("resources.gpus_per_"+r.v1, "roles."+r.v2+".gpus", Int, "GPUs of one "+r.v1+" worker").nullable().min(1),
		)
	}
	return append(fs,
		same("resources.spread_workers", Bool, "put each worker that is smaller than a node on a node of its own").def("false"),
		same("resources.het_jobs", Bool, "heterogeneous job; never with trtllm").nullable(),
	)
}

func engineFields() []Field {
	fs := []Field{
		moved("backend.type", "engine.type", Str, "serving engine").oneOf("trtllm", "sglang", "vllm", "mocker").def("sglang"),
		moved("backend.numa_memory_bind", "engine.numa_memory_bind", BoolOrStr, "numactl -m 0,1 around workers; null: on for gb200 and gb300").nullable().oneOf("local"),
		moved("backend.numa_cpu_bind", "engine.numa_cpu_bind", Bool, "pin worker ranks to the CPUs of their GPU").def("false"),
		moved("backend.publish_events_and_metrics", "engine.publish_events_and_metrics", Bool, "costs performance").nullable().def("false"),
		moved("backend.publish_metrics", "engine.publish_metrics", Bool, "").nullable(),
		moved("backend.sequential_node_start", "engine.sequential_node_start", Int, "start this many workers a leader node at a time; 0: all at once").def("0").min(0),
		moved("backend.served_model_name", "engine.served_model_name", Str, "the name that clients send").nullable(),
	}
	for _, r := range []struct{ v1, v2, cfg string }{{"prefill", "prefill", "prefill"}, {"decode", "decode", "decode"}, {"aggregated", "agg", "aggregated"}} {
		fs = append(
			fs,
			moved("backend."+r.v1+"_environment", "roles."+r.v2+".env", StrMap, "environment of the "+r.v2+" workers"),
			moved("backend.trtllm_config."+r.cfg, "roles."+r.v2+".args", FreeMap, "engine config of the "+r.v2+" workers, passed on verbatim").nullable(),
			moved("backend."+r.v1+"_extra_args", "roles."+r.v2+".extra_args", Opaque, "").nullable(),
			only2("roles."+r.v2+".engine", Opaque, ""), only2("roles."+r.v2+".container", Str, "image of this role").nullable(),
			only2("roles."+r.v2+".kv_events", Opaque, ""), only2("roles."+r.v2+".sidecar", Opaque, ""),
			only2("roles."+r.v2+".critical", Bool, "an exit of such a worker fails the run").def("true"), only2("roles."+r.v2+".restart", Opaque, ""),
			only2("roles."+r.v2+".srun_options", StrMap, "srun options of this role's workers"),
		)
	}
	return fs
}

func frontendFields() []Field {
	return []Field{
		same("dynamo.install", Bool, "install dynamo into each container first; false for dynamo images").def("true"),
		moved("dynamo.version", "dynamo.source.pypi", Str, "ai-dynamo release").nullable(),
		moved("dynamo.hash", "dynamo.source.rev", Str, "immutable git revision").nullable(), only2("dynamo.source.git", Str, "repository").nullable(),
		only2("dynamo.source.sha", Str, "resolved commit").nullable(), moved("dynamo.wheel", "dynamo.source.wheel", Str, "a version, not a file").nullable(),
		same("dynamo.top_of_tree", Bool, ""), moved("dynamo.cargo_patches", "dynamo.source.patches", StrList, "").nullable(),
		same("dynamo.request_plane", Str, "how the frontend reaches workers").oneOf("nats", "tcp", "http").def("tcp"),
		same("dynamo.event_plane", Str, "how workers publish events").oneOf("nats", "zmq").nullable(),

		same("frontend.type", Str, "what serves the API").oneOf("dynamo", "sglang", "trtllm_serve", "vllm", "sglang-router", "vllm-router", "none").def("dynamo"),
		same("frontend.enable_multiple_frontends", Bool, "nginx before several frontends").def("true"),
		same("frontend.num_additional_frontends", Int, "").def("9").min(0), same("frontend.nginx_container", Str, "").def("nginx:1.27.4"),
		same("frontend.nginx_raise_ulimit", Bool, "").nullable(), same("frontend.nginx_session_affinity", Bool, "").def("false"),
		same("frontend.nginx_session_affinity_header", Str, "").def("X-Dynamo-Session-ID"),
		same("frontend.nginx_keepalive_timeout", Str, "").def("600s"),
		moved("frontend.orchestrator_placement", "frontend.placement.node", Str, "node of the single frontend").oneOf("head", "first_decode", "last_decode", "dedicated").def("head"),
		only1("frontend.dedicated_node", Bool, "reserve a node for the frontend").def("false"),
		same("frontend.args", FreeMap, "flags of the frontend: true gives --key, false and null drop it").nullable(),
		same("frontend.env", StrMap, "environment of the frontend alone").nullable(),
		same("frontend.ctx_router", Opaque, ""), same("frontend.gen_router", Opaque, ""), same("frontend.server_config_extra", Opaque, ""),
		only2("frontend.worker_selection", Opaque, ""), only2("frontend.container_image", Str, "").nullable(), only2("frontend.numa_bind", Opaque, ""),

		only1("infra.etcd_nats_dedicated_node", Bool, "reserve a node for etcd and NATS").def("false"),
		only1("infra.nats_max_payload_mb", Int, "").nullable().unit("MB"),
		only2("services", Opaque, "extra services; etcd and nats with placement.node dedicated reserve a node").nullable(),
	}
}

func benchmarkFields() []Field {
	return []Field{
		same("observability.enabled", Bool, "debug logs and metrics: perturbs a measurement").def("false"),
		same("observability.enable_otel", Bool, "").def("false"), same("observability.otel_endpoint", Str, "").nullable(),
		same("observability.scrape_metrics", Bool, "").nullable(), same("observability.scrape_interval_seconds", Float, ""), same("observability.scrape_output", Str, ""),
		same("observability.build_dashboard", Bool, "").nullable(), same("observability.tachometer", Opaque, ""),

		same("benchmark.type", Str, "what drives the servers").
			oneOf("manual", "custom", "gpqa", "gsm8k", "lm-eval", "longbenchv2", "mmlu", "mooncake-router", "router", "sa-bench", "sglang-bench", "trace-replay", "agentperf").def("manual"),
		moved("benchmark.client_placement", "benchmark.placement.node", Str, "node of the client").oneOf("head", "first_decode", "last_decode", "dedicated").def("head"),
		only1("benchmark.client_dedicated_node", Bool, "reserve a node for the client").def("false"),
		same("benchmark.colocate_with_frontend", Bool, "all dedicated roles share one node").def("true"),
		same("benchmark.concurrency", Int, "one concurrency level").nullable().min(1).unit("users"),
		same("benchmark.concurrencies", Levels, "concurrency levels, one phase each").nullable().unit("users"),
		same("benchmark.isl", Int, "informative").nullable(), only1("benchmark.osl", Int, "").nullable(), only1("benchmark.req_rate", Opaque, ""),
		same("benchmark.agentperf_client_dir", Str, "container path of a pinned client checkout").nullable(),
		same("benchmark.agentperf_config", Str, "container path of the workload file").nullable(),
		same("benchmark.container_image", Str, "image of the client; default model.container").nullable(),
		same("benchmark.env", StrMap, "environment of the client, applied last"),
		same("benchmark.aiperf_package", Str, "").nullable(), same("benchmark.aiperf_args", FreeMap, "").nullable(),
		only1("benchmark.command", Str, "").nullable(), only1("benchmark.export_node_metrics", Bool, ""), only2("benchmark.stream_output", Bool, ""), only2("benchmark.sweep", Opaque, ""),
	}
}

func jobFields() []Field {
	return []Field{
		same("extra_mount", StrList, "host:container[:options], split at the first colon").nullable(),
		same("container_mounts", StrMap, "templated host to container mounts"),
		same("health_check.max_attempts", Int, "window = attempts x interval").def("180").min(1),
		same("health_check.interval_seconds", Int, "").def("10").min(1).unit("s"),
		same("health_check.fatal_log_markers", Bool, "").def("true"), same("health_check.extra_fatal_log_patterns", StrList, ""),
		same("environment", StrMap, "environment of workers, frontend and client; beats a role's own"),
		same("slurm.account", Str, "").nullable(), same("slurm.partition", Str, "").nullable(),
		same("slurm.time_limit", Str, "wall clock of the whole job").nullable().unit("HH:MM:SS"),
		same("srun_options", StrMap, "k: v gives --k=v, an empty value --k"), same("sbatch_directives", StrMap, "#SBATCH --k=v"),
		same("setup_script", Str, "script run in containers before workers and frontend").nullable(),
		same("telemetry", Opaque, "DCGM power; not with agentperf").nullable(),
		same("profiling.type", Str, "").oneOf("none", "nsys", "nsys-time", "torch").def("none"),
		same("profiling.prefill", Opaque, ""), same("profiling.decode", Opaque, ""), same("profiling.aggregated", Opaque, ""),
		same("profiling.delay_secs", Float, ""), same("profiling.duration_secs", Float, ""),
		same("output.log_dir", Str, "has no effect"), only2("output.record_launch_plan", Bool, ""),
		same("identity", Opaque, "what is expected to run; checked, reported").nullable(), same("reporting", Opaque, "").nullable(),
		same("enable_config_dump", Bool, "").def("true"), only2("host_setup", Opaque, ""), only2("post_eval", Opaque, ""),
		same("lock", Opaque, "written by srtctl, ignored").nullable(),
	}
}
