// Package submit is the screen before a run: the whole plan to look through, what
// stands against it first, and the question. It plans and submits through the engine.
package submit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Engine is what this screen needs.
type Engine interface {
	Load(ctx context.Context, f engine.Files) (*engine.Pair, error)
	Plan(p *engine.Pair, opt engine.PlanOptions) (*plan.Plan, error)
	// Gate says what stands against submitting, findings aside.
	Gate(p *engine.Pair, pl *plan.Plan, allowTodo bool) error
	// Preflight asks the cluster; its last note is when the run would start, its
	// error what makes the submit impossible.
	Preflight(ctx context.Context, p *engine.Pair, pl *plan.Plan) (notes []string, err error)
	Apply(ctx context.Context, p *engine.Pair, pl *plan.Plan, allowTodo bool) (engine.Record, error)
}

// Screen is the plan of one run.
type Screen struct {
	eng    Engine
	files  engine.Files
	th     ui.Theme
	ctx    context.Context
	cancel context.CancelFunc

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
	busy    string // what is under way; empty: nothing
	// planning: a newer plan is under way, and the one in view is not what the
	// options say.
	planning bool
	asked    *plan.Plan // the plan that the question was put for

	sections []section
	at       int // section under the cursor
	top      int // first line of it in view
	w, h     int
}

// New makes the screen for a recipe and its workload, on this machine or on Slurm.
func New(eng Engine, th ui.Theme, recipe, workload string, target plan.Target) *Screen {
	ctx, cancel := context.WithCancel(context.Background())
	return &Screen{
		eng: eng, files: engine.Files{Recipe: recipe, Workload: workload}, th: th, ctx: ctx, cancel: cancel, target: target,
		scale: plan.LocalScale{Users: plan.DefaultUsers, Seconds: plan.DefaultSeconds},
	}
}

// Name is the screen's breadcrumb.
func (s *Screen) Name() string { return "submit" }

// State says whether the plan can be submitted.
func (s *Screen) State() ui.State {
	switch {
	case s.busy != "":
		return ui.State{Text: s.busy + "…", Role: ui.Accent}
	case s.err != nil:
		return ui.State{Text: "no plan", Role: ui.Bad}
	case s.pair == nil || s.planning:
		return ui.State{Text: "planning…", Role: ui.Muted}
	case !s.pair.Report.OK():
		return ui.State{Text: ui.Plural(s.pair.Report.Diagnostics.Errors(), "error"), Role: ui.Bad}
	case s.gate != nil:
		return ui.State{Text: "not yet", Role: ui.Warn}
	case s.asking():
		return ui.State{Text: "asking the cluster…", Role: ui.Muted}
	case s.cluster.err != nil:
		return ui.State{Text: "the cluster refuses", Role: ui.Bad}
	}
	return ui.State{Text: "ready for " + string(s.target), Role: ui.OK}
}

// Init makes the plan.
func (s *Screen) Init() tea.Cmd { return s.replan() }

type plannedMsg struct {
	gen  int
	pair *engine.Pair
	plan *plan.Plan
	gate error
	err  error
}

// replan loads and plans anew: the files may have changed since.
func (s *Screen) replan() tea.Cmd {
	s.gen++
	s.planning = true
	gen, ctx, eng, files := s.gen, s.ctx, s.eng, s.files
	opt := engine.PlanOptions{Target: s.target, Local: s.scale}
	return func() tea.Msg {
		p, err := eng.Load(ctx, files)
		if err != nil {
			return plannedMsg{gen: gen, err: err}
		}
		msg := plannedMsg{gen: gen, pair: p}
		if msg.plan, msg.err = eng.Plan(p, opt); msg.err == nil {
			msg.gate = eng.Gate(p, msg.plan, false)
		}
		return msg
	}
}

// clusterMsg is what the cluster says of a plan.
type clusterMsg struct {
	gen   int
	notes []string
	err   error
}

// preflight asks the cluster about the plan in view.
func (s *Screen) preflight() tea.Cmd {
	if s.plan == nil || s.target != plan.Slurm {
		return nil
	}
	gen, ctx, eng, pair, pl := s.gen, s.ctx, s.eng, s.pair, s.plan
	return func() tea.Msg {
		notes, err := eng.Preflight(ctx, pair, pl)
		return clusterMsg{gen, notes, err}
	}
}

// asking says whether the cluster has not answered yet for the plan in view.
func (s *Screen) asking() bool {
	return s.plan != nil && s.target == plan.Slurm && s.cluster.gen != s.gen
}

type submittedMsg struct {
	run engine.Record
	err error
}

func (s *Screen) submit() tea.Cmd {
	s.busy = "submitting"
	// Not tied to this screen: what was half submitted when it is left would be lost.
	ctx, eng, pair, pl := context.WithoutCancel(s.ctx), s.eng, s.pair, s.plan
	return func() tea.Msg {
		rec, err := eng.Apply(ctx, pair, pl, false)
		return submittedMsg{rec, err}
	}
}

