package port

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// questions is the list of open questions, must-fix ones first.
type questions struct {
	*resultView
	todos  []porter.Todo
	cursor int
}

// setResult shows the questions of a result. The cursor stays.
func (q *questions) setResult(v *resultView) {
	q.resultView, q.todos = v, sortedQuestions(v.res)
	q.move(0)
}

func (q *questions) move(by int) { q.cursor = max(min(q.cursor+by, len(q.todos)-1), 0) }

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
		if f.Path != "" && t.File == f.File && t.Path == f.Path {
			return t, true
		}
	}
	return porter.Todo{}, false
}

// selectID selects a question; false if there is no such question.
func (q *questions) selectID(id string) bool {
	i := slices.IndexFunc(q.todos, func(t porter.Todo) bool { return t.ID == id })
	if i >= 0 {
		q.cursor = i
	}
	return i >= 0
}

// firstVisible returns the first visible question in h lines.
func (q *questions) firstVisible(h int, focused bool) int {
	if focused {
		h -= len(q.selectedNote(ui.Theme{}))
	}
	return max(min(q.cursor-h/2, len(q.todos)-h), 0)
}

// rowDistance returns the number of questions from the cursor to line y of the list. The
// note below the selected question belongs to that question.
func (q *questions) rowDistance(y, h int, focused bool) int {
	top := q.firstVisible(h, focused)
	if focused && y > q.cursor-top {
		y -= len(q.selectedNote(ui.Theme{}))
	}
	return top + y - q.cursor
}

func (q *questions) view(th ui.Theme, b rect, focused bool, a *answer) string {
	if len(q.todos) == 0 && a == nil {
		return ui.Box(" "+th.Paint(ui.OK, "✓ no open questions"), b.w, b.h)
	}
	var rows []string
	from := q.firstVisible(b.h, focused)
	if a != nil { // the answered question is first
		rows = append(questionRow(th, a.question, true, b.w), a.rows(th, b.w, b.h-1)...)
		from = min(q.cursor, len(q.todos))
	}
	for i := from; i < len(q.todos) && len(rows) < b.h; i++ {
		t := q.todos[i]
		if a != nil && t.ID == a.question.ID {
			continue
		}
		selected := a == nil && i == q.cursor && focused
		if rows = append(rows, questionRow(th, t, selected, b.w)...); selected {
			rows = append(rows, q.selectedNote(th)...)
		}
	}
	return ui.Box(strings.Join(rows, "\n"), b.w, b.h)
}

func questionRow(th ui.Theme, t porter.Todo, selected bool, w int) []string {
	path := cmp.Or(t.Path[strings.LastIndexByte(t.Path, '.')+1:], "run")
	kind := th.Paint(kindRole(t.Kind), ui.Fit(string(t.Kind), 8))
	name, text := ui.Fit(ui.Clean(path), min(24, w/3)), ui.Clean(t.Message)
	if selected {
		return []string{th.Paint(ui.Accent, " ▸ ") + kind + "  " + th.Selected.Render(name) + "  " + text}
	}
	return []string{"   " + kind + "  " + name + "  " + th.Paint(ui.Muted, text)}
}

// noteIndent is the indentation of lines below a question.
const noteIndent = "             "

// selectedNote returns the line below the selected question: candidates, or the current value.
func (q *questions) selectedNote(th ui.Theme) []string {
	t, ok := q.current()
	if !ok {
		return nil
	}
	switch f, has := q.fieldFor(t); {
	case len(t.Candidates) > 0:
		n := ui.Plural(len(t.Candidates), "candidate")
		return []string{noteIndent + th.Paint(ui.Muted, n+": ") + ui.Clean(t.Candidates[0].Value)}
	case has:
		return []string{noteIndent + th.Paint(ui.Muted, "current value "+ui.Clean(f.Value))}
	}
	return nil
}

func (q *questions) title(th ui.Theme, focused, porting bool) string {
	text := paneTitle(th, "Questions", focused)
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
