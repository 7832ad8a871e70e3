package check

import (
	"github.com/agentperf/agentperf-tui/recipes"
)

// topology applies upstream's layout rules, which its dry-run and load skip, and
// the divisions that it rounds without a word.
func (c *checker) topology() {
	r := c.r
	bad := func(msg, fix string) { c.report("topology", "resources", fix, "%s", msg) }
	disagg, agg := r.Disaggregated(), r.Agg.Given
	switch {
	case !disagg && !agg:
		bad("no workers: neither prefill and decode nor agg are given", "give nodes and workers of the roles")
	case disagg && agg:
		bad("prefill or decode and agg workers exclude each other", "remove one of the two layouts")
	case disagg && r.Prefill.Workers == 0 && r.Decode.Workers == 0:
		bad("0 prefill and 0 decode workers", "give both a number")
	case disagg && (r.Prefill.Workers == 0 || r.Decode.Workers == 0):
		bad("only one of prefill and decode has workers", "give both, or use the agg fields for an aggregated layout")
	case agg && (r.Agg.Workers == 0 || r.Agg.Nodes == 0):
		bad("an aggregated layout needs agg nodes and workers", "give both a number")
	}
	for _, role := range c.roles() {
		c.role(role)
	}
}

func (c *checker) role(role recipes.Role) {
	r, nodes := c.r, role.Name.NodesPath()
	if role.Colocated {
		if r.Prefill.GPUs == 0 || role.GPUs == 0 {
			c.report("colocate", nodes, "give gpus of both roles",
				"decode shares the prefill nodes, and both need their GPUs per worker given")
		} else if have, want := r.Prefill.Nodes*r.GPUsPerNode,
			r.Prefill.Workers*r.Prefill.GPUs+role.Workers*role.GPUs; want > have {
			c.report("colocate", nodes, "more nodes, or fewer workers",
				"prefill and decode together want %d GPUs, their nodes have %d", want, have)
		}
		return
	}
	if role.Nodes == 0 {
		c.report("topology", nodes, "give them nodes", "%d %s workers on 0 nodes", role.Workers, role.Name)
		return
	}
	gpus := r.GPUsPerWorker(role)
	have := role.Nodes * r.GPUsPerNode
	if !r.Divides(role) {
		c.report("gpus-per-worker", nodes, "change nodes or workers, or give gpus",
			"%d GPUs on %d nodes do not divide into %d workers: upstream would drop the rest", have, role.Nodes, role.Workers)
		return
	}
	if gpus*role.Workers > have {
		c.report("gpus-per-worker", nodes, "more nodes, or fewer workers",
			"%d workers of %d GPUs want %d, %d nodes have %d", role.Workers, gpus, gpus*role.Workers, role.Nodes, have)
	}
	if gpus > r.GPUsPerNode && gpus%r.GPUsPerNode != 0 {
		c.report("gpus-per-worker", nodes, "whole nodes",
			"a worker of %d GPUs does not fill whole nodes of %d", gpus, r.GPUsPerNode)
	}
}
