package slurmtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Each fault: the state it is called, the exit code, the words that tell, how
// Slurm calls the job's end, and that no process is left.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fault string
		set         []string
		state       string
		code        int
		says        []string
	}{
		{"worker exits 1", "prefill_0:exit1", nil, "failed", 1, []string{"prefill_0 exited with code 1", "before the run's end"}},
		{"worker exits 0", "decode_1:exit0,client:hang", nil, "failed", 1, []string{"decode_0 exited with code", "before the run's end"}},
		{"worker hangs before it is ready", "decode_1:never", []string{"health_check.max_attempts=4"}, "failed", 1, []string{"frontend_0 was not ready within 4 s", "1 of 1 prefill and 0 of 1 decode"}},
		{"frontend dies mid-phase", "frontend_0:exit1", nil, "failed", 1, []string{"frontend_0 exited with code 1"}},
		{"engine is dead and its launcher lives", "prefill_0:fatal,client:hang", nil, "failed", 1, []string{"prefill_0 is dead", "Rank1 Task exit code: 134"}},
		{"client fails", "client:exit7", nil, "failed", 7, []string{"the client exited with code 7"}},
		{"deaf worker", "prefill_0:deaf,client:exit7", nil, "failed", 7, []string{"the client exited with code 7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "fault: "+c.name)
			more := small("--set", "environment.STANDIN_FAULT="+c.fault)
			for _, e := range c.set {
				more = append(more, "--set", e)
			}
			rec := s.apply(more...)
			last, code := s.watch(rec.ID, nil)
			if code != 1 || last.State != c.state || last.ExitCode == nil || *last.ExitCode != c.code {
				t.Errorf("watch: exit %d, %+v", code, last)
			}
			for _, words := range c.says {
				if !strings.Contains(last.Message, words) {
					t.Errorf("message %q lacks %q", last.Message, words)
				}
			}
			if state := s.ended(rec.ID); state != "FAILED" {
				t.Errorf("Slurm says %s", state)
			}
		})
	}
}

// Ends that somebody asks for, while the client hangs.
func TestStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   []string
		stop  func(s *site, rec submitted)
		state string
		says  string
	}{
		{"cancel", nil, func(s *site, rec submitted) { s.want(0, "cancel", rec.ID, "--yes") }, "cancelled", "cancelled by "},
		{"scancel", nil, func(s *site, rec submitted) { s.slurm("scancel", rec.ID) }, "cancelled", "Slurm is ending the job"},
		{"scancel of the batch step", nil, func(s *site, rec submitted) { s.slurm("scancel", "--batch", "--signal=TERM", rec.ID) }, "cancelled", "TERM"},
		{"time limit", []string{"slurm.time_limit=00:02:00"}, func(*site, submitted) {}, "timeout", "the time limit of the job"},
		{"node down", nil, func(s *site, rec submitted) {
			nodes := strings.Fields(s.slurm("scontrol", "show", "hostnames", s.slurm("squeue", "-h", "-j", rec.ID, "-o", "%N")))
			node := nodes[1] // not the one of the batch script
			s.slurm("scontrol", "update", "nodename="+node, "state=down", "reason=test")
			s.t.Cleanup(func() { // refused where the node has come back by itself
				cmd := exec.Command(s.c.Root+"/bin/scontrol", "update", "nodename="+node, "state=resume")
				cmd.Env = s.c.Env
				_ = cmd.Run()
			})
		}, "failed", "of the allocation "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "stop: "+c.name)
			more := small("--set", "environment.STANDIN_FAULT=client:hang")
			for _, e := range c.set {
				more = append(more, "--set", e)
			}
			rec := s.apply(more...)
			s.until(rec.ID, "ready")
			c.stop(s, rec)
			last, code := s.watch(rec.ID, nil)
			if code != 1 || last.State != c.state || last.ExitCode == nil || *last.ExitCode == 0 || !strings.Contains(last.Message, c.says) {
				t.Errorf("watch: exit %d, %+v, want %s: %s", code, last, c.state, c.says)
			}
			if state := s.ended(rec.ID); state == "COMPLETED" {
				t.Errorf("Slurm says %s", state)
			}
		})
	}
}

