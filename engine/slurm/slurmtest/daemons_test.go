package slurmtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// LoseNode kills a node: its slurmd and all processes on it.
func (c Cluster) LoseNode(name string) error {
	pid, err := c.daemon("slurmd." + name)
	if err != nil {
		return err
	}
	host := func(pid string) string {
		ns, err := os.Readlink("/proc/" + pid + "/ns/uts")
		if err != nil {
			return "" // the process has ended
		}
		return ns
	}
	lost := host(strconv.Itoa(pid))
	if lost == "" || lost == host("self") {
		return fmt.Errorf("lose node %s: its slurmd has no host name of its own", name)
	}
	for { // repeat, since a process may have started another one
		found := false
		dirs, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			return err
		}
		for _, d := range dirs {
			pid, err := strconv.Atoi(filepath.Base(d))
			if err != nil || host(filepath.Base(d)) != lost || !alive(pid) {
				continue
			}
			found = true
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("lose node %s: %w", name, err)
			}
		}
		if !found {
			return nil
		}
		<-time.After(10 * time.Millisecond)
	}
}

// StopController stops slurmctld. Jobs and their steps continue without it.
func (c Cluster) StopController() error {
	pid, err := c.daemon("slurmctld")
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop slurmctld: %w", err)
	}
	for deadline := time.Now().Add(30 * time.Second); alive(pid); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("stop slurmctld: still running after 30 s")
		}
	}
	return nil
}

// StartController restarts slurmctld with its state.
func (c Cluster) StartController() error {
	_, err := c.up("--controller")
	return err
}

// cgroups reports whether Slurm tracks the processes of this cluster with cgroups. Only one
// cluster on a machine can.
func (c Cluster) cgroups() bool {
	conf, err := os.ReadFile(filepath.Join(c.Root, "etc", "slurm.conf"))
	return err == nil && strings.Contains(string(conf), "proctrack/cgroup")
}

// daemon returns the pid of a daemon of the cluster.
func (c Cluster) daemon(name string) (int, error) {
	data, err := os.ReadFile(filepath.Join(c.Root, "run", name+".pid"))
	if err != nil {
		return 0, err
	}
	text, _, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	pid, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("pid of %s: %w", name, err)
	}
	return pid, nil
}

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest != "" && rest[0] != 'Z' && rest[0] != 'X'
}
