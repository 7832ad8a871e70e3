package edit

import (
	"context"
	"errors"
	"io/fs"
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
	onForm           // the fields that matter
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
	fresh   bool    // there is no such file yet
	theirs  *string // what someone else wrote to the file, while that is undecided
	asked   *string // of these, what the user was asked about
	kept    int     // version that is kept in case the program ends; 0: none
	keeping bool
	// held: an earlier program may have kept something that the user has not decided
	// on; it is not overwritten.
	held    bool
	looking bool // at the disk
}

func (f *side) name() string { return filepath.Base(f.path) }

func (f *side) compare() { f.unsaved = f.loaded && (f.fresh || f.text.Text() != f.disk) }

// Screen is the editor.
type Screen struct {
	eng    Engine
	th     ui.Theme
	ctx    context.Context
	cancel context.CancelFunc
	w, h   int
	boxes  boxes

	sides   [2]side
	active  int
	focus   focus
	submit  bool // once everything is saved
	again   bool // save once more when the save under way has ended
	leaving bool // once everything is saved

	menu    *menu
	later   []foundMsg // questions behind the open one
	comp    *completion
	diff    *diff
	find    find
	form    form
	reading bool // the description of the field is open
	keepErr bool

	bar      bar
	problems []problem
	todos    int              // placeholders among them, which need a value before a submit
	tables   [3]*schema.Table // the workload's, and the recipe's by layout
	layout   int              // of the recipe, as last read
	checked  bool             // the list is of the texts as they stand
	checkErr error            // the check itself failed
	cursor   int              // in problems

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
	return s.focus == onText && s.sides[s.active].loaded || s.focus == onForm || s.menu != nil || s.diff != nil || s.find.on || s.reading
}

// State counts the problems, and says what is not saved.
func (s *Screen) State() ui.State {
	st := ui.State{Age: "saved"}
	if open := s.open(); len(open) > 0 {
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
		st.Text, st.Role = ui.Plural(errors, "error"), ui.Bad
		if warnings > 0 {
			st.Text += " " + ui.Plural(warnings, "warning")
		}
	case warnings > 0:
		st.Text, st.Role = ui.Plural(warnings, "warning"), ui.Warn
	default:
		st.Text, st.Role = "no problems", ui.OK
	}
	return st
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
	case tea.KeyPressMsg:
		return s.key(msg)
	case tea.PasteMsg:
		return s.paste(lineEnds.Replace(msg.Content))
	case ui.Mouse:
		s.mouse(msg)
	case ui.ThemeChanged:
		s.th = msg.Theme
	case ui.Resumed:
		return s.look()
	case ui.Tick:
		cmds := []tea.Cmd{s.look(), s.keep()}
		if s.menu == nil { // it was another question that the next one waited for
			cmds = append(cmds, s.next())
		}
		return tea.Batch(cmds...)
	}
	return s.takeAnswer(msg)
}

// takeAnswer takes what a command came back with.
func (s *Screen) takeAnswer(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case readMsg:
		return s.takeRead(msg)
	case barMsg:
		return s.takeBar(msg)
	case checkMsg:
		return s.takeCheck(msg)
	case savedMsg:
		return s.takeSaved(msg)
	case editedMsg:
		return s.takeEdited(msg)
	case metMsg:
		return s.takeMet(msg)
	case foundMsg:
		return s.takeFound(msg)
	case keptMsg:
		return s.takeKept(msg)
	case diffMsg:
		return s.takeDiff(msg)
	case armMsg:
		msg.of.cold = false
	}
	return nil
}

func (s *Screen) paste(text string) tea.Cmd {
	f := &s.sides[s.active]
	switch {
	case s.menu != nil || s.diff != nil:
	case s.find.on:
		s.find.input.Insert(text)
		s.typedFind()
	case s.form.typing:
		s.form.input.Insert(text)
		return s.typedField()
	case s.focus == onText && f.loaded:
		s.comp = nil
		f.text.Insert(text)
		return s.changed()
	}
	return nil
}

// takeRead takes a file. What someone else wrote to one that was not edited is the
// new text, and one undo brings the old one back; otherwise it is asked about. An
// answer is dropped if what is on disk moved on since it was asked for.
func (s *Screen) takeRead(m readMsg) tea.Cmd {
	f := &s.sides[m.which]
	f.looking = false
	if !f.loaded {
		return s.takeFirst(m)
	}
	switch {
	case f.disk != m.disk || f.saving || f.fresh:
		return nil
	case errors.Is(m.err, fs.ErrNotExist):
		f.fresh = true
		f.compare()
		return ui.Do(ui.Toast{Text: f.name() + " is gone from the disk: saving writes it anew", Role: ui.Warn})
	case m.err != nil: // not now: the next look may
		return nil
	case m.text == f.disk:
		f.theirs, f.asked = nil, nil
		return nil
	}
	if f.unsaved && m.text != f.text.Text() {
		if f.asked != nil && m.text == *f.asked { // decided later
			return nil
		}
		return s.meet(m.which, m.text)
	}
	return tea.Batch(s.take(m.which, m.text, m.text), ui.Do(ui.Toast{Text: f.name() + " was changed on disk, and is read again: ctrl+z gives the old text", Role: ui.Warn}))
}

