package backend_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// custom is a backend that exists in this test only. It shows that plans, checks, jobs and
// local runs need no change for a new backend.
type custom struct{}

const program = "custom-program"

func (custom) Names() (engine, frontend string) { return "vllm", "vllm-router" }

func (custom) Title() string { return "Custom" }

func (custom) Config(_ *recipes.Recipe, role recipes.Role) (backend.File, error) {
	text, err := role.Text()
	return backend.File{Name: "custom_" + string(role.Name) + ".yaml", Text: text, Source: role.ConfigPath}, err
}

func (custom) Services(backend.Deployment) []backend.Process { return nil }

func (custom) Worker(s backend.Deployment, w backend.Worker) backend.Process {
	var env backend.Env
	env.Set("CUSTOM_LEADER", w.Nodes[0].Address, backend.BuiltIn)
	env.Add(w.Role.Env, w.Role.Name.EnvPath())
	env.Add(s.Recipe.Environment, "environment")
	return backend.Process{
		Name: w.Step(), Role: w.Role.Name, Tasks: len(w.Nodes), Srun: []string{"--mpi", "none"}, Env: env,
		Argv:  []string{program, "wait", "--config", s.LogDir + "/custom_" + string(w.Role.Name) + ".yaml"},
		Fatal: []string{"custom engine died"},
	}
}

func (custom) Frontend(s backend.Deployment) backend.Process {
	port := s.Port("router")
	argv := []string{program, "route", "127.0.0.1:" + port}
	for range s.Workers {
		argv = append(argv, "custom_engine")
	}
	return backend.Process{
		Name: "router", Role: schema.Frontend, Tasks: 1, Env: backend.Env{}, Argv: argv, Host: "127.0.0.1", Port: port,
		Ready: backend.Readiness{
			Probe: backend.ProbeHealth, Target: "http://127.0.0.1:" + port + "/health", TimeoutSeconds: 20,
			IntervalSeconds: 0.05,
			Decode:          len(s.Workers),
		},
	}
}

func (custom) Components() map[string]schema.Role {
	return map[string]schema.Role{"custom_engine": schema.Agg}
}

func (custom) Rules() []recipes.Rule {
	return []recipes.Rule{
		{ID: "custom-threads", Severity: recipes.Error, Area: "environment", Pitfall: "no threads", Fix: "some"},
	}
}

func (custom) Check(r *recipes.Recipe, _ *recipes.Cluster, report backend.Report) {
	if _, ok := r.Environment.Get("CUSTOM_THREADS"); !ok {
		report("custom-threads", "environment", "the custom engine has no threads", "set CUSTOM_THREADS")
	}
}

var all = backend.List{custom{}}

const (
	recipeText = `name: custom
model: {path: /m/model, container: /img.sqsh, precision: fp4}
resources: {gpus_per_node: 4, agg_nodes: 1, agg_workers: 2}
backend:
  type: vllm
  vllm_config: {aggregated: {threads: 3}}
environment: {CUSTOM_THREADS: "3"}
frontend: {type: vllm-router, enable_multiple_frontends: false}
dynamo: {install: false}
benchmark: {type: agentperf, concurrency: 8, agentperf_client_dir: /ap/client, agentperf_config: /ap/w.yaml}
extra_mount: ["/shared/ap:/ap"]
slurm: {time_limit: "06:00:00"}
`
	workloadText = `base_url: http://placeholder:8000/v1
model: placeholder
concurrencies: [8]
phase_timeout_seconds: 2400.0
settling_time_seconds: 240.0
trajectory_path: /ap/t.jsonl
user_spawn_rate: 1.0
min_measurement_seconds: 300.0
`
)

func load(t *testing.T, text string) check.Files {
	t.Helper()
	r, ds := recipes.ParseRecipe("r.yaml", []byte(text))
	w, ws := recipes.ParseWorkload("w.yaml", []byte(workloadText))
	if ds.Errors()+ws.Errors() > 0 {
		t.Fatal(ds, ws)
	}
	return check.Files{Recipe: r, Workload: w, Backends: all}
}

func TestCustomBackendIsChecked(t *testing.T) {
	t.Parallel()
	f := load(t, recipeText)
	if rep := check.Run(f, check.Host{}); len(rep.Diagnostics) > 0 {
		t.Errorf("findings about a valid recipe: %v", rep.Diagnostics)
	}
	f = load(t, strings.Replace(recipeText, "CUSTOM_THREADS", "OTHER", 1))
	d := check.Run(f, check.Host{}).Diagnostics
	if len(d) != 1 || d[0].Rule != "custom-threads" || d[0].Severity != recipes.Error || d[0].Path != "environment" ||
		d[0].Line != 7 {
		t.Errorf("got %v, want the rule of the backend", d)
	}
	f.Backends = nil
	d = check.Run(f, check.Host{}).Diagnostics
	if len(d) != 1 || d[0].Rule != "not-run-here" || !strings.Contains(d[0].Message, "runs only trtllm behind dynamo") {
		t.Errorf("got %v, want that the engine is not supported", d)
	}
}

