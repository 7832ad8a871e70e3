package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

const recipe = `name: it's a "demo"
model: {path: /m/my-model, container: /img/dyn.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4, prefill_nodes: 2, prefill_workers: 2, decode_nodes: 2, decode_workers: 1}
backend:
  type: trtllm
  prefill_environment:
    {UCX_TLS: "cuda_ipc,sm,tcp", HF_TOKEN: "sesame", A_FIRST_TOKEN: "1", SHARED: "role", DYN_LOG: "info"}
  trtllm_config:
    prefill: {tensor_parallel_size: 4, cuda_graph_config: null, x: 1.50}
    decode: {tensor_parallel_size: 8}
environment: {SHARED: "global"}
frontend: {type: dynamo, enable_multiple_frontends: false, args: {router-mode: kv, no-router-kv-events: true},
  env: {HOME: /tmp}}
dynamo: {install: false, event_plane: zmq}
benchmark:
  type: agentperf
  client_placement: last_decode
  concurrencies: [64, 1010]
  agentperf_client_dir: /ap/client
  agentperf_config: /ap/workload.yaml
  env: {AGENTPERF_EXTRA_ARGS: "--seed 100"}
extra_mount: ["/shared/ap:/ap:ro"]
container_mounts: {"{log_dir}/x": "/x"}
sbatch_directives: {comment: "two words", exclusive: ""}
`

const workload = `base_url: http://placeholder:8000/v1
model: placeholder
concurrencies: [8]
phase_timeout_seconds: 2400.0
settling_time_seconds: 240.0
trajectory_path: /ap/t.jsonl
user_spawn_rate: 1.0
min_measurement_seconds: 300.0
`

func request(t *testing.T, text string, target Target) Request {
	t.Helper()
	r, ds := recipes.ParseRecipe("r.yaml", []byte(text))
	if ds.Errors() > 0 {
		t.Fatal(ds)
	}
	w, _ := recipes.ParseWorkload("w.yaml", []byte(workload))
	c, _ := recipes.ParseCluster("c.yaml",
		[]byte("use_segment_sbatch_directive: false\ndefault_sbatch_directives: {comment: lost, mail-type: END}\n"+
			"default_mounts: {/data: /data}"))
	return Request{Recipe: r, Workload: w, Cluster: c, Target: target, OutputDir: "/out put"}
}

