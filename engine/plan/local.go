package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Defaults of [LocalScale]: what two cores play without distorting the figures.
const (
	DefaultUsers   = 12
	DefaultSeconds = 40
)

// neverEnough is a stop criterion that no local run meets.
const neverEnough = 1_000_000

// local plans the run for this machine: mock servers in the place of the backend's,
// the built-in client in the place of the external one, users and times scaled. Each
// difference is a row of Substitutions.
func (b *builder) local() error {
	if b.Workload == nil {
		return errNoWorkload
	}
	b.substitute("nodes", fmt.Sprintf("%d nodes of %d GPUs", b.l.nodes, b.r.GPUsPerNode), "this machine",
		"one process a worker, no GPU")
	b.substitute("container", b.r.Container, "none", "processes run on the host")
	b.l = b.l.together()
	b.standIns(backend.LocalMock())
	if err := b.scale(); err != nil {
		return err
	}
	front := b.serve(backend.LocalMock())
	b.client(nil, Binary, "replay", "--config", localWorkload, "--base-url", "http://"+front.Host+":"+front.Port+"/v1",
		"--model", b.p.Model, "--concurrencies", recipes.JoinInts(b.levels),
		"--request-log-path", LogDir+"/agentperf/requests.jsonl",
		"--results-dir", LogDir+"/agentperf", "--events", LogDir+"/events.client.jsonl")
	b.substitute("client", "external agentperf-client", "built-in replay client",
		"the external one needs its checkout and a container")
	b.p.Nodes = []Node{{Index: 0, Name: nodeName(0), Roles: []string{}}}
	for i := range b.p.Steps {
		b.p.Nodes[0].Roles = append(b.p.Nodes[0].Roles, strings.ReplaceAll(b.p.Steps[i].Name, "_", " "))
	}
	return nil
}

// standIns notes which servers of the backend the mock servers replace.
func (b *builder) standIns(mock backend.Mock) {
	if name := b.registry(); name != "" {
		b.substitute(name, "service registry", "none", "the frontend is told its workers' addresses")
	}
	n := len(b.l.workers)
	b.substitute("engines", fmt.Sprintf("%d %s workers", n, b.backend.Title()), fmt.Sprintf("%d mock workers", n),
		"no GPU: tokens by arithmetic, "+mock.String())
	b.substitute("frontend", b.r.Frontend.Type, "mock frontend", "routes by session as dynamo does")
}

// localWorkload is the client's workload in the run's folder.
const localWorkload = RunDir + "/benchmark_config.yaml"

// scale shrinks users and times by one factor each, so that every phase keeps
// its shape: the same shares of ramp, settling and measurement, and a timeout
// rule that holds exactly if it held before.
func (b *builder) scale() error {
	w := b.Workload
	if b.Smoke {
		b.levels = []int{b.r.Benchmark.MaxLevel()}
		b.Local.Users, b.Local.Seconds = min(b.Local.Users, smokeUsers), min(b.Local.Seconds, smokeSeconds)
	}
	for _, c := range recipes.CheckTimeouts(w, b.levels) {
		if !c.Known {
			return problem.Errorf(problem.PlanInvalid, "%s: %s", w.File, c.Summary())
		}
	}
	users, seconds := b.Local.Users, b.Local.Seconds
	if users < 1 || !(seconds > 0) || math.IsInf(seconds, 0) {
		return problem.Errorf(problem.FlagValue,
			"users must be at least 1 and the phase longer than 0 s, got %d users and %g s", users, seconds)
	}
	most := b.r.Benchmark.MaxLevel()
	users = min(users, most)
	factor := min(1, seconds/w.PhaseTimeout.Float())
	var levels []int
	for _, l := range b.levels {
		levels = append(levels, max(1, int(math.Round(float64(l)*float64(users)/float64(most)))))
	}
	rate := w.SpawnRate.Float()
	if ramp := float64(most-1) / rate * factor; users > 1 && ramp > 0 {
		rate = math.Ceil(float64(users-1)/ramp*1e6) / 1e6
	}
	b.play(levels, "the highest level plays "+strconv.Itoa(users)+" users, the others in proportion")
	times := shape(w.PhaseTimeout.Float()*factor, w.Settling.Float()*factor, w.MinMeasurement.Float()*factor, rate)
	for _, s := range times {
		b.substitute(s.Name, b.quantity(s.Name), s.Value, fmt.Sprintf("one factor for all times: %.4g", factor))
	}
	stop := recipes.Var{Name: "min_trajectories_per_user", Value: strconv.Itoa(neverEnough)}
	b.substitute(stop.Name, b.quantity(stop.Name), stop.Value,
		"mock answers are quick: by its criteria the phase would end at once instead of at its timeout")
	for _, p := range b.Local.Paths {
		b.substitute(p.Name, "container path", p.Value, "no container: read through the recipe's mounts")
	}
	return b.rewrite(localWorkload, append(append(times, stop), b.Local.Paths...))
}
