package plan

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// node is a machine for the script: directories that stand for /sys and for the programs it calls.
type node struct {
	t   *testing.T
	dir string
}

// newNode returns a machine with GPUs at PCI addresses, by the names that nvidia-smi takes.
func newNode(t *testing.T, gpus map[string]string) node {
	t.Helper()
	n := node{t, t.TempDir()}
	smi := "#!/bin/sh\n[ \"$1 $2 $3\" = '--query-gpu=pci.bus_id --format=csv,noheader -i' ] || exit 9\ncase $4 in\n"
	for name, address := range gpus {
		smi += fmt.Sprintf("'%s') echo '%s';;\n", name, address)
	}
	n.write("bin/nvidia-smi", smi+"*) echo \"No devices were found\"; exit 6;;\nesac\n")
	n.write("bin/numactl", "#!/bin/sh\nprintf '%s\\n' \"$@\" >"+n.dir+"/numactl\nshift\nexec \"$@\"\n")
	return n
}

func (n node) write(name, text string) {
	n.t.Helper()
	path := filepath.Join(n.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		n.t.Fatal(err)
	}
}

func (n node) device(address, numaNode string) {
	n.write("sys/bus/pci/devices/"+address+"/numa_node", numaNode+"\n")
}

func (n node) cpus(numaNode int, list string) {
	n.write(fmt.Sprintf("sys/devices/system/node/node%d/cpulist", numaNode), list+"\n")
}

// run runs a command with the script, and returns the output and the exit code. sys replaces /sys.
func (n node) run(sys string, env []string, args ...string) (out string, code int) {
	n.t.Helper()
	cmd := exec.Command("bash", append([]string{"numa_cpu_bind.sh"}, args...)...)
	cmd.Env = append([]string{"PATH=" + n.dir + "/bin:" + os.Getenv("PATH"), "SYSFS_ROOT=" + sys}, env...)
	data, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		n.t.Fatal(err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}

const allowedList = "Cpus_allowed_list:"

var showCPUs = []string{"grep", allowedList, "/proc/self/status"}

// cpusIn returns the CPUs that a process printed with showCPUs.
func cpusIn(t *testing.T, out string) []int {
	t.Helper()
	_, list, found := strings.Cut(out, allowedList)
	if !found {
		t.Fatalf("no %s in %s", allowedList, out)
	}
	list, _, _ = strings.Cut(list, "\n")
	return parseCPUs(t, list)
}

// parseCPUs parses a list such as 0-3,8.
func parseCPUs(t *testing.T, list string) []int {
	t.Helper()
	var out []int
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(last)
		}
		if err != nil {
			t.Fatalf("CPUs %q: %v", list, err)
		}
		for cpu := a; cpu <= b; cpu++ {
			out = append(out, cpu)
		}
	}
	return out
}

// ownCPUs returns the CPUs that this process may use.
func ownCPUs(t *testing.T) []int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	return cpusIn(t, string(data))
}

