package port

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// userValue is the kind of an answer that sets a field about which there is no question.
const userValue porter.TodoKind = "set"

// answer is the input for the answer to a question. It is validated with each key.
type answer struct {
	*resultView
	question porter.Todo
	input    ui.Input
	preview  string // the value as it would be written
	err      error  // why the value is invalid
}

// newAnswer returns an input for the answer to a question. It starts with the current
// value, or with the first candidate if there is no value.
func newAnswer(v *resultView, t porter.Todo) *answer {
	a := &answer{resultView: v, question: t}
	f, found := v.fieldFor(t)
	switch {
	case (t.Kind == porter.MustFix || !found) && len(t.Candidates) > 0:
		a.input.SetValue(t.Candidates[0].Value)
	case f.Class != porter.Missing:
		a.input.SetValue(f.Value)
	}
	a.updatePreview()
	return a
}

// updatePreview validates the typed value.
func (a *answer) updatePreview() {
	a.preview, a.err = "", nil
	if a.input.Value() != "" {
		a.preview, a.err = a.res.Preview(a.question.ID, a.input.Value())
	}
}

// key handles a key. It returns done when the input closes, with the given answer, or nil.
func (a *answer) key(msg tea.KeyPressMsg) (given *porter.Answer, done bool) {
	switch {
	case key.Matches(msg, cancelKey):
		return nil, true
	case key.Matches(msg, nextCandidateKey):
		a.selectCandidate(1)
	case key.Matches(msg, previousCandidateKey):
		a.selectCandidate(-1)
	case key.Matches(msg, answerKey):
		if a.err != nil { // shown below the input
			return nil, false
		}
		return a.value(), true
	default:
		a.input.Key(msg)
		a.updatePreview()
	}
	return nil, false
}

// value returns the typed answer; nil if it is empty or changes nothing.
func (a *answer) value() *porter.Answer {
	value := a.input.Value()
	f, ok := a.fieldFor(a.question)
	same := ok && f.Value == value
	switch {
	case value == "", same && a.question.Kind == userValue:
		return nil
	case same && a.question.Kind != porter.MustFix:
		return &porter.Answer{ID: a.question.ID, Accepted: true}
	}
	return &porter.Answer{ID: a.question.ID, Value: value}
}

func (a *answer) paste(text string) {
	a.input.Insert(text)
	a.updatePreview()
}

// selectCandidate puts the next or previous candidate into the input.
func (a *answer) selectCandidate(by int) {
	n := len(a.question.Candidates)
	if n == 0 {
		return
	}
	next := 0
	if i := a.selectedCandidate(); i >= 0 {
		next = (i + by + n) % n
	}
	a.input.SetValue(a.question.Candidates[next].Value)
	a.updatePreview()
}

// selectedCandidate returns the index of the candidate in the input; -1: none.
func (a *answer) selectedCandidate() int {
	return slices.IndexFunc(a.question.Candidates, func(c porter.Candidate) bool { return c.Value == a.input.Value() })
}

// answerLines is the number of lines of an input with its preview.
const answerLines = 2

// neededLines returns the number of lines of w cells that the question and its input need.
func (a *answer) neededLines(w int) int {
	return len(questionRows(ui.Theme{}, a.question, true, w)) + answerLines + len(a.question.Candidates)
}

// rows draws the lines below the question, at most h with candidates: input, preview,
// candidates.
func (a *answer) rows(th ui.Theme, w, h int) []string {
	rows := []string{noteIndent + th.Paint(ui.Accent, "› ") + a.input.Draw(th, max(w-17, 1), true)}
	at, n, note := a.selectedCandidate(), len(a.question.Candidates), ""
	if all := ui.Plural(n, "candidate"); n > 0 && at >= 0 {
		note = fmt.Sprintf("%d of %s · ", at+1, all)
	} else if n > 0 {
		note = all + ", ↓ selects · "
	}
	switch {
	case a.err != nil:
		rows = append(rows, wrapIndented(th, noteIndent+"  ", ui.Bad, a.err.Error(), w)...)
	case a.preview != "":
		text := th.Paint(ui.Muted, note+"written as ") + th.Paint(ui.OK, ui.Clean(a.preview))
		rows = append(rows, noteIndent+"  "+text)
	case note != "":
		rows = append(rows, noteIndent+"  "+th.Paint(ui.Muted, strings.TrimSuffix(note, " · ")))
	}
	room := h - len(rows)
	top := max(min(at-room/2, n-room), 0)
	for i := top; i < n && i < top+room; i++ {
		rows = append(rows, candidateRow(th, a.question.Candidates[i], i == at, w))
	}
	return rows
}

// candidateRow draws a candidate: the path, and for files the size and time.
func candidateRow(th ui.Theme, c porter.Candidate, selected bool, w int) string {
	facts := ""
	if c.Size > 0 {
		facts = ui.Bytes(c.Size)
	}
	if !c.Modified.IsZero() {
		facts += "  " + c.Modified.Format("2006-01-02 15:04")
	}
	mark, path := "   ", pathTail(ui.Clean(c.Value), max(w-20-ui.Width(facts), 8))
	if selected {
		mark, path = th.Paint(ui.Accent, " ▸ "), th.Selected.Render(path)
	}
	return "            " + ui.LeftRight(mark+path, th.Paint(ui.Muted, facts)+" ", max(w-12, 1))
}

// previewLine returns the line of a field with the typed value; false for other fields.
func (a *answer) previewLine(l line, f porter.Field) (string, bool) {
	if a == nil || a.preview == "" || !l.first || f.Path == "" || f.File != a.question.File || f.Path != a.question.Path {
		return "", false
	}
	key, _, found := strings.Cut(l.text, ": ")
	if !found {
		key = strings.TrimSuffix(l.text, ":")
	}
	return key + ": " + a.preview, true
}
