package check

import (
	"errors"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/layout"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// topology checks nodes and workers of the roles. srtctl does not check them in its
// dry run, and rounds divisions silently.
func (c *checker) topology() {
	r := c.r
	invalid := func(msg, fix string) { c.report("topology", "resources", fix, "%s", msg) }
	disagg, agg := r.Disaggregated(), r.Agg.Given
	switch {
	case r.Frontend.Type == schema.NoFrontend: // the loader refuses workers
		return
	case !disagg && !agg:
		invalid("no workers: set prefill and decode, or agg", "set nodes and workers of these roles")
	case disagg && agg:
		invalid("agg workers can't be combined with prefill or decode workers", "remove one of the two")
	case disagg && r.Prefill.Workers == 0 && r.Decode.Workers == 0:
		invalid("0 prefill and 0 decode workers", "set the number of both")
	case disagg && (r.Prefill.Workers == 0 || r.Decode.Workers == 0):
		invalid("only one of prefill and decode has workers", "set both, or use agg workers instead")
	case agg && (r.Agg.Workers == 0 || r.Agg.Nodes == 0):
		invalid("agg needs both nodes and workers", "set the number of both")
	}
	if c.out.Diagnostics.Errors() > 0 {
		return // what follows would report the same again
	}
	for _, role := range c.roles() {
		c.role(role)
	}
	if c.out.Diagnostics.Errors() == 0 && (disagg || agg) {
		c.layout()
	}
}

// role checks the nodes and GPUs of a role.
func (c *checker) role(role recipes.Role) {
	r, nodes := c.r, role.Name.NodesPath()
	if role.Colocated {
		c.colocated(role)
		return
	}
	if role.Nodes == 0 {
		c.report("topology", nodes, "set the number of nodes", "%d %s workers on 0 nodes", role.Workers, role.Name)
		return
	}
	have := role.Nodes * r.GPUsPerNode
	gpus := r.GPUsPerWorker(role)
	switch {
	case !r.GPUsDivideEvenly(role):
		c.report("gpus-per-worker", nodes, "change nodes or workers, or set the GPUs per worker",
			"%d GPUs on %d nodes do not divide evenly among %d workers: each gets %d, and the rest stays unused",
			have, role.Nodes, role.Workers, gpus).Severity = recipes.Warning
	case gpus*role.Workers > have:
		c.report("gpus-per-worker", nodes, "add nodes or remove workers",
			"%d workers with %d GPUs each need %d GPUs, but %d nodes have %d: the workers use nodes of another role",
			role.Workers, gpus, gpus*role.Workers, role.Nodes, have).Severity = recipes.Warning
	}
}

// colocated checks decode workers on the prefill nodes.
func (c *checker) colocated(decode recipes.Role) {
	r, nodes := c.r, decode.Name.NodesPath()
	switch {
	case r.Schema == 2 && (r.Prefill.GPUs == 0 || decode.GPUs == 0):
		c.report("colocate", nodes, "set the GPUs per worker of both roles",
			"decode shares the prefill nodes, so both roles need their GPUs per worker set")
	case decode.GPUs == 0:
		c.report("colocate", nodes, "", "decode shares the prefill nodes, with the %d GPUs per worker of prefill",
			r.GPUsPerWorker(decode)).Severity = recipes.Note
	}
}

// layout places the workers as the job does. srtctl finds only in the job that they do not fit.
func (c *checker) layout() {
	_, err := layout.New(c.r)
	var none layout.NoPlace
	switch {
	case errors.As(err, &none):
		rule := "gpus-per-worker"
		if c.r.Decode.Colocated {
			rule = "colocate"
		}
		c.report(rule, none.Role.NodesPath(), "add nodes, remove workers, or change the GPUs per worker", "%s", none.Found())
	case err != nil:
		c.report("topology", "resources", "reduce nodes and workers", "%v", err)
	}
}
