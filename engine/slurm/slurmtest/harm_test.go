package slurmtest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What is done to the cluster itself, on one that no other test uses.
func TestHarm(t *testing.T) {
	t.Parallel()
	small := smallDisk(t)
	c := StartOwn(t, "faults: a full log dir, a lost node, the controller away")
	t.Run("log dir full", func(t *testing.T) { logDirFull(t, c, small) })
	t.Run("controller away", func(t *testing.T) { controllerAway(t, c) })
	t.Run("node lost", func(t *testing.T) { loseNode(t, c) })
}

// A node goes with everything that runs there.
func loseNode(t *testing.T, c Cluster) {
	s := newSiteOn(t, c)
	rec := s.apply(small("--set", "environment.STANDIN_FAULT=client:hang")...)
	s.until(rec.ID, "ready")
	nodes := strings.Fields(s.slurm("scontrol", "show", "hostnames", s.slurm("squeue", "-h", "-j", rec.ID, "-o", "%N")))
	began := time.Now()
	if err := c.LoseNode(nodes[1]); err != nil {
		t.Fatal(err)
	}
	last, code := s.outcome("node lost: its slurmd and all that ran there killed", rec, &began)
	if code != 1 || last.State != "failed" || last.ExitCode == nil || *last.ExitCode != 1 ||
		!strings.Contains(last.Message, nodes[1]) {
		t.Errorf("watch: exit %d, %+v, want %s to be named", code, last, nodes[1])
	}
}

// Without its controller a run goes on and ends well; meanwhile it is unknown,
// never ended, and can't be cancelled.
func controllerAway(t *testing.T, c Cluster) {
	s := newSiteOn(t, c)
	s.longer(35)
	rec := s.apply(small()...)
	s.replaying(rec)
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
	// Longer than any command waits for an answer.
	for deadline := began.Add(20 * time.Second); time.Now().Before(deadline); {
		last, _ := s.watch(rec.ID, func(st status) bool { return st.State != "" && st.Queue != nil })
		if last.State != "unknown" {
			t.Errorf("while the controller is away the run is %+v", last)
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
		fault: "controller away for 20 s", state: "unknown, then done", code: code, noticed: noticed,
		job: s.ended(rec.ID), left: len(s.processes(rec.ID)),
	})
}

// smallDisk is a folder with little room, empty where none can be made. The nodes of
// a cluster that is started later have it too.
func smallDisk(t *testing.T) string {
	t.Helper()
	if impossible() != "" {
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

// A log dir that is full fails the run, and says so.
func logDirFull(t *testing.T, c Cluster, disk string) {
	if disk == "" {
		t.Skip("NOT TESTED: fault: the log dir is full: there is no small disk")
	}
	s := newSiteOn(t, c)
	s.longer(20)
	rec := s.apply(small("--output-dir", disk)...)
	s.replaying(rec)
	began := time.Now()
	fill(t, filepath.Join(disk, "ballast"))
	last, code := s.outcome("log dir full", rec, &began)
	if code != 1 || last.State != "failed" ||
		!strings.Contains(last.Message, "the file system of "+rec.Dir+"/logs is full") {
		t.Errorf("watch: exit %d, %+v", code, last)
	}
}

// fill takes all that is left of a file system.
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
	_ = f.Close() // what it held back has no room either
}
