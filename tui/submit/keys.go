package submit

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// stepUsers and stepSeconds are the amounts by which a key changes the scale of a local run.
const (
	stepUsers   = 1
	stepSeconds = 10
)

// Keys returns the current bindings.
func (s *Screen) Keys() []key.Binding { return ui.Bindings(s.commands()) }

func (s *Screen) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	cmd, _ := ui.HandleKey(msg, s.commands())
	return cmd
}

func (s *Screen) commands() []ui.Command {
	p := &s.proposal
	submit, edit := ui.Bind("enter", "submit…", "enter", "s"), ui.Bind("e", "edit", "e")
	if p.pair != nil && !p.pair.Report.OK() {
		submit.SetHelp("enter", "submit (fix errors first)")
	}
	submit.SetEnabled(s.submittable())
	edit.SetEnabled(s.busy == "")
	scale := func(label, desc string, change func(), keys ...string) ui.Command {
		b := ui.Bind(label, desc, keys...)
		b.SetEnabled(p.target == plan.Local)
		return ui.Command{Key: b, Hidden: label == "", Do: func() tea.Cmd {
			change()
			return s.replan()
		}}
	}
	users := func(by int) func() {
		return func() { p.scale.Users = max(min(p.scale.Users+by, p.maxUsers()), 1) }
	}
	seconds := func(by float64) func() {
		return func() { p.scale.Seconds = max(p.scale.Seconds+by, stepSeconds) }
	}
	return []ui.Command{
		{Key: submit, Do: s.ask},
		{Key: ui.Bind("↑ ↓", "section", "up", "k", "shift+tab"), Do: ui.NoCmd(func() { s.pane.move(-1) })},
		{Key: ui.Bind("", "", "down", "j", "tab"), Do: ui.NoCmd(func() { s.pane.move(1) }), Hidden: true},
		{Key: ui.Bind("pgup pgdn", "scroll", "pgup", "ctrl+b"), Do: ui.NoCmd(s.pane.view.PageUp)},
		{Key: ui.Bind("", "", "pgdown", "ctrl+f", "space"), Do: ui.NoCmd(s.pane.view.PageDown), Hidden: true},
		{Key: ui.Bind("t", "target local/slurm", "t"), Do: s.toggleTarget},
		scale("+ -", "users", users(stepUsers), "+", "="),
		scale("", "", users(-stepUsers), "-"),
		scale("[ ]", "phase length", seconds(stepSeconds), "]"),
		scale("", "", seconds(-stepSeconds), "["),
		{Key: edit, Do: s.edit},
	}
}

func (s *Screen) edit() tea.Cmd {
	return ui.Send(ui.OpenEdit{Recipe: s.files.Recipe, Workload: s.files.Workload})
}

func (s *Screen) toggleTarget() tea.Cmd {
	p := &s.proposal
	p.target = map[plan.Target]plan.Target{plan.Local: plan.Slurm, plan.Slurm: plan.Local}[p.target]
	return s.replan()
}
