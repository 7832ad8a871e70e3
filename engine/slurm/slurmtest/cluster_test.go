// Package slurmtest starts a real Slurm cluster for tests, one for each test
// binary, and ends it with that process, however the process ends. It is for
// tests alone and knows nothing of what they run.
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

// Cluster is a running cluster of 13 nodes, gb300-T01 to -T13, each with an
// address of its own.
type Cluster struct {
	// Root is the cluster's folder; below log are the daemons' logs.
	Root string
	// Env points Slurm's commands at the cluster: NAME=VALUE, PATH included.
	Env []string
	// Source is the folder of up and down.
	Source string

	alive   *os.File // open for as long as this process lives
	own     []string // environment of up and down
	options []string // of up
}

// The two clusters that a process may have, each started when it is asked for.
var (
	usual = sync.OnceValues(func() (Cluster, error) { return start(0) })
	newer = sync.OnceValues(func() (Cluster, error) { return start(1, "--trixie", "--accounting") })
)

// conf has what the clusters have beyond the usual: a partition whose jobs take the
// nodes of others.
const conf = `PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=urgent Nodes=ALL PriorityTier=10 State=UP`

// Start gives this process's cluster, of the Slurm of Debian 12. Where none can be
// started the test is skipped: leftOut says what is then not tested.
func Start(t testing.TB, leftOut string) Cluster {
	t.Helper()
	return get(t, leftOut, usual)
}

// StartNewer gives another cluster, of a newer Slurm and with accounting.
func StartNewer(t testing.TB, leftOut string) Cluster {
	t.Helper()
	return get(t, leftOut, newer)
}

// StartOwn gives a cluster that no other test uses, to do harm to: a node that is
// silent for some seconds is down. There is one in a process.
func StartOwn(t testing.TB, leftOut string) Cluster {
	t.Helper()
	return get(t, leftOut, func() (Cluster, error) { return start(2, "--no-cgroup") })
}

func get(t testing.TB, leftOut string, once func() (Cluster, error)) Cluster {
	t.Helper()
	if why := impossible(); why != "" {
		t.Skipf("NOT TESTED: %s: %s", leftOut, why)
	}
	c, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func impossible() string {
	if testing.Short() {
		return "a Slurm cluster is started without -short only"
	}
	if os.Getuid() != 0 {
		return "a Slurm cluster with addresses for its nodes takes root"
	}
	if _, err := os.Stat("/etc/debian_version"); err != nil {
		return "the Slurm of Debian is needed"
	}
	return ""
}

func start(number int, options ...string) (Cluster, error) {
	source, err := folder()
	if err != nil {
		return Cluster{}, err
	}
	port, err := freePort(number)
	if err != nil {
		return Cluster{}, err
	}
	c := Cluster{Root: fmt.Sprintf("/tmp/slurm-test-%d-%d", os.Getpid(), number), Source: source}
	// Two clusters at once differ in folder, ports and addresses.
	own := append(os.Environ(), "SLURM_TEST_CONF="+conf, "SLURM_TEST_ROOT="+c.Root,
		fmt.Sprintf("SLURM_TEST_PORT=%d", port),
		fmt.Sprintf("SLURM_TEST_SUBNET=10.%d.%d", 64+os.Getpid()/250%60+64*number, 1+os.Getpid()%250))
	if number == 2 {
		own = append(own, "SLURM_TEST_SLURMD_TIMEOUT=10")
	}
	if c.alive, err = endWithUs(filepath.Join(source, "down"), own); err != nil {
		return Cluster{}, fmt.Errorf("watch over the test cluster: %w", err)
	}
	c.own, c.options = own, append(options, "--netns")
	out, err := c.up()
	if err != nil {
		return Cluster{}, fmt.Errorf("start a test cluster: %w", err)
	}
	c.Env = environment(own, out)
	return c, nil
}

func (c Cluster) up(more ...string) (string, error) {
	cmd := exec.Command(filepath.Join(c.Source, "up"), append(slices.Clone(c.options), more...)...)
	cmd.Env = c.own
	cmd.ExtraFiles = []*os.File{c.alive} // killed meanwhile, we are gone only once it has ended
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("up %v: %w\n%s", more, err, said.String())
	}
	return string(out), nil
}

// endWithUs starts a process that waits until this one is gone, and then runs
// down: also after a panic or a kill.
func endWithUs(down string, env []string) (alive *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// The write end stays open in this process, and in up while that runs.
	cmd := exec.Command("sh", "-c", `cat >/dev/null; exec "$0" --purge`, down)
	cmd.Stdin, cmd.Env = r, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// environment adds the lines that up prints, "export NAME=VALUE".
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

// folder is testdata/slurm of the module that the test is in.
func folder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", "slurm"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
}

// freePort finds a place for the cluster's ports: three from the first one (its
// nodes have addresses of their own).
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
	return 0, fmt.Errorf("no three free ports for a cluster")
}
