package submit

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
)

// Engine is what this screen needs.
type Engine interface {
	Load(ctx context.Context, f engine.Files) (*engine.Pair, error)
	Plan(p *engine.Pair, opt engine.PlanOptions) (*plan.Plan, error)
	// Gate says what stands against submitting, findings aside.
	Gate(p *engine.Pair, pl *plan.Plan, allowTodo bool) error
	// Preflight asks the cluster; its last note is when the run would start, its
	// error what makes the submit impossible.
	Preflight(ctx context.Context, p *engine.Pair, pl *plan.Plan) (notes []string, err error)
	Apply(ctx context.Context, p *engine.Pair, pl *plan.Plan, allowTodo bool) (engine.Record, error)
}
