package submit

import (
	"context"
	"errors"
	"os"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/smallfile"
)

// runFiles are what a run takes with it into its folder.
func (s *Submitter) runFiles(
	ctx context.Context, p *draft.Pair, pl *plan.Plan, rec rundir.Record,
) ([]rundir.File, error) {
	planJSON, err := smallfile.JSON(pl)
	if err != nil {
		return nil, err
	}
	recJSON, err := smallfile.JSON(rec)
	if err != nil {
		return nil, err
	}
	phases, err := smallfile.JSON(pl.Phases)
	if err != nil {
		return nil, err
	}
	id, err := smallfile.JSON(s.identify(ctx, p, pl, planJSON))
	if err != nil {
		return nil, err
	}
	files := []rundir.File{
		{Name: identity.FileName, Data: id, Mode: 0o644},
		{Name: rundir.PhasesFile, Data: phases, Mode: 0o644},
		{Name: rundir.PlanFile, Data: planJSON, Mode: 0o600},
		{Name: rundir.RecordFile, Data: recJSON, Mode: 0o644},
		{Name: rundir.RecipeFile, Data: p.RecipeText, Mode: 0o600}, // its environment may hold secrets too
	}
	if p.Cluster != nil && p.Cluster.File != "" {
		data, err := recipes.Read(p.Cluster.File)
		if err != nil {
			return nil, err
		}
		files = append(files, rundir.File{Name: rundir.ClusterFile, Data: data, Mode: 0o600})
	}
	if s.opt.Ports != nil {
		data, err := os.ReadFile(s.opt.Ports.Report(p.Recipe.File))
		if err == nil {
			files = append(files, rundir.File{Name: s.opt.Ports.Report(rundir.RecipeFile), Data: data, Mode: 0o600})
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	if p.Workload != nil {
		// and this an API key
		files = append(files, rundir.File{Name: rundir.WorkloadFile, Data: p.WorkloadText, Mode: 0o600})
	}
	if pl.Script != "" {
		files = append(files, rundir.File{Name: rundir.ScriptFile, Data: []byte(pl.Script), Mode: 0o755})
	}
	return files, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
