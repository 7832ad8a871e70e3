package slurmtest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Each fault leads to the right state, exit code, message and Slurm state, and leaves no process.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fault string
		set         []string
		state       string
		code        int
		says        []string
	}{
		{
			"worker exits 1", "prefill_0:exit1", nil, "failed", 1,
			[]string{"prefill_0 exited with code 1 before the run's end; log: CUDA error: an illegal memory access"},
		},
		{
			"worker exits 0", "decode_1:exit0,client:hang", nil, "failed", 1,
			[]string{"decode_0 exited with code", "before the run's end"},
		},
		{
			"worker hangs before it is ready", "decode_1:never",
			[]string{"health_check.max_attempts=4"},
			"failed", 1,
			[]string{"frontend_0 was not ready within 4 s", "1 of 1 prefill and 0 of 1 decode"},
		},
		{
			"health never complete", "frontend_0:unhealthy",
			[]string{"health_check.max_attempts=4"},
			"failed", 1,
			[]string{"frontend_0 was not ready within 4 s", "status 503"},
		},
		{"frontend dies mid-phase", "frontend_0:exit1", nil, "failed", 1, []string{"frontend_0 exited with code 1"}},
		{
			"engine dies, its launcher does not", "prefill_0:fatal,client:hang", nil, "failed", 1,
			[]string{"prefill_0 has failed", "Rank1 Task exit code: 134"},
		},
		{"client fails", "client:exit7", nil, "failed", 7, []string{"the client exited with code 7", "no trajectories"}},
		{
			"worker ignores SIGTERM", "prefill_0:ignore-term,client:exit7", nil, "failed", 7,
			[]string{"the client exited with code 7"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "fault: "+c.name)
			more := twoNodes("--set", "environment.STANDIN_FAULT="+c.fault)
			for _, e := range c.set {
				more = append(more, "--set", e)
			}
			rec := s.apply(more...)
			last, code := s.outcome(c.name, rec, nil)
			if code != 1 || last.State != c.state || last.ExitCode == nil || *last.ExitCode != c.code {
				t.Errorf("watch: exit %d, %+v", code, last)
			}
			for _, words := range c.says {
				if !strings.Contains(last.Message, words) {
					t.Errorf("message %q lacks %q", last.Message, words)
				}
			}
			if state := s.awaitJobEnd(rec.ID); state != "FAILED" {
				t.Errorf("Slurm state %s", state)
			}
		})
	}
}

// Stops from outside while the client hangs.
func TestStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   []string
		stop  func(s *site, rec submitted)
		state string
		says  string
	}{
		{"cancel", nil, func(s *site, rec submitted) {
			cmd := s.command(context.WithoutCancel(s.t.Context()), "cancel", rec.ID, "--yes")
			if err := cmd.Start(); err != nil {
				s.t.Fatal(err)
			}
			s.t.Cleanup(func() {
				if err := cmd.Wait(); err != nil {
					s.t.Errorf("cancel: %v", err)
				}
			})
		}, "cancelled", "cancelled by "},
		{"scancel", nil, func(s *site, rec submitted) { s.slurm("scancel", rec.ID) }, "cancelled", "Slurm is ending the job"},
		{"scancel of the batch step", nil, func(s *site, rec submitted) {
			s.slurm("scancel", "--batch", "--signal=TERM", rec.ID)
		}, "cancelled", "TERM"},
		{
			"time limit",
			[]string{"slurm.time_limit=00:02:00"},
			func(*site, submitted) {}, "timeout",
			"about to reach its time limit",
		},
		{"node down", nil, func(s *site, rec submitted) {
			nodes := strings.Fields(s.slurm("scontrol", "show", "hostnames", s.slurm("squeue", "-h", "-j", rec.ID, "-o", "%N")))
			node := nodes[1] // the batch script runs on node 0
			s.slurm("scontrol", "update", "nodename="+node, "state=down", "reason=test")
			s.t.Cleanup(func() { // fails if the node is already up again
				cmd := exec.Command(s.c.Root+"/bin/scontrol", "update", "nodename="+node, "state=resume")
				cmd.Env = s.c.Env
				_ = cmd.Run()
			})
		}, "failed", "of the allocation "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "stop: "+c.name)
			more := twoNodes("--set", "environment.STANDIN_FAULT=client:hang")
			for _, e := range c.set {
				more = append(more, "--set", e)
			}
			rec := s.apply(more...)
			s.until(rec.ID, "ready", c.state) // Slurm may announce the time limit a minute early
			began := time.Now()
			c.stop(s, rec)
			last, code := s.outcome(c.name, rec, &began)
			if code != 1 || last.State != c.state || last.ExitCode == nil || *last.ExitCode == 0 ||
				!strings.Contains(last.Message, c.says) {
				t.Errorf("watch: exit %d, %+v, want %s: %s", code, last, c.state, c.says)
			}
			if state := s.awaitJobEnd(rec.ID); state == "COMPLETED" {
				t.Errorf("Slurm state %s", state)
			}
		})
	}
}

// A pending job shows the reason and can be cancelled.
func TestCancelPendingJob(t *testing.T) {
	t.Parallel()
	s := newSite(t, "a pending job")
	rec := s.apply(twoNodes("--set", "sbatch_directives.begin=now+1hour")...)
	last, _ := s.watch(rec.ID, func(st status) bool { return st.Queue != nil && st.Queue.Reason != "" })
	if last.State != "pending" || last.Queue.State != "PENDING" || last.Queue.Reason != "BeginTime" ||
		!strings.Contains(last.Message, "expected to start") {
		t.Errorf("got %+v %+v", last, last.Queue)
	}
	if out := s.want(0, "cancel", rec.ID, "--yes"); !strings.Contains(out, "cancelled") {
		t.Errorf("cancel: %s", out)
	}
	if state := s.awaitJobEnd(rec.ID); state != "CANCELLED" {
		t.Errorf("Slurm state %s", state)
	}
	if last, code := s.watch(rec.ID, nil); code != 1 || last.State != "cancelled" {
		t.Errorf("watch: exit %d, %+v", code, last)
	}
}

// A hanging client is reported after the configured time; the run continues.
func TestClientHangs(t *testing.T) {
	t.Parallel()
	s := newSite(t, "fault: the client hangs")
	s.env = append(s.env, "AGENTPERF_TUI_STALL_SECONDS=3")
	rec := s.apply(twoNodes("--set", "environment.STANDIN_FAULT=client:hang")...)
	last, _ := s.watch(rec.ID, func(st status) bool { return st.Stalled != "" })
	noticed := time.Now()
	info, err := os.Stat(rec.Dir + "/logs/received/fault")
	if err != nil {
		t.Fatal(err)
	}
	if last.Stalled == "" || last.ExitCode != nil {
		t.Errorf("got %+v", last)
	}
	term := s.workbench()
	s.openRun(term, rec.ID)
	awaitState(term, "STALLED")
	s.want(0, "cancel", rec.ID, "--yes")
	job := s.awaitJobEnd(rec.ID)
	table.add(s, row{
		fault: "client hangs, reported after 3 s", state: "stalled, then cancelled", code: 1,
		noticed: noticed.Sub(info.ModTime()), job: job, left: len(s.processes(rec.ID)),
	})
}
