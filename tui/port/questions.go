package port

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// questions is the list of open questions, must-fix ones first. Each question is shown whole, on as
// many lines as it needs.
type questions struct {
	*resultView
	todos  []porter.Todo
	cursor int
	skip   int // lines of the selected question above the first visible one, if it is higher than the list

	w, h    int
	focused bool
}

// setResult shows the questions of a result. The cursor stays.
func (q *questions) setResult(v *resultView) {
	q.resultView, q.todos = v, sortedQuestions(v.res)
	q.move(0)
}

// move moves the cursor. Inside a question that is higher than the list, it moves by lines first.
func (q *questions) move(by int) {
	if hidden := len(q.block(ui.Theme{}, q.cursor)) - q.h; by == 1 && q.skip < hidden || by == -1 && q.skip > 0 {
		q.skip += by
		return
	}
	q.skip, q.cursor = 0, max(min(q.cursor+by, len(q.todos)-1), 0)
}

// current returns the selected question.
func (q *questions) current() (porter.Todo, bool) {
	if q.cursor < len(q.todos) {
		return q.todos[q.cursor], true
	}
	return porter.Todo{}, false
}

// forField returns the question about a field.
func (q *questions) forField(f porter.Field) (porter.Todo, bool) {
	for _, t := range q.todos {
		if f.Path != "" && t.File == f.File && (t.Path == f.Path || slices.Contains(t.Fields, f.Path)) {
			return t, true
		}
	}
	return porter.Todo{}, false
}

// selectID selects a question; false if there is no such question.
func (q *questions) selectID(id string) bool {
	i := slices.IndexFunc(q.todos, func(t porter.Todo) bool { return t.ID == id })
	if i >= 0 {
		q.cursor, q.skip = i, 0
	}
	return i >= 0
}

// neededLines returns the number of lines of all questions, at most limit.
func (q *questions) neededLines(limit int) int {
	n := 0
	for i := 0; i < len(q.todos) && n < limit; i++ {
		n += len(q.block(ui.Theme{}, i))
	}
	return min(n, limit)
}

// visible returns the lines that the list shows, and the index of the question on each line. Questions
// are whole; only a selected one that is higher than the list is cut, and scrolls.
func (q *questions) visible(th ui.Theme) (lines []string, of []int) {
	block := q.block(th, q.cursor)
	skip := max(min(q.skip, len(block)-q.h), 0)
	lines = block[skip:min(skip+q.h, len(block))]
	of = slices.Repeat([]int{q.cursor}, len(lines))
	add := func(i, at int) bool {
		if i < 0 || i >= len(q.todos) {
			return false
		}
		block := q.block(th, i)
		if len(lines)+len(block) > q.h {
			return false
		}
		lines = slices.Insert(lines, at, block...)
		of = slices.Insert(of, at, slices.Repeat([]int{i}, len(block))...)
		return true
	}
	above, below := q.cursor-1, q.cursor+1
	for up, down := true, true; up || down; {
		if up = up && add(above, 0); up {
			above--
		}
		if down = down && add(below, len(lines)); down {
			below++
		}
	}
	return lines, of
}

// hidden returns a note about what is below the list: lines of the selected question, or of the one
// being answered, or other questions.
func (q *questions) hidden(a *answer) string {
	if a != nil {
		n := len(questionRows(ui.Theme{}, a.question, true, q.w)) - q.answeredRows()
		if n <= 0 {
			return ""
		}
		return ui.Plural(n, "more line")
	}
	if n := len(q.block(ui.Theme{}, q.cursor)) - q.h - q.skip; n > 0 {
		return "↓ " + ui.Plural(n, "more line")
	}
	if _, of := q.visible(ui.Theme{}); len(of) > 0 && of[len(of)-1] < len(q.todos)-1 {
		return fmt.Sprintf("↓ %d more", len(q.todos)-1-of[len(of)-1])
	}
	return ""
}

// answeredRows returns the number of lines for the question being answered.
func (q *questions) answeredRows() int { return max(q.h-answerLines, 1) }

