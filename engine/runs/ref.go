package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Ref refers to a run that [Store.Find] has found.
type Ref struct {
	Dir    string        // run directory; for an external run the given directory
	Logs   string        // log directory
	Record rundir.Record // zero for an external run
}

// OnSlurm reports whether the run is a Slurm job, submitted directly or with srtctl.
func (r Ref) OnSlurm() bool { return plan.Target(r.Record.Launcher).OnSlurm() }

// Label returns the name of the run for messages: <name>_<id>, or the last two elements of
// the path of an external run.
func (r Ref) Label() string {
	if r.Record.ID != "" {
		return r.Record.Name + "_" + r.Record.ID
	}
	return filepath.Base(filepath.Dir(r.Dir)) + "/" + filepath.Base(r.Dir)
}

// checkDir returns an error if the directory of a recorded run does not exist. The error
// includes the last message of the run's supervisor, if any.
func (r Ref) checkDir() error {
	if _, err := os.Stat(r.Dir); r.Record.ID == "" || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	text := strings.TrimSuffix("run directory not found: "+r.Dir+"; "+r.Record.Lost, "; ")
	return problem.New(problem.RunDirectoryMissing, text)
}

func (r Ref) phases() ([]plan.Phase, error) {
	if r.Record.ID == "" {
		return nil, nil
	}
	if err := r.checkDir(); err != nil {
		return nil, fmt.Errorf("run %s: %w", r.Label(), err)
	}
	var phases []plan.Phase
	if err := smallfile.ReadJSON(filepath.Join(r.Dir, rundir.PhasesFile), &phases); err != nil {
		return nil, fmt.Errorf("read the phases of %s: %w", r.Label(), err)
	}
	return phases, nil
}

// Context returns what is known about the run besides the client's outputs: the planned phases
// and the start of the client.
func (r Ref) Context() (results.RunContext, error) {
	var c results.RunContext
	if r.Record.ID == "" {
		var err error
		c.MinMeasurement, err = identity.MinMeasurement(r.Dir)
		return c, err
	}
	phases, err := r.phases()
	if err != nil {
		return c, err
	}
	c.Planned = job.PlannedPhases(phases)
	status, err := ReadStatus(r.Logs)
	if err != nil {
		return c, err
	}
	for _, s := range status.Steps {
		if s.Name == event.ClientStep {
			c.Start = s.Started
		}
	}
	return c, nil
}

// GPUs returns the number of GPUs of all workers according to the recipe. It is 0 without a
// recipe and for a local run, whose mock servers use none.
func (r Ref) GPUs() int {
	if r.Record.ID == "" || r.Record.Launcher == string(plan.Local) {
		return 0
	}
	recipe, _, err := recipes.Load(filepath.Join(r.Dir, rundir.RecipeFile))
	if err != nil || recipe == nil {
		return 0
	}
	n := 0
	for _, role := range recipe.Roles() {
		if role.Given && role.Workers > 0 {
			n += role.Workers * recipe.GPUsPerWorker(role)
		}
	}
	return n
}

// lastRowTime returns when the client last wrote a request row; zero if it has written none.
func (r Ref) lastRowTime() time.Time {
	info, err := os.Stat(results.RequestsPath(results.OutputDir(r.Logs)))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// EventsLag reports whether a run may have progressed beyond s, its state according to the event
// log: the external client writes no events, and a run of srtctl has no event log.
func (r Ref) EventsLag(s event.State) bool {
	return s == event.Ready || s == event.Starting && r.Record.Launcher == string(plan.Srtctl)
}
