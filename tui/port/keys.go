package port

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
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

// moves are the keys that move in any list or text.
var moves = []key.Binding{upKey, downKey, pageUp, pageDown, homeKey, endKey}

func (r *review) keys() []key.Binding {
	switch {
	case r.root != nil:
		return []key.Binding{findKey, escKey}
	case r.answer != nil && len(r.answer.asked.Candidates) > 0:
		return []key.Binding{giveKey, offerKey, priorKey, escKey}
	case r.answer != nil:
		return []key.Binding{giveKey, escKey}
	}
	edit, undo, accept := editKey, undoKey, ui.Disabled(acceptKey, r.notAcceptable())
	_, any := r.askable()
	edit.SetEnabled(any)
	undo.SetEnabled(len(r.job.opt.Answers) > 0)
	if r.focus == onQuestions {
		return []key.Binding{
			writeKey, edit, accept, openKey, diffKey, seekKey, wholeKey, undo, paneKey, fileKey, upKey, downKey,
		}
	}
	return append([]key.Binding{
		writeKey, paneKey, openKey, diffKey, notedKey, fileKey, edit, accept, seekKey, wholeKey, undo,
	}, moves...)
}

func (r *review) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case r.root != nil:
		return r.rootKey(msg)
	case r.answer != nil:
		return r.answerKey(msg)
	case key.Matches(msg, writeKey):
		return r.wizard.nameFiles()
	case key.Matches(msg, openKey):
		return r.wizard.show(r.places())
	case key.Matches(msg, undoKey):
		return r.job.undo()
	case key.Matches(msg, acceptKey):
		return r.accept()
	}
	switch {
	case key.Matches(msg, diffKey):
		r.compare(false)
	case key.Matches(msg, wholeKey):
		r.wizard.open(r.whole())
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
	return r.fetch()
}

// rootKey is for the folder in which the datasets are looked for.
func (r *review) rootKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, escKey):
		r.dropInput()
	case key.Matches(msg, findKey):
		root := r.root.Value()
		r.dropInput()
		return r.job.lookBelow(root)
	default:
		r.root.Key(msg)
	}
	return nil
}

func (r *review) answerKey(msg tea.KeyPressMsg) tea.Cmd {
	given, over := r.answer.key(msg)
	if over {
		r.dropInput()
	}
	if given == nil {
		return nil
	}
	return r.job.answer(*given)
}

// accept settles the question under the cursor.
func (r *review) accept() tea.Cmd {
	if why := r.notAcceptable(); why != "" {
		return ui.Send(ui.Toast{Text: "nothing to accept: " + why, Role: ui.Warn})
	}
	t, _ := r.question()
	return r.job.answer(porter.Answer{ID: t.ID, Accepted: true})
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