func build(t *testing.T, req Request) *Plan {
	t.Helper()
	p, err := Build(req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func step(t *testing.T, p *Plan, name string) Step {
	t.Helper()
	for _, s := range p.Steps {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no step %s", name)
	return Step{}
}

func TestLayouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, resources, more string
		want                  string // roles per node
	}{
		{
			"one node a worker", "prefill_nodes: 2, prefill_workers: 2, decode_nodes: 2, decode_workers: 1", "",
			"etcd,frontend,prefill 0 | prefill 1 | decode 0,client | decode 0",
		},
		{
			"two workers a node", "prefill_nodes: 1, prefill_workers: 2, decode_nodes: 1, decode_workers: 1", "",
			"etcd,frontend,prefill 0,prefill 1 | decode 0,client",
		},
		{
			"decode starts on a fresh node",
			"prefill_nodes: 2, prefill_workers: 3, gpus_per_prefill: 2, decode_nodes: 1, decode_workers: 2, gpus_per_decode: 2",
			"", "etcd,frontend,prefill 0,prefill 1 | prefill 2 | decode 0,decode 1,client",
		},
		{
			"spread",
			"spread_workers: true, prefill_nodes: 2, prefill_workers: 2, gpus_per_prefill: 2, decode_nodes: 1, " +
				"decode_workers: 1",
			"", "etcd,frontend,prefill 0 | prefill 1 | decode 0,client",
		},
		{
			"decode shares the nodes",
			"prefill_nodes: 1, prefill_workers: 1, gpus_per_prefill: 2, decode_nodes: 0, decode_workers: 1, gpus_per_decode: 2",
			"", "etcd,frontend,prefill 0,decode 0,client",
		},
		{
			"dedicated infra", "prefill_nodes: 1, prefill_workers: 1, decode_nodes: 1, decode_workers: 1",
			"infra: {etcd_nats_dedicated_node: true}", "etcd | frontend,prefill 0 | decode 0,client",
		},
		{
			"dedicated infra and frontend share", "prefill_nodes: 1, prefill_workers: 1, decode_nodes: 1, decode_workers: 1",
			"infra: {etcd_nats_dedicated_node: true}\nfrontend: {dedicated_node: true}",
			"etcd,frontend | prefill 0 | decode 0,client",
		},
		{"aggregated", "agg_nodes: 2, agg_workers: 1", "", "etcd,frontend,agg 0,client | agg 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			placement := "last_decode"
			if !strings.Contains(c.resources, "decode") {
				placement = "head"
			}
			text := fmt.Sprintf("name: x\nmodel: {path: /m, container: /i, precision: f}\nresources: {gpus_per_node: 4, %s}\n"+
				"backend: {type: trtllm}\nbenchmark: {type: agentperf, concurrency: 1, client_placement: %s}\n%s\n",
				c.resources, placement, c.more)
			r, ds := recipes.ParseRecipe("r.yaml", []byte(text))
			if ds.Errors() > 0 {
				t.Fatal(ds)
			}
			l, err := newLayout(r)
			if err != nil {
				t.Fatal(err)
			}
			var nodes []string
			for _, n := range nodeList(l, []string{"etcd"}) {
				nodes = append(nodes, strings.Join(n.Roles, ","))
			}
			if got := strings.Join(nodes, " | "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestGPUMasks(t *testing.T) {
	t.Parallel()
	text := strings.Replace(recipe, "prefill_nodes: 2, prefill_workers: 2", "prefill_nodes: 1, prefill_workers: 2", 1)
	p := build(t, request(t, text, Slurm))
	for name, want := range map[string]string{"prefill_0": "0,1", "prefill_1": "2,3", "decode_0": ""} {
		got := ""
		for _, v := range step(t, p, name).Env {
			if v.Name == "CUDA_VISIBLE_DEVICES" {
				got = v.Value
			}
		}
		if got != want {
			t.Errorf("%s sees GPUs %q, want %q", name, got, want)
		}
	}
}

func TestPhasesWithoutWorkload(t *testing.T) {
	t.Parallel()
	req := request(t, recipe, Slurm)
	req.Workload = nil
	p := build(t, req)
	text := ""
	for _, s := range p.Sections() {
		if s.Title == "PHASES" {
			text = strings.Join(s.Lines, "\n")
		}
	}
	want := "0  64 users  times unknown: no workload file\n1  1010 users  times unknown: no workload file"
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	data, err := json.Marshal(p.Phases[1])
	want = `{"index":1,"level":1010,"ramp_seconds":null,"settling_seconds":null,"timeout_seconds":null,` +
		`"min_measurement_seconds":null,"min_total_trajectories":null,"min_trajectories_per_user":null}`
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v\nwant %s", data, err, want)
	}
	var back Phase
	if err := json.Unmarshal(data, &back); err != nil || back != p.Phases[1] || back.Known() {
		t.Errorf("read back: %+v, %v", back, err)
	}
	p = build(t, request(t, recipe, Slurm))
	if data, err = json.Marshal(p.Phases[1]); err != nil || !strings.Contains(string(data), `"ramp_seconds":1009,`) {
		t.Errorf("with a workload: %s, %v", data, err)
	}
}

func TestTooFewNodes(t *testing.T) {
	t.Parallel()
	req := request(t, strings.Replace(recipe, "prefill_workers: 2", "prefill_workers: 2, gpus_per_prefill: 16", 1), Slurm)
	if _, err := Build(req); err == nil || !strings.Contains(err.Error(), "prefill worker 1 needs 16 GPUs") {
		t.Errorf("got %v", err)
	}
}

func TestSlurmSteps(t *testing.T) {
	t.Parallel()
	p := build(t, request(t, recipe, Slurm))
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Name)
	}
	if want := []string{"etcd", "prefill_0", "prefill_1", "decode_0", "frontend_0", "client"}; !slices.Equal(names, want) {
		t.Fatalf("steps %v, want %v", names, want)
	}
	d := step(t, p, "decode_0")
	if want := []int{2, 3}; !slices.Equal(d.Nodes, want) || d.Tasks != 8 || d.Log != "{node:2}_decode_w0.out" {
		t.Errorf("decode %+v", d)
	}
	want := []string{
		"srun", "--jobid", "{job_id}", "--job-name", "decode_0", "--overlap", "--mpi", "pmix", "--oversubscribe",
		"--cpu-bind=verbose,none", "--kill-on-bad-exit=1", "--wait=10",
		"--nodes", "2", "--ntasks", "8", "--nodelist", "{node:2},{node:3}", "--output", "{log_dir}/{node:2}_decode_w0.out",
		"--open-mode", "append",
		"--container-image", "/img/dyn.sqsh", "--no-container-entrypoint", "--no-container-mount-home", "--container-mounts",
		"{log_dir}:/logs,/m/my-model:/model,{run_dir}/bin:/agentperf,/data:/data,/shared/ap:/ap:ro,{log_dir}/x:/x",
		"--export=ALL", "env",
		"HEAD_NODE_IP={ip:0}", "ETCD_ENDPOINTS=http://{node:0}:2379", "NATS_SERVER=nats://{node:0}:4222",
		"DYN_SKIP_SGLANG_LOG_FORMATTING=1", "DYN_EVENT_PLANE=zmq",
		"DYN_SYSTEM_PORT=7502", "DYN_LOG=info,dynamo_runtime::pipeline::network::ingress::push_handler=warn",
		"TRTLLM_EPLB_SHM_NAME=moe_shared_decode0_{job_id}", "SHARED=global",
		"numactl", "-m", "0,1", "trtllm-llmapi-launch", "python3", "-m", "dynamo.trtllm", "--model-path", "/model",
		"--served-model-name", "my-model",
		"--disaggregation-mode", "decode", "--extra-engine-args", "/logs/trtllm_config_decode.yaml", "--request-plane", "tcp",
		"--publish-metrics",
	}
	if !slices.Equal(d.Launch, want) {
		t.Errorf("launch\n%q\nwant\n%q", d.Launch, want)
	}
	f := step(t, p, "frontend_0")
	if want := []string{
		"python3", "-m", "dynamo.frontend", "--http-port=8000", "--router-mode", "kv", "--no-router-kv-events",
	}; !slices.Equal(f.Argv, want) {
		t.Errorf("frontend %q", f.Argv)
	}
	if f.Ready.Prefill != 2 || f.Ready.Decode != 1 || f.Ready.TimeoutSeconds != 1800 {
		t.Errorf("health gate %+v", f.Ready)
	}
	c := step(t, p, "client")
	if !c.EndsRun || !slices.Contains(c.Argv, "64,1010") || !slices.Equal(c.Nodes, []int{2}) {
		t.Errorf("client %+v", c)
	}
}

// Values may contain commas, secrets are on no command line, and the last origin of a variable
// overrides earlier ones and names them.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	p := build(t, request(t, recipe, Slurm))
	s := step(t, p, "prefill_0")
	byName := map[string]Var{}
	for _, v := range s.Env {
		if _, twice := byName[v.Name]; twice {
			t.Errorf("%s is set twice", v.Name)
		}
		byName[v.Name] = v
	}
	if v := byName["SHARED"]; v.Value != "global" || v.Origin != "environment.SHARED" ||
		v.Overrides != "backend.prefill_environment.SHARED" {
		t.Errorf("SHARED %+v", v)
	}
	if v := byName["DYN_LOG"]; v.Value != "info" || v.Overrides != "built-in" {
		t.Errorf("DYN_LOG %+v", v)
	}
	if !slices.Contains(s.Launch, "UCX_TLS=cuda_ipc,sm,tcp") || !slices.Contains(s.Launch, "--container-env=HF_TOKEN") {
		t.Errorf("launch %q", s.Launch)
	}
	for _, s := range p.Steps {
		if strings.Contains(strings.Join(s.Launch, " "), "sesame") {
			t.Errorf("%s has a secret on its command line", s.Name)
		}
	}
	red, err := json.Marshal(p.Redacted())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(red), "sesame") || !strings.Contains(string(red), secret.Hidden) {
		t.Error("the redacted plan shows a secret")
	}
	for _, v := range p.Redacted().Steps[0].Env {
		if v.Value == secret.Hidden && v.Name != "HF_TOKEN" {
			t.Errorf("%s is hidden", v.Name)
		}
	}
	if byName["HF_TOKEN"].Value != "sesame" {
		t.Error("the plan itself lost the secret")
	}
}

