package porter

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
)

// Variations of the small run, one table an artifact. The classes of input that occur on real
// clusters have directories of their own: see classes_test.go.

func TestTopology(t *testing.T) {
	t.Parallel()
	gen := workerLine("GEN", 0, "-w n9 -N 1 -n 4", "A=1")
	half := func(index int, host, gpus string) string {
		return strings.ReplaceAll(
			workerLine("CTX", index, "-w "+host+" -N1 -n2", "A=1"),
			"CUDA_VISIBLE_DEVICES=0,1,2,3",
			"CUDA_VISIBLE_DEVICES="+gpus,
		)
	}
	for _, c := range []inputCase{
		{
			name:  "two workers use the same GPU",
			files: map[string]string{harness.JobLog: jobLog(half(0, "n1", "0,1"), half(1, "n1", "1,2"), gen)},
			todos: []string{"confirm resources.gpus_per_node: CTX 0 and CTX 1 both use GPU 1 of n1"},
		},
		{
			name:  "a worker smaller than its node",
			files: map[string]string{harness.JobLog: jobLog(half(0, "n1", "0,1"), gen)},
			want: map[string]string{
				"resources.prefill_workers": "1", "resources.gpus_per_node": "4", "resources.gpus_per_prefill": "2",
			},
		},
		{
			name: "tasks per node",
			files: map[string]string{
				harness.JobLog: jobLog(workerLine("CTX", 0, "-w n[1-2] -N 2 --ntasks-per-node=4", "A=1"), gen),
			},
			want:   map[string]string{"resources.prefill_nodes": "2", "resources.gpus_per_prefill": "-"},
			silent: []string{"no -n", "--ntasks-per-node"},
		},
		{
			name: "the same for several workers",
			files: map[string]string{
				harness.JobLog: jobLog(
					workerLine("CTX", 0, "-w n1 -N 1 -n 8", "A=1"), workerLine("CTX", 1, "-w n2 -N 1 -n 8", "A=1"), gen,
				),
			},
			todos: []string{"confirm resources.prefill_nodes: -n is 8 on 1 nodes…launches: CTX 0-1"},
		},
		{
			name:  "-N and the host list disagree",
			files: map[string]string{harness.JobLog: jobLog(workerLine("CTX", 0, "-w n[1-3] -N 2 -n 12", "A=1"), gen)},
			want:  map[string]string{"resources.prefill_nodes": "3"},
			todos: []string{"confirm resources.prefill_nodes: -N is 2, but its host list names 3 nodes"},
		},
		{
			name:  "-n and CUDA_VISIBLE_DEVICES disagree",
			files: map[string]string{harness.JobLog: jobLog(workerLine("CTX", 0, "-w n1 -N 1 -n 8", "A=1"), gen)},
			todos: []string{"confirm resources.prefill_nodes: -n is 8 on 1 nodes, but CUDA_VISIBLE_DEVICES names 4"},
		},
		{
			name: "no host list",
			files: map[string]string{
				harness.JobLog: jobLog(workerLine("CTX", 0, "-N 2 -n 8", "A=1"), workerLine("CTX", 1, "-n 4", "A=1"), gen),
			},
			want: map[string]string{"resources.prefill_nodes": "3", "resources.prefill_workers": "2"},
			todos: []string{
				"no valid host list; -N 2 was used…launches: CTX 0", "neither a host list nor -N…launches: CTX 1",
				"must-fix resources: CTX workers differ in size (8, 4 GPUs)",
			},
		},
		{
			name:  "an invalid host list",
			files: map[string]string{harness.JobLog: jobLog(workerLine("CTX", 0, "-w 'n[1-' -N x -n 4", "A=1"), gen)},
			todos: []string{"host list…bracket is not closed…launches: CTX 0", `-N "x" is not a positive whole number`},
		},
		{
			name: "eight nodes get more time to start",
			files: map[string]string{
				harness.JobLog: jobLog(
					workerLine("CTX", 0, "-w n[1-4] -N4 -n16", "A=1"), workerLine("GEN", 0, "-w n[5-8] -N4 -n16", "A=1"),
				),
			},
			want: map[string]string{"health_check.max_attempts": "300"},
		},
		{
			name:  "tensor parallelism and the ranks disagree",
			files: map[string]string{harness.CTXConfig: "tensor_parallel_size: 2\npipeline_parallel_size: 4\n"},
			todos: []string{
				"confirm backend.trtllm_config.prefill.tensor_parallel_size: tensor × pipeline parallelism is 8, but CTX 0 was " +
					"launched with -n 4",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestLaunchLines(t *testing.T) {
	t.Parallel()
	ctx := workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1")
	gen := workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1")
	for _, c := range []inputCase{
		{
			name: "workers that differ",
			files: map[string]string{
				harness.JobLog: jobLog(
					ctx, workerLine("CTX", 1, "-w n3 -N 1 -n 4", "A=2 B=1"), workerLine("CTX", 2, "-w n4 -N 1 -n 4", "A=2"),
					workerLine("CTX", 3, "-w n5 -N 1 -n 4", "C=1"), gen,
				),
			},
			want: map[string]string{"backend.prefill_environment.A": `"1"`, "backend.prefill_environment.B": "-"},
			todos: []string{
				`confirm backend.prefill_environment.A: CTX 1, CTX 2 differs in A ("2", but "1" in CTX 0)`,
				`CTX 1 differs in B ("1", but not set in CTX 0)`,
				`CTX 3 differs in A (not set, but "1" in CTX 0)`,
			},
		},
		{
			name: "a worker without a list of variables",
			files: map[string]string{
				harness.JobLog: jobLog(ctx, strings.Replace(workerLine("CTX", 1, "-w n3 -N 1 -n 4", "A=1"),
					"'A=1 CUDA_VISIBLE_DEVICES=0,1,2,3'", "none", 1), gen),
			},
			todos: []string{
				"confirm backend.prefill_environment: no list of variables in the launch line, unlike that of CTX 0…launches: " +
					"CTX 1",
			},
			silent: []string{"CTX 1 differs"},
		},
		{
			name: "flags of the frontend",
			files: map[string]string{
				harness.JobLog: jobLog(
					strings.Replace(
						frontendLine("n1", ",DYN_KV_BLOCK_SIZE=x,DYN_FRONTEND_ENABLE_KV_EVENTS=1,DYN_REQUEST_PLANE=nats"), "8333 ",
						"8333 --http-port=9 --dyn-tool-call-parser deepseek --router-temperature=0.5 --reset --router-mode round ", 1,
					),
					ctx, gen,
				),
			},
			want: map[string]string{
				"frontend.args.dyn-tool-call-parser": "-", "frontend.args.http-port": "-",
				"frontend.args.router-temperature":  `"0.5"`,
				"frontend.args.reset":               "true",
				"frontend.args.no-router-kv-events": "false", "dynamo.request_plane": "nats", "frontend.args.request-plane": "nats",
			},
			todos: []string{
				`must-fix frontend.args.kv-cache-block-size: DYN_KV_BLOCK_SIZE is "x"`,
				"confirm frontend.args.router-mode: the launch line also passes",
			},
		},
		{
			name: "truncated and unknown launch lines",
			files: map[string]string{harness.JobLog: jobLog(
				ctx, gen, "[server] Executing: bash -c 'x", "[server] Executing: srun bash start_worker_dynamo.sh AGG 0 m",
				"[server] Executing: srun bash /h/start_worker_dynamo.sh GEN zero m 'B=1' &> /d/3_output_GEN_1.log",
				"[server] Executing: srun -w n1 bash /h/start_worker_dynamo.sh CTX 2 'A=",
			)},
			want: map[string]string{"resources.decode_workers": "2"},
			todos: []string{
				`confirm : job.log:4: unknown worker role "AGG"`, "confirm : job.log:6: launch line can't be parsed",
				`index "zero" is not a number…launches: GEN 1`,
			},
		},
		{
			name: "etcd on a dedicated node",
			files: map[string]string{
				harness.JobLog: jobLog(
					strings.Replace(frontendLine("n8", ""), "frontend n8 8333", "etcd n8 2379", 1), frontendLine("n8", ""), ctx, gen,
				),
			},
			todos: []string{"confirm…: etcd ran on n8, which no worker used"},
			want:  map[string]string{"infra.etcd_nats_dedicated_node": "false"},
		},
		{
			name: "another image than in job_params.env",
			files: map[string]string{
				harness.JobLog: jobLog(workerLine("CTX", 0, "-w n1 -N 1 -n 4 --container-image=/lustre/other.sqsh", "A=1"), gen),
			},
			todos: []string{
				"confirm model.container: CONTAINER_IMAGE is /lustre/img.sqsh in job_params.env, but 1 of 2 launches show " +
					"/lustre/other.sqsh",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestParamsCases(t *testing.T) {
	t.Parallel()
	base := smallRun()[harness.JobParams]
	for _, c := range []inputCase{
		{
			name: "several levels, switches, an unknown job variable", files: map[string]string{
				harness.JobParams: base + "CONCURRENCIES=\"64 1010\"\nNSYS_ENABLED=1\nDYNAMO_JOB_ENV='X=1 ROUTER_MODE=kv'\nBAD " +
					"LINE\n",
			},
			want: map[string]string{
				"benchmark.concurrencies": "[64, 1010]", "benchmark.concurrency": "-", "concurrencies": "[64, 1010]",
			},
			todos: []string{
				"note : the old run was profiled", "confirm : DYNAMO_JOB_ENV sets X=1", "confirm : job_params.env:6: " +
					"CONCURRENCIES is set again (first on line 4)",
				"confirm : job_params.env:9: is a command (BAD)",
			},
			silent: []string{"sets ROUTER_MODE"},
		},
		{
			name: "invalid levels", files: map[string]string{harness.JobParams: strings.Replace(base, `"64"`, "many", 1)},
			want: map[string]string{"benchmark.concurrency": "64"}, todos: []string{
				`CONCURRENCIES is "many"`,
			},
		},
		{
			name: "levels from the banner", files: map[string]string{
				harness.JobParams: strings.Replace(base, "CONCURRENCIES", "X", 1),
				harness.ClientLog: "  Concurrencies: [64, 1010]\n" + smallBanner,
			},
			want: map[string]string{"benchmark.concurrencies": "[64, 1010]"},
		},
		{
			name: "levels that differ from the banner", files: map[string]string{
				harness.ClientLog: "  Concurrencies: [65]\n" + smallBanner,
			},
			want: map[string]string{"benchmark.concurrency": "64"}, todos: []string{
				`CONCURRENCIES is "64", but the banner shows [65]`,
			},
		},
		{
			name: "a variable in a path, fp4, a mount without a container path", files: map[string]string{
				harness.JobParams: "MODEL_PATH=${ROOT}/M-NVFP4\nCONTAINER_IMAGE=/x.sqsh\nCONTAINER_MOUNTS=/data\n" +
					"CONCURRENCIES=64\nSERVER_BACKEND=dynamo\n",
				harness.JobLog: strings.ReplaceAll(smallRun()[harness.JobLog], "/lustre/models/m-fp8", "${ROOT}/M-NVFP4"),
			},
			want: map[string]string{"model.path": "${ROOT}/M-NVFP4", "model.precision": "fp4"},
			todos: []string{
				"confirm model.path: contains $", "must-fix extra_mount: /data has no container path",
				"confirm benchmark.agentperf_client_dir: pinned client checkout: no extra_mount covers it",
			},
		},
		{
			name: "given rewrites before the default one", opt: Options{
				PathRewrites: []rules.Rewrite{{Old: "/lustre/models/", New: "/fast/"}, {Old: "/data", New: "/data"}},
			},
			want: map[string]string{"model.path": "/fast/m-fp8", "model.container": "/scratch/img.sqsh"},
		},
		{
			name: "no default rewrite", opt: Options{NoDefaultRewrites: true, GPUType: "gb200", WorkloadOut: "/data/w.yaml"},
			want: map[string]string{
				"model.path": "/lustre/models/m-fp8", "extra_mount": `["/lustre:/lustre", "/data:/data:ro"]`,
				"resources.gpu_type": "gb200", "benchmark.agentperf_config": "/data/w.yaml",
			},
			silent: []string{"gpu_type"},
		},
		{
			name: "pinned workers", files: map[string]string{
				harness.JobLog: jobLog(
					workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"), workerLine("CTX", 1, "-w n2 -N 1 -n 4", "A=1"),
					workerLine("GEN", 0, "-w n3 -N 1 -n 4", "A=1"),
				),
				"3_output_CTX_1.log": "0: x\n0: exec taskset -c 0-71 python\n",
			},
			want: map[string]string{"backend.numa_cpu_bind": "true"},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestClientCases(t *testing.T) {
	t.Parallel()
	for _, c := range []inputCase{
		{
			name: "invalid values", files: map[string]string{
				harness.ClientLog: strings.NewReplacer(
					"Max workers: 4", "Max workers: four", "Timeout: 600.0s", "Timeout: 1e3s", "headers: disabled", "headers: maybe",
				).Replace(smallBanner),
			},
			want: map[string]string{"max_workers": "8", "phase_timeout_seconds": "3600.0"}, todos: []string{
				`confirm max_workers: the banner shows "four"`, `confirm phase_timeout_seconds`,
				`confirm send_conversation_routing_headers`,
			},
		},
		{
			name: "no assignments, no delays", files: map[string]string{
				harness.ClientLog: strings.Replace(
					smallBanner, "User assignments: /tmp/agentperf-1/data/users.json", "Tool-call delays: disabled", 1,
				),
			},
			want: map[string]string{"user_assignments_path": "null"}, todos: []string{
				"confirm user_assignments_path: the banner names no", "confirm : tool-call delays were disabled",
			},
		},
		{
			name: "other flags of the client",
			files: map[string]string{
				harness.ClientScript: "cd /lustre/old\ncd /lustre/client && FOO=1 uv run \\\n python agentperf/run.py " +
					"--config=c --concurrencies 64 128 --no-eval --seed 3 --tag 'a b'\n",
			},
			want: map[string]string{
				"benchmark.agentperf_client_dir":     "/scratch/client",
				"benchmark.env.AGENTPERF_EXTRA_ARGS": `"--no-eval --seed 3 --tag a b"`,
			},
			todos: []string{`must-fix benchmark.env.AGENTPERF_EXTRA_ARGS: the client's argument "a b"`},
		},
		{
			name: "a truncated client script",
			files: map[string]string{
				harness.ClientScript: "srun bash -c 'cd /lustre/client; uv run python agentperf/run.py --config",
			},
			todos: []string{
				"confirm : client_cmds_base.sh: not a valid shell script", "must-fix benchmark.agentperf_client_dir",
			},
		},
		{
			name: "the client's configuration takes precedence",
			files: map[string]string{harness.ClientConfig: "base_url: http://h:1/v1\nmodel: secret\napi_key: " +
				"k\nphase_timeout_seconds: 700\nseed: 7\nsettling_time_seconds: 61.5\ntrajectory_path: /lustre/d/traj.jsonl\n" +
				"user_assignments_path: /tmp/agentperf-9/users2.json\nuser_spawn_rate: 2.5\nmin_measurement_seconds: " +
				"30\nresults_dir: /lustre/r\nconcurrencies: [1]\nextra:\n  deep: /lustre/z\nreasoning_effort: high\n"},
			want: map[string]string{
				"base_url": "http://placeholder:8000/v1", "model": "placeholder", "api_key": "dummy",
				"phase_timeout_seconds": "700", "seed": "7",
				"settling_time_seconds": "61.5", "trajectory_path": "/scratch/d/traj.jsonl",
				"user_assignments_path": "/TODO/users2.json",
				"user_spawn_rate":       "2.5", "min_measurement_seconds": "30", "results_dir": "-", "concurrencies": "[64]",
				"reasoning_effort": "high",
			},
			todos: []string{
				`confirm phase_timeout_seconds: benchmark_config.yaml has 700, but "Phase Timeout" shows 600.0`,
				`confirm settling_time_seconds: benchmark_config.yaml has 61.5`,
				"note concurrencies: benchmark_config.yaml has [1]", "confirm reasoning_effort",
			},
			silent: []string{"confirm seed"},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestEngineConfigCases(t *testing.T) {
	t.Parallel()
	const base = "backend.trtllm_config.prefill"
	for _, c := range []inputCase{
		{
			name: "kept as written",
			files: map[string]string{
				harness.CTXConfig: "# head\na: null\nb: ~\nc: 1.50\nd: [x, 'y', \"z\"] # list\ne: {}\nf: 0x10\ng:\n  - p: " +
					"/lustre/q\n  - 2\nh: 'on'\ni: |\n  two\n  lines\n1: one\n\"k.l\": 2\nm: []\n",
			},
			want: map[string]string{
				base + ".a": "null", base + ".b": "~", base + ".c": "1.50", base + ".e": "{}", base + ".f": "0x10", base +
					".g": "[{p: /scratch/q}, 2]",
				base + ".h": `'on'`, base + ".i": `"two\nlines\n"`, base + ".1": "one", base + `."k.l"`: "2", base +
					".m": "[]", base + ".d": `[x, 'y', "z"]`,
			},
			todos: []string{"confirm " + base + ".g: confirm that the compute containers can read"},
		},
		{
			name:  "a list at the top",
			files: map[string]string{harness.CTXConfig: "- 1\n"},
			todos: []string{"must-fix " + base + ": ctx_config.yaml can't be used: line 1: the top level must be a mapping"},
		},
		{
			name:  "only a comment",
			files: map[string]string{harness.CTXConfig: "# nothing\n"},
			todos: []string{"must-fix " + base + ": ctx_config.yaml can't be used: file is empty"},
		},
		{name: "an empty mapping", files: map[string]string{harness.CTXConfig: "{}\n"}, want: map[string]string{base: "{}"}},
		{
			name:  "a list as key",
			files: map[string]string{harness.CTXConfig: "? [a]\n: 1\n"},
			todos: []string{"must-fix " + base + ": ctx_config.yaml can't be used: line 1: a key must not be a list"},
		},
	} {
		t.Run(c.name, c.run)
	}
}
