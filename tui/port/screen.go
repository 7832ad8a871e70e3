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

// stage is a step of the wizard.
type stage int

const (
	choosing  stage = iota // choosing a run directory
	reading                // porting it
	reviewing              // reviewing the result
	naming                 // entering names of the files, or comparing with existing files
)

// Screen is the port wizard.
type Screen struct {
	th     ui.Theme
	cancel context.CancelFunc
	w, h   int

	stage        stage
	hasDirectory bool // New was called with a directory

	chooser chooser
	porting porting
	review  review
	writing writing
	sheet   *sheet // covers the body; nil: none
	viewer  viewer // covers the body
}

// New returns the wizard. With a directory it starts to port at once.
func New(eng Engine, th ui.Theme, dir string) *Screen {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Screen{th: th, cancel: cancel}
	s.porting = porting{eng: eng, ctx: ctx, dir: dir, result: &resultView{res: &porter.Result{}}}
	s.chooser = chooser{eng: eng, ctx: ctx, wizard: s}
	s.review = review{wizard: s, porting: &s.porting, origin: newOrigin(ctx, eng)}
	s.writing = writing{eng: eng, ctx: ctx, wizard: s, porting: &s.porting}
	s.viewer = newViewer(ctx, eng, th)
	s.review.reset()
	if s.chooser.path.SetValue(dir); dir != "" {
		s.stage, s.hasDirectory = reading, true
	}
	return s
}

// pane returns the active pane.
func (s *Screen) pane() pane {
	switch {
	case s.viewer.shown():
		return &s.viewer
	case s.sheet != nil:
		return s.sheet
	}
	return [...]pane{choosing: &s.chooser, reading: &s.porting, reviewing: &s.review, naming: &s.writing}[s.stage]
}

// Name returns the screen's breadcrumb.
func (s *Screen) Name() string { return "port" }

// State returns the number of fields by class.
func (s *Screen) State() ui.State {
	switch s.stage {
	case choosing:
		return ui.State{}
	case reading:
		return ui.State{Text: "porting …", Role: ui.Muted}
	}
	text, role := summary(s.porting.result.res, s.w)
	return ui.State{Text: text, Role: role}
}

// Init lists the choices, or ports the directory given to New.
func (s *Screen) Init() tea.Cmd {
	if s.hasDirectory {
		return s.startPort(s.porting.dir)
	}
	return s.chooser.start(nil)
}

// Close cancels the running commands.
func (s *Screen) Close() { s.cancel() }

// Typing reports whether keys are text.
func (s *Screen) Typing() bool { return s.pane().typing() }

// Keys returns the current bindings.
func (s *Screen) Keys() []key.Binding { return s.pane().keys() }

// View draws the body.
func (s *Screen) View() string { return s.pane().view(s.th) }

// SetSize sets the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.chooser.w, s.chooser.h = w, h
	s.porting.w = w
	s.review.setSize(w, h)
	s.writing.w, s.writing.h = w, h
	s.viewer.setSize(w, h)
	for _, sh := range []*sheet{s.sheet, s.writing.diffSheet} {
		if sh != nil {
			sh.layout(s.th, w, h)
		}
	}
}

// Update handles a message.
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
		case msg.ID == askReplace && msg.Yes && s.stage == naming && s.writing.diffSheet != nil:
			return s.writing.write(true)
		case msg.ID == askLeave && msg.Yes:
			return s.closeOrChoose()
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

// fetch reads the excerpt that the review needs.
func (s *Screen) fetch() tea.Cmd {
	if s.stage != reviewing {
		return nil
	}
	return s.review.fetch()
}

// startPort ports a directory.
func (s *Screen) startPort(dir string) tea.Cmd {
	s.stage = reading
	cmd := s.porting.begin(dir)
	s.review.reset()
	return cmd
}

// openViewer opens the viewer.
func (s *Screen) openViewer(locations []porter.Evidence) tea.Cmd {
	if len(locations) == 0 {
		return ui.Send(ui.Toast{Text: "not found in any artifact", Role: ui.Warn})
	}
	return s.viewer.open(s.porting.dir, locations)
}

// openWriting opens the pane that writes the files.
func (s *Screen) openWriting() tea.Cmd {
	s.stage = naming
	return s.writing.start()
}

// backToReview returns to the review.
func (s *Screen) backToReview() { s.stage = reviewing }

// openSheet opens a sheet.
func (s *Screen) openSheet(sh *sheet) {
	s.sheet = sh
	sh.open(s.th, s.w, s.h)
}

// showError shows an error as a toast if it fits on a line, or else as a sheet.
func (s *Screen) showError(err error) tea.Cmd {
	if ui.Width(ui.Clean(err.Error()))+4 <= s.w {
		return ui.ShowError(err)
	}
	s.openSheet(errorSheet(err))
	return nil
}

// Unsaved reports whether there are answers that were not written.
func (s *Screen) Unsaved() bool { return s.stage >= reviewing && s.porting.unsaved() }

// askLeave is the id of the dialog to discard answers.
const askLeave = "leave"

// Escape stops a search or read in the viewer before esc closes it.
func (s *Screen) Escape() (tea.Cmd, bool) {
	if !s.viewer.shown() {
		return nil, false
	}
	return s.viewer.pane.Escape()
}

// Leave closes the innermost pane, or returns to the chooser if the wizard began with
// it. It asks before it discards answers that were not written.
func (s *Screen) Leave() tea.Cmd {
	switch {
	case s.viewer.shown():
		s.viewer.close()
		return nil
	case s.sheet != nil:
		s.sheet = nil
		return nil
	case s.stage == naming && s.writing.diffSheet != nil:
		return s.writing.closeDiff()
	case s.Unsaved():
		return ui.Send(ui.Ask{
			ID: askLeave, Title: "Discard the answers?", Danger: true,
			Body: "The answers are not written yet. The key w writes them with the recipe.",
			Yes:  "discard", No: "keep",
		})
	case s.stage == choosing:
		return ui.Send(ui.Back{})
	}
	return s.closeOrChoose()
}

func (s *Screen) closeOrChoose() tea.Cmd {
	s.porting.cancelRun()
	if s.hasDirectory {
		return ui.Send(ui.Back{})
	}
	s.stage = choosing
	s.chooser.updateRows()
	return nil
}

// pane is a part of the wizard that fills the body.
type pane interface {
	// keys returns the current bindings; typing reports whether other keys are text.
	keys() []key.Binding
	typing() bool
	key(msg tea.KeyPressMsg) tea.Cmd
	paste(text string) tea.Cmd
	mouse(m ui.Mouse) tea.Cmd
	view(th ui.Theme) string
}

// inert ignores all input. A pane embeds it and overrides the methods that it needs.
type inert struct{}

func (inert) keys() []key.Binding         { return nil }
func (inert) typing() bool                { return false }
func (inert) key(tea.KeyPressMsg) tea.Cmd { return nil }
func (inert) paste(string) tea.Cmd        { return nil }
func (inert) mouse(ui.Mouse) tea.Cmd      { return nil }

// paneMsg is a message from a command of a pane. apply updates that pane.
type paneMsg interface{ apply(s *Screen) tea.Cmd }

// wizard is the part of the screen that panes use.
type wizard interface {
	startPort(dir string) tea.Cmd                   // ports a directory
	openViewer(locations []porter.Evidence) tea.Cmd // opens artifacts in the viewer
	openSheet(text *sheet)
	openWriting() tea.Cmd // opens the pane that writes the files
	backToReview()        // closes that pane
}
