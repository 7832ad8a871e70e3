package porter

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// onGPUs returns the launch line of a worker that uses some GPUs of each of its nodes.
func onGPUs(role string, index int, flags, gpus string) string {
	return strings.Replace(workerLine(role, index, flags, "A=1"), "DEVICES=0,1,2,3", "DEVICES="+gpus, 1)
}

// detailsOf returns the details of the question with an ID.
func detailsOf(t *testing.T, r *Result, id string) string {
	t.Helper()
	i := slices.IndexFunc(r.Todos, func(x Todo) bool { return x.ID == id })
	if i < 0 {
		t.Fatalf("no question %s in %q", id, todoLines(r))
	}
	return strings.Join(r.Todos[i].Details, "\n")
}

func TestLayouts(t *testing.T) {
	t.Parallel()
	ctx := func(index int, host, gpus string) string {
		return onGPUs("CTX", index, "-w "+host+" -N1 -n"+string('1'+rune(strings.Count(gpus, ","))), gpus)
	}
	gen := func(index int, host, gpus string) string {
		return strings.ReplaceAll(ctx(index, host, gpus), "CTX", "GEN")
	}
	const low, high = "0,1,2,3", "4,5,6,7"
	for _, c := range []inputCase{
		{
			name:  "both on one node",
			files: map[string]string{harness.JobLog: jobLog(ctx(0, "n1", low), gen(0, "n1", high))},
			want: map[string]string{
				"resources.gpus_per_node": "8", "resources.prefill_nodes": "1", "resources.gpus_per_prefill": "4",
				"resources.gpus_per_decode": "4", "resources.decode_workers": "1", "resources.spread_workers": "-",
			},
			silent: []string{"no recipe gives"},
		},
		{
			name: "decode on the free half of the last prefill node",
			files: map[string]string{
				harness.JobLog: jobLog(ctx(0, "n1", "0,1"), ctx(1, "n1", "2,3"), ctx(2, "n2", "0,1"), gen(0, "n2", "2,3")),
			},
			want: map[string]string{
				"resources.gpus_per_node": "4", "resources.prefill_nodes": "2", "resources.gpus_per_prefill": "2",
				"resources.gpus_per_decode": "2",
			},
			silent: []string{"no recipe gives"},
		},
		{
			name: "prefill and decode side by side on two nodes",
			files: map[string]string{
				harness.JobLog: jobLog(ctx(0, "n1", low), ctx(1, "n2", low), gen(0, "n1", high), gen(1, "n2", high)),
			},
			todos: []string{
				"must-fix resources: a recipe packs workers onto nodes in order: no recipe gives the nodes of the old run",
			},
		},
		{
			name:  "only a part of the decode nodes is shared",
			files: map[string]string{harness.JobLog: jobLog(ctx(0, "n1", low), gen(0, "n1", high), gen(1, "n2", low))},
			todos: []string{"must-fix resources: a recipe packs"},
		},
		{
			name:  "half nodes, one worker on each",
			files: map[string]string{harness.JobLog: jobLog(ctx(0, "n1", "0,1"), ctx(1, "n2", "0,1"), gen(0, "n3", low))},
			want: map[string]string{
				"resources.prefill_nodes": "2", "resources.prefill_workers": "2", "resources.gpus_per_prefill": "2",
				"resources.spread_workers": "true", "resources.decode_nodes": "1",
			},
			silent: []string{"no recipe gives"},
		},
		{
			name:  "the upper half of a node",
			files: map[string]string{harness.JobLog: jobLog(ctx(0, "n1", high), gen(0, "n2", "0,1,2,3,4,5,6,7"))},
			want:  map[string]string{"resources.gpus_per_node": "8", "resources.gpus_per_prefill": "4"},
		},
		{
			name: "several decode workers",
			files: map[string]string{
				harness.JobLog: jobLog(ctx(0, "n1", low), gen(0, "n2", low), gen(1, "n3", low), gen(2, "n4", low)),
			},
			want: map[string]string{
				"resources.decode_nodes": "3", "resources.decode_workers": "3", "resources.gpus_per_decode": "-",
			},
			silent: []string{"no recipe gives"},
		},
		{
			name:  "both use the same GPUs",
			files: map[string]string{harness.JobLog: jobLog(ctx(0, "n1", low), gen(0, "n1", low))},
			todos: []string{
				"must-fix resources: CTX 0 and GEN 0 both use GPU 0 of n1; CTX 0 and GEN 0 both use GPU 1 of n1: no recipe",
			},
		},
		{
			name:  "a worker on more nodes than it needs",
			files: map[string]string{harness.JobLog: jobLog(onGPUs("CTX", 0, "-w n[1-2] -N2 -n4", "0,1"), gen(0, "n3", low))},
			todos: []string{"must-fix resources: a recipe packs"},
		},
		{
			name:  "decode workers of different size",
			files: map[string]string{harness.JobLog: jobLog(ctx(0, "n1", low), gen(0, "n2", low), gen(1, "n3", "0,1"))},
			todos: []string{"must-fix resources: GEN workers differ in size (4, 2 GPUs), but a role has one size"},
		},
	} {
		t.Run(c.name, c.run)
	}
	for version, want := range map[int]string{1: "0", 2: "colocate"} {
		r := port(
			t, lay(t, map[string]string{harness.JobLog: jobLog(ctx(0, "n1", low), gen(0, "n1", high))}),
			Options{Schema: version},
		)
		if f := fieldOf(r, "resources.decode_nodes"); f.Value != want || f.Class != Inferred || len(f.Evidence) != 2 {
			t.Errorf("layout %d: %+v", version, f)
		}
	}
}