// Update takes a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case plannedMsg:
		return s.take(msg)
	case clusterMsg:
		if msg.gen == s.gen {
			s.cluster = msg
			s.arrange(plannedMsg{pair: s.pair, plan: s.plan})
		}
	case submittedMsg:
		s.busy = ""
		if msg.err != nil {
			return ui.Fail(msg.err)
		}
		return ui.Do(ui.Replace{With: ui.OpenRun{Run: msg.run.Dir}, Said: ui.Toast{Text: "submitted " + msg.run.Name + "_" + msg.run.ID, Role: ui.OK}})
	case ui.Answer:
		if msg.ID != askSubmit || !msg.Yes || s.busy != "" {
			return nil
		}
		if s.asked == nil || s.asked != s.plan { // planned anew since the question
			return ui.Do(ui.Toast{Text: "the plan has changed since the question: look at it and submit again", Role: ui.Warn})
		}
		return s.submit()
	case ui.Resumed:
		return s.replan()
	case ui.ThemeChanged:
		s.th = msg.Theme
	case ui.Mouse:
		s.scroll(msg.Wheel)
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	return nil
}

func (s *Screen) take(msg plannedMsg) tea.Cmd {
	if msg.gen != s.gen {
		return nil
	}
	s.planning = false
	if msg.pair != nil && msg.pair.Recipe != nil {
		s.scale.Users = min(s.scale.Users, max(msg.pair.Recipe.Benchmark.MaxLevel(), 1))
	}
	s.pair, s.plan, s.gate, s.err, s.cluster = msg.pair, msg.plan, msg.gate, msg.err, clusterMsg{}
	if errors.Is(msg.err, engine.ErrInvalid) {
		s.err = nil // the findings say it better
	}
	s.arrange(msg)
	return s.preflight()
}

// arrange makes the sections anew and keeps the one under the cursor.
func (s *Screen) arrange(msg plannedMsg) {
	at := ""
	if s.at < len(s.sections) {
		at = s.name(s.at)
	}
	s.sections = collect(msg, s.cluster)
	for i := range s.sections {
		if at != "" && s.name(i) == at {
			s.at = i
		}
	}
	s.at = min(s.at, max(len(s.sections)-1, 0))
	s.scroll(0)
}

const askSubmit = "submit"

func (s *Screen) ask() tea.Cmd {
	if !s.submittable() {
		return nil
	}
	s.asked = s.plan
	return ui.Do(ui.Ask{
		ID: askSubmit, Title: "Submit " + s.plan.Name + "?", Body: s.summary() + "\n" + s.where() + ".\nInto " + s.plan.OutputDir + ".", Yes: "submit", No: "not yet",
	})
}

func (s *Screen) submittable() bool {
	return s.plan != nil && s.pair != nil && s.pair.Report.OK() && s.gate == nil && s.busy == "" && !s.planning && !s.asking() && s.cluster.err == nil
}

// summary is what will run, in one line.
func (s *Screen) summary() string {
	count := map[schema.Role]int{}
	for _, st := range s.plan.Steps {
		count[st.Role]++
	}
	var workers []string
	for _, r := range schema.WorkerRoles() {
		if n := count[r]; n > 0 {
			workers = append(workers, fmt.Sprintf("%d %s", n, r))
		}
	}
	users := make([]string, 0, len(s.plan.Phases))
	for _, p := range s.plan.Phases {
		users = append(users, fmt.Sprint(p.Level))
	}
	where := fmt.Sprintf("%d nodes of %d GPUs", len(s.plan.Nodes), s.plan.GPUsPerNode)
	if s.plan.Target == plan.Local {
		where = "this machine, with mock engines"
	}
	return fmt.Sprintf("%s workers, %s users, on %s.", strings.Join(workers, " and "), strings.Join(users, ", "), where)
}

// SetSize gives the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.scroll(0)
}

func (s *Screen) scroll(by int) {
	lines := 0
	for i := s.at; i < len(s.sections); i++ {
		lines += len(s.body(i)) + 2
	}
	s.top = max(min(s.top+by, lines-s.paneRows()), 0)
}

// View draws the screen.
func (s *Screen) View() string {
	if s.err != nil {
		return "\n" + s.th.Paint(ui.Bad, "  ✗ ") + ui.Clean(strings.ReplaceAll(s.err.Error(), "\n", "; "))
	}
	if s.pair == nil {
		return "\n" + s.th.Paint(ui.Muted, "  planning "+ui.Clean(s.files.Recipe)+"…")
	}
	return strings.Join(s.head(), "\n") + "\n" + s.panes()
}

// Typing is false: no key is text here.
func (s *Screen) Typing() bool { return false }

// Keys are the bindings.
func (s *Screen) Keys() []key.Binding { return s.bindings() }

// Close ends the screen's work. A submit that is under way goes on in the engine
// until it is recorded or its own time is over.
func (s *Screen) Close() { s.cancel() }
