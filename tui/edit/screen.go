package edit

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// The two texts.
const (
	recipe = iota
	workload
)

// focus is what keys are for.
type focus int

const (
	onText     focus = iota
	onProblems       // the list; keys are no text
	onFixes          // one of the fixes of the timeout rule is being chosen
)

// side is one of the two texts.
type side struct {
	path   string // as given, a recipe's selector included; empty: there is none
	file   string // that is read and written
	text   ui.Editor
	disk   string // as it is on disk, as far as known
	loaded bool
	err    error // why it could not be read
	saving bool
	// unsaved: the text is not what is on disk.
	unsaved bool
}

func (f *side) name() string { return filepath.Base(f.path) }

func (f *side) compare() { f.unsaved = f.loaded && f.text.Text() != f.disk }

// Screen is the editor.
type Screen struct {
	eng    Engine
	th     ui.Theme
	ctx    context.Context
	cancel context.CancelFunc
	w, h   int
	boxes  boxes

	sides  [2]side
	active int
	focus  focus
	submit bool // once everything is saved
	again  bool // save once more when the save under way has ended

	bar      bar
	problems []problem
	todos    int              // placeholders among them, which need a value before a submit
	tables   [3]*schema.Table // the workload's, and the recipe's by layout
	layout   int              // of the recipe, as last read
	checked  bool             // the list is of the texts as they stand
	checkErr error            // the check itself failed
	cursor   int              // in problems
	fix      int              // in the fixes

	barAt, checkAt     versions // of the texts that the latest answer is about
	barBusy, checkBusy bool
}

// New makes the editor of a recipe and its workload; without a workload the one
// that the recipe names is looked for.
func New(eng Engine, th ui.Theme, recipePath, workloadPath string) *Screen {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Screen{eng: eng, th: th, ctx: ctx, cancel: cancel, layout: 2}
	s.tables = [3]*schema.Table{schema.Workload(), schema.Recipe(1), schema.Recipe(2)}
	s.sides[recipe].path, s.sides[workload].path = recipePath, workloadPath
	for i := range s.sides {
		s.sides[i].text.SetText("")
	}
	if workloadPath != "" {
		s.active = workload // what is tuned is there
	}
	return s
}

// Name is the screen's breadcrumb.
func (s *Screen) Name() string { return "edit" }

// Init reads both files.
func (s *Screen) Init() tea.Cmd { return tea.Batch(s.read(recipe), s.read(workload)) }

// Close ends the screen's work.
func (s *Screen) Close() { s.cancel() }

// Typing says whether keys are text now.
func (s *Screen) Typing() bool {
	return s.focus == onText && s.sides[s.active].loaded || s.focus == onFixes
}

// State counts the problems, and says what is not saved.
func (s *Screen) State() ui.State {
	st := ui.State{Age: "saved"}
	var open []string
	for i := range s.sides {
		if s.sides[i].unsaved {
			open = append(open, s.sides[i].name())
		}
	}
	if len(open) > 0 {
		st.Age = "not saved: " + strings.Join(open, ", ")
	}
	switch errors, warnings := count(s.problems); {
	case s.sides[recipe].err != nil:
		return ui.State{Text: "not read", Role: ui.Bad}
	case s.checkErr != nil:
		st.Text, st.Role = "not checked", ui.Bad
	case s.checkAt == versions{}:
		return ui.State{Text: "checking…", Role: ui.Muted}
	case errors > 0:
		st.Text, st.Role = plural(errors, "error"), ui.Bad
		if warnings > 0 {
			st.Text += " " + plural(warnings, "warning")
		}
	case warnings > 0:
		st.Text, st.Role = plural(warnings, "warning"), ui.Warn
	default:
		st.Text, st.Role = "no problems", ui.OK
	}
	return st
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// SetSize gives the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.arrange()
}

func (s *Screen) arrange() {
	s.boxes = layout(s.w, s.h, s.sides[workload].path != "")
	for i := range s.sides {
		s.sides[i].text.SetSize(s.boxes.text[i].w, s.boxes.text[i].h)
	}
}

// lineEnds makes line feeds of the line ends of a paste: terminals send carriage
// returns.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Update takes a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case readMsg:
		return s.takeRead(msg)
	case barMsg:
		return s.takeBar(msg)
	case checkMsg:
		return s.takeCheck(msg)
	case savedMsg:
		return s.takeSaved(msg)
	case tea.KeyPressMsg:
		return s.key(msg)
	case tea.PasteMsg:
		if f := &s.sides[s.active]; s.focus == onText && f.loaded {
			f.text.Insert(lineEnds.Replace(msg.Content))
			return s.changed()
		}
	case ui.Answer:
		return s.answer(msg)
	case ui.Mouse:
		s.mouse(msg)
	case ui.ThemeChanged:
		s.th = msg.Theme
	case ui.Resumed:
		return tea.Batch(s.read(recipe), s.read(workload))
	}
	return nil
}

