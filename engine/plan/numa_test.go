package plan

import (
	"slices"
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
