package submit

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	submitKey = key.NewBinding(key.WithKeys("enter", "s"), key.WithHelp("enter", "submit…"))
	targetKey = key.NewBinding(key.WithKeys("t"), key.WithHelp("t", "target local/slurm"))
	moreKey   = key.NewBinding(key.WithKeys("+", "="), key.WithHelp("+ -", "users"))
	fewerKey  = key.NewBinding(key.WithKeys("-"))
	longerKey = key.NewBinding(key.WithKeys("]"), key.WithHelp("[ ]", "phase length"))
	shortKey  = key.NewBinding(key.WithKeys("["))
	editKey   = key.NewBinding(key.WithKeys("e"), key.WithHelp("e", "edit"))
	prevKey   = key.NewBinding(key.WithKeys("up", "k", "shift+tab"), key.WithHelp("↑ ↓", "section"))
	nextKey   = key.NewBinding(key.WithKeys("down", "j", "tab"))
	pageUp    = key.NewBinding(key.WithKeys("pgup", "ctrl+b"), key.WithHelp("pgup pgdn", "scroll"))
	pageDown  = key.NewBinding(key.WithKeys("pgdown", "ctrl+f", "space"))
)

// stepUsers and stepSeconds are what one key press changes a local run by.
const (
	stepUsers   = 1
	stepSeconds = 10
)

func (s *Screen) bindings() []key.Binding {
	submit, more, longer := submitKey, moreKey, longerKey
	submit.SetEnabled(s.submittable())
	if s.pair != nil && !s.pair.Report.OK() {
		submit.SetHelp("enter", "submit (errors first)")
	}
	more.SetEnabled(s.target == plan.Local)
	longer.SetEnabled(s.target == plan.Local)
	edit := editKey
	edit.SetEnabled(s.busy == "")
	return []key.Binding{submit, prevKey, pageUp, targetKey, more, longer, edit}
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, submitKey):
		return s.ask()
	case key.Matches(msg, prevKey):
		s.move(-1)
	case key.Matches(msg, nextKey):
		s.move(1)
	case key.Matches(msg, pageUp):
		s.scroll(-s.paneRows())
	case key.Matches(msg, pageDown):
		s.scroll(s.paneRows())
	case key.Matches(msg, editKey) && s.busy == "":
		return ui.Do(ui.OpenEdit{Recipe: s.files.Recipe, Workload: s.files.Workload})
	case key.Matches(msg, targetKey):
		s.target = map[plan.Target]plan.Target{plan.Local: plan.Slurm, plan.Slurm: plan.Local}[s.target]
		return s.replan()
	}
	if s.target != plan.Local {
		return nil
	}
	switch {
	case key.Matches(msg, moreKey):
		s.scale.Users = min(s.scale.Users+stepUsers, s.mostUsers())
	case key.Matches(msg, fewerKey):
		s.scale.Users = max(s.scale.Users-stepUsers, 1)
	case key.Matches(msg, longerKey):
		s.scale.Seconds += stepSeconds
	case key.Matches(msg, shortKey):
		s.scale.Seconds = max(s.scale.Seconds-stepSeconds, stepSeconds)
	default:
		return nil
	}
	return s.replan()
}

// mostUsers is the recipe's highest level: a local run plays no more.
func (s *Screen) mostUsers() int {
	if s.pair == nil || s.pair.Recipe == nil {
		return s.scale.Users
	}
	return max(s.pair.Recipe.Benchmark.MaxLevel(), 1)
}

func (s *Screen) move(by int) {
	s.at = max(min(s.at+by, len(s.sections)-1), 0)
	s.top = 0
}
