package port

import (
	"cmp"
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// stage is how far the wizard is.
type stage int

const (
	choosing  stage = iota // a run directory
	reading                // it is being ported
	looking                // at what was found
	writing                // names of the files are being typed
	comparing              // files that are there with those that would take their places
)

// pane has the keys while looking.
type pane int

const (
	onFile pane = iota
	onTodos
	onArtifacts
	panes
)

// Screen is the wizard.
type Screen struct {
	eng    Engine
	th     ui.Theme
	ctx    context.Context
	cancel context.CancelFunc
	w, h   int
	boxes  boxes

	stage stage
	err   error // of the last attempt to port

	// choosing
	path       ui.Input
	looked     string // folder that dirs and runs are of
	dirs, runs []string
	recent     []string
	rows       []choice
	row        int
	lookErr    error
	pending    int                // answers about that folder that are to come
	lookGen    int                // of the folder
	stopLook   context.CancelFunc // ends the look; nil: there was none
	recents    bool

	// reading, and reading again with answers
	dir      string
	given    bool // by whoever opened the screen
	kept     int  // answers that have been written
	opt      porter.Options
	before   porter.Options     // the last change
	gen      int                // of the port that is asked for
	stop     context.CancelFunc // ends that port; nil: there was none
	porting  bool
	progress porter.Progress

	// looking
	written  written
	pane     pane
	doc      int    // which of the files
	at, top  [2]int // line under the cursor, first line in view, from 0
	todos    []porter.Todo
	todo     int
	artifact int
	excerpts map[porter.Evidence]excerpt
	fetching bool
	answer   *ui.Input // being typed; nil: none
	asked    porter.Todo
	preview  string    // what would be written for it
	refused  error     // why it can't be
	viewer   viewer    // over the body
	sheet    *sheet    // over the body; nil: none
	search   *ui.Input // folder to look for the datasets in, being typed; nil: none

	// writing
	names     [2]ui.Input
	name      int
	compared  []session.Target // what is shown before it is replaced
	targets   []session.Target // what the names mean; as of the last look
	targetErr error
	checked   [2]string // names that targets are of
	checking  bool
	saving    bool
	writes    int                // of the write that is asked for
	stopWrite context.CancelFunc // ends that write
}

// New makes the wizard; with a directory it starts to read at once.
func New(eng Engine, th ui.Theme, dir string) *Screen {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Screen{eng: eng, th: th, ctx: ctx, cancel: cancel, excerpts: map[porter.Evidence]excerpt{}}
	s.viewer = newViewer(ctx, eng, th)
	s.path.SetValue(dir)
	if dir != "" {
		s.stage, s.dir, s.given = reading, dir, true
	}
	return s
}

// Name is the screen's breadcrumb.
func (s *Screen) Name() string { return "port" }

// State counts the fields by where they come from.
func (s *Screen) State() ui.State {
	switch {
	case s.stage == choosing:
		return ui.State{}
	case s.stage == reading:
		return ui.State{Text: "reading…", Role: ui.Muted}
	}
	text, role := summary(s.written.res, s.w)
	return ui.State{Text: text, Role: role}
}

// Init looks around, or reads the directory that was given.
func (s *Screen) Init() tea.Cmd {
	if s.stage == reading {
		return s.port()
	}
	return tea.Batch(s.look(), s.listRecent())
}

// Close ends the screen's work.
func (s *Screen) Close() { s.cancel() }

// Typing says whether keys are text now.
func (s *Screen) Typing() bool {
	switch {
	case s.viewer.shown():
		return s.viewer.pane.Typing()
	case s.sheet != nil:
		return false
	}
	return s.stage == choosing || s.stage == writing || s.stage == looking && (s.answer != nil || s.search != nil)
}

// SetSize gives the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.arrange()
	if s.sheet != nil {
		s.sheet.layout(w, h)
	}
	s.viewer.setSize(w, h)
}

