package dashboard

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding {
	switch {
	case s.run.problem != nil:
		return nil
	case s.Typing():
		ofLog, _ := s.log.pane.Keys()
		return ofLog
	}
	return ui.Bindings(s.commands())
}

// commands are the keys of the dashboard; what none of them takes is for the log or for the steps.
func (s *Screen) commands() []ui.Command {
	steps := ui.Command{Key: ui.Bind("s", "steps", "s"), Do: ui.NoCmd(s.toggleSteps)}
	pause := ui.Command{Key: ui.Bind("space", "pause", "space"), Do: s.pause}
	if s.run.paused || s.playback.on && !s.playback.running {
		pause.Key.SetHelp("space", "go on")
	}
	play := ui.Command{
		Key: ui.Bind("p", "play back", "p"), Do: s.togglePlayback,
		Name: "play back", Unavailable: s.playback.unavailable(s.run.live),
	}
	var time, panes []ui.Command
	switch {
	case s.playback.on:
		play.Key.SetHelp("p", "leave")
		pause.Do = s.playback.pause
		time = append(append(append(time, pause), s.playback.commands()...), play, steps)
	case s.run.live != nil && s.run.live.Done:
		time = append(time, play, steps, pause)
	default:
		play.Hidden = true
		time = append(time, pause, steps, play)
	}
	if s.steps.focused {
		time = append(time, ui.Command{Key: ui.Bind("enter", "its log", "enter"), Do: s.openStep})
	}
	if s.stepsShown() {
		toggle := ui.NoCmd(func() { s.steps.focused = !s.steps.focused })
		panes = append(panes, ui.Command{Key: ui.Bind("tab", "pane", "tab", "shift+tab"), Do: toggle})
	}
	cancel := ui.Command{Key: ui.Bind("x", "cancel", "x"), Do: s.askCancel, Name: "cancel", Unavailable: s.run.noCancel()}
	compare := ui.Command{
		Key: ui.Bind("c", "compare", "c"), Do: s.compare, Name: "compare", Unavailable: s.run.noCompare(),
	}
	run := []ui.Command{cancel, compare}
	if cancel.Unavailable != "" { // what can be done goes first
		run = []ui.Command{compare, cancel}
	}
	single := len(s.run.phases) < 2
	ofLog, rest := s.log.pane.Keys()
	return slices.Concat(time,
		[]ui.Command{{Key: ui.Bind("l", "log", "l"), Do: func() tea.Cmd { return s.log.turn(1) }}},
		ui.HelpOnly(ofLog...),
		[]ui.Command{{Key: ui.Bind("t", "trend", "t"), Do: ui.NoCmd(s.turnTrend)}},
		run,
		[]ui.Command{
			{Key: ui.Bind("[ ]", "phase", "["), Do: ui.NoCmd(func() { s.run.turn(-1) }), Hidden: single},
			{Key: ui.Bind("[ ]", "phase", "]"), Do: ui.NoCmd(func() { s.run.turn(1) }), Hidden: true},
		},
		panes,
		[]ui.Command{
			{Key: ui.Bind("z", "zoom log", "z"), Do: ui.NoCmd(s.toggleZoom)},
			{Key: ui.Bind("m", "merge logs by time", "m"), Do: s.log.merge},
			{Key: ui.Bind("L", "log before", "L"), Do: func() tea.Cmd { return s.log.turn(-1) }},
		},
		ui.HelpOnly(rest...))
}
