package porter

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

func TestDisagreements(t *testing.T) {
	t.Parallel()
	gen := workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1")
	ctx := workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1")
	log := smallRun()[harness.JobLog]
	params := smallRun()[harness.JobParams]
	const output = "agentperf/m__64u__phase0__dur600s__settle60s__traj3.json"
	for _, c := range []inputCase{
		{
			name:  "the directory's name",
			files: map[string]string{harness.JobParams: strings.Replace(params, `"64"`, "1010", 1)},
			want:  map[string]string{"benchmark.concurrency": "1010"},
			todos: []string{
				`confirm benchmark.concurrency: CONCURRENCIES is "1010", but the client's command has --concurrencies 64, ` +
					"CTX 0 was launched for 64, an output was written for 64u, the directory is named c64: confirm which one is right",
			},
		},
		{
			name: "one of several levels",
			files: map[string]string{
				harness.JobParams: strings.Replace(params, `"64"`, `"64 128"`, 1), harness.ClientScript: "",
				harness.ClientLog: "  Concurrencies: [64, 128]\n" + smallBanner,
			},
			silent: []string{"confirm which one is right"},
		},
		{
			name: "a worker that was launched for other levels",
			files: map[string]string{
				harness.JobLog: jobLog(frontendLine("n1", ""), ctx, strings.Replace(gen, "e2e '64'", "e2e '64x1010'", 1)),
			},
			todos: []string{`CONCURRENCIES is "64", but GEN 0 was launched for 64x1010: confirm`},
		},
		{
			name:  "levels from the client's command",
			files: map[string]string{harness.JobParams: strings.Replace(params, "CONCURRENCIES", "X", 1)},
			want:  map[string]string{"benchmark.concurrency": "64"}, silent: []string{"directory's name"},
		},
		{
			name:  "an output of another timeout",
			files: map[string]string{output: "", "agentperf/m__64u__phase0__dur900.5s__settle60s__traj3.json": "{}"},
			want:  map[string]string{"phase_timeout_seconds": "600.0"},
			todos: []string{
				"confirm phase_timeout_seconds: client.log:2 shows 600.0, but the names of outputs show a phase of 900.5 s",
			},
		},
		{
			name:  "outputs of both",
			files: map[string]string{"agentperf/m__64u__phase0__dur900s__settle60s__traj3.json": "{}"},
			todos: []string{"note phase_timeout_seconds: client.log:2 shows 600.0"},
		},
		{
			name:  "another frontend",
			files: map[string]string{harness.ClientLog: "  Base URL: http://n7:8333/v1\n" + smallBanner},
			todos: []string{"confirm : the client used http://n7:8333/v1, but the frontend was launched on n1:8333"},
		},
		{
			name:   "the same frontend",
			files:  map[string]string{harness.ClientLog: "  Base URL: http://n1:8333/v1\n" + smallBanner},
			silent: []string{"the client used"},
		},
		{
			name:  "nodes",
			files: map[string]string{harness.JobLog: "[server] Nodes: n[1,4-9]\n" + log},
			todos: []string{
				"confirm : launch lines name n2, which the list of the job's nodes does not",
				"note : the job had 7 nodes, but no launch line names n4, n5 … n9 (6 nodes)",
			},
		},
		{
			name:  "the model of the banner",
			files: map[string]string{harness.ClientLog: "  Model: /lustre/models/m2\n" + smallBanner},
			todos: []string{
				"confirm model.path: the banner shows the model /lustre/models/m2, but job_params.env shows /lustre/models/m-fp8",
			},
		},
		{
			name:  "all launches use another model",
			files: map[string]string{harness.JobParams: strings.Replace(params, "m-fp8", "m-NVFP4", 1)},
			want:  map[string]string{"model.path": "/scratch/models/m-fp8", "model.precision": "fp8"},
			todos: []string{
				"confirm model.path: MODEL_PATH is /lustre/models/m-NVFP4 in job_params.env, but 2 of 3 launches show " +
					"/lustre/models/m-fp8, which is written: confirm which one is right",
			},
		},
		{
			name: "launches use different models",
			files: map[string]string{
				harness.JobParams: strings.Replace(params, "MODEL_PATH", "X", 1),
				harness.JobLog:    strings.Replace(log, "/lustre/models/m-fp8", "/lustre/m1", 1),
			},
			want: map[string]string{"model.path": "/TODO/model"},
			todos: []string{
				"must-fix model.path: MODEL_PATH is not in job_params.env: give the path; launch lines show /lustre/m1, " +
					"/lustre/models/m-fp8",
			},
		},
		{
			name: "mounts that only launch lines show",
			files: map[string]string{
				harness.JobParams: strings.Replace(params, "CONTAINER_MOUNTS", "X", 1),
				harness.JobLog:    strings.ReplaceAll(log, "srun -l", "srun -l --container-mounts=/lustre:/lustre"),
			},
			want: map[string]string{"extra_mount": `["/scratch:/scratch"]`}, silent: []string{
				"CONTAINER_MOUNTS", "no extra_mount covers it",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestNothingShowsTheLevels(t *testing.T) {
	t.Parallel()
	r := port(t, lay(t, map[string]string{harness.JobParams: "A=1\n"}), Options{})
	if f := fieldOf(r, levelField); f.Value != "64" || f.Class != Guessed {
		t.Errorf("from the directory: %+v", f)
	}
	other := t.TempDir()
	put(t, other+"/"+harness.JobParams, "A=1\n")
	if f := fieldOf(port(t, other, Options{}), levelField); f.Value != "1" || f.Class != Missing {
		t.Errorf("no levels: %+v", f)
	}
}

func TestClientPlacement(t *testing.T) {
	t.Parallel()
	const nodes = "[server] Nodes: n[1-9]\n"
	log := jobLog(
		frontendLine("n1", ""), workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"), workerLine(
			"CTX", 1, "-w n2 -N 1 -n 4", "A=1",
		),
		workerLine("GEN", 0, "-w n[3-4] -N 2 -n 8", "A=1"), workerLine("GEN", 1, "-w n[5-6] -N 2 -n 8", "A=1"),
	)
	for _, c := range []struct {
		name, client, log, want, todo string
	}{
		{"the first node", "<node0_placeholder>", nodes + log, "head", ""},
		{"the first decode worker", "<node2_placeholder>", nodes + log, "first_decode", ""},
		{"the last decode worker", "n5", log, "last_decode", ""},
		{"another worker", "n6", log, "last_decode", "it ran on n6, which GEN 1 used, and which a recipe can't select"},
		{"no worker", "<node8_placeholder>", nodes + log, "last_decode", "it ran on n9, which no worker used"},
		{
			"an unknown node", "<node0_placeholder>", log, "last_decode",
			"it ran on <node0_placeholder>, but job.log does not show",
		},
		{"a node that does not exist", "<node9_placeholder>", nodes + log, "last_decode", "job.log does not show"},
		{"not given", "", log, "last_decode", "the run directory does not record it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := smallRun()
			files[harness.JobLog] = c.log
			flag := "--nodelist " + c.client
			if c.client == "" {
				flag = ""
			}
			files[harness.ClientScript] = strings.Replace(files[harness.ClientScript], "--nodelist <node0_placeholder>", flag, 1)
			r := port(t, lay(t, files), Options{})
			f := fieldOf(r, "benchmark.client_placement")
			i := slices.IndexFunc(r.Todos, func(x Todo) bool { return x.ID == "recipe:benchmark.client_placement" })
			if f.Value != c.want || (i >= 0) != (c.todo != "") || i < 0 && (f.Class != Inferred || len(f.Evidence) < 2) {
				t.Fatalf("%+v, questions %q", f, todoLines(r))
			}
			if i >= 0 && !strings.Contains(r.Todos[i].Message, c.todo) {
				t.Errorf("question %q, want %q", r.Todos[i].Message, c.todo)
			}
		})
	}
}
