package migrate

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// field is a field of a recipe in layout 1, and what it is in layout 2.
type field struct {
	path, value string // in layout 1; the value is YAML on one line
	to          string // path in layout 2; empty: removed
	is          string // value in layout 2; empty: the same
}

// generator makes recipes in layout 1 with their equivalents in layout 2. Choices are made by a random
// number generator with a fixed seed.
type generator struct {
	*rand.Rand
	engine, bench string
	fields        []field
	added         []field // fields of layout 2 without one in layout 1
}

// The engines and benchmarks of layout 1.
var (
	engines    = []string{"trtllm", "sglang", "vllm", "mocker", "atom", "tilert", "tokenspeed"}
	benchmarks = []string{
		"agentperf", "sa-bench", "manual", "custom", "gpqa", "gsm8k", "lm-eval", "longbenchv2", "mmlu",
		"mooncake-router", "router", "sglang-bench", "trace-replay",
	}
)

// add adds fields of the form "path: value -> path in layout 2 = value in layout 2". Without an arrow the
// field stays, with an arrow and nothing it is removed.
func (g *generator) add(rows ...string) {
	for _, row := range rows {
		left, right, moved := strings.Cut(row, " -> ")
		f := field{}
		f.path, f.value, _ = strings.Cut(left, ": ")
		f.to = f.path
		if moved {
			f.to, f.is, _ = strings.Cut(right, " = ")
		} else if row != strings.TrimSuffix(row, " ->") {
			f.value, f.to = strings.TrimSuffix(f.value, " ->"), ""
		}
		g.fields = append(g.fields, f)
	}
}

func (g *generator) maybe(rows ...string) {
	if g.IntN(2) == 0 {
		g.add(rows...)
	}
}

func (g *generator) oneOf(choices ...[]string) { g.add(choices[g.IntN(len(choices))]...) }

// newRecipe chooses the fields of a recipe.
func newRecipe(seed uint64, engine, bench string) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), engine: engine, bench: bench}
	g.add(fmt.Sprintf("name: recipe-%d", seed), "model.path: /models/m", "model.container: img", "model.precision: fp8")
	g.maybe("model.stage_dir: /raid/stage")
	g.add("resources.gpu_type: gb300", "resources.gpus_per_node: 4")
	roles := g.topology()
	g.maybe("resources.spread_workers: false")
	g.add("backend.type: " + engine + " -> engine.type")
	g.engineFields(roles)
	g.frontendFields(roles)
	g.dynamoFields()
	g.benchmarkFields(roles)
	g.otherFields()
	return g
}

// topology adds nodes and workers, and returns the roles.
func (g *generator) topology() []string {
	choice := g.IntN(7)
	if choice < 5 && strings.HasPrefix(g.engine, "tok") {
		choice = 6
	}
	disagg := func(pn, pw, dn, dw int) {
		g.add(fmt.Sprintf("resources.prefill_nodes: %d -> roles.prefill.nodes", pn),
			fmt.Sprintf("resources.prefill_workers: %d -> roles.prefill.workers", pw))
		if dn == 0 {
			g.add("resources.decode_nodes: 0 -> roles.decode.nodes = colocate")
		} else {
			g.add(fmt.Sprintf("resources.decode_nodes: %d -> roles.decode.nodes", dn))
		}
		g.add(fmt.Sprintf("resources.decode_workers: %d -> roles.decode.workers", dw))
	}
	gpus := func(prefill, decode int) {
		g.add(fmt.Sprintf("resources.gpus_per_prefill: %d -> roles.prefill.gpus", prefill),
			fmt.Sprintf("resources.gpus_per_decode: %d -> roles.decode.gpus", decode))
	}
	switch choice {
	case 0:
		disagg(2, 2, 1, 1)
	case 1:
		disagg(1, 2, 2, 1)
		gpus(2, 8)
	case 2: // decode shares the nodes of prefill
		disagg(2, 2, 0, 2)
		gpus(2, 2)
	case 3: // the same, with the GPUs of prefill
		disagg(2, 2, 0, 2)
		g.add("resources.gpus_per_prefill: 2 -> roles.prefill.gpus")
		g.added = append(g.added, field{to: "roles.decode.gpus", is: "2"})
	case 4: // the same, and prefill has its share of the nodes' GPUs: 12 / 5
		disagg(3, 5, 0, 1)
		g.added = append(g.added, field{to: "roles.prefill.gpus", is: "2"}, field{to: "roles.decode.gpus", is: "2"})
	default:
		g.add("resources.agg_nodes: 2 -> roles.agg.nodes", "resources.agg_workers: 1 -> roles.agg.workers")
		g.maybe("resources.gpus_per_agg: 8 -> roles.agg.gpus")
		return []string{"agg"}
	}
	g.maybe("resources.prefill_critical: true -> roles.prefill.critical")
	return []string{"prefill", "decode"}
}

func mode(role string) string {
	if role == "agg" {
		return "aggregated"
	}
	return role
}

