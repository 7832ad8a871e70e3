package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Again loads what an earlier run was submitted with, as its folder has it: recipe,
// workload, cluster file and how large it was to be. Edits are made on top.
func (e *Engine) Again(ctx context.Context, l RunRef, edits []recipes.Edit) (*Pair, PlanOptions, error) {
	r := l.Record
	opt := PlanOptions{Target: plan.Target(r.Launcher), Smoke: r.Smoke, Local: plan.LocalScale{Users: r.Users, Seconds: r.Seconds}}
	if r.ID == "" {
		return nil, opt, fmt.Errorf("submit %s again: it was not submitted from here, so its inputs are not recorded; apply its recipe", l.Dir)
	}
	f := Files{Recipe: filepath.Join(l.Dir, rundir.RecipeFile), Edits: edits}
	for name, to := range map[string]*string{rundir.WorkloadFile: &f.Workload, rundir.ClusterFile: &f.Cluster} {
		if path := filepath.Join(l.Dir, name); exists(path) {
			*to = path
		}
	}
	f.NoCluster = f.Cluster == "" // the one that a search finds today was not the run's
	p, err := e.Load(ctx, f)
	if err != nil {
		return nil, opt, fmt.Errorf("submit %s again: %w", l.Label(), err)
	}
	p.Again = r
	return p, opt, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
