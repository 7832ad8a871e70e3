package porter

import (
	"fmt"
	"strings"
	"testing"
)

// Each of these directories is of a kind that looks complete, but whose plain reading gives a wrong
// recipe.

func TestUnusualLaunches(t *testing.T) {
	t.Parallel()
	for _, c := range []unusualCase{
		{
			name: "engine config named by the line",
			edit: func(d *runDir) {
				d.write("engines/decode-tp32.yaml", d.read("gen_config.yaml"))
				d.replace("engines/decode-tp32.yaml", `^max_num_tokens: .*$`, "max_num_tokens: 96")
				d.replace("job.log", `/c1010/gen_config\.yaml`, "/c1010/engines/decode-tp32.yaml")
			},
			want: map[string]string{"backend.trtllm_config.decode.max_num_tokens": "96"},
			says: []string{
				"artifact  engines/decode-tp32.yaml: 32 values\n",
				"artifact  gen_config.yaml: not loaded: a line names another file\n",
				"engines/decode-tp32.yaml:7 max_num_tokens",
			},
		},
		{
			name:  "launch line missing",
			proof: "7 of 7 lines, 435 tokens: 203 same, 232 by rule, 0 asked, 0 unaccounted",
			edit:  func(d *runDir) { d.drop(" CTX 1 ") },
			asked: []string{
				"must-fix recipe:resources.prefill_workers#count: no launch line of CTX 1; the launcher waited for 6 workers, " +
					"but there are launch lines of 5: …gb300-r07-n12: CTX 3 (GPU 0-3)",
			},
			says: []string{
				"<- job.log:6=CTX 0, job.log:7=CTX 2, job.log:10 Waiting for=6 [recipe:resources.prefill_workers#count]",
			},
		},
		{
			name:  "second attempt smaller",
			proof: "13 of 13 lines, 766 tokens: 135 same, 631 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				again := d.launches(" etcd ", " frontend ", " GEN 0 ", " CTX 0 ", " CTX 1 ")
				d.write("job.log", d.read("job.log")+"[server] A worker failed: starting again\n"+again+
					"[server] Waiting for 3 workers\n")
			},
			want: map[string]string{"resources.prefill_workers": "2", "resources.prefill_nodes": "2"},
			asked: []string{
				"must-fix recipe:resources.prefill_workers#attempts: job.log shows 2 attempts…attempt 2 (job.log:15-19), used:…" +
					"gb300-r07-n10: CTX 1…attempt 1 (job.log:3-10), all workers registered (job.log:12):…gb300-r07-n13: CTX 4",
			},
		},
		{
			name:  "roles share a node",
			proof: "4 of 4 lines, 240 tokens: 103 same, 137 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				for i := 1; i < 5; i++ {
					d.drop(fmt.Sprintf(" CTX %d ", i))
				}
				d.replace("job.log", `--nodelist gb300-r07-n01\S+`, "--nodelist gb300-r07-n09")
				d.replace("job.log", `-N 8 -n 32`, "-N 1 -n 6")
				d.replace("job.log", `-N 1 -n 4`, "-N 1 -n 2")
				d.launch(" CTX 0 ", replaceIn("CUDA_VISIBLE_DEVICES=0,1,2,3", "CUDA_VISIBLE_DEVICES=0,1"))
				d.launch(" GEN 0 ", replaceIn("CUDA_VISIBLE_DEVICES=0,1,2,3", "CUDA_VISIBLE_DEVICES=2,3,4,5,6,7"))
				d.replace("job.log", `Nodes: .*`, "Nodes: gb300-r07-n09")
				d.replace("job.log", `Waiting for 6`, "Waiting for 2")
				d.replace("gen_config.yaml", `^(tensor_parallel_size|moe_expert_parallel_size): .*`, "$1: 6")
				d.replace("ctx_config.yaml", `^(tensor_parallel_size|moe_expert_parallel_size): .*`, "$1: 2")
			},
			want: map[string]string{
				"resources.gpus_per_node": "8", "resources.prefill_nodes": "1", "resources.gpus_per_prefill": "2",
				"resources.gpus_per_decode": "6",
			},
		},
		{
			name:  "arguments of the worker script",
			proof: "8 of 8 lines, 500 tokens: 237 same, 227 by rule, 36 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.replace("job.log", ` e2e '1010' true `, " ctx_only '1010' false ")
				d.replace("job.log", ` false '0-0' `, " true '5-25' ")
				d.replace("job.log", `' none none &>`, "' 'nsys profile --trace=cuda' overlay.yaml &>")
			},
			asked: []string{
				"must-fix run#argument 5 ctx_only: …(benchmark mode) is \"ctx_only\", not the usual \"e2e\"",
				"confirm run#argument 7 false: …, not the usual \"true\"…launches: CTX 0-4, GEN 0",
				"confirm run#argument 9 true: ", "confirm run#argument 10 5-25: ", "confirm run#argument 14 overlay.yaml: ",
				"confirm run#argument 13 nsys profile --trace=cuda: argument 13 of the start script is \"nsys profile",
			},
			silent: []string{"a bug in the porter"},
		},
		{
			name:  "unknown srun flags",
			proof: "8 of 8 lines, 540 tokens: 237 same, 263 by rule, 40 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.replace("job.log", `--mpi=pmix --overlap`,
					"--mpi=pmix --overlap --gres=gpu:4 --mem-per-gpu=0 --distribution=block --new-flag --cpus-per-gpu 18")
			},
			asked: []string{
				"confirm recipe:srun_options#--gres: --gres=gpu:4…is not carried over…launches: etcd, frontend, CTX 0-4, GEN 0",
				"confirm recipe:srun_options#--mem-per-gpu: --mem-per-gpu=0…is not carried over…launches: etcd, frontend, CTX " +
					"0-4, GEN 0",
				"confirm recipe:srun_options#--distribution: --distribution=block…is not carried over…launches: etcd, frontend, " +
					"CTX 0-4, GEN 0",
				"confirm recipe:srun_options#--new-flag: --new-flag…is not carried over…launches: etcd, frontend, CTX 0-4, GEN 0",
				"confirm recipe:srun_options#--cpus-per-gpu: --cpus-per-gpu=18…is not carried over…launches: etcd, frontend, " +
					"CTX 0-4, GEN 0",
			},
			silent: []string{
				"--new-flag~2",
			},
		},
		{
			name: "CPU pinning in a log",
			edit: func(d *runDir) { d.write("3_output_CTX_2.log", "2: exec taskset -c 72-143 python3 -m dynamo.trtllm\n") },
			want: map[string]string{"backend.numa_cpu_bind": "true"},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func replaceIn(old, with string) func(string) string {
	return func(line string) string { return strings.ReplaceAll(line, old, with) }
}

func TestUnusualClient(t *testing.T) {
	t.Parallel()
	for _, c := range []unusualCase{
		{
			name: "banner cut off",
			edit: func(d *runDir) {
				before, _, _ := strings.Cut(d.read("client.log"), "Workers: 8")
				before, _, _ = strings.Cut(before, "400.0s\n")
				d.write("client.log", before)
			},
			want: map[string]string{"phase_timeout_seconds": "3600.0", "max_tokens": "16384"},
			asked: []string{
				"confirm run#banner: the banner in client.log (lines 5 to 10) is incomplete: the file ends within line 11 " +
					"(Phase Timeout: 2):…fields: phase_timeout_seconds, max_starting_line_offset, seed, max_tokens, " +
					"reasoning_effort, send_conversation_routing_headers, use_dynamo_conv_aware_routing",
				"must-fix workload:trajectory_path: no artifact names the file",
			},
		},
		{
			name: "client restarted",
			edit: func(d *runDir) {
				text := d.read("client.log")
				d.write("client.log", text+strings.NewReplacer(
					"Max workers: 8", "Max workers: 16", "2400.0s", "1800.5s", "Reasoning effort: high", "Reasoning effort: low",
				).Replace(text))
			},
			want: map[string]string{
				"max_workers": "16", "phase_timeout_seconds": "1800.5", "reasoning_effort": "low", "seed": "42",
			},
			asked: []string{
				"confirm run#starts: client.log shows 2 starts of the client (lines 5, 33)…Max workers: 8 (client.log:9), 16 " +
					"(client.log:37)\nPhase Timeout: 2400.0s (client.log:11), 1800.5s (client.log:39)\nReasoning effort: high",
				"confirm workload:phase_timeout_seconds#outputs: client.log:39 shows 1800.5, but the names of outputs show a " +
					"phase of 2400 s",
			},
			silent: []string{
				"Seed: ",
			},
		},
		{
			name:  "client command",
			proof: "8 of 8 lines, 504 tokens: 241 same, 263 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.replace("client_cmds_base.sh", `--export=ALL `, "--export=ALL,HF_HUB_CACHE=/scratch/hub ")
				d.replace("client_cmds_base.sh", `set -euo pipefail;`,
					"set -euo pipefail; export AGENTPERF_BASE_PATH=/openai/v1 RAYON_NUM_THREADS=48;")
				d.replace("client_cmds_base.sh", `--container-image=\S+`, "--container-image=/lustre/images/replay-7.sqsh")
				d.replace("client_cmds_base.sh", `/scratch:/scratch`, "/scratch:/scratch,/nvme/cache:/cache:ro")
			},
			want: map[string]string{
				"benchmark.env.AGENTPERF_BASE_PATH": `"/openai/v1"`, "benchmark.env.RAYON_NUM_THREADS": `"48"`,
				"benchmark.env.HF_HUB_CACHE": `"/scratch/hub"`, "benchmark.container_image": "/scratch/images/replay-7.sqsh",
				"extra_mount": `["/scratch:/scratch", "/nvme/cache:/cache:ro"]`,
			},
			asked: []string{
				"note recipe:extra_mount#client: only the client had the mount /nvme/cache:/cache:ro; in the new job all steps " +
					"have it",
				"confirm recipe:benchmark.env.HF_HUB_CACHE#readable: ",
			},
			says: []string{"; 0 lost over 8 launch lines and the client's command\n"},
		},
		{
			name: "logs compressed",
			edit: func(d *runDir) { d.gzip("client.log"); d.gzip("job.log") },
			want: map[string]string{"resources.prefill_workers": "5", "max_tokens": "2000"},
			says: []string{
				"artifact  client.log.gz: banner on line 5\n",
				"artifact  job.log.gz: 8 launch lines\n",
			},
		},
		{
			name: "no client log",
			edit: func(d *runDir) { d.remove("client.log") },
			want: map[string]string{"max_tokens": "16384", "seed": "42"},
			asked: []string{
				"confirm run#client.log: client.log: missing:…fields: server_type, phase_timeout_seconds, " +
					"max_starting_line_offset, seed, max_workers, max_tokens, reasoning_effort, send_conversation_routing_headers, " +
					"use_dynamo_conv_aware_routing",
			},
		},
		{
			name:  "setting that looks like a secret",
			proof: "8 of 8 lines, 518 tokens: 255 same, 263 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.replace("job.log", ` DYN_TOOL_CALL_PARSER=`, " TLLM_GEN_FIRST_TOKEN=1 MLFLOW_TOKEN=9d3c CI_PAT=glpat-77 "+
					"DYN_TOOL_CALL_PARSER=")
			},
			want: map[string]string{"backend.prefill_environment.TLLM_GEN_FIRST_TOKEN": `"1"`},
			asked: []string{
				"confirm recipe:backend.prefill_environment.MLFLOW_TOKEN#secret: looks like a secret",
				"confirm recipe:backend.prefill_environment.CI_PAT#secret: looks like a secret",
			},
			silent: []string{
				"FIRST_TOKEN",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestUnusualLayout(t *testing.T) {
	t.Parallel()
	c := unusualCase{
		name: "run without a directory of its level", dir: "results/bm_agentperf_c1010",
		edit: func(*runDir) {},
		want: map[string]string{"name": "bm-agentperf-c1010", "benchmark.concurrency": "1010"},
	}
	t.Run(c.name, c.run)
}