func fieldOf(r *Result, path string) Field {
	i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Path == path })
	if i < 0 {
		return Field{}
	}
	return r.Fields[i]
}

func TestNodeMapOfAQuestion(t *testing.T) {
	t.Parallel()
	r := port(t, lay(t, map[string]string{harness.JobLog: jobLog(
		frontendLine("n1", ""), onGPUs("CTX", 0, "-w n1 -N1 -n4", "0,1,2,3"), onGPUs("CTX", 1, "-w n2 -N1 -n4", "0,1,2,3"),
		onGPUs("GEN", 0, "-w n1 -N1 -n2", "4,6"), onGPUs("GEN", 1, "-w n2 -N1 -n2", "4,6"),
		onGPUs("GEN", 2, "-w n[3-8] -N6 -n48", "0,1,2,3,4,5,6,7"),
	)}), Options{})
	want := `old run:
  n1: frontend, CTX 0 (GPU 0-3), GEN 0 (GPU 4,6)
  n2: CTX 1 (GPU 0-3), GEN 1 (GPU 4,6)
  n3, n4 … n8 (6 nodes): GEN 2 (GPU 0-7)
this recipe:
  node 0: prefill 0 (4 GPUs), prefill 1 (4 GPUs)
  node 1: decode 0 (2 GPUs), decode 1 (2 GPUs), decode 2 (2 GPUs)`
	if got := detailsOf(t, r, "recipe:resources#layout"); got != want {
		t.Errorf("details:\n%s\nwant:\n%s", got, want)
	}
	if text := r.ProvenanceText(); !strings.Contains(text, "\n      n2: CTX 1 (GPU 0-3), GEN 1 (GPU 4,6)\n") {
		t.Errorf("the report does not show the nodes:\n%s", text)
	}
}

