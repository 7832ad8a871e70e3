package dashboard

import (
	"charm.land/bubbles/v2/key"

	"github.com/agentperf/agentperf-tui/engine/event"
)

// keyMap is the bindings of the dashboard.
type keyMap struct {
	pause, steps, focus, open, log, logBack, search, next, prev, follow, zoom key.Binding
	trend, phase, compare, cancel, up, down, pageUp, pageDown, top, end       key.Binding
	left, right                                                               key.Binding
}

func bind(help, desc string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, desc))
}

func newKeys() keyMap {
	return keyMap{
		pause: bind("space", "pause", "space"), steps: bind("s", "steps", "s"), focus: bind("tab", "pane", "tab", "shift+tab"), open: bind("enter", "its log", "enter"),
		log: bind("l", "log", "l"), logBack: bind("L", "log before", "L"), search: bind("/", "search", "/"), next: bind("n", "next hit", "n"), prev: bind("N", "hit before", "N"),
		follow: bind("f", "follow the log's end", "f"), zoom: bind("z", "zoom log", "z"),
		trend: bind("t", "trend", "t"), phase: bind("[ ]", "phase", "[", "]"), compare: bind("c", "compare", "c"), cancel: bind("x", "cancel", "x"),
		up: bind("↑", "scroll", "up", "k"), down: bind("↓", "scroll", "down", "j"), pageUp: bind("pgup", "a page up", "pgup"), pageDown: bind("pgdn", "a page down", "pgdown"),
		top: bind("home", "to the beginning", "home", "g"), end: bind("end", "to the end", "end", "G"), left: bind("←", "long lines", "left"), right: bind("→", "long lines", "right"),
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
	if s.typing {
		return []key.Binding{bind("enter", "search", "enter"), bind("esc", "end the search", "esc")}
	}
	if s.paused {
		k.pause.SetHelp("space", "go on")
	}
	out := []key.Binding{k.pause, k.steps}
	if s.focusSteps {
		out = append(out, k.open)
	}
	out = append(out, k.log, k.search)
	if s.log.query != "" {
		out = append(out, k.next, k.prev)
	}
	out = append(out, k.trend)
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
	return append(out, k.zoom, k.follow, k.logBack, k.up, k.down, k.pageUp, k.pageDown, k.top, k.end, k.left, k.right)
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
