// Package local runs a plan on this machine: a step is a process, and the run's supervisor a
// process of its own that outlives the terminal. It knows nothing of what the steps do.
package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/plan"
)

// Runner starts steps as processes of this machine, each in a process group of its own. They die
// with the process that made the runner, also when that is killed: nothing is left behind.
type Runner struct {
	starts chan func()
}

// NewRunner makes a runner; Close ends it once all steps have ended.
func NewRunner() *Runner {
	r := &Runner{starts: make(chan func())}
	go func() {
		// The kernel ties a child's fate to the thread that made it, so that
		// thread must live as long as we do.
		runtime.LockOSThread()
		for f := range r.starts {
			f()
		}
	}()
	return r
}

// Close ends the runner. No step may be running, or it is killed.
func (r *Runner) Close() { close(r.starts) }

// Start starts a step's Launch command with the step's variables on top of this
// process's environment.
func (r *Runner) Start(step plan.Step, log string) (job.Process, error) {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", step.Name, err)
	}
	defer out.Close() // the child has its own
	cmd := exec.Command(step.Launch[0], step.Launch[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = os.Environ()
	for _, v := range step.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	r.starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", step.Name, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go p.wait()
	return p, nil
}

type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	code int
}

func (p *process) wait() {
	p.code = job.Wait(p.cmd)
	// A leader that leaves its children behind would keep ports and logs busy.
	if err := p.Kill(); err != nil && p.code == 0 {
		p.code = 1
	}
	close(p.done)
}

func (p *process) PID() int              { return p.cmd.Process.Pid }
func (p *process) Done() <-chan struct{} { return p.done }
func (p *process) ExitCode() int         { return p.code }
func (p *process) Terminate() error      { return p.signal(syscall.SIGTERM) }
func (p *process) Kill() error           { return p.signal(syscall.SIGKILL) }

// signal goes to the whole group; one that is gone already has nothing to be told.
func (p *process) signal(s syscall.Signal) error {
	if err := syscall.Kill(-p.cmd.Process.Pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %d to group %d: %w", s, p.cmd.Process.Pid, err)
	}
	return nil
}
