package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// envList collects a step's variables; a later one replaces an earlier one of
// the same name, and says whose value it beat.
type envList struct{ vars []Var }

func (e *envList) set(name, value, origin string) {
	beats := ""
	if i := slices.IndexFunc(e.vars, func(v Var) bool { return v.Name == name }); i >= 0 {
		beats = e.vars[i].Origin
		e.vars = slices.Delete(e.vars, i, i+1)
	}
	e.vars = append(e.vars, Var{Name: name, Value: value, Origin: origin, Beats: beats})
}

func (e *envList) all(vars recipes.Env, origin string) {
	for _, v := range vars {
		e.set(v.Name, v.Value, origin+"."+v.Name)
	}
}

const builtIn = "built-in"

// defaultDynLog keeps one very chatty dynamo module quiet.
const defaultDynLog = "info,dynamo_runtime::pipeline::network::ingress::push_handler=warn"

// base is what every dynamo step starts from.
func (b *builder) base() *envList {
	e := &envList{}
	infra := nodeName(b.l.infra)
	e.set("HEAD_NODE_IP", "{ip:"+strconv.Itoa(b.l.head)+"}", builtIn)
	e.set("ETCD_ENDPOINTS", "http://"+infra+":2379", builtIn)
	e.set("NATS_SERVER", "nats://"+infra+":4222", builtIn)
	e.set("DYN_SKIP_SGLANG_LOG_FORMATTING", "1", builtIn)
	if b.r.Dynamo.EventPlane != "" {
		e.set("DYN_EVENT_PLANE", b.r.Dynamo.EventPlane, "dynamo.event_plane")
	}
	return e
}

func (b *builder) workerEnv(w worker, port int) []Var {
	e := b.base()
	e.set("DYN_SYSTEM_PORT", strconv.Itoa(port), builtIn)
	e.set("DYN_LOG", defaultDynLog, builtIn)
	role, path := b.role(w.role)
	if b.r.Engine.NUMACPUBind {
		e.set("TLLM_NUMA_AWARE_WORKER_AFFINITY", "0", "backend.numa_cpu_bind")
	}
	e.all(role.Env, b.spelled(path))
	// One name for each worker, so that two on one node do not share memory.
	e.set("TRTLLM_EPLB_SHM_NAME", "moe_shared_"+w.role+strconv.Itoa(w.index)+"_"+JobID, builtIn)
	e.all(b.r.Environment, "environment")
	if len(w.gpus) > 0 {
		e.set("CUDA_VISIBLE_DEVICES", joinInts(w.gpus), builtIn)
	}
	return e.vars
}

func (b *builder) frontendEnv() []Var {
	e := b.base()
	e.set("DYN_REQUEST_PLANE", b.r.Dynamo.RequestPlane, "dynamo.request_plane")
	e.all(b.r.Environment, "environment")
	e.all(b.r.Frontend.Env, "frontend.env")
	return e.vars
}

func (b *builder) clientEnv(port int) []Var {
	e := &envList{}
	e.set("SRTCTL_FRONTEND_TYPE", b.r.Frontend.Type, builtIn)
	e.set("SRT_FRONTEND_HOST", "{ip:"+strconv.Itoa(b.l.frontend)+"}", builtIn)
	e.set("SRT_FRONTEND_PORT", strconv.Itoa(port), builtIn)
	e.all(b.r.Environment, "environment")
	e.all(b.r.Benchmark.Env, "benchmark.env")
	return e.vars
}

// role gives a worker's role and the canonical path of its environment.
func (b *builder) role(name string) (recipes.Role, string) {
	switch name {
	case "prefill":
		return b.r.Prefill, "backend.prefill_environment"
	case "decode":
		return b.r.Decode, "backend.decode_environment"
	}
	return b.r.Agg, "backend.aggregated_environment"
}

// spelled is a path as the user's recipe spells it.
func (b *builder) spelled(canonical string) string { return b.r.Place(canonical).Path }

func nodeName(i int) string { return "{node:" + strconv.Itoa(i) + "}" }

func joinInts(ns []int) string {
	parts := make([]string, 0, len(ns))
	for _, n := range ns {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ",")
}

// Secrets are the variables of a step that may stand on no command line.
func (s Step) Secrets() []Var {
	return slices.DeleteFunc(slices.Clone(s.Env), func(v Var) bool { return !recipes.Secret(v.Name) })
}
