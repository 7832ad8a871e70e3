package porter

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Neighbours of the kinds in unusual_kinds_test.go: another field, role, file or place.

func TestUnusualTopology(t *testing.T) {
	t.Parallel()
	for _, c := range []unusualCase{
		{
			name:  "two frontends",
			proof: "9 of 9 lines, 536 tokens: 237 same, 299 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				second := strings.ReplaceAll(d.launches(" frontend "), "frontend gb300-r07-n09 8333", "frontend gb300-r07-n10 8334")
				second = strings.ReplaceAll(second, "--nodelist gb300-r07-n09", "--nodelist gb300-r07-n10")
				second = strings.ReplaceAll(second, "4_output_frontend.log", "4_output_frontend_1.log")
				d.launch(" frontend ", func(line string) string { return line + second })
			},
			asked: []string{
				"confirm run#frontend launches: frontend was launched 2 times; the last launch (line 5) was used: confirm that " +
					"it replaced the one on other nodes\nfrontend: nodes: gb300-r07-n09 (job.log:4), gb300-r07-n10 (job.log:5)",
				"confirm run#endpoint: the client used http://gb300-r07-n09:8333/v1, but the frontend was launched on " +
					"gb300-r07-n10:8334",
			},
		},
		{
			name:  "prefill worker relaunched",
			proof: "9 of 9 lines, 565 tokens: 236 same, 328 by rule, 1 asked, 0 unaccounted",
			edit: func(d *runDir) {
				again := strings.ReplaceAll(d.launches(" CTX 3 "), "DYN_TCP_REQUEST_TIMEOUT=30", "DYN_TCP_REQUEST_TIMEOUT=90")
				d.replace("job.log", `^(\[server\] Waiting)`, "[server] CTX 3 exited\n"+strings.ReplaceAll(again, "$", "$$")+"$1")
			},
			asked: []string{
				"note run#CTX 3 launches: CTX 3 was launched 2 times; the last launch (line 12) was used\nCTX 3: " +
					"DYN_TCP_REQUEST_TIMEOUT: 30 (job.log:9), 90 (job.log:12)",
				"confirm recipe:backend.prefill_environment.DYN_TCP_REQUEST_TIMEOUT#differs: CTX 3 differs",
			},
		},
		{
			name:  "uneven indices",
			proof: "6 of 6 lines, 370 tokens: 169 same, 201 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.drop(" CTX 1 ")
				d.drop(" CTX 3 ")
				d.replace("job.log", `Waiting for 6`, "Waiting for 4")
			},
			asked: []string{
				"must-fix recipe:resources.prefill_workers#count: no launch line of CTX 1, CTX 3: give the numbers",
			},
			says: []string{
				"<- job.log:6=CTX 0, job.log:7=CTX 2, job.log:7=CTX 2, job.log:8=CTX 4 [",
			},
		},
		{
			name:  "fewer launches than workers awaited",
			proof: "7 of 7 lines, 435 tokens: 203 same, 232 by rule, 0 asked, 0 unaccounted",
			edit:  func(d *runDir) { d.drop(" CTX 4 ") },
			asked: []string{
				"must-fix recipe:resources.prefill_workers#count: the launcher waited for 6 workers, but there are launch lines " +
					"of 5",
			},
		},
		{
			name:  "aggregated run",
			proof: "3 of 3 lines, 175 tokens: 67 same, 108 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				for i := range 5 {
					d.drop(fmt.Sprintf(" CTX %d ", i))
				}
				d.remove("ctx_config.yaml")
				d.remove("3_output_CTX_0.log")
				d.replace("job.log", `Waiting for 6`, "Waiting for 1")
			},
			want: map[string]string{
				"resources.agg_workers": "1", "resources.agg_nodes": "8", "resources.prefill_workers": "-",
				"resources.decode_workers": "-", "backend.trtllm_config.aggregated.max_batch_size": "16",
			},
			silent: []string{
				"CTX",
			},
		},
		{
			name:  "workers of 6 GPUs share nodes",
			proof: "5 of 5 lines, 305 tokens: 0 same, 0 by rule, 0 asked, 305 unaccounted; not compared",
			edit: func(d *runDir) {
				for i := 2; i < 5; i++ {
					d.drop(fmt.Sprintf(" CTX %d ", i))
				}
				d.launch(" CTX 0 ", replaceIn("--nodelist gb300-r07-n09", "--nodelist gb300-r07-n09,gb300-r07-n10"))
				d.launch(" CTX 1 ", replaceIn("--nodelist gb300-r07-n10", "--nodelist gb300-r07-n10,gb300-r07-n11"))
				d.replace("job.log", `-N 1 -n 4`, "-N 2 -n 6")
				d.replace("job.log", `Waiting for 6`, "Waiting for 3")
				d.replace("ctx_config.yaml", `^(tensor_parallel_size|moe_expert_parallel_size): .*`, "$1: 6")
			},
			asked: []string{
				"must-fix recipe:resources#…: CTX 0 and CTX 1 both use GPU 0 of gb300-r07-n10…old run:…CTX 0 (GPU 0-3), CTX 1",
			},
		},
		{
			name:  "workers of 6 GPUs on nodes of their own",
			proof: "5 of 5 lines, 305 tokens: 135 same, 170 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				for i := 2; i < 5; i++ {
					d.drop(fmt.Sprintf(" CTX %d ", i))
				}
				d.launch(" CTX 0 ", replaceIn("--nodelist gb300-r07-n09", "--nodelist gb300-r07-n09,gb300-r07-n10"))
				d.launch(" CTX 1 ", replaceIn("--nodelist gb300-r07-n10", "--nodelist gb300-r07-n11,gb300-r07-n12"))
				d.replace("job.log", `-N 1 -n 4`, "-N 2 -n 6")
				d.replace("job.log", `Waiting for 6`, "Waiting for 3")
				d.replace("ctx_config.yaml", `^(tensor_parallel_size|moe_expert_parallel_size): .*`, "$1: 6")
			},
			want: map[string]string{
				"resources.prefill_nodes": "4", "resources.prefill_workers": "2", "resources.gpus_per_prefill": "6",
			},
		},
		{
			name:  "several decode workers",
			proof: "9 of 9 lines, 564 tokens: 270 same, 294 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.launch(" GEN 0 ", func(line string) string {
					const all = "gb300-r07-n01,gb300-r07-n02,gb300-r07-n03,gb300-r07-n04,gb300-r07-n05,gb300-r07-n06," +
						"gb300-r07-n07,gb300-r07-n08"
					var out strings.Builder
					for i := range 2 {
						half := strings.Join(strings.Split(all, ",")[4*i:4*i+4], ",")
						out.WriteString(strings.NewReplacer(
							all, half, "-N 8 -n 32", "-N 4 -n 16", " GEN 0 ", fmt.Sprintf(" GEN %d ", i),
							"GEN_0.log", fmt.Sprintf("GEN_%d.log", i), " 8101 ", fmt.Sprintf(" %d ", 8101+10*i),
						).Replace(line))
					}
					return out.String()
				})
				d.replace("job.log", `Waiting for 6`, "Waiting for 7")
				d.replace("gen_config.yaml", `^(tensor_parallel_size|moe_expert_parallel_size): .*`, "$1: 16")
			},
			want: map[string]string{"resources.decode_workers": "2", "resources.decode_nodes": "8"},
		},
		{
			name: "two commands on one line",
			edit: func(d *runDir) {
				next := regexp.MustCompile(`&\n\[server\] Executing: (srun .* CTX 4 )`)
				d.write("job.log", next.ReplaceAllString(d.read("job.log"), "& $1"))
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestUnusualText(t *testing.T) {
	t.Parallel()
	for _, c := range []unusualCase{
		{
			name:  "job log ends in a launch line",
			proof: "7 of 8 lines, 435 tokens: 203 same, 232 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				before, _, _ := strings.Cut(d.read("job.log"), " CTX 4 ")
				d.write("job.log", before+" CTX 4 /lustre/fsw/portfolios/perf/models/deepseek")
			},
			asked: []string{
				"confirm run#job.log:10: job.log:10: the file ends within the line",
				"must-fix recipe:resources.prefill_workers#count: launch lines of workers can't be read: job.log:10",
			},
		},
		{
			name:  "compressed job log cut off",
			proof: "2 of 3 lines, 111 tokens: 34 same, 77 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.gzip("job.log")
				text := d.read("job.log.gz")
				d.write("job.log.gz", text[:len(text)*2/3])
			},
			asked: []string{
				"confirm run#job.log.gz: job.log.gz: the compressed data ends early",
				"must-fix recipe:resources.prefill_workers: ",
			},
		},
		{
			name: "line ends of Windows",
			edit: func(d *runDir) {
				for _, name := range []string{
					"job.log", "client.log", "job_params.env", "ctx_config.yaml", "gen_config.yaml", "client_cmds_base.sh",
				} {
					d.replace(name, `$`, "\r")
				}
			},
		},
		{
			name: "byte order marks",
			edit: func(d *runDir) {
				for _, name := range []string{
					"job.log", "client.log", "job_params.env", "ctx_config.yaml", "gen_config.yaml", "client_cmds_base.sh",
				} {
					d.write(name, "\ufeff"+d.read(name))
				}
				d.replace("job_params.env", `^.*# written by the launcher\n`, "\ufeff")
			},
		},
		{
			name: "launch lines continued",
			edit: func(d *runDir) {
				d.launch("", func(line string) string {
					line = strings.ReplaceAll(line, " --container-image", " \\\n    --container-image")
					return strings.ReplaceAll(line, " bash /lustre", " \\\n    bash /lustre")
				})
			},
			want: map[string]string{"resources.prefill_workers": "5"},
		},
		{
			name: "colours in logs",
			edit: func(d *runDir) {
				d.replace("job.log", `^\[server\] Executing: `, "\x1b[32m[server]\x1b[0m \x1b[1mExecuting:\x1b[0m ")
				d.replace("job.log", `( --nodelist )`, "\x1b[36m$1\x1b[0m")
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestUnusualValues(t *testing.T) {
	t.Parallel()
	for _, c := range []unusualCase{
		{
			name: "engine config with an odd name",
			edit: func(d *runDir) {
				d.write("prefill engine v2.yml", d.read("ctx_config.yaml"))
				d.replace("prefill engine v2.yml", `^max_batch_size: .*$`, "max_batch_size: 48")
				d.replace("job.log", `(/\S*)/ctx_config\.yaml`, "'$1/prefill engine v2.yml'")
			},
			want: map[string]string{"backend.trtllm_config.prefill.max_batch_size": "48"},
		},
		{
			name:  "engine configs that differ",
			proof: "8 of 8 lines, 500 tokens: 237 same, 262 by rule, 1 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.write("ctx_fast.yaml", d.read("ctx_config.yaml"))
				d.replace("ctx_fast.yaml", `^max_num_tokens: .*$`, "max_num_tokens: 16384")
				d.launch(" CTX 2 ", replaceIn("/ctx_config.yaml", "/ctx_fast.yaml"))
			},
			asked: []string{
				"must-fix recipe:backend.trtllm_config.prefill#…: launched with ctx_fast.yaml, but CTX 0 with " +
					"ctx_config.yaml…max_num_tokens: 8192 (ctx_config.yaml:3); 16384 (ctx_fast.yaml:3)",
			},
		},
		{
			name:  "engine config not found",
			proof: "8 of 8 lines, 500 tokens: 237 same, 262 by rule, 1 asked, 0 unaccounted",
			edit:  func(d *runDir) { d.replace("job.log", `/\S*/gen_config\.yaml`, "/home/other/gen_config.yaml") },
			asked: []string{
				"confirm recipe:backend.trtllm_config.decode#file: GEN 0 was launched with /home/other/gen_config.yaml, which",
			},
		},
		{
			name:  "engine config that is not there",
			edit:  func(d *runDir) { d.replace("job.log", `/\S*/gen_config\.yaml`, "/home/other/decode-v3.yaml") },
			asked: []string{"must-fix recipe:backend.trtllm_config.decode…/home/other/decode-v3.yaml"},
			proof: "8 of 8 lines, 500 tokens: 237 same, 262 by rule, 1 asked, 0 unaccounted",
		},
		{
			name: "client started three times",
			edit: func(d *runDir) {
				text := d.read("client.log")
				d.write("client.log", text+strings.Replace(text, "Seed: 42", "Seed: 43", 1)+
					strings.Replace(text, "Seed: 42", "Seed: 44", 1))
			},
			want: map[string]string{"seed": "44"},
			asked: []string{
				"confirm run#starts: …3 starts…Seed: 42 (client.log:22), 43 (client.log:50), 44 (client.log:78)",
			},
		},
		{
			name: "directory of another level", dir: "bm_agentperf_dsv4_5p1d/c64",
			edit: func(*runDir) {},
			want: map[string]string{"benchmark.concurrency": "1010"},
			asked: []string{
				"confirm recipe:benchmark.concurrency#disagrees: CONCURRENCIES is \"1010\", but the directory is named c64",
			},
		},
		{
			name: "timeout differs from the name of the output",
			edit: func(d *runDir) {
				for _, ext := range []string{"json", "txt"} {
					const stem = "agentperf/hf-0c0ffee_orig__1010u__phase0__dur"
					d.check(os.Rename(d.file(stem+"2400s__settle240s__traj3."+ext), d.file(stem+"900s__settle240s__traj3."+ext)))
				}
			},
			want: map[string]string{"phase_timeout_seconds": "2400.0"},
			asked: []string{
				"confirm workload:phase_timeout_seconds#outputs: client.log:11 shows 2400.0, but the names of outputs show a " +
					"phase of 900 s",
			},
		},
		{
			name:  "secrets with unusual names",
			proof: "8 of 8 lines, 509 tokens: 242 same, 267 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.replace("job.log", `DYN_TOKENIZER_CACHE=1`, "DYN_TOKENIZER_CACHE=1,"+
					"BUILD_HOOK=hf_Qwertyuiopasdfghjklzxcvbnm12345,"+
					"DB_PASSWD=s3same,MAX_TOKENS=4096,KV_CACHE_KEY=blockhash")
				d.replace("client_cmds_base.sh", `set -euo pipefail;`, "set -euo pipefail; export CLIENT_SECRETS=a1b2c3;")
			},
			asked: []string{
				"confirm recipe:benchmark.env.CLIENT_SECRETS#secret: looks like a secret",
				"confirm recipe:frontend.env.BUILD_HOOK#secret: looks like a secret",
				"confirm recipe:frontend.env.DB_PASSWD#secret: looks like a secret",
			},
			silent: []string{
				"MAX_TOKENS",
				"KV_CACHE_KEY",
			},
		},
		{
			name:  "client command in a variable",
			proof: "8 of 8 lines, 497 tokens: 231 same, 230 by rule, 36 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.replace("client_cmds_base.sh", `uv run (.*)/logs/agentperf'`, "RUN=\"uv run $1/logs/agentperf\"; eval $$RUN'")
			},
			asked: []string{
				"confirm run#client command: client_cmds_base.sh runs no run.py",
				"must-fix recipe:benchmark.agentperf_client_dir: ",
			},
			says: []string{"8 launch lines read of 8 seen, no client's command; "},
		},
		{
			name:  "client in a loop",
			proof: "8 of 8 lines, 502 tokens: 238 same, 263 by rule, 1 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.replace("client_cmds_base.sh", `uv run (.*)'`, "for s in 1 2; do uv run $1 --seed $$s; done'")
			},
			asked: []string{
				"confirm run#command for s in 1 2: the client script runs \"for s in 1 2\"",
				"confirm recipe:benchmark.env.AGENTPERF_EXTRA_ARGS#variable: contains $s, which nothing expands",
			},
		},
		{
			name:  "several client commands",
			proof: "8 of 8 lines, 546 tokens: 237 same, 278 by rule, 31 asked, 0 unaccounted",
			edit: func(d *runDir) {
				text := d.read("client_cmds_base.sh")
				d.write("client_cmds_base.sh", strings.Replace(text, "--concurrencies 1010", "--concurrencies 16 "+
					"--no-eval", 1)+text)
			},
			asked: []string{
				"confirm run#client runs: the client script runs the client more than once, and only the last one is ported",
			},
			want: map[string]string{"benchmark.env.AGENTPERF_EXTRA_ARGS": "-"},
		},
		{
			name:  "variables before the client",
			proof: "8 of 8 lines, 507 tokens: 240 same, 267 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.replace("client_cmds_base.sh", `uv run python`, "export PYTHONHASHSEED=0; ulimit -n 65536; "+
					"AGENTPERF_TRACE=1 env OMP_NUM_THREADS=4 uv run python")
			},
			want: map[string]string{
				"benchmark.env.PYTHONHASHSEED": `"0"`, "benchmark.env.AGENTPERF_TRACE": `"1"`,
				"benchmark.env.OMP_NUM_THREADS": `"4"`,
			},
		},
		{
			name:  "export of nothing",
			proof: "8 of 8 lines, 502 tokens: 237 same, 263 by rule, 2 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.launch(" frontend ", replaceIn("--export=ALL,", "--export=NONE,EMPTY=,BARE,"))
			},
			want: map[string]string{"frontend.env.EMPTY": `""`, "frontend.env.BARE": "-"},
			asked: []string{
				"confirm recipe:srun_options#…: --export without ALL kept the environment",
				"confirm recipe:frontend.env#export BARE: --export names BARE without a value",
			},
		},
		{
			name: "datasets of one name",
			edit: func(d *runDir) {
				const name = "coding-agent-scenario_v2_500traj.jsonl"
				d.write("datasets/old/"+name, "{}\n")
				for i, path := range []string{"datasets/old/" + name, "datasets/" + name} {
					at := time.Date(2026, 1, 2+i, 3, 4, 5, 0, time.UTC)
					d.check(os.Chtimes(d.file(path), at, at))
				}
			},
			asked: []string{
				"must-fix workload:trajectory_path: 2 files below the dataset roots are named…, with different content: choose",
			},
		},
		{
			name: "directory behind a link",
			edit: func(d *runDir) {
				link := filepath.Join(filepath.Dir(filepath.Dir(d.path)), "latest")
				d.check(os.Symlink(d.path, link))
				d.path = link
			},
			want: map[string]string{"name": "bm-agentperf-dsv4-5p1d"},
		},
		{
			name:  "image of one worker",
			proof: "8 of 8 lines, 500 tokens: 237 same, 262 by rule, 1 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.launch(" CTX 4 ", func(line string) string {
					image := regexp.MustCompile(`--container-image=\S+`)
					return image.ReplaceAllString(line, "--container-image=/lustre/images/debug.sqsh")
				})
			},
			asked: []string{
				"confirm recipe:model.container…but 1 of 8 launches show /lustre/images/debug.sqsh",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}