// Ranks run on the CPUs of their GPU's NUMA node, with memory of that node if asked for.
func TestNUMAScript(t *testing.T) {
	t.Parallel()
	own := ownCPUs(t)
	first, last := strconv.Itoa(own[0]), strconv.Itoa(own[len(own)-1])
	const uuid = "GPU-6ef2e8b2-0c1f-4ac5-8f1e-3d5e2f7a9b10"
	n := newNode(t, map[string]string{
		"0": "00000008:01:00.0", "1": "00000009:01:00.0", "2": "0000000A:C1:00.0", "3": "00000000:3B:00.0",
		"4": "00000000:3C:00.0", "5": "00000000:3D:00.0", "6": "00000000:3E:00.0", "7": "ERR!", uuid: "00000009:01:00.0",
	})
	n.device("0008:01:00.0", "0")
	n.device("0009:01:00.0", "1")
	n.device("000a:c1:00.0", "1")
	n.device("0000:3b:00.0", "-1")
	n.device("0000:3c:00.0", "2")
	n.device("0000:3d:00.0", "3")
	n.cpus(0, first)
	n.cpus(1, last)
	n.cpus(2, " ")
	n.cpus(3, "4094")
	for _, c := range []struct {
		rank, visible string
		note          string // of the script
		cpu, numaNode string // empty: unbound
		exit          int    // other than 0: no GPU for the rank
	}{
		{rank: "0", note: "rank 0: GPU 0 (0008:01:00.0) is on NUMA node 0: CPUs " + first, cpu: first, numaNode: "0"},
		{rank: "1", note: "GPU 1 (0009:01:00.0) is on NUMA node 1: CPUs " + last, cpu: last, numaNode: "1"},
		{rank: "2", note: "GPU 2 (000a:c1:00.0) is on NUMA node 1", cpu: last, numaNode: "1"},
		{rank: "0", visible: "2,0", note: "GPU 2 (000a:c1:00.0)", cpu: last, numaNode: "1"},
		{rank: "1", visible: "2, 0", note: "GPU 0 (0008:01:00.0)", cpu: first, numaNode: "0"},
		{rank: "1", visible: "0 ,\t1 ,2", note: "GPU 1 (0009:01:00.0)", cpu: last, numaNode: "1"},
		{rank: "1", visible: "0," + uuid, note: "GPU " + uuid + " (0009:01:00.0)", cpu: last, numaNode: "1"},
		{rank: "08", visible: "1,1,1,1,1,1,1,1,0", note: "GPU 0 (0008:01:00.0)", cpu: first, numaNode: "0"},
		{rank: "3", note: "NUMA node of GPU 3 (0000:3b:00.0) is unknown"},
		{rank: "4", note: "NUMA node 2 of GPU 4 has no CPUs"},
		{rank: "5", note: "CPUs 4094 of NUMA node 3 of GPU 5 can't be used"},
		{rank: "6", note: "NUMA node of GPU 6 (0000:3e:00.0) is unknown"},
		{rank: "7", note: "GPU 7 has no PCI address"},
		{rank: "8", note: "nvidia-smi failed for GPU 8"},
		{rank: "0", visible: "MIG-1", note: "nvidia-smi failed for GPU MIG-1"},
		{rank: "2", visible: "0,1", note: "no entry in CUDA_VISIBLE_DEVICES=0,1", exit: 2},
		{rank: "1", visible: "0, ,2", note: "no entry in CUDA_VISIBLE_DEVICES=0, ,2", exit: 2},
		{rank: "", note: "SLURM_LOCALID is not set", exit: 2},
		{rank: "x", note: "SLURM_LOCALID is not set", exit: 2},
	} {
		env := []string{"SLURM_LOCALID=" + c.rank, "CUDA_VISIBLE_DEVICES=" + c.visible}
		out, code := n.run(n.dir+"/sys", env, showCPUs...)
		switch {
		case code != c.exit || !strings.Contains(out, c.note):
			t.Errorf("%+v: exit code %d, output %s", c, code, out)
		case c.exit > 0:
			if strings.Contains(out, allowedList) {
				t.Errorf("%+v: the command was started: %s", c, out)
			}
		case c.cpu != "":
			if got := cpusIn(t, out); !slices.Equal(got, parseCPUs(t, c.cpu)) {
				t.Errorf("%+v: CPUs %v", c, got)
			}
		case !strings.Contains(out, "; not bound\n") || !slices.Equal(cpusIn(t, out), own):
			t.Errorf("%+v: output %s, want CPUs %v", c, out, own)
		}
		n.checkMemory(env, c.cpu, c.numaNode, c.exit)
	}
}

// checkMemory checks that memory is bound to a NUMA node, or else that the command is not started.
func (n node) checkMemory(env []string, cpu, numaNode string, exit int) {
	n.t.Helper()
	if err := os.RemoveAll(n.dir + "/numactl"); err != nil {
		n.t.Fatal(err)
	}
	out, code := n.run(n.dir+"/sys", env, slices.Concat([]string{"--bind-memory"}, showCPUs, []string{"/dev/null"})...)
	args, err := os.ReadFile(n.dir + "/numactl")
	if numaNode != "" {
		want := "--membind=" + numaNode + "\n" + strings.Join(showCPUs, "\n") + "\n/dev/null\n"
		if err != nil || code != 0 || string(args) != want {
			n.t.Errorf("%v: exit code %d, output %s, numactl %q, %v, want %q", env, code, out, args, err, want)
		}
		if got := "/proc/self/status:" + allowedList; !strings.Contains(out, got+"\t"+cpu+"\n") {
			n.t.Errorf("%v: output %s, want CPUs %s", env, out, cpu)
		}
		return
	}
	want := 3
	if exit > 0 { // with or without memory
		want = exit
	}
	if err == nil || code != want || exit == 0 && !strings.Contains(out, "; memory can't be bound\n") {
		n.t.Errorf("%v: exit code %d, want %d, output %s, numactl %q", env, code, want, out, args)
	}
}

