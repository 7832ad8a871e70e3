// Package runs is the runs that are known here, and the folders of other tools: how
// one is found, what its state is by all the evidence, its logs and figures, and how
// it is cancelled. It knows what a run left behind, not how it was submitted.
package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/smallfile"
)

// Ref is a run that was found: by path, id or name. Make it with [Store.Find].
type Ref struct {
	Dir    string        // the run's folder; of an external run the folder that was given
	Logs   string        // its log dir
	Record rundir.Record // zero of an external run, which another tool made
}

// OnSlurm says whether the run is a job of Slurm's, ours or srtctl's.
func (l Ref) OnSlurm() bool { return plan.Target(l.Record.Launcher).OnSlurm() }

// Label is the run's name for people.
func (l Ref) Label() string {
	if l.Record.ID != "" {
		return l.Record.Name + "_" + l.Record.ID
	}
	return filepath.Base(filepath.Dir(l.Dir)) + "/" + filepath.Base(l.Dir)
}

// gone says that the folder of a run of the list is not there any more, and what its
// supervisor left to say of that.
func (l Ref) gone() error {
	if _, err := os.Stat(l.Dir); l.Record.ID == "" || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.New(strings.TrimSuffix("its folder is gone: "+l.Dir+"; "+l.Record.Lost, "; "))
}

func (l Ref) phases() ([]plan.Phase, error) {
	if l.Record.ID == "" {
		return nil, nil
	}
	if err := l.gone(); err != nil {
		return nil, fmt.Errorf("run %s: %w", l.Label(), err)
	}
	var phases []plan.Phase
	if err := smallfile.ReadJSON(filepath.Join(l.Dir, rundir.PhasesFile), &phases); err != nil {
		return nil, fmt.Errorf("read the phases of %s: %w", l.Label(), err)
	}
	return phases, nil
}

// Context is what the run's own files tell of it beyond the client's outputs.
func (l Ref) Context() (results.RunContext, error) {
	var c results.RunContext
	if l.Record.ID == "" {
		return c, nil
	}
	phases, err := l.phases()
	if err != nil {
		return c, err
	}
	c.Levels = job.Levels(phases)
	status, err := ReadStatus(l.Logs)
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
func (l Ref) GPUs() int {
	if l.Record.ID == "" || l.Record.Launcher == string(plan.Local) {
		return 0
	}
	r, _, err := recipes.Load(filepath.Join(l.Dir, rundir.RecipeFile))
	if err != nil || r == nil {
		return 0
	}
	n := 0
	for _, role := range r.Roles() {
		if role.Given && role.Workers > 0 {
			n += role.Workers * r.GPUsPerWorker(role)
		}
	}
	return n
}
