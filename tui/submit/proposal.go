package submit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// proposal is the run that would be submitted, with what stands against it.
type proposal struct {
	target plan.Target
	scale  plan.LocalScale
	gen    int // of the newest request; older answers are dropped
	pair   *engine.Pair
	plan   *plan.Plan
	gate   error // what stands against it, findings aside
	err    error
	// cluster is what the cluster said of the plan in view; of another one while it
	// is still being asked.
	cluster clusterMsg
	// planning: a newer plan is under way, and the one in view is not what the options say.
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
	// clusterMsg is what the cluster says of a plan.
	clusterMsg struct {
		gen   int
		notes []string
		err   error
	}
)

// load loads the files and plans.
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

// handlePlanned takes a plan; false if it is not the newest.
func (p *proposal) handlePlanned(msg plannedMsg) bool {
	if msg.gen != p.gen {
		return false
	}
	p.pair, p.plan, p.gate, p.err, p.cluster, p.planning = msg.pair, msg.plan, msg.gate, msg.err, clusterMsg{}, false
	p.scale.Users = min(p.scale.Users, p.maxUsers())
	if errors.Is(msg.err, engine.ErrInvalid) {
		p.err = nil // the findings say it better
	}
	return true
}

// maxUsers is the recipe's highest level: a local run plays no more.
func (p *proposal) maxUsers() int {
	if p.pair == nil || p.pair.Recipe == nil {
		return p.scale.Users
	}
	return max(p.pair.Recipe.Benchmark.MaxLevel(), 1)
}

// preflight asks the cluster about the plan in view.
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

// clusterPending says whether the cluster has not answered yet for the plan in view.
func (p *proposal) clusterPending() bool {
	return p.plan != nil && p.target == plan.Slurm && p.cluster.gen != p.gen
}

func (p *proposal) submittable() bool {
	return p.plan != nil && p.pair != nil && p.pair.Report.OK() && p.gate == nil && !p.planning && !p.clusterPending() &&
		p.cluster.err == nil
}

// State says whether the plan can be submitted.
func (p *proposal) State() ui.State {
	switch {
	case p.err != nil:
		return ui.State{Text: "no plan", Role: ui.Bad}
	case p.pair == nil || p.planning:
		return ui.State{Text: "planning…", Role: ui.Muted}
	case !p.pair.Report.OK():
		return ui.State{Text: ui.Plural(p.pair.Report.Diagnostics.Errors(), "error"), Role: ui.Bad}
	case p.gate != nil:
		return ui.State{Text: "not yet", Role: ui.Warn}
	case p.clusterPending():
		return ui.State{Text: "asking the cluster…", Role: ui.Muted}
	case p.cluster.err != nil:
		return ui.State{Text: "the cluster refuses", Role: ui.Bad}
	}
	return ui.State{Text: "ready for " + string(p.target), Role: ui.OK}
}

// summary is what will run, in one line.
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
		where = "this machine, with mock engines"
	}
	return fmt.Sprintf("%s workers, %s users, on %s.", strings.Join(workers, " and "), strings.Join(users, ", "), where)
}

// statusLine is what stands against the submit, in one line; the sections tell more.
func (p *proposal) statusLine(th ui.Theme) string {
	ds := p.pair.Report.Diagnostics
	e, w := ds.Errors(), ds.Warnings()
	switch {
	case e > 0:
		found := ui.Plural(e, "error") + ", " + ui.Plural(w, "warning")
		return th.Paint(ui.Bad, "✗ "+found) + th.Paint(ui.Muted, "   e edit them, or q back")
	case p.cluster.err != nil:
		return th.Paint(ui.Bad, "✗ ") + ui.Clean(p.cluster.err.Error())
	case p.gate != nil:
		return th.Paint(ui.Warn, "⚠ ") + ui.Clean(p.gate.Error())
	case w > 0:
		worst := ds.BySeverity()[0]
		return th.Paint(ui.Warn, "⚠ "+ui.Plural(w, "warning")+": ") + ui.Clean(worst.Path+": "+worst.Message)
	}
	return th.Paint(ui.OK, "✓ nothing stands against it")
}

// targetLine is the target, and what it says of this run.
func (p *proposal) targetLine() string {
	text := fmt.Sprintf("target %s", p.target)
	switch {
	case p.plan == nil:
	case p.target == plan.Local:
		text += fmt.Sprintf(": %d users, a phase of %.0f s; %d things differ from the recipe: see SWAPS",
			p.scale.Users, p.scale.Seconds, len(p.plan.Substitutions))
	case p.clusterPending():
		text += ": asking the cluster…"
	case p.cluster.err == nil && len(p.cluster.notes) > 0: // the last word is when it would start
		text += ": " + p.cluster.notes[len(p.cluster.notes)-1]
	}
	return text
}