// engineFields adds the settings of the engine and of its roles.
func (g *generator) engineFields(roles []string) {
	move := func(rows ...string) {
		for _, row := range rows {
			path, _, _ := strings.Cut(row, ": ")
			g.maybe("backend." + row + " -> engine." + path)
		}
	}
	config := ""
	switch g.engine {
	case "trtllm":
		move("numa_memory_bind: false", "numa_cpu_bind: true", "publish_events_and_metrics: true", "publish_metrics: false",
			"sequential_node_start: 2", `served_model_name: "org/m"`)
		config = "trtllm_config"
	case "sglang":
		config = "sglang_config"
		var each []string
		for _, r := range roles {
			each = append(each, "roles."+r+".kv_events")
		}
		g.kvEvents(each)
	case "vllm":
		config = "vllm_config"
		move("connector: lmcache", "set_visible_devices: true", "failover.shadow_engines: 2", "dp_launch_mode: per_gpu")
		var each []string
		if roles[0] != "agg" {
			each = []string{"roles.prefill.kv_events", "roles.decode.kv_events"}
		}
		g.kvEvents(each)
	case "mocker":
		config = "mocker_config"
		move("speedup_ratio: 50.0", "max_num_seqs: 128", "enable_prefix_caching: false")
	case "atom":
		move("mooncake_protocol: tcp")
	case "tilert":
		move("served_model_name: m")
	}
	for _, r := range roles {
		g.maybe("backend."+mode(r)+`_environment.UCX_TLS: "cuda_ipc,sm" -> roles.`+r+".env.UCX_TLS",
			"backend."+mode(r)+"_environment.LEVEL: 'INFO' -> roles."+r+".env.LEVEL")
		if config != "" {
			path, to := "backend."+config+"."+mode(r), " -> roles."+r+".args"
			g.add(path + ".tensor_parallel_size: 2" + to + ".tensor_parallel_size")
			g.maybe(path+".moe: {backend: CUTEDSL, sizes: [1, 2]}"+to+".moe", path+".a#b: \"x # y\""+to+".a#b")
		}
	}
}

// kvEvents adds KV events. each are the fields that true stands for.
func (g *generator) kvEvents(each []string) {
	switch g.IntN(4) {
	case 0:
		g.add("backend.kv_events_config: true ->")
		for _, to := range each {
			g.added = append(g.added, field{to: to, is: "true"})
		}
	case 1:
		if len(each) > 0 {
			role := strings.Split(each[0], ".")[1]
			g.add("backend.kv_events_config." + mode(role) + ": {publisher: zmq, topic: kv} -> " + each[0])
		}
	case 2:
		g.add("backend.kv_events_config: false ->")
	}
}

// frontendFields adds the frontend and the services behind it.
func (g *generator) frontendFields(roles []string) {
	kind := "dynamo"
	if g.IntN(3) == 0 {
		switch {
		case g.engine == "sglang":
			kind = "sglang"
		case g.engine == "trtllm":
			kind = "trtllm_serve"
		}
	}
	switch kind {
	case "sglang":
		g.add("frontend.type: sglang -> frontend.type = sglang-router")
	default:
		g.add("frontend.type: " + kind)
	}
	g.add("frontend.enable_multiple_frontends: false")
	g.maybe("frontend.args.router-mode: kv", "frontend.args.no-kv-events: true")
	g.maybe("frontend.env.DYN_LOG: \"info\"")
	choices := [][]string{
		{},
		{"frontend.orchestrator_placement: head -> frontend.placement.node"},
		{"frontend.dedicated_node: true -> frontend.placement.node = dedicated"},
		{"frontend.dedicated_node: false ->"},
		{"frontend.orchestrator_placement: head ->", "frontend.dedicated_node: true -> frontend.placement.node = dedicated"},
		{"frontend.dedicated_node: true -> frontend.placement.node = dedicated", "frontend.orchestrator_placement: head ->"},
	}
	if roles[0] != "agg" {
		choices = append(choices, []string{"frontend.orchestrator_placement: first_decode -> frontend.placement.node"})
	}
	g.oneOf(choices...)
	const etcd, nats = "{name: etcd, type: etcd, placement: {node: dedicated}}", "{name: nats, type: nats"
	services := []string{
		"", "[" + nats + ", options: {max_payload_mb: 24}}]",
		"[" + etcd + ", " + nats + ", placement: {node: dedicated}}]",
		"[" + etcd + ", " + nats + ", placement: {node: dedicated}, options: {max_payload_mb: 24}}]",
	}
	n := g.IntN(5)
	if n&1 == 1 {
		g.add("infra.nats_max_payload_mb: 24 ->")
	}
	if n&2 == 2 {
		g.add("infra.etcd_nats_dedicated_node: true ->")
	} else if n == 4 {
		g.add("infra.etcd_nats_dedicated_node: false ->")
	}
	if kind != "dynamo" {
		n &^= 1 // without NATS, its limit has no effect
	}
	if s := services[n%4]; s != "" {
		g.added = append(g.added, field{to: "services", is: s})
	}
}

