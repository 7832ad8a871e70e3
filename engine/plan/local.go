package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Defaults of [LocalScale]: what two cores play without distorting the figures.
const (
	DefaultUsers   = 12
	DefaultSeconds = 40
)

// neverEnough is a stop criterion that no local run meets.
const neverEnough = 1_000_000

// Mock is the speed of the mock servers of a local run.
type Mock struct {
	TTFT, PrefillPerToken, ITL  time.Duration
	StreamInterval, BlockTokens int // tokens an event; tokens a prefix-cache block: the sample's prompts are short
}

// LocalMock is what every mock process of a local run is told.
func LocalMock() Mock {
	return Mock{TTFT: 120 * time.Millisecond, PrefillPerToken: 40 * time.Microsecond, ITL: 10 * time.Millisecond, StreamInterval: 2, BlockTokens: 16}
}

func (m Mock) flags() []string {
	return []string{
		"--ttft", m.TTFT.String(), "--prefill-per-token", m.PrefillPerToken.String(), "--itl", m.ITL.String(),
		"--stream-interval", strconv.Itoa(m.StreamInterval), "--block-tokens", strconv.Itoa(m.BlockTokens),
	}
}

// local plans the run for this machine: mock servers in the place of the
// engines, the built-in client in the place of the external one, users and times
// scaled. Each difference is a row of Swaps.
func (b *builder) local() error {
	if b.Workload == nil {
		return ErrNoWorkload
	}
	b.p.Nodes = []Node{{Index: 0, Name: nodeName(0), Roles: []string{}}}
	b.swap("nodes", fmt.Sprintf("%d nodes of %d GPUs", b.l.nodes, b.r.GPUsPerNode), "this machine", "one process a worker, no GPU")
	b.swap("container", b.r.Container, "none", "processes run on the host")
	b.swap("etcd", "service registry", "none", "the frontend is told its workers' addresses")
	frontend := []string{"--role", "frontend", "--model", b.p.Model}
	for _, w := range b.l.workers {
		name := w.role + "_" + strconv.Itoa(w.index)
		b.mock(name, w.role, Workers, fmt.Sprintf("%s_%s_w%d.out", nodeName(0), w.role, w.index), []string{"--role", w.role, "--model", b.p.Model})
		frontend = append(frontend, "--"+w.role, "http://127.0.0.1:{port:"+name+"}")
	}
	b.swap("engines", fmt.Sprintf("%d TensorRT-LLM workers", len(b.l.workers)), fmt.Sprintf("%d mock workers", len(b.l.workers)), "no GPU: tokens by arithmetic, "+strings.Join(LocalMock().flags(), " "))
	b.mock("frontend_0", "frontend", FrontendStage, nodeName(0)+"_frontend_0.out", frontend)
	b.swap("frontend", "dynamo", "mock frontend", "routes by session as dynamo does")
	sc, err := b.scale()
	if err != nil {
		return err
	}
	b.localClient(sc)
	for i := range b.p.Steps {
		b.p.Nodes[0].Roles = append(b.p.Nodes[0].Roles, strings.ReplaceAll(b.p.Steps[i].Name, "_", " "))
	}
	return nil
}

func (b *builder) swap(what, from, to, why string) {
	b.p.Swaps = append(b.p.Swaps, Swap{What: what, From: from, To: to, Why: why})
}

func (b *builder) mock(name, role string, stage Stage, log string, args []string) {
	argv := append([]string{Binary, "mock-server", "--listen", "127.0.0.1:{port:" + name + "}"}, args...)
	argv = append(argv, LocalMock().flags()...)
	ready := Readiness{Probe: ProbeHTTP, Target: "http://127.0.0.1:{port:" + name + "}/health", TimeoutSeconds: 30, IntervalSeconds: 0.1}
	if role == "frontend" {
		ready.Probe, ready.Prefill, ready.Decode = ProbeHealth, b.r.Prefill.Workers, b.r.Decode.Workers+b.r.Agg.Workers
	}
	b.p.Steps = append(b.p.Steps, Step{
		Name: name, Role: role, Stage: stage, Nodes: []int{0}, Tasks: 1, Env: []Var{}, Argv: argv, Launch: argv, Log: log, Ready: ready, Failure: critical,
	})
}

