package local

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// With the arguments of a supervisor, the test binary runs as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "job" {
		os.Exit(supervise(os.Args[len(os.Args)-1]))
	}
	os.Exit(m.Run())
}

func supervise(dir string) int {
	if _, err := os.Stat(filepath.Join(dir, "fail")); err == nil {
		return 1
	}
	release, err := Lock(context.Background(), dir)
	if err != nil {
		return 1
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	ReportReady()
	<-term
	if release() != nil {
		return 1
	}
	return 0
}

// newRunDir returns a run directory whose program is this test binary.
func newRunDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{rundir.LogsDir, rundir.BinDir} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(dir, rundir.BinDir, "agentperf-tui")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func alive(t *testing.T, dir string) bool {
	t.Helper()
	ok, err := Alive(dir)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestSubmitAndCancel(t *testing.T) {
	t.Parallel()
	dir := newRunDir(t)
	if alive(t, dir) {
		t.Fatal("a run that was never started is alive")
	}
	if err := Submit(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if !alive(t, dir) {
		t.Fatal("a submitted run is not alive")
	}
	if _, err := Lock(t.Context(), dir); !errors.Is(err, errRunning) {
		t.Errorf("a second supervisor: %v", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, rundir.PIDFile))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if sid, err := getsid(pid); err != nil || sid != pid {
		t.Errorf("the supervisor is in session %d, %v, not in its own, so it would end with the terminal", sid, err)
	}
	if err := Cancel(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if alive(t, dir) {
		t.Error("a cancelled run is alive")
	}
	if err := Cancel(t.Context(), dir); err != nil {
		t.Errorf("a second cancel: %v", err)
	}
}

// getsid returns the session of a process.
func getsid(pid int) (int, error) {
	sid, _, errno := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(sid), nil
}

func TestSubmitReportsEarlyEnd(t *testing.T) {
	t.Parallel()
	dir := newRunDir(t)
	if err := os.WriteFile(filepath.Join(dir, "fail"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Submit(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "sweep_") {
		t.Errorf("got %v, want an error that names the log", err)
	}
}

// Concurrent calls of Alive don't keep a supervisor from starting.
func TestAliveDoesNotPreventStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if _, err := Alive(dir); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 40 {
		release, err := Lock(t.Context(), dir)
		if err != nil {
			t.Errorf("lock: %v", err)
			break
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestRunnerKillsProcessGroup(t *testing.T) {
	t.Parallel()
	r := NewRunner()
	defer r.Close()
	dir := t.TempDir()
	child := filepath.Join(dir, "child")
	step := plan.Step{
		Name: "x", Launch: []string{"sh", "-c", `sleep 60 & echo $! > "$1"; exit 4`, "sh", child},
		Env: []plan.Var{{Name: "A", Value: "b c"}},
	}
	p, err := r.Start(step, filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.ExitCode() != 4 {
		t.Errorf("exit code %d", p.ExitCode())
	}
	data, err := os.ReadFile(child)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.After(5 * time.Second)
	for syscall.Kill(pid, 0) == nil && !zombie(pid) {
		select {
		case <-deadline:
			t.Fatalf("the step's child %d is alive", pid)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func zombie(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(data), ") Z")
}

func TestExitCodeOfSignal(t *testing.T) {
	t.Parallel()
	r := NewRunner()
	defer r.Close()
	p, err := r.Start(plan.Step{Name: "x", Launch: []string{"sleep", "60"}}, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.ExitCode() != 128+9 {
		t.Errorf("exit code %d, want 137", p.ExitCode())
	}
}

func TestBindingsAssignPorts(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Steps: []plan.Step{{Name: "a"}, {Name: "b"}, {Name: "client", Stage: plan.Client}}}
	got, err := Bindings(p, "L1", "/run", "/run/logs", "/bin/x")
	if err != nil {
		t.Fatal(err)
	}
	if got[plan.StepPort("a")] == "" || got[plan.StepPort("a")] == got[plan.StepPort("b")] ||
		got[plan.StepPort("client")] != "" || got[plan.JobID] != "L1" || got[plan.Binary] != "/bin/x" {
		t.Errorf("got %v", got)
	}
}
