// Package parity is the screen that compares two runs. The engine compares them; the
// screen shows the result and lists runs to choose from.
package parity

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Screen is a comparison, or the list to choose its sides from.
type Screen struct {
	eng       Engine
	th        ui.Theme
	ref, cand string
	refs      []string        // other references, for the band
	roots     []string        // directories with external runs
	ctx       context.Context // ends when the screen closes
	cancel    context.CancelFunc
	w, h      int
	layout    layout

	c             *engine.Comparison
	rows          []tableRow
	table         ui.Table
	view          view
	fields        ui.Table
	turns         ui.Table
	curve         *curve   // nil: not loaded
	levelList     ui.Table // its cursor is the first visible line of the list of levels
	phase         int
	force         bool
	lowerPane     lowerPane
	gen           int
	comparing     bool
	cancelCompare context.CancelFunc
	err           error

	addingReference bool             // another reference is being chosen
	runs            []engine.Summary // to choose from
	listedAt        time.Time        // zero: not loaded
	listing         bool
	listErr         error
	picker          ui.Table
}

// New returns a comparison of two runs or files. An empty side is chosen from the
// recorded runs and the external runs below roots.
func New(eng Engine, th ui.Theme, ref, cand string, roots ...string) *Screen {
	s := &Screen{eng: eng, th: th, ref: ref, cand: cand, roots: roots, phase: engine.AnyPhase}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.table.Columns, s.picker.Columns = columns(1), pickerColumns()
	s.fields.Columns, s.turns.Columns = fieldColumns(), turnColumns()
	return s
}

// Name returns the screen's breadcrumb.
func (s *Screen) Name() string { return "parity" }

// State returns the verdict, or the step before it.
func (s *Screen) State() ui.State {
	switch {
	case s.picking():
		return ui.State{Text: "choose " + s.wantedSide(), Role: ui.Accent}
	case s.err != nil:
		return ui.State{Text: "✗ comparison failed", Role: ui.Bad}
	case s.c == nil:
		return ui.State{Text: "loading both sides", Role: ui.Muted}
	}
	return verdict(*s.c)
}

// picking reports whether a side is being chosen.
func (s *Screen) picking() bool { return s.ref == "" || s.cand == "" || s.addingReference }

// wantedSide returns the side to choose next.
func (s *Screen) wantedSide() string {
	switch {
	case s.addingReference:
		return "another reference"
	case s.ref == "":
		return "the reference"
	}
	return "the candidate"
}

// Init starts the comparison, or lists the runs to choose from.
func (s *Screen) Init() tea.Cmd {
	if s.picking() {
		return s.listRuns()
	}
	return s.compare()
}

func (s *Screen) listRuns() tea.Cmd {
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

// Close cancels the running commands.
func (s *Screen) Close() { s.cancel() }

// Typing returns false: the screen has no text fields.
func (s *Screen) Typing() bool { return false }

// SetSize sets the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.arrange()
}

func (s *Screen) arrange() {
	s.picker.SetSize(s.w, max(s.h-pickerHeadHeight, 0))
	if s.c == nil {
		return
	}
	w := max(s.w-2, 1)
	s.layout = arrangeLayout(s.w, s.h, len(s.table.Rows), len(s.viewNotes(w)), len(s.viewSides(w)), s.lowerPane)
	s.rows = tableRows(*s.c, s.layout.gaugeHalf)
	rows := make([][]ui.Cell, 0, len(s.rows))
	for _, l := range s.rows {
		rows = append(rows, l.cells)
	}
	s.table.SetRows(rows)
	s.table.SetSize(s.layout.tableW, s.layout.tableH)
	for _, t := range []*ui.Table{&s.fields, &s.turns} {
		t.SetSize(s.w, max(s.h-headHeight-1-titleHeight, 0))
	}
	s.levelList.Rows = nil
	if s.curve != nil {
		s.levelList.Rows = make([][]ui.Cell, max(len(levelLines(s.th, s.curve, s.w))-minLevelLines, 0)+1)
	}
	s.levelList.SetSize(s.w, minLevelLines+1)
}

// Update handles a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	s.arrange()
	return cmd
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case comparedMsg:
		return s.handleCompared(msg)
	case levelsMsg:
		if msg.gen == s.gen {
			s.curve = &msg.curve
		}
	case runsListedMsg:
		s.listing, s.listedAt, s.listErr = false, msg.at, msg.err
		s.fillPicker(msg.runs)
		if msg.err != nil && len(s.runs) > 0 {
			return ui.Send(ui.Toast{Text: "some runs could not be read: " + ui.OneLine(msg.err), Role: ui.Warn})
		}
	case ui.ThemeChanged:
		s.th = msg.Theme
	case ui.Mouse:
		return s.handleMouse(msg)
	case tea.KeyPressMsg:
		if s.picking() {
			return s.handlePickerKey(msg)
		}
		return s.handleKey(msg)
	}
	return nil
}

func (s *Screen) handleCompared(m comparedMsg) tea.Cmd {
	if m.gen != s.gen {
		return nil
	}
	s.comparing = false
	if m.err != nil {
		if s.c != nil { // keep the comparison: the other phase may not exist
			s.phase = s.c.Candidate.Phase
			return ui.ShowError(m.err)
		}
		s.err = m.err
		return nil
	}
	s.c, s.err, s.phase = &m.c, nil, m.phase
	s.fields.SetRows(fieldRows(m.c))
	s.turns.SetRows(turnRows(m.c.Paired))
	s.rows, s.table.Columns = tableRows(m.c, 0), columns(m.c.References)
	s.table.SetRows(make([][]ui.Cell, len(s.rows))) // filled by arrange
	return nil
}

func (s *Screen) handleMouse(m ui.Mouse) tea.Cmd {
	t, y := s.activeTable(), m.Y-s.layout.tableY
	switch {
	case s.picking():
		t, y = &s.picker, m.Y-pickerHeadHeight
	case s.view != figuresView:
		y = m.Y - headHeight - 1 - titleHeight
	}
	if m.Wheel != 0 {
		t.Move(m.Wheel)
	} else if i, ok := t.RowAt(y); ok {
		t.Move(i - t.Cursor)
	}
	return nil
}

// Leave closes a view or the list of references, or else the screen.
func (s *Screen) Leave() tea.Cmd {
	switch {
	case s.addingReference:
		s.addingReference = false
	case s.view != figuresView && !s.picking():
		s.view = figuresView
	default:
		return ui.Send(ui.Back{})
	}
	return nil
}
