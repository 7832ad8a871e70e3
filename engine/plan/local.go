package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Defaults of [LocalScale]: a load that two cores can generate without distorting the figures.
const (
	DefaultUsers   = 12
	DefaultSeconds = 40
)

// unreachableCount is a number of trajectories that no local run reaches.
const unreachableCount = 1_000_000

// buildLocal plans the run for this machine, with mock servers instead of the backend's servers,
// the built-in client instead of the external one, and scaled users and times. Each difference
// is recorded as a substitution.
func (b *builder) buildLocal() error {
	if b.Workload == nil {
		return errNoWorkload
	}
	b.substitute("nodes", fmt.Sprintf("%d nodes of %d GPUs", b.layout.Nodes, b.recipe.GPUsPerNode), "this machine",
		"one process per worker, no GPU")
	b.substitute("container", b.recipe.Container, "none", "processes run directly on the host")
	b.layout = onOneNode(b.layout)
	b.substituteServers(backend.LocalMock())
	if err := b.scaleLocal(); err != nil {
		return err
	}
	frontend := b.addServers(backend.LocalMock())
	b.addClient(nil, Binary.text(), "replay", "--config", localWorkload,
		"--base-url", "http://"+frontend.Host+":"+frontend.Port+"/v1",
		"--model", b.plan.Model, "--concurrencies", recipes.JoinInts(b.levels),
		"--request-log-path", LogDir.text()+"/agentperf/requests.jsonl",
		"--results-dir", LogDir.text()+"/agentperf", "--events", LogDir.text()+"/events.client.jsonl")
	b.substitute("client", "external agentperf-client", "built-in replay client",
		"the external client needs a checkout and a container")
	b.plan.Nodes = []Node{{Index: 0, Name: nodeName(0), Roles: []string{}}}
	for i := range b.plan.Steps {
		b.plan.Nodes[0].Roles = append(b.plan.Nodes[0].Roles, strings.ReplaceAll(b.plan.Steps[i].Name, "_", " "))
	}
	return nil
}

// substituteServers records which servers of the backend are replaced by mock servers.
func (b *builder) substituteServers(mock backend.Mock) {
	for _, name := range b.services() {
		what, why := "service registry", "the frontend gets the addresses of its workers as arguments"
		if name == string(schema.NATS) {
			what, why = "message server", "requests are HTTP"
		}
		b.substitute(name, what, "none", why)
	}
	n := len(b.layout.Workers)
	b.substitute("engines", fmt.Sprintf("%d %s workers", n, b.backend.Title()), fmt.Sprintf("%d mock workers", n),
		"no GPU: simulated tokens, "+mock.String())
	b.substitute("frontend", b.recipe.Frontend.Type, "mock frontend", "routes by session, like dynamo")
}

// localWorkload is the client's workload in the run directory.
var localWorkload = RunDir.text() + "/benchmark_config.yaml"

// scaleLocal reduces users and times by one factor each. Each phase keeps the proportions of
// ramp, settling and measurement, and the timeout rule is satisfied if and only if it was before.
func (b *builder) scaleLocal() error {
	w := b.Workload
	if b.Smoke {
		b.levels = []int{b.recipe.Benchmark.MaxLevel()}
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
	maxLevel := b.recipe.Benchmark.MaxLevel()
	users = min(users, maxLevel)
	factor := min(1, seconds/w.PhaseTimeout.Float())
	var levels []int
	for _, l := range b.levels {
		levels = append(levels, max(1, int(math.Round(float64(l)*float64(users)/float64(maxLevel)))))
	}
	rate := w.SpawnRate.Float()
	if ramp := float64(maxLevel-1) / rate * factor; users > 1 && ramp > 0 {
		rate = math.Ceil(float64(users-1)/ramp*1e6) / 1e6
	}
	b.setLevels(levels, "the highest level has "+strconv.Itoa(users)+" users, the others in proportion")
	times := phaseSettings(w.PhaseTimeout.Float()*factor, w.Settling.Float()*factor, w.MinMeasurement.Float()*factor, rate)
	for _, s := range times {
		b.substitute(s.Name, b.workloadText(s.Name), s.Value, fmt.Sprintf("all times scaled by %.4g", factor))
	}
	stop := recipes.Var{Name: "min_trajectories_per_user", Value: strconv.Itoa(unreachableCount)}
	b.substitute(stop.Name, b.workloadText(stop.Name), stop.Value,
		"mock servers answer fast: the phase would end at once instead of at its timeout")
	for _, p := range b.Local.Paths {
		b.substitute(p.Name, "container path", p.Value, "no container: resolved through the recipe's mounts")
	}
	return b.writeWorkload(localWorkload, append(append(times, stop), b.Local.Paths...))
}
