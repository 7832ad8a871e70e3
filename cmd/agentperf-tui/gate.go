package main

import (
	"context"
	"fmt"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/porter"
)

// gated is the engine with one condition more: a recipe that a port left must-fix
// questions open for is not submitted unless that is allowed.
type gated struct{ *engine.Engine }

// Gate asks the engine, then the port's own report beside the recipe.
func (g gated) Gate(p *engine.Pair, pl *plan.Plan, allowTodo bool) error {
	if err := g.Engine.Gate(p, pl, allowTodo); err != nil || allowTodo {
		return err
	}
	workload := "" // only the compute nodes have it
	if p.Workload != nil {
		workload = p.Workload.File
	}
	open, err := porter.OpenMustFix(p.Recipe.File, workload)
	if err != nil {
		return err
	}
	if len(open) > 0 {
		return fmt.Errorf("the port left %d must-fix questions open, the first is: %s; "+
			"answer it, or submit all the same with --allow-todo", len(open), open[0].Message)
	}
	return nil
}

// Apply submits what passes the gate.
func (g gated) Apply(ctx context.Context, p *engine.Pair, pl *plan.Plan, allowTodo bool) (rundir.Record, error) {
	if err := g.Gate(p, pl, allowTodo); err != nil {
		return rundir.Record{}, err
	}
	return g.Engine.Apply(ctx, p, pl, allowTodo)
}
