package recipes

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// checkConsistency performs the checks across fields that srtctl performs when it loads a recipe.
func (v *values) checkConsistency(r *Recipe) Diagnostics {
	var ds Diagnostics
	bad := func(path, msg, fix string) { ds = append(ds, r.Diag(Error, path, msg, fix)) }
	engine := schema.FindEngine(r.Engine.Type)
	if r.Frontend.Dedicated && r.Frontend.Placement != "head" {
		bad("frontend.dedicated_node",
			"a dedicated frontend node requires orchestrator_placement head, got "+r.Frontend.Placement,
			"remove one of the two")
	}
	if r.Benchmark.Dedicated && r.Benchmark.Placement != "head" {
		bad("benchmark.client_dedicated_node",
			"a dedicated client node requires client_placement head, got "+r.Benchmark.Placement,
			"remove one of the two")
	}
	if v.bool("resources.het_jobs") && (!engine.HetJobs || !r.Disaggregated()) {
		bad("resources.het_jobs",
			"heterogeneous jobs require sglang with separate prefill and decode workers; the engine is "+r.Engine.Type,
			"remove it")
	}
	if server, required := r.Frontend.Type, schema.EngineOfFrontend(r.Frontend.Type); required.Name != "" {
		switch {
		case engine != required:
			bad("frontend.type", server+" requires the engine "+required.Name+", got "+engine.Name, "")
		case r.Frontend.Multiple:
			bad("frontend.enable_multiple_frontends", server+" runs as a single frontend", "set it to false")
		case r.Agg.Given && r.Agg.Workers != 1:
			bad(schema.Agg.WorkersPath(), fmt.Sprintf("%s supports one aggregated worker, got %d", server, r.Agg.Workers),
				"set it to 1")
		}
	}
	if profiler := v.str("profiling.type"); profiler == engine.UnsupportedProfiler {
		bad("profiling.type", profiler+" can't profile "+engine.Name, "use nsys or nsys-time")
	}
	ds = append(ds, v.checkDynamoSource(r)...)
	return append(ds, v.checkLayout2(r)...)
}

// checkDynamoSource checks that the recipe names one source of dynamo.
func (v *values) checkDynamoSource(r *Recipe) Diagnostics {
	var given []string
	for _, f := range []string{"dynamo.hash", "dynamo.wheel"} {
		if _, ok := v.byName[f]; ok {
			given = append(given, f)
		}
	}
	if v.bool("dynamo.top_of_tree") {
		given = append(given, "dynamo.top_of_tree")
	}
	var ds Diagnostics
	if len(given) > 1 {
		ds = append(ds, r.Diag(Error, given[1], "more than one source of dynamo: "+strings.Join(given, " and "),
			"remove all but one"))
	}
	_, patches := v.byName["dynamo.cargo_patches"]
	if _, rev := v.byName["dynamo.hash"]; patches && !rev {
		ds = append(ds, r.Diag(Error, "dynamo.cargo_patches", "cargo patches require a revision of dynamo",
			"add dynamo.hash"))
	}
	return ds
}

// checkLayout2 performs the checks in which layout 2 is stricter than layout 1.
func (v *values) checkLayout2(r *Recipe) Diagnostics {
	if r.Schema != 2 {
		if r.Decode.Given && v.str("resources.decode_nodes") == "colocate" {
			return Diagnostics{r.Diag(Error, "resources.decode_nodes", "colocate is only valid in layout 2", "write 0")}
		}
		return nil
	}
	var ds Diagnostics
	if n, ok := v.byName["resources.decode_nodes"]; ok && n.node.Value == "0" && r.Decode.Workers > 0 {
		d := r.Diag(Error, "resources.decode_nodes",
			"0 nodes; in layout 2, colocate places decode workers on the prefill nodes", "write colocate")
		d.Set("colocate", true)
		ds = append(ds, d)
	}
	if r.Benchmark.Type == "agentperf" {
		for _, f := range UnusedByAgentPerf() {
			if r.Has(f) {
				d := r.Diag(Error, f, "agentperf does not use this field; layout 2 rejects unused fields", "remove it")
				d.Unset(true)
				ds = append(ds, d)
			}
		}
	}
	return ds
}

// UnusedByAgentPerf lists the fields that the agentperf benchmark does not use. Layout 1
// accepts them, layout 2 rejects them.
func UnusedByAgentPerf() []string {
	return []string{"benchmark.osl", "benchmark.req_rate", "benchmark.command", "benchmark.export_node_metrics"}
}

// parseInfraServices converts the services of layout 2 to the infra settings of layout 1: whether
// etcd and NATS have a dedicated node, and the payload limit of NATS in MB. others are the services
// that layout 1 can't express.
func parseInfraServices(list *yaml.Node) (dedicated bool, payload int, others []*yaml.Node) {
	if list.Kind != yaml.SequenceNode {
		return false, 0, nil
	}
	for _, s := range list.Content {
		infra, otherSettings := "", false
		var node, limit string
		for _, kv := range pairs(s) {
			switch kv[0].Value {
			case "name", "type":
				if name := resolveAlias(kv[1]).Value; name == string(schema.Etcd) || name == string(schema.NATS) {
					infra = name
				}
			case "placement":
				node = scalarAt(kv[1], "node")
			case "options":
				limit = scalarAt(kv[1], "max_payload_mb")
				otherSettings = otherSettings || len(pairs(kv[1])) > 1
			default:
				otherSettings = true
			}
		}
		if infra == "" || otherSettings {
			others = append(others, s)
		}
		if infra == "" {
			continue
		}
		dedicated = dedicated || node == "dedicated"
		if r, ok := parseNumber(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: limit}); ok &&
			infra == string(schema.NATS) && r.Num().IsInt64() {
			payload = int(r.Num().Int64())
		}
	}
	return dedicated, payload, others
}
