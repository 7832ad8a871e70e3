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

// ownValue is the kind of a question that only the user asked.
const ownValue porter.TodoKind = "set"

// answer is an answer that is being typed, nil if none is. Whether it is acceptable
// is said with every key.
type answer struct {
	*written
	asked   porter.Todo
	input   ui.Input
	preview string // what would be written
	refused error  // why it can't be
}

// newAnswer asks a question, with what is written, or the first candidate where that
// is a placeholder or nothing.
func newAnswer(w *written, t porter.Todo) *answer {
	a := &answer{written: w, asked: t}
	f, there := w.fieldOf(t)
	switch {
	case (t.Kind == porter.MustFix || !there) && len(t.Candidates) > 0:
		a.input.SetValue(t.Candidates[0].Value)
	case f.Class != porter.Missing:
		a.input.SetValue(f.Value)
	}
	a.try()
	return a
}

// try finds out what would be written for what is typed.
func (a *answer) try() {
	a.preview, a.refused = "", nil
	if a.input.Value() != "" {
		a.preview, a.refused = a.res.Preview(a.asked.ID, a.input.Value())
	}
}

// key handles a key. Once that is over, given is the answer, or nil for none.
func (a *answer) key(msg tea.KeyPressMsg) (given *porter.Answer, over bool) {
	switch {
	case key.Matches(msg, escKey):
		return nil, true
	case key.Matches(msg, offerKey):
		a.offer(1)
	case key.Matches(msg, priorKey):
		a.offer(-1)
	case key.Matches(msg, giveKey):
		if a.refused != nil { // it says why
			return nil, false
		}
		return a.given(), true
	default:
		a.input.Key(msg)
		a.try()
	}
	return nil, false
}

// given is the answer that was typed, nil if there is nothing to it.
func (a *answer) given() *porter.Answer {
	value := a.input.Value()
	f, ok := a.fieldOf(a.asked)
	same := ok && f.Value == value
	switch {
	case value == "", same && a.asked.Kind == ownValue:
		return nil
	case same && a.asked.Kind != porter.MustFix:
		return &porter.Answer{ID: a.asked.ID, Accepted: true}
	}
	return &porter.Answer{ID: a.asked.ID, Value: value}
}

func (a *answer) paste(text string) {
	a.input.Insert(text)
	a.try()
}

// offer puts the candidate after or before the one that stands there into the input.
func (a *answer) offer(by int) {
	n := len(a.asked.Candidates)
	if n == 0 {
		return
	}
	next := 0
	if i := a.offered(); i >= 0 {
		next = (i + by + n) % n
	}
	a.input.SetValue(a.asked.Candidates[next].Value)
	a.try()
}

// offered is the candidate that stands in the input; -1: none.
func (a *answer) offered() int {
	return slices.IndexFunc(a.asked.Candidates, func(c porter.Candidate) bool { return c.Value == a.input.Value() })
}

// need is how many lines the list of questions needs for the answer.
func (a *answer) need() int {
	const rows = 3 // the question, the input, what would be written
	if a == nil {
		return 0
	}
	return rows + len(a.asked.Candidates)
}

// rows are the lines under the question, at most h with candidates: what is typed,
// what would be written, and what could be chosen.
func (a *answer) rows(th ui.Theme, w, h int) []string {
	rows := []string{belowLead + th.Paint(ui.Accent, "› ") + a.input.Draw(th, max(w-17, 1), true)}
	at, n, note := a.offered(), len(a.asked.Candidates), ""
	if all := ui.Plural(n, "candidate"); n > 0 && at >= 0 {
		note = fmt.Sprintf("%d of %s · ", at+1, all)
	} else if n > 0 {
		note = all + ", ↓ chooses · "
	}
	switch {
	case a.refused != nil:
		rows = append(rows, wrapped(th, belowLead+"  ", ui.Bad, a.refused.Error(), w)...)
	case a.preview != "":
		text := th.Paint(ui.Muted, note+"written as ") + th.Paint(ui.OK, ui.Clean(a.preview))
		rows = append(rows, belowLead+"  "+text)
	case note != "":
		rows = append(rows, belowLead+"  "+th.Paint(ui.Muted, strings.TrimSuffix(note, " · ")))
	}
	room := h - len(rows)
	top := max(min(at-room/2, n-room), 0)
	for i := top; i < n && i < top+room; i++ {
		rows = append(rows, candidateRow(th, a.asked.Candidates[i], i == at, w))
	}
	return rows
}

// candidateRow is one of those that can be chosen: the path, and of a file its size and time.
func candidateRow(th ui.Theme, c porter.Candidate, here bool, w int) string {
	facts := ""
	if c.Size > 0 {
		facts = bytesText(c.Size)
	}
	if !c.Modified.IsZero() {
		facts += "  " + c.Modified.Format("2006-01-02 15:04")
	}
	mark, path := "   ", tail(ui.Clean(c.Value), max(w-20-ui.Width(facts), 8))
	if here {
		mark, path = th.Paint(ui.Accent, " ▸ "), th.Selected.Render(path)
	}
	return "            " + ui.LeftRight(mark+path, th.Paint(ui.Muted, facts)+" ", max(w-12, 1))
}

// bytesText is a size as people read it.
func bytesText(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d B", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KB", n>>10)
	case n < 10<<30:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d GB", n>>30)
}

// previewOf is the line of a field as the answer would have it; false if it stays.
func (a *answer) previewOf(l line, f porter.Field) (string, bool) {
	if a == nil || a.preview == "" || !l.first || f.Path == "" || f.File != a.asked.File || f.Path != a.asked.Path {
		return "", false
	}
	key, _, found := strings.Cut(l.text, ": ")
	if !found {
		key = strings.TrimSuffix(l.text, ":")
	}
	return key + ": " + a.preview, true
}
