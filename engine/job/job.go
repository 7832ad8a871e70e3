// Package job runs the steps of a bound plan: in order, each stage once the one before is ready,
// until the client ends, a step that must not end does, or a stop is asked for; then it shuts down
// in the reverse order. It is the same code in a Slurm allocation and on this machine: what starts
// a step is a [Runner]. It knows nothing of recipes.
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
	// Start starts a step with both output streams in the log file, appended.
	Start(step plan.Step, log string) (Process, error)
}

// Process is a started step.
type Process interface {
	PID() int
	// Done is closed when the step has ended; what it may have left of its own
	// processes is killed by then.
	Done() <-chan struct{}
	// ExitCode is valid once Done is closed; a signal N counts as 128+N.
	ExitCode() int
	// Terminate asks the step to end, Kill makes it.
	Terminate() error
	Kill() error
}

// Grace is how long a step may take from being asked to end until it is killed.
type Grace struct {
	Client, Servers time.Duration
}

// Options are the surroundings of a run.
type Options struct {
	Plan   *plan.Plan // bound
	LogDir string
	Runner Runner
	Log    io.Writer // gets the orchestrator's own lines, in the words that srt-slurm's monitor looks for
	Now    func() time.Time
	// Components says which role an instance of a frontend's health answer has by the
	// name of its component; others are not counted.
	Components map[string]schema.Role
	Grace      Grace // zero values: 30 s for the client, 10 s for servers
	// StopWait is how long a failure waits for a stop that explains it: a scheduler
	// that ends a job signals its steps and this process at once.
	StopWait time.Duration
	Started  func()                 // called once the run's records are open and its first event is written; may be nil
	Identity func() json.RawMessage // what the run runs with, for the roll-up; nil: not known
}

// StopCause is the cause with which a run's context is cancelled; it decides what
// the run is called afterwards.
type StopCause struct {
	State  event.State
	Reason string // empty: on request
	// KillAfter is the time after which everything is killed; 0: nobody will. The
	// shutdown keeps within it, so that the run's last words are said.
	KillAfter time.Duration
}

// Error says what stopped the run.
func (s StopCause) Error() string { return "the run was stopped: " + string(s.State) }

// Unwrap gives the error its id.
func (s StopCause) Unwrap() error { return problem.New(problem.RunFailed, s.Error()) }

// Run executes the plan and returns the exit code: 0, the client's own, or 1 for
// any other failure. The error is non-nil only when the run's own records could
// not be written; how the run went is in its events.
func Run(ctx context.Context, opt Options) (int, error) {
	if left := opt.Plan.Placeholders(); len(left) > 0 {
		return 1, problem.Errorf(problem.Internal, "run plan %s: unbound placeholders: %v", opt.Plan.Name, left)
	}
	opt.Grace.Client = cmp.Or(opt.Grace.Client, 30*time.Second)
	opt.Grace.Servers = cmp.Or(opt.Grace.Servers, 10*time.Second)
	if err := prepare(opt); err != nil {
		return 1, err
	}
	events, err := event.OpenAppender(filepath.Join(opt.LogDir, event.FileName), opt.Now)
	if err != nil {
		return 1, fmt.Errorf("run plan %s: %w", opt.Plan.Name, err)
	}
	j := &run{
		Options: opt, rec: &recorder{events: events, log: opt.Log, now: opt.Now},
		exits: make(chan *started, len(opt.Plan.Steps)), fatal: make(chan fatalLine), silent: make(chan time.Duration),
	}
	var enough context.CancelFunc
	j.watching, enough = context.WithCancel(context.WithoutCancel(ctx))
	defer enough()
	go j.guard()
	code := j.run(ctx)
	return code, errors.Join(j.rec.err, events.Close())
}

