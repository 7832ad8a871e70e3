package plan

import (
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// omitted lists fields that srtctl supports and plans of this program do not, for all backends. A
// recipe that sets one gets a warning, because the run would differ from it.
var omitted = []backend.Omission{
	{Path: "setup_script", Reason: "the script is not run"},
	{Path: "model.stage_dir", Reason: "the model is not copied to the nodes first"},
	{Path: "services", Reason: "only etcd and NATS are started"},
	{Path: "host_setup", Reason: "the commands are not run"},
	{Path: "post_eval", Reason: "it is not run"},
	{Path: "telemetry", Reason: "nothing is collected"},
	{Path: "identity", Reason: "it is not verified"},
}

// omittedPerRole lists such fields of each role in layout 2.
var omittedPerRole = []backend.Omission{
	{Path: "engine", Reason: "the role's own engine is not used"},
	{Path: "container", Reason: "the role runs in the model's container"},
	{Path: "sidecar", Reason: "it is not started"},
	{Path: "restart", Reason: "a worker that exits ends the run"},
	{Path: "critical", Reason: "every worker is critical"},
	{Path: "srun_options", Reason: "they are not passed on"},
}

// Omissions returns the fields that a recipe sets and its plan does not support. Backends are
// the available ones; nil: those of this program.
func Omissions(r *recipes.Recipe, backends backend.List) []backend.Omission {
	var out []backend.Omission
	add := func(path, why string) { out = append(out, backend.Omission{Path: path, Reason: why}) }
	for _, o := range omitted {
		if r.Has(o.Path) {
			add(o.Path, o.Reason)
		}
	}
	for _, role := range schema.WorkerRoles() {
		for _, o := range omittedPerRole {
			if path := "roles." + string(role) + "." + o.Path; r.Has(path) {
				add(path, o.Reason)
			}
		}
	}
	out = append(out, backends.Omissions(r)...)
	if r.Engine.SequentialStart > 0 {
		add("backend.sequential_node_start", "all workers start at once")
	}
	if r.Frontend.Multiple && r.WorkerNodes() > 1 {
		add("frontend.enable_multiple_frontends", "one frontend is started, without nginx")
	}
	if r.Has("profiling.type") {
		add("profiling.type", "nothing is profiled")
	}
	return out
}
