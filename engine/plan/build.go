package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

type builder struct {
	Request
	r       *recipes.Recipe
	backend backend.Backend // the recipe's
	l       layout
	p       *Plan

	levels []int  // users, as played
	config string // the client's workload, in its container
}

// Build makes the plan. The recipe should have been checked: Build refuses only
// what it can't lay out.
func Build(req Request) (*Plan, error) {
	r := req.Recipe
	fail := func(err error) error { return fmt.Errorf("plan %s: %w", r.File, err) }
	servers, runs := req.Backends.For(r)
	if !runs || r.Benchmark.Type != "agentperf" {
		return nil, fail(problem.Errorf(problem.PlanUnsupported,
			"engine %s, frontend %s, benchmark %s is not supported; use %s with benchmark agentperf",
			r.Engine.Type, r.Frontend.Type, r.Benchmark.Type, req.Backends))
	}
	if err := refuse(req); err != nil {
		return nil, fail(err)
	}
	l, err := place(r)
	if err != nil {
		return nil, fail(err)
	}
	b := &builder{
		Request: req, r: r, backend: servers, l: l, levels: r.Benchmark.Levels, config: r.Benchmark.ConfigPath,
	}
	b.p = &Plan{
		Version: 1, Name: r.Name, Target: req.Target, Smoke: req.Smoke, Scale: req.Local, Model: r.ServedModel(),
		GPUsPerNode: r.GPUsPerNode, Image: r.Container, Mounts: []Mount{}, Files: []File{},
		Phases: phases(req.Workload, r.Benchmark.Levels), Substitutions: []Substitution{}, Changes: req.Changes,
		OutputDir: req.OutputDir,
	}
	b.p.Nodes = l.describe(b.registry())
	if b.p.Changes == nil {
		b.p.Changes = []recipes.Change{}
	}
	if req.Target == Local {
		if err := b.local(); err != nil {
			return nil, fmt.Errorf("plan %s for this machine: %w", r.File, err)
		}
		return b.p, nil
	}
	if err := b.slurm(); err != nil {
		return nil, fail(err)
	}
	return b.p, nil
}

// oneJob are directives that would make another job of it than the plan's.
var oneJob = []string{"array", "output", "error", "wait", "test-only", "wrap", "hold", "parsable", "chdir"}

// optionName is what stands behind -- in a script or on a command line.
var optionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

// refuse says what of a recipe would make no job, or another one.
func refuse(req Request) error {
	r := req.Recipe
	if n := strings.IndexFunc(r.Name, unicode.IsControl); n >= 0 || len(r.Name) > 128 || strings.HasPrefix(r.Name, "-") {
		return problem.Errorf(problem.PlanInvalid, "name: %.40q is not a valid job name; "+
			"use at most 128 bytes, no control characters and no leading -", r.Name)
	}
	if len(r.Benchmark.Levels) == 0 {
		return problem.New(problem.PlanInvalid, "no concurrency level; set benchmark.concurrency or benchmark.concurrencies")
	}
	options := slices.Concat(r.SbatchDirectives, r.SrunOptions)
	if req.Cluster != nil {
		options = append(options, req.Cluster.SbatchDirectives...)
	}
	for _, o := range options {
		if !optionName.MatchString(o.Name) {
			return problem.Errorf(problem.PlanInvalid,
				"%q is not a valid name of a Slurm option; use letters, digits and -", o.Name)
		}
	}
	for _, o := range r.SbatchDirectives {
		if slices.Contains(oneJob, o.Name) {
			return problem.Errorf(problem.PlanInvalid,
				"sbatch directive %s is not supported, because a run is one job with one log; remove it", o.Name)
		}
	}
	for _, pattern := range r.FatalPatterns {
		if _, err := regexp.Compile(pattern); err != nil {
			return problem.Errorf(problem.PlanInvalid, "extra_fatal_log_patterns: %w", err)
		}
	}
	return nil
}

