package backend

import (
	"fmt"
	"strconv"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// The ports that srt-slurm uses. They are fixed, so a node can run only one frontend and one etcd.
const (
	frontendPort = 8000
	etcdPort     = 2379
	natsPort     = 4222
	systemPort   = 7500 // of the first worker; each further worker has the next port
)

// defaultDynLog lowers the log level of one verbose module of dynamo.
const defaultDynLog = "info,dynamo_runtime::pipeline::network::ingress::push_handler=warn"

// dynamo is the common part of backends with dynamo's frontend, which embed it.
type dynamo struct{}

// natsConfig is the name of the configuration file of NATS.
const natsConfig = "nats-server.conf"

// natsPendingMB is the default of nats-server for the data that may be pending for a client.
const natsPendingMB = 64

// Services returns etcd, with which workers register, and NATS, as far as the job starts them.
func (dynamo) Services(s Deployment) []Process {
	var out []Process
	service := func(role schema.Role, port int, argv ...string) {
		in := s.Recipe.Infra(role)
		if !in.Starts {
			return
		}
		if len(in.Command) > 0 {
			argv = in.Command
		}
		out = append(out, Process{
			Name: string(role), Role: role, Tasks: 1, Env: Env{}, Argv: argv,
			Ready: Readiness{
				Probe: ProbeTCP, Target: s.Infra.Name + ":" + strconv.Itoa(port), TimeoutSeconds: 300, IntervalSeconds: 1,
			},
		})
	}
	service(schema.Etcd, etcdPort,
		string(schema.Etcd), "--data-dir", "/tmp/etcd-"+s.JobID, "--listen-client-urls", "http://0.0.0.0:"+itoa(etcdPort),
		"--advertise-client-urls", "http://"+s.Infra.Address+":"+itoa(etcdPort))
	nats := []string{"nats-server", "-js", "-sd", "/tmp/nats-" + s.JobID, "-p", itoa(natsPort)}
	limit := s.Recipe.NATSPayloadMB
	if limit > 0 { // only a file can set it
		nats = append(nats, "-c", s.LogDir+"/"+natsConfig)
	}
	n := len(out)
	service(schema.NATS, natsPort, nats...)
	if limit > 0 && len(out) > n {
		source := "infra.nats_max_payload_mb"
		if path := s.Recipe.Infra(schema.NATS).Path; path != "" {
			source = path + ".options.max_payload_mb"
		}
		text := fmt.Sprintf("max_payload: %d\n", limit<<20)
		if limit > natsPendingMB { // nats-server refuses a message that is larger than what may be pending
			text += fmt.Sprintf("max_pending: %d\n", limit<<20)
		}
		out[n].Files = []File{{Name: natsConfig, Text: text, Source: source}}
	}
	return out
}

// policyFile is the name of the configuration file of the router.
const policyFile = "router_policy_config.yaml"

// Frontend returns the frontend, which is ready when its health response lists all workers.
func (d dynamo) Frontend(s Deployment) Process {
	r, port := s.Recipe, itoa(frontendPort)
	var argv []string
	if r.Frontend.NUMABind {
		argv = append(argv, "numactl", "--cpunodebind=0", "--membind=0")
	}
	argv = append(argv, "python3", "-m", "dynamo.frontend", "--http-port="+port)
	for _, f := range r.Frontend.Args {
		argv = append(argv, "--"+f.Name)
		if !f.NoValue {
			argv = append(argv, f.Value)
		}
	}
	var files []File
	if text := r.Frontend.WorkerSelection; text != "" {
		argv = append(argv, "--router-policy-config", s.LogDir+"/"+policyFile)
		files = []File{{Name: policyFile, Text: text, Source: "frontend.worker_selection"}}
	}
	env := d.baseEnv(s)
	env.Set("DYN_REQUEST_PLANE", r.Dynamo.RequestPlane, "dynamo.request_plane")
	env.Add(r.Environment, "environment")
	env.observe(r, Var{Name: "DYN_REQUEST_TRACE", Value: "1"},
		Var{Name: "DYN_REQUEST_TRACE_FILE_PATH", Value: s.LogDir + "/dynamo-request-trace"})
	env.Add(r.Frontend.Env, "frontend.env")
	url := "http://" + s.Frontend.Address + ":" + port + "/health"
	return Process{
		Name: frontendStep, Role: schema.Frontend, Tasks: 1, Srun: []string{"--mpi", "pmix"}, Env: env, Argv: argv,
		Ready: healthReadiness(r, url, r.HealthWindowSeconds(), float64(r.HealthIntervalSeconds)),
		Host:  s.Frontend.Address, Port: port, Files: files,
	}
}

// Components returns the names under which dynamo's workers register.
func (dynamo) Components() map[string]schema.Role {
	return map[string]schema.Role{
		string(schema.Prefill): schema.Prefill, string(schema.Decode): schema.Decode, "backend": schema.Decode,
	}
}

// baseEnv returns the environment that all processes of dynamo share.
func (dynamo) baseEnv(s Deployment) Env {
	var e Env
	e.Set("HEAD_NODE_IP", s.Head.Address, BuiltIn)
	for _, v := range []struct {
		name, own string
		role      schema.Role
	}{
		{"ETCD_ENDPOINTS", "http://" + s.Infra.Name + ":" + itoa(etcdPort), schema.Etcd},
		{"NATS_SERVER", "nats://" + s.Infra.Name + ":" + itoa(natsPort), schema.NATS},
	} {
		if in := s.Recipe.Infra(v.role); in.External != "" {
			e.Set(v.name, in.External, in.Path+".external")
		} else {
			e.Set(v.name, v.own, BuiltIn)
		}
	}
	e.Set("DYN_SKIP_SGLANG_LOG_FORMATTING", "1", BuiltIn)
	if plane := s.Recipe.Dynamo.EventPlane; plane != "" {
		e.Set("DYN_EVENT_PLANE", plane, "dynamo.event_plane")
	}
	return e
}

// workerEnv returns the environment of a worker. before and after are variables of the engine: those in
// before are set before the environment of the role, those in after override it. The global environment
// overrides all of them.
func (d dynamo) workerEnv(s Deployment, w Worker, before, after []Var) Env {
	e := d.baseEnv(s)
	e.Set("DYN_SYSTEM_PORT", itoa(systemPort+w.Number), BuiltIn)
	e.Set("DYN_LOG", defaultDynLog, BuiltIn)
	e.observe(s.Recipe)
	for _, v := range before {
		e.Set(v.Name, v.Value, v.Origin)
	}
	e.Add(w.Role.Env, s.Recipe.Position(w.Role.Name.EnvPath()).Path)
	for _, v := range after {
		e.Set(v.Name, v.Value, v.Origin)
	}
	e.Add(s.Recipe.Environment, "environment")
	if len(w.GPUs) > 0 {
		e.Set("CUDA_VISIBLE_DEVICES", recipes.JoinInts(w.GPUs), BuiltIn)
	}
	return e
}

// observe sets the variables of dynamo that make it log in detail, and more, if the recipe enables
// observability. The environment of a role or of the frontend, which the caller adds next, overrides them.
func (e *Env) observe(r *recipes.Recipe, more ...Var) {
	if !r.Observability {
		return
	}
	for _, v := range append([]Var{
		{Name: "DYN_LOGGING_SPAN_EVENTS", Value: "true"},
		{Name: "DYN_LOGGING_JSONL", Value: "true"},
		{Name: "DYN_LOG", Value: "debug"},
	}, more...) {
		e.Set(v.Name, v.Value, "observability.enabled")
	}
}
