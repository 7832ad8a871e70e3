package port

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	takeKey     = ui.Bind("enter", "port, or open the folder", "enter")
	completeKey = ui.Bind("tab", "complete", "tab")
	prevKey     = ui.Bind("↑", "up", "up")
	followKey   = ui.Bind("↓", "down", "down")
	escKey      = ui.Bind("esc", "back", "esc")

	writeKey  = ui.Bind("w", "write", "w")
	paneKey   = ui.Bind("tab", "pane", "tab")
	fileKey   = ui.Bind("v", "recipe/workload", "v", "left", "right")
	notedKey  = ui.Bind("n", "next not copied", "n")
	editKey   = ui.Bind("e", "answer, set", "e", "enter")
	acceptKey = ui.Bind("a", "accept", "a")
	seekKey   = ui.Bind("s", "search datasets", "s")
	undoKey   = ui.Bind("u", "undo answer", "u")
	upKey     = ui.Bind("↑ k", "up", "up", "k")
	downKey   = ui.Bind("↓ j", "down", "down", "j")
	pageUp    = ui.Bind("pgup", "page up", "pgup")
	pageDown  = ui.Bind("pgdn", "page down", "pgdown")
	homeKey   = ui.Bind("g", "first", "home", "g")
	endKey    = ui.Bind("G", "last", "end", "G")

	giveKey  = ui.Bind("enter", "answer with this", "enter")
	findKey  = ui.Bind("enter", "search", "enter")
	offerKey = ui.Bind("↓", "next candidate", "down", "tab")
	priorKey = ui.Bind("↑", "candidate before", "up")

	diffKey  = ui.Bind("d", "raw/written", "d")
	openKey  = ui.Bind("o", "open artifact", "o")
	wholeKey = ui.Bind("i", "read it whole", "i")
	otherKey = ui.Bind("d", "launch lines/fields", "d", "tab")
	yesKey   = ui.Bind("r", "replace them", "r")
	shutKey  = ui.Bind("esc", "close", "esc", "q")
	namesKey = ui.Bind("esc", "other names", "esc", "q")

	saveKey = ui.Bind("enter", "write", "enter")
	nextKey = ui.Bind("tab", "other name", "tab", "up", "down")
)

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding {
	moves := []key.Binding{upKey, downKey, pageUp, pageDown, homeKey, endKey}
	switch {
	case s.viewer.shown():
		return s.viewer.keys()
	case s.stage == comparing && s.writing.saving:
		return nil
	case s.stage == comparing:
		return append([]key.Binding{yesKey, namesKey}, moves...)
	case s.sheet != nil && s.sheet.other != nil:
		return append([]key.Binding{shutKey, otherKey}, moves...)
	case s.sheet != nil:
		return append([]key.Binding{shutKey}, moves...)
	case s.stage == choosing:
		return []key.Binding{takeKey, completeKey, prevKey, followKey, escKey}
	case s.stage == reading:
		return nil
	case s.stage == naming && s.writing.saving:
		return []key.Binding{escKey}
	case s.stage == naming:
		return []key.Binding{saveKey, nextKey, escKey}
	}
	return s.review.keys(len(s.porting.opt.Answers) > 0)
}

// keys are the bindings of the pane; undo says that there is an answer to take back.
func (r *review) keys(undo bool) []key.Binding {
	switch {
	case r.root != nil:
		return []key.Binding{findKey, escKey}
	case r.answer != nil && len(r.answer.asked.Candidates) > 0:
		return []key.Binding{giveKey, offerKey, priorKey, escKey}
	case r.answer != nil:
		return []key.Binding{giveKey, escKey}
	}
	edit, back, accept := editKey, undoKey, ui.Disabled(acceptKey, r.notAcceptable())
	_, any := r.askable()
	edit.SetEnabled(any)
	back.SetEnabled(undo)
	if r.focus == onQuestions {
		return []key.Binding{
			writeKey, edit, accept, openKey, diffKey, seekKey, wholeKey, back, paneKey, fileKey, upKey, downKey,
		}
	}
	return []key.Binding{
		writeKey, paneKey, openKey, diffKey, notedKey, fileKey, edit, accept, seekKey, wholeKey, back,
		upKey, downKey, pageUp, pageDown, homeKey, endKey,
	}
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.viewer.shown():
		return s.viewer.key(msg)
	case s.sheet != nil:
		s.sheetKey(msg)
		if s.stage == comparing && key.Matches(msg, yesKey) && !s.writing.saving {
			return ui.Do(askToReplace(s.writing.replaced()))
		}
	case s.stage == choosing:
		dir, cmd := s.chooser.key(msg)
		if dir == "" {
			return cmd
		}
		return s.begin(dir)
	case s.stage == naming:
		return s.nameKey(msg)
	case s.stage == reviewing:
		if what := s.review.key(msg); what != nil {
			return s.do(what)
		}
		return s.review.fetch()
	}
	return nil
}

