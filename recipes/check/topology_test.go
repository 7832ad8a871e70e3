package check

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

// The workers of a recipe are placed as in the job: numbers that fit are not enough.
func TestLayout(t *testing.T) {
	t.Parallel()
	const (
		e = recipes.Error
		w = recipes.Warning
		n = recipes.Note
	)
	for _, c := range []struct {
		name, layout1, layout2 string
		sev                    recipes.Severity // empty: no finding
		want                   string
	}{
		{
			"6 GPUs on 4 and 2", "agg_nodes: 2, agg_workers: 1, gpus_per_agg: 6", "agg: {nodes: 2, workers: 1, gpus: 6}", "", "",
		},
		{
			"6 GPUs on 1 node", "agg_nodes: 1, agg_workers: 1, gpus_per_agg: 6", "agg: {nodes: 1, workers: 1, gpus: 6}", e,
			"agg worker 0 needs 6 GPUs, but the recipe's 1 worker nodes",
		},
		{
			"a small worker on the rest of the last node",
			"prefill_nodes: 1, prefill_workers: 1, decode_nodes: 0, decode_workers: 1, gpus_per_prefill: 2, gpus_per_decode: 2",
			"prefill: {nodes: 1, workers: 1, gpus: 2}, decode: {nodes: colocate, workers: 1, gpus: 2}", "", "",
		},
		{
			"8 GPUs fit by number; decode leaves a node half used",
			"prefill_nodes: 2, prefill_workers: 1, gpus_per_prefill: 2, decode_nodes: 0, decode_workers: 3, gpus_per_decode: 2",
			"prefill: {nodes: 2, workers: 1, gpus: 2}, decode: {nodes: colocate, workers: 3, gpus: 2}", e,
			"decode worker 2 needs 2 GPUs, but the recipe's 2 worker nodes of 4 GPUs are used up: 2 GPUs on earlier nodes",
		},
		{
			"7 of 8 GPUs, no node for the second prefill worker's neighbour",
			"prefill_nodes: 2, prefill_workers: 2, gpus_per_prefill: 3, decode_nodes: 0, decode_workers: 1, gpus_per_decode: 2",
			"prefill: {nodes: 2, workers: 2, gpus: 3}, decode: {nodes: colocate, workers: 1, gpus: 2}", e,
			"decode worker 0 needs 2 GPUs",
		},
		{
			"decode has the GPUs of prefill",
			"prefill_nodes: 2, prefill_workers: 1, gpus_per_prefill: 4, decode_nodes: 0, decode_workers: 1",
			"", n, "decode shares the prefill nodes, with the 4 GPUs per worker of prefill",
		},
		{
			"decode has the GPUs of prefill, which fill the nodes",
			"prefill_nodes: 1, prefill_workers: 1, decode_nodes: 0, decode_workers: 1", "", e, "decode worker 0 needs 4 GPUs",
		},
		{
			"colocate needs GPUs", "", "prefill: {nodes: 2, workers: 2, gpus: 2}, decode: {nodes: colocate, workers: 2}", e,
			"both roles need their GPUs per worker set",
		},
		{
			"colocate without prefill nodes", "",
			"prefill: {nodes: 0, workers: 1, gpus: 2}, decode: {nodes: colocate, workers: 2, gpus: 2}", e,
			"1 prefill workers on 0 nodes",
		},
		{
			"prefill uses a node of decode",
			"prefill_nodes: 1, prefill_workers: 2, gpus_per_prefill: 4, decode_nodes: 2, decode_workers: 1, gpus_per_decode: 4",
			"prefill: {nodes: 1, workers: 2, gpus: 4}, decode: {nodes: 2, workers: 1, gpus: 4}", w,
			"2 workers with 4 GPUs each need 8 GPUs, but 1 nodes have 4: the workers use nodes of another role",
		},
		{
			"prefill takes the nodes of decode",
			"prefill_nodes: 1, prefill_workers: 2, gpus_per_prefill: 4, decode_nodes: 1, decode_workers: 1",
			"prefill: {nodes: 1, workers: 2, gpus: 4}, decode: {nodes: 1, workers: 1}", e, "decode worker 0 needs 4 GPUs",
		},
		{
			"too large", "agg_nodes: 5000, agg_workers: 1", "agg: {nodes: 5000, workers: 1}", e, "at most 4096 nodes",
		},
	} {
		for version, text := range map[int]string{1: c.layout1, 2: c.layout2} {
			if text == "" {
				continue
			}
			file := "name: x\nmodel: {path: /m, container: /c.sqsh, precision: fp4}\ndynamo: {install: false}\n" +
				"frontend: {enable_multiple_frontends: false}\nbenchmark: {type: agentperf, concurrency: 1, " +
				"agentperf_client_dir: /ap/c, agentperf_config: /ap/w.yaml}\nextra_mount: [\"/s/ap:/ap\"]\n" +
				"health_check: {max_attempts: 300}\n"
			if version == 1 {
				file += "backend: {type: trtllm}\nresources: {gpu_type: gb300, gpus_per_node: 4, " + text + "}\n"
			} else {
				file += "schema: 2\nengine: trtllm\nresources: {gpu_type: gb300, gpus_per_node: 4}\nroles: {" + text + "}\n"
			}
			r, found := recipes.ParseRecipe("r.yaml", []byte(file))
			if r == nil || found.Errors() > 0 {
				t.Fatalf("%s, layout %d: %v", c.name, version, found)
			}
			found = append(found, Run(Files{Recipe: r}, Host{}).Diagnostics...)
			worst := found.BySeverity()
			switch {
			case c.sev == "" && len(found) > 0:
				t.Errorf("%s, layout %d: got %v, want no findings", c.name, version, found)
			case c.sev != "" && (len(found) == 0 || worst[0].Severity != c.sev || !strings.Contains(worst[0].Message, c.want)):
				t.Errorf("%s, layout %d: got %v, want %s: %s", c.name, version, found, c.sev, c.want)
			}
		}
	}
}
