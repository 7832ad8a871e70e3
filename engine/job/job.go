// Package job executes the steps of a bound plan, stage by stage: a stage starts once all steps of
// the previous one are ready. A run ends when the client exits, another step exits or fails, or a
// stop is requested; then the stages are shut down in reverse order. The same code runs in a Slurm
// allocation and on this machine, with different implementations of [Runner].
package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Runner starts steps.
type Runner interface {
	// Start starts a step and appends its standard output and error to the log file.
	Start(step plan.Step, log string) (Process, error)
}

// Process is a started step.
type Process interface {
	PID() int
	// Done is closed when the step has exited and its remaining child processes are killed.
	Done() <-chan struct{}
	// ExitCode returns the exit code, 128+N after signal N. It is valid once Done is closed.
	ExitCode() int
	// Terminate asks the step to stop, Kill forces it.
	Terminate() error
	Kill() error
}

// Grace is the time between Terminate and Kill of a step.
type Grace struct {
	Client, Servers time.Duration
}

// Options are the arguments of [Run].
type Options struct {
	Plan   *plan.Plan // with all placeholders bound
	LogDir string
	Runner Runner
	Log    io.Writer // the orchestrator's log, with the messages that srt-slurm's monitor looks for
	Now    func() time.Time
	// Components maps the component names in a frontend's health response to roles. Other
	// components are not counted.
	Components map[string]schema.Role
	Grace      Grace // zero values: 30 s for the client, 10 s for servers
	// StopWait is how long a failure waits for a stop request that explains it, because a
	// scheduler that ends a job signals the steps and this process at the same time.
	StopWait time.Duration
	Started  func()                 // called after the first event is written; may be nil
	Identity func() json.RawMessage // identity of the run for the roll-up; nil: unknown
}

// StopCause is the cancellation cause of a run's context. It sets the final state of the run.
type StopCause struct {
	State  event.State
	Reason string // empty: stopped on request
	// KillAfter is the time after which the scheduler kills all processes; 0: never. The
	// shutdown takes less time, so that the final events are written.
	KillAfter time.Duration
}

// Error implements error.
func (s StopCause) Error() string { return "the run was stopped: " + string(s.State) }

// Unwrap gives the error its id.
func (s StopCause) Unwrap() error { return problem.New(problem.RunFailed, s.Error()) }

// Run executes the plan and returns the exit code: that of the client, or 1 for any other
// failure. The result of the run is in its event log; the error is only for records that
// could not be written.
func Run(ctx context.Context, opt Options) (int, error) {
	if left := opt.Plan.Placeholders(); len(left) > 0 {
		return 1, problem.Errorf(problem.Internal, "run plan %s: unbound placeholders: %v", opt.Plan.Name, left)
	}
	opt.Grace.Client = cmp.Or(opt.Grace.Client, 30*time.Second)
	opt.Grace.Servers = cmp.Or(opt.Grace.Servers, 10*time.Second)
	if err := prepareFiles(opt); err != nil {
		return 1, err
	}
	events, err := event.OpenAppender(filepath.Join(opt.LogDir, event.FileName), opt.Now)
	if err != nil {
		return 1, fmt.Errorf("run plan %s: %w", opt.Plan.Name, err)
	}
	j := &orchestrator{
		Options: opt, rec: &recorder{events: events, out: opt.Log, now: opt.Now},
		exits: make(chan *runningStep, len(opt.Plan.Steps)), fatalLines: make(chan fatalLine),
		stalls: make(chan time.Duration),
	}
	var stopWatching context.CancelFunc
	j.watchCtx, stopWatching = context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	go j.watchLogDir()
	code := j.run(ctx)
	return code, errors.Join(j.rec.err, events.Close())
}

