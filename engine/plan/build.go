package plan

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Fixed ports of a Slurm run, upstream's: one frontend and etcd a node.
const (
	frontendPort = 8000
	etcdPort     = 2379
	natsPort     = 4222
	systemPort   = 7500 // first DYN_SYSTEM_PORT, one more a worker
)

type builder struct {
	Request
	r *recipes.Recipe
	l layout
	p *Plan

	levels []int  // users, as played
	config string // the client's workload, in its container
}

// Build makes the plan. The recipe should have been checked: Build refuses only
// what it can't lay out.
func Build(req Request) (*Plan, error) {
	r := req.Recipe
	if r.Engine.Type != "trtllm" || r.Frontend.Type != "dynamo" || r.Benchmark.Type != "agentperf" {
		return nil, fmt.Errorf("plan %s: engine %s, frontend %s, benchmark %s: only trtllm behind dynamo with benchmark agentperf can be run",
			r.File, r.Engine.Type, r.Frontend.Type, r.Benchmark.Type)
	}
	if n := strings.IndexFunc(r.Name, unicode.IsControl); n >= 0 || len(r.Name) > 128 || strings.HasPrefix(r.Name, "-") {
		return nil, fmt.Errorf("plan %s: name %.40q can't be a job's name: want at most 128 bytes without control characters that do not begin with -", r.File, r.Name)
	}
	if len(r.Benchmark.Levels) == 0 {
		return nil, fmt.Errorf("plan %s: no concurrency level; give benchmark.concurrency or concurrencies", r.File)
	}
	for _, options := range []recipes.Env{r.SbatchDirectives, r.SrunOptions, directives(req.Cluster)} {
		for _, o := range options {
			if !optionName.MatchString(o.Name) {
				return nil, fmt.Errorf("plan %s: %q is no name of a Slurm option: want letters, digits and -", r.File, o.Name)
			}
		}
	}
	for _, o := range r.SbatchDirectives {
		if slices.Contains(oneJob, o.Name) {
			return nil, fmt.Errorf("plan %s: sbatch directive %s: a run is one job with one log; remove it", r.File, o.Name)
		}
	}
	for _, pattern := range r.FatalPatterns {
		if _, err := regexp.Compile(pattern); err != nil {
			return nil, fmt.Errorf("plan %s: extra_fatal_log_patterns: %w", r.File, err)
		}
	}
	l, err := place(r)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", r.File, err)
	}
	b := &builder{Request: req, r: r, l: l, levels: r.Benchmark.Levels, config: r.Benchmark.ConfigPath}
	b.p = &Plan{
		Version: 1, Name: r.Name, Target: req.Target, Smoke: req.Smoke, Scale: req.Local, Model: r.ServedModel(), Nodes: l.describe(), GPUsPerNode: r.GPUsPerNode, Image: r.Container,
		Mounts: []Mount{}, Files: []File{}, Phases: phases(req.Workload, r.Benchmark.Levels), Swaps: []Swap{}, Changes: req.Changes, OutputDir: req.OutputDir,
	}
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
		return nil, fmt.Errorf("plan %s: %w", r.File, err)
	}
	return b.p, nil
}

// srtctl leaves the job to srtctl: what it will do is what its own dry-run shows.
func (b *builder) srtctl() error {
	if b.Smoke {
		return errors.New("srtctl gives the client the workload that the recipe names: a smoke run takes the launcher slurm")
	}
	b.swap("launcher", "a batch script of this program", "srtctl apply -f RECIPE -o "+b.OutputDir+" -y --json", "srtctl makes script and steps itself (srtctl dry-run shows them); nodes, roles and logs are laid out as below")
	b.swap("sbatch_directives.comment", "as the recipe has it", "one of this run's own, before it", "the job is found again by it")
	return nil
}

// oneJob are directives that would make another job of it than the plan's.
var oneJob = []string{"array", "output", "error", "wait", "test-only", "wrap", "hold", "parsable", "chdir"}

// optionName is what stands behind -- in a script or on a command line.
var optionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

func directives(c *recipes.Cluster) recipes.Env {
	if c == nil {
		return nil
	}
	return c.SbatchDirectives
}

// phases is what each level takes by the workload's own numbers.
func phases(w *recipes.Workload, levels []int) []Phase {
	out := make([]Phase, 0, len(levels))
	for i, l := range levels {
		p := Phase{Index: i, Level: l}
		if w != nil {
			p.SettleSeconds, p.TimeoutSeconds, p.MinMeasurement = w.Settling.Float(), w.PhaseTimeout.Float(), w.MinMeasurement.Float()
			p.MinTotal, p.MinPerUser = int(w.MinTotalTrajectories.Float()), int(w.MinTrajectoriesPerUser.Float())
			if rate := w.SpawnRate.Float(); rate > 0 {
				p.RampSeconds = float64(l-1) / rate
			}
		}
		out = append(out, p)
	}
	return out
}

