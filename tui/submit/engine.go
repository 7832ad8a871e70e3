package submit

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
)

// Engine is the part of the engine that this screen uses.
type Engine interface {
	Load(ctx context.Context, f engine.Files) (*engine.Pair, error)
	Plan(p *engine.Pair, opt engine.PlanOptions) (*plan.Plan, error)
	// Gate returns why the plan can't be submitted, apart from findings; nil if it can.
	Gate(p *engine.Pair, pl *plan.Plan, allowTodo bool) error
	// Preflight asks the cluster about the plan. The last note is the expected start. The
	// error says why the cluster can't run the plan.
	Preflight(ctx context.Context, p *engine.Pair, pl *plan.Plan) (notes []string, err error)
	Apply(ctx context.Context, p *engine.Pair, pl *plan.Plan, allowTodo bool) (engine.Record, error)
}
