// Package engine is the facade: everything that a user can do, as functions that
// take a context and return values or streams. It finds the user's configuration and
// folders and puts the parts together, each a package below; what is done is done
// there, but for what takes several of them: comparisons of runs, and a look at what
// this machine has. Nothing below it knows it, and nothing of it prints.
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

// readHome reads the environment into the XDG library's variables, which are the
// process's own and not safe to write twice.
var readHome sync.Once

// Engine is what a user can do: the methods of its parts, and some of its own. Make it with [New].
type Engine struct {
	*draft.Drafts     // load, check, edit and save recipes and workloads
	*submit.Submitter // plan, look at what stands against a submit, submit
	*runs.Store       // find, list and cancel runs; their logs and figures
	*watch.Watcher    // follow a run, play one back

	Paths Paths

	opt      Options
	registry rundir.Registry
	tiers    []results.Tier // the configured service levels
	band     float64        // of the verdict of a comparison where none is given, a fraction
}

// Paths are the places of user-visible state, one for each kind.
type Paths struct {
	Config string // config.yaml, $XDG_CONFIG_HOME/agentperf-tui
	State  string // records of known runs, $XDG_STATE_HOME/agentperf-tui
	Output string // base of run folders: --output-dir, config.yaml, or ./outputs
}

// Options are what a program passes to [New]; the zero value is the real world.
type Options struct {
	Version   string
	OutputDir string // beats the configuration file's
	StateDir  string // used instead of the user's state folder
	Getenv    func(string) string
	Now       func() time.Time
	Program   string // default: this executable
	// PortReports knows the reports of ports: nothing is submitted over open questions, and a
	// recipe's report goes into the folder of its run. It may be nil.
	PortReports submit.PortReports
}

// New finds the user's folders and reads the configuration. A configuration
// file that can't be read is an error that names it.
func New(opt Options) (*Engine, error) {
	readHome.Do(xdg.Reload)
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
	e.Drafts = draft.New(draft.Options{Getenv: opt.Getenv, Now: opt.Now, Host: host, State: paths.State})
	e.Submitter = submit.New(submit.Options{
		Registry: e.registry, Files: e.Drafts, State: paths.State, Output: paths.Output, Host: host, Now: opt.Now,
		Program: opt.Program, ProgramsDir: c.ProgramsDir, Version: opt.Version,
		StallSeconds: c.StallSeconds, PortReports: opt.PortReports,
	})
	return e, nil
}

// Tiers are the configured service levels.
func (e *Engine) Tiers() []results.Tier { return e.tiers }

// Export reads all that is told of a run, see [report.Load].
func (e *Engine) Export(ctx context.Context, ref RunRef, bucketSeconds float64) (report.Run, error) {
	return report.Load(ctx, ref, e.tiers, bucketSeconds)
}

// WriteComparison writes a comparison as a page into a folder, see [report.WriteComparison].
func (*Engine) WriteComparison(dir string, c parity.Comparison) (string, error) {
	return report.WriteComparison(dir, c)
}

// Supervise runs the plan of a run's folder, see [supervise.Supervisor.Run].
func (e *Engine) Supervise(ctx context.Context, dir string, log io.Writer) (int, error) {
	s := supervise.Supervisor{Registry: e.registry, Program: e.opt.Program, Getenv: e.opt.Getenv, Now: e.opt.Now}
	return s.Run(ctx, dir, log)
}
