// Package slurmtest tests this program on real Slurm clusters. The test binary starts
// them when they are first used and stops them when it ends, even if it is killed.
package slurmtest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Cluster is a running cluster of 13 nodes, gb300-T01 to -T13, each with its own address.
type Cluster struct {
	// Root is the directory of the cluster. Its subdirectory log has the logs of the daemons.
	Root string
	// Env is the environment for the Slurm commands of the cluster: NAME=VALUE.
	Env []string
	// Source is the directory of the scripts up and down.
	Source string

	alive     *os.File // open until this process ends
	scriptEnv []string // environment of up and down
	options   []string // options of up
}

// The clusters that several tests use, started on first use.
var (
	defaultCluster = sync.OnceValues(func() (Cluster, error) { return start(0) })
	newerCluster   = sync.OnceValues(func() (Cluster, error) { return start(1, "--trixie", "--accounting") })
)

// conf adds a partition whose jobs preempt those of the others.
const conf = `PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=urgent Nodes=ALL PriorityTier=10 State=UP`

// Start returns the default cluster, with the Slurm of Debian 12. It skips the test if no
// cluster can be started; skipped names what is not tested then.
func Start(t testing.TB, skipped string) Cluster {
	t.Helper()
	return get(t, skipped, defaultCluster)
}

// StartNewer returns a cluster with a newer Slurm and with accounting.
func StartNewer(t testing.TB, skipped string) Cluster {
	t.Helper()
	return get(t, skipped, newerCluster)
}

// StartOwn returns a cluster that no other test uses, for faults of the cluster itself. A node
// that does not respond for 10 s is down. It must be called only once.
func StartOwn(t testing.TB, skipped string) Cluster {
	t.Helper()
	return get(t, skipped, func() (Cluster, error) { return start(2, "--no-cgroup") })
}

func get(t testing.TB, skipped string, once func() (Cluster, error)) Cluster {
	t.Helper()
	if why := unavailable(); why != "" {
		t.Skipf("NOT TESTED: %s: %s", skipped, why)
	}
	c, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// unavailable returns why no cluster can be started; empty if one can.
func unavailable() string {
	if testing.Short() {
		return "Slurm tests do not run with -short"
	}
	if os.Getuid() != 0 {
		return "a Slurm cluster with node addresses requires root"
	}
	if _, err := os.Stat("/etc/debian_version"); err != nil {
		return "the Slurm packages of Debian are required"
	}
	return ""
}

func start(number int, options ...string) (Cluster, error) {
	source, err := scriptDir()
	if err != nil {
		return Cluster{}, err
	}
	port, err := freePort(number)
	if err != nil {
		return Cluster{}, err
	}
	c := Cluster{Root: fmt.Sprintf("/tmp/slurm-test-%d-%d", os.Getpid(), number), Source: source}
	// Clusters differ in directory, ports and addresses.
	scriptEnv := append(os.Environ(), "SLURM_TEST_CONF="+conf, "SLURM_TEST_ROOT="+c.Root,
		fmt.Sprintf("SLURM_TEST_PORT=%d", port),
		fmt.Sprintf("SLURM_TEST_SUBNET=10.%d.%d", 64+os.Getpid()/250%60+64*number, 1+os.Getpid()%250))
	if number == 2 {
		scriptEnv = append(scriptEnv, "SLURM_TEST_SLURMD_TIMEOUT=10")
	}
	if c.alive, err = stopAtExit(filepath.Join(source, "down"), scriptEnv); err != nil {
		return Cluster{}, fmt.Errorf("start the watchdog of the test cluster: %w", err)
	}
	c.scriptEnv, c.options = scriptEnv, append(options, "--netns")
	out, err := c.up()
	if err != nil {
		return Cluster{}, fmt.Errorf("start the test cluster: %w", err)
	}
	c.Env = environment(scriptEnv, out)
	return c, nil
}

func (c Cluster) up(more ...string) (string, error) {
	cmd := exec.Command(filepath.Join(c.Source, "up"), append(slices.Clone(c.options), more...)...)
	cmd.Env = c.scriptEnv
	cmd.ExtraFiles = []*os.File{c.alive} // so that down runs only after up has ended
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("up %v: %w\n%s", more, err, stderr.String())
	}
	return string(out), nil
}

// stopAtExit starts a process that runs down when this process has ended, also after a panic
// or a kill.
func stopAtExit(down string, env []string) (alive *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// The write end is open in this process and, while it is running, in up.
	cmd := exec.Command("sh", "-c", `cat >/dev/null; exec "$0" --purge`, down)
	cmd.Stdin, cmd.Env = r, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// environment returns env with the variables in the output of up, lines "export NAME=VALUE".
func environment(env []string, printed string) []string {
	values := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	for sc := bufio.NewScanner(strings.NewReader(printed)); sc.Scan(); {
		if name, value, ok := strings.Cut(strings.TrimPrefix(sc.Text(), "export "), "="); ok {
			values[name] = os.Expand(value, func(n string) string { return values[n] })
		}
	}
	out := make([]string, 0, len(values))
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	return out
}

// scriptDir returns the path of testdata/slurm in this module.
func scriptDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", "slurm"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the directory of the test")
		}
		dir = filepath.Dir(dir)
	}
}

// freePort returns the first of three consecutive free ports. The nodes need none, since they
// have their own addresses.
func freePort(number int) (int, error) {
	for port := 17000 + os.Getpid()%300*20 + 10*number; port < 32000; port += 10 {
		free := true
		for i := range 3 {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+i))
			if err != nil {
				free = false
				break
			}
			if err := l.Close(); err != nil {
				return 0, err
			}
		}
		if free {
			return port, nil
		}
	}
	return 0, errors.New("no three consecutive free ports")
}
