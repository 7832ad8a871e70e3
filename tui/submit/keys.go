package submit

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	submitKey = ui.Bind("enter", "submit…", "enter", "s")
	targetKey = ui.Bind("t", "target local/slurm", "t")
	moreKey   = ui.Bind("+ -", "users", "+", "=")
	fewerKey  = key.NewBinding(key.WithKeys("-"))
	longerKey = ui.Bind("[ ]", "phase length", "]")
	shortKey  = key.NewBinding(key.WithKeys("["))
	editKey   = ui.Bind("e", "edit", "e")
	prevKey   = ui.Bind("↑ ↓", "section", "up", "k", "shift+tab")
	nextKey   = key.NewBinding(key.WithKeys("down", "j", "tab"))
	pageUp    = ui.Bind("pgup pgdn", "scroll", "pgup", "ctrl+b")
	pageDown  = key.NewBinding(key.WithKeys("pgdown", "ctrl+f", "space"))
)

// stepUsers and stepSeconds are what one key press changes a local run by.
const (
	stepUsers   = 1
	stepSeconds = 10
)

// Keys are the bindings.
func (s *Screen) Keys() []key.Binding {
	p := &s.proposal
	submit, more, longer := submitKey, moreKey, longerKey
	submit.SetEnabled(s.submittable())
	if p.pair != nil && !p.pair.Report.OK() {
		submit.SetHelp("enter", "submit (errors first)")
	}
	more.SetEnabled(p.target == plan.Local)
	longer.SetEnabled(p.target == plan.Local)
	edit := editKey
	edit.SetEnabled(s.busy == "")
	return []key.Binding{submit, prevKey, pageUp, targetKey, more, longer, edit}
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	p := &s.proposal
	switch {
	case key.Matches(msg, submitKey):
		return s.ask()
	case key.Matches(msg, prevKey):
		s.pane.move(-1)
	case key.Matches(msg, nextKey):
		s.pane.move(1)
	case key.Matches(msg, pageUp):
		s.pane.view.PageUp()
	case key.Matches(msg, pageDown):
		s.pane.view.PageDown()
	case key.Matches(msg, editKey) && s.busy == "":
		return ui.Do(ui.OpenEdit{Recipe: s.files.Recipe, Workload: s.files.Workload})
	case key.Matches(msg, targetKey):
		p.target = map[plan.Target]plan.Target{plan.Local: plan.Slurm, plan.Slurm: plan.Local}[p.target]
		return s.replan()
	}
	if p.target != plan.Local {
		return nil
	}
	switch {
	case key.Matches(msg, moreKey):
		p.scale.Users = min(p.scale.Users+stepUsers, p.mostUsers())
	case key.Matches(msg, fewerKey):
		p.scale.Users = max(p.scale.Users-stepUsers, 1)
	case key.Matches(msg, longerKey):
		p.scale.Seconds += stepSeconds
	case key.Matches(msg, shortKey):
		p.scale.Seconds = max(p.scale.Seconds-stepSeconds, stepSeconds)
	default:
		return nil
	}
	return s.replan()
}