// takeRead takes a file. One that has been edited is not replaced: saving tells
// that it changed on disk. An answer is dropped if the text or what is on disk
// moved on since it was asked for.
func (s *Screen) takeRead(m readMsg) tea.Cmd {
	f := &s.sides[m.which]
	if f.loaded && (f.text.Version() != m.version || f.disk != m.disk) {
		return nil
	}
	if m.err != nil {
		if !f.loaded && m.path != "" {
			f.path, f.err = m.path, m.err
		}
		s.arrange()
		return nil
	}
	f.err = nil
	if f.loaded && (f.unsaved || m.text == f.disk) {
		return nil
	}
	at := f.text.Cursor()
	first := !f.loaded
	f.path, f.file, f.disk, f.loaded = m.path, m.file, m.text, true
	f.text.SetText(m.text)
	if f.text.Go(at); first {
		f.text.Go(ui.Pos{Line: start(f.text.Lines())})
	}
	s.arrange()
	if m.which == recipe && s.sides[workload].path == "" {
		return tea.Batch(s.changed(), s.find())
	}
	return s.changed()
}

// start is the line on which the cursor begins: the one that the timeout rule is
// about, else the first that is no comment.
func start(lines []string) int {
	first := -1
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "phase_timeout_seconds:"):
			return i
		case first < 0 && strings.TrimSpace(l) != "" && l[0] != '#':
			first = i
		}
	}
	return max(first, 0)
}

func (s *Screen) takeBar(m barMsg) tea.Cmd {
	s.barBusy, s.barAt, s.bar = false, m.at, m.bar
	if len(s.fixes()) == 0 && s.focus == onFixes {
		s.focus = onText
	}
	return s.compute()
}

func (s *Screen) takeCheck(m checkMsg) tea.Cmd {
	s.checkBusy, s.checkAt, s.checkErr = false, m.at, m.err
	if m.err == nil {
		s.problems, s.todos = m.problems, m.todos
		if m.layout == 1 || m.layout == 2 {
			s.layout = m.layout
		}
	}
	s.cursor = max(min(s.cursor, len(s.problems)-1), 0)
	for i := range s.sides {
		s.sides[i].text.Mark(marks(s.problems, i))
	}
	return s.check()
}

// takeSaved takes the outcome of a save, and goes on with what waited for it.
func (s *Screen) takeSaved(m savedMsg) tea.Cmd {
	f := &s.sides[m.which]
	f.saving = false
	if m.err != nil {
		s.submit, s.again = false, false
		if m.changed {
			return ui.Do(ui.Ask{
				ID: askOverwrite + f.path, Title: f.name() + " changed on disk", Danger: true,
				Body: "Someone else has written " + f.path + " since it was read. Saving now loses their version.",
				Yes:  "overwrite it", No: "keep editing",
			})
		}
		return ui.Fail(m.err)
	}
	f.disk = m.text
	f.compare()
	if s.saving() {
		return nil
	}
	wish := s.again || s.submit
	s.again = false
	if wish && s.Unsaved() {
		return s.save()
	}
	if s.submit {
		return s.submitPair()
	}
	return ui.Do(ui.Toast{Text: "saved", Role: ui.OK})
}

// The questions of this screen.
const (
	askLeave     = "leave"
	askOverwrite = "overwrite "
)

func (s *Screen) answer(a ui.Answer) tea.Cmd {
	if !a.Yes {
		return nil
	}
	if a.ID == askLeave {
		return ui.Do(ui.Back{})
	}
	for i := range s.sides {
		if a.ID == askOverwrite+s.sides[i].path {
			return s.overwrite(i)
		}
	}
	return nil
}

// Unsaved says whether a text is not what is on disk.
func (s *Screen) Unsaved() bool {
	for i := range s.sides {
		if s.sides[i].unsaved {
			return true
		}
	}
	return false
}

// Leave asks before edits are lost.
func (s *Screen) Leave() tea.Cmd {
	var open []string
	for i := range s.sides {
		if s.sides[i].unsaved {
			open = append(open, s.sides[i].name())
		}
	}
	if len(open) == 0 {
		return ui.Do(ui.Back{})
	}
	return ui.Do(ui.Ask{ID: askLeave, Title: "Leave without saving?", Body: "Not saved: " + strings.Join(open, ", ") + ". ctrl+s saves.", Yes: "discard the edits", No: "stay", Danger: true})
}

// changed starts what follows from another text.
func (s *Screen) changed() tea.Cmd {
	s.checked = false
	for i := range s.sides {
		s.sides[i].compare()
	}
	return tea.Batch(s.compute(), s.check())
}

// fixes are the changes of which each alone would satisfy the timeout rule.
func (s *Screen) fixes() []recipes.Knob {
	if c, ok := s.bar.binding(); ok {
		return c.Fixes
	}
	return nil
}
