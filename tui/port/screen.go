package port

import (
	"context"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// stage is how far the wizard is.
type stage int

const (
	choosing  stage = iota // a run directory
	reading                // it is being ported
	reviewing              // what was found
	naming                 // names of the files are being typed, or what they would replace is compared
)

// Screen is the wizard.
type Screen struct {
	th     ui.Theme
	cancel context.CancelFunc
	w, h   int

	stage stage
	given bool // the directory, by whoever opened the screen

	chooser chooser
	porting porting
	review  review
	writing writing
	sheet   *sheet // over the body; nil: none
	viewer  viewer // over the body
}

// New makes the wizard; with a directory it starts to read at once.
func New(eng Engine, th ui.Theme, dir string) *Screen {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Screen{th: th, cancel: cancel}
	s.porting = porting{eng: eng, ctx: ctx, dir: dir, result: &written{res: &porter.Result{}}}
	s.chooser = chooser{eng: eng, ctx: ctx, wizard: s}
	s.review = review{wizard: s, job: &s.porting, origin: newOrigin(ctx, eng)}
	s.writing = writing{eng: eng, ctx: ctx, wizard: s, job: &s.porting}
	s.viewer = newViewer(ctx, eng, th)
	s.review.begin()
	if s.chooser.path.SetValue(dir); dir != "" {
		s.stage, s.given = reading, true
	}
	return s
}

// pane is the one that has the body.
func (s *Screen) pane() pane {
	switch {
	case s.viewer.shown():
		return &s.viewer
	case s.sheet != nil:
		return s.sheet
	}
	return [...]pane{choosing: &s.chooser, reading: &s.porting, reviewing: &s.review, naming: &s.writing}[s.stage]
}

// Name is the screen's breadcrumb.
func (s *Screen) Name() string { return "port" }

// State counts the fields by where they come from.
func (s *Screen) State() ui.State {
	switch s.stage {
	case choosing:
		return ui.State{}
	case reading:
		return ui.State{Text: "reading…", Role: ui.Muted}
	}
	text, role := summary(s.porting.result.res, s.w)
	return ui.State{Text: text, Role: role}
}

// Init looks around, or reads the directory that was given.
func (s *Screen) Init() tea.Cmd {
	if s.given {
		return s.begin(s.porting.dir)
	}
	return s.chooser.start(nil)
}

// Close ends the screen's work.
func (s *Screen) Close() { s.cancel() }

// Typing says whether keys are text now.
func (s *Screen) Typing() bool { return s.pane().typing() }

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding { return s.pane().keys() }

// View draws the body.
func (s *Screen) View() string { return s.pane().view(s.th) }

// SetSize gives the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.chooser.w, s.chooser.h = w, h
	s.porting.w = w
	s.review.setSize(w, h)
	s.writing.w, s.writing.h = w, h
	s.viewer.setSize(w, h)
	for _, sh := range []*sheet{s.sheet, s.writing.compare} {
		if sh != nil {
			sh.layout(s.th, w, h)
		}
	}
}

// Update takes a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	if s.viewer.shown() {
		cmd = tea.Batch(cmd, s.viewer.pane.Fill())
	}
	return cmd
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return s.pane().key(msg)
	case tea.PasteMsg:
		return s.pane().paste(strings.TrimSpace(msg.Content))
	case ui.Mouse:
		return s.pane().mouse(msg)
	case ui.Answer:
		switch {
		case msg.ID == askReplace && msg.Yes && s.stage == naming && s.writing.compare != nil:
			return s.writing.write(true)
		case msg.ID == askLeave && msg.Yes:
			return s.backward()
		}
	case ui.ThemeChanged:
		s.th = msg.Theme
		s.viewer.pane.SetTheme(s.th)
		s.SetSize(s.w, s.h)
	case logs.Msg:
		return s.viewer.pane.Update(msg)
	case paneMsg:
		return msg.apply(s)
	}
	return nil
}