// prepareFiles writes the input files of the steps. Only the user can read them, because a
// workload may contain an API key.
func prepareFiles(opt Options) error {
	if err := os.MkdirAll(filepath.Join(opt.LogDir, "agentperf"), 0o755); err != nil {
		return fmt.Errorf("create log directory: %w", err)
	}
	for _, f := range opt.Plan.Files {
		if err := renameio.WriteFile(f.Path, []byte(f.Content), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	// srt-slurm calls the client's log benchmark.out, the harness calls it client.log.
	link := filepath.Join(opt.LogDir, "client.log")
	if _, err := os.Lstat(link); errors.Is(err, os.ErrNotExist) {
		if err := os.Symlink("benchmark.out", link); err != nil {
			return fmt.Errorf("link client.log: %w", err)
		}
	}
	return nil
}

// orchestrator executes one run.
type orchestrator struct {
	Options
	rec   *recorder
	steps []*runningStep
	exits chan *runningStep // receives each step once, when it has exited

	stalls     chan time.Duration
	fatalLines chan fatalLine  // log lines and other reasons that end the run
	watchCtx   context.Context //nolint:containedctx // cancelled at the end of the run, to stop watching logs
}

// runningStep is a step that was started.
type runningStep struct {
	step      plan.Step
	proc      Process
	startedAt time.Time
	exited    bool
	stopping  bool // termination was requested, so that its exit is not a failure
}

// failure is why a run did not succeed.
type failure struct {
	state  event.State
	code   int
	reason string

	killAfter time.Duration // see [StopCause.KillAfter]
}

// stepFailure returns the failure of a step.
func stepFailure(reason string) *failure {
	return &failure{state: event.Failed, code: 1, reason: reason}
}

func (j *orchestrator) run(ctx context.Context) int {
	j.rec.logLine("INFO", "Sweep Orchestrator")
	j.rec.setState(event.Starting, "", nil)
	if j.Started != nil {
		j.Started()
	}
	fail := j.startServers(ctx)
	if fail == nil {
		fail = j.runClient(ctx)
	}
	fail = j.resolveFailure(ctx, fail)
	reason := ""
	if fail != nil { // recorded now, because a scheduler may kill this process before the end
		if fail.state == event.Failed && diskFull(j.LogDir) {
			fail.reason += "; the file system of " + j.LogDir + " is full"
		}
		reason = fail.reason
	}
	j.rec.setState(event.Post, reason, nil)
	j.rec.logLine("INFO", "Cleanup")
	j.shutdown(fail)
	if fail == nil {
		fail = &failure{state: event.Done} // no failure: exit code 0
	}
	j.rec.setState(fail.state, fail.reason, &fail.code)
	if fail.state == event.Done {
		j.rec.logLine("INFO", "✓ Sweep completed successfully")
	} else {
		j.rec.logLine("ERROR", fmt.Sprintf("✗ Sweep failed (exit code: %d): %s", fail.code, fail.reason))
	}
	return fail.code
}

// resolveFailure waits for a stop request that explains a failure. It returns the failure
// of that request, or the given one.
func (j *orchestrator) resolveFailure(ctx context.Context, fail *failure) *failure {
	if fail == nil || fail.state != event.Failed || j.StopWait == 0 {
		return fail
	}
	timer := time.NewTimer(j.StopWait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return stopFailure(ctx)
	case <-timer.C:
		return fail
	}
}

var stageMessages = map[plan.Stage]string{
	plan.Infra: "Starting infrastructure services", plan.Workers: "Starting backend workers",
	plan.FrontendStage: "Starting frontend",
}

func (j *orchestrator) startServers(ctx context.Context) *failure {
	for _, stage := range []plan.Stage{plan.Infra, plan.Workers, plan.FrontendStage} {
		steps := slices.DeleteFunc(slices.Clone(j.Plan.Steps), func(s plan.Step) bool { return s.Stage != stage })
		if len(steps) == 0 {
			continue
		}
		j.rec.logLine("INFO", stageMessages[stage])
		var waiting []*runningStep
		for _, s := range steps {
			st, fail := j.start(s)
			if fail != nil {
				return fail
			}
			if s.Ready.Probe != plan.ProbeNone {
				waiting = append(waiting, st)
			}
		}
		if fail := j.await(ctx, waiting); fail != nil {
			return fail
		}
	}
	return nil
}

func (j *orchestrator) start(s plan.Step) (*runningStep, *failure) {
	proc, err := j.Runner.Start(s, filepath.Join(j.LogDir, s.Log))
	if err != nil {
		return nil, stepFailure(fmt.Sprintf("%s did not start: %v", s.Name, err))
	}
	st := &runningStep{step: s, proc: proc, startedAt: j.Now()}
	j.steps = append(j.steps, st)
	j.rec.event(event.StepStart, s.Name, event.Data{PID: proc.PID(), Log: s.Log})
	go func() {
		<-proc.Done()
		j.exits <- st // has capacity for every step
	}()
	if err := j.watchFatalLines(st); err != nil {
		return nil, stepFailure(fmt.Sprintf("%s: %v", s.Name, err))
	}
	return st, nil
}

// handleExit records the exit of a step. An exit before termination was requested is a
// failure, even with code 0, unless the step ends the run.
func (j *orchestrator) handleExit(st *runningStep) *failure {
	st.exited = true
	code := st.proc.ExitCode()
	reason := ""
	done := st.step.Ready.Probe == plan.ProbeExit && code == 0
	if !st.stopping && !st.step.EndsRun && !done {
		reason = fmt.Sprintf("%s exited with code %d before the run's end", st.step.Name, code)
		reason += failureCause(filepath.Join(j.LogDir, st.step.Log))
	}
	j.rec.event(event.StepExit, st.step.Name, event.Data{ExitCode: &code, Message: reason})
	if reason == "" {
		return nil
	}
	j.rec.logLine("ERROR", fmt.Sprintf("Critical process '%s' exited with code %d", st.step.Name, code))
	return stepFailure(reason)
}

// handleFatalLine returns the failure of a step with a fatal line in its log.
func (j *orchestrator) handleFatalLine(f fatalLine) *failure {
	if f.st == nil {
		j.rec.logLine("ERROR", f.line)
		return stepFailure(f.line)
	}
	reason := fmt.Sprintf("%s has failed although its process is running; log: %s", f.st.step.Name, f.line)
	j.rec.logLine("ERROR", reason)
	return stepFailure(reason)
}

// stopFailure returns the failure of a run whose context was cancelled.
func stopFailure(ctx context.Context) *failure {
	var s StopCause
	if errors.As(context.Cause(ctx), &s) {
		return &failure{state: s.State, code: 1, reason: cmp.Or(s.Reason, "stopped on request"), killAfter: s.KillAfter}
	}
	return &failure{state: event.Cancelled, code: 1, reason: "stopped"}
}

func (j *orchestrator) runClient(ctx context.Context) *failure {
	for _, s := range j.Plan.Steps {
		if s.Stage != plan.Client {
			continue
		}
		j.rec.logLine("INFO", "Server is healthy - starting benchmark")
		j.rec.setState(event.Ready, "", nil)
		j.rec.logLine("INFO", "Running AgentPerf benchmark")
		st, fail := j.start(s)
		if fail != nil {
			return fail
		}
		if fail := j.waitForClient(ctx, st); fail != nil {
			return fail
		}
	}
	return nil
}

// waitForClient waits for the client to exit.
func (j *orchestrator) waitForClient(ctx context.Context, client *runningStep) *failure {
	go j.watchStall(client)
	for {
		select {
		case <-ctx.Done():
			return stopFailure(ctx)
		case f := <-j.fatalLines:
			return j.handleFatalLine(f)
		case s := <-j.stalls:
			j.recordStall(client, s)
		case st := <-j.exits:
			if fail := j.handleExit(st); fail != nil {
				return fail
			}
			if st != client {
				continue
			}
			if code := st.proc.ExitCode(); code != 0 {
				j.rec.logLine("ERROR", fmt.Sprintf("Benchmark failed with exit code %d", code))
				reason := fmt.Sprintf("the client exited with code %d", code) + failureCause(filepath.Join(j.LogDir, st.step.Log))
				return &failure{state: event.Failed, code: code, reason: reason}
			}
			j.rec.logLine("INFO", "Benchmark completed successfully")
			return nil
		}
	}
}

// shutdown stops the running steps in groups: the client, then frontend and workers, then
// the infrastructure. It terminates all steps of a group at once and waits for them. The
// roll-up is written once while the client stops, because the scheduler may kill all
// processes soon, and again after the client has exited.
func (j *orchestrator) shutdown(fail *failure) {
	j.limitGrace(fail)
	for _, group := range []struct {
		stages []plan.Stage
		grace  time.Duration
	}{
		{[]plan.Stage{plan.Client}, j.Grace.Client},
		{[]plan.Stage{plan.FrontendStage, plan.Workers}, j.Grace.Servers},
		{[]plan.Stage{plan.Infra}, j.Grace.Servers},
	} {
		var left []*runningStep
		for _, st := range j.steps {
			if !st.exited && slices.Contains(group.stages, st.step.Stage) {
				st.stopping = true
				left = append(left, st)
				if err := st.proc.Terminate(); err != nil {
					j.rec.logLine("WARNING", fmt.Sprintf("terminate %s: %v", st.step.Name, err))
				}
			}
		}
		if len(left) > 0 && slices.Contains(group.stages, plan.Client) {
			j.writeRollup(fail, false)
		}
		if !j.waitForExits(left, group.grace) {
			for _, st := range left {
				if st.exited {
					continue
				}
				j.rec.logLine("WARNING", st.step.Name+" did not stop in time and is killed")
				if err := st.proc.Kill(); err != nil {
					j.rec.logLine("ERROR", fmt.Sprintf("kill %s: %v", st.step.Name, err))
				}
			}
			j.waitForExits(left, j.Grace.Servers)
		}
		if slices.Contains(group.stages, plan.Client) {
			j.writeRollup(fail, true)
		}
	}
}

// limitGrace limits the grace periods to the time before the scheduler kills all processes:
// half of it for the client, whose output matters most, and an eighth for each wait for
// servers.
func (j *orchestrator) limitGrace(fail *failure) {
	if fail == nil || fail.killAfter == 0 {
		return
	}
	j.Grace.Client = min(j.Grace.Client, fail.killAfter/2)
	j.Grace.Servers = min(j.Grace.Servers, fail.killAfter/8)
}

// waitForExits waits until the given steps have exited. It returns false if the grace period
// passes first.
func (j *orchestrator) waitForExits(left []*runningStep, grace time.Duration) bool {
	allExited := func() bool { return !slices.ContainsFunc(left, func(st *runningStep) bool { return !st.exited }) }
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for !allExited() {
		select {
		case st := <-j.exits:
			st.stopping = true // a step of another group may exit during the shutdown
			j.handleExit(st)
		case <-timer.C:
			return false
		}
	}
	return true
}

// writeRollup writes the roll-up of the results on disk. After a failure it is flagged as
// partial. Problems are reported by the last call only.
func (j *orchestrator) writeRollup(fail *failure, last bool) {
	rc := results.RunContext{Planned: PlannedPhases(j.Plan.Phases)}
	if fail != nil {
		rc.Partial = PartialReason(fail.state, fail.reason)
	}
	if j.Identity != nil {
		rc.Identity = j.Identity()
	}
	for _, st := range j.steps {
		if st.step.Stage == plan.Client {
			rc.Start = st.startedAt
		}
	}
	path, doc, err := results.WriteRollup(context.Background(), j.LogDir, rc)
	if !last {
		return
	}
	for _, s := range doc.Skipped {
		j.rec.logLine("WARNING", "roll-up skips "+s)
	}
	switch {
	case err != nil:
		j.rec.logLine("WARNING", fmt.Sprintf("roll-up: %v", err))
		j.rec.event(event.Info, "", event.Data{Message: "no roll-up: " + err.Error()})
	case path == "":
		j.rec.logLine("INFO", "no roll-up, because no phase has ended")
	}
}

// PartialReason returns why the results of a run in this state are incomplete. It is empty for a
// run that is done.
func PartialReason(state event.State, reason string) string {
	if state == event.Done {
		return ""
	}
	return strings.TrimSuffix("the run's state is "+string(state)+": "+reason, ": ")
}

// PlannedPhases converts the phases of a plan for package results.
func PlannedPhases(phases []plan.Phase) []results.PlannedPhase {
	out := make([]results.PlannedPhase, 0, len(phases))
	for _, ph := range phases {
		out = append(out, results.PlannedPhase{
			Phase: ph.Index, Concurrency: ph.Concurrency, Ramp: ph.RampSeconds, Settling: ph.SettlingSeconds,
			Timeout: ph.TimeoutSeconds, MinMeasurement: ph.MinMeasurement,
		})
	}
	return out
}
