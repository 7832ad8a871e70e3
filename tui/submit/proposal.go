package submit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// proposal is the run to submit, and whether it can be submitted.
type proposal struct {
	target plan.Target
	scale  plan.LocalScale
	gen    int // generation of the latest request; older results are dropped
	pair   *engine.Pair
	plan   *plan.Plan
	gate   error // why it can't be submitted, apart from findings
	err    error
	// cluster is the cluster's answer about this plan, or an older one while the request
	// is pending.
	cluster clusterMsg
	// planning is true while a newer plan is being made and the visible one is outdated.
	planning bool
}

type (
	plannedMsg struct {
		gen  int
		pair *engine.Pair
		plan *plan.Plan
		gate error
		err  error
	}
	// clusterMsg is the cluster's answer about a plan.
	clusterMsg struct {
		gen   int
		notes []string
		err   error
	}
)

// load returns a command that loads the files and makes the plan.
func (p *proposal) load(ctx context.Context, eng Engine, files engine.Files) tea.Cmd {
	p.gen++
	p.planning = true
	msg, opt := plannedMsg{gen: p.gen}, engine.PlanOptions{Target: p.target, Local: p.scale}
	return func() tea.Msg {
		pair, err := eng.Load(ctx, files)
		if msg.err = err; err != nil {
			return msg
		}
		msg.pair = pair
		if msg.plan, msg.err = eng.Plan(pair, opt); msg.err == nil {
			msg.gate = eng.Gate(pair, msg.plan, false)
		}
		return msg
	}
}

// handlePlanned handles a new plan; false if it is outdated.
func (p *proposal) handlePlanned(msg plannedMsg) bool {
	if msg.gen != p.gen {
		return false
	}
	p.pair, p.plan, p.gate, p.err, p.cluster, p.planning = msg.pair, msg.plan, msg.gate, msg.err, clusterMsg{}, false
	p.scale.Users = min(p.scale.Users, p.maxUsers())
	if errors.Is(msg.err, engine.ErrInvalid) {
		p.err = nil // the findings say more
	}
	return true
}

// maxUsers returns the highest concurrency level of the recipe, the limit of a local run.
func (p *proposal) maxUsers() int {
	if p.pair == nil || p.pair.Recipe == nil {
		return p.scale.Users
	}
	return max(p.pair.Recipe.Benchmark.MaxLevel(), 1)
}

// preflight returns a command that asks the cluster about the plan; nil for a local run.
func (p *proposal) preflight(ctx context.Context, eng Engine) tea.Cmd {
	if p.plan == nil || p.target != plan.Slurm {
		return nil
	}
	gen, pair, pl := p.gen, p.pair, p.plan
	return func() tea.Msg {
		notes, err := eng.Preflight(ctx, pair, pl)
		return clusterMsg{gen, notes, err}
	}
}

// clusterPending reports whether the cluster's answer about the plan is still pending.
func (p *proposal) clusterPending() bool {
	return p.plan != nil && p.target == plan.Slurm && p.cluster.gen != p.gen
}

func (p *proposal) submittable() bool {
	return p.plan != nil && p.pair != nil && p.pair.Report.OK() && p.gate == nil && !p.planning && !p.clusterPending() &&
		p.cluster.err == nil
}

// State returns whether the plan can be submitted.
func (p *proposal) State() ui.State {
	switch {
	case p.err != nil:
		return ui.State{Text: "no plan", Role: ui.Bad}
	case p.pair == nil || p.planning:
		return ui.State{Text: "planning…", Role: ui.Muted}
	case !p.pair.Report.OK():
		return ui.State{Text: ui.Plural(p.pair.Report.Diagnostics.Errors(), "error"), Role: ui.Bad}
	case p.gate != nil:
		return ui.State{Text: "not ready", Role: ui.Warn}
	case p.clusterPending():
		return ui.State{Text: "querying the cluster…", Role: ui.Muted}
	case problem.Of(p.cluster.err) == problem.SlurmNotFound:
		return ui.State{Text: "Slurm not found", Role: ui.Bad}
	case problem.Of(p.cluster.err) == problem.SlurmTimeout:
		return ui.State{Text: "cluster unreachable", Role: ui.Bad}
	case p.cluster.err != nil:
		return ui.State{Text: "rejected by the cluster", Role: ui.Bad}
	}
	return ui.State{Text: "ready for " + string(p.target), Role: ui.OK}
}

// summary returns what will run, in one line.
func (p *proposal) summary() string {
	count := map[schema.Role]int{}
	for _, st := range p.plan.Steps {
		count[st.Role]++
	}
	var workers []string
	for _, r := range schema.WorkerRoles() {
		if n := count[r]; n > 0 {
			workers = append(workers, fmt.Sprintf("%d %s", n, r))
		}
	}
	users := make([]string, 0, len(p.plan.Phases))
	for _, ph := range p.plan.Phases {
		users = append(users, fmt.Sprint(ph.Concurrency))
	}
	where := fmt.Sprintf("%d nodes of %d GPUs", len(p.plan.Nodes), p.plan.GPUsPerNode)
	if p.plan.Target == plan.Local {
		where = "this machine, with mock servers"
	}
	return fmt.Sprintf("%s workers, %s users, on %s.", strings.Join(workers, " and "), strings.Join(users, ", "), where)
}

// statusLine returns, in one line, why the plan can't be submitted, or its first warning.
func (p *proposal) statusLine(th ui.Theme) string {
	ds := p.pair.Report.Diagnostics
	e, w := ds.Errors(), ds.Warnings()
	switch {
	case e > 0:
		found := ui.Plural(e, "error") + ", " + ui.Plural(w, "warning")
		return th.Paint(ui.Bad, "✗ "+found) + th.Paint(ui.Muted, "   e edit · q back")
	case p.cluster.err != nil:
		return th.Paint(ui.Bad, "✗ ") + ui.Clean(p.cluster.err.Error())
	case p.gate != nil:
		return th.Paint(ui.Warn, "⚠ ") + ui.Clean(p.gate.Error())
	case w > 0:
		first := ds.BySeverity()[0]
		return th.Paint(ui.Warn, "⚠ "+ui.Plural(w, "warning")+": ") + ui.Clean(first.Path+": "+first.Message)
	}
	return th.Paint(ui.OK, "✓ no errors, no warnings")
}

// targetLine returns the target, with the local scale or the expected start on the cluster.
func (p *proposal) targetLine() string {
	text := fmt.Sprintf("target %s", p.target)
	switch {
	case p.plan == nil:
	case p.target == plan.Local:
		text += fmt.Sprintf(": %d users, phase length %.0f s, %d local substitutions",
			p.scale.Users, p.scale.Seconds, len(p.plan.Substitutions))
	case p.clusterPending():
		text += ": querying the cluster…"
	case p.cluster.err == nil && len(p.cluster.notes) > 0: // the last note is the expected start
		text += ": " + p.cluster.notes[len(p.cluster.notes)-1]
	}
	return text
}
