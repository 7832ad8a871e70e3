package engine

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
)

// PlanOptions say where and how large a run is to be.
type PlanOptions struct {
	Target    plan.Target
	Smoke     bool
	OutputDir string // empty: the engine's
	Local     plan.LocalScale
}

// ErrInvalid says that the files of a run have errors; the report has them.
var ErrInvalid = errors.New("the files have errors; run check for the list")

// Plan makes the plan of a loaded pair. With errors in the report it is
// [ErrInvalid]; open placeholders alone do not stand against a plan.
func (e *Engine) Plan(p *Pair, opt PlanOptions) (*plan.Plan, error) {
	if p.Recipe == nil || !p.Report.OnlyTodos() {
		return nil, ErrInvalid
	}
	out := opt.OutputDir
	if out == "" {
		out = e.Paths.Output
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	req := plan.Request{Recipe: p.Recipe, Workload: p.Workload, Cluster: p.Cluster, Changes: p.Changes, Target: opt.Target, OutputDir: out, Smoke: opt.Smoke, StallSeconds: e.stall, Local: opt.Local}
	if opt.Target == plan.Local && p.Workload != nil {
		for _, d := range []struct{ key, path string }{{"trajectory_path", p.Workload.TrajectoryPath}, {"user_assignments_path", p.Workload.AssignmentsPath}} {
			if here := p.Visible(d.path); here != "" && here != d.path {
				req.Local.Paths = append(req.Local.Paths, recipes.Var{Name: d.key, Value: here})
			}
		}
	}
	return plan.Build(req)
}
