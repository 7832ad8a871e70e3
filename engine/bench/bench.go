// Package bench is the client step of a run with the external AgentPerf client. It runs in the
// container on the client's node. It builds the client's checkout in a runtime directory, copies
// the datasets there, and runs the client as a child process: it passes on signals and returns the
// exit code. It does not depend on the image's environment or on files of an earlier start in the
// runtime directory.
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

// ResultsDir is the client's results directory. The log directory is mounted at /logs.
const ResultsDir = "/logs/agentperf"

// SystemPath lists the directories of the image's own programs, as in PATH.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// interrupted is the exit code of a step that was stopped before its client had started:
// 128 + SIGTERM, as in a shell.
const interrupted = 128 + int(syscall.SIGTERM)

// Options are the options of the step.
type Options struct {
	Endpoint   string // http://host:port; overridden by SRT_FRONTEND_HOST and SRT_FRONTEND_PORT
	Model      string // served model name
	ClientDir  string // the client's checkout; may be read-only
	Config     string // path of the workload file
	Levels     []int  // concurrency levels, one phase each
	ResultsDir string // default: [ResultsDir]
	EventFile  string // default: the client's event log in the parent of ResultsDir
	Environ    []string
	SystemPath string // default: [SystemPath]
	// Log receives the step's log lines and the output of all programs that it starts. If it is a
	// file, the client writes to it directly.
	Log io.Writer
	Now func() time.Time
}

// limits are the time limits of the step. Tests use shorter ones.
type limits struct {
	build time.Duration // of all build steps together
	// stale is the age at which a build lock is removed. It is longer than build, so that the
	// holder's build must have ended by then.
	stale  time.Duration
	wait   time.Duration // of waiting for another build
	poll   time.Duration // interval of checking the lock
	notice int           // number of checks of the lock from one log line about the wait to the next
	git    time.Duration // of one git command
	grace  time.Duration // from SIGTERM to SIGKILL; less than the 30 s that the supervisor gives the client
}

var defaultLimits = limits{
	build: 29 * time.Minute, stale: 30 * time.Minute, wait: 30 * time.Minute, poll: time.Second, notice: 30,
	git: time.Minute, grace: 25 * time.Second,
}

// Run builds and runs the client and returns the step's exit code. That is the client's exit code
// if it was started (128+N if signal N ended it), else 143 if ctx ended, else 1; the latter two
// come with an error. When ctx ends, Run sends SIGTERM to the running program and waits for it. An
// error together with the client's exit code means that the step's own records are incomplete.
func Run(ctx context.Context, opt Options) (int, error) {
	return runWithLimits(ctx, opt, defaultLimits)
}

func runWithLimits(ctx context.Context, opt Options, lim limits) (int, error) {
	opt.ResultsDir, opt.SystemPath = cmp.Or(opt.ResultsDir, ResultsDir), cmp.Or(opt.SystemPath, SystemPath)
	opt.EventFile = cmp.Or(opt.EventFile, filepath.Join(filepath.Dir(opt.ResultsDir), event.ClientFileName))
	s := &step{Options: opt, lim: lim, rec: &recorder{log: opt.Log, now: opt.Now}}
	code, err := s.run(ctx)
	for _, f := range s.locks {
		err = errors.Join(err, unlock(f))
	}
	if err != nil {
		err = fmt.Errorf("bench: %w", err)
	}
	return code, err
}

// step is the state of one call of Run.
type step struct {
	Options
	settings
	lim   limits
	rec   *recorder
	locks []*os.File // lock files; the client inherits them, so that they stay locked until it has ended
}

