// Package bench is the step that runs the external AgentPerf client, in the container on the
// client's node: it builds the client's checkout in a runtime folder of its own, brings the
// datasets next to it, and becomes the client's parent: signals go through, the exit code comes
// back. It trusts neither the image's environment nor an earlier start in the same folder. It knows of
// Slurm only the job's id, and nothing of the servers or of what the client measures.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// ResultsDir is where the client writes: the log dir is mounted at /logs.
const ResultsDir = "/logs/agentperf"

// SystemPath lists the folders of the image's own programs, as in PATH.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// interrupted is the exit code of a step that was asked to end before its client
// had started: a shell's 128 + SIGTERM.
const interrupted = 128 + int(syscall.SIGTERM)

// Options are what the step is told.
type Options struct {
	Endpoint   string // http://host:port; SRT_FRONTEND_HOST and SRT_FRONTEND_PORT win
	Model      string // as served
	ClientDir  string // the client's checkout; may be read-only
	Config     string // the workload file
	Levels     []int  // users, one phase each
	ResultsDir string // empty: [ResultsDir]
	EventFile  string // empty: the client's event log in the folder above ResultsDir
	Environ    []string
	SystemPath string // empty: [SystemPath]
	// Log gets this step's lines and all output of the programs it starts. A file
	// is handed to the client as it is.
	Log io.Writer
	Now func() time.Time
}

// limits are the step's times; tests have their own.
type limits struct {
	build time.Duration // for the whole build
	// stale is the age from which a build lock counts for nothing. Since a build
	// ends itself before that, its holder is not building any more.
	stale time.Duration
	wait  time.Duration // for another start's build
	poll  time.Duration // between two looks at the lock
	tell  int           // looks between two lines that say so
	git   time.Duration // for one call
	grace time.Duration // from TERM to KILL; inside the 30 s that a run's supervisor gives its client
}

var usual = limits{
	build: 29 * time.Minute, stale: 30 * time.Minute, wait: 30 * time.Minute, poll: time.Second, tell: 30,
	git: time.Minute, grace: 25 * time.Second,
}

// Run prepares and runs the client and returns the step's exit code: the client's own (a signal N
// counts as 128+N) once it has started, 143 (stopped) or 1 with an error before that. When ctx
// ends, whatever runs gets SIGTERM and is waited for. An error beside the client's code says that
// the step's own records are not complete.
func Run(ctx context.Context, opt Options) (int, error) {
	return start(ctx, opt, usual)
}

func start(ctx context.Context, opt Options, lim limits) (int, error) {
	opt.ResultsDir, opt.SystemPath = cmp.Or(opt.ResultsDir, ResultsDir), cmp.Or(opt.SystemPath, SystemPath)
	opt.EventFile = cmp.Or(opt.EventFile, filepath.Join(filepath.Dir(opt.ResultsDir), event.ClientFileName))
	s := &step{Options: opt, lim: lim, rec: &recorder{log: opt.Log, now: opt.Now}}
	code, err := s.run(ctx)
	for _, f := range s.held {
		err = errors.Join(err, unlock(f))
	}
	if err != nil {
		err = fmt.Errorf("bench: %w", err)
	}
	return code, err
}

// step is one run of the step.
type step struct {
	Options
	settings
	lim  limits
	rec  *recorder
	held []*os.File // locked until the client has ended; the client inherits them
}

func (s *step) run(ctx context.Context) (int, error) {
	w, err := s.inputs()
	if err != nil {
		return 1, err
	}
	if err := s.lockResults(); err != nil {
		return 1, err
	}
	if s.rec.events, err = event.OpenAppender(s.EventFile, s.Now); err != nil {
		return 1, err
	}
	code, err := s.work(ctx, w)
	if err != nil && ctx.Err() != nil {
		return interrupted, errors.Join(fmt.Errorf("stopped before the client started: %w", err), s.rec.events.Close())
	}
	return code, errors.Join(err, s.rec.err, s.rec.events.Close())
}