func build(t *testing.T, target plan.Target) *plan.Plan {
	t.Helper()
	f := load(t, recipeText)
	req := plan.Request{
		Recipe: f.Recipe, Workload: f.Workload, Target: target, OutputDir: "/out",
		Local: plan.LocalScale{Users: 2, Seconds: 20},
	}
	if _, err := plan.Build(req); err == nil || !strings.Contains(err.Error(), "use trtllm behind dynamo") {
		t.Fatalf("without the backend: %v", err)
	}
	req.Backends = all
	p, err := plan.Build(req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCustomBackendIsPlanned(t *testing.T) {
	t.Parallel()
	p := build(t, plan.Slurm)
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Name)
	}
	if want := []string{"agg_0", "agg_1", "router", "client"}; !slices.Equal(names, want) {
		t.Fatalf("steps %v, want %v", names, want)
	}
	if want := []string{"frontend", "agg 0", "agg 1", "client"}; !slices.Equal(p.Nodes[0].Roles, want) {
		t.Errorf("on the node: %v, want %v", p.Nodes[0].Roles, want)
	}
	w := p.Steps[0]
	wantArgv := []string{program, "wait", "--config", "/logs/custom_agg.yaml"}
	wantEnv := []plan.Var{
		{Name: "CUSTOM_LEADER", Value: "{ip:0}", Origin: "built-in"},
		{Name: "CUSTOM_THREADS", Value: "3", Origin: "environment.CUSTOM_THREADS"},
	}
	if !slices.Equal(w.Argv, wantArgv) || !slices.Equal(w.Env, wantEnv) || w.Tasks != 1 ||
		!slices.Equal(w.Fatal, []string{"custom engine died"}) {
		t.Errorf("worker %+v", w)
	}
	if launch := strings.Join(w.Launch, " "); !strings.Contains(launch, "--overlap --mpi none --nodes 1 ") {
		t.Errorf("launch %s", launch)
	}
	if f := p.Files[0]; f.Path != "{log_dir}/custom_agg.yaml" || f.Content != "threads: 3\n" ||
		f.Source != "backend.vllm_config.aggregated" {
		t.Errorf("config %+v", f)
	}
	if argv := p.Steps[3].Argv; !slices.Contains(argv, "http://127.0.0.1:{port:router}") {
		t.Errorf("the client does not use the frontend: %v", argv)
	}
}

// execute runs the steps of a plan as local processes of the test binary and returns the
// exit code and the final status.
func execute(t *testing.T, p *plan.Plan, components map[string]schema.Role) (int, event.Status) {
	t.Helper()
	dir, self := t.TempDir(), os.Args[0]
	values, err := local.Bindings(p, "7", dir, dir, self)
	if err != nil {
		t.Fatal(err)
	}
	p = p.Bind(values)
	for i := range p.Steps {
		p.Steps[i].Launch = slices.Clone(p.Steps[i].Argv)
		p.Steps[i].Launch[0] = self
		p.Steps[i].Env = append(p.Steps[i].Env, plan.Var{Name: processEnv, Value: "1"})
	}
	runner := local.NewRunner()
	defer runner.Close()
	var log bytes.Buffer
	code, err := job.Run(t.Context(), job.Options{
		Plan: p, LogDir: dir, Runner: runner, Log: &log, Now: time.Now, Components: components,
	})
	if err != nil {
		t.Fatal(err)
	}
	events, err := event.ReadFile(filepath.Join(dir, event.FileName))
	if err != nil {
		t.Fatal(err)
	}
	var st event.Status
	for _, e := range events {
		st.Apply(e)
	}
	if code != 0 || st.State != event.Done {
		t.Errorf("code %d, %s\n%s", code, st.State, log.String())
	}
	return code, st
}

func TestCustomBackendRunsInAJob(t *testing.T) {
	t.Parallel()
	_, st := execute(t, build(t, plan.Slurm), all.Components())
	if st.Have.Decode != 2 || st.Want.Decode != 2 {
		t.Errorf("have %+v of %+v", st.Have, st.Want)
	}
}

func TestCustomBackendRunsLocally(t *testing.T) {
	t.Parallel()
	p := build(t, plan.Local)
	i := slices.IndexFunc(p.Substitutions, func(s plan.Substitution) bool { return s.What == "engines" })
	if i < 0 || p.Substitutions[i].From != "2 Custom workers" || p.Substitutions[i].To != "2 mock workers" {
		t.Errorf("substitutions %+v", p.Substitutions)
	}
	if slices.ContainsFunc(p.Substitutions, func(s plan.Substitution) bool { return s.What == "etcd" }) {
		t.Error("a substitution for etcd, which the backend does not use")
	}
	_, st := execute(t, p, all.Components())
	if st.Have.Decode != 2 || len(st.Steps) != 4 {
		t.Errorf("have %+v, steps %+v", st.Have, st.Steps)
	}
}

const processEnv = "AGENTPERF_TEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(processEnv) != "" {
		os.Exit(runProcess(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// runProcess runs the test binary as a process of a run.
func runProcess(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch args[0] {
	case "wait":
		<-ctx.Done()
	case "route":
		var instances []string
		for _, c := range args[2:] {
			instances = append(instances, fmt.Sprintf(`{"endpoint":"generate","component":%q}`, c))
		}
		answer := `{"instances":[` + strings.Join(instances, ",") + `]}`
		return serve(ctx, args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
	case "mock-server":
		cfg := mockserver.Config{Timing: mockserver.DefaultTiming()}
		for i := 1; i+1 < len(args); i += 2 {
			switch args[i] {
			case "--role":
				cfg.Role = schema.Role(args[i+1])
			case "--agg":
				cfg.AggURLs = append(cfg.AggURLs, args[i+1])
			}
		}
		h, err := mockserver.New(cfg)
		if err != nil {
			return 1
		}
		return serve(ctx, args[2], h)
	case "replay", "job": // the client
	}
	return 0
}

func serve(ctx context.Context, addr string, h http.Handler) int {
	if mockserver.Serve(ctx, addr, h, mockserver.ServeOptions{Grace: time.Second}) != nil {
		return 1
	}
	return 0
}