func (s *step) run(ctx context.Context) (int, error) {
	w, err := s.checkInputs()
	if err != nil {
		return 1, err
	}
	if err := s.lockResults(); err != nil {
		return 1, err
	}
	if s.rec.events, err = event.OpenAppender(s.EventFile, s.Now); err != nil {
		return 1, err
	}
	code, err := s.buildAndRun(ctx, w)
	if err != nil && ctx.Err() != nil {
		return interrupted, errors.Join(fmt.Errorf("stopped before the client started: %w", err), s.rec.events.Close())
	}
	return code, errors.Join(err, s.rec.err, s.rec.events.Close())
}

// checkInputs checks the options, the environment, the checkout and the workload.
func (s *step) checkInputs() (*recipes.Workload, error) {
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
		if d.Severity == recipes.Error { // not fatal: the client decides what it accepts
			s.rec.logf("workload: %s", d)
		}
	}
	if w.TrajectoryPath == "" {
		return nil, problem.Errorf(problem.RecipeInvalid, "workload %s: trajectory_path is not set", s.Config)
	}
	return w, nil
}

func (s *step) buildAndRun(ctx context.Context, w *recipes.Workload) (int, error) {
	if err := s.makeRuntime(); err != nil {
		return 1, err
	}
	for _, line := range s.notes {
		s.rec.logf("%s", line)
	}
	if err := raiseFileLimit(); err != nil {
		s.rec.logf("%v", err)
	}
	if err := s.prepare(ctx, w); err != nil {
		return 1, err
	}
	return s.runClient(ctx)
}

// prepare builds the client and copies its datasets, while it holds the build lock.
func (s *step) prepare(ctx context.Context, w *recipes.Workload) error {
	checkout := s.checkout(ctx)
	s.rec.report("checkout", marker(checkout))
	lock := buildLock{dir: s.in(".build-lock"), now: s.Now, stale: s.lim.stale}
	if err := s.acquire(ctx, &lock); err != nil {
		return err
	}
	err := s.buildAndStage(ctx, checkout, w)
	return errors.Join(err, lock.release())
}

func (s *step) buildAndStage(ctx context.Context, checkout identity.Checkout, w *recipes.Workload) error {
	if marker := marker(checkout); s.built(marker) {
		s.rec.logf("client already built: %s", marker)
	} else if err := s.build(ctx, marker); err != nil {
		return err
	}
	inputs, err := s.stageDatasets(ctx, w)
	if err != nil {
		return err
	}
	if err := s.identify(ctx, checkout, inputs); err != nil && ctx.Err() == nil {
		s.rec.logf("%v", err)
	}
	return nil
}

// script is the path of the client's program in its checkout.
const script = "agentperf/run.py"

// runClient runs the client. It logs nothing after the client has ended, so that the log ends with
// the client's own output.
func (s *step) runClient(ctx context.Context) (int, error) {
	argv := []string{
		"uv", "run", "--no-sync", "python", script, "--config", s.in(configFile), "--base-url", s.baseURL, "--model", s.Model,
		"--concurrencies", recipes.JoinInts(s.Levels), "--request-log-path", filepath.Join(s.ResultsDir, "requests.jsonl"),
		"--results-dir", s.ResultsDir,
	}
	argv = append(argv, s.extra...)
	s.rec.logf("%s", redacted(argv))
	begun := s.Now()
	s.rec.event(event.ClientStep, event.Data{Message: "started"})
	code, err := s.exec(ctx, command{argv: argv, out: s.Log, errs: s.Log, files: s.locks})
	if err != nil {
		return 1, fmt.Errorf("run the client: %w", err)
	}
	took := s.Now().Sub(begun).Seconds()
	message := fmt.Sprintf("ended with code %d after %.1f s", code, took)
	s.rec.event(event.ClientStep, event.Data{Message: message, Seconds: took, ExitCode: &code})
	return code, nil
}

// redacted returns a command line for the log, without the API key.
func redacted(argv []string) string {
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

// raiseFileLimit raises the soft limit of open files to the hard limit, because each user of the
// client holds a connection.
func raiseFileLimit() error {
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

// machine returns the architecture as uname -m prints it.
func machine() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return runtime.GOARCH
}
