package parity

import (
	"charm.land/bubbles/v2/key"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// keyMap is the bindings of the comparison and of its picker.
type keyMap struct {
	copy, page, force, swap, sides, phase, again, list, choose, add key.Binding
	fields, turns, spread, levels                                   key.Binding

	move []key.Binding // as tables have them
}

func newKeys() keyMap {
	return keyMap{
		copy:   ui.Bind("m", "copy as Markdown", "m"),
		page:   ui.Bind("h", "HTML page", "h"),
		force:  ui.Bind("f", "force a verdict", "f"),
		swap:   ui.Bind("s", "swap sides", "s"),
		sides:  ui.Bind("d", "sides", "d"),
		list:   ui.Bind("R", "list again", "R"),
		add:    ui.Bind("a", "add a reference", "a"),
		fields: ui.Bind("r", "differences", "r"),
		turns:  ui.Bind("t", "turns", "t"),
		spread: ui.Bind("g", "TTFT drawn", "g"),
		levels: ui.Bind("l", "levels", "l"),
		phase:  ui.Bind("[ ]", "phase", "[", "]"),
		again:  ui.Bind("R", "compare again", "R"),
		choose: ui.Bind("enter", "choose", "enter"),
		move: []key.Binding{
			ui.Bind("↑", "row up", "up", "k"), ui.Bind("↓", "row down", "down", "j"),
			ui.Bind("pgup", "a page up", "pgup"), ui.Bind("pgdn", "a page down", "pgdown"),
			ui.Bind("home", "first row", "home", "g"), ui.Bind("end", "last row", "end", "G"),
		},
	}
}

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding {
	k := s.keys
	if s.picking() {
		return append([]key.Binding{k.choose, k.list}, k.move...)
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
	out = append(out, k.fields, k.turns, k.spread, k.levels, ui.Disabled(k.copy, s.noCopy()),
		ui.Disabled(k.page, s.noCopy()), ui.Disabled(k.force, s.noForce()), k.swap, k.add, k.phase, k.again)
	return append(out, k.move...)
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
	case s.c.Verdict != engine.NotComparable:
		return "comparable"
	case s.c.Delta == nil:
		return "no difference to judge"
	}
	return ""
}
