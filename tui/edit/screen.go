package edit

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// focus is the pane that gets the keys while the form is closed.
type focus int

const (
	onText     focus = iota
	onProblems       // keys are commands
)

// Screen is the editor. It passes messages to its panes and arranges them.
type Screen struct {
	th     ui.Theme
	boxes  boxes
	cancel context.CancelFunc

	texts    pair
	checks   checker
	problems problemList
	form     form
	finder   finder
	focus    focus
	// Panes that are open on top of the others, or nil.
	question   *question
	diff       *diffView
	completion *completion
	describing bool // the description of the field is open
}

// New returns the editor of a recipe and its workload. Without a workload it looks for
// the one that the recipe names.
func New(eng Engine, th ui.Theme, recipePath, workloadPath string) *Screen {
	ctx, cancel := context.WithCancel(context.Background())
	return &Screen{
		th: th, cancel: cancel, texts: newPair(ctx, eng, recipePath, workloadPath),
		checks: checker{recipeLayout: 2, rule: timeoutResult{unknown: "…"}},
	}
}

// Name returns the screen's breadcrumb.
func (s *Screen) Name() string { return "edit" }

// Init starts to read both files.
func (s *Screen) Init() tea.Cmd {
	return tea.Batch(s.texts.docs[recipe].read(), s.texts.docs[workload].read())
}

// Close cancels the screen's requests.
func (s *Screen) Close() { s.cancel() }

// Typing reports whether keys are text.
func (s *Screen) Typing() bool {
	return s.focus == onText && s.texts.activeDoc().loaded || s.form.active || s.question != nil || s.diff != nil ||
		s.finder.active || s.describing
}

// Unsaved reports whether a text has unsaved changes.
func (s *Screen) Unsaved() bool { return len(s.texts.unsaved()) > 0 }

// Leave asks before unsaved changes are discarded.
func (s *Screen) Leave() tea.Cmd {
	unsaved := s.texts.unsaved()
	if len(unsaved) == 0 {
		return ui.Send(ui.Back{})
	}
	s.question = leaveQuestion(unsaved)
	return nil
}

// State returns the number of problems and the names of unsaved texts.
func (s *Screen) State() ui.State {
	st := ui.State{Age: "saved"}
	if unsaved := s.texts.unsaved(); len(unsaved) > 0 {
		st.Age = "unsaved: " + strings.Join(unsaved, ", ")
	}
	switch errors, warnings := s.problems.count(); {
	case s.texts.docs[recipe].err != nil:
		return ui.State{Text: "not loaded", Role: ui.Bad}
	case s.checks.err != nil:
		st.Text, st.Role = "not checked", ui.Bad
	case s.checks.checkedVersions == versions{}:
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

// SetSize sets the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.boxes = layout(w, h, s.texts.docs[workload].path != "")
	for i := range s.texts.docs {
		s.texts.docs[i].text.SetSize(s.boxes.text[i].w, s.boxes.text[i].h)
	}
	if s.diff != nil {
		s.diff.setSize(s.th, w, s.boxes.text[recipe].h)
	}
}

// normalizeNewlines replaces the line endings of pasted text: terminals send carriage returns.
var normalizeNewlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Update handles a message, then updates the layout and the unsaved marks, and starts
// the checks that are due.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.handle(msg)
	s.texts.updateUnsaved()
	s.SetSize(s.boxes.all.w, s.boxes.all.h)
	return tea.Batch(cmd, s.checks.startNext(&s.texts, s.form.pending(), s.versions()))
}

func (s *Screen) versions() versions {
	return versions{s.texts.docs[recipe].text.Version(), s.texts.docs[workload].text.Version(), s.form.version}
}

