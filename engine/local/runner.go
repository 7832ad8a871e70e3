// Package local runs a plan on this machine. Each step is a process, and so is the run's supervisor,
// which continues when the terminal closes.
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

// Runner starts steps as processes on this machine, each in its own process group. If the process
// with the runner ends or is killed, the kernel kills the steps.
type Runner struct {
	starts chan func()
}

// NewRunner returns a runner. Call Close when all steps have ended.
func NewRunner() *Runner {
	r := &Runner{starts: make(chan func())}
	go func() {
		// Pdeathsig refers to the thread that started the child, so that thread must
		// live as long as the runner.
		runtime.LockOSThread()
		for f := range r.starts {
			f()
		}
	}()
	return r
}

// Close ends the runner. Steps that are still running are killed.
func (r *Runner) Close() { close(r.starts) }

// Start starts the command of a step, with the step's variables added to the environment of this
// process. Its output is appended to the file log.
func (r *Runner) Start(step plan.Step, log string) (job.Process, error) {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", step.Name, err)
	}
	defer out.Close() // the child has its own descriptor
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
	// Kill the rest of the process group, which might keep ports and logs open.
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

// signal sends a signal to the process group, if it still exists.
func (p *process) signal(s syscall.Signal) error {
	if err := syscall.Kill(-p.cmd.Process.Pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %d to group %d: %w", s, p.cmd.Process.Pid, err)
	}
	return nil
}
