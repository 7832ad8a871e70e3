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

// Runner starts steps of an allocation with srun.
type Runner struct {
	id string

	mu    sync.Mutex
	steps map[string]string // ids by name
	at    time.Time
}

// NewRunner makes a runner for the job with this id.
func NewRunner(id string) *Runner { return &Runner{id: id} }

// perTaskVars are variables of the batch script's own tasks, which srun would take
// for options of every step.
var perTaskVars = []string{"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}

// Start starts a step's Launch command. Secrets are in srun's environment alone; everything else
// stands on the command line. The step's output and srun's own words go to the log.
func (r *Runner) Start(step plan.Step, log string) (job.Process, error) {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", step.Name, err)
	}
	defer out.Close() // srun has its own
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
	// A group of its own: a signal for the batch script is not for the steps.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", step.Name, err)
	}
	p := &process{r: r, name: step.Name, cmd: cmd, done: make(chan struct{})}
	go p.wait()
	return p, nil
}

// stepID is the id of a running step; empty when Slurm has none of that name. One
// question serves all steps that are asked for in the same second.
func (r *Runner) stepID(ctx context.Context, name string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id := r.steps[name]; id != "" {
		return id, nil
	}
	if time.Since(r.at) < time.Second {
		return "", nil
	}
	out, err := call(ctx, queryLimit, "scontrol", "--oneliner", "show", "steps", r.id)
	if err != nil {
		return "", err
	}
	r.steps, r.at = parseSteps(out), time.Now()
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

// process is one srun and its step.
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

// Terminate asks the step's tasks to end: through Slurm, since a TERM to srun
// would have them killed. It does not wait, so that a tier is asked all at once,
// and a scheduler that is away holds nobody up.
func (p *process) Terminate() error {
	go p.signal("TERM", syscall.SIGTERM)
	return nil
}

// Kill ends the step, and its srun.
func (p *process) Kill() error {
	go func() {
		p.signal("KILL", 0)
		_ = p.cmd.Process.Kill() // gone already is as good
	}()
	return nil
}

// signal sends a signal to every process of the step, through the controller: sent
// by scancel itself it is refused by the nodes on which the step has no task; where Slurm knows no such
// step or does not answer, srun gets its own.
func (p *process) signal(name string, instead syscall.Signal) {
	ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
	defer cancel()
	id, err := p.r.stepID(ctx, p.name)
	if err == nil && id != "" {
		err = scancel(ctx, "--ctld", "--signal="+name, "--full", id)
	}
	if (err != nil || id == "") && instead != 0 {
		_ = p.cmd.Process.Signal(instead) // gone already is as good
	}
}
