// Package runs is the first screen: the list of runs with their states. It opens the
// other screens.
package runs

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// idleTicks is the number of ticks between two refreshes while no run can be cancelled.
const idleTicks = 6

// Screen shows the list of runs.
type Screen struct {
	eng    Engine
	roots  []string
	th     ui.Theme
	ctx    context.Context
	cancel context.CancelFunc
	w, h   int

	list    list
	now     time.Time
	loaded  time.Time // zero before the first load
	loading bool
	ticks   int // since the last load
	err     error

	typing typing
	recipe ui.Input // path of a recipe, being typed
}

// typing is the text field that gets the keys.
type typing int

const (
	typingNothing typing = iota
	typingFilter
	typingRecipe
)

// New returns the screen. Roots are directories that are searched for external runs.
func New(eng Engine, th ui.Theme, roots []string) *Screen {
	ctx, cancel := context.WithCancel(context.Background())
	runs := list{table: ui.Table{Columns: columns()}}
	return &Screen{eng: eng, roots: roots, th: th, ctx: ctx, cancel: cancel, list: runs}
}

// Name returns the screen's breadcrumb.
func (s *Screen) Name() string { return "runs" }

// State returns the number of runs that have not ended, and the age of the list.
func (s *Screen) State() ui.State {
	switch {
	case s.err != nil && len(s.list.all) == 0:
		return ui.State{Text: "not loaded", Role: ui.Bad}
	case s.loaded.IsZero():
		return ui.State{Text: "loading…", Role: ui.Muted}
	}
	age := "updated " + ago(s.now.Sub(s.loaded))
	if n := countCancellable(s.list.all); n > 0 {
		return ui.State{Text: fmt.Sprintf("%d active", n), Role: ui.OK, Age: age}
	}
	return ui.State{Text: fmt.Sprintf("%d runs", len(s.list.all)), Role: ui.Muted, Age: age}
}

// Init starts to load the list.
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

func cancelRun(ctx context.Context, eng Engine, ref engine.RunRef) tea.Cmd {
	return func() tea.Msg {
		ctx, done := context.WithTimeout(ctx, 2*time.Minute)
		defer done()
		return cancelledMsg{ref.Label(), eng.Cancel(ctx, ref)}
	}
}

// Update handles a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case loadedMsg:
		return s.handleLoaded(msg)
	case cancelledMsg:
		if msg.err != nil {
			return ui.ShowError(msg.err)
		}
		return tea.Batch(s.load(), ui.Send(ui.Toast{Text: msg.name + " was cancelled", Role: ui.OK}))
	case ui.Tick:
		s.now = msg.Now
		s.ticks++
		if countCancellable(s.list.all) > 0 || s.ticks >= idleTicks {
			return s.load()
		}
	case ui.Resumed:
		return s.load()
	case ui.ThemeChanged:
		s.th = msg.Theme
	case ui.Mouse:
		return s.handleMouse(msg)
	case ui.Answer:
		if run, ok := s.list.selected(); ok && msg.Yes && msg.ID == "cancel "+run.Dir {
			return cancelRun(s.ctx, s.eng, run.Ref)
		}
	case tea.PasteMsg:
		switch s.typing {
		case typingFilter:
			s.list.filter.Insert(msg.Content)
			s.list.applyFilter(s.now)
		case typingRecipe:
			s.recipe.Insert(msg.Content)
		}
	case tea.KeyPressMsg:
		return s.handleKey(msg)
	}
	return nil
}

func (s *Screen) handleLoaded(msg loadedMsg) tea.Cmd {
	s.loading, s.loaded = false, msg.at
	if msg.at.After(s.now) {
		s.now = msg.at
	}
	firstFailure := s.err == nil
	s.err = msg.err
	if msg.runs != nil || msg.err == nil {
		s.list.all = msg.runs
	}
	s.list.applyFilter(s.now)
	if msg.err != nil && firstFailure { // shown once, not at each load
		return ui.ShowError(msg.err)
	}
	return nil
}

func (s *Screen) handleMouse(m ui.Mouse) tea.Cmd {
	table := &s.list.table
	if m.Wheel != 0 {
		table.Move(m.Wheel)
		return nil
	}
	i, ok := table.RowAt(m.Y)
	if ok && i == table.Cursor {
		return s.open()
	}
	if ok {
		table.Move(i - table.Cursor)
	}
	return nil
}

func (s *Screen) open() tea.Cmd {
	if run, ok := s.list.selected(); ok {
		return ui.Send(ui.OpenRun{Run: run.Dir})
	}
	return nil
}

// SetSize sets the size of the body: the table, and below it the details of the selected
// run if there is room.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.list.table.SetSize(w, max(h-s.detailRows(), 1))
}

func (s *Screen) detailRows() int {
	if s.h < 10 {
		return 1 // the filter line
	}
	return 5
}

// View draws the screen.
func (s *Screen) View() string {
	if len(s.list.shown) == 0 {
		return s.empty()
	}
	lines := []string{s.list.table.Draw(s.th)}
	if s.detailRows() > 1 {
		lines = append(lines, s.th.RuleLine(s.w), s.list.detail(s.th, s.w, s.now))
	}
	lines = append(lines, s.lastLine())
	return strings.Join(lines, "\n")
}

// typedLine draws a text field with a hint about its keys, if there is room.
func (s *Screen) typedLine(label string, in *ui.Input, hint string) string {
	room := max(s.w-ui.Width(label), 1)
	if w := ui.Width(in.Value()) + 1; w+ui.Width(hint) <= room {
		return s.th.Paint(ui.Accent, label) + in.Draw(s.th, w, true) + s.th.Paint(ui.Muted, hint)
	}
	return s.th.Paint(ui.Accent, label) + in.Draw(s.th, room, true)
}

// lastLine returns the text field in use, or the last line of the list.
func (s *Screen) lastLine() string {
	switch s.typing {
	case typingRecipe:
		return s.typedLine("  recipe ", &s.recipe, "   enter opens, esc cancels")
	case typingFilter:
		return s.typedLine("  / ", &s.list.filter, "   enter keeps, esc clears")
	}
	return s.list.lastLine(s.th, s.w)
}

func (s *Screen) empty() string {
	if s.list.filter.Value() != "" || s.typing != typingNothing {
		return "\n  no runs match\n\n" + s.lastLine()
	}
	if s.loaded.IsZero() {
		return "\n" + s.th.Paint(ui.Muted, "  loading the list of runs…")
	}
	k := func(name, text string) string { return "    " + s.th.Paint(ui.Accent, ui.Fit(name, 4)) + text + "\n" }
	return "\n  " + s.th.Title.Render("No runs yet.") + "\n\n  Start with one of these:\n\n" +
		k("p", "port an old harness run directory to a recipe") +
		k("n", "open a recipe and submit it") + "\n" +
		s.th.Paint(ui.Muted, "  Submitted runs are listed here, and external runs below the directories\n"+
			"  that are passed with --root.")
}

// Typing reports whether keys are text.
func (s *Screen) Typing() bool { return s.typing != typingNothing }

// Close cancels the screen's requests.
func (s *Screen) Close() { s.cancel() }
