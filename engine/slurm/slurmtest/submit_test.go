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
		{
			"it fails after the submit",
			`[[ "$*" == *--test-only* ]] && exec $real "$@"; $real "$@" >/dev/null; ` +
				`echo "Socket timed out on send/recv operation" >&2; exit 1`,
		},
		{
			"it prints nonsense",
			`[[ "$*" == *--test-only* ]] && exec $real "$@"; $real "$@" >/dev/null; echo "plugin says hello"`,
		},
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
			table.add(s, row{fault: "sbatch's answer lost: " + c.name, state: "one job, recorded", job: s.ended(rec.ID)})
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
	if code != 1 || len(jobs) != 1 || !strings.Contains(errs, "job "+jobs[0]+" was already queued") {
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
	for _, id := range jobs {
		s.ended(id)
	}
	table.add(s, row{fault: "two applies of one recipe at once", state: "two jobs, both recorded", job: "CANCELLED"})
}
