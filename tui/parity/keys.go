package parity

import (
	"charm.land/bubbles/v2/key"

	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

// keyMap is the bindings of the comparison and of its picker.
type keyMap struct {
	copy, force, swap, sides, phase, again, list, choose, add, fields, turns, spread, levels key.Binding
	up, down, pageUp, pageDown, top, end                                                     key.Binding
}

func bind(help, desc string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, desc))
}

func newKeys() keyMap {
	return keyMap{
		copy: bind("m", "copy as Markdown", "m"), force: bind("f", "force a verdict", "f"), swap: bind("s", "swap sides", "s"), sides: bind("d", "sides", "d"), list: bind("R", "list again", "R"),
		add: bind("a", "add a reference", "a"), fields: bind("r", "differences", "r"), turns: bind("t", "turns", "t"), spread: bind("g", "TTFT drawn", "g"), levels: bind("l", "levels", "l"),
		phase: bind("[ ]", "phase", "[", "]"), again: bind("R", "compare again", "R"), choose: bind("enter", "choose", "enter"),
		up: bind("↑", "row up", "up", "k"), down: bind("↓", "row down", "down", "j"), pageUp: bind("pgup", "a page up", "pgup"), pageDown: bind("pgdn", "a page down", "pgdown"),
		top: bind("home", "first row", "home", "g"), end: bind("end", "last row", "end", "G"),
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
	move := []key.Binding{k.up, k.down, k.pageUp, k.pageDown, k.top, k.end}
	if s.picking() {
		return append([]key.Binding{k.choose, k.list}, move...)
	}
	if s.force {
		k.force.SetHelp("f", "no forced verdict")
	}
	if s.err != nil {
		return []key.Binding{k.again, k.swap}
	}
	k.sides.SetHelp("d", [...]string{"all notes", "both sides", "the table"}[s.lower])
	views := []*key.Binding{viewFields: &k.fields, viewTurns: &k.turns, viewSpread: &k.spread, viewLevels: &k.levels}
	if s.view != viewFigures {
		views[s.view].SetHelp(views[s.view].Help().Key, "figures")
	}
	var out []key.Binding
	if !s.lay.all && s.view == viewFigures {
		out = append(out, k.sides)
	}
	out = append(out, k.fields, k.turns, k.spread, k.levels, disabled(k.copy, s.noCopy()), disabled(k.force, s.noForce()), k.swap, k.add)
	return append(append(out, k.phase, k.again), move...)
}

func (s *Screen) noCopy() string {
	if s.c == nil {
		return "no comparison yet"
	}
	return ""
}

// noForce is why there is nothing to force.
func (s *Screen) noForce() string {
	switch {
	case s.force:
		return ""
	case s.c == nil:
		return "no comparison yet"
	case s.c.Verdict != parity.NotComparable:
		return "comparable"
	case s.c.Delta == nil:
		return "no difference to judge"
	}
	return ""
}