func (b *builder) localClient(sc scaling) {
	config := RunDir + "/benchmark_config.yaml"
	b.p.Files = append(b.p.Files, File{Path: config, Content: string(sc.workload), Source: b.Workload.File + " with the swaps of this plan"})
	e := &envList{}
	e.all(b.r.Environment, "environment")
	e.all(b.r.Benchmark.Env, "benchmark.env")
	argv := []string{
		Binary, "replay", "--config", config, "--base-url", "http://127.0.0.1:{port:frontend_0}/v1", "--model", b.p.Model, "--concurrencies", joinInts(sc.levels),
		"--request-log-path", LogDir + "/agentperf/requests.jsonl", "--results-dir", LogDir + "/agentperf", "--events", LogDir + "/events.client.jsonl",
	}
	b.p.Steps = append(b.p.Steps, Step{
		Name: "client", Role: "client", Stage: Client, Nodes: []int{0}, Tasks: 1, Env: e.vars, Argv: argv, Launch: argv, Log: "benchmark.out",
		Failure: "the run ends with the client's exit code", Ends: true, StallSeconds: b.StallSeconds,
	})
	b.swap("client", "external agentperf-client", "built-in replay client", "the external one needs its checkout and a container")
}

// scaling is the workload as this machine plays it.
type scaling struct {
	levels   []int
	workload []byte
}

// scale shrinks users and times by one factor each, so that every phase keeps
// its shape: the same shares of ramp, settling and measurement, and a timeout
// rule that holds exactly if it held before.
func (b *builder) scale() (scaling, error) {
	w := b.Workload
	if b.Smoke {
		b.levels = []int{b.r.Benchmark.MaxLevel()}
		b.Local.Users, b.Local.Seconds = min(b.Local.Users, SmokeUsers), min(b.Local.Seconds, SmokeSeconds)
	}
	levels := b.levels
	for _, c := range recipes.CheckTimeouts(w, levels) {
		if !c.Known {
			return scaling{}, fmt.Errorf("%s: %s", w.File, c.Sentence())
		}
	}
	users, seconds := b.Local.Users, b.Local.Seconds
	if users < 1 || !(seconds > 0) || math.IsInf(seconds, 0) {
		return scaling{}, fmt.Errorf("%d users and a phase of %g s: want at least one user and more than 0 s", users, seconds)
	}
	most := b.r.Benchmark.MaxLevel()
	users = min(users, most)
	factor := min(1, seconds/w.PhaseTimeout.Float())
	sc := scaling{}
	for _, l := range levels {
		sc.levels = append(sc.levels, max(1, int(math.Round(float64(l)*float64(users)/float64(most)))))
	}
	rate := w.SpawnRate.Float()
	if ramp := float64(most-1) / rate * factor; users > 1 && ramp > 0 {
		rate = math.Ceil(float64(users-1)/ramp*1e6) / 1e6
	}
	set := []recipes.Var{
		{Name: "concurrencies", Value: "[" + strings.ReplaceAll(joinInts(sc.levels), ",", ", ") + "]"},
		{Name: "phase_timeout_seconds", Value: decimal(w.PhaseTimeout.Float() * factor)},
		{Name: "settling_time_seconds", Value: decimal(w.Settling.Float() * factor)},
		{Name: "min_measurement_seconds", Value: decimal(w.MinMeasurement.Float() * factor)},
		{Name: "user_spawn_rate", Value: decimal(rate)},
		{Name: "min_trajectories_per_user", Value: strconv.Itoa(neverEnough)},
	}
	b.swap("users", joinInts(levels), joinInts(sc.levels), "the highest level plays "+strconv.Itoa(users)+" users, the others in proportion")
	for _, s := range set[1:] {
		why := fmt.Sprintf("one factor for all times: %.4g", factor)
		if s.Name == "min_trajectories_per_user" {
			why = "mock answers are quick: by its criteria the phase would end at once instead of at its timeout"
		}
		b.swap(s.Name, b.quantity(s.Name), s.Value, why)
	}
	for _, p := range b.Local.Paths {
		b.swap(p.Name, "container path", p.Value, "no container: read through the recipe's mounts")
	}
	out, err := w.With(append(set, b.Local.Paths...))
	if err != nil {
		return sc, err
	}
	sc.workload = out
	scaled, _ := recipes.ParseWorkload(w.File, out)
	b.p.Phases = phases(scaled, sc.levels)
	return sc, nil
}

func (b *builder) quantity(key string) string {
	w := b.Workload
	for _, q := range []recipes.Quantity{w.PhaseTimeout, w.Settling, w.MinMeasurement, w.SpawnRate, w.MinTrajectoriesPerUser} {
		if q.Key == key {
			if q.Assumed {
				return q.Text + " (assumed)"
			}
			return q.Text
		}
	}
	return ""
}
