package slurmtest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// jobs returns the ids of the jobs with a name.
func (s *site) jobs(name string) []string {
	return strings.Fields(s.slurm("squeue", "-h", "-t", "all", "--name="+name, "-o", "%A"))
}

// withName returns flags for a pending run with this name.
func withName(name string) []string {
	return twoNodes("--set", "name="+name, "--set", "sbatch_directives.begin=now+1hour")
}

// applyArgs returns the arguments of an apply of a run with this name.
func (s *site) applyArgs(name string) []string {
	return append(append([]string{"apply", "r.yaml", "--yes", "--json"}, s.settings()...), withName(name)...)
}

// If the output of sbatch is lost, exactly one job exists and it is recorded.
func TestSbatchOutputLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		{
			"error after the submission",
			`[[ "$*" == *--test-only* ]] && exec $real "$@"; $real "$@" >/dev/null; ` +
				`echo "Socket timed out on send/recv operation" >&2; exit 1`,
		},
		{
			"no job id",
			`[[ "$*" == *--test-only* ]] && exec $real "$@"; $real "$@" >/dev/null; echo "plugin says hello"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "output of sbatch lost: "+c.name)
			s.wrap("sbatch", c.script)
			name := "lost" + strconv.Itoa(len(c.name))
			rec := s.apply(withName(name)...)
			if jobs := s.jobs(name); len(jobs) != 1 || jobs[0] != rec.ID {
				t.Errorf("jobs %v, recorded %s", jobs, rec.ID)
			}
			s.want(0, "cancel", rec.ID, "--yes")
			table.add(s, row{fault: "output of sbatch lost: " + c.name, state: "one job, recorded", job: s.awaitJobEnd(rec.ID)})
		})
	}
}

// startHangingApply starts an apply whose sbatch submits the job and then hangs. It returns when
// the job is queued.
func (s *site) startHangingApply(name string) (kill func(syscall.Signal)) {
	s.t.Helper()
	s.wrap("sbatch", `[[ "$*" == *--test-only* ]] && exec $real "$@"; $real "$@" >/dev/null; exec sleep 60`)
	cmd := s.command(context.WithoutCancel(s.t.Context()), s.applyArgs(name)...)
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
			target = -target // and its sbatch
		}
		if err := syscall.Kill(target, sig); err != nil {
			s.t.Error(err)
		}
		_ = cmd.Wait() // the error is expected
	}
}

// The next apply finishes the submission of a killed one instead of submitting a second job.
func TestApplyKilledDuringSbatch(t *testing.T) {
	t.Parallel()
	s := newSite(t, "apply killed during sbatch")
	s.startHangingApply("killed")(syscall.SIGKILL)
	_, errs, code := s.run(s.applyArgs("killed")...)
	jobs := s.jobs("killed")
	if code != 1 || len(jobs) != 1 || !strings.Contains(errs, "job "+jobs[0]+" was already queued") {
		t.Fatalf("exit %d, jobs %v\n%s", code, jobs, errs)
	}
	if out := s.want(0, "runs"); !strings.Contains(out, "pending") || !strings.Contains(out, jobs[0]) {
		t.Errorf("runs:\n%s", out)
	}
	if reason := s.slurm("squeue", "-h", "-j", jobs[0], "-o", "%r"); reason == "JobHeldUser" {
		t.Error("the job is still on hold")
	}
	// The apply after that submits another run.
	s.want(0, s.applyArgs("killed")...)
	if jobs := s.jobs("killed"); len(jobs) != 2 {
		t.Errorf("jobs %v", jobs)
	}
	for _, id := range s.jobs("killed") {
		s.slurm("scancel", id)
	}
}

// An interrupted apply cancels its job.
func TestApplyInterruptedDuringSbatch(t *testing.T) {
	t.Parallel()
	s := newSite(t, "apply interrupted during sbatch")
	s.startHangingApply("interrupted")(syscall.SIGINT)
	jobs := s.jobs("interrupted")
	if len(jobs) != 1 || s.awaitJobEnd(jobs[0]) != "CANCELLED" {
		t.Fatalf("jobs %v", jobs)
	}
	if staged, err := filepath.Glob(s.dir + "/out/.staged/*"); err != nil || len(staged) != 0 {
		t.Errorf("left behind: %v %v", staged, err)
	}
	s.want(0, s.applyArgs("interrupted")...)
	jobs = s.jobs("interrupted")
	if len(jobs) != 2 {
		t.Errorf("jobs %v", jobs)
	}
	s.slurm("scancel", jobs...)
}

func TestConcurrentApply(t *testing.T) {
	t.Parallel()
	s := newSite(t, "two concurrent applies")
	codes := make(chan int)
	for range 2 {
		go func() {
			cmd := s.command(s.t.Context(), s.applyArgs("twice")...)
			_ = cmd.Run() // the exit code is checked below
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
	for _, id := range jobs {
		s.awaitJobEnd(id)
	}
	table.add(s, row{fault: "two concurrent applies of one recipe", state: "two jobs, both recorded", job: "CANCELLED"})
}
