package port

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	selectKey      = ui.Bind("enter", "port or open", "enter")
	completeKey    = ui.Bind("tab", "complete", "tab")
	chooserUpKey   = ui.Bind("↑", "up", "up")
	chooserDownKey = ui.Bind("↓", "down", "down")
	escKey         = ui.Bind("esc", "back", "esc")
	cancelKey      = ui.Bind("esc", "cancel", "esc")

	writeKey     = ui.Bind("w", "write", "w")
	paneKey      = ui.Bind("tab", "pane", "tab")
	fileKey      = ui.Bind("v", "recipe/workload", "v", "left", "right")
	notCopiedKey = ui.Bind("n", "next change", "n")
	editKey      = ui.Bind("e", "answer or set", "e", "enter")
	acceptKey    = ui.Bind("a", "accept", "a")
	datasetsKey  = ui.Bind("s", "search datasets", "s")
	undoKey      = ui.Bind("u", "undo answer", "u")
	upKey        = ui.Bind("↑ k", "up", "up", "k")
	downKey      = ui.Bind("↓ j", "down", "down", "j")
	pageUp       = ui.Bind("pgup", "page up", "pgup")
	pageDown     = ui.Bind("pgdn", "page down", "pgdown")
	homeKey      = ui.Bind("g", "first", "home", "g")
	endKey       = ui.Bind("G", "last", "end", "G")

	answerKey            = ui.Bind("enter", "answer", "enter")
	searchKey            = ui.Bind("enter", "search", "enter")
	nextCandidateKey     = ui.Bind("↓", "next candidate", "down", "tab")
	previousCandidateKey = ui.Bind("↑", "previous candidate", "up")

	diffKey       = ui.Bind("d", "before/after", "d")
	openKey       = ui.Bind("o", "open artifact", "o")
	expandKey     = ui.Bind("i", "expand", "i")
	toggleDiffKey = ui.Bind("d", "launch lines/fields", "d", "tab")
	replaceKey    = ui.Bind("r", "replace", "r")
	closeSheetKey = ui.Bind("esc", "close", "esc", "q")
	closeDiffKey  = ui.Bind("esc", "back", "esc", "q")

	writeFilesKey = ui.Bind("enter", "write", "enter")
	nextNameKey   = ui.Bind("tab", "other name", "tab", "up", "down")
)

// moveKeys move in all lists and texts.
var moveKeys = []key.Binding{upKey, downKey, pageUp, pageDown, homeKey, endKey}

func (r *review) keys() []key.Binding {
	switch {
	case r.datasetRoot != nil:
		return []key.Binding{searchKey, cancelKey}
	case r.answer != nil && len(r.answer.question.Candidates) > 0:
		return []key.Binding{answerKey, nextCandidateKey, previousCandidateKey, cancelKey}
	case r.answer != nil:
		return []key.Binding{answerKey, cancelKey}
	}
	edit, undo, accept := editKey, undoKey, ui.Disabled(acceptKey, r.acceptUnavailable())
	_, canEdit := r.answerable()
	edit.SetEnabled(canEdit)
	undo.SetEnabled(len(r.porting.opt.Answers) > 0)
	if r.focus == questionsFocus {
		return []key.Binding{
			writeKey, edit, accept, openKey, diffKey, datasetsKey, expandKey, undo, paneKey, fileKey, upKey, downKey,
		}
	}
	return append([]key.Binding{
		writeKey, edit, paneKey, openKey, diffKey, notCopiedKey, fileKey, accept, datasetsKey, expandKey, undo,
	}, moveKeys...)
}

func (r *review) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case r.datasetRoot != nil:
		return r.handleDatasetRootKey(msg)
	case r.answer != nil:
		return r.handleAnswerKey(msg)
	case key.Matches(msg, writeKey):
		return r.wizard.openWriting()
	case key.Matches(msg, openKey):
		return r.wizard.openViewer(r.locations())
	case key.Matches(msg, undoKey):
		return r.porting.undo()
	case key.Matches(msg, acceptKey):
		return r.acceptQuestion()
	}
	switch {
	case key.Matches(msg, diffKey):
		r.openComparison(false)
	case key.Matches(msg, expandKey):
		r.wizard.openSheet(r.detailsSheet())
	case key.Matches(msg, paneKey):
		r.focus = (r.focus + 1) % focusCount
		r.arrange()
		r.move(0)
	case key.Matches(msg, fileKey):
		r.files.switchFile()
	case key.Matches(msg, notCopiedKey):
		r.files.nextNotCopied()
	case key.Matches(msg, datasetsKey):
		r.datasetRoot = &ui.Input{}
	case r.focus == artifactsFocus && msg.String() == "enter":
		r.goToFirstField()
	case key.Matches(msg, editKey):
		r.openAnswer()
	default:
		r.move(moveDistance(msg, r.layout.file.h-1))
	}
	return r.fetch()
}

// handleDatasetRootKey handles a key in the input of the directory with datasets.
func (r *review) handleDatasetRootKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, cancelKey):
		r.closeInput()
	case key.Matches(msg, searchKey):
		root := r.datasetRoot.Value()
		r.closeInput()
		return r.porting.addDatasetRoot(root)
	default:
		r.datasetRoot.Key(msg)
	}
	return nil
}

func (r *review) handleAnswerKey(msg tea.KeyPressMsg) tea.Cmd {
	given, done := r.answer.key(msg)
	if done {
		r.closeInput()
	}
	if given == nil {
		return nil
	}
	return r.porting.answer(*given)
}

// acceptQuestion confirms the current value of the selected question.
func (r *review) acceptQuestion() tea.Cmd {
	if why := r.acceptUnavailable(); why != "" {
		return ui.Send(ui.Toast{Text: "accept: " + why, Role: ui.Warn})
	}
	t, _ := r.question()
	return r.porting.answer(porter.Answer{ID: t.ID, Accepted: true})
}

// moveDistance returns the number of lines that a key moves by; 0 for other keys.
func moveDistance(msg tea.KeyPressMsg, page int) int {
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

// farAway is larger than the number of lines of any list or text.
const farAway = 1 << 30
