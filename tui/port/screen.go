package port

import (
	"context"
	"errors"
	"strings"

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
	naming                 // names of the files are being typed
	comparing              // files that are there with those that would take their places
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
	s := &Screen{
		th: th, cancel: cancel,
		chooser: chooser{eng: eng, ctx: ctx}, porting: porting{eng: eng, ctx: ctx, dir: dir}, review: newReview(ctx, eng),
		writing: writing{eng: eng, ctx: ctx}, viewer: newViewer(ctx, eng, th),
	}
	if s.chooser.path.SetValue(dir); dir != "" {
		s.stage, s.given = reading, true
	}
	return s
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
	text, role := summary(s.review.written.res, s.w)
	return ui.State{Text: text, Role: role}
}

// Init looks around, or reads the directory that was given.
func (s *Screen) Init() tea.Cmd {
	if s.given {
		return s.begin(s.porting.dir)
	}
	return s.chooser.start(nil)
}

// begin ports a directory.
func (s *Screen) begin(dir string) tea.Cmd {
	s.stage = reading
	s.review.begin(dir)
	return s.porting.begin(dir)
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
	return s.stage == choosing || s.stage == naming || s.stage == reviewing && s.review.typing()
}

// SetSize gives the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.chooser.w, s.chooser.h = w, h
	s.review.setSize(w, h)
	s.viewer.setSize(w, h)
	if s.sheet != nil {
		s.sheet.layout(s.th, w, h)
	}
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
		return s.paste(strings.TrimSpace(msg.Content))
	case ui.Mouse:
		return s.mouse(msg)
	case ui.Answer:
		switch {
		case msg.ID == askReplace && msg.Yes && s.stage == comparing:
			return s.writing.write(&s.porting, true)
		case msg.ID == askLeave && msg.Yes:
			return s.backward()
		}
	case ui.ThemeChanged:
		s.th = msg.Theme
		s.viewer.pane.SetTheme(s.th)
		s.SetSize(s.w, s.h)
	case logs.Msg:
		return s.viewer.pane.Update(msg)
	case chooserMsg:
		s.chooser.update(msg)
	case progressMsg:
		return s.porting.progressed(msg)
	case portedMsg:
		return s.takePort(msg)
	case excerptMsg:
		s.review.origin.take(msg)
		return s.fetch()
	case checkedMsg:
		if s.writing.checked(msg); s.stage == naming {
			return s.writing.check(&s.porting)
		}
	case writtenMsg:
		return s.takeWritten(msg)
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

// do does what the review asks for.
func (s *Screen) do(what action) tea.Cmd {
	switch what := what.(type) {
	case answerAction:
		return s.porting.answer(porter.Answer(what))
	case datasetAction:
		return s.porting.lookBelow(string(what))
	case undoAction:
		return s.porting.undo()
	case writeAction:
		s.stage = naming
		s.writing.start()
		return s.writing.check(&s.porting)
	case viewAction:
		if len(what) == 0 {
			return ui.Do(ui.Toast{Text: "no artifact shows it", Role: ui.Warn})
		}
		return s.viewer.open(s.porting.dir, what)
	case sheetAction:
		s.open(what.sheet)
	case remarkAction:
		return ui.Do(ui.Toast(what))
	}
	return s.fetch()
}

// open puts a sheet over the body.
func (s *Screen) open(sh *sheet) {
	s.sheet = sh
	sh.open(s.th, s.w, s.h)
}

// fail says what went wrong: in a remark where it fits into one line, else whole.
func (s *Screen) fail(err error) tea.Cmd {
	if ui.Width(ui.Clean(err.Error()))+4 <= s.w {
		return ui.Fail(err)
	}
	s.open(failed(err))
	return nil
}

