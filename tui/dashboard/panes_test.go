package dashboard

import (
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/testdata/frametest"

	tea "charm.land/bubbletea/v2"
)

// This file tests panes without the screen.

func TestRunView(t *testing.T) {
	t.Parallel()
	r := &runView{name: "592210", zone: time.UTC, phase: -1}
	if r.label() != "592210" || r.State().Text != "loading" || r.cancelUnavailable() != "not loaded" ||
		r.compareUnavailable() == "" {
		t.Errorf("before the run is found: %s, %v", r.label(), r.State())
	}
	u := measuringUpdate()
	r.latest = &u
	r.show(&u)
	if p, ok := r.current(); !ok || p.index != 1 || r.beforeFirstPhase() {
		t.Fatalf("phase %v is shown", p.index)
	}
	if r.changePhase(1); r.phase != 0 {
		t.Errorf("changed to phase %d", r.phase)
	}
	if p, _ := r.current(); r.recent(p) != nil {
		t.Error("recent figures of a phase that has ended")
	}
	if r.changePhase(-1); r.phase != -1 {
		t.Errorf("phase is %d, want -1 to follow the newest", r.phase)
	}
}

func TestStepsPane(t *testing.T) {
	t.Parallel()
	var p stepsPane
	if _, ok := p.selectLog(); ok {
		t.Error("selected a step without steps")
	}
	u := measuringUpdate()
	p.table.Columns = stepColumns()
	p.setRows(&u, []engine.LogFile{{Step: "client", Path: "/client.log"}, {Step: u.Status.Steps[0].Name, Path: "/0.log"}})
	if p.toggle(false); !p.open || !p.focused {
		t.Error("not opened")
	}
	p.table.Key(frametest.Keys("home")[0].(tea.KeyPressMsg))
	for range p.rows {
		if log, ok := p.selectLog(); log != "" && ok {
			break
		}
		p.table.Move(1)
	}
	if p.open || p.focused || p.table.Cursor >= len(p.rows) {
		t.Errorf("steps are open after selecting row %d", p.table.Cursor)
	}
	p.toggle(true)
	if p.toggle(true); p.open || p.focused {
		t.Error("toggle opened steps that are always visible")
	}
}
