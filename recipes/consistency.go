package recipes

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// consistent makes the checks between fields that srtctl makes at load.
func (v *values) checkConsistency(r *Recipe) Diagnostics {
	var ds Diagnostics
	bad := func(path, msg, fix string) { ds = append(ds, r.Diag(Error, path, msg, fix)) }
	engine := schema.FindEngine(r.Engine.Type)
	if r.Frontend.Dedicated && r.Frontend.Placement != "head" {
		bad("frontend.dedicated_node",
			"a dedicated frontend node needs orchestrator_placement head, found "+r.Frontend.Placement, "use one of the two")
	}
	if r.Benchmark.Dedicated && r.Benchmark.Placement != "head" {
		bad("benchmark.client_dedicated_node",
			"a dedicated client node needs client_placement head, found "+r.Benchmark.Placement, "use one of the two")
	}
	if v.bool("resources.het_jobs") && (!engine.HetJobs || !r.Disaggregated()) {
		bad("resources.het_jobs",
			fmt.Sprintf("heterogeneous jobs work with sglang, prefill and decode apart, and not with %s", r.Engine.Type),
			"remove it")
	}
	if server, of := r.Frontend.Type, schema.EngineOfFrontend(r.Frontend.Type); of.Name != "" {
		switch {
		case engine != of:
			bad("frontend.type", server+" needs the engine "+of.Name+", found "+engine.Name, "")
		case r.Frontend.Multiple:
			bad("frontend.enable_multiple_frontends", server+" is one frontend", "set it to false")
		case r.Agg.Given && r.Agg.Workers != 1:
			bad(schema.Agg.WorkersPath(), fmt.Sprintf("%s serves one aggregated worker, found %d", server, r.Agg.Workers),
				"set it to 1")
		}
	}
	if profiler := v.str("profiling.type"); profiler == engine.UnsupportedProfiler {
		bad("profiling.type", profiler+" does not profile "+engine.Name, "use nsys or nsys-time")
	}
	ds = append(ds, v.checkDynamoSource(r)...)
	return append(ds, v.checkLayout2(r)...)
}

// sources: dynamo comes from one place.
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
		ds = append(ds, r.Diag(Error, given[1], "one source of dynamo only, found "+strings.Join(given, " and "),
			"remove all but one"))
	}
	_, patches := v.byName["dynamo.cargo_patches"]
	if _, rev := v.byName["dynamo.hash"]; patches && !rev {
		ds = append(ds, r.Diag(Error, "dynamo.cargo_patches", "patches need a revision to patch", "give one"))
	}
	return ds
}

// layoutTwo holds what the newer layout is stricter about.
func (v *values) checkLayout2(r *Recipe) Diagnostics {
	if r.Schema != 2 {
		if r.Decode.Given && v.str("resources.decode_nodes") == "colocate" {
			return Diagnostics{r.Diag(Error, "resources.decode_nodes", "colocate is a word of layout 2", "write 0")}
		}
		return nil
	}
	var ds Diagnostics
	if n, ok := v.byName["resources.decode_nodes"]; ok && n.node.Value == "0" && r.Decode.Workers > 0 {
		d := r.Diag(Error, "resources.decode_nodes",
			"0 nodes: in layout 2 decode shares the prefill nodes by the word colocate", "write colocate")
		d.Set("colocate", true)
		ds = append(ds, d)
	}
	if r.Benchmark.Type == "agentperf" {
		for _, f := range UnusedByAgentPerf() {
			if r.Has(f) {
				d := r.Diag(Error, f, "agentperf does not use it, and layout 2 refuses what a benchmark does not use", "remove it")
				d.Unset(true)
				ds = append(ds, d)
			}
		}
	}
	return ds
}

// UnusedByAgentPerf lists what layout 1 takes beside agentperf, which does not use it,
// and layout 2 refuses.
func UnusedByAgentPerf() []string {
	return []string{"benchmark.osl", "benchmark.req_rate", "benchmark.command", "benchmark.export_node_metrics"}
}

// infraServices reads what layout 1 calls infra out of the services of layout 2: etcd and NATS on a
// node of their own, and NATS's payload limit. Others are the services that say more than that.
func parseInfraServices(list *yaml.Node) (dedicated bool, payload int, others []*yaml.Node) {
	if list.Kind != yaml.SequenceNode {
		return false, 0, nil
	}
	for _, s := range list.Content {
		infra, more := "", false
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
				more = more || len(pairs(kv[1])) > 1
			default:
				more = true
			}
		}
		if infra == "" || more {
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
