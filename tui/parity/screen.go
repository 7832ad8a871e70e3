// Package parity is the screen that compares two runs: are they the same, and if
// not, where. The engine compares; this shows it, and helps to choose the two.
package parity

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Screen is one comparison, or the choice of its sides.
type Screen struct {
	eng       Engine
	th        ui.Theme
	ref, cand string
	refs      []string        // further runs of the reference's configuration
	roots     []string        // where other tools' folders are looked for
	ctx       context.Context // ends with the screen, for all of its commands
	cancel    context.CancelFunc
	w, h      int
	lay       layout

	c         *engine.Comparison
	lines     []line
	table     ui.Table
	view      view
	fields    ui.Table
	turns     ui.Table
	curve     *curve   // nil until it is asked for
	levelList ui.Table // its cursor is the first line of the list of levels that is shown
	phase     int
	force     bool
	lower     lower
	gen       int
	busy      bool
	giveUp    context.CancelFunc
	err       error

	adding  bool             // a further reference is chosen
	runs    []engine.Summary // to choose from
	listed  time.Time        // zero: not yet
	listing bool
	listErr error
	picker  ui.Table
}

// New makes the comparison of two runs or files. An empty side is asked for: from
// the runs known here and those in other tools' folders below the roots.
func New(eng Engine, th ui.Theme, ref, cand string, roots ...string) *Screen {
	s := &Screen{eng: eng, th: th, ref: ref, cand: cand, roots: roots, phase: engine.AnyPhase}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.table.Columns, s.picker.Columns = columns(), pickerColumns()
	s.fields.Columns, s.turns.Columns = fieldColumns(), turnColumns()
	return s
}

// Name is the screen's breadcrumb.
func (s *Screen) Name() string { return "parity" }

// State is the verdict, or what is missing for one.
func (s *Screen) State() ui.State {
	switch {
	case s.picking():
		return ui.State{Text: "choose the " + s.wanted(), Role: ui.Accent}
	case s.err != nil:
		return ui.State{Text: "✗ no comparison", Role: ui.Bad}
	case s.c == nil:
		return ui.State{Text: "reading both sides", Role: ui.Muted}
	}
	return verdict(*s.c)
}

// picking says that a side is still to be chosen.
func (s *Screen) picking() bool { return s.ref == "" || s.cand == "" || s.adding }

// wanted is the side that is to be chosen next.
func (s *Screen) wanted() string {
	switch {
	case s.adding:
		return "further reference"
	case s.ref == "":
		return "reference"
	}
	return "candidate"
}

// Init starts the comparison, or lists what to choose from.
func (s *Screen) Init() tea.Cmd {
	if s.picking() {
		return s.list()
	}
	return s.compare()
}

func (s *Screen) list() tea.Cmd {
	if s.listing {
		return nil
	}
	s.listing = true
	ctx, eng, roots := s.ctx, s.eng, s.roots
	return func() tea.Msg {
		runs, err := eng.Runs(ctx, roots)
		return runsListedMsg{runs, time.Now(), err}
	}
}

// Close gives up what is under way.
func (s *Screen) Close() { s.cancel() }

// Typing is never the case here.
func (s *Screen) Typing() bool { return false }

// SetSize sets the body's size.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.arrange()
}

func (s *Screen) arrange() {
	s.picker.SetSize(s.w, max(s.h-pickerHead, 0))
	if s.c == nil {
		return
	}
	w := max(s.w-2, 1)
	s.lay = arrange(s.w, s.h, len(s.table.Rows), len(s.viewNotes(w)), len(s.viewSides(w)), s.lower)
	s.lines = linesOf(*s.c, s.lay.gauge)
	rows := make([][]ui.Cell, 0, len(s.lines))
	for _, l := range s.lines {
		rows = append(rows, l.cells)
	}
	s.table.SetRows(rows)
	s.table.SetSize(s.lay.tableW, s.lay.table)
	for _, t := range []*ui.Table{&s.fields, &s.turns} {
		t.SetSize(s.w, max(s.h-headLines-1-titleLines, 0))
	}
	s.levelList.Rows = nil
	if s.curve != nil {
		s.levelList.Rows = make([][]ui.Cell, max(len(levelLines(s.th, s.curve, s.w))-leastLevels, 0)+1)
	}
	s.levelList.SetSize(s.w, leastLevels+1)
}

// Update takes a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	s.arrange()
	return cmd
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case comparedMsg:
		return s.onCompared(msg)
	case levelsMsg:
		if msg.gen == s.gen {
			s.curve = &msg.curve
		}
	case runsListedMsg:
		s.listing, s.listed, s.listErr = false, msg.at, msg.err
		s.fillPicker(msg.runs)
		if msg.err != nil && len(s.runs) > 0 {
			return ui.Send(ui.Toast{Text: "not all runs could be read: " + ui.OneLine(msg.err), Role: ui.Warn})
		}
	case ui.ThemeChanged:
		s.th = msg.Theme
	case ui.Mouse:
		return s.mouse(msg)
	case tea.KeyPressMsg:
		if s.picking() {
			return s.pickerKey(msg)
		}
		return s.key(msg)
	}
	return nil
}

func (s *Screen) onCompared(m comparedMsg) tea.Cmd {
	if m.gen != s.gen {
		return nil
	}
	s.busy = false
	if m.err != nil {
		if s.c != nil { // what stands stays: another phase may not exist
			s.phase = s.c.Candidate.Phase
			return ui.ShowError(m.err)
		}
		s.err = m.err
		return nil
	}
	s.c, s.err, s.phase = &m.c, nil, m.phase
	s.fields.SetRows(fieldRows(m.c))
	s.turns.SetRows(turnRows(m.c.Paired))
	s.lines = linesOf(m.c, 0)
	s.table.SetRows(make([][]ui.Cell, len(s.lines))) // arrange fills them
	return nil
}

func (s *Screen) mouse(m ui.Mouse) tea.Cmd {
	t, y := s.more(), m.Y-s.lay.tableY
	switch {
	case s.picking():
		t, y = &s.picker, m.Y-pickerHead
	case s.view != viewFigures:
		y = m.Y - headLines - 1 - titleLines
	}
	if m.Wheel != 0 {
		t.Move(m.Wheel)
	} else if i, ok := t.RowAt(y); ok {
		t.Move(i - t.Cursor)
	}
	return nil
}

// Leave leaves a view or the choice of a reference before the screen.
func (s *Screen) Leave() tea.Cmd {
	switch {
	case s.adding:
		s.adding = false
	case s.view != viewFigures && !s.picking():
		s.view = viewFigures
	default:
		return ui.Send(ui.Back{})
	}
	return nil
}
