package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/recipes"
)

// PlanOptions say where and how large a run is to be.
type PlanOptions struct {
	Target    plan.Target
	Smoke     bool
	OutputDir string // empty: that of [Options]
	Local     plan.LocalScale
}

// ErrInvalid says that the files of a run have errors; the report has them.
var ErrInvalid = errors.New("the files have errors; run check for the list")

// Plan makes the plan of a loaded pair. With errors in the report it is
// [ErrInvalid]; open placeholders alone do not stand against a plan.
func (s *Submitter) Plan(p *draft.Pair, opt PlanOptions) (*plan.Plan, error) {
	if p.Recipe == nil || !p.Report.OnlyTodos() {
		return nil, ErrInvalid
	}
	out, err := filepath.Abs(cmp.Or(opt.OutputDir, s.opt.Output))
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	req := plan.Request{
		Recipe: p.Recipe, Workload: p.Workload, Cluster: p.Cluster, Changes: p.Changes, Target: opt.Target,
		OutputDir: out, Smoke: opt.Smoke, StallSeconds: s.opt.StallSeconds, Local: opt.Local,
	}
	if opt.Target == plan.Local {
		for _, d := range p.Workload.Datasets() {
			if here := p.Visible(d.Value); here != "" && here != d.Value {
				req.Local.Paths = append(req.Local.Paths, recipes.Var{Name: d.Name, Value: here})
			}
		}
	}
	return plan.Build(req)
}

// Again loads what an earlier run was submitted with, as its folder has it: recipe,
// workload, cluster file and how large it was to be. Edits are made on top.
func (s *Submitter) Again(ctx context.Context, ref runs.Ref, edits []recipes.Edit) (*draft.Pair, PlanOptions, error) {
	r := ref.Record
	opt := PlanOptions{
		Target: plan.Target(r.Launcher), Smoke: r.Smoke,
		Local: plan.LocalScale{Users: r.Users, Seconds: r.Seconds},
	}
	if r.ID == "" {
		return nil, opt, fmt.Errorf("submit %s again: it was not submitted from here, so its inputs are not "+
			"recorded; apply its recipe", ref.Dir)
	}
	f := draft.Files{Recipe: filepath.Join(ref.Dir, rundir.RecipeFile), Edits: edits}
	for name, to := range map[string]*string{rundir.WorkloadFile: &f.Workload, rundir.ClusterFile: &f.Cluster} {
		if path := filepath.Join(ref.Dir, name); exists(path) {
			*to = path
		}
	}
	f.NoCluster = f.Cluster == "" // the one that a search finds today was not the run's
	p, err := s.opt.Files.Load(ctx, f)
	if err != nil {
		return nil, opt, fmt.Errorf("submit %s again: %w", ref.Label(), err)
	}
	p.Again = r
	return p, opt, nil
}