// prepare writes what the steps read, for the user's eyes only: a workload's API key is among it.
func prepare(opt Options) error {
	if err := os.MkdirAll(filepath.Join(opt.LogDir, "agentperf"), 0o755); err != nil {
		return fmt.Errorf("create log directory: %w", err)
	}
	for _, f := range opt.Plan.Files {
		if err := renameio.WriteFile(f.Path, []byte(f.Content), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	// Both names are in use for the client's log: srt-slurm's and the harness's.
	link := filepath.Join(opt.LogDir, "client.log")
	if _, err := os.Lstat(link); errors.Is(err, os.ErrNotExist) {
		if err := os.Symlink("benchmark.out", link); err != nil {
			return fmt.Errorf("link client.log: %w", err)
		}
	}
	return nil
}

// run is one execution.
type run struct {
	Options
	rec   *recorder
	steps []*started
	exits chan *started // each step once, when it has ended

	silent   chan time.Duration
	fatal    chan fatalLine  // lines in logs that mean an end
	watching context.Context //nolint:containedctx // ends the look at logs with the run
}

type started struct {
	step  plan.Step
	proc  Process
	begun time.Time
	ended bool
	asked bool // to end: its exit is no failure
}

// failure is why a run did not go well.
type failure struct {
	state event.State
	code  int
	why   string

	within time.Duration // until everything is killed; 0: nobody will
}

// failed is a failure of a step.
func failed(why string) *failure { return &failure{state: event.Failed, code: 1, why: why} }

func (j *run) run(ctx context.Context) int {
	j.rec.say("INFO", "Sweep Orchestrator")
	j.rec.state(event.Starting, "", nil)
	if j.Started != nil {
		j.Started()
	}
	fail := j.bringUp(ctx)
	if fail == nil {
		fail = j.client(ctx)
	}
	fail = j.settle(ctx, fail)
	why := ""
	if fail != nil { // said now: a scheduler may not give the time to say it at the end
		if fail.state == event.Failed && full(j.LogDir) {
			fail.why += "; the file system of " + j.LogDir + " is full"
		}
		why = fail.why
	}
	j.rec.state(event.Post, why, nil)
	j.rec.say("INFO", "Cleanup")
	j.shutdown(fail)
	if fail == nil {
		fail = &failure{state: event.Done}
	}
	j.rec.state(fail.state, fail.why, &fail.code)
	if fail.state == event.Done {
		j.rec.say("INFO", "✓ Sweep completed successfully")
	} else {
		j.rec.say("ERROR", fmt.Sprintf("✗ Sweep failed (exit code: %d): %s", fail.code, fail.why))
	}
	return fail.code
}

// settle gives a failure the reason that a stop request has, if one comes with it.
func (j *run) settle(ctx context.Context, fail *failure) *failure {
	if fail == nil || fail.state != event.Failed || j.StopWait == 0 {
		return fail
	}
	timer := time.NewTimer(j.StopWait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return stopped(ctx)
	case <-timer.C:
		return fail
	}
}

var stageWords = map[plan.Stage]string{
	plan.Infra: "Starting infrastructure services", plan.Workers: "Starting backend workers",
	plan.FrontendStage: "Starting frontend",
}

func (j *run) bringUp(ctx context.Context) *failure {
	for _, stage := range []plan.Stage{plan.Infra, plan.Workers, plan.FrontendStage} {
		steps := slices.DeleteFunc(slices.Clone(j.Plan.Steps), func(s plan.Step) bool { return s.Stage != stage })
		if len(steps) == 0 {
			continue
		}
		j.rec.say("INFO", stageWords[stage])
		var waiting []*started
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

func (j *run) start(s plan.Step) (*started, *failure) {
	proc, err := j.Runner.Start(s, filepath.Join(j.LogDir, s.Log))
	if err != nil {
		return nil, failed(fmt.Sprintf("%s did not start: %v", s.Name, err))
	}
	st := &started{step: s, proc: proc, begun: j.Now()}
	j.steps = append(j.steps, st)
	j.rec.event(event.StepStart, s.Name, event.Data{PID: proc.PID(), Log: s.Log})
	go func() {
		<-proc.Done()
		j.exits <- st // has room for every step
	}()
	if err := j.lookAt(st); err != nil {
		return nil, failed(fmt.Sprintf("%s: %v", s.Name, err))
	}
	return st, nil
}

// ended takes note of an exit. Any exit of a step that has not been asked to end
// is a failure, code 0 included: a server that quietly left is gone all the same.
func (j *run) ended(st *started) *failure {
	st.ended = true
	code := st.proc.ExitCode()
	why := ""
	if !st.asked && !st.step.EndsRun {
		why = fmt.Sprintf("%s exited with code %d before the run's end", st.step.Name, code)
		why += cause(filepath.Join(j.LogDir, st.step.Log))
	}
	j.rec.event(event.StepExit, st.step.Name, event.Data{ExitCode: &code, Message: why})
	if why == "" {
		return nil
	}
	j.rec.say("ERROR", fmt.Sprintf("Critical process '%s' exited with code %d", st.step.Name, code))
	return failed(why)
}

// dead is the failure that a fatal line in a step's log stands for.
func (j *run) dead(f fatalLine) *failure {
	if f.st == nil {
		j.rec.say("ERROR", f.line)
		return failed(f.line)
	}
	why := fmt.Sprintf("%s is dead although it runs: its log says: %s", f.st.step.Name, f.line)
	j.rec.say("ERROR", why)
	return failed(why)
}

// stopped is the failure that a cancelled context stands for.
func stopped(ctx context.Context) *failure {
	var s StopCause
	if errors.As(context.Cause(ctx), &s) {
		return &failure{state: s.State, code: 1, why: cmp.Or(s.Reason, "stopped on request"), within: s.KillAfter}
	}
	return &failure{state: event.Cancelled, code: 1, why: "stopped"}
}

func (j *run) client(ctx context.Context) *failure {
	for _, s := range j.Plan.Steps {
		if s.Stage != plan.Client {
			continue
		}
		j.rec.say("INFO", "Server is healthy - starting benchmark")
		j.rec.state(event.Ready, "", nil)
		j.rec.say("INFO", "Running AgentPerf benchmark")
		st, fail := j.start(s)
		if fail != nil {
			return fail
		}
		if fail := j.follow(ctx, st); fail != nil {
			return fail
		}
	}
	return nil
}

// follow waits for the client.
func (j *run) follow(ctx context.Context, client *started) *failure {
	go j.listen(client)
	for {
		select {
		case <-ctx.Done():
			return stopped(ctx)
		case f := <-j.fatal:
			return j.dead(f)
		case s := <-j.silent:
			j.stall(client, s)
		case st := <-j.exits:
			if fail := j.ended(st); fail != nil {
				return fail
			}
			if st != client {
				continue
			}
			if code := st.proc.ExitCode(); code != 0 {
				j.rec.say("ERROR", fmt.Sprintf("Benchmark failed with exit code %d", code))
				why := fmt.Sprintf("the client exited with code %d", code) + cause(filepath.Join(j.LogDir, st.step.Log))
				return &failure{state: event.Failed, code: code, why: why}
			}
			j.rec.say("INFO", "Benchmark completed successfully")
			return nil
		}
	}
}

// shutdown ends what still runs: the client first, then frontend and workers
// together, then the infrastructure. A tier is asked all at once and waited for.
// The roll-up is made while the client winds up: the time may be short in which a
// scheduler kills everything. What the client still adds is rolled up after it.
func (j *run) shutdown(fail *failure) {
	j.hurry(fail)
	for _, tier := range []struct {
		stages []plan.Stage
		grace  time.Duration
	}{
		{[]plan.Stage{plan.Client}, j.Grace.Client},
		{[]plan.Stage{plan.FrontendStage, plan.Workers}, j.Grace.Servers},
		{[]plan.Stage{plan.Infra}, j.Grace.Servers},
	} {
		var left []*started
		for _, st := range j.steps {
			if !st.ended && slices.Contains(tier.stages, st.step.Stage) {
				st.asked = true
				left = append(left, st)
				if err := st.proc.Terminate(); err != nil {
					j.rec.say("WARNING", fmt.Sprintf("ask %s to end: %v", st.step.Name, err))
				}
			}
		}
		if len(left) > 0 && slices.Contains(tier.stages, plan.Client) {
			j.rollup(fail, false)
		}
		if !j.drain(left, tier.grace) {
			for _, st := range left {
				if st.ended {
					continue
				}
				j.rec.say("WARNING", st.step.Name+" did not end in time: killed")
				if err := st.proc.Kill(); err != nil {
					j.rec.say("ERROR", fmt.Sprintf("kill %s: %v", st.step.Name, err))
				}
			}
			j.drain(left, j.Grace.Servers)
		}
		if slices.Contains(tier.stages, plan.Client) {
			j.rollup(fail, true)
		}
	}
}

// hurry shortens the grace of steps to what a stop leaves: half of it for the
// client, whose outputs count, and an eighth for each wait of the servers.
func (j *run) hurry(fail *failure) {
	if fail == nil || fail.within == 0 {
		return
	}
	j.Grace.Client = min(j.Grace.Client, fail.within/2)
	j.Grace.Servers = min(j.Grace.Servers, fail.within/8)
}

// drain waits until the given steps have ended, or the time is over.
func (j *run) drain(left []*started, grace time.Duration) bool {
	all := func() bool { return !slices.ContainsFunc(left, func(st *started) bool { return !st.ended }) }
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for !all() {
		select {
		case st := <-j.exits:
			st.asked = true // of another tier: it went while everything goes
			j.ended(st)
		case <-timer.C:
			return false
		}
	}
	return true
}

// rollup writes the roll-up from what is on disk, after a failure too, flagged as partial then:
// what was measured is not lost. The last time it tells what stands against it.
func (j *run) rollup(fail *failure, last bool) {
	known := results.RunContext{Planned: PlannedPhases(j.Plan.Phases)}
	if fail != nil {
		known.Partial = PartialReason(fail.state, fail.why)
	}
	if j.Identity != nil {
		known.Identity = j.Identity()
	}
	for _, st := range j.steps {
		if st.step.Stage == plan.Client {
			known.Start = st.begun
		}
	}
	path, doc, err := results.WriteRollup(context.Background(), j.LogDir, known)
	if !last {
		return // what is amiss is told once
	}
	for _, s := range doc.Skipped {
		j.rec.say("WARNING", "roll-up leaves out "+s)
	}
	switch {
	case err != nil:
		j.rec.say("WARNING", fmt.Sprintf("roll-up: %v", err))
		j.rec.event(event.Info, "", event.Data{Message: "no roll-up: " + err.Error()})
	case path == "":
		j.rec.say("INFO", "no phase has ended: no roll-up")
	}
}

// PartialReason is why the results of a run that has come to this state are not all that
// it was to give; empty for one that is done.
func PartialReason(state event.State, why string) string {
	if state == event.Done {
		return ""
	}
	return strings.TrimSuffix("the run is "+string(state)+": "+why, ": ")
}

// PlannedPhases is what a plan says of its phases, for the figures.
func PlannedPhases(phases []plan.Phase) []results.PlannedPhase {
	out := make([]results.PlannedPhase, 0, len(phases))
	for _, ph := range phases {
		out = append(out, results.PlannedPhase{
			Phase: ph.Index, Concurrency: ph.Concurrency, Ramp: ph.RampSeconds, Settling: ph.SettlingSeconds, Timeout: ph.TimeoutSeconds,
			MinMeasurement: ph.MinMeasurement,
		})
	}
	return out
}