// arrange lays the parts out; candidates for the answer that is being typed need room.
func (s *Screen) arrange() {
	need := 0
	if t, ok := s.question(); ok && s.answer != nil {
		need = answerRows + len(t.Candidates)
	}
	s.boxes = layout(s.w, s.h, need)
	s.scroll()
}

// Update takes a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	if s.viewer.shown() {
		cmd = tea.Batch(cmd, s.viewer.pane.Settle())
	}
	return cmd
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return s.key(msg)
	case tea.PasteMsg:
		return s.paste(msg.Content)
	case ui.Answer:
		switch {
		case msg.ID == askReplace && msg.Yes && s.stage == comparing:
			return s.write(true)
		case msg.ID == askLeave && msg.Yes:
			return s.backward()
		}
	case ui.Mouse:
		return s.mouse(msg)
	case ui.ThemeChanged:
		s.th = msg.Theme
		s.viewer.pane.SetTheme(s.th)
		if s.sheet != nil {
			s.sheet.layout(s.w, s.h)
		}
	case logs.Msg:
		return s.viewer.pane.Update(msg)
	}
	return s.take(msg)
}

// take takes what one of the screen's own commands came back with.
func (s *Screen) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case lookedMsg:
		s.takeLook(msg)
	case recentMsg:
		s.recent = msg.dirs
		s.choose()
	case progressMsg:
		if msg.gen == s.gen && s.porting {
			s.progress = msg.p
			return wait(msg.ctx, msg.gen, msg.from)
		}
	case portedMsg:
		return s.takePort(msg)
	case excerptMsg:
		s.fetching = false
		s.excerpts[msg.of] = msg.excerpt
		return s.fetch()
	case writtenMsg:
		return s.takeWritten(msg)
	case checkedMsg:
		return s.takeCheck(msg)
	}
	return nil
}

func (s *Screen) takeLook(m lookedMsg) {
	if m.gen != s.lookGen {
		return
	}
	s.pending--
	if m.runs != nil {
		s.runs = m.runs
	}
	if m.dirs != nil {
		s.dirs = m.dirs
	}
	s.lookErr = cmp.Or(m.err, s.lookErr)
	s.choose()
}

// choose rebuilds the list for what is typed.
func (s *Screen) choose() {
	typed := s.path.Value()
	var dirs, runs []string
	if base, _ := split(typed); base == s.looked {
		dirs, runs = s.dirs, s.runs
	}
	s.rows = choices(typed, dirs, runs, s.recent)
	s.row = max(min(s.row, len(s.rows)-1), 0)
}

// takePort takes a result, of the first port or of one with other answers. The
// cursor stays on its line.
func (s *Screen) takePort(m portedMsg) tea.Cmd {
	if m.gen != s.gen {
		return nil
	}
	s.porting = false
	s.stop()
	if m.err != nil && s.stage >= looking { // an answer, or a folder, that can't be
		s.opt = s.before
		return s.fail(m.err)
	}
	if m.err != nil {
		s.err, s.stage, s.given = m.err, choosing, false
		var parent *porter.ParentError
		if errors.As(m.err, &parent) {
			s.err = nil
			s.path.SetValue(strings.TrimSuffix(s.dir, "/") + "/")
		}
		s.choose()
		return tea.Batch(s.look(), s.listRecent())
	}
	again := s.stage >= looking // names may be being typed by now
	s.err, s.stage, s.written = nil, max(s.stage, looking), m.written
	s.todos = ranked(m.written.res)
	s.todo = max(min(s.todo, len(s.todos)-1), 0)
	s.opt.Datasets = m.written.res.Datasets
	s.arrange()
	if !again {
		s.names[0].SetValue(m.names[0])
		s.names[1].SetValue(m.names[1])
		s.at[0] = s.firstOf(0, func(l line) bool {
			f := s.field(l)
			return l.first && f.Class == porter.Translated && len(f.Evidence) > 0 && f.Evidence[0].Line > 0
		})
	}
	s.scroll()
	if s.pane == onTodos {
		s.move(0)
	}
	return s.fetch()
}

