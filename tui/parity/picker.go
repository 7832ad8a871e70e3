package parity

import (
	"math"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// pickerHeadHeight is the number of lines above the list of runs.
const pickerHeadHeight = 3

func pickerColumns() []ui.Column {
	out := []ui.Column{
		{Title: "RUN", Min: 20, Flex: true},
		{Title: "STATE", Min: 11},
		{Title: "USERS", Right: true},
	}
	for _, m := range results.RunsColumnMetrics {
		title := m.Runs.Title
		if m.Runs.Unit != "" {
			title += " (" + m.Runs.Unit + ")"
		}
		out = append(out, ui.Column{Title: title, Right: true, Drop: min(m.Runs.Drop, 1)})
	}
	return append(out, ui.Column{Title: "AGE", Right: true, Drop: 2}, ui.Column{Title: "SOURCE", Drop: 3})
}

// comparableRuns returns the runs that have figures, except the ones already chosen.
func comparableRuns(runs []engine.Summary, chosen ...string) []engine.Summary {
	var out []engine.Summary
	for _, r := range runs {
		available := !slices.Contains(chosen, r.Dir) && (r.ID == "" || !slices.Contains(chosen, r.ID))
		if available && !math.IsNaN(r.Figures.Get(results.Primary).Value) {
			out = append(out, r)
		}
	}
	return out
}

func (s *Screen) fillPicker(runs []engine.Summary) {
	s.runs = comparableRuns(runs, append([]string{s.ref, s.cand}, s.refs...)...)
	rows := make([][]ui.Cell, 0, len(s.runs))
	for _, r := range s.runs {
		name := r.Name
		if r.ID != "" {
			name += "_" + r.ID
		}
		mark, role := ui.StateMark(string(r.State))
		state := ui.Cell{Text: mark + " " + ui.StateText(string(r.State)), Role: role}
		row := []ui.Cell{{Text: name}, state, {Text: recipes.JoinInts(r.Levels)}}
		for _, m := range results.RunsColumnMetrics {
			f := r.Figures.Get(m.Key)
			row = append(row, ui.Cell{Text: f.Marked(m.NumberText(f.Value))})
		}
		age := ui.Cell{Text: ui.Age(s.listedAt.Sub(r.Since)), Role: ui.Muted}
		rows = append(rows, append(row, age, ui.Cell{Text: r.Source, Role: ui.Muted}))
	}
	s.picker.SetRows(rows)
}

func (s *Screen) handlePickerKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, chooseKey):
		if s.picker.Cursor >= len(s.runs) {
			return nil
		}
		dir := s.runs[s.picker.Cursor].Dir
		switch {
		case s.addingReference:
			s.addingReference, s.refs = false, append(s.refs, dir)
		case s.ref == "":
			s.ref = dir
		default:
			s.cand = dir
		}
		if s.picking() {
			s.fillPicker(s.runs)
			return nil
		}
		return s.compare()
	case key.Matches(msg, refreshListKey):
		return s.listRuns()
	}
	s.picker.Key(msg)
	return nil
}

func (s *Screen) viewPicker() string {
	hint := "then choose the candidate"
	switch {
	case s.addingReference:
		hint = "the band is the 95 % prediction interval from all references: " + ui.Clean(s.ref)
	case s.ref != "":
		hint = "reference  " + ui.Clean(s.ref)
	case s.cand != "":
		hint = "candidate  " + ui.Clean(s.cand)
	}
	head := " Choose " + s.wantedSide() + "\n " + s.th.Paint(ui.Muted, hint) + "\n" + s.th.RuleLine(s.w) + "\n"
	switch {
	case s.listedAt.IsZero():
		return head + s.th.Paint(ui.Muted, " loading the list of runs …")
	case len(s.runs) == 0:
		text := "no other runs with figures; agentperf-tui parity REF CAND also accepts directories and files"
		if s.listErr != nil {
			text = ui.OneLine(s.listErr)
		}
		return head + " " + strings.Join(ui.Wrap(text, s.w-2), "\n ")
	}
	return head + s.picker.Draw(s.th)
}
