// Package submit is the screen that shows the plan of a run and submits it. It plans and
// submits through the engine.
package submit

import (
	"context"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Screen shows the plan of one run.
type Screen struct {
	eng    Engine
	files  engine.Files
	th     ui.Theme
	ctx    context.Context
	cancel context.CancelFunc
	w      int

	proposal  proposal
	pane      planPane
	busy      string     // the action in progress; empty if none
	askedPlan *plan.Plan // the plan shown when the dialog was opened
}

// New returns the screen for a recipe and its workload, with a target.
func New(eng Engine, th ui.Theme, recipe, workload string, target plan.Target) *Screen {
	ctx, cancel := context.WithCancel(context.Background())
	return &Screen{
		eng: eng, files: engine.Files{Recipe: recipe, Workload: workload}, th: th, ctx: ctx, cancel: cancel,
		proposal: proposal{
			target: target, scale: plan.LocalScale{Users: plan.DefaultUsers, Seconds: plan.DefaultSeconds},
		},
		pane: planPane{th: th, view: viewport.New()},
	}
}

// Name returns the screen's breadcrumb.
func (s *Screen) Name() string { return "submit" }

// State returns the action in progress, or whether the plan can be submitted.
func (s *Screen) State() ui.State {
	if s.busy != "" {
		return ui.State{Text: s.busy + "…", Role: ui.Accent}
	}
	return s.proposal.State()
}

// Init starts to make the plan.
func (s *Screen) Init() tea.Cmd { return s.replan() }

// replan loads the files again and makes a new plan.
func (s *Screen) replan() tea.Cmd { return s.proposal.load(s.ctx, s.eng, s.files) }

type submittedMsg struct {
	run engine.Record
	err error
}

func (s *Screen) submit() tea.Cmd {
	s.busy = "submitting"
	// The submission continues if the screen is closed, so that it is never left incomplete.
	ctx, eng, pair, pl := context.WithoutCancel(s.ctx), s.eng, s.proposal.pair, s.proposal.plan
	return func() tea.Msg {
		rec, err := eng.Apply(ctx, pair, pl, false)
		return submittedMsg{rec, err}
	}
}

// Update handles a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case plannedMsg:
		if !s.proposal.handlePlanned(msg) {
			return nil
		}
		s.pane.set(buildSections(s.proposal))
		return s.proposal.preflight(s.ctx, s.eng)
	case clusterMsg:
		if msg.gen == s.proposal.gen {
			s.proposal.cluster = msg
			s.pane.set(buildSections(s.proposal))
		}
	case submittedMsg:
		s.busy = ""
		if msg.err != nil {
			return ui.ShowError(msg.err)
		}
		toast := ui.Toast{Text: "submitted " + msg.run.Name + "_" + msg.run.ID, Role: ui.OK}
		return ui.Send(ui.Replace{With: ui.OpenRun{Run: msg.run.Dir}, Toast: toast})
	case ui.Answer:
		if msg.ID != askSubmit || !msg.Yes || s.busy != "" {
			return nil
		}
		if s.askedPlan == nil || s.askedPlan != s.proposal.plan { // a new plan since the dialog was opened
			return ui.Send(ui.Toast{Text: "the plan has changed; review it and submit again", Role: ui.Warn})
		}
		return s.submit()
	case ui.Resumed:
		return s.replan()
	case ui.ThemeChanged:
		s.th, s.pane.th = msg.Theme, msg.Theme
		s.pane.render()
	case ui.Mouse:
		s.pane.view.ScrollDown(msg.Wheel)
	case tea.KeyPressMsg:
		return s.handleKey(msg)
	}
	return nil
}

const askSubmit = "submit"

func (s *Screen) ask() tea.Cmd {
	p := &s.proposal
	if !s.submittable() {
		return nil
	}
	s.askedPlan = p.plan
	return ui.Send(ui.Ask{
		ID: askSubmit, Title: "Submit " + p.plan.Name + "?", Yes: "submit", No: "cancel",
		Body: p.summary() + "\n" + p.targetLine() + ".\nOutput directory: " + p.plan.OutputDir,
	})
}

func (s *Screen) submittable() bool { return s.busy == "" && s.proposal.submittable() }

// SetSize sets the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.w = w
	s.pane.setSize(w, max(h-headerRows, 1))
}

// View draws the screen.
func (s *Screen) View() string {
	p := &s.proposal
	if p.err != nil {
		return "\n" + s.th.Paint(ui.Bad, "  ✗ ") + ui.Clean(ui.OneLine(p.err))
	}
	if p.pair == nil {
		return "\n" + s.th.Paint(ui.Muted, "  planning "+ui.Clean(s.files.Recipe)+"…")
	}
	what := s.th.Paint(ui.Muted, "no plan: fix the errors first")
	if p.plan != nil {
		what = ui.Clean(p.summary())
	}
	head := ""
	for _, l := range []string{what, p.statusLine(s.th), s.th.Paint(ui.Muted, ui.Clean(p.targetLine()))} {
		head += ui.Fit("  "+l, s.w) + "\n"
	}
	return head + s.th.RuleLine(s.w) + "\n" + s.pane.View()
}

// Typing returns false: keys are never text.
func (s *Screen) Typing() bool { return false }

// Close cancels the screen's requests. A submission in progress continues in the engine until
// it is recorded or times out.
func (s *Screen) Close() { s.cancel() }
