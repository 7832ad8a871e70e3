package dashboard

import (
	"charm.land/bubbles/v2/key"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// keyMap is the bindings of the dashboard.
type keyMap struct {
	pause, steps, focus, open, log, logBack, merge, zoom, trend, phase, compare, cancel key.Binding
	play, faster, slower, seekBack, seekOn                                              key.Binding
}

func newKeys() keyMap {
	return keyMap{
		pause: ui.Bind("space", "pause", "space"), steps: ui.Bind("s", "steps", "s"),
		focus: ui.Bind("tab", "pane", "tab", "shift+tab"), open: ui.Bind("enter", "its log", "enter"),
		log: ui.Bind("l", "log", "l"), logBack: ui.Bind("L", "log before", "L"),
		merge: ui.Bind("m", "merge logs by time", "m"), zoom: ui.Bind("z", "zoom log", "z"),
		trend: ui.Bind("t", "trend", "t"), phase: ui.Bind("[ ]", "phase", "[", "]"),
		compare: ui.Bind("c", "compare", "c"), cancel: ui.Bind("x", "cancel", "x"),
		play: ui.Bind("p", "play back", "p"), faster: ui.Bind("+", "faster", "+", "="), slower: ui.Bind("-", "slower", "-"),
		seekBack: ui.Bind("<", "back", "<", ","), seekOn: ui.Bind(">", "forward", ">", "."),
	}
}

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding {
	k := s.keys
	if s.run.problem != nil {
		return nil
	}
	ofLog, rest := s.log.pane.Keys()
	if s.Typing() {
		return ofLog
	}
	if s.run.paused || s.playback.on && !s.playback.running {
		k.pause.SetHelp("space", "go on")
	}
	var out []key.Binding
	switch {
	case s.playback.on:
		k.play.SetHelp("p", "leave")
		out = append(out, k.pause, k.slower, k.faster, k.seekBack, k.seekOn, k.play, k.steps)
	case s.run.live != nil && s.run.live.Done:
		out = append(out, ui.Disabled(k.play, s.playback.unavailable(s.run.live)), k.steps, k.pause)
	default:
		out = append(out, k.pause, k.steps)
	}
	if s.steps.focused {
		out = append(out, k.open)
	}
	out = append(append(append(out, k.log), ofLog...), k.trend)
	cancel, compare := ui.Disabled(k.cancel, s.run.noCancel()), ui.Disabled(k.compare, s.run.noCompare())
	if cancel.Enabled() {
		out = append(out, cancel, compare)
	} else {
		out = append(out, compare, cancel)
	}
	if len(s.run.phases) > 1 {
		out = append(out, k.phase)
	}
	if s.stepsShown() {
		out = append(out, k.focus)
	}
	return append(append(out, k.zoom, k.merge, k.logBack), rest...)
}
