package plan

import (
	"github.com/agentperf/agentperf-tui/recipes"
)

// Gap is something that a recipe asks for and a plan leaves out.
type Gap struct {
	Path string // canonical
	Why  string
}

// unplanned are fields that srtctl heeds and a plan does not yet: a run would
// differ from what the recipe says, so each is told where it is given.
var unplanned = []Gap{
	{"setup_script", "the script is not run"},
	{"model.stage_dir", "the model is not copied to the nodes first"},
	{"services", "only etcd and NATS are started"},
	{"host_setup", "the commands are not run"},
	{"post_eval", "it is not run"},
	{"telemetry", "nothing is collected"},
	{"identity", "it is not verified"},
	{"backend.prefill_extra_args", "they are not passed on"},
	{"backend.decode_extra_args", "they are not passed on"},
	{"backend.aggregated_extra_args", "they are not passed on"},
}

// perRole are the same, below each role of schema 2.
var perRole = []Gap{
	{"engine", "the role's own engine is not used"},
	{"container", "the role runs in the model's container"},
	{"sidecar", "it is not started"},
	{"kv_events", "they are not configured"},
	{"restart", "a worker that exits ends the run"},
	{"critical", "every worker is critical"},
	{"srun_options", "they are not passed on"},
}

// Unplanned lists what a recipe gives and its plan leaves out.
func Unplanned(r *recipes.Recipe) []Gap {
	var out []Gap
	for _, g := range unplanned {
		if r.Has(g.Path) {
			out = append(out, g)
		}
	}
	for _, role := range []string{"prefill", "decode", "agg"} {
		for _, g := range perRole {
			if g.Path = "roles." + role + "." + g.Path; r.Has(g.Path) {
				out = append(out, g)
			}
		}
	}
	if r.Engine.SequentialStart > 0 {
		out = append(out, Gap{"backend.sequential_node_start", "all workers start at once"})
	}
	if r.Frontend.Multiple && r.WorkerNodes() > 1 {
		out = append(out, Gap{"frontend.enable_multiple_frontends", "one frontend is started, without nginx"})
	}
	if r.Has("profiling.type") {
		out = append(out, Gap{"profiling.type", "nothing is profiled"})
	}
	return out
}