func (s *Screen) sheetKey(msg tea.KeyPressMsg) {
	if !s.sheet.key(msg) && s.sheet.other != nil && key.Matches(msg, otherKey) {
		s.open(s.sheet.other())
	}
}

func (s *Screen) nameKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, escKey):
		s.stage = reviewing
		s.writing.drop()
		return nil
	case s.writing.saving:
		return nil
	case key.Matches(msg, saveKey):
		return s.writing.write(&s.porting, false)
	}
	s.writing.key(msg)
	return s.writing.check(&s.porting)
}

// key handles a key; what it asks of the screen comes back.
func (r *review) key(msg tea.KeyPressMsg) action {
	switch {
	case r.root != nil:
		return r.rootKey(msg)
	case r.answer != nil:
		given, over := r.answer.key(msg)
		if over {
			r.dropInput()
		}
		if given != nil {
			return answerAction(*given)
		}
		return nil
	}
	switch {
	case key.Matches(msg, writeKey):
		return writeAction{}
	case key.Matches(msg, openKey):
		return viewAction(r.places())
	case key.Matches(msg, diffKey):
		return sheetAction{r.files.fieldDiff()}
	case key.Matches(msg, wholeKey):
		return sheetAction{r.whole()}
	case key.Matches(msg, undoKey):
		return undoAction{}
	case key.Matches(msg, acceptKey):
		return r.accept()
	}
	r.paneKey(msg)
	return nil
}

// rootKey is for the folder in which the datasets are looked for.
func (r *review) rootKey(msg tea.KeyPressMsg) action {
	switch {
	case key.Matches(msg, escKey):
		r.dropInput()
	case key.Matches(msg, findKey):
		root := r.root.Value()
		r.dropInput()
		return datasetAction(root)
	default:
		r.root.Key(msg)
	}
	return nil
}

// paneKey handles a key that asks nothing of the screen.
func (r *review) paneKey(msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, paneKey):
		r.focus = (r.focus + 1) % panes
		r.arrange()
		r.move(0)
	case key.Matches(msg, fileKey):
		r.files.other()
	case key.Matches(msg, notedKey):
		r.files.nextNoted()
	case key.Matches(msg, seekKey):
		r.root = &ui.Input{}
	case r.focus == onArtifacts && msg.String() == "enter":
		r.goToResting()
	case key.Matches(msg, editKey):
		r.ask()
	default:
		r.move(motion(msg, r.boxes.file.h-1))
	}
}

// accept settles the question under the cursor.
func (r *review) accept() action {
	if why := r.notAcceptable(); why != "" {
		return remarkAction{Text: "nothing to accept: " + why, Role: ui.Warn}
	}
	t, _ := r.question()
	return answerAction{ID: t.ID, Accepted: true}
}

// motion is by how many lines a key moves; 0 if it is for something else.
func motion(msg tea.KeyPressMsg, page int) int {
	switch {
	case key.Matches(msg, upKey):
		return -1
	case key.Matches(msg, downKey):
		return 1
	case key.Matches(msg, pageUp):
		return -max(page, 1)
	case key.Matches(msg, pageDown):
		return max(page, 1)
	case key.Matches(msg, homeKey):
		return -farAway
	case key.Matches(msg, endKey):
		return farAway
	}
	return 0
}

// farAway is more lines than any list or text has.
const farAway = 1 << 30
