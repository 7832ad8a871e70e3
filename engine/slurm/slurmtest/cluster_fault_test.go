package slurmtest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Faults of the cluster itself, on a cluster that no other test uses.
func TestClusterFaults(t *testing.T) {
	t.Parallel()
	small := smallDisk(t)
	c := StartOwn(t, "faults: full log directory, lost node, controller outage")
	t.Run("log directory full", func(t *testing.T) { logDirFull(t, c, small) })
	t.Run("controller outage", func(t *testing.T) { controllerOutage(t, c) })
	t.Run("node lost", func(t *testing.T) { loseNode(t, c) })
}

// A run fails if a node is lost with everything on it.
func loseNode(t *testing.T, c Cluster) {
	s := newSiteOn(t, c)
	rec := s.apply(twoNodes("--set", "environment.STANDIN_FAULT=client:hang")...)
	s.until(rec.ID, "ready")
	nodes := strings.Fields(s.slurm("scontrol", "show", "hostnames", s.slurm("squeue", "-h", "-j", rec.ID, "-o", "%N")))
	began := time.Now()
	if err := c.LoseNode(nodes[1]); err != nil {
		t.Fatal(err)
	}
	last, code := s.outcome("node lost: its slurmd and all processes on it killed", rec, &began)
	if code != 1 || last.State != "failed" || last.ExitCode == nil || *last.ExitCode != 1 ||
		!strings.Contains(last.Message, nodes[1]) {
		t.Errorf("watch: exit %d, %+v, want %s to be named", code, last, nodes[1])
	}
}

// Without the controller a run continues and completes. Meanwhile its state is unknown and it
// can't be cancelled.
func controllerOutage(t *testing.T, c Cluster) {
	s := newSiteOn(t, c)
	s.setPhaseSeconds(35)
	rec := s.apply(twoNodes()...)
	s.awaitReplay(rec)
	began := time.Now()
	if err := c.StopController(); err != nil {
		t.Fatal(err)
	}
	last, _ := s.watch(rec.ID, func(st status) bool { return st.State == "unknown" })
	noticed := time.Since(began)
	if last.State != "unknown" || last.Queue == nil || last.Queue.Error == "" ||
		!strings.Contains(last.Message, "last answered") || !strings.Contains(last.Message, "last activity") {
		t.Errorf("got %+v %+v", last, last.Queue)
	}
	if _, errs, code := s.run("cancel", rec.ID, "--yes"); code != 1 || !strings.Contains(errs, "nothing was cancelled") {
		t.Errorf("cancel: exit %d %s", code, errs)
	}
	if out := s.want(0, "runs"); !strings.Contains(out, "unknown") {
		t.Errorf("runs:\n%s", out)
	}
	// Longer than the time limit of any command.
	for deadline := began.Add(20 * time.Second); time.Now().Before(deadline); {
		last, _ := s.watch(rec.ID, func(st status) bool { return st.State != "" && st.Queue != nil })
		if last.State != "unknown" {
			t.Errorf("during the outage the run is %+v", last)
		}
	}
	if err := c.StartController(); err != nil {
		t.Fatal(err)
	}
	s.until(rec.ID, "ready", "ramp", "settling", "measuring", "post", "done")
	last, code := s.watch(rec.ID, nil)
	if code != 0 || last.State != "done" {
		t.Errorf("watch: exit %d, %+v", code, last)
	}
	table.add(s, row{
		fault: "controller outage of 20 s", state: "unknown, then done", code: code, noticed: noticed,
		job: s.awaitJobEnd(rec.ID), left: len(s.processes(rec.ID)),
	})
}

// smallDisk returns a directory on a small file system, or an empty string if it can't create
// one. It must be called before the cluster starts, whose nodes then see it.
func smallDisk(t *testing.T) string {
	t.Helper()
	if unavailable() != "" {
		return ""
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128m"); err != nil {
		t.Logf("mount a small disk: %v", err)
		return ""
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A run fails if its log directory is full, and the message says so.
func logDirFull(t *testing.T, c Cluster, disk string) {
	if disk == "" {
		t.Skip("NOT TESTED: fault: log directory full: no small disk")
	}
	s := newSiteOn(t, c)
	s.setPhaseSeconds(20)
	rec := s.apply(twoNodes("--output-dir", disk)...)
	s.awaitReplay(rec)
	began := time.Now()
	fill(t, filepath.Join(disk, "ballast"))
	last, code := s.outcome("log directory full", rec, &began)
	if code != 1 || last.State != "failed" ||
		!strings.Contains(last.Message, "the file system of "+rec.Dir+"/logs is full") {
		t.Errorf("watch: exit %d, %+v", code, last)
	}
}

// fill fills a file system.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	_ = f.Close() // writing buffered data fails too
}
