package check

import "github.com/agentperf/agentperf-tui/recipes"

// topology checks nodes and workers of the roles. srtctl does not check them in its
// dry run, and rounds divisions silently.
func (c *checker) topology() {
	r := c.r
	invalid := func(msg, fix string) { c.report("topology", "resources", fix, "%s", msg) }
	disagg, agg := r.Disaggregated(), r.Agg.Given
	switch {
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
	for _, role := range c.roles() {
		c.role(role)
	}
}

func (c *checker) role(role recipes.Role) {
	r, nodes := c.r, role.Name.NodesPath()
	if role.Colocated {
		if r.Prefill.GPUs == 0 || role.GPUs == 0 {
			c.report("colocate", nodes, "set the GPUs per worker of both roles",
				"decode shares the prefill nodes, so both roles need their GPUs per worker set")
		} else if have, want := r.Prefill.Nodes*r.GPUsPerNode,
			r.Prefill.Workers*r.Prefill.GPUs+role.Workers*role.GPUs; want > have {
			c.report("colocate", nodes, "add nodes or remove workers",
				"prefill and decode together need %d GPUs, but their nodes have %d", want, have)
		}
		return
	}
	if role.Nodes == 0 {
		c.report("topology", nodes, "set the number of nodes", "%d %s workers on 0 nodes", role.Workers, role.Name)
		return
	}
	gpus := r.GPUsPerWorker(role)
	have := role.Nodes * r.GPUsPerNode
	if !r.GPUsDivideEvenly(role) {
		c.report("gpus-per-worker", nodes, "change nodes or workers, or set the GPUs per worker",
			"%d GPUs on %d nodes do not divide evenly among %d workers: srtctl would leave the rest unused",
			have, role.Nodes, role.Workers)
		return
	}
	if gpus*role.Workers > have {
		c.report("gpus-per-worker", nodes, "add nodes or remove workers",
			"%d workers with %d GPUs each need %d GPUs, but %d nodes have %d",
			role.Workers, gpus, gpus*role.Workers, role.Nodes, have)
	}
	if gpus > r.GPUsPerNode && gpus%r.GPUsPerNode != 0 {
		c.report("gpus-per-worker", nodes, "use a multiple of the GPUs per node",
			"a worker with %d GPUs would use only part of its last node, which has %d GPUs", gpus, r.GPUsPerNode)
	}
}