// takeFirst takes a file that is read for the first time.
func (s *Screen) takeFirst(m readMsg) tea.Cmd {
	f := &s.sides[m.which]
	if m.err != nil {
		var cmd tea.Cmd
		if m.path != "" {
			f.path, f.err = m.path, m.err
			if errors.Is(m.err, fs.ErrNotExist) {
				f.file = m.file
				cmd = s.recover(m.which)
			}
		}
		s.arrange()
		return cmd
	}
	f.err, f.path, f.file, f.disk, f.loaded = nil, m.path, m.file, m.text, true
	f.text.SetText(m.text)
	f.text.Go(ui.Pos{Line: start(f.text.Lines())})
	s.arrange()
	cmds := []tea.Cmd{s.changed(), s.recover(m.which)}
	if m.which == recipe && s.sides[workload].path == "" {
		cmds = append(cmds, s.seek())
	}
	return tea.Batch(cmds...)
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

// takeBar takes the rule's evaluation. The full check waits until the rule has
// caught up with the keys, so that fast typing is not checked letter by letter.
func (s *Screen) takeBar(m barMsg) tea.Cmd {
	s.barBusy, s.barAt, s.bar = false, m.at, m.bar
	return tea.Batch(s.compute(), s.check())
}

func (s *Screen) takeCheck(m checkMsg) tea.Cmd {
	s.checkBusy, s.checkAt, s.checkErr = false, m.at, m.err
	if m.err == nil {
		s.problems, s.todos = m.problems, m.todos
		if m.layout == 1 || m.layout == 2 {
			s.layout = m.layout
		}
		if !s.form.typing && (len(m.entries) > 0 || s.form.on) {
			s.form.rows = m.entries
			s.form.at = max(min(s.form.at, len(m.entries)-1), 0)
		}
	}
	s.cursor = max(min(s.cursor, len(s.problems)-1), 0)
	for i := range s.sides {
		s.sides[i].text.Mark(marks(s.problems, i))
	}
	return tea.Batch(s.check(), s.keep())
}

// takeSaved takes the outcome of a save, and goes on with what waited for it.
func (s *Screen) takeSaved(m savedMsg) tea.Cmd {
	f := &s.sides[m.which]
	f.saving = false
	if m.err != nil {
		s.submit, s.again, s.leaving = false, false, false
		if m.changed && f.fresh { // somebody was faster
			f.fresh = false
		}
		if m.changed {
			f.asked = nil
			return s.read(m.which) // which asks
		}
		return ui.Fail(m.err)
	}
	f.disk, f.fresh = m.text, false
	f.compare()
	if s.saving() {
		return nil
	}
	wish := s.again || s.submit || s.leaving
	s.again = false
	if wish && s.Unsaved() {
		return s.save()
	}
	switch {
	case s.submit:
		return tea.Batch(s.keep(), s.submitPair())
	case s.leaving:
		s.leaving = false
		return s.left()
	}
	return tea.Batch(s.keep(), ui.Do(ui.Toast{Text: "saved", Role: ui.OK}))
}

// left forgets what was kept of the edits, which are saved, and goes.
func (s *Screen) left() tea.Cmd {
	ctx, eng := s.ctx, s.eng
	var files []string
	for i := range s.sides {
		if f := &s.sides[i]; f.loaded && !f.held {
			files = append(files, f.file)
		}
	}
	return func() tea.Msg {
		for _, f := range files {
			if err := eng.DropUnsaved(ctx, f); err != nil {
				return ui.Toast{Text: err.Error(), Role: ui.Bad}
			}
		}
		return ui.Back{}
	}
}

// Unsaved says whether a text is not what is on disk.
func (s *Screen) Unsaved() bool { return len(s.open()) > 0 }

// changed starts what follows from another text.
func (s *Screen) changed() tea.Cmd {
	s.checked = false
	for i := range s.sides {
		s.sides[i].compare()
	}
	return s.compute()
}

// fixes are the changes of which each alone would satisfy the timeout rule.
func (s *Screen) fixes() []recipes.Knob {
	if c, ok := s.bar.binding(); ok {
		return c.Fixes
	}
	return nil
}
