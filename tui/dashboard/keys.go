package dashboard

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Keys returns the current bindings.
func (s *Screen) Keys() []key.Binding {
	switch {
	case s.run.err != nil:
		return nil
	case s.Typing():
		logKeys, _ := s.log.pane.Keys()
		return logKeys
	}
	return ui.Bindings(s.commands())
}

// commands returns the key bindings of the dashboard. Other keys go to the steps or the log.
func (s *Screen) commands() []ui.Command {
	steps := ui.Command{Key: ui.Bind("s", "steps", "s"), Do: ui.NoCmd(s.toggleSteps)}
	pause := ui.Command{Key: ui.Bind("space", "pause", "space"), Do: s.pause}
	if s.run.paused || s.playback.active && !s.playback.running {
		pause.Key.SetHelp("space", "resume")
	}
	playBack := ui.Command{
		Key: ui.Bind("p", "play back", "p"), Do: s.togglePlayback,
		Name: "play back", Unavailable: s.playback.unavailable(s.run.latest),
	}
	var playKeys, paneKeys []ui.Command
	switch {
	case s.playback.active:
		playBack.Key.SetHelp("p", "end playback")
		pause.Do = s.playback.pause
		playKeys = append(append(append(playKeys, pause), s.playback.commands()...), playBack, steps)
	case s.run.latest != nil && s.run.latest.Done:
		playKeys = append(playKeys, playBack, steps, pause)
	default:
		playBack.Hidden = true
		playKeys = append(playKeys, pause, steps, playBack)
	}
	if s.steps.focused {
		playKeys = append(playKeys, ui.Command{Key: ui.Bind("enter", "open log", "enter"), Do: s.openStep})
	}
	if s.stepsShown() {
		toggle := ui.NoCmd(func() { s.steps.focused = !s.steps.focused })
		paneKeys = append(paneKeys, ui.Command{Key: ui.Bind("tab", "pane", "tab", "shift+tab"), Do: toggle})
	}
	cancel := ui.Command{
		Key: ui.Bind("x", "cancel", "x"), Do: s.askCancel, Name: "cancel", Unavailable: s.run.cancelUnavailable(),
	}
	compare := ui.Command{
		Key: ui.Bind("c", "compare", "c"), Do: s.compare, Name: "compare", Unavailable: s.run.compareUnavailable(),
	}
	runKeys := []ui.Command{cancel, compare}
	if cancel.Unavailable != "" { // available commands first
		runKeys = []ui.Command{compare, cancel}
	}
	single := len(s.run.phases) < 2
	logKeys, moreLogKeys := s.log.pane.Keys()
	return slices.Concat(playKeys,
		[]ui.Command{{Key: ui.Bind("l", "log", "l"), Do: func() tea.Cmd { return s.log.switchLog(1) }}},
		ui.HelpOnly(logKeys...),
		[]ui.Command{{Key: ui.Bind("t", "chart", "t"), Do: ui.NoCmd(s.nextTrend)}},
		runKeys,
		[]ui.Command{
			{Key: ui.Bind("[ ]", "phase", "["), Do: ui.NoCmd(func() { s.run.changePhase(-1) }), Hidden: single},
			{Key: ui.Bind("[ ]", "phase", "]"), Do: ui.NoCmd(func() { s.run.changePhase(1) }), Hidden: true},
		},
		paneKeys,
		[]ui.Command{
			{Key: ui.Bind("z", "zoom log", "z"), Do: ui.NoCmd(s.toggleZoom)},
			{Key: ui.Bind("m", "merge logs", "m"), Do: s.log.toggleMerge},
			{Key: ui.Bind("L", "previous log", "L"), Do: func() tea.Cmd { return s.log.switchLog(-1) }},
		},
		ui.HelpOnly(moreLogKeys...))
}