// inputs checks everything that can be wrong before anything is made.
func (s *step) inputs() (*recipes.Workload, error) {
	var err error
	if s.settings, err = newSettings(s.Options); err != nil {
		return nil, err
	}
	if info, err := os.Stat(s.ClientDir); err != nil {
		return nil, problem.Errorf(problem.ClientInvalid, "client checkout: %w; "+
			"mount it into the container with extra_mount, or correct benchmark.agentperf_client_dir", err)
	} else if !info.IsDir() {
		return nil, problem.Errorf(problem.ClientInvalid, "client checkout: %s is not a directory; "+
			"correct benchmark.agentperf_client_dir", s.ClientDir)
	}
	if s.ClientDir, err = filepath.Abs(s.ClientDir); err != nil {
		return nil, fmt.Errorf("client checkout: %w", err)
	}
	if _, err := os.Stat(filepath.Join(s.ClientDir, script)); err != nil {
		return nil, problem.Errorf(problem.ClientInvalid, "client checkout: %s is not a checkout of the client: %w; "+
			"correct benchmark.agentperf_client_dir", s.ClientDir, err)
	}
	w, found, err := recipes.LoadWorkload(s.Config)
	if err != nil {
		return nil, fmt.Errorf("%w; mount its directory with extra_mount, or correct benchmark.agentperf_config", err)
	}
	for _, d := range found {
		if w == nil {
			return nil, problem.Errorf(problem.RecipeInvalid, "workload: %s", d)
		}
		if d.Severity == recipes.Error { // the client owns this file and decides
			s.rec.say("workload: %s", d)
		}
	}
	if w.TrajectoryPath == "" {
		return nil, problem.Errorf(problem.RecipeInvalid, "workload %s: trajectory_path is not set", s.Config)
	}
	return w, nil
}

func (s *step) work(ctx context.Context, w *recipes.Workload) (int, error) {
	if err := s.makeRuntime(); err != nil {
		return 1, err
	}
	for _, line := range s.remarks {
		s.rec.say("%s", line)
	}
	if err := raiseFiles(); err != nil {
		s.rec.say("%v", err)
	}
	if err := s.prepare(ctx, w); err != nil {
		return 1, err
	}
	return s.client(ctx)
}

// prepare makes the client and its data ready, one start in a runtime at a time.
func (s *step) prepare(ctx context.Context, w *recipes.Workload) error {
	code := s.checkout(ctx)
	s.rec.note("checkout", marker(code))
	lock := buildLock{dir: s.in(".build-lock"), now: s.Now, stale: s.lim.stale}
	if err := s.acquire(ctx, &lock); err != nil {
		return err
	}
	err := s.ready(ctx, code, w)
	return errors.Join(err, lock.release())
}

func (s *step) ready(ctx context.Context, code identity.Checkout, w *recipes.Workload) error {
	if marker := marker(code); s.built(marker) {
		s.rec.say("the client is built already: %s", marker)
	} else if err := s.build(ctx, marker); err != nil {
		return err
	}
	inputs, err := s.stage(ctx, w)
	if err != nil {
		return err
	}
	if err := s.identify(ctx, code, inputs); err != nil && ctx.Err() == nil {
		s.rec.say("%v", err)
	}
	return nil
}

// script is the client's program, below its checkout, and from where it runs.
const script = "agentperf/run.py"

// client runs the client itself. Nothing is said after its end: its own last
// words are what a reader of the log looks for.
func (s *step) client(ctx context.Context) (int, error) {
	argv := []string{
		"uv", "run", "--no-sync", "python", script, "--config", s.in(configFile), "--base-url", s.baseURL, "--model", s.Model,
		"--concurrencies", recipes.JoinInts(s.Levels), "--request-log-path", filepath.Join(s.ResultsDir, "requests.jsonl"),
		"--results-dir", s.ResultsDir,
	}
	argv = append(argv, s.extra...)
	s.rec.say("%s", shown(argv))
	begun := s.Now()
	s.rec.event(event.ClientStep, event.Data{Message: "started"})
	code, err := s.exec(ctx, command{argv: argv, out: s.Log, errs: s.Log, held: s.held})
	if err != nil {
		return 1, fmt.Errorf("run the client: %w", err)
	}
	took := s.Now().Sub(begun).Seconds()
	said := fmt.Sprintf("ended with code %d after %.1f s", code, took)
	s.rec.event(event.ClientStep, event.Data{Message: said, Seconds: took, ExitCode: &code})
	return code, nil
}

// shown is a command line for the log, which more people read than may know a key.
func shown(argv []string) string {
	out := slices.Clone(argv)
	for i, a := range out {
		if strings.HasPrefix(a, "--api-key=") {
			out[i] = "--api-key=…"
		} else if a == "--api-key" && i+1 < len(out) {
			out[i+1] = "…"
		}
	}
	return strings.Join(out, " ")
}

// raiseFiles lifts the soft limit of open files to the hard one: each user of
// the client holds a connection.
func raiseFiles() error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	l.Cur = l.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("raise the limit of open files to %d: %w", l.Max, err)
	}
	return nil
}

// machine is what uname -m says.
func machine() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return runtime.GOARCH
}