// fetch reads what the review lacks.
func (s *Screen) fetch() tea.Cmd {
	if s.stage != reviewing {
		return nil
	}
	return s.review.fetch()
}

// begin ports a directory.
func (s *Screen) begin(dir string) tea.Cmd {
	s.stage = reading
	cmd := s.porting.begin(dir)
	s.review.begin()
	return cmd
}

// show opens the viewer.
func (s *Screen) show(places []porter.Evidence) tea.Cmd {
	if len(places) == 0 {
		return ui.Send(ui.Toast{Text: "no artifact shows it", Role: ui.Warn})
	}
	return s.viewer.open(s.porting.dir, places)
}

// nameFiles goes on to the writing of the files.
func (s *Screen) nameFiles() tea.Cmd {
	s.stage = naming
	return s.writing.start()
}

// goBack goes back to what was found.
func (s *Screen) goBack() { s.stage = reviewing }

// open puts a sheet over the body.
func (s *Screen) open(sh *sheet) {
	s.sheet = sh
	sh.open(s.th, s.w, s.h)
}

// fail says what went wrong: in a remark where it fits into one line, else whole.
func (s *Screen) fail(err error) tea.Cmd {
	if ui.Width(ui.Clean(err.Error()))+4 <= s.w {
		return ui.ShowError(err)
	}
	s.open(failed(err))
	return nil
}

// Unsaved says whether answers were given that are in no file.
func (s *Screen) Unsaved() bool { return s.stage >= reviewing && s.porting.unsaved() }

// askLeave is the question whether to lose answers.
const askLeave = "leave"

// Escape ends what is going on in the viewer before it is closed.
func (s *Screen) Escape() (tea.Cmd, bool) {
	if !s.viewer.shown() {
		return nil, false
	}
	return s.viewer.pane.Escape()
}

// Leave goes back to the choice of a directory if the wizard began with it. Answers
// that were not written are asked about first.
func (s *Screen) Leave() tea.Cmd {
	switch {
	case s.viewer.shown():
		s.viewer.leave()
		return nil
	case s.sheet != nil:
		s.sheet = nil
		return nil
	case s.stage == naming && s.writing.compare != nil:
		return s.writing.back()
	case s.Unsaved():
		return ui.Send(ui.Ask{
			ID: askLeave, Title: "Leave without writing?", Danger: true,
			Body: "Answers that were given here are not written yet: w writes them with the recipe.",
			Yes:  "discard them", No: "stay",
		})
	case s.stage == choosing:
		return ui.Send(ui.Back{})
	}
	return s.backward()
}

func (s *Screen) backward() tea.Cmd {
	s.porting.giveUp() // whatever comes is of no use
	if s.given {
		return ui.Send(ui.Back{})
	}
	s.stage = choosing
	s.chooser.list()
	return nil
}

// pane is a part of the wizard that has the body for itself.
type pane interface {
	// keys are the bindings that work now; typing says that others are text.
	keys() []key.Binding
	typing() bool
	key(msg tea.KeyPressMsg) tea.Cmd
	paste(text string) tea.Cmd
	mouse(m ui.Mouse) tea.Cmd
	view(th ui.Theme) string
}

// inert is a pane that only draws, to be embedded.
type inert struct{}

func (inert) keys() []key.Binding         { return nil }
func (inert) typing() bool                { return false }
func (inert) key(tea.KeyPressMsg) tea.Cmd { return nil }
func (inert) paste(string) tea.Cmd        { return nil }
func (inert) mouse(ui.Mouse) tea.Cmd      { return nil }

// paneMsg is what a command of a pane comes back with: it changes the pane that asked.
type paneMsg interface{ apply(s *Screen) tea.Cmd }

// wizard is what panes ask of the screen.
type wizard interface {
	begin(dir string) tea.Cmd              // to port a directory
	show(places []porter.Evidence) tea.Cmd // of artifacts, in the viewer
	open(text *sheet)
	nameFiles() tea.Cmd // to write them
	goBack()            // from there to the review
}
