// Package runs is the first screen: which runs there are, what each is doing, and
// what went wrong. It lists what the engine knows and opens the other screens.
package runs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Engine is what this screen needs.
type Engine interface {
	Runs(ctx context.Context, roots []string) ([]engine.Summary, error)
	Cancel(ctx context.Context, l engine.RunRef) error
}

// settledEvery is how many ticks pass between two looks when nothing runs.
const settledEvery = 6

// Screen is the list of runs.
type Screen struct {
	eng    Engine
	roots  []string
	th     ui.Theme
	ctx    context.Context
	cancel context.CancelFunc

	all     []engine.Summary
	shown   []engine.Summary // after the filter
	table   ui.Table
	w, h    int
	now     time.Time
	loaded  time.Time // zero: not yet
	loading bool
	ticks   int // since the last look
	err     error

	typing typing
	filter ui.Input
	recipe ui.Input // path being typed
	marked string   // folder of the run to compare with
}

// typing is what keys are text for.
type typing int

const (
	typingNothing typing = iota
	typingFilter
	typingRecipe
)

// New makes the screen; roots are folders in which runs of other tools are looked for.
func New(eng Engine, th ui.Theme, roots []string) *Screen {
	ctx, cancel := context.WithCancel(context.Background())
	return &Screen{eng: eng, roots: roots, th: th, ctx: ctx, cancel: cancel, table: ui.Table{Columns: columns()}}
}

// Name is the screen's breadcrumb.
func (s *Screen) Name() string { return "runs" }

// State says how many runs are at work, and how old the list is.
func (s *Screen) State() ui.State {
	switch {
	case s.err != nil && len(s.all) == 0:
		return ui.State{Text: "not read", Role: ui.Bad}
	case s.loaded.IsZero():
		return ui.State{Text: "reading…", Role: ui.Muted}
	}
	n := running(s.all)
	st := ui.State{Text: fmt.Sprintf("%d runs", len(s.all)), Role: ui.Muted, Age: "files " + ui.Age(s.now.Sub(s.loaded))}
	if n > 0 {
		st.Text, st.Role = fmt.Sprintf("%d running", n), ui.OK
	}
	return st
}

// Init reads the list.
func (s *Screen) Init() tea.Cmd { return s.load() }

type loadedMsg struct {
	runs []engine.Summary
	at   time.Time
	err  error
}

func (s *Screen) load() tea.Cmd {
	if s.loading {
		return nil
	}
	s.loading, s.ticks = true, 0
	ctx, eng, roots := s.ctx, s.eng, s.roots
	return func() tea.Msg {
		runs, err := eng.Runs(ctx, roots)
		return loadedMsg{runs, time.Now(), err}
	}
}

type cancelledMsg struct {
	name string
	err  error
}

func (s *Screen) cancelRun(l engine.RunRef) tea.Cmd {
	ctx, eng := s.ctx, s.eng
	return func() tea.Msg {
		ctx, done := context.WithTimeout(ctx, 2*time.Minute)
		defer done()
		return cancelledMsg{l.Label(), eng.Cancel(ctx, l)}
	}
}

// Update takes a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case loadedMsg:
		return s.take(msg)
	case cancelledMsg:
		if msg.err != nil {
			return ui.Fail(msg.err)
		}
		return tea.Batch(s.load(), ui.Do(ui.Toast{Text: msg.name + " was cancelled", Role: ui.OK}))
	case ui.Tick:
		s.now = msg.Now
		s.ticks++
		if running(s.all) > 0 || s.ticks >= settledEvery {
			return s.load()
		}
	case ui.Resumed:
		return s.load()
	case ui.ThemeChanged:
		s.th = msg.Theme
	case ui.Mouse:
		return s.mouse(msg)
	case ui.Answer:
		if run, ok := s.selected(); ok && msg.Yes && msg.ID == "cancel "+run.Dir {
			return s.cancelRun(run.Ref)
		}
	case tea.PasteMsg:
		switch s.typing {
		case typingFilter:
			s.filter.Insert(msg.Content)
			s.show()
		case typingRecipe:
			s.recipe.Insert(msg.Content)
		}
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	return nil
}

func (s *Screen) take(msg loadedMsg) tea.Cmd {
	s.loading, s.loaded = false, msg.at
	if msg.at.After(s.now) {
		s.now = msg.at
	}
	first := s.err == nil
	s.err = msg.err
	if msg.runs != nil || msg.err == nil {
		s.all = msg.runs
	}
	s.show()
	if msg.err != nil && first { // told once, not at each look
		return ui.Fail(msg.err)
	}
	return nil
}