// takePort takes a result, of the first port or of one with other answers.
func (s *Screen) takePort(m portedMsg) tea.Cmd {
	switch {
	case !s.porting.ended(m):
		return nil
	case m.err != nil && s.stage >= reviewing: // an answer, or a folder, that can't be
		s.porting.takeBack()
		return s.fail(m.err)
	case m.err != nil:
		s.stage, s.given = choosing, false
		var parent *porter.ParentError
		if errors.As(m.err, &parent) {
			s.chooser.path.SetValue(strings.TrimSuffix(s.porting.dir, "/") + "/")
			m.err = nil
		}
		return s.chooser.start(m.err)
	}
	s.porting.opt.Datasets = m.written.res.Datasets
	s.review.show(&m.written)
	if s.stage < reviewing { // later, names may be being typed
		s.stage = reviewing
		s.review.files.begin()
		s.review.files.scroll()
		s.writing.names[0].SetValue(m.names[0])
		s.writing.names[1].SetValue(m.names[1])
	}
	return s.fetch()
}

func (s *Screen) takeWritten(m writtenMsg) tea.Cmd {
	switch {
	case !s.writing.ended(m):
		return tooLate(m)
	case m.moved || m.exists(m.err):
		s.stage, s.writing.compared = comparing, m.targets
		s.open(targetDiff(m.targets))
		if m.moved {
			text := "nothing is written: what is there has changed since it was shown"
			return ui.Do(ui.Toast{Text: text, Role: ui.Warn})
		}
		return nil
	case m.err != nil:
		return s.fail(m.err)
	}
	s.stage, s.sheet = reviewing, nil
	s.porting.saved(m.answers)
	return ui.Do(ui.OpenEdit{Recipe: m.paths[0], Workload: m.paths[1]})
}

// Unsaved says whether answers were given that are in no file.
func (s *Screen) Unsaved() bool { return s.stage >= reviewing && s.porting.unsaved() }

// The questions of this screen.
const (
	askReplace = "replace"
	askLeave   = "leave"
)

func askToReplace(paths []string) ui.Ask {
	return ui.Ask{
		ID: askReplace, Title: "Replace what is there?", Danger: true,
		Body: strings.Join(paths, "\n"), Yes: "replace", No: "no",
	}
}

// Leave goes back to the choice of a directory if the wizard began with it. Answers
// that were not written are asked about first.
func (s *Screen) Leave() tea.Cmd {
	switch {
	case s.viewer.shown():
		s.viewer.leave()
		return nil
	case s.sheet != nil:
		if s.sheet = nil; s.stage == comparing {
			s.stage = naming
			return s.writing.check(&s.porting)
		}
		return nil
	case s.Unsaved():
		return ui.Do(ui.Ask{
			ID: askLeave, Title: "Leave without writing?", Danger: true,
			Body: "Answers that were given here are not written yet: w writes them with the recipe.",
			Yes:  "discard them", No: "stay",
		})
	case s.stage == choosing:
		return ui.Do(ui.Back{})
	}
	return s.backward()
}

func (s *Screen) backward() tea.Cmd {
	s.porting.giveUp() // whatever comes is of no use
	if s.given {
		return ui.Do(ui.Back{})
	}
	s.stage = choosing
	s.chooser.list()
	return nil
}

func (s *Screen) paste(text string) tea.Cmd {
	switch {
	case s.viewer.shown():
		return s.viewer.pane.Paste(text)
	case s.sheet != nil:
	case s.stage == choosing:
		return s.chooser.paste(text)
	case s.stage == naming:
		s.writing.names[s.writing.at].Insert(text)
		return s.writing.check(&s.porting)
	case s.stage == reviewing:
		s.review.paste(text)
	}
	return nil
}

func (s *Screen) mouse(m ui.Mouse) tea.Cmd {
	switch {
	case s.viewer.shown():
		return s.viewer.pane.Scroll(m.Wheel)
	case s.sheet != nil:
		s.sheet.scroll(m.Wheel)
	case s.stage == choosing:
		s.chooser.mouse(m)
	case s.stage == reviewing && !s.review.typing():
		s.review.mouse(m)
		return s.fetch()
	}
	return nil
}

// View draws the body.
func (s *Screen) View() string {
	switch {
	case s.viewer.shown():
		return s.viewer.view(s.th)
	case s.sheet != nil:
		return s.sheet.view(s.th)
	}
	switch s.stage {
	case choosing:
		return s.chooser.view(s.th)
	case reading:
		return s.porting.view(s.th, s.w)
	case naming:
		return s.writing.view(s.th, s.review.written, s.w, s.h)
	}
	return s.review.view(s.th, s.porting.on)
}
