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

// visible returns the lines that the list shows, and the index of the question on each line. The
// selected question is whole, unless it is higher than the list.
func (q *questions) visible(th ui.Theme) (lines []string, of []int) {
	var top, selected int // first visible line, lines of the selected question
	from := max(q.cursor-q.h, 0)
	for i := from; i < min(q.cursor+q.h+1, len(q.todos)); i++ {
		block := q.block(th, i)
		if i == q.cursor {
			top, selected = len(lines), len(block)
		}
		lines, of = append(lines, block...), append(of, slices.Repeat([]int{i}, len(block))...)
	}
	if selected >= q.h {
		top += max(min(q.skip, selected-q.h), 0)
	} else {
		top = max(min(top-(q.h-selected)/2, len(lines)-q.h), 0)
	}
	end := min(top+q.h, len(lines))
	return lines[top:end], of[top:end]
}

// hiddenLines returns a note about the lines of the selected question that are below the list.
func (q *questions) hiddenLines() string {
	n := len(q.block(ui.Theme{}, q.cursor)) - q.h - q.skip
	if !q.focused || n <= 0 {
		return ""
	}
	return "↓ " + ui.Plural(n, "more line")
}

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
	rows = rows[:min(len(rows), max(q.h-answerLines, 1))]
	rows = append(rows, a.rows(th, q.w, q.h-len(rows))...)
	for i := min(q.cursor, len(q.todos)); i < len(q.todos) && len(rows) < q.h; i++ {
		if t := q.todos[i]; t.ID != a.question.ID {
			rows = append(rows, questionRows(th, t, false, q.w)...)
		}
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