func (b *builder) slurm() error {
	if err := b.mounts(); err != nil {
		return err
	}
	if err := b.engineConfigs(); err != nil {
		return err
	}
	if b.Smoke {
		if err := b.smoke(); err != nil {
			return err
		}
	}
	b.infra()
	for i, w := range b.l.workers {
		b.worker(w, systemPort+i)
	}
	b.frontend()
	b.client()
	for i := range b.p.Steps {
		b.p.Steps[i].Launch = b.srun(&b.p.Steps[i])
		b.p.Steps[i].Shell = b.p.Steps[i].shell()
	}
	if b.Target == Srtctl {
		return b.srtctl()
	}
	b.p.Script = b.script()
	return nil
}

// engineConfigs writes each role's engine config where the engine reads it.
func (b *builder) engineConfigs() error {
	for _, name := range []string{"prefill", "decode", "agg"} {
		role, _ := b.role(name)
		if role.Workers == 0 {
			continue
		}
		text, err := role.Text()
		if err != nil {
			return err
		}
		cfg := "backend.trtllm_config." + name
		if name == "agg" {
			cfg = "backend.trtllm_config.aggregated"
		}
		b.p.Files = append(b.p.Files, File{Path: LogDir + "/" + configName(name), Content: text, Source: b.spelled(cfg)})
	}
	return nil
}

func configName(role string) string { return "trtllm_config_" + role + ".yaml" }

// mounts lists the container mounts in upstream's order; of two with one host
// path the later one holds.
func (b *builder) mounts() error {
	add := func(host, container, source string) {
		for i, m := range b.p.Mounts {
			if m.Host == host {
				b.p.Mounts = append(b.p.Mounts[:i], b.p.Mounts[i+1:]...)
				break
			}
		}
		b.p.Mounts = append(b.p.Mounts, Mount{Host: host, Container: container, Source: source})
	}
	add(LogDir, "/logs", builtIn)
	if !strings.HasPrefix(b.r.ModelPath, "hf:") {
		add(b.r.ModelPath, "/model", "model.path")
	}
	if d := b.r.StageDir; d != "" {
		add(path.Dir(d), path.Dir(d), "model.stage_dir")
	}
	add(RunDir+"/bin", "/agentperf", builtIn)
	if b.Cluster != nil {
		if b.Cluster.SrtctlRoot != "" {
			add(b.Cluster.SrtctlRoot+"/configs", "/configs", b.Cluster.File)
		}
		for _, m := range b.Cluster.Mounts {
			add(m.Name, m.Value, b.Cluster.File)
		}
	}
	for _, m := range b.r.ExtraMounts {
		host, container, ok := strings.Cut(m, ":")
		if !ok {
			return fmt.Errorf("extra_mount %q has no colon: want host:container", m)
		}
		add(host, container, "extra_mount")
	}
	for _, m := range b.r.ContainerMounts {
		host, err := b.template(m.Name)
		if err != nil {
			return err
		}
		container, err := b.template(m.Value)
		if err != nil {
			return err
		}
		add(host, container, "container_mounts")
	}
	return nil
}

