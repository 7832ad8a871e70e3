package plan

import (
	"cmp"
	"fmt"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/layout"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// builder builds one plan.
type builder struct {
	Request
	recipe  *recipes.Recipe
	backend backend.Backend // the recipe's
	layout  layout.Layout
	plan    *Plan

	levels []int  // concurrency levels of this plan
	config string // path of the client's workload in its container
}

// Build builds the plan of a run. The caller should check the recipe first, because Build
// returns errors only for what it can't plan.
func Build(req Request) (*Plan, error) {
	r := req.Recipe
	planErr := func(err error) error { return fmt.Errorf("plan %s: %w", r.File, err) }
	servers, supported := req.Backends.For(r)
	if !supported || r.Benchmark.Type != schema.AgentPerf {
		return nil, planErr(problem.Errorf(problem.PlanUnsupported,
			"engine %s%s, frontend %s, benchmark %s is not supported; use %s with benchmark agentperf",
			r.Engine.Type, map[bool]string{true: " with a sidecar"}[r.Sidecar], r.Frontend.Type, r.Benchmark.Type, req.Backends))
	}
	if err := validate(req); err != nil {
		return nil, planErr(err)
	}
	l, err := newLayout(r)
	if err != nil {
		return nil, planErr(err)
	}
	b := &builder{
		Request: req, recipe: r, backend: servers, layout: l, levels: r.Benchmark.Levels, config: r.Benchmark.ConfigPath,
	}
	b.plan = &Plan{
		Version: 1, Name: r.Name, Target: req.Target, Smoke: req.Smoke, Scale: req.Local, Model: r.ServedModel(),
		Precision:   r.Precision,
		GPUsPerNode: r.GPUsPerNode, Image: r.Container, Mounts: []Mount{}, Files: []File{},
		Phases: phases(req.Workload, r.Benchmark.Levels), Substitutions: []Substitution{}, Changes: req.Changes,
		OutputDir: req.OutputDir,
	}
	b.plan.Nodes = nodeList(l, b.services())
	if b.plan.Changes == nil {
		b.plan.Changes = []recipes.Change{}
	}
	if req.Target == Local {
		if err := b.buildLocal(); err != nil {
			return nil, fmt.Errorf("plan %s for this machine: %w", r.File, err)
		}
		return b.plan.spell(), nil
	}
	if err := b.buildSlurm(); err != nil {
		return nil, planErr(err)
	}
	return b.plan.spell(), nil
}

// validate returns an error for values that can't be used in a job.
func validate(req Request) error {
	r := req.Recipe
	if len(r.Benchmark.Levels) == 0 {
		return problem.New(problem.PlanInvalid, "no concurrency level; set benchmark.concurrency or benchmark.concurrencies")
	}
	if found := r.Unsubmittable(req.Cluster); len(found) > 0 {
		return problem.Errorf(problem.PlanInvalid, "%s: %s; %s", found[0].Path, found[0].Message, found[0].Fix)
	}
	fault := recipes.OutputDirFault(req.OutputDir)
	if req.Target.OnSlurm() { // containers mount the directory of the run
		fault = cmp.Or(fault, recipes.OutputMountFault(req.OutputDir))
	}
	if fault != "" {
		return problem.Errorf(problem.PlanInvalid, "output directory: %s; use another one", fault)
	}
	return nil
}

// phases returns one phase per concurrency level, with the durations of the workload.
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

// substitute records a difference between plan and recipe.
func (b *builder) substitute(what, from, to, why string) {
	b.plan.Substitutions = append(b.plan.Substitutions, Substitution{What: what, From: from, To: to, Why: why})
}

const critical = "the run fails and all other steps are stopped"

// addStep adds a step. On Slurm, srun gets the given additional options.
func (b *builder) addStep(s Step, srun ...string) {
	if b.Target == Local {
		s.Launch = s.Argv
	} else {
		s.Launch = b.srun(&s, srun)
		s.Shell = s.shell()
	}
	b.plan.Steps = append(b.plan.Steps, s)
}

// addServers adds the steps of the servers, either those of the backend or mock servers, and
// returns the frontend.
func (b *builder) addServers(servers backend.Servers) backend.Process {
	deployment := b.deployment()
	add := func(p backend.Process, stage Stage, log string, gpus []int, nodes ...int) {
		b.addStep(Step{
			Name: p.Name, Role: p.Role, Stage: stage, Nodes: nodes, Tasks: p.Tasks, GPUs: gpus, Env: p.Env, Argv: p.Argv,
			Log: log, Ready: p.Ready, Fatal: p.Fatal, Failure: critical,
		}, p.Srun...)
		for _, f := range p.Files {
			b.addLogFile(f, "")
		}
	}
	for _, p := range servers.Services(deployment) {
		add(p, Infra, "service_"+p.Name+".out", nil, b.layout.Infra)
	}
	for i, w := range b.layout.Workers {
		log := fmt.Sprintf("%s_%s_w%d.out", nodeName(w.Nodes[0]), w.Role.Name, w.Index)
		add(servers.Worker(deployment, deployment.Workers[i]), Workers, log, w.GPUs, w.Nodes...)
	}
	frontend := servers.Frontend(deployment)
	add(frontend, FrontendStage, nodeName(b.layout.Frontend)+"_"+frontend.Name+".out", nil, b.layout.Frontend)
	return frontend
}

// services returns the names of the backend's services.
func (b *builder) services() []string {
	return mapStrings(b.backend.Services(b.deployment()), func(p backend.Process) string { return p.Name })
}

// addClient adds the step of the client. argv is a command of this program.
func (b *builder) addClient(env backend.Env, argv ...string) {
	env.Add(b.recipe.Environment, "environment")
	env.Add(b.recipe.Benchmark.Env, "benchmark.env")
	b.addStep(Step{
		Name: string(schema.Client), Role: schema.Client, Stage: Client, Nodes: []int{b.layout.Client}, Tasks: 1, Env: env,
		Argv: argv,
		Log:  "benchmark.out", Failure: "the run ends with the client's exit code", EndsRun: true,
		StallSeconds: b.StallSeconds,
	})
}

// deployment returns the paths, nodes and workers of the run for a backend.
func (b *builder) deployment() backend.Deployment {
	node := func(i int) backend.Node { return backend.Node{Name: nodeName(i), Address: address(i)} }
	s := backend.Deployment{
		Recipe: b.recipe, Model: b.plan.Model, ServedModel: b.servedModel(), ModelPath: b.modelPath(), LogDir: containerLogs,
		JobID: JobID.text(), Program: Binary.text(),
		Head: node(b.layout.Head), Infra: node(b.layout.Infra), Frontend: node(b.layout.Frontend),
		Port: func(step string) string { return StepPort(step).text() },
	}
	for i, w := range b.layout.Workers {
		worker := backend.Worker{Role: w.Role, Index: w.Index, Number: i, GPUs: w.GPUs, Ranks: w.Ranks}
		for _, n := range w.Nodes {
			worker.Nodes = append(worker.Nodes, node(n))
		}
		s.Workers = append(s.Workers, worker)
	}
	return s
}

// errNoWorkload reports a missing workload. Local runs and smoke runs need its file, because they
// write a changed copy.
var errNoWorkload = problem.New(problem.WorkloadMissing, "a workload file is required; pass --workload FILE")
