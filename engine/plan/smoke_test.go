package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

// A smoke run has the nodes and servers of the full run, and a short replay.
func TestSmokeRun(t *testing.T) {
	t.Parallel()
	full := build(t, request(t, recipe, Slurm))
	req := request(t, recipe, Slurm)
	req.Smoke = true
	p := build(t, req)
	if !p.Smoke || len(p.Nodes) != len(full.Nodes) || len(p.Steps) != len(full.Steps) || len(p.Phases) != 1 {
		t.Fatalf("%d nodes, %d steps, phases %+v", len(p.Nodes), len(p.Steps), p.Phases)
	}
	ph := p.Phases[0]
	if ph.Concurrency != smokeUsers || ph.TimeoutSeconds != 34 ||
		ph.TimeoutSeconds < ph.RampSeconds+ph.SettlingSeconds+ph.MinMeasurement {
		t.Errorf("phase %+v: want the shortest that its rule allows", ph)
	}
	argv := step(t, p, "client").Argv
	for name, want := range map[string]string{"--config": "/logs/benchmark_config.smoke.yaml", "--concurrencies": "4"} {
		if i := slices.Index(argv, name); i < 0 || argv[i+1] != want {
			t.Errorf("%s in %v, want %s", name, argv, want)
		}
	}
	i := slices.IndexFunc(p.Files, func(f File) bool { return f.Path == "{log_dir}/benchmark_config.smoke.yaml" })
	if i < 0 || !strings.Contains(p.Files[i].Content, "trajectory_path: /ap/t.jsonl") ||
		!strings.Contains(p.Files[i].Content, "phase_timeout_seconds: 34.0") {
		t.Fatalf("files %+v", p.Files)
	}
	if w, ds := recipes.ParseWorkload("w.yaml", []byte(p.Files[i].Content)); ds.Errors() > 0 ||
		!recipes.CheckTimeouts(w, []int{4})[0].OK {
		t.Errorf("the client would refuse its workload: %v", ds)
	}
	for _, what := range []string{
		"users", "phase_timeout_seconds", "settling_time_seconds", "min_measurement_seconds", "workload",
	} {
		if !slices.ContainsFunc(p.Substitutions, func(s Substitution) bool { return s.What == what }) {
			t.Errorf("nothing reported for %s", what)
		}
	}
}

// The shell of a step runs on its first node, with its image and mounts, and reserves nothing.
func TestShellOfStep(t *testing.T) {
	t.Parallel()
	p := build(t, request(t, recipe, Slurm)).Bind(
		Values{JobID: "7", LogDir: "/out/7/logs", RunDir: "/out/7", NodeName(2): "n3"})
	line := CommandLine(step(t, p, "decode_0").Shell)
	for _, words := range []string{
		"srun --jobid 7 --overlap --mpi none --nodes 1 --ntasks 1 --nodelist n3 --pty ", "--container-image /img/dyn.sqsh",
		"--container-mounts ", "/out/7/logs:/logs",
	} {
		if !strings.Contains(line, words) {
			t.Errorf("%s lacks %s", line, words)
		}
	}
	if !strings.HasSuffix(line, " bash") || strings.Contains(line, "trtllm") {
		t.Errorf("%s does not end in a shell", line)
	}
	if s := step(t, build(t, local(t)), "client"); len(s.Shell) > 0 {
		t.Errorf("a local step has %v", s.Shell)
	}
}

func local(t *testing.T) Request {
	req := request(t, recipe, Local)
	req.Local = LocalScale{Users: DefaultUsers, Seconds: DefaultSeconds}
	return req
}

func TestSmokeOfOtherTargets(t *testing.T) {
	t.Parallel()
	req := request(t, recipe, Slurm)
	req.Smoke, req.Workload = true, nil
	if _, err := Build(req); err == nil {
		t.Error("a smoke run without a workload to shorten")
	}
	req = local(t)
	req.Smoke = true
	if p := build(t, req); len(p.Phases) != 1 || p.Phases[0].Concurrency != smokeUsers ||
		p.Phases[0].TimeoutSeconds != smokeSeconds {
		t.Errorf("local: %+v", p.Phases)
	}
}
