package dashboard

import (
	"charm.land/bubbles/v2/key"

	"github.com/agentperf/agentperf-tui/engine/event"
)

// keyMap is the bindings of the dashboard.
type keyMap struct {
	pause, steps, focus, open, log, logBack, merge, zoom, trend, phase, compare, cancel key.Binding
	play, faster, slower, seekBack, seekOn                                              key.Binding
}

func bind(help, desc string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, desc))
}

func newKeys() keyMap {
	return keyMap{
		pause: bind("space", "pause", "space"), steps: bind("s", "steps", "s"), focus: bind("tab", "pane", "tab", "shift+tab"), open: bind("enter", "its log", "enter"),
		log: bind("l", "log", "l"), logBack: bind("L", "log before", "L"), merge: bind("m", "merge logs by time", "m"), zoom: bind("z", "zoom log", "z"),
		play: bind("p", "play back", "p"), faster: bind("+", "faster", "+", "="), slower: bind("-", "slower", "-"), seekBack: bind("<", "back", "<", ","), seekOn: bind(">", "forward", ">", "."),
		trend: bind("t", "trend", "t"), phase: bind("[ ]", "phase", "[", "]"), compare: bind("c", "compare", "c"), cancel: bind("x", "cancel", "x"),
	}
}

// disabled is a binding that keeps its place and says why it does nothing.
func disabled(b key.Binding, why string) key.Binding {
	if why == "" {
		return b
	}
	b.SetHelp(b.Help().Key, b.Help().Desc+" ("+why+")")
	b.SetEnabled(false)
	return b
}

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding {
	k := s.keys
	if s.problem != nil {
		return nil
	}
	ofLog, rest := s.log.pane.Keys()
	if s.Typing() {
		return ofLog
	}
	if s.paused || s.tape.on && !s.tape.running {
		k.pause.SetHelp("space", "go on")
	}
	var out []key.Binding
	switch {
	case s.tape.on:
		k.play.SetHelp("p", "leave")
		out = append(out, k.pause, k.slower, k.faster, k.seekBack, k.seekOn, k.play, k.steps)
	case s.live != nil && s.live.Done:
		out = append(out, disabled(k.play, s.noPlayback()), k.steps, k.pause)
	default:
		out = append(out, k.pause, k.steps)
	}
	if s.focusSteps {
		out = append(out, k.open)
	}
	out = append(append(append(out, k.log), ofLog...), k.trend)
	cancel, compare := disabled(k.cancel, s.noCancel()), disabled(k.compare, s.noCompare())
	if cancel.Enabled() {
		out = append(out, cancel, compare)
	} else {
		out = append(out, compare, cancel)
	}
	if len(s.phases) > 1 {
		out = append(out, k.phase)
	}
	if s.stepsShown() {
		out = append(out, k.focus)
	}
	return append(append(out, k.zoom, k.merge, k.logBack), rest...)
}

// noCancel is why the run can't be cancelled now; empty when it can.
func (s *Screen) noCancel() string {
	switch {
	case s.live == nil:
		return "nothing known yet"
	case s.located.Record.ID == "":
		return "not started here"
	case s.live.Status.State.Final() || s.live.Done:
		return "it has ended"
	case s.live.Status.State == event.Unknown:
		return "its state is unknown"
	case s.cancelling:
		return "under way"
	}
	return ""
}

// noCompare is why there is nothing to compare.
func (s *Screen) noCompare() string {
	if s.live == nil || len(s.live.Run.Phases) == 0 {
		return "no figures yet"
	}
	return ""
}