func (s *Screen) takeWritten(m writtenMsg) tea.Cmd {
	if m.gen != s.writes {
		return s.takeDropped(m)
	}
	s.saving = false
	s.stopWrite()
	var exist *porter.ExistsError
	switch {
	case m.moved, errors.As(m.err, &exist):
		s.stage, s.compared = comparing, m.targets
		s.open(&sheet{title: "there already", write: s.targetDiff(m.targets)})
		if m.moved {
			return ui.Do(ui.Toast{Text: "nothing is written: what is there has changed since it was shown", Role: ui.Warn})
		}
		return nil
	case m.err != nil:
		return s.fail(m.err)
	}
	s.stage, s.sheet, s.kept = looking, nil, min(m.kept, len(s.opt.Answers))
	return ui.Do(ui.OpenEdit{Recipe: m.paths[0], Workload: m.paths[1]})
}

// takeDropped says when a write that was given up had come to its end before.
func (s *Screen) takeDropped(m writtenMsg) tea.Cmd {
	if m.err != nil || m.moved {
		return nil
	}
	return ui.Do(ui.Toast{Text: "it was too late to give up: " + m.paths[0] + " is written", Role: ui.Warn})
}

// Unsaved says whether answers were given that are in no file.
func (s *Screen) Unsaved() bool { return s.stage >= looking && len(s.opt.Answers) > s.kept }

// The questions of this screen.
const (
	askReplace = "replace"
	askLeave   = "leave"
)

// Leave goes back to the choice of a directory if the wizard began with it. Answers
// that were not written are asked about first.
func (s *Screen) Leave() tea.Cmd {
	switch {
	case s.viewer.shown():
		s.viewer.leave()
		return nil
	case s.sheet != nil:
		s.sheet = nil
		if s.stage == comparing {
			s.stage = writing
			return s.check()
		}
		return nil
	case s.Unsaved():
		return ui.Do(ui.Ask{
			ID: askLeave, Title: "Leave without writing?", Danger: true,
			Body: "Answers that were given here are not written yet: w writes them with the recipe.", Yes: "discard them", No: "stay",
		})
	case s.stage == choosing:
		return ui.Do(ui.Back{})
	}
	return s.backward()
}

func (s *Screen) backward() tea.Cmd {
	s.giveUp() // whatever comes is of no use
	if s.given {
		return ui.Do(ui.Back{})
	}
	s.stage, s.written = choosing, written{}
	s.choose()
	return nil
}

// field of a line; the zero value where it has none.
func (s *Screen) field(l line) porter.Field {
	if l.field < 0 || s.written.res == nil {
		return porter.Field{}
	}
	return s.written.res.Fields[l.field]
}

// firstOf is the first line that is as wanted, or 0.
func (s *Screen) firstOf(doc int, want func(line) bool) int {
	for i, l := range s.written.docs[doc].lines {
		if want(l) {
			return i
		}
	}
	return 0
}

// here is the line under the cursor.
func (s *Screen) here() line {
	lines := s.written.docs[s.doc].lines
	if i := s.at[s.doc]; i < len(lines) {
		return lines[i]
	}
	return line{field: -1}
}

// scroll keeps the cursors in range and in view.
func (s *Screen) scroll() {
	for d := range s.at {
		n, h := len(s.written.docs[d].lines), max(s.boxes.file.h, 1)
		s.at[d] = max(min(s.at[d], n-1), 0)
		s.top[d] = max(min(s.top[d], s.at[d], n-h), s.at[d]-h+1, 0)
	}
}

// goTo puts the cursor on the line of a field.
func (s *Screen) goTo(file porter.File, path string) bool {
	for d := range s.written.docs {
		if s.written.docs[d].file != file {
			continue
		}
		for i, l := range s.written.docs[d].lines {
			if l.first && s.field(l).Path == path {
				s.doc, s.at[d] = d, i
				s.top[d] = max(i-s.boxes.file.h/2, 0)
				s.scroll()
				return true
			}
		}
	}
	return false
}