// template fills the placeholders that container_mounts may use; the ones that
// are known only in the job become the plan's own.
func (b *builder) template(s string) (string, error) {
	known := map[string]string{
		"job_id": JobID, "run_name": b.r.Name + "_" + JobID, "head_node_ip": "{ip:" + strconv.Itoa(b.l.head) + "}", "log_dir": LogDir,
		"model_path": b.r.ModelPath, "container_image": b.r.Container, "gpus_per_node": strconv.Itoa(b.r.GPUsPerNode),
	}
	var out strings.Builder
	for rest := s; rest != ""; {
		before, after, ok := strings.Cut(rest, "{")
		out.WriteString(before)
		if !ok {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		v, have := known[name]
		if !closed || !have {
			return "", fmt.Errorf("container_mounts %q: unknown placeholder {%s}: want job_id, run_name, head_node_ip, log_dir, model_path, container_image or gpus_per_node", s, name)
		}
		out.WriteString(v)
		rest = tail
	}
	return out.String(), nil
}

func (b *builder) infra() {
	host := nodeName(b.l.infra)
	ready := func(port int) Readiness {
		return Readiness{Probe: ProbeTCP, Target: host + ":" + strconv.Itoa(port), TimeoutSeconds: 300, IntervalSeconds: 1}
	}
	b.p.Steps = append(b.p.Steps, Step{
		Name: "etcd", Role: "etcd", Stage: Infra, Nodes: []int{b.l.infra}, Tasks: 1, Env: []Var{}, Log: "service_etcd.out",
		Argv: []string{
			"etcd", "--data-dir", "/tmp/etcd-" + JobID, "--listen-client-urls", "http://0.0.0.0:" + strconv.Itoa(etcdPort),
			"--advertise-client-urls", "http://{ip:" + strconv.Itoa(b.l.infra) + "}:" + strconv.Itoa(etcdPort),
		},
		Ready: ready(etcdPort), Failure: critical,
	})
	if b.r.Dynamo.RequestPlane != "nats" && b.r.Dynamo.EventPlane != "nats" {
		return
	}
	b.p.Steps = append(b.p.Steps, Step{
		Name: "nats", Role: "nats", Stage: Infra, Nodes: []int{b.l.infra}, Tasks: 1, Env: []Var{}, Log: "service_nats.out",
		Argv:  []string{"nats-server", "-js", "-sd", "/tmp/nats-" + JobID, "-p", strconv.Itoa(natsPort)},
		Ready: ready(natsPort), Failure: critical,
	})
}

const critical = "the run fails: every other step is stopped"

func (b *builder) worker(w worker, port int) {
	argv := []string{}
	if b.r.Engine.NUMACPUBind {
		argv = append(argv, "bash", "/configs/numa_cpu_bind.sh")
	}
	if b.bindMemory(w.role) {
		argv = append(argv, "numactl", "-m", "0,1")
	}
	argv = append(argv, "trtllm-llmapi-launch", "python3", "-m", "dynamo.trtllm", "--model-path", b.modelArg(), "--served-model-name", b.p.Model)
	if w.role != "agg" {
		argv = append(argv, "--disaggregation-mode", w.role)
	}
	argv = append(argv, "--extra-engine-args", "/logs/"+configName(w.role), "--request-plane", b.r.Dynamo.RequestPlane)
	if b.r.Engine.PublishEvents {
		argv = append(argv, "--publish-events-and-metrics")
	}
	b.p.Steps = append(b.p.Steps, Step{
		Name: w.role + "_" + strconv.Itoa(w.index), Role: w.role, Stage: Workers, Nodes: w.nodes, Tasks: w.ranks, GPUs: w.gpus,
		Env: b.workerEnv(w, port), Argv: argv, Log: fmt.Sprintf("%s_%s_w%d.out", nodeName(w.nodes[0]), w.role, w.index), Failure: critical,
		Fatal: b.fatal(),
	})
}

// fatalMarkers are lines by which a TensorRT-LLM worker tells that its engine is
// dead. Traceback and MPI_Abort are none: they are in logs of healthy runs too.
var fatalMarkers = []string{`Rank\d+ Task exit code: 0*[1-9]`, `Failed to initialize executor`}

func (b *builder) fatal() []string {
	var out []string
	if b.r.FatalMarkers {
		out = append(out, fatalMarkers...)
	}
	return append(out, b.r.FatalPatterns...)
}

// bindMemory: null means by GPU type, for prefill and decode.
func (b *builder) bindMemory(role string) bool {
	switch b.r.Engine.NUMAMemoryBind {
	case "true":
		return true
	case "":
		return role != "agg" && (b.r.GPUType == "gb200" || b.r.GPUType == "gb300")
	}
	return false
}

func (b *builder) modelArg() string {
	if id, ok := strings.CutPrefix(b.r.ModelPath, "hf:"); ok {
		return id
	}
	if b.r.StageDir != "" {
		return path.Join(b.r.StageDir, path.Base(b.r.ModelPath))
	}
	return "/model"
}

func (b *builder) frontend() {
	argv := []string{"python3", "-m", "dynamo.frontend", "--http-port=" + strconv.Itoa(frontendPort)}
	for _, f := range b.r.Frontend.Args {
		argv = append(argv, "--"+f.Name)
		if !f.Bare {
			argv = append(argv, f.Value)
		}
	}
	prefill, decode := b.r.Prefill.Workers, b.r.Decode.Workers
	if !b.r.Disaggregated() {
		prefill, decode = 0, b.r.Agg.Workers
	}
	b.p.Steps = append(b.p.Steps, Step{
		Name: "frontend_0", Role: "frontend", Stage: FrontendStage, Nodes: []int{b.l.frontend}, Tasks: 1, Env: b.frontendEnv(), Argv: argv,
		Log: nodeName(b.l.frontend) + "_frontend_0.out", Failure: critical,
		Ready: Readiness{
			Probe: ProbeHealth, Target: fmt.Sprintf("http://{ip:%d}:%d/health", b.l.frontend, frontendPort), TimeoutSeconds: b.r.HealthWindowSeconds(),
			IntervalSeconds: float64(b.r.HealthIntervalSeconds), Prefill: prefill, Decode: decode,
		},
	})
}

func (b *builder) client() {
	b.p.Steps = append(b.p.Steps, Step{
		Name: "client", Role: "client", Stage: Client, Nodes: []int{b.l.client}, Tasks: 1, Env: b.clientEnv(frontendPort),
		Argv: []string{
			"/agentperf/agentperf-tui", "job", "bench", "--endpoint", fmt.Sprintf("http://{ip:%d}:%d", b.l.frontend, frontendPort), "--model", b.p.Model,
			"--client-dir", b.r.Benchmark.ClientDir, "--config", b.config, "--concurrencies", joinInts(b.levels),
		},
		Log: "benchmark.out", Failure: "the run ends with the client's exit code", Ends: true, StallSeconds: b.StallSeconds,
	})
}

// ErrNoWorkload says that a target needs the workload file itself.
var ErrNoWorkload = errors.New("the workload file is needed; give it with --workload")
