package porter

import (
	"strings"
	"testing"
)

// Settings that only a close reading of the client's log and command shows.
func TestUnusualSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []unusualCase{
		{
			name: "unknown settings of the banner",
			edit: func(d *runDir) {
				d.replace("client.log", `^0:   Base URL:`, "0:   Run label: night\n0:   Base URL:")
				d.replace("client.log", `^0:   Seed: 42$`, "0:   Warmup requests: 50\n0:   Seed: 42\n0:   API key: sesame")
				d.replace("client.log", `8192 \(auto-sized, `, "512 (")
			},
			want: map[string]string{"seed": "42"},
			asked: []string{
				`confirm run#banner Run label: the banner shows Run label as "night", which is no known setting`,
				`confirm run#banner Warmup requests: the banner shows Warmup requests as "50", which is no known setting`,
				`confirm run#banner API key: the banner shows API key as "‹hidden›"`,
				`confirm run#Connection pool: the banner shows the connection pool "512 (`,
			},
			silent: []string{"Total requests", "Loaded 40", "sesame"},
		},
		{
			name: "ranks of the client differ",
			edit: func(d *runDir) {
				var out strings.Builder
				for line := range strings.Lines(d.read("client.log")) {
					other := strings.NewReplacer("Seed: 42", "Seed: 43", "Max tokens: 2000", "Max tokens: 4000").Replace(line)
					out.WriteString(line + "1" + other[1:])
				}
				d.write("client.log", out.String())
			},
			want: map[string]string{"seed": "42", "max_tokens": "2000"},
			asked: []string{
				"confirm run#ranks: the ranks of the client show different settings…Max tokens: 2000 (client.log:27), 4000 " +
					"(client.log:28)\nSeed: 42 (client.log:43), 43 (client.log:44)",
			},
			silent: []string{"2 starts"},
		},
		{
			name: "ranks of the client one after the other",
			edit: func(d *runDir) {
				text := d.read("client.log")
				d.write("client.log", text+strings.ReplaceAll(strings.Replace(text, "Seed: 42", "Seed: 43", 1), "0: ", "1: "))
			},
			want:   map[string]string{"seed": "42"},
			asked:  []string{"confirm run#ranks: …Seed: 42 (client.log:22), 43 (client.log:50)"},
			silent: []string{"2 starts"},
		},
		{
			name:  "flags of the client differ from the banner",
			proof: "8 of 8 lines, 503 tokens: 240 same, 263 by rule, 0 asked, 0 unaccounted",
			edit: func(d *runDir) {
				d.replace("client_cmds_base.sh", `--concurrencies 1010`,
					"--concurrencies 1010 --seed 9 --phase-timeout=2400 --max-tokens 4000")
			},
			want: map[string]string{
				"seed": "42", "benchmark.env.AGENTPERF_EXTRA_ARGS": `"--seed 9 --phase-timeout=2400 --max-tokens 4000"`,
			},
			asked: []string{
				"confirm workload:seed#flag: the client's command has --seed 9, but client.log:22 shows 42, which is written",
				"confirm workload:max_tokens#flag: the client's command has --max-tokens 4000, but client.log:14 shows 2000",
			},
			silent: []string{"phase_timeout_seconds#flag"},
		},
		{
			name: "tags in an engine config",
			edit: func(d *runDir) {
				d.replace("ctx_config.yaml", `^max_num_tokens: (.*)$`, "max_num_tokens: !!python/object/apply:int [$1]")
			},
			asked: []string{
				"must-fix recipe:backend.trtllm_config.prefill#line 3: ctx_config.yaml:3: the tag \"!!python/object/apply:int\" " +
					"is not one of YAML itself",
			},
			silent: []string{"a bug in the porter", "would be invalid"},
		},
		{
			name: "tag in the configuration of the client",
			edit: func(d *runDir) { d.write("benchmark_config.yaml", "seed: !!python/int 42\n") },
			asked: []string{
				"confirm run#benchmark_config.yaml:1: benchmark_config.yaml:1: the tag \"!!python/int\"",
				"must-fix …the workload would be invalid: seed: the tag \"!!python/int\" is not one of YAML itself",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}
