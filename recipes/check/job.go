package check

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// job checks fields that concern the job as a whole, and the cluster file.
func (c *checker) job() {
	r := c.r
	c.out.Diagnostics = append(c.out.Diagnostics, r.Unsubmittable(c.cluster)...)
	if r.Has("output.log_dir") {
		c.report("no-effect", "output.log_dir", "remove it; apply --output-dir sets the output directory",
			"has no effect").Unset(true)
	}
	if r.Telemetry && r.Schema == 1 && r.Benchmark.Type != "sa-bench" {
		c.report("telemetry", "telemetry", "remove it",
			"srtctl of layout 1 rejects it with %s: it works only with sa-bench", r.Benchmark.Type).Severity = recipes.Warning
	}
	if c.cluster == nil {
		return
	}
	if n := c.cluster.GPUsPerNode; n > 0 && r.Schema == 1 && !r.Has("resources.gpus_per_node") {
		c.report("cluster-gpus", "resources.gpus_per_node", "set it in the recipe",
			"the cluster file has %d, but srtctl ignores that in layout 1 and uses 4", n).Set(fmt.Sprint(n), false)
	}
	if nodes := r.Nodes(); c.cluster.SegmentDirective && nodes > rackNodes &&
		strings.HasPrefix(strings.ToLower(r.GPUType), "gb") {
		c.report("segment", "resources", "set use_segment_sbatch_directive: false in the cluster file",
			"--segment=%d requests more nodes in one block than the %d of a rack: "+
				"sbatch may reject the job, or it may never start", nodes, rackNodes)
	}
}

// rackNodes is the number of nodes in an NVL72 rack, with 4 GPUs each.
const rackNodes = 18
