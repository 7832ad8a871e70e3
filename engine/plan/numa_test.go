package plan

import (
	"os"
	"os/exec"
	"path/filepath"
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
		mounted := slices.ContainsFunc(p.Mounts, func(m Mount) bool { return m.Container == "/configs/numa_cpu_bind.sh" })
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

func TestNUMAScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/nvidia-smi", "#!/bin/sh\necho 00000009:01:00.0\n")
	write("sys/bus/pci/devices/0009:01:00.0/numa_node", "1\n")
	write("sys/devices/system/node/node1/cpulist", "0\n")
	fake := []string{"PATH=" + dir + "/bin:" + os.Getenv("PATH"), "SYSFS_ROOT=" + dir + "/sys"}
	host := []string{"PATH=" + os.Getenv("PATH")}
	show := []string{"sh", "-c", "grep Cpus_allowed_list /proc/self/status"}
	for _, c := range []struct {
		name, want string
		env, args  []string
		exit       int
	}{
		{"bound", "Cpus_allowed_list:\t0\n", append(slices.Clone(fake), "SLURM_LOCALID=0"), show, 0},
		{"no GPU", "not bound", append(slices.Clone(host), "SLURM_LOCALID=0", "SYSFS_ROOT="+dir), []string{"true"}, 0},
		{
			"no GPU, memory", "memory can't be bound", append(slices.Clone(host), "SLURM_LOCALID=0", "SYSFS_ROOT="+dir),
			[]string{"--bind-memory", "true"},
			3,
		},
		{"no rank", "SLURM_LOCALID is not set", host, []string{"true"}, 2},
		{
			"masked", "no entry in CUDA_VISIBLE_DEVICES",
			append(slices.Clone(host), "SLURM_LOCALID=2", "CUDA_VISIBLE_DEVICES=0,1"),
			[]string{"true"},
			2,
		},
	} {
		cmd := exec.Command("bash", append([]string{"numa_cpu_bind.sh"}, c.args...)...)
		cmd.Env = c.env
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.exit || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: exit code %d, output %s; want %d, %q", c.name, code, out, c.exit, c.want)
		}
	}
}