// phases is what each level takes by the workload's own numbers.
func phases(w *recipes.Workload, levels []int) []Phase {
	out := make([]Phase, 0, len(levels))
	for i, l := range levels {
		p := Phase{Index: i, Concurrency: l}
		if w != nil {
			p.SettlingSeconds, p.TimeoutSeconds = w.Settling.Float(), w.PhaseTimeout.Float()
			p.MinMeasurement = w.MinMeasurement.Float()
			p.MinTotal, p.MinPerUser = int(w.MinTotalTrajectories.Float()), int(w.MinTrajectoriesPerUser.Float())
			if rate := w.SpawnRate.Float(); rate > 0 {
				p.RampSeconds = float64(l-1) / rate
			}
		}
		out = append(out, p)
	}
	return out
}

// substitute notes what is done instead of what the recipe says.
func (b *builder) substitute(what, from, to, why string) {
	b.p.Substitutions = append(b.p.Substitutions, Substitution{What: what, From: from, To: to, Why: why})
}

const critical = "the run fails: every other step is stopped"

// add adds a step; srun starts it with further options, if a job does.
func (b *builder) add(s Step, srun ...string) {
	if b.Target == Local {
		s.Launch = s.Argv
	} else {
		s.Launch = b.srun(&s, srun)
		s.Shell = s.shell()
	}
	b.p.Steps = append(b.p.Steps, s)
}

// serve adds the steps of the servers, a backend's own or those that stand in for
// it, and returns the frontend.
func (b *builder) serve(servers backend.Servers) backend.Process {
	site := b.site()
	add := func(p backend.Process, stage Stage, log string, gpus []int, nodes ...int) {
		b.add(Step{
			Name: p.Name, Role: p.Role, Stage: stage, Nodes: nodes, Tasks: p.Tasks, GPUs: gpus, Env: p.Env, Argv: p.Argv,
			Log: log, Ready: p.Ready, Fatal: p.Fatal, Failure: critical,
		}, p.Srun...)
	}
	for _, p := range servers.Services(site) {
		add(p, Infra, "service_"+p.Name+".out", nil, b.l.infra)
	}
	for i, w := range b.l.workers {
		log := fmt.Sprintf("%s_%s_w%d.out", nodeName(w.nodes[0]), w.role.Name, w.index)
		add(servers.Worker(site, site.Workers[i]), Workers, log, w.gpus, w.nodes...)
	}
	front := servers.Frontend(site)
	add(front, FrontendStage, nodeName(b.l.frontend)+"_"+front.Name+".out", nil, b.l.frontend)
	return front
}

// registry is the service with which the backend's workers register; empty: none.
func (b *builder) registry() string {
	if services := b.backend.Services(b.site()); len(services) > 0 {
		return services[0].Name
	}
	return ""
}

// client adds the client's step, which runs this program.
func (b *builder) client(env backend.Env, argv ...string) {
	env.Add(b.r.Environment, "environment")
	env.Add(b.r.Benchmark.Env, "benchmark.env")
	b.add(Step{
		Name: string(schema.Client), Role: schema.Client, Stage: Client, Nodes: []int{b.l.client}, Tasks: 1, Env: env,
		Argv: argv,
		Log:  "benchmark.out", Failure: "the run ends with the client's exit code", EndsRun: true, StallSeconds: b.StallSeconds,
	})
}

// site tells a backend where things are.
func (b *builder) site() backend.Deployment {
	node := func(i int) backend.Node { return backend.Node{Name: nodeName(i), Address: address(i)} }
	s := backend.Deployment{
		Recipe: b.r, Model: b.p.Model, ModelPath: b.modelPath(), LogDir: containerLogs, JobID: JobID, Program: Binary,
		Head: node(b.l.head), Infra: node(b.l.infra), Frontend: node(b.l.frontend),
		Port: func(step string) string { return "{port:" + step + "}" },
	}
	for i, w := range b.l.workers {
		worker := backend.Worker{Role: w.role, Index: w.index, Number: i, GPUs: w.gpus, Ranks: w.ranks}
		for _, n := range w.nodes {
			worker.Nodes = append(worker.Nodes, node(n))
		}
		s.Workers = append(s.Workers, worker)
	}
	return s
}

// errNoWorkload says that a target needs the workload file itself.
var errNoWorkload = problem.New(problem.WorkloadMissing, "a workload file is required; pass --workload FILE")
