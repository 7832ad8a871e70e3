package dashboard

import (
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

// commands are the keys of the dashboard; what none of them takes is for the log or
// for the steps.
func (s *Screen) commands() []ui.Command {
	steps := ui.Command{Key: ui.Bind("s", "steps", "s"), Do: ui.Now(s.toggleSteps)}
	pause := ui.Command{Key: ui.Bind("space", "pause", "space"), Do: s.pause}
	if s.run.paused || s.playback.on && !s.playback.running {
		pause.Key.SetHelp("space", "go on")
	}
	play := ui.Command{
		Key: ui.Bind("p", "play back", "p"), Do: s.togglePlayback, Name: "play back", Why: s.playback.unavailable(s.run.live),
	}
	var out []ui.Command
	switch {
	case s.playback.on:
		play.Key.SetHelp("p", "leave")
		pause.Do = s.playback.pause
		out = append(append(append(out, pause), s.playback.commands()...), play, steps)
	case s.run.live != nil && s.run.live.Done:
		out = append(out, play, steps, pause)
	default:
		play.Hidden = true
		out = append(out, pause, steps, play)
	}
	if s.steps.focused {
		out = append(out, ui.Command{Key: ui.Bind("enter", "its log", "enter"), Do: s.openStep})
	}
	ofLog, rest := s.log.pane.Keys()
	out = append(out, ui.Command{Key: ui.Bind("l", "log", "l"), Do: func() tea.Cmd { return s.log.turn(1) }})
	out = append(append(out, ui.Listed(ofLog...)...), ui.Command{Key: ui.Bind("t", "trend", "t"), Do: ui.Now(s.turnTrend)})
	cancel := ui.Command{Key: ui.Bind("x", "cancel", "x"), Do: s.askCancel, Name: "cancel", Why: s.run.noCancel()}
	compare := ui.Command{Key: ui.Bind("c", "compare", "c"), Do: s.compare, Name: "compare", Why: s.run.noCompare()}
	if cancel.Why == "" {
		out = append(out, cancel, compare)
	} else {
		out = append(out, compare, cancel)
	}
	out = append(out,
		ui.Command{
			Key: ui.Bind("[ ]", "phase", "["), Do: ui.Now(func() { s.run.turn(-1) }), Hidden: len(s.run.phases) < 2,
		},
		ui.Command{Key: ui.Bind("[ ]", "phase", "]"), Do: ui.Now(func() { s.run.turn(1) }), Hidden: true})
	if s.stepsShown() {
		toggle := ui.Now(func() { s.steps.focused = !s.steps.focused })
		out = append(out, ui.Command{Key: ui.Bind("tab", "pane", "tab", "shift+tab"), Do: toggle})
	}
	return append(append(out,
		ui.Command{Key: ui.Bind("z", "zoom log", "z"), Do: ui.Now(s.toggleZoom)},
		ui.Command{Key: ui.Bind("m", "merge logs by time", "m"), Do: s.log.merge},
		ui.Command{Key: ui.Bind("L", "log before", "L"), Do: func() tea.Cmd { return s.log.turn(-1) }},
	), ui.Listed(rest...)...)
}