// The exit code and the words of the command are its own. Without a command, nvidia-smi or numactl, the
// script says so.
func TestNUMAScriptPrograms(t *testing.T) {
	t.Parallel()
	own := strconv.Itoa(ownCPUs(t)[0])
	n := newNode(t, map[string]string{"0": "00000008:01:00.0"})
	n.device("0008:01:00.0", "0")
	n.cpus(0, own)
	rank := []string{"SLURM_LOCALID=0"}
	const words = `printf '<%s>' "$@"; exit 7`
	for _, c := range []struct {
		remove, want string
		args         []string
		exit         int
	}{
		{"", "<a b><><*>", []string{"sh", "-c", words, "sh", "a b", "", "*"}, 7},
		{"", "<a b><><*>", []string{"--bind-memory", "sh", "-c", words, "sh", "a b", "", "*"}, 7},
		{"", "<--bind-memory>", []string{"sh", "-c", words, "sh", "--bind-memory"}, 7},
		{"", "no command", nil, 2},
		{"", "no command", []string{"--bind-memory"}, 2},
		{"nvidia-smi", "nvidia-smi failed for GPU 0; not bound", []string{"true"}, 0},
		{"nvidia-smi", "nvidia-smi failed for GPU 0; memory can't be bound", []string{"--bind-memory", "true"}, 3},
	} {
		if c.remove != "" { // a program that is there, but fails as one that is not
			n.write("bin/"+c.remove, "#!/bin/sh\nexit 127\n")
		}
		if out, code := n.run(n.dir+"/sys", rank, c.args...); code != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%q: exit code %d, output %s", c.args, code, out)
		}
	}
}

// Without numactl, a command that needs it is not started.
func TestNUMAScriptWithoutNumactl(t *testing.T) {
	t.Parallel()
	n := newNode(t, map[string]string{"0": "00000008:01:00.0"})
	n.device("0008:01:00.0", "0")
	n.cpus(0, strconv.Itoa(ownCPUs(t)[0]))
	if err := os.Remove(n.dir + "/bin/numactl"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bash", "cat", "tr", "taskset", "true"} { // those that the script calls
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip("NOT TESTED: ", err)
		}
		if err := os.Symlink(path, n.dir+"/bin/"+name); err != nil {
			t.Fatal(err)
		}
	}
	n.write("bin/nvidia-smi", "#!/bin/bash\necho 00000008:01:00.0\n")
	cmd := exec.Command("bash", "numa_cpu_bind.sh", "--bind-memory", "true")
	cmd.Env = []string{"PATH=" + n.dir + "/bin", "SYSFS_ROOT=" + n.dir + "/sys", "SLURM_LOCALID=0"}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	const want = "numactl not found; memory can't be bound"
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(string(out), want) {
		t.Errorf("exit code %d, output %s", code, out)
	}
}

// On this machine, a rank of a device runs on the CPUs of its NUMA node as far as this process may use them.
func TestNUMAScriptOnThisMachine(t *testing.T) {
	t.Parallel()
	own := ownCPUs(t)
	devices, err := filepath.Glob("/sys/bus/pci/devices/*/numa_node")
	if err != nil {
		t.Fatal(err)
	}
	known, unknown := 0, 0
	for _, path := range devices {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		address, numaNode := filepath.Base(filepath.Dir(path)), strings.TrimSpace(string(text))
		n := newNode(t, map[string]string{"0": "0000" + strings.ToUpper(address)})
		out, code := n.run("/sys", []string{"SLURM_LOCALID=0"}, showCPUs...)
		if numaNode == "-1" {
			unknown++
			if code != 0 || !strings.Contains(out, "("+address+") is unknown; not bound") || !slices.Equal(cpusIn(t, out), own) {
				t.Errorf("%s: exit code %d, output %s", address, code, out)
			}
			continue
		}
		known++
		checkNode(t, address, "/sys/devices/system/node/node"+numaNode+"/cpulist", own, out, code)
	}
	// The NUMA nodes of this machine, with devices that are not.
	nodes, err := filepath.Glob("/sys/devices/system/node/node*/cpulist")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range nodes {
		n := newNode(t, map[string]string{"0": "00000001:0A:00.0"})
		n.device("0001:0a:00.0", strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "node"))
		if err := os.Symlink("/sys/devices", n.dir+"/sys/devices"); err != nil {
			t.Fatal(err)
		}
		out, code := n.run(n.dir+"/sys", []string{"SLURM_LOCALID=0"}, showCPUs...)
		checkNode(t, "a device of "+path, path, own, out, code)
	}
	t.Logf("devices with a NUMA node: %d, without: %d; NUMA nodes: %d", known, unknown, len(nodes))
	if len(devices)+len(nodes) == 0 {
		t.Skip("NOT TESTED: this machine shows no PCI devices and no NUMA nodes")
	}
}

// checkNode checks that a command ran on the CPUs in a file.
func checkNode(t *testing.T, what, file string, own []int, out string, code int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	if strings.TrimSpace(string(text)) != "" { // a node may have memory only
		want = slices.DeleteFunc(parseCPUs(t, string(text)), func(cpu int) bool { return !slices.Contains(own, cpu) })
	}
	bound := len(want) > 0
	if !bound {
		want = own
	}
	if code != 0 || strings.Contains(out, "not bound") == bound || !slices.Equal(cpusIn(t, out), want) {
		t.Errorf("%s: exit code %d, output %s, want CPUs %v", what, code, out, want)
	}
}
