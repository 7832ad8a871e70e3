package dashboard

import (
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/testdata/frametest"

	tea "charm.land/bubbletea/v2"
)

// This file tests panes alone, without the screen around them.

func TestRunView(t *testing.T) {
	t.Parallel()
	r := &runView{name: "592210", zone: time.UTC, phase: -1}
	if r.label() != "592210" || r.State().Text != "reading" || r.noCancel() != "nothing known yet" || r.noCompare() == "" {
		t.Errorf("before it is found: %s, %v", r.label(), r.State())
	}
	u := measuringUpdate()
	r.live = &u
	r.show(&u)
	if p, ok := r.current(); !ok || p.index != 1 || r.noPhase() {
		t.Fatalf("shows %v", p.index)
	}
	if r.turn(1); r.phase != 0 {
		t.Errorf("turned to %d", r.phase)
	}
	if p, _ := r.current(); r.recent(p) != nil {
		t.Error("the last minute of a phase that is over")
	}
	if r.turn(-1); r.phase != -1 {
		t.Errorf("the newest is %d, and not followed", r.phase)
	}
}

func TestStepsPane(t *testing.T) {
	t.Parallel()
	var p stepsPane
	if _, ok := p.choose(); ok {
		t.Error("a step of none is chosen")
	}
	u := measuringUpdate()
	p.table.Columns = stepColumns()
	p.fill(&u, []engine.LogFile{{Step: "client", Path: "/client.log"}, {Step: u.Status.Steps[0].Name, Path: "/0.log"}})
	if p.toggle(false); !p.open || !p.focused {
		t.Error("not opened")
	}
	p.table.Key(frametest.Keys("home")[0].(tea.KeyPressMsg))
	for range p.rows {
		if log, ok := p.choose(); log != "" && ok {
			break
		}
		p.table.Move(1)
	}
	if p.open || p.focused || p.table.Cursor >= len(p.rows) {
		t.Errorf("still open after the choice of row %d", p.table.Cursor)
	}
	p.toggle(true)
	if p.toggle(true); p.open || p.focused {
		t.Error("steps that are in view anyway are opened")
	}
}