func (g *generator) dynamoFields() {
	g.maybe("dynamo.install: false")
	g.oneOf(
		[]string{},
		[]string{`dynamo.version: "1.2.0" -> dynamo.source.pypi`},
		[]string{"dynamo.hash: 0123abcd -> dynamo.source.rev"},
		[]string{`dynamo.version: "1.2.0" ->`, "dynamo.hash: v1.2.0 -> dynamo.source.rev"},
		[]string{
			"dynamo.hash: 0123abcd -> dynamo.source.rev", `dynamo.version: "1.2.0" ->`,
			`dynamo.cargo_patches: ["a=b"] -> dynamo.source.patches`,
		},
		[]string{`dynamo.wheel: "1.3.0" -> dynamo.source.wheel`, `dynamo.version: "1.2.0" ->`},
		[]string{"dynamo.top_of_tree: true", `dynamo.version: "1.2.0" ->`},
		[]string{"dynamo.top_of_tree: false", `dynamo.version: "1.2.0" -> dynamo.source.pypi`},
	)
	g.maybe("dynamo.request_plane: nats")
	g.maybe("dynamo.event_plane: zmq")
}

// benchmarkFields adds fields that the benchmark reads, and some that it does not.
func (g *generator) benchmarkFields(roles []string) {
	g.add("benchmark.type: " + g.bench)
	read := map[string][]string{
		"agentperf": {
			"agentperf_client_dir: /ap/client", "agentperf_config: /ap/w.yaml", "concurrencies: [8, 16]", "isl: 1000",
			`env.AGENTPERF_EXTRA_ARGS: "--seed 100"`,
		},
		"sa-bench": {
			"isl: 1024", "osl: 1024", `concurrencies: "4x8"`, "req_rate: 5", "random_range_ratio: 0.8", "num_prompts_mult: 10",
			"use_chat_template: false",
		},
		"custom":          {`command: "python3 /x.py --a 'b # c'"`, "container_image: img2"},
		"gpqa":            {"num_examples: 10", "max_tokens: 100", "repeat: 2", "num_threads: 4"},
		"mmlu":            {"num_examples: 10", "max_tokens: 100"},
		"gsm8k":           {"num_examples: 10", "num_shots: 5", "top_k: 1", "temperature: 0.5"},
		"longbenchv2":     {"categories: [a, b]", "max_context_length: 1000"},
		"mooncake-router": {"mooncake_workload: conversation", "ttft_threshold_ms: 2000"},
		"router":          {"isl: 100", "osl: 10", "concurrency: 4", "num_requests: 100", "prefix_ratios: [0.1, 0.5]"},
		"sglang-bench":    {"isl: 100", "osl: 10", "concurrencies: [4]", "req_rate: inf"},
		"trace-replay":    {"trace_file: /t.jsonl", "itl_threshold_ms: 50"},
	}
	used := map[string]bool{}
	for i, row := range read[g.bench] {
		key, _, _ := strings.Cut(row, ": ")
		used[strings.Split(key, ".")[0]] = true
		if i < 3 {
			g.add("benchmark." + row)
		} else {
			g.maybe("benchmark." + row)
		}
	}
	for _, row := range []string{
		"osl: 77", "req_rate: 3", "num_shots: 4", "command: \"x\"", "trace_file: /other", "mooncake_workload: w",
		"export_node_metrics: true",
	} {
		if key, _, _ := strings.Cut(row, ": "); !used[key] && g.IntN(3) == 0 {
			g.add("benchmark." + row + " ->")
		}
	}
	const dedicated = "benchmark.client_dedicated_node: true -> benchmark.placement.node = dedicated"
	choices := [][]string{
		{},
		{"benchmark.client_placement: head -> benchmark.placement.node"},
		{dedicated, "benchmark.colocate_with_frontend: false"},
		{"benchmark.client_placement: head ->", dedicated},
	}
	if roles[0] != "agg" {
		choices = append(choices, []string{"benchmark.client_placement: last_decode -> benchmark.placement.node"})
	}
	g.oneOf(choices...)
	g.maybe("benchmark.aiperf_args.x: 1")
}

// otherFields adds fields that have the same path in both layouts, and some that layout 2 does not have.
func (g *generator) otherFields() {
	g.maybe("slurm.time_limit: \"02:00:00\"", "slurm.account: a")
	g.maybe("health_check.max_attempts: 360", "health_check.interval_seconds: 10")
	g.maybe("environment.A: \"1\"", "environment.\"B.C\": 'yes'")
	g.maybe("extra_mount: [\"/s/ap:/ap\", '/d:/d:ro']")
	g.maybe("container_mounts.\"/x\": /y")
	g.maybe("srun_options.mpi: pmix", "sbatch_directives.exclusive: \"\"")
	g.maybe("setup_script: setup.sh")
	g.maybe("observability.enabled: false", "observability.scrape_metrics: true ->",
		"observability.scrape_output: x.jsonl ->", "observability.build_dashboard: false ->",
		"observability.tachometer.default_frequency: 5.0 ->",
		"observability.tachometer.storage_subdir: tach")
	g.maybe("telemetry.enabled: false", "telemetry.provider: dcgm ->", "telemetry.default_frequency: 1.0 ->")
	g.maybe("profiling.type: none")
	g.maybe("identity.model.repo: org/m", "reporting.status.endpoint: http://x")
}