func TestWorkerCounts(t *testing.T) {
	t.Parallel()
	ctx := func(i int) string { return onGPUs("CTX", i, "-w n"+string('1'+rune(i))+" -N1 -n4", "0,1,2,3") }
	gen := onGPUs("GEN", 0, "-w n9 -N1 -n4", "0,1,2,3")
	waiting := func(n string) string { return "[server] Waiting for " + n + " workers" }
	for _, c := range []inputCase{
		{
			name:  "an index is skipped",
			files: map[string]string{harness.JobLog: jobLog(gen, ctx(0), ctx(1), ctx(3))},
			want:  map[string]string{"resources.prefill_workers": "3"},
			todos: []string{
				"must-fix resources.prefill_workers: no launch line of CTX 2: give the numbers of workers and nodes",
			},
		},
		{
			name:  "the first one is missing",
			files: map[string]string{harness.JobLog: jobLog(gen, ctx(1), ctx(2))},
			todos: []string{"must-fix resources.prefill_workers: no launch line of CTX 0"},
		},
		{
			name:  "the last one is missing",
			files: map[string]string{harness.JobLog: jobLog(gen, ctx(0), ctx(1), waiting("4"))},
			todos: []string{
				"must-fix resources.prefill_workers: the launcher waited for 4 workers, but there are launch lines of 3",
			},
		},
		{
			name: "a launch line can't be read",
			files: map[string]string{
				harness.JobLog: jobLog(gen, ctx(0)) + "[server] Executing: srun bash start_worker_dynamo.sh CTX 1 'x\n",
			},
			todos: []string{
				"must-fix resources.prefill_workers: launch lines of workers can't be read: job.log:3: give the numbers",
			},
		},
		{
			name:  "more were launched",
			files: map[string]string{harness.JobLog: jobLog(gen, ctx(0), ctx(1), waiting("2"))},
			todos: []string{"the launcher waited for 2 workers, but there are launch lines of 3"},
		},
		{
			name: "a log without a launch line",
			files: map[string]string{
				harness.JobLog: jobLog(gen, ctx(0)), "3_output_GEN_1.log.gz": "x\n", "3_output_GEN_0.log": "x\n",
			},
			todos: []string{"must-fix resources.decode_workers: no launch line of GEN 1"},
		},
		{
			name:   "all are there",
			files:  map[string]string{harness.JobLog: jobLog(gen, ctx(0), ctx(1), waiting("3")), "3_output_GEN_0.log": "x\n"},
			silent: []string{"no launch line of CTX", "launched again"},
		},
		{
			name:  "some were launched again",
			files: map[string]string{harness.JobLog: jobLog(gen, ctx(0), ctx(1), ctx(2), ctx(0), ctx(1))},
			want:  map[string]string{"resources.prefill_workers": "3"},
			todos: []string{"confirm resources.prefill_workers: CTX 0, CTX 1 were launched again, but CTX 2 not"},
		},
		{
			name:  "only GEN workers, and a config of CTX",
			files: map[string]string{harness.JobLog: jobLog(gen)},
			todos: []string{
				"must-fix resources.prefill_workers: job.log has no launch line of a CTX worker, but other artifacts show",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
	r := port(t, lay(t, map[string]string{harness.JobLog: jobLog(gen, ctx(0), ctx(2), waiting("4"))}), Options{})
	i := slices.IndexFunc(r.Todos, func(x Todo) bool { return x.ID == "recipe:resources.prefill_workers#count" })
	var lines []int
	for _, ev := range r.Todos[i].Evidence {
		lines = append(lines, ev.Line)
	}
	if !slices.Equal(lines, []int{2, 3, 4}) || !strings.Contains(detailsOf(t, r, r.Todos[i].ID), "n3: CTX 2 (GPU 0-3)") {
		t.Errorf("%+v", r.Todos[i])
	}
}

func TestAggregatedRun(t *testing.T) {
	inputCase{
		files: map[string]string{
			harness.CTXConfig: "", "3_output_CTX_0.log": "", "3_output_GEN_1.log": "0: taskset -c 0-71 python\n",
			harness.JobLog: jobLog(frontendLine("n1", ""), onGPUs("GEN", 0, "-w n1 -N1 -n4", "0,1,2,3"),
				onGPUs("GEN", 1, "-w n2 -N1 -n4", "0,1,2,3"), "[server] Waiting for 2 workers"),
		},
		want: map[string]string{
			"resources.agg_nodes": "2", "resources.agg_workers": "2",
			"resources.prefill_nodes": "-", "resources.decode_nodes": "-",
			"backend.aggregated_environment.A": `"1"`, "backend.trtllm_config.aggregated.tensor_parallel_size": "4",
			"frontend.args.enforce-disagg": "-", "backend.numa_cpu_bind": "true", "benchmark.client_placement": "head",
		},
		silent: []string{"CTX", "prefill", "decode"},
	}.run(t)
}
