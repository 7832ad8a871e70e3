// Package engine is the API for user interfaces. Every operation of the program is a
// method of [Engine] that takes a context and returns values or streams. The package reads
// the user's configuration and delegates to the packages below it. It implements only the
// operations that need several of them, such as the comparison of runs. It prints nothing.
package engine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/report"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/engine/submit"
	"github.com/agentperf/agentperf-tui/engine/supervise"
	"github.com/agentperf/agentperf-tui/engine/watch"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

const appName = "agentperf-tui"

// reloadXDG makes the XDG library read the environment once, since the library stores the result
// in global variables and concurrent reloads would race.
var reloadXDG sync.Once

// Engine provides all operations: the methods of its parts and some of its own. Make it with [New].
type Engine struct {
	*draft.Drafts     // load, check, edit and save recipes and workloads
	*submit.Submitter // plan, run preflight checks, submit
	*runs.Store       // find, list and cancel runs; read their logs and figures
	*watch.Watcher    // follow a run, play back a completed one

	Paths Paths

	opt      Options
	registry rundir.Registry
	tiers    []results.Tier // the configured service levels
	band     float64        // default tolerance band of a comparison, as a fraction
}

// Paths are the locations of the user's files.
type Paths struct {
	Config string // config.yaml, $XDG_CONFIG_HOME/agentperf-tui
	State  string // recorded runs and unsaved changes, $XDG_STATE_HOME/agentperf-tui
	Output string // parent of run directories: --output-dir, config.yaml, or ./outputs
}

// Options are the arguments of [New]. The zero value uses the real environment and clock.
type Options struct {
	Version   string
	OutputDir string // overrides output_dir of the configuration file
	StateDir  string // replaces the user's state directory
	Getenv    func(string) string
	Now       func() time.Time
	Program   string // default: this executable
	// PortReports finds the port report of a recipe: a recipe with open questions is not
	// submitted, and the report is copied to the run directory. It may be nil.
	PortReports draft.PortReports
}

// New resolves the user's directories and reads the configuration. An unreadable or
// invalid configuration file is an error.
func New(opt Options) (*Engine, error) {
	reloadXDG.Do(xdg.Reload)
	if opt.Getenv == nil {
		opt.Getenv = os.Getenv
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	var err error
	if opt.Program == "" {
		if opt.Program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find the path of this program: %w", err)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("find the name of this host: %w", err)
	}
	if opt.StateDir == "" && opt.Getenv("HOME") == "" && opt.Getenv("XDG_STATE_HOME") == "" {
		return nil, problem.New(problem.StateDirUnset, "find the state directory: "+
			"neither HOME nor XDG_STATE_HOME is set; set one of them")
	}
	paths := Paths{
		Config: filepath.Join(xdg.ConfigHome, appName, "config.yaml"),
		State:  cmp.Or(opt.StateDir, filepath.Join(xdg.StateHome, appName)),
	}
	c, err := readConfig(paths.Config, opt.Getenv)
	if err != nil {
		return nil, err
	}
	if paths.Output, err = filepath.Abs(cmp.Or(opt.OutputDir, c.OutputDir, "outputs")); err != nil {
		return nil, fmt.Errorf("find the output directory: %w", err)
	}
	e := &Engine{Paths: paths, opt: opt, tiers: c.tiers(), band: c.BandPercent / 100}
	e.registry.Dir = filepath.Join(paths.State, "runs")
	every := time.Duration(c.QueueSeconds * float64(time.Second))
	status := runs.NewResolver(&slurm.Queue{Dir: paths.State, Interval: every, Now: opt.Now}, opt.Now, host)
	e.Store, e.Watcher = runs.New(e.registry, status), watch.New(status, opt.Now)
	e.Drafts = draft.New(draft.Options{
		Getenv: opt.Getenv, Now: opt.Now, Host: host, State: paths.State, PortReports: opt.PortReports,
	})
	e.Submitter = submit.New(submit.Options{
		Registry: e.registry, Files: e.Drafts, State: paths.State, Output: paths.Output, Host: host, Now: opt.Now,
		Program: opt.Program, ProgramsDir: c.ProgramsDir, Version: opt.Version,
		StallSeconds: c.StallSeconds, PortReports: opt.PortReports,
	})
	return e, nil
}

// Tiers returns the configured service levels.
func (e *Engine) Tiers() []results.Tier { return e.tiers }

// Export loads a run for a report, see [report.Load].
func (e *Engine) Export(ctx context.Context, ref RunRef, bucketSeconds float64) (report.Run, error) {
	run, err := report.Load(ctx, ref, e.tiers, bucketSeconds)
	run.ReportedBy = appName + " " + e.opt.Version
	return run, err
}

// WriteComparison writes a comparison as an HTML page to a directory, see [report.WriteComparison].
func (*Engine) WriteComparison(dir string, c parity.Comparison) (string, error) {
	return report.WriteComparison(dir, c)
}

// Supervise executes the plan in a run directory, see [supervise.Supervisor.Run].
func (e *Engine) Supervise(ctx context.Context, dir string, log io.Writer) (int, error) {
	s := supervise.Supervisor{Registry: e.registry, Program: e.opt.Program, Getenv: e.opt.Getenv, Now: e.opt.Now}
	return s.Run(ctx, dir, log)
}
