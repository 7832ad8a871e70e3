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
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Ref is a run that was found: by path, id or name. Make it with [Store.Find].
type Ref struct {
	Dir    string        // the run's folder; of an external run the folder that was given
	Logs   string        // its log dir
	Record rundir.Record // zero of an external run, which another tool made
}

// OnSlurm says whether the run is a job of Slurm's, ours or srtctl's.
func (r Ref) OnSlurm() bool { return plan.Target(r.Record.Launcher).OnSlurm() }

// Label is the run's name for people.
func (r Ref) Label() string {
	if r.Record.ID != "" {
		return r.Record.Name + "_" + r.Record.ID
	}
	return filepath.Base(filepath.Dir(r.Dir)) + "/" + filepath.Base(r.Dir)
}

// gone says that the folder of a run of the list is not there any more, and what its
// supervisor left to say of that.
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

// Context is what the run's own files tell of it beyond the client's outputs.
func (r Ref) Context() (results.RunContext, error) {
	var c results.RunContext
	if r.Record.ID == "" {
		return c, nil
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

// GPUs are those of all the run's workers by its recipe; 0 when there is no
// recipe, and of a local run, whose mock servers use none.
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

// lastRowTime is when the client last wrote a row of its requests; zero before it has.
func (r Ref) lastRowTime() time.Time {
	info, err := os.Stat(filepath.Join(r.Logs, "agentperf", results.RequestsFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// EventsLag says whether a run in this state may be further than its events tell:
// the client writes none, or, as with srtctl, nobody does.
func (r Ref) EventsLag(s event.State) bool {
	return s == event.Ready || s == event.Starting && r.Record.Launcher == string(plan.Srtctl)
}