func (s *Screen) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return s.handleKey(msg)
	case tea.PasteMsg:
		s.handlePaste(normalizeNewlines.Replace(msg.Content))
	case ui.Mouse:
		return s.handlePaneMsg(s.handleMouse(msg))
	case ui.ThemeChanged:
		if s.th = msg.Theme; s.diff != nil {
			s.diff.render(s.th)
		}
	case ui.Resumed:
		return s.texts.checkDisk()
	case ui.Tick:
		cmds := []tea.Cmd{s.texts.checkDisk(), s.texts.backUp()}
		if s.question == nil { // the previous question was answered
			cmds = append(cmds, s.openQuestion(s.texts.nextQuestion()))
		}
		return tea.Batch(cmds...)
	default:
		return s.handlePaneMsg(msg)
	}
	return nil
}

// handlePaneMsg handles a message from a pane or from a command.
func (s *Screen) handlePaneMsg(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ui.Back, ui.Toast:
		return ui.Send(msg)
	case questionReadyMsg:
		msg.question.ignoresKeys = false
	case ruleMsg:
		s.checks.handleRule(msg)
	case checkedMsg:
		return s.handleChecked(msg)
	case diffMsg:
		s.diff.handleDiff(msg, s.th)
	case compareMsg:
		next, cmd := s.texts.compareWith(msg.side, msg.base)
		if next != nil {
			s.diff = next
		}
		return cmd
	case goToMsg:
		s.focusText()
		s.texts.active = msg.side
		s.texts.activeDoc().text.MoveTo(msg.at)
		s.texts.activeDoc().text.Centre()
	case submitMsg:
		return s.submit()
	case editedMsg:
		cmd, done := s.texts.docs[msg.side].handleEdited(msg)
		if done && !s.form.active {
			s.texts.active, s.focus = msg.side, onText
		}
		return cmd
	default:
		return s.openQuestion(s.texts.Update(msg, s.question != nil || s.form.typing))
	}
	return nil
}

// openQuestion opens a question, unless it is nil. Because no key opened it, it ignores keys
// at first.
func (s *Screen) openQuestion(q *question, cmd tea.Cmd) tea.Cmd {
	if q == nil {
		return cmd
	}
	s.question, s.completion, s.describing = q, nil, false
	return tea.Batch(cmd, q.delayKeys())
}

func (s *Screen) handleChecked(m checkedMsg) tea.Cmd {
	s.checks.handleChecked(m)
	if m.err == nil {
		s.problems.set(m.problems)
		s.form.setRows(m.entries)
	}
	for i := range s.texts.docs {
		s.texts.docs[i].text.SetMarks(lineMarks(s.problems.items, side(i)))
	}
	return s.texts.backUp()
}

// submitMsg opens the submit screen once everything is saved.
type submitMsg struct{}

// submit saves both texts and then opens the submit screen.
func (s *Screen) submit() tea.Cmd {
	if why := s.checks.submitBlocker(&s.texts, s.versions(), &s.problems); why != "" {
		s.texts.afterSave = nil
		return ui.Send(ui.Toast{Text: "can't submit: " + why, Role: ui.Warn})
	}
	if s.Unsaved() || s.texts.saving() {
		return s.texts.saveThen(submitMsg{})
	}
	o := ui.OpenSubmit{Recipe: s.texts.docs[recipe].path}
	if w := &s.texts.docs[workload]; w.loaded {
		o.Workload = w.path
	}
	return ui.Send(o)
}

// describeLine describes the line under the cursor of the text, form or list with the focus.
func (s *Screen) describeLine() description {
	which, line := s.texts.active, s.texts.activeDoc().text.Cursor().Line
	e, inForm := s.form.current()
	p, listed := s.problems.current()
	listed = listed && s.focus == onProblems
	switch {
	case inForm:
		which, line = e.side, e.line
	case listed && p.side != otherFile:
		which, line = p.side, p.Line-1
	}
	d := description{side: which, problems: s.problems.onLine(which, line), loaded: s.texts.activeDoc().loaded}
	if listed {
		d.problems = []finding{p}
	}
	path := pathAt(s.texts.docs[which].text.Lines(), line)
	if inForm {
		path = strings.Split(e.path, ".")
	}
	d.field, d.known = describeField(s.checks.fieldTable(which), path)
	return d
}