// show applies the filter; the cursor stays on its run.
func (s *Screen) show() {
	at := ""
	if run, ok := s.selected(); ok {
		at = run.Dir
	}
	s.shown = s.shown[:0:0]
	var rows [][]ui.Cell
	for _, r := range s.all {
		if matches(r, s.filter.Value()) {
			s.shown = append(s.shown, r)
			rows = append(rows, row(r, s.now, r.Dir == s.marked))
		}
	}
	for i, r := range s.shown {
		if r.Dir == at {
			s.table.Cursor = i
		}
	}
	s.table.SetRows(rows)
}

func (s *Screen) selected() (engine.Summary, bool) {
	if s.table.Cursor < len(s.shown) {
		return s.shown[s.table.Cursor], true
	}
	return engine.Summary{}, false
}

func (s *Screen) mouse(m ui.Mouse) tea.Cmd {
	if m.Wheel != 0 {
		s.table.Move(m.Wheel)
		return nil
	}
	if i, ok := s.table.At(m.Y); ok {
		if i == s.table.Cursor {
			return s.open()
		}
		s.table.Move(i - s.table.Cursor)
	}
	return nil
}

func (s *Screen) open() tea.Cmd {
	if run, ok := s.selected(); ok {
		return ui.Do(ui.OpenRun{Run: run.Dir})
	}
	return nil
}

// SetSize lays the screen out: the table, and below it the selected run in four
// lines, which go first where there is little room.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.table.SetSize(w, max(h-s.detailRows(), 1))
}

func (s *Screen) detailRows() int {
	if s.h < 10 {
		return 1 // the filter line
	}
	return 5
}

// View draws the screen.
func (s *Screen) View() string {
	if len(s.shown) == 0 {
		return s.empty()
	}
	lines := []string{s.table.Draw(s.th)}
	if s.detailRows() > 1 {
		lines = append(lines, s.th.Line(s.w), s.detail())
	}
	lines = append(lines, s.filterLine())
	return strings.Join(lines, "\n")
}

// typedLine is a text being typed, with what its keys do where there is room.
func (s *Screen) typedLine(label string, in *ui.Input, hint string) string {
	room := max(s.w-ui.Width(label), 1)
	if w := ui.Width(in.Value()) + 1; w+ui.Width(hint) <= room {
		return s.th.Paint(ui.Accent, label) + in.Draw(s.th, w, true) + s.th.Paint(ui.Muted, hint)
	}
	return s.th.Paint(ui.Accent, label) + in.Draw(s.th, room, true)
}

func (s *Screen) filterLine() string {
	switch {
	case s.typing == typingRecipe:
		return s.typedLine("  recipe ", &s.recipe, "   enter opens it, esc gives up")
	case s.typing == typingFilter:
		return s.typedLine("  / ", &s.filter, "   enter keeps it, esc clears it")
	case s.filter.Value() != "":
		return s.place(s.th.Paint(ui.Muted, fmt.Sprintf("  filter %q: %d of %d runs", s.filter.Value(), len(s.shown), len(s.all))))
	case s.marked != "":
		return s.place(s.th.Paint(ui.Accent, "  ◆ is compared with the one you choose now: c, or esc to give up"))
	}
	return s.place("")
}

// place ends a line with where the cursor is in the list.
func (s *Screen) place(line string) string {
	if len(s.shown) <= s.table.Page() {
		return line
	}
	return ui.Ends(line, s.th.Paint(ui.Muted, fmt.Sprintf("%d of %d ", s.table.Cursor+1, len(s.shown))), s.w)
}

func (s *Screen) empty() string {
	if s.filter.Value() != "" || s.typing != typingNothing {
		return "\n  no run matches\n\n" + s.filterLine()
	}
	if s.loaded.IsZero() {
		return "\n" + s.th.Paint(ui.Muted, "  reading the list of runs…")
	}
	k := func(name, text string) string { return "    " + s.th.Key.Render(ui.Fit(name, 4)) + text + "\n" }
	return "\n  " + s.th.Title.Render("No runs yet.") + "\n\n  Start with one of these:\n\n" +
		k("p", "port an old harness run directory to a recipe") +
		k("n", "open a recipe and submit it") + "\n" +
		s.th.Paint(ui.Muted, "  Runs that were submitted from here are listed, and those below the folders that the\n  program was started with: agentperf-tui --root DIR")
}

// Typing says whether keys are text.
func (s *Screen) Typing() bool { return s.typing != typingNothing }

// Keys are the bindings.
func (s *Screen) Keys() []key.Binding { return s.bindings() }

// Close ends the screen's work.
func (s *Screen) Close() { s.cancel() }