// A job that waits says why, and a cancel takes it out of the queue.
func TestAWaitingJobIsCancelled(t *testing.T) {
	t.Parallel()
	s := newSite(t, "a pending job")
	rec := s.apply(small("--set", "sbatch_directives.begin=now+1hour")...)
	last, _ := s.watch(rec.ID, func(st status) bool { return st.Queue != nil && st.Queue.Reason != "" })
	if last.State != "pending" || last.Queue.State != "PENDING" || last.Queue.Reason != "BeginTime" || !strings.Contains(last.Message, "expected to start") {
		t.Errorf("got %+v %+v", last, last.Queue)
	}
	if out := s.want(0, "cancel", rec.ID, "--yes"); !strings.Contains(out, "cancelled") {
		t.Errorf("cancel says %s", out)
	}
	if state := s.ended(rec.ID); state != "CANCELLED" {
		t.Errorf("Slurm says %s", state)
	}
	if last, code := s.watch(rec.ID, nil); code != 1 || last.State != "cancelled" {
		t.Errorf("watch: exit %d, %+v", code, last)
	}
}

// jobs of this site's runs, by the folder in their comments.
func (s *site) jobs(name string) []string {
	return strings.Fields(s.slurm("squeue", "-h", "-t", "all", "--name="+name, "-o", "%A"))
}

// named gives a site's runs a name of their own.
func named(name string) []string {
	return small("--set", "name="+name, "--set", "sbatch_directives.begin=now+1hour")
}

func (s *site) argv(name string) []string {
	return append(append([]string{"apply", "r.yaml", "--yes", "--json"}, s.settings()...), named(name)...)
}