// A secret that the recipe gives as an argument is hidden in command lines, in each spelling.
func TestSecretArguments(t *testing.T) {
	t.Parallel()
	text := strings.Replace(recipe, "no-router-kv-events: true}", "no-router-kv-events: true, hf-token: sesame, "+
		"note: sk-Sesame2, max_tokens: many, api-key: true}", 1)
	p := build(t, request(t, text, Slurm))
	f := step(t, p.Redacted(), "frontend_0")
	for _, argv := range [][]string{f.Argv, f.Launch} {
		line := strings.Join(argv, " ")
		if strings.Contains(strings.ToLower(line), "sesame") {
			t.Errorf("shows a secret: %s", line)
		}
		for _, want := range []string{"--hf-token " + secret.Hidden, "--max_tokens many", "--api-key", "--router-mode kv"} {
			if !strings.Contains(line, want) {
				t.Errorf("no %q in %s", want, line)
			}
		}
	}
	if line := strings.Join(step(t, p, "frontend_0").Argv, " "); !strings.Contains(line, "--hf-token sesame") {
		t.Errorf("the plan itself lost the secret: %s", line)
	}
	argv := []string{"--api-key=sesame", "--max-tokens=many", "--token", "--next", "--token"}
	redactArguments(argv)
	if got := strings.Join(argv, " "); got != "--api-key="+secret.Hidden+" --max-tokens=many --token --next --token" {
		t.Errorf("arguments %s", got)
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	p := build(t, request(t, recipe, Slurm))
	for _, line := range []string{
		`#SBATCH --job-name="it's a \"demo\""`, `#SBATCH --nodes=4`, `#SBATCH --ntasks=16`, `#SBATCH --gpus-per-node=4`,
		`#SBATCH --comment='two words'`, `#SBATCH --exclusive`,
		`#SBATCH --mail-type=END`, `#SBATCH --no-requeue`, `#SBATCH --signal=B:TERM@90`, `run='/out put'/"$SLURM_JOB_ID"`,
		`exec "$run/bin/agentperf-tui" job run --run-dir "$run"`,
	} {
		if !strings.Contains(p.Script, line+"\n") {
			t.Errorf("the script lacks %s:\n%s", line, p.Script)
		}
	}
	if strings.Contains(p.Script, "segment") || strings.Contains(p.Script, "lost") {
		t.Errorf("script has what the cluster file or the recipe turned off:\n%s", p.Script)
	}
}

func TestEngineConfig(t *testing.T) {
	t.Parallel()
	p := build(t, request(t, recipe, Slurm))
	if f := p.Files[0]; f.Path != "{log_dir}/trtllm_config_prefill.yaml" ||
		f.Content != "cuda_graph_config: null\nenable_iter_perf_stats: false\ntensor_parallel_size: 4\nx: 1.5\n" {
		t.Errorf("got %+v", f)
	}
}

func TestLocalScale(t *testing.T) {
	t.Parallel()
	req := request(t, recipe, Local)
	req.Local = LocalScale{Users: 11, Seconds: 24}
	p := build(t, req)
	w, ds := recipes.ParseWorkload("w", []byte(p.Files[0].Content))
	if ds.Errors() > 0 {
		t.Fatal(ds)
	}
	if !slices.Equal(w.Levels, []int{1, 11}) || w.PhaseTimeout.Float() != 24 || w.Settling.Float() != 2.4 ||
		w.MinMeasurement.Float() != 3 {
		t.Errorf("scaled workload:\n%s", p.Files[0].Content)
	}
	for _, c := range recipes.CheckTimeouts(w, w.Levels) {
		if !c.OK {
			t.Errorf("the rule broke: %s", c.Summary())
		}
	}
	if got := p.Phases[1].RampSeconds; got < 10.08 || got > 10.1 {
		t.Errorf("ramp %v s, want 1009 s / 100", got)
	}
	swaps := map[string]string{}
	for _, s := range p.Substitutions {
		swaps[s.What] = s.To
	}
	for what, to := range map[string]string{
		"users": "1,11", "phase_timeout_seconds": "24.0", "engines": "3 mock workers", "client": "built-in replay client",
	} {
		if swaps[what] != to {
			t.Errorf("substitution %s is %q, want %q", what, swaps[what], to)
		}
	}
	if len(p.Steps) != 5 || p.Script != "" {
		t.Errorf("steps %d, script %q", len(p.Steps), p.Script)
	}
}

// allocation are the values of the placeholders in an allocation of four nodes.
var allocation = Values{
	NodeAddress(0): "10.0.0.1", JobID: "7", LogDir: "/run/logs", RunDir: "/run",
	NodeName(0): "a", NodeName(1): "b", NodeName(2): "c", NodeName(3): "d",
}

func TestBind(t *testing.T) {
	t.Parallel()
	p := build(t, request(t, recipe, Slurm))
	want := []Placeholder{
		NodeAddress(0), JobID, LogDir, NodeName(0), NodeName(1), NodeName(2), NodeName(3), RunDir,
	}
	if got := p.Placeholders(); !slices.Equal(got, want) {
		t.Fatalf("placeholders %v, want %v", got, want)
	}
	b := p.Bind(allocation)
	if got := b.Placeholders(); len(got) != 0 {
		t.Errorf("still unbound: %v", got)
	}
	if s := step(t, b, "decode_0"); s.Log != "c_decode_w0.out" || !slices.Contains(s.Launch, "c,d") {
		t.Errorf("bound decode %+v", s)
	}
	if s := step(t, p, "decode_0"); s.Log != "{node:2}_decode_w0.out" {
		t.Error("binding changed the plan itself")
	}
}

func TestUnknownMountPlaceholder(t *testing.T) {
	t.Parallel()
	_, err := Build(request(t, strings.Replace(recipe, "{log_dir}/x", "{logdir}/x", 1), Slurm))
	if err == nil || !strings.Contains(err.Error(), "unknown placeholder {logdir}") {
		t.Errorf("got %v", err)
	}
}

// The container and the options of srun of a role apply to its workers alone.
func TestRoleContainerAndOptions(t *testing.T) {
	t.Parallel()
	text := `schema: 2
name: x
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4}
engine: trtllm
roles:
  prefill: {nodes: 1, workers: 1}
  decode: {nodes: 1, workers: 1, container: mine, srun_options: {mem: "0", overcommit: ""}}
srun_options: {mem: 5G}
frontend: {enable_multiple_frontends: false}
dynamo: {install: false}
benchmark: {type: agentperf, concurrency: 8, agentperf_client_dir: /ap/c, agentperf_config: /ap/w.yaml}
`
	req := request(t, text, Slurm)
	req.Cluster.Containers = recipes.Env{{Name: "mine", Value: "/mine.sqsh"}}
	req.Cluster.Apply(req.Recipe, func(string) string { return "" })
	p := build(t, req)
	for _, s := range p.Steps {
		image, options := "/c.sqsh", "--mem=5G --export=ALL"
		if s.Name == "decode_0" {
			image, options = "/mine.sqsh", "--mem=5G --mem=0 --overcommit --export=ALL"
		}
		launch := strings.Join(s.Launch, " ")
		if !strings.Contains(launch, "--container-image "+image+" ") || !strings.Contains(launch, options) {
			t.Errorf("%s: %s, want %s and %s", s.Name, launch, image, options)
		}
		if !strings.Contains(strings.Join(s.Shell, " "), "--container-image "+image+" ") {
			t.Errorf("the shell of %s: %v", s.Name, s.Shell)
		}
	}
}
