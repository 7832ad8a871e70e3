package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// readyFD is the file descriptor on which a supervisor reports that it is ready.
const readyFD = 3

// ready is the line that the supervisor writes to readyFD.
const ready = "ready"

// StartTimeout limits the time from the start of a supervisor until it is ready.
const StartTimeout = 30 * time.Second

// Submit starts the supervisor of a run directory in its own session, so that it continues when the
// terminal closes. It returns when the supervisor is ready. If the supervisor ends before that,
// the error names its log.
func Submit(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	name := filepath.Base(dir)
	logPath := filepath.Join(rundir.Logs(dir), "sweep_"+name+".log")
	log, err := os.OpenFile(logPath, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("start run %s: %w", name, err)
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start run %s: %w", name, err)
	}
	defer r.Close()
	cmd := exec.Command(filepath.Join(dir, rundir.BinDir, "agentperf-tui"), "job", "run", "--run-dir", dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		return fmt.Errorf("start run %s: %w", name, err)
	}
	report := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(r).ReadString('\n')
		if err != nil { // the supervisor has ended without a report
			line = ""
		}
		report <- strings.TrimSpace(line)
	}()
	go func() { _ = cmd.Wait() }() // only to reap the process; its log has the cause of its end
	select {
	case <-ctx.Done():
		return fmt.Errorf("start run %s: the supervisor did not report ready: %w; see %s", name, ctx.Err(), logPath)
	case line := <-report:
		if line != ready {
			return problem.Errorf(problem.SupervisorEnded, "start run %s: the supervisor ended before it was ready; see %s",
				name, logPath)
		}
		return nil
	}
}

// errRunning is the error for a run that already has a supervisor.
var errRunning = problem.New(problem.RunExists, "the run already has a supervisor")

// A supervisor retries for lockTimeout to lock its run, since Alive may hold the lock for a moment.
const lockTimeout, lockRetry = time.Second, 5 * time.Millisecond

// Lock makes this process the supervisor of a run: it locks the run directory, which shows that the
// run is alive, and records the process id. The lock ends with the process.
func Lock(ctx context.Context, dir string) (release func() error, err error) {
	ctx, done := context.WithTimeout(ctx, lockTimeout)
	defer done()
	lock := flock.New(filepath.Join(dir, rundir.LockFile))
	ok, err := lock.TryLockContext(ctx, lockRetry)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || err == nil && !ok:
		return nil, errRunning
	case err != nil:
		return nil, fmt.Errorf("lock the run: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(dir, rundir.PIDFile), []byte(strconv.Itoa(os.Getpid())+"\n"),
		0o644); err != nil {
		return nil, errors.Join(fmt.Errorf("record the supervisor's process id: %w", err), lock.Unlock())
	}
	return lock.Unlock, nil
}

// ReportReady tells the process that started this supervisor that the supervisor is ready. It does nothing if
// the supervisor was started by hand, without a pipe.
func ReportReady() {
	var st syscall.Stat_t
	if syscall.Fstat(readyFD, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return
	}
	f := os.NewFile(readyFD, "ready")
	defer f.Close()
	if _, err := f.WriteString(ready + "\n"); err != nil {
		return // the other process has ended, which does not matter to the run
	}
}

// Alive reports whether a run has a supervisor on this machine. Not every file system shows locks
// of other machines.
func Alive(dir string) (bool, error) {
	path := filepath.Join(dir, rundir.LockFile)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	lock := flock.New(path)
	free, err := lock.TryRLock()
	if err != nil {
		return false, fmt.Errorf("check the run's lock: %w", err)
	}
	if free {
		return false, lock.Unlock()
	}
	return true, nil
}

// Cancel asks a run's supervisor to stop gracefully and waits until it has.
func Cancel(ctx context.Context, dir string) error {
	alive, err := Alive(dir)
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	if !alive {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(dir, rundir.PIDFile))
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid < 2 {
		return problem.Errorf(problem.RunUnreadable, "cancel: %s does not hold a process id",
			filepath.Join(dir, rundir.PIDFile))
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("cancel: signal supervisor %d: %w", pid, err)
	}
	if err := AwaitEnd(ctx, dir); err != nil {
		return fmt.Errorf("cancel: supervisor %d was sent SIGTERM and is still running: %w", pid, err)
	}
	return nil
}

// AwaitEnd waits until the supervisor of a run has ended.
func AwaitEnd(ctx context.Context, dir string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if alive, err := Alive(dir); err != nil || !alive {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Bindings returns the values of the plan's placeholders on this machine: one node, the loopback address,
// and a free port for each server.
func Bindings(p *plan.Plan, id, dir, logs, program string) (plan.Values, error) {
	values := plan.Values{
		plan.NodeName(0): "localhost", plan.NodeAddress(0): "127.0.0.1", plan.JobID: id, plan.RunDir: dir,
		plan.LogDir: logs, plan.Binary: program,
	}
	// All listeners stay open until each step has a port, so that no port is assigned twice.
	var open []net.Listener
	var errs []error
	for _, s := range p.Steps {
		if s.Stage == plan.Client {
			continue
		}
		l, port, err := listen()
		if err != nil {
			errs = append(errs, fmt.Errorf("find a port for %s: %w", s.Name, err))
			continue
		}
		open = append(open, l)
		values[plan.StepPort(s.Name)] = strconv.Itoa(port)
	}
	for _, l := range open {
		errs = append(errs, l.Close())
	}
	return values, errors.Join(errs...)
}

// Ports below the kernel's ephemeral range. A probe of a server that does not listen yet could
// otherwise use the same port as its source and connect to itself.
const firstPort, lastPort = 20000, 32000

func listen() (net.Listener, int, error) {
	var last error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			return l, port, nil
		}
		last = err
	}
	return nil, 0, last
}