// Whatever becomes of sbatch's answer, there is one job, and it is recorded.
func TestSbatchAnswerLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		{"it fails after the submit", `[[ "$*" == *--test-only* ]] && exec $real "$@"; $real "$@" >/dev/null; echo "Socket timed out on send/recv operation" >&2; exit 1`},
		{"it prints nonsense", `[[ "$*" == *--test-only* ]] && exec $real "$@"; $real "$@" >/dev/null; echo "plugin says hello"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "sbatch's answer is lost: "+c.name)
			s.wrap("sbatch", c.script)
			name := "lost" + strconv.Itoa(len(c.name))
			rec := s.apply(named(name)...)
			if jobs := s.jobs(name); len(jobs) != 1 || jobs[0] != rec.ID {
				t.Errorf("jobs %v, recorded %s", jobs, rec.ID)
			}
			s.want(0, "cancel", rec.ID, "--yes")
		})
	}
}

// hanging starts an apply whose sbatch has queued the job and does not return, and
// waits until that is so.
func (s *site) hanging(name string) (kill func(syscall.Signal)) {
	s.t.Helper()
	s.wrap("sbatch", `[[ "$*" == *--test-only* ]] && exec $real "$@"; $real "$@" >/dev/null; exec sleep 60`)
	cmd := s.command(context.WithoutCancel(s.t.Context()), s.argv(name)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(s.jobs(name)) == 0; <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatal("no job was queued")
		}
	}
	s.wrap("sbatch", `exec $real "$@"`)
	return func(sig syscall.Signal) {
		target := cmd.Process.Pid
		if sig == syscall.SIGKILL {
			target = -target // its sbatch too
		}
		if err := syscall.Kill(target, sig); err != nil {
			s.t.Error(err)
		}
		_ = cmd.Wait() // how it ended was asked for
	}
}

// An apply that is killed leaves a held job, which the next one brings to its end
// instead of queueing a second.
func TestApplyKilledDuringSbatch(t *testing.T) {
	t.Parallel()
	s := newSite(t, "an apply is killed during sbatch")
	s.hanging("killed")(syscall.SIGKILL)
	_, errs, code := s.run(s.argv("killed")...)
	jobs := s.jobs("killed")
	if code != 1 || len(jobs) != 1 || !strings.Contains(errs, "job "+jobs[0]+" had been queued") {
		t.Fatalf("exit %d, jobs %v\n%s", code, jobs, errs)
	}
	if out := s.want(0, "runs"); !strings.Contains(out, "pending") || !strings.Contains(out, jobs[0]) {
		t.Errorf("runs:\n%s", out)
	}
	if reason := s.slurm("squeue", "-h", "-j", jobs[0], "-o", "%r"); reason == "JobHeldUser" {
		t.Error("the job is held still")
	}
	// The next one is a run of its own.
	s.want(0, s.argv("killed")...)
	if jobs := s.jobs("killed"); len(jobs) != 2 {
		t.Errorf("jobs %v", jobs)
	}
	for _, id := range s.jobs("killed") {
		s.slurm("scancel", id)
	}
}

// An apply that is interrupted takes its job back.
func TestApplyInterruptedDuringSbatch(t *testing.T) {
	t.Parallel()
	s := newSite(t, "an apply is interrupted during sbatch")
	s.hanging("interrupted")(syscall.SIGINT)
	jobs := s.jobs("interrupted")
	if len(jobs) != 1 || s.ended(jobs[0]) != "CANCELLED" {
		t.Fatalf("jobs %v", jobs)
	}
	if staged, err := filepath.Glob(s.dir + "/out/.staged/*"); err != nil || len(staged) != 0 {
		t.Errorf("left behind: %v %v", staged, err)
	}
	s.want(0, s.argv("interrupted")...)
	jobs = s.jobs("interrupted")
	if len(jobs) != 2 {
		t.Errorf("jobs %v", jobs)
	}
	s.slurm("scancel", jobs...)
}

func TestTwoAppliesAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, "two applies at once")
	codes := make(chan int)
	for range 2 {
		go func() {
			cmd := s.command(s.t.Context(), s.argv("twice")...)
			_ = cmd.Run() // the code tells
			codes <- cmd.ProcessState.ExitCode()
		}()
	}
	if a, b := <-codes, <-codes; a != 0 || b != 0 {
		t.Errorf("exit codes %d and %d", a, b)
	}
	jobs := s.jobs("twice")
	if len(jobs) != 2 {
		t.Errorf("jobs %v", jobs)
	}
	for _, id := range jobs {
		if _, err := os.Stat(s.dir + "/out/" + id + "/run.json"); err != nil {
			t.Error(err)
		}
		s.slurm("scancel", id)
	}
}

// Ten watchers and a list of runs ask the queue once in the time that is set.
func TestWatchersShareOneAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t, "ten watchers of one run")
	s.env = append(s.env, "AGENTPERF_TUI_QUEUE_SECONDS=2")
	rec := s.apply(named("watched")...)
	count := s.dir + "/count"
	s.wrap("squeue", `date +%s.%N >>`+count+`; exec $real "$@"`)
	const seconds = 9
	ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
	defer cancel()
	began := time.Now()
	ended := make(chan int)
	for range 10 {
		go func() {
			cmd := s.command(ctx, "watch", rec.ID, "--json", "--until-done", "--interval", "100ms")
			_ = cmd.Run() // killed at the end
			ended <- cmd.ProcessState.ExitCode()
		}()
	}
	for range 10 {
		<-ended
	}
	took := time.Since(began).Seconds()
	data, err := os.ReadFile(count)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "\n"); n < 2 || float64(n) > 1+took/2 {
		t.Errorf("squeue was asked %d times in %.1f s", n, took)
	}
	s.slurm("scancel", rec.ID)
}

// A scheduler that does not answer makes a run unknown, never ended, and locks its
// cancel; the run itself goes on.
func TestSchedulerAway(t *testing.T) {
	t.Parallel()
	s := newSite(t, "the scheduler does not answer")
	rec := s.apply(small("--set", "environment.STANDIN_FAULT=client:hang")...)
	s.until(rec.ID, "ready")
	away := s.dir + "/away"
	for _, name := range []string{"squeue", "scontrol", "scancel", "sacct"} {
		s.wrap(name, `[[ -e `+away+` ]] && { echo "Unable to contact slurm controller (connect failure)" >&2; exit 1; }; exec $real "$@"`)
	}
	if err := os.WriteFile(away, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	last, _ := s.watch(rec.ID, func(st status) bool { return st.State == "unknown" })
	if last.State != "unknown" || last.Queue == nil || !strings.Contains(last.Queue.Error, "Unable to contact") || !strings.Contains(last.Message, "last answered") {
		t.Errorf("got %+v %+v", last, last.Queue)
	}
	if _, errs, code := s.run("cancel", rec.ID, "--yes"); code != 1 || !strings.Contains(errs, "nothing was done") {
		t.Errorf("cancel: exit %d %s", code, errs)
	}
	if err := os.Remove(away); err != nil {
		t.Fatal(err)
	}
	s.until(rec.ID, "ready")
	s.want(0, "cancel", rec.ID, "--yes")
	if state := s.ended(rec.ID); state == "COMPLETED" {
		t.Errorf("Slurm says %s", state)
	}
}
