package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/plan"
)

// Runner starts the steps of a job with srun.
type Runner struct {
	id string

	mu    sync.Mutex
	steps map[string]string // step ids by name
	asked time.Time         // when steps was requested
}

// NewRunner returns a Runner for the job with this id.
func NewRunner(id string) *Runner { return &Runner{id: id} }

// perTaskVars describe the tasks of the batch script. srun would apply them to every step.
var perTaskVars = []string{"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}

// Start starts the Launch command of a step and appends the output of the step and of srun to
// the file log. Secrets are passed in srun's environment, never on the command line.
func (r *Runner) Start(step plan.Step, log string) (job.Process, error) {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", step.Name, err)
	}
	defer out.Close() // srun has inherited it
	cmd := exec.Command(step.Launch[0], step.Launch[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(perTaskVars, name) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	for _, v := range step.Secrets() {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	// In a separate process group, so that signals to the batch script do not reach srun.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", step.Name, err)
	}
	p := &process{r: r, name: step.Name, cmd: cmd, done: make(chan struct{})}
	go p.wait()
	return p, nil
}

// stepID returns the id of a running step; empty if Slurm has no step of that name. It asks
// Slurm at most once per second.
func (r *Runner) stepID(ctx context.Context, name string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id := r.steps[name]; id != "" {
		return id, nil
	}
	if time.Since(r.asked) < time.Second {
		return "", nil
	}
	out, err := call(ctx, queryLimit, "scontrol", "--oneliner", "show", "steps", r.id)
	if err != nil {
		return "", err
	}
	r.steps, r.asked = parseSteps(out), time.Now()
	return r.steps[name], nil
}

func parseSteps(out string) map[string]string {
	steps := map[string]string{}
	for line := range strings.Lines(out) {
		if name := field(line, "Name"); name != "" {
			steps[name] = field(line, "StepId")
		}
	}
	return steps
}

// process is a running srun and its step.
type process struct {
	r    *Runner
	name string
	cmd  *exec.Cmd
	done chan struct{}
	code int
}

func (p *process) wait() {
	p.code = job.Wait(p.cmd)
	close(p.done)
}

func (p *process) PID() int              { return p.cmd.Process.Pid }
func (p *process) Done() <-chan struct{} { return p.done }
func (p *process) ExitCode() int         { return p.code }

// Terminate sends SIGTERM to the step's tasks through Slurm, since srun would kill them if it
// got the signal itself. It does not wait for Slurm, so that steps that are
// stopped together are signaled at the same time.
func (p *process) Terminate() error {
	go p.signal("TERM", syscall.SIGTERM)
	return nil
}

// Kill kills the step and its srun.
func (p *process) Kill() error {
	go func() {
		p.signal("KILL", 0)
		_ = p.cmd.Process.Kill() // it may have ended
	}()
	return nil
}

// signal sends a signal to every process of the step through the controller: nodes on which
// the step has no task would reject it if scancel sent it directly. If Slurm has no such step
// or does not answer, srun gets the signal fallback, if not 0.
func (p *process) signal(name string, fallback syscall.Signal) {
	ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
	defer cancel()
	id, err := p.r.stepID(ctx, p.name)
	if err == nil && id != "" {
		err = scancel(ctx, "--ctld", "--signal="+name, "--full", id)
	}
	if (err != nil || id == "") && fallback != 0 {
		_ = p.cmd.Process.Signal(fallback) // it may have ended
	}
}