// rowDistance returns the number of questions from the cursor to line y of the list.
func (q *questions) rowDistance(y int) int {
	_, of := q.visible(ui.Theme{})
	if y < 0 || len(of) == 0 {
		return 0
	}
	return of[min(y, len(of)-1)] - q.cursor
}

func (q *questions) view(th ui.Theme, a *answer) string {
	if len(q.todos) == 0 && a == nil {
		return ui.Box(" "+th.Paint(ui.OK, "✓ no open questions"), q.w, q.h)
	}
	if a == nil {
		lines, _ := q.visible(th)
		return ui.Box(strings.Join(lines, "\n"), q.w, q.h)
	}
	rows := questionRows(th, a.question, true, q.w) // the answered question is first
	rows = rows[:min(len(rows), q.answeredRows())]
	rows = append(rows, a.rows(th, q.w, q.h-len(rows))...)
	for _, t := range q.todos[min(q.cursor, len(q.todos)):] {
		if t.ID == a.question.ID {
			continue
		}
		other := questionRows(th, t, false, q.w)
		if len(rows)+len(other) > q.h {
			break
		}
		rows = append(rows, other...)
	}
	return ui.Box(strings.Join(rows, "\n"), q.w, q.h)
}

// block returns the lines of a question.
func (q *questions) block(th ui.Theme, i int) []string {
	if i >= len(q.todos) {
		return nil
	}
	t, selected := q.todos[i], i == q.cursor && q.focused
	rows := questionRows(th, t, selected, q.w)
	if selected {
		rows = append(rows, q.note(th, t)...)
	}
	return rows
}

// questionRows returns the lines of a question: kind, name and message, and what was found.
func questionRows(th ui.Theme, t porter.Todo, selected bool, w int) []string {
	name := ui.Clean(cmp.Or(t.Path[strings.LastIndexByte(t.Path, '.')+1:], "run"))
	nameWidth := min(24, w/3)
	name = ui.Fit(name, nameWidth)
	// The message begins behind the name and continues below it.
	width := w - len(noteIndent) - 1
	message := ui.Wrap(strings.Repeat("x", nameWidth)+" "+t.Message, width)
	if len(message) == 0 {
		return nil
	}
	role, mark := ui.Muted, "   "
	if selected {
		role, mark = ui.Plain, th.Paint(ui.Accent, " ▸ ")
	}
	first := th.Paint(role, strings.TrimLeft(message[0], "x"))
	if selected {
		name = th.Selected.Render(name)
	}
	rows := []string{mark + th.Paint(kindRole(t.Kind), ui.Fit(string(t.Kind), 8)) + "  " + name + first}
	for _, l := range message[1:] {
		rows = append(rows, noteIndent+th.Paint(role, l))
	}
	for _, d := range t.Details {
		margin := noteIndent + d[:len(d)-len(strings.TrimLeft(d, " "))]
		rows = append(rows, wrapIndented(th, margin, role, d, w)...)
	}
	return rows
}

// noteIndent is the indentation of lines below a question.
const noteIndent = "             "

// note returns the lines below the selected question: candidates, or the current value.
func (q *questions) note(th ui.Theme, t porter.Todo) []string {
	switch f, has := q.fieldFor(t); {
	case len(t.Candidates) > 0:
		text := ui.Plural(len(t.Candidates), "candidate") + ": " + t.Candidates[0].Value
		return wrapIndented(th, noteIndent, ui.Accent, text, q.w)
	case has:
		return wrapIndented(th, noteIndent, ui.Accent, "current value "+f.Value, q.w)
	}
	return nil
}

func (q *questions) title(th ui.Theme, porting bool) string {
	text := paneTitle(th, "Questions", q.focused)
	if open := q.openCounts(th); len(open) > 0 {
		text += " (" + strings.Join(open, ", ") + ")"
	}
	if n := len(q.res.Answers); n > 0 {
		text += th.Paint(ui.OK, fmt.Sprintf("  ✓ %d answered", n))
	}
	if porting {
		text += th.Paint(ui.Muted, "  updating …")
	}
	return text
}
