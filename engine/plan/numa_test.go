package plan

import (
	"slices"
	"strings"
	"testing"
)

// Memory of workers is bound by default for prefill and decode on the GPU types that need it; true binds that
// of every role, false of none, and local is left to the script that binds to CPUs.
func TestNUMABinding(t *testing.T) {
	t.Parallel()
	const (
		disaggregated = "prefill: {nodes: 1, workers: 1}, decode: {nodes: 1, workers: 1}"
		aggregated    = "agg: {nodes: 1, workers: 1}"
	)
	memory, script := []string{"numactl", "-m", "0,1"}, []string{"bash", "/configs/numa_cpu_bind.sh"}
	for _, c := range []struct {
		name, gpu, engine, roles, frontend string
		worker, router                     []string // what precedes the command
	}{
		{name: "gb200", gpu: "gb200", roles: disaggregated, worker: memory},
		{name: "gb300", gpu: "gb300", roles: disaggregated, worker: memory},
		{name: "vrnvl72", gpu: "vrnvl72", roles: disaggregated, worker: memory},
		{name: "upper case", gpu: "VRNVL72", roles: disaggregated},
		{name: "other GPU", gpu: "h100", roles: disaggregated},
		{name: "agg", gpu: "vrnvl72", roles: aggregated},
		{name: "true, agg", gpu: "h100", engine: ", numa_memory_bind: true", roles: aggregated, worker: memory},
		{name: "false", gpu: "gb300", engine: ", numa_memory_bind: false", roles: disaggregated},
		{
			name: "CPUs and memory", gpu: "gb300", engine: ", numa_cpu_bind: true", roles: disaggregated,
			worker: slices.Concat(script, memory),
		},
		{
			name: "local", gpu: "gb300", engine: ", numa_cpu_bind: true, numa_memory_bind: local", roles: aggregated,
			worker: append(slices.Clone(script), "--bind-memory"),
		},
		{
			name: "frontend", gpu: "h100", roles: aggregated, frontend: ", numa_bind: true",
			router: []string{"numactl", "--cpunodebind=0", "--membind=0"},
		},
	} {
		p := build(t, request(t, `schema: 2
name: numa
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: `+c.gpu+`, gpus_per_node: 4}
engine: {type: trtllm`+c.engine+`}
roles: {`+c.roles+`}
frontend: {enable_multiple_frontends: false`+c.frontend+`}
dynamo: {install: false}
benchmark: {type: agentperf, concurrency: 8, agentperf_client_dir: /ap/c, agentperf_config: /ap/w.yaml}
extra_mount: ["/s/ap:/ap"]
`, Slurm))
		mounted := slices.Contains(p.Mounts, Mount{
			Host: "{run_dir}/numa_cpu_bind.sh", Container: "/configs/numa_cpu_bind.sh", Source: "engine.numa_cpu_bind",
		})
		if mounted != strings.Contains(c.engine, "numa_cpu_bind: true") {
			t.Errorf("%s: script mounted: %v", c.name, mounted)
		}
		for _, s := range p.Steps {
			want, program := c.worker, "trtllm-llmapi-launch"
			switch s.Stage {
			case FrontendStage:
				want, program = c.router, "python3"
			case Infra, Client:
				continue
			}
			if got := s.Argv[:max(0, slices.Index(s.Argv, program))]; !slices.Equal(got, want) {
				t.Errorf("%s: %s starts with %q, want %q", c.name, s.Name, got, want)
			}
		}
	}
}

// The sources of the script in a plan are named as in the layout of the recipe.
func TestNUMASource(t *testing.T) {
	t.Parallel()
	const common = "name: numa\nmodel: {path: /m, container: /c.sqsh, precision: fp4}\n" +
		"frontend: {enable_multiple_frontends: false}\ndynamo: {install: false}\nextra_mount: [\"/s/ap:/ap\"]\n" +
		"benchmark: {type: agentperf, concurrency: 8, agentperf_client_dir: /ap/c, agentperf_config: /ap/w.yaml}\n"
	for _, c := range []struct{ recipe, source string }{
		{
			common + "backend: {type: trtllm, numa_cpu_bind: true}\n" +
				"resources: {gpu_type: h100, gpus_per_node: 4, agg_nodes: 1, agg_workers: 1}\n", "backend.numa_cpu_bind",
		},
		{
			common + "schema: 2\nengine: {type: trtllm, numa_cpu_bind: true}\n" +
				"resources: {gpu_type: h100, gpus_per_node: 4}\nroles: {agg: {nodes: 1, workers: 1}}\n", "engine.numa_cpu_bind",
		},
	} {
		p := build(t, request(t, c.recipe, Slurm))
		m := p.Mounts[slices.IndexFunc(p.Mounts, func(m Mount) bool { return m.Container == "/configs/numa_cpu_bind.sh" })]
		f := p.Files[slices.IndexFunc(p.Files, func(f File) bool { return f.Content == numaScript })]
		env := step(t, p, "agg_0").Env
		v := env[slices.IndexFunc(env, func(v Var) bool { return v.Name == "TLLM_NUMA_AWARE_WORKER_AFFINITY" })]
		if m.Source != c.source || f.Source != c.source || v.Origin != c.source {
			t.Errorf("mount %+v, file from %s, variable %+v, want %s", m, f.Source, v, c.source)
		}
		// dry-run shows mount, file and command line.
		var shown []string
		for _, s := range p.Sections() {
			for _, line := range s.Lines {
				if strings.Contains(line, "("+c.source+")") || strings.Contains(line, " bash /configs/numa_cpu_bind.sh ") {
					shown = append(shown, s.Title+": "+line)
				}
			}
		}
		want := []string{
			"MOUNTS: {run_dir}/numa_cpu_bind.sh : /configs/numa_cpu_bind.sh  (" + c.source + ")",
			"FILES: {run_dir}/numa_cpu_bind.sh  ",
			"STEP agg_0: env TLLM_NUMA_AWARE_WORKER_AFFINITY=0  (" + c.source + ")",
			"STEP agg_0: $ srun ",
		}
		if !slices.EqualFunc(shown, want, strings.HasPrefix) {
			t.Errorf("shown %q, want %q", shown, want)
		}
	}
}
