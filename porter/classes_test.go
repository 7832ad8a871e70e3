package porter

import (
	"strings"
	"testing"
)

// The classes of input that occur on real clusters, one table each.

func TestTopology(t *testing.T) {
	t.Parallel()
	const front = "n1"
	gen := workerLine("GEN", 0, "-w n9 -N 1 -n 4", "A=1")
	half := func(index int, host, gpus string) string {
		return strings.ReplaceAll(workerLine("CTX", index, "-w "+host+" -N1 -n2", "A=1"), "CUDA_VISIBLE_DEVICES=0,1,2,3", "CUDA_VISIBLE_DEVICES="+gpus)
	}
	for _, c := range []inputCase{
		{
			name:  "two workers on one node",
			files: map[string]string{nameJob: jobLog(frontendLine(front, ""), half(0, "n1", "0,1"), half(1, "n1", "2,3"), gen), nameCTX: "tensor_parallel_size: 2\n"},
			want: map[string]string{
				"resources.prefill_workers": "2", "resources.prefill_nodes": "1", "resources.gpus_per_node": "4", "resources.gpus_per_prefill": "-",
				"backend.prefill_environment.A": `"1"`,
			},
			silent: []string{"differs", "both use"},
		},
		{
			name:  "two workers claim the same GPUs",
			files: map[string]string{nameJob: jobLog(half(0, "n1", "0,1"), half(1, "n1", "1,2"), gen)},
			todos: []string{"confirm resources.gpus_per_node: CTX 0 and CTX 1 both use GPU 1 of n1"},
		},
		{
			name:  "one worker over two nodes, host list compressed",
			files: map[string]string{nameJob: jobLog(workerLine("CTX", 0, "--nodelist=gb[01-02] --nodes=2 --ntasks 8", "A=1"), gen)},
			want:  map[string]string{"resources.prefill_workers": "1", "resources.prefill_nodes": "2", "resources.gpus_per_node": "4", "resources.gpus_per_prefill": "-"},
		},
		{
			name:  "a worker smaller than its node",
			files: map[string]string{nameJob: jobLog(half(0, "n1", "0,1"), gen)},
			want:  map[string]string{"resources.prefill_workers": "1", "resources.gpus_per_node": "4", "resources.gpus_per_prefill": "2"},
		},
		{
			name:  "decode workers of different size",
			files: map[string]string{nameJob: jobLog(workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"), workerLine("GEN", 0, "-w n2,n3 -N2 -n8", "A=1"), workerLine("GEN", 1, "-w n4 -N1 -n4", "A=1"))},
			want:  map[string]string{"resources.decode_workers": "2", "resources.decode_nodes": "3"},
			todos: []string{"must-fix resources.decode_workers: GEN workers differ in size (8, 4 GPUs)"},
		},
		{
			name:  "-N against the host list",
			files: map[string]string{nameJob: jobLog(workerLine("CTX", 0, "-w n[1-3] -N 2 -n 12", "A=1"), gen)},
			want:  map[string]string{"resources.prefill_nodes": "3"},
			todos: []string{"confirm resources.prefill_nodes: CTX 0: -N is 2, but its host list names 3 nodes"},
		},
		{
			name:  "-n against CUDA_VISIBLE_DEVICES",
			files: map[string]string{nameJob: jobLog(workerLine("CTX", 0, "-w n1 -N 1 -n 8", "A=1"), gen)},
			todos: []string{"confirm resources.prefill_nodes: CTX 0: -n is 8 on 1 nodes, but CUDA_VISIBLE_DEVICES names 4"},
		},
		{
			name:  "no host list",
			files: map[string]string{nameJob: jobLog(workerLine("CTX", 0, "-N 2 -n 8", "A=1"), workerLine("CTX", 1, "-n 4", "A=1"), gen)},
			want:  map[string]string{"resources.prefill_nodes": "3", "resources.prefill_workers": "2"},
			todos: []string{"CTX 0: no host list that can be read; -N 2 was taken", "CTX 1: neither a host list nor -N", "must-fix resources.prefill_workers: CTX workers differ in size"},
		},
		{
			name:  "a host list that makes no sense",
			files: map[string]string{nameJob: jobLog(workerLine("CTX", 0, "-w 'n[1-' -N x -n 4", "A=1"), gen)},
			todos: []string{"CTX 0: host list…bracket is not closed", `CTX 0: -N "x" is no count`},
		},
		{
			name:  "eight nodes get more time to start",
			files: map[string]string{nameJob: jobLog(workerLine("CTX", 0, "-w n[1-4] -N4 -n16", "A=1"), workerLine("GEN", 0, "-w n[5-8] -N4 -n16", "A=1"))},
			want:  map[string]string{"health_check.max_attempts": "300"},
		},
		{
			name:  "tensor parallelism against the ranks",
			files: map[string]string{nameCTX: "tensor_parallel_size: 2\npipeline_parallel_size: 4\n"},
			todos: []string{"confirm backend.trtllm_config.prefill.tensor_parallel_size: tensor × pipeline parallelism is 8, but CTX 0 was launched with -n 4"},
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
			name:  "a worker that was started twice",
			files: map[string]string{nameJob: jobLog(ctx, gen, "noise", workerLine("CTX", 0, "-w n7 -N 1 -n 4", "A=2"))},
			want:  map[string]string{"backend.prefill_environment.A": `"2"`, "resources.prefill_workers": "1", "resources.prefill_nodes": "1"},
			todos: []string{"note : CTX 0 was launched 2 times; the last launch (line 4) counts"},
		},
		{
			name:  "workers that differ",
			files: map[string]string{nameJob: jobLog(ctx, workerLine("CTX", 1, "-w n3 -N 1 -n 4", "A=2 B=1"), workerLine("CTX", 2, "-w n4 -N 1 -n 4", "A=2"), workerLine("CTX", 3, "-w n5 -N 1 -n 4", "C=1"), gen)},
			want:  map[string]string{"backend.prefill_environment.A": `"1"`, "backend.prefill_environment.B": "-"},
			todos: []string{
				`confirm backend.prefill_environment.A: CTX 1, CTX 2 differs in A ("2" there, "1" in CTX 0)`, `CTX 1 differs in B ("1" there, not set in CTX 0)`,
				`CTX 3 differs in A (not set there, "1" in CTX 0)`,
			},
		},
		{
			name: "quotes, spaces, = and empty values in the list",
			files: map[string]string{nameJob: jobLog(workerLine("CTX", 0, "-w n1 -N 1 -n 4",
				`A="x y" B= C=a=b D=two words J={"k": "v w"} E=/lustre/x F=--dir=/lustre/y DYN_UCX_TLS=rc,sm UCX_TLS=tcp`), gen)},
			want: map[string]string{
				"backend.prefill_environment.A": `"x y"`, "backend.prefill_environment.B": `""`, "backend.prefill_environment.C": `"a=b"`,
				"backend.prefill_environment.D": `"two words"`, "backend.prefill_environment.J": `"{\"k\": \"v w\"}"`, "backend.prefill_environment.E": `"/scratch/x"`,
				"backend.prefill_environment.UCX_TLS": `"rc,sm"`, "backend.prefill_environment.HOME": "-",
			},
			todos: []string{
				"confirm backend.prefill_environment.D: the value holds a space", "confirm backend.prefill_environment.E: confirm that the compute containers can read",
				"confirm backend.prefill_environment.F: holds /lustre/ inside",
			},
			silent: []string{"prefill_environment.A: the value"},
		},
		{
			name:  "a list of one variable, and none",
			files: map[string]string{nameJob: jobLog(strings.Replace(ctx, "A=1 CUDA_VISIBLE_DEVICES=0,1,2,3", "A=1", 1), strings.Replace(gen, "'A=1 CUDA_VISIBLE_DEVICES=0,1,2,3'", "none", 1))},
			want:  map[string]string{"backend.prefill_environment.A": `"1"`, "resources.gpus_per_node": "4", "backend.decode_environment.DYN_LOG": `"info"`},
			todos: []string{"must-fix backend.decode_environment: the launch of GEN 0 has no list of variables"},
		},
		{
			name:  "commas and bare names in --export",
			files: map[string]string{nameJob: jobLog(frontendLine("n1", `,UCX_TLS=cuda_ipc,sm,tcp,LD_LIBRARY_PATH,EMPTY=,Q="a b",HF_TOKEN=abc`), ctx, gen)},
			want: map[string]string{
				"frontend.env.UCX_TLS": `"cuda_ipc,sm,tcp"`, "frontend.env.EMPTY": `""`, "frontend.env.Q": `"a b"`, "frontend.env.LD_LIBRARY_PATH": "-",
				"frontend.env.ROUTER_MODE": `"kv"`, "frontend.env.HOME": `"/tmp"`,
			},
			todos: []string{
				`note frontend.env.UCX_TLS: srun splits --export at every comma, so the old job really got "cuda_ipc"`,
				"confirm frontend.env: --export of frontend names LD_LIBRARY_PATH without a value", "confirm frontend.env.HF_TOKEN: looks like a secret",
			},
		},
		{
			name:  "flags of the frontend",
			files: map[string]string{nameJob: jobLog(strings.Replace(frontendLine("n1", ",DYN_KV_BLOCK_SIZE=x,DYN_FRONTEND_ENABLE_KV_EVENTS=1,DYN_REQUEST_PLANE=nats"), "8333 ", "8333 --dyn-tool-call-parser deepseek --router-temperature=0.5 --reset --router-mode kv ", 1), ctx, gen)},
			want: map[string]string{
				"frontend.args.dyn-tool-call-parser": "-", "frontend.args.router-temperature": `"0.5"`, "frontend.args.reset": "true",
				"frontend.args.no-router-kv-events": "false", "dynamo.request_plane": "nats", "frontend.args.request-plane": "nats",
			},
			todos: []string{`must-fix frontend.args.kv-cache-block-size: DYN_KV_BLOCK_SIZE is "x"`, "confirm frontend.args.router-mode: the launch line passes"},
		},
		{
			name: "broken, foreign and cut lines",
			files: map[string]string{nameJob: jobLog(ctx, gen, "[server] Executing: bash -c 'x", "[server] Executing: srun bash start_worker_dynamo.sh AGG 0 m",
				"[server] Executing: srun bash /h/start_worker_dynamo.sh GEN zero m 'B=1' &> /d/3_output_GEN_1.log", "[server] Executing: srun -w n1 bash /h/start_worker_dynamo.sh CTX 2 'A=")},
			want: map[string]string{"resources.decode_workers": "2"},
			todos: []string{
				`confirm : job.log:4: worker of unknown role "AGG"`, "confirm : job.log:6: launch line can't be read", `GEN 1: index "zero" is no number`,
			},
		},
		{
			name:  "etcd on a node of its own",
			files: map[string]string{nameJob: jobLog(strings.Replace(frontendLine("n8", ""), "frontend n8 8333", "etcd n8 2379", 1), frontendLine("n8", ""), ctx, gen)},
			todos: []string{"confirm…: etcd ran on n8, which no worker used"},
			want:  map[string]string{"infra.etcd_nats_dedicated_node": "false"},
		},
		{
			name:  "another image than in job_params.env",
			files: map[string]string{nameJob: jobLog(workerLine("CTX", 0, "-w n1 -N 1 -n 4 --container-image=/lustre/other.sqsh", "A=1"), gen)},
			todos: []string{"confirm model.container: CONTAINER_IMAGE is /lustre/img.sqsh in job_params.env, but 1 of 2 launches show /lustre/other.sqsh"},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestParamsCases(t *testing.T) {
	t.Parallel()
	base := smallRun()[nameParams]
	for _, c := range []inputCase{
		{name: "another backend", files: map[string]string{nameParams: strings.Replace(base, "=dynamo", "=trtllm", 1)}, todos: []string{`must-fix backend.type: SERVER_BACKEND is "trtllm"`}},
		{
			name: "several levels, switches, an unknown job variable", files: map[string]string{nameParams: base + "CONCURRENCIES=\"64 1010\"\nNSYS_ENABLED=1\nDYNAMO_JOB_ENV='X=1 ROUTER_MODE=kv'\nBAD LINE\n"},
			want: map[string]string{"benchmark.concurrencies": "[64, 1010]", "benchmark.concurrency": "-", "concurrencies": "[64, 1010]"},
			todos: []string{
				"note : the old run was profiled", "confirm : DYNAMO_JOB_ENV sets X=1", "confirm : job_params.env:6: CONCURRENCIES is set again (first on line 4)",
				"confirm : job_params.env:9: a command (BAD)",
			},
			silent: []string{"sets ROUTER_MODE"},
		},
		{
			name: "levels that are none", files: map[string]string{nameParams: strings.Replace(base, `"64"`, "many", 1)},
			want: map[string]string{"benchmark.concurrency": "64"}, todos: []string{`CONCURRENCIES is "many"`, "confirm benchmark.concurrency: taken from the directory's name"},
		},
		{
			name: "levels from the banner", files: map[string]string{nameParams: strings.Replace(base, "CONCURRENCIES", "X", 1), nameClient: "  Concurrencies: [64, 1010]\n" + smallBanner},
			want: map[string]string{"benchmark.concurrencies": "[64, 1010]"},
		},
		{
			name: "levels against the banner", files: map[string]string{nameClient: "  Concurrencies: [65]\n" + smallBanner},
			want: map[string]string{"benchmark.concurrency": "64"}, todos: []string{`CONCURRENCIES is "64", the banner shows [65]`},
		},
		{
			name: "a variable in a path, fp4, mounts without a container side", files: map[string]string{nameParams: "MODEL_PATH=${ROOT}/M-NVFP4\nCONTAINER_IMAGE=/x.sqsh\nCONTAINER_MOUNTS=/data\nCONCURRENCIES=64\nSERVER_BACKEND=dynamo\n"},
			want:  map[string]string{"model.path": "${ROOT}/M-NVFP4", "model.precision": "fp4"},
			todos: []string{"confirm model.path: holds a shell variable", "must-fix extra_mount: /data has no container side", "confirm benchmark.agentperf_client_dir: a pinned checkout: no extra_mount covers it"},
		},
		{
			name: "own rewrites first", opt: Options{PathRewrites: []Rewrite{{"/lustre/models/", "/fast/"}, {"/data", "/data"}}},
			want: map[string]string{"model.path": "/fast/m-fp8", "model.container": "/scratch/img.sqsh"},
		},
		{
			name: "no default rewrite", opt: Options{NoDefaultRewrites: true, GPUType: "gb200", WorkloadOut: "/data/w.yaml"},
			want:   map[string]string{"model.path": "/lustre/models/m-fp8", "extra_mount": `["/lustre:/lustre", "/data:/data:ro"]`, "resources.gpu_type": "gb200", "benchmark.agentperf_config": "/data/w.yaml"},
			silent: []string{"gpu_type"},
		},
		{
			name: "pinned workers", files: map[string]string{"3_output_CTX_1.log": "0: x\n0: exec taskset -c 0-71 python\n"},
			want: map[string]string{"backend.numa_cpu_bind": "true"},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestClientCases(t *testing.T) {
	t.Parallel()
	const twice = "agentperf/m__a__128u__phase1__dur600.5s__settle0s__traj3.txt"
	for _, c := range []inputCase{
		{
			name: "colours, CRLF, two-digit ranks, no rank", files: map[string]string{nameClient: strings.ReplaceAll(strings.ReplaceAll(strings.Replace(smallBanner, "0:   Seed: 7", "\x1b[1m  Seed:\x1b[0m 9", 1), "0:   Max", "12:   Max"), "\n", "\r\n")},
			want: map[string]string{"seed": "9", "max_workers": "4", "trajectory_path": "/TODO/traj.jsonl", "phase_timeout_seconds": "600.0"},
		},
		{
			name: "a banner that is cut off, then a restart", files: map[string]string{nameClient: "0:   Server type: trtllm\n0:   Seed: 1\n" + smallBanner + strings.Replace(smallBanner, "Seed: 7", "Seed: 8", 1)},
			want: map[string]string{"seed": "7"}, todos: []string{"note : client.log shows 3 starts of the client; the one on line 3 counts"},
		},
		{
			name: "cut off for good", files: map[string]string{nameClient: "0:   Server type: trtllm\n0:   Seed: 1\n0:   Max tok"},
			want: map[string]string{"seed": "1", "max_tokens": "16384"}, todos: []string{"confirm : the banner in client.log (line 1 to 2) is cut off", `note max_tokens: the banner does not show "Max tokens"`},
		},
		{
			name: "values that make no sense", files: map[string]string{nameClient: strings.NewReplacer("Max workers: 4", "Max workers: four", "Timeout: 600.0s", "Timeout: 1e3s", "headers: disabled", "headers: maybe").Replace(smallBanner)},
			want: map[string]string{"max_workers": "8", "phase_timeout_seconds": "3600.0"}, todos: []string{`confirm max_workers: the banner shows "four"`, `confirm phase_timeout_seconds`, `confirm send_conversation_routing_headers`},
		},
		{
			name: "no assignments, no delays", files: map[string]string{nameClient: strings.Replace(smallBanner, "User assignments: /tmp/agentperf-1/data/users.json", "Tool-call delays: disabled", 1)},
			want: map[string]string{"user_assignments_path": "null"}, todos: []string{"confirm user_assignments_path: the banner names no", "confirm : tool-call delays were switched off"},
		},
		{
			name: "phases that settled differently", files: map[string]string{twice: "x", "agentperf/requests.jsonl": "x"},
			want: map[string]string{"settling_time_seconds": "60.0"}, todos: []string{"confirm settling_time_seconds: phases settled for different times (60, 0 s)"},
		},
		{
			name:  "further flags of the client",
			files: map[string]string{nameCommand: "cd /lustre/old\ncd /lustre/client && FOO=1 uv run \\\n python agentperf/run.py --config=c --concurrencies 64 128 --no-eval --seed 3 --tag 'a b'\n"},
			want:  map[string]string{"benchmark.agentperf_client_dir": "/scratch/client", "benchmark.env.AGENTPERF_EXTRA_ARGS": `"--no-eval --seed 3 --tag a b"`},
			todos: []string{`must-fix benchmark.env.AGENTPERF_EXTRA_ARGS: the client's argument "a b"`},
		},
		{
			name:  "a client script that is cut off",
			files: map[string]string{nameCommand: "srun bash -c 'cd /lustre/client; uv run python agentperf/run.py --config"},
			todos: []string{"confirm : client_cmds_base.sh: can't be read as a shell script", "must-fix benchmark.agentperf_client_dir"},
		},
		{
			name: "the client's own configuration goes first",
			files: map[string]string{nameConfig: "base_url: http://h:1/v1\nmodel: secret\napi_key: k\nphase_timeout_seconds: 700\nseed: 7\nsettling_time_seconds: 61.5\ntrajectory_path: /lustre/d/traj.jsonl\n" +
				"user_assignments_path: /tmp/agentperf-9/users2.json\nuser_spawn_rate: 2.5\nmin_measurement_seconds: 30\nresults_dir: /lustre/r\nconcurrencies: [1]\nextra:\n  deep: /lustre/z\nreasoning_effort: high\n"},
			want: map[string]string{
				"base_url": "http://placeholder:8000/v1", "model": "placeholder", "api_key": "dummy", "phase_timeout_seconds": "700", "seed": "7",
				"settling_time_seconds": "61.5", "trajectory_path": "/scratch/d/traj.jsonl", "user_assignments_path": "/TODO/users2.json",
				"user_spawn_rate": "2.5", "min_measurement_seconds": "30", "results_dir": "-", "concurrencies": "[64]", "reasoning_effort": "high",
			},
			todos: []string{
				`confirm phase_timeout_seconds: benchmark_config.yaml says 700, "Phase Timeout" says 600.0`, `confirm settling_time_seconds: benchmark_config.yaml says 61.5`,
				"note concurrencies: benchmark_config.yaml says [1]", "confirm reasoning_effort",
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
			name:  "as it is written",
			files: map[string]string{nameCTX: "# head\na: null\nb: ~\nc: 1.50\nd: [x, 'y', \"z\"] # list\ne: {}\nf: 0x10\ng:\n  - p: /lustre/q\n  - 2\nh: 'on'\ni: |\n  two\n  lines\n1: one\n\"k.l\": 2\nm: []\n"},
			want: map[string]string{
				base + ".a": "null", base + ".b": "~", base + ".c": "1.50", base + ".e": "{}", base + ".f": "0x10", base + ".g": "[{p: /scratch/q}, 2]",
				base + ".h": `'on'`, base + ".i": `"two\nlines\n"`, base + ".1": "one", base + `."k.l"`: "2", base + ".m": "[]", base + ".d": `[x, 'y', "z"]`,
			},
			todos: []string{"confirm " + base + ".g: confirm that the compute containers can read"},
		},
		{
			name:  "anchors and merge keys",
			files: map[string]string{nameCTX: "d: &d {x: 1, y: 2}\na:\n  <<: *d\n  y: 3\nb: *d\nc:\n  <<: [*d, {z: 9}]\n"},
			want:  map[string]string{base + ".a.x": "1", base + ".a.y": "3", base + ".b.y": "2", base + ".c.z": "9", base + ".c.x": "1"},
			todos: []string{"note " + base + ": ctx_config.yaml:3: anchors and merge keys are written out"},
		},
		{
			name: "duplicate keys", files: map[string]string{nameCTX: "a: 1\nb: 2\na: 3\n"}, want: map[string]string{base + ".a": "3"},
			todos: []string{"must-fix " + base + ": ctx_config.yaml:3: key a stands on line 1 and again on line 3"},
		},
		{name: "a tab", files: map[string]string{nameCTX: "a:\n\tb: 1\n"}, want: map[string]string{base: "{}"}, todos: []string{"must-fix " + base + ": ctx_config.yaml can't be used: line 2: found character that cannot start any token"}},
		{name: "two documents", files: map[string]string{nameCTX: "---\na: 1\n---\nb: 2\n"}, want: map[string]string{base + ".a": "1", base + ".b": "-"}, todos: []string{"must-fix " + base + ": ctx_config.yaml:3: the file holds more than one document"}},
		{name: "a list at the top", files: map[string]string{nameCTX: "- 1\n"}, todos: []string{"must-fix " + base + ": ctx_config.yaml can't be used: line 1: a mapping"}},
		{name: "not UTF-8", files: map[string]string{nameCTX: "a: \xff\xfe\n"}, todos: []string{"must-fix " + base + ": ctx_config.yaml can't be used"}},
		{name: "only a comment", files: map[string]string{nameCTX: "# nothing\n"}, todos: []string{"must-fix " + base + ": ctx_config.yaml can't be used: the file is empty"}},
		{name: "an empty mapping", files: map[string]string{nameCTX: "{}\n"}, want: map[string]string{base: "{}"}},
		{name: "a list as key", files: map[string]string{nameCTX: "? [a]\n: 1\n"}, todos: []string{"must-fix " + base + ": ctx_config.yaml can't be used: line 1: a key is a list"}},
		{
			name: "what YAML 1.1 reads otherwise", files: map[string]string{nameCTX: "a: on\nb: 12:00:00\nc: 0o14\nd: 1e-5\ne: 1.0e-5\nf: yes_really\n"},
			want:  map[string]string{base + ".a": "on", base + ".b": "12:00:00", base + ".c": "0o14", base + ".d": "1e-5"},
			todos: []string{"ctx_config.yaml:1: on is a bool for the engine", "ctx_config.yaml:2: 12:00:00 is a whole number", "ctx_config.yaml:3: 0o14 is text", "ctx_config.yaml:4: 1e-5 is text"},
			silent: []string{
				"ctx_config.yaml:5", "ctx_config.yaml:6",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}
