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
func (f Field) pitfall(text string) Field       { f.Pitfall = text; return f }
func only1(path string, k Kind, d string) Field { return Field{V1: path, Kind: k, Doc: d} }
func only2(path string, k Kind, d string) Field { return Field{V2: path, Kind: k, Doc: d} }

const (
	strings1 = "values are strings: FOO: 1 is refused, FOO: \"1\" is right"
	perturbs = "changes what is measured: off for runs whose figures count"
)

// recipeFields lists a recipe's fields in the order in which one is written.
func recipeFields() []Field {
	groups := [][]Field{
		headFields(), resourceFields(), engineFields(), dynamoFields(), frontendFields(), observeFields(),
		benchmarkFields(), jobFields(),
	}
	var all []Field
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

func headFields() []Field {
	return []Field{
		same("schema", Int, "layout of the recipe: 1, or no such line, or 2").
			pitfall("today's srtctl loads only 2: agentperf-tui migrate writes it"),
		same("name", Str, "Slurm job name and label of the run").required(),
		same("model.path", Str, "model directory, alias of the cluster file, or hf:<id>; mounted at /model").required().
			pitfall("workers serve under the name of the directory that a symlink leads to, the client asks for the name as " +
				"written: every request fails, unless served_model_name says one name for both"),
		same("model.container", Str, "image: alias of the cluster file, .sqsh file, or registry reference").required().
			pitfall("a path is checked on the login node; one that only compute nodes see needs preflight: false in the " +
				"cluster file"),
		same("model.precision", Str, "a label: fp4, fp8, bf16 …").required(),
		same("model.stage_dir", Str,
			"node-local folder that the model is copied to before workers start; not for hf: models").nullable(),
	}
}

func resourceFields() []Field {
	fs := []Field{
		same("resources.gpu_type", Str, "kind of GPU: gb200 and gb300 switch NUMA memory binding on").nullable().
			pitfall("compared letter by letter: GB300 silently loses the binding"),
		same("resources.gpus_per_node", Int, "GPUs of one node").def("4").min(1).
			pitfall("older srtctl does not take it from the cluster file: write it in the recipe"),
	}
	for _, role := range WorkerRoles() {
		r := string(role)
		nodes := moved(role.NodesPath(), "roles."+r+".nodes", Int, "nodes over all "+r+" workers").nullable().min(0)
		if role == Decode {
			nodes.Kind = NodeCount
			nodes.Pitfall = "0 (layout 1) or colocate (layout 2) shares the prefill nodes: " +
				"give the GPUs of both roles, and see that they fit"
		}
		fs = append(fs, nodes,
			moved(role.WorkersPath(), "roles."+r+".workers", Int,
				"number of "+r+" workers, each one engine, over nodes or within one").nullable().min(0),
			moved(role.GPUsPath(), "roles."+r+".gpus", Int, "GPUs of one "+r+" worker; default: the nodes' GPUs shared out").
				nullable().min(1).
				pitfall("a share that is not whole is rounded down without a word; TP × PP is not compared with it"),
			moved("resources."+r+"_critical", "roles."+r+".critical", Bool, "an exit of such a worker fails the run").
				def("true"),
		)
	}
	return append(fs,
		same("resources.spread_workers", Bool, "put each worker that is smaller than a node on a node of its own").
			def("false"),
		same("resources.het_jobs", Bool, "heterogeneous Slurm job; sglang with prefill and decode only").nullable().
			pitfall("never with trtllm, not even when it comes from the cluster file"),
	)
}

func engineFields() []Field {
	fs := []Field{
		moved("backend.type", "engine.type", Str, "serving engine; engine: trtllm is short for it").oneOf(engineNames()...).
			def(DefaultEngine),
		moved("backend.numa_memory_bind", "engine.numa_memory_bind", BoolOrStr,
			"numactl around worker ranks; null: on for gb200 and gb300").nullable().oneOf("local").
			pitfall("local needs numa_cpu_bind"),
		moved("backend.numa_cpu_bind", "engine.numa_cpu_bind", Bool, "pin worker ranks to the CPUs of their GPU").
			def("false"),
		moved("backend.publish_events_and_metrics", "engine.publish_events_and_metrics", Bool,
			"publish KV events and metrics from workers").nullable().def("false").
			pitfall("costs performance; what an explicit false means differs between versions"),
		moved("backend.publish_metrics", "engine.publish_metrics", Bool, "publish metrics from workers").nullable().
			def("true"),
		moved("backend.sequential_node_start", "engine.sequential_node_start", Int,
			"start this many workers of a leader node at a time; 0: all at once").def("0").min(0),
		moved("backend.served_model_name", "engine.served_model_name", Str,
			"the name that workers serve and clients ask for; default: the last part of model.path").nullable(),
		only1("backend.kv_events_config", Opaque, "KV events of each mode; sglang and vllm").nullable(),
		only1("backend.mooncake_kv_store", Opaque, "KV store; sglang and vllm. In layout 2 a service").nullable(),
	}
	for _, role := range WorkerRoles() {
		fs = append(fs, roleFields(role)...)
	}
	return fs
}

// roleFields lists what the engine's part says of the workers of a role.
func roleFields(role Role) []Field {
	r, config := string(role), "engine configuration of the "+string(role)+" workers"
	fs := []Field{
		moved(role.EnvPath(), "roles."+r+".env", StrMap, "environment of the "+r+" workers").
			pitfall(strings1 + "; the global environment beats it; {node} and {node_id} are not filled in for trtllm"),
		moved(role.ConfigPath(TRTLLM), "roles."+r+".args", FreeMap, config+", passed on as it is").nullable().
			pitfall("engines read YAML 1.1: on, 12:00:00, 0o14 and 1e-5 without quotes are not what they look like"),
	}
	for _, e := range Engines() {
		if e.Config && e.Name != TRTLLM {
			doc := config + " for " + e.Name + "; in layout 2 roles." + r + ".args"
			fs = append(fs, only1(role.ConfigPath(e.Name), FreeMap, doc).nullable())
		}
	}
	return append(fs,
		moved("backend."+role.Layout1()+"_extra_args", "roles."+r+".extra_args", Opaque,
			"more arguments of the "+r+" workers; trtllm_serve only").
			nullable(),
		only2("roles."+r+".engine", Opaque, "engine of this role alone, instead of engine at the top; not with dynamo"),
		only2("roles."+r+".container", Str, "image of this role; default model.container").nullable(),
		only2("roles."+r+".kv_events", Opaque, "KV events of this role; sglang and vllm"),
		only2("roles."+r+".sidecar", Opaque, "a second process beside each worker"),
		only2("roles."+r+".restart", Opaque,
			"never, on-failure, always, or a mapping with policy, max_restarts, backoff_seconds, max_backoff_seconds").
			def("never"),
		only2("roles."+r+".srun_options", StrMap, "srun options of this role's workers alone"),
	)
}

func dynamoFields() []Field {
	return []Field{
		same("dynamo.install", Bool, "install dynamo into each container before the start").def("true").
			pitfall("needs egress and remaps root: false for images that have dynamo in them"),
		moved("dynamo.version", "dynamo.source.pypi", Str, "release of ai-dynamo to install").nullable(),
		moved("dynamo.hash", "dynamo.source.rev", Str, "git revision to build: a commit or tag, no branch").nullable(),
		only2("dynamo.source.git", Str, "repository to build from").nullable(),
		only2("dynamo.source.sha", Str, "commit that rev was resolved to, written at submit").nullable(),
		moved("dynamo.wheel", "dynamo.source.wheel", Str, "wheel to install: a version, no file name").nullable(),
		same("dynamo.top_of_tree", Bool, "build the newest source").def("false"),
		moved("dynamo.cargo_patches", "dynamo.source.patches", StrList, "patches of the build; need a revision").nullable(),
		same("dynamo.request_plane", Str, "how the frontend reaches workers").oneOf("nats", "tcp", "http").def("tcp").
			pitfall("nats carries at most 1 MB a message unless its payload limit is raised"),
		same("dynamo.event_plane", Str, "how workers publish events").oneOf("nats", "zmq").nullable(),
	}
}

func frontendFields() []Field {
	return []Field{
		same("frontend.type", Str, "what serves the API").
			oneOf(Dynamo, "sglang", "trtllm_serve", "vllm", "sglang-router", "vllm-router", "none").def(Dynamo).
			pitfall("an unknown word fails only when the frontend starts; layout 1's sglang is sglang-router in layout 2"),
		same("frontend.enable_multiple_frontends", Bool,
			"nginx before several frontends, where there are two worker nodes or more").def("true").
			pitfall("puts a 45 MB body limit in the path and splits the router's state: false for AgentPerf"),
		same("frontend.num_additional_frontends", Int, "frontends beside the first").def("9").min(0),
		same("frontend.nginx_container", Str, "image of nginx").def("nginx:1.27.4"),
		same("frontend.nginx_raise_ulimit", Bool, "let nginx open a million files").nullable(),
		same("frontend.nginx_session_affinity", Bool, "send a session to the frontend that had it before").def("false"),
		same("frontend.nginx_session_affinity_header", Str, "header that names the session").def("X-Dynamo-Session-ID"),
		same("frontend.nginx_keepalive_timeout", Str, "how long idle connections stay").def("600s"),
		moved("frontend.orchestrator_placement", "frontend.placement.node", Str, "node of the single frontend").
			oneOf("head", "first_decode", "last_decode", "dedicated").def("head").pitfall("ignored behind nginx"),
		only1("frontend.dedicated_node", Bool, "reserve a node for the frontend; in layout 2 placement.node: dedicated").
			def("false"),
		same("frontend.args", FreeMap, "flags of the frontend: true gives --key, false and null drop it").nullable().
			pitfall("the frontend refuses --dyn-*-parser: parsers go into the workers' environment"),
		same("frontend.env", StrMap, "environment of the frontend alone; beats the global one").nullable().pitfall(strings1),
		same("frontend.ctx_router", Opaque, "router of prefill workers; trtllm_serve only").nullable(),
		same("frontend.gen_router", Opaque, "router of decode workers; trtllm_serve only").nullable(),
		same("frontend.server_config_extra", Opaque, "more of the server's configuration; trtllm_serve only").nullable(),
		only2("frontend.worker_selection", Opaque, "how a router chooses workers"),
		only2("frontend.container_image", Str, "image of a static router").nullable(),
		only2("frontend.numa_bind", Opaque, "NUMA binding of the frontend"),

		only1("infra.etcd_nats_dedicated_node", Bool, "reserve a node for etcd and NATS; in layout 2 two services").
			def("false").pitfall("adds a node to the job, the first one, and shifts the workers"),
		only1("infra.nats_max_payload_mb", Int, "largest message of NATS; null: its own 1 MB").nullable().unit("MB").
			pitfall("1 MB breaks long prompts on the nats plane: 24 or more"),
		only2("services", Opaque, "more processes of the job: name, type, command, placement, readiness …").nullable().
			pitfall("etcd and nats are placed on a dedicated node both or neither"),
	}
}

func observeFields() []Field {
	return []Field{
		same("observability.enabled", Bool, "debug logs, request traces and engine metrics everywhere").def("false").
			pitfall(perturbs),
		same("observability.enable_otel", Bool, "export traces").def("false"),
		same("observability.otel_endpoint", Str, "where traces go").nullable(),
		same("observability.scrape_metrics", Bool, "scrape metrics endpoints; null: as enabled").nullable(),
		same("observability.scrape_interval_seconds", Float, "time between two scrapes").def("1.0").unit("s"),
		same("observability.scrape_output", Str, "file that scrapes go to").def("raw_prometheus.jsonl"),
		same("observability.build_dashboard", Bool, "build a dashboard afterwards; null: as enabled").nullable(),
		same("observability.tachometer", Opaque, "hardware metrics; its fields differ between versions").nullable(),
		same("telemetry", Opaque, "power through DCGM").nullable().
			pitfall("older srtctl refuses it with every benchmark but sa-bench"),
		same("profiling.type", Str, "profiler").oneOf("none", "nsys", "nsys-time", "torch").def("none").
			pitfall(perturbs + "; torch never with trtllm"),
		same("profiling.prefill", Opaque, "start_step and stop_step of prefill; nsys").nullable(),
		same("profiling.decode", Opaque, "start_step and stop_step of decode; nsys").nullable(),
		same("profiling.aggregated", Opaque, "start_step and stop_step of agg; nsys").nullable(),
		same("profiling.delay_secs", Float, "before the profile; nsys-time").nullable().unit("s"),
		same("profiling.duration_secs", Float, "length of the profile; nsys-time").nullable().unit("s"),
	}
}

func benchmarkFields() []Field {
	return []Field{
		same("benchmark.type", Str, "what drives the servers; only agentperf is run here, the others can be read").
			oneOf("manual", "custom", "gpqa", "gsm8k", "lm-eval", "longbenchv2", "mmlu", "mooncake-router", "router", "sa-bench",
				"sglang-bench", "trace-replay", "agentperf").def("manual").
			pitfall("manual serves until it is cancelled; older srtctl finds an unknown word only when the servers are up"),
		moved("benchmark.client_placement", "benchmark.placement.node", Str, "node of the client").
			oneOf("head", "first_decode", "last_decode", "dedicated").def("head").
			pitfall("away from the frontend localhost:8000 is wrong: SRT_FRONTEND_HOST and SRT_FRONTEND_PORT are right"),
		only1("benchmark.client_dedicated_node", Bool,
			"reserve a node for the client; in layout 2 placement.node: dedicated").def("false"),
		same("benchmark.colocate_with_frontend", Bool, "all dedicated roles share one node").def("true"),
		same("benchmark.concurrency", Int, "one concurrency level; wins over concurrencies").nullable().min(1).unit("users"),
		same("benchmark.concurrencies", Levels, "concurrency levels, one phase each").nullable().unit("users").
			pitfall(`a bare number is refused and "64,128" fails late: write [64, 128] or "64x128"`),
		same("benchmark.isl", Int, "input length; only a label for agentperf").nullable().unit("tok"),
		same("benchmark.osl", Int, "output length; layout 2 refuses it for agentperf").nullable().unit("tok"),
		same("benchmark.req_rate", Opaque, "request rate of other benchmarks; layout 2 refuses it for agentperf").nullable().
			def("inf"),
		same("benchmark.agentperf_client_dir", Str, "container path of a pinned client checkout").nullable().
			pitfall("a path in the container: some mount has to cover it; srtctl looks only after the servers are up"),
		same("benchmark.agentperf_config", Str, "container path of the workload file").nullable().
			pitfall("a path in the container: some mount has to cover it; srtctl looks only after the servers are up"),
		same("benchmark.container_image", Str, "image of the client; default model.container").nullable(),
		same("benchmark.env", StrMap,
			"environment of the client, applied last; AGENTPERF_EXTRA_ARGS adds arguments, split at white space").
			pitfall(strings1),
		same("benchmark.command", Str, "command of a custom benchmark, given to bash -lc").nullable(),
		same("benchmark.aiperf_package", Str, "package of aiperf benchmarks").nullable(),
		same("benchmark.aiperf_args", FreeMap, "flags of aiperf benchmarks").nullable(),
		same("benchmark.export_node_metrics", Bool,
			"write node metrics as CSV afterwards; layout 2 refuses it for agentperf").def("false"),
		only2("benchmark.stream_output", Bool, "copy the client's output into the job's log").def("false"),
		only2("benchmark.sweep", Opaque, "levels and lengths to sweep"),
	}
}

func jobFields() []Field {
	return []Field{
		same("extra_mount", StrList, "host:container[:options] mounts, split at the first colon").nullable().
			pitfall("over /configs it hides etcd and NATS; with the model's host path it removes /model; of two with one host " +
				"path the later wins"),
		same("container_mounts", StrMap,
			"host to container mounts; {job_id}, {run_name}, {head_node_ip}, {log_dir}, {model_path}, {container_image}, "+
				"{gpus_per_node} and $VAR are filled in").
			pitfall("applied last: wins over every other mount of the same host path"),
		same("health_check.max_attempts", Int, "probes before the servers are given up; window = attempts × interval").
			def("180").min(1).
			pitfall("30 minutes are short for very large models; the cluster file's default is ignored as soon as the recipe " +
				"has any health_check"),
		same("health_check.interval_seconds", Int, "time between two probes").def("10").min(1).unit("s"),
		same("health_check.fatal_log_markers", Bool, "fail when a worker's log shows that its engine has died").def("true"),
		same("health_check.extra_fatal_log_patterns", StrList, "more patterns that mean so"),
		same("environment", StrMap, "environment of workers, frontend, client and batch script").
			pitfall(strings1 + "; beats a role's own env"),
		same("slurm.account", Str, "account that is charged; default: the cluster file's, $SLURM_ACCOUNT, default").
			nullable(),
		same("slurm.partition", Str, "partition; default: the cluster file's, $SLURM_PARTITION, default").nullable(),
		same("slurm.time_limit", Str, "wall clock of the whole job; default: the cluster file's, 01:00:00").nullable().
			unit("HH:MM:SS").
			pitfall("has to cover bring-up and all phases; without quotes YAML 1.1 reads 12:00:00 as the number 43200"),
		same("srun_options", StrMap, "k: v gives --k=v, an empty value --k").
			pitfall("older srtctl does not apply them to trtllm workers, frontend and infra"),
		same("sbatch_directives", StrMap, "k: v gives #SBATCH --k=v; beats the cluster file's").
			pitfall("some partitions give few CPUs a task: cpus-per-gpu or exclusive"),
		same("setup_script", Str, "script under the checkout's configs/ that containers run before workers and frontend").
			nullable().
			pitfall("runs in every task, once a GPU and all at once, on a shared root: make it idempotent and lock it; a " +
				"missing file is only a warning"),
		same("output.log_dir", Str, "nothing: it is read and not used").
			pitfall("has no effect: use apply --output-dir or the cluster file's output_dir"),
		only2("output.record_launch_plan", Bool, "save each srun script beside the logs").def("false"),
		same("identity", Opaque, "model revision, image and framework versions that are expected; compared and reported").
			nullable(),
		same("reporting", Opaque, "status endpoints, S3, analysis; default: the cluster file's").nullable(),
		same("enable_config_dump", Bool, "dump the engine's configuration; not for trtllm").def("true"),
		only2("host_setup", Opaque, "commands on the bare nodes before the job, and their teardown"),
		only2("post_eval", Opaque, "an evaluation after the benchmark"),
		same("lock", Opaque, "what srtctl wrote down about a run; ignored when a recipe is read").nullable(),
	}
}
