package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/smallfile"
)

// commentTag begins the comment of our jobs; what stands behind it is unique.
const commentTag = "agentperf-tui:"

// attempt is a submit under way, on disk from before sbatch is called until the
// run is recorded: if its end is missing, the next submit finishes it first.
type attempt struct {
	Staged string        `json:"staged"`
	Base   string        `json:"base"`
	Record rundir.Record `json:"record"`
	path   string
}

func (e *Engine) attempts() string { return filepath.Join(e.Paths.State, "submitting") }

// submitSlurm queues a run. Its job is held until the run's folder has its final
// name and the run is recorded: nothing runs that is not known, and a job whose
// submit was cut off at any point does not run either.
func (e *Engine) submitSlurm(ctx context.Context, p *Pair, pl *plan.Plan, rec rundir.Record) (rundir.Record, error) {
	if err := e.finishAttempts(ctx); err != nil {
		return rec, err
	}
	programs, _, err := e.programsFor(ctx, p.Recipe.Slurm.Partition)
	if err != nil {
		return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	at, done, err := e.attempt(ctx, p, pl, rec, programs...)
	if err != nil {
		return rec, err
	}
	defer done()
	id, err := slurm.Hold(ctx, filepath.Join(at.Staged, rundir.ScriptFile), strings.TrimSpace(at.Record.Comment+" "+comment(p)), rec.After)
	if errors.Is(err, slurm.ErrUnsure) {
		return at.Record, err // the attempt stays on disk
	}
	if err != nil {
		return rec, errors.Join(err, at.forget())
	}
	at.Record.Created = e.now().UTC()
	return e.finish(context.WithoutCancel(ctx), at, id)
}

// attempt stages a run's files and puts the attempt to submit it on disk, with the
// comment by which its job is found; done ends it as begin's does.
func (e *Engine) attempt(ctx context.Context, p *Pair, pl *plan.Plan, rec rundir.Record, programs ...rundir.Program) (at attempt, done func(), err error) {
	files, err := e.runFiles(ctx, p, pl, rec)
	if err != nil {
		return at, nil, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	staged, err := rundir.Stage(pl.OutputDir, files, programs...)
	if err != nil {
		return at, nil, err
	}
	tag := filepath.Base(staged)
	rec.Comment, rec.Cluster = commentTag+tag, slurm.ClusterName(ctx)
	at = attempt{Staged: staged, Base: pl.OutputDir, Record: rec, path: filepath.Join(e.attempts(), tag+".json")}
	if done, err = at.begin(); err != nil {
		return at, nil, errors.Join(fmt.Errorf("submit %s: %w", pl.Name, err), os.RemoveAll(staged))
	}
	return at, done, nil
}

// comment is what the recipe or the site wants the job's comment to be.
func comment(p *Pair) string {
	if c, ok := p.Recipe.SbatchDirectives.Get("comment"); ok {
		return c
	}
	c, _ := p.Cluster.SbatchDirectives.Get("comment")
	return c
}

// begin puts the attempt on disk; done gives up the lock that shows others that
// somebody is at work on it.
func (a attempt) begin() (done func(), err error) {
	if err := os.MkdirAll(filepath.Dir(a.path), 0o755); err != nil {
		return nil, fmt.Errorf("record the submit: %w", err)
	}
	lock := flock.New(a.path + ".lock")
	if err := lock.Lock(); err != nil {
		return nil, fmt.Errorf("record the submit: %w", err)
	}
	if err := smallfile.WriteJSON(a.path, a, 0o600); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return func() { _ = lock.Unlock() }, nil // it goes with the process at the latest
}

// forget removes an attempt of which nothing has come.
func (a attempt) forget() error { return errors.Join(os.RemoveAll(a.Staged), a.end()) }

func (a attempt) end() error { return errors.Join(os.Remove(a.path), os.Remove(a.path+".lock")) }

// finish gives a held job's folder its name, records the run and lets the job go.
// Where one of these fails the job is taken back.
func (e *Engine) finish(ctx context.Context, a attempt, id string) (rundir.Record, error) {
	rec := a.Record
	rec.ID, rec.Dir = id, filepath.Join(a.Base, id)
	err := publish(a, rec)
	if err == nil {
		err = e.registry.Add(rec)
	}
	if err != nil {
		return rec, errors.Join(err, slurm.Withdraw(ctx, id), a.forget())
	}
	if err := slurm.Release(ctx, id); err != nil {
		return rec, err // the attempt stays on disk: the next submit tries again
	}
	return rec, a.end()
}

func publish(a attempt, rec rundir.Record) error {
	if _, err := os.Stat(a.Staged); errors.Is(err, fs.ErrNotExist) {
		if old, rerr := rundir.ReadRecord(rec.Dir); rerr == nil && old.Comment == rec.Comment {
			return nil // an attempt that was cut off after this point
		}
	}
	if err := smallfile.WriteJSON(filepath.Join(a.Staged, rundir.RecordFile), rec, 0o644); err != nil {
		return err
	}
	_, err := rundir.Publish(a.Staged, a.Base, rec.ID)
	return err
}

// finishAttempts looks for submits that were cut off. One whose job is in the
// queue is brought to its end, and is the error: whoever submits again because of
// it must not get two runs.
func (e *Engine) finishAttempts(ctx context.Context) error {
	paths, err := filepath.Glob(filepath.Join(e.attempts(), "*.json"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		lock := flock.New(path + ".lock")
		if free, err := lock.TryLock(); err != nil || !free {
			continue // somebody is at it
		}
		err := e.finishAttempt(ctx, path)
		if uerr := lock.Unlock(); err == nil {
			err = uerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) finishAttempt(ctx context.Context, path string) error {
	a := attempt{}
	if err := smallfile.ReadJSON(path, &a); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // brought to its end since it was listed
		}
		return fmt.Errorf("an earlier submit was cut off: %w; remove the file", err)
	}
	a.path = path
	j, err := slurm.Lookup(ctx, a.Record.Comment)
	switch {
	case err != nil:
		return fmt.Errorf("an earlier submit of %s was cut off, and its job can't be looked for: %w; nothing was submitted", a.Record.Name, err)
	case j.ID == "" && a.srtctl() && e.now().Sub(a.Record.Created) < slurm.SrtctlLimit:
		return fmt.Errorf("an earlier submit of %s was cut off, and the srtctl that it started may be at work yet; nothing was submitted; try again after %s, or remove %s if no srtctl runs",
			a.Record.Name, a.Record.Created.Add(slurm.SrtctlLimit).Local().Format("15:04:05"), path)
	case j.ID == "" || j.Over() && !a.srtctl(): // a held job that is over never ran
		return a.forget()
	}
	rec, err := e.finishQueued(context.WithoutCancel(ctx), a, j.ID)
	if err != nil {
		return fmt.Errorf("an earlier submit of %s was cut off: %w", a.Record.Name, err)
	}
	return fmt.Errorf("an earlier submit of %s was cut off after its job %s had been queued; that one goes on now, in %s, and nothing more was submitted; submit again for a second run", rec.Name, rec.ID, rec.Dir)
}

func (a attempt) srtctl() bool { return a.Record.Launcher == string(plan.Srtctl) }

func (e *Engine) finishQueued(ctx context.Context, a attempt, id string) (rundir.Record, error) {
	if a.srtctl() {
		return e.finishHanded(a, slurm.Handed{ID: id})
	}
	return e.finish(ctx, a, id)
}

// machines are architectures of nodes by uname, with Go's names.
var machines = []struct{ uname, arch string }{{"x86_64", "amd64"}, {"aarch64", "arm64"}}

func programFor(arch string) string { return programName + "-linux-" + arch }

// programs are the copies of this program that a run takes with it, and the
// architectures for which there is none.
func (e *Engine) programs() (have []rundir.Program, missing []string) {
	for _, m := range machines {
		name := programFor(m.arch)
		candidates := []string{filepath.Join(e.Config.ProgramsDir, name), filepath.Join(filepath.Dir(e.Program), name)}
		if e.Config.ProgramsDir == "" {
			candidates = candidates[1:]
		}
		if runtime.GOOS == "linux" && runtime.GOARCH == m.arch {
			candidates = []string{e.Program}
		}
		path := ""
		for _, c := range candidates {
			if info, err := os.Stat(c); path == "" && err == nil && info.Mode().IsRegular() {
				path = c
			}
		}
		if path == "" {
			missing = append(missing, m.arch)
			continue
		}
		have = append(have, rundir.Program{Path: path, Name: name})
	}
	return have, missing
}

// programsFor refuses a submit to nodes for which there is no program; note tells
// that it is not known whether one is missing.
func (e *Engine) programsFor(ctx context.Context, partition string) (have []rundir.Program, note string, err error) {
	have, missing := e.programs()
	if len(missing) == 0 {
		return have, "", nil
	}
	archs, err := slurm.Architectures(ctx, partition)
	if err != nil || len(archs) == 0 {
		return have, fmt.Sprintf("there is no %s beside this program: the run can't start on nodes of that architecture, and Slurm does not tell what the nodes are", programFor(missing[0])), nil
	}
	for _, m := range machines {
		if slices.Contains(missing, m.arch) && slices.Contains(archs, m.uname) {
			return nil, "", fmt.Errorf("nodes of partition %s are %s, and there is no %s beside %s or in programs_dir of the configuration; make dist builds it",
				partition, m.uname, programFor(m.arch), e.Program)
		}
	}
	return have, "", nil
}

// settle is how long a step's failure waits for the TERM that may explain it.
const settle = 2 * time.Second

// superviseSlurm runs the plan in the job's allocation.
func (e *Engine) superviseSlurm(ctx context.Context, dir string, rec rundir.Record, p *plan.Plan, log io.Writer) (int, error) {
	id := e.getenv("SLURM_JOB_ID")
	if id != rec.ID {
		return 1, fmt.Errorf("supervise %s: it belongs into the allocation of job %s, and this is %q", dir, rec.ID, id)
	}
	atStart, err := slurm.Status(ctx, rec)
	if err != nil { // its end is asked for again when it counts
		atStart = slurm.Job{}
	}
	pairs, err := slurm.Bindings(ctx, p, id, e.getenv("SLURM_JOB_NODELIST"), dir, rundir.Logs(dir))
	if err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	p = p.Bind(pairs...)
	if err := rundir.WriteNew(filepath.Join(dir, rundir.BoundFile), p, 0o600); err != nil {
		return 1, fmt.Errorf("supervise %s: %w", dir, err)
	}
	go identifyInJob(dir, log)            // while the servers start; a file system that hangs holds nobody up
	window := slurm.KillWait(ctx) * 4 / 5 // asked now: at the end there is no time for questions
	running, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	go func() {
		select {
		case <-ctx.Done():
			stop(e.whyStopped(dir, rec, atStart, window))
		case <-running.Done():
		}
	}()
	return job.Run(running, job.Options{
		Plan: p, LogDir: rundir.Logs(dir), Runner: slurm.NewRunner(id), Log: log, Now: e.now, Settle: settle, Components: backend.All().Components(),
		Identity: func() json.RawMessage { return identity.JSON(dir, rundir.Logs(dir)) },
	})
}

// whyStopped tells what a TERM means: our own cancel, the time limit, or what the
// controller says. A job that Slurm ends is killed within the window.
func (e *Engine) whyStopped(dir string, rec rundir.Record, atStart slurm.Job, window time.Duration) job.Stopped {
	if by := rundir.CancelledBy(dir); by != "" {
		return job.Stopped{State: event.Cancelled, Why: by}
	}
	ctx, done := context.WithTimeout(context.Background(), 3*time.Second)
	defer done()
	// The end of a job that Slurm is ending is now: only a running one has its limit
	// there, which may have been changed since the start.
	j, err := slurm.Status(ctx, rec)
	nodes := e.getenv("SLURM_JOB_NODELIST")
	if j.WasPreempted() {
		return job.Stopped{State: event.Cancelled, Why: "preempted: Slurm gives its nodes to a job of higher priority", Within: window}
	}
	if down := slurm.Down(ctx, nodes); len(down) > 0 {
		return job.Stopped{State: event.Failed, Why: "node " + strings.Join(down, ", ") + " of the allocation is down", Within: window}
	} else if j.NodeLost() { // and is back already, as after a restart of its slurmd
		return job.Stopped{State: event.Failed, Why: "a node of the allocation was down: one of " + nodes, Within: window}
	}
	if err != nil || j.State != "RUNNING" {
		atStart.State = j.State
		j = atStart
	}
	switch {
	case j.AtLimit(e.now()):
		return job.Stopped{State: event.Timeout, Why: "the time limit of the job, " + j.End.Local().Format("15:04:05") + ", is near"}
	case j.State == "RUNNING":
		return job.Stopped{State: event.Cancelled, Why: "a TERM signal came for the batch script alone"}
	}
	return job.Stopped{State: event.Cancelled, Why: "Slurm is ending the job: somebody cancelled it" + maybe(err), Within: window}
}

// maybe is added to what is said without the controller's word.
func maybe(err error) string {
	if err == nil {
		return ""
	}
	return ", or it is preempted: the controller does not answer"
}
