package port

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// questions is the list of what could not be known, those that block first.
type questions struct {
	*written
	todos []porter.Todo
	at    int
}

// take shows the questions of a result; the cursor stays where it is.
func (q *questions) take(w *written) {
	q.written, q.todos = w, ranked(w.res)
	q.move(0)
}

func (q *questions) move(by int) { q.at = max(min(q.at+by, len(q.todos)-1), 0) }

// here is the question under the cursor.
func (q *questions) here() (porter.Todo, bool) {
	if q.at < len(q.todos) {
		return q.todos[q.at], true
	}
	return porter.Todo{}, false
}

// about is the question about a field.
func (q *questions) about(f porter.Field) (porter.Todo, bool) {
	for _, t := range q.todos {
		if f.Path != "" && t.File == f.File && t.Path == f.Path {
			return t, true
		}
	}
	return porter.Todo{}, false
}

// pick puts the cursor on a question; false if it is none of the list.
func (q *questions) pick(id string) bool {
	i := slices.IndexFunc(q.todos, func(t porter.Todo) bool { return t.ID == id })
	if i >= 0 {
		q.at = i
	}
	return i >= 0
}

// top is the first question in view among h lines.
func (q *questions) top(h int, focused bool) int {
	if focused {
		h -= len(q.below(ui.Theme{}))
	}
	return max(min(q.at-h/2, len(q.todos)-h), 0)
}

// click is by how many questions a click on a line of the list moves the cursor; the
// line below the selected question belongs to it.
func (q *questions) click(y, h int, focused bool) int {
	top := q.top(h, focused)
	if focused && y > q.at-top {
		y -= len(q.below(ui.Theme{}))
	}
	return top + y - q.at
}

func (q *questions) view(th ui.Theme, b rect, focused bool, a *answer) string {
	if len(q.todos) == 0 && a == nil {
		return ui.Box(" "+th.Paint(ui.OK, "✓ nothing is open"), b.w, b.h)
	}
	var rows []string
	from := q.top(b.h, focused)
	if a != nil { // it is first, then what comes after it
		rows = append(questionRow(th, a.asked, true, b.w), a.rows(th, b.w, b.h-1)...)
		from = min(q.at, len(q.todos))
	}
	for i := from; i < len(q.todos) && len(rows) < b.h; i++ {
		t := q.todos[i]
		if a != nil && t.ID == a.asked.ID {
			continue
		}
		selected := a == nil && i == q.at && focused
		if rows = append(rows, questionRow(th, t, selected, b.w)...); selected {
			rows = append(rows, q.below(th)...)
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

// belowLead is what lines below a question begin with.
const belowLead = "             "

// below is the line under the selected question: what could be chosen, or what stands there now.
func (q *questions) below(th ui.Theme) []string {
	t, ok := q.here()
	if !ok {
		return nil
	}
	switch f, has := q.fieldOf(t); {
	case len(t.Candidates) > 0:
		n := ui.Plural(len(t.Candidates), "candidate")
		return []string{belowLead + th.Paint(ui.Muted, n+" to choose from: ") + ui.Clean(t.Candidates[0].Value)}
	case has:
		return []string{belowLead + th.Paint(ui.Muted, "now "+ui.Clean(f.Value))}
	}
	return nil
}

func (q *questions) title(th ui.Theme, focused, again bool) string {
	text := titled(th, "OPEN", focused)
	if n := len(q.res.Answers); n > 0 {
		text += th.Paint(ui.OK, fmt.Sprintf("  ✓ %d answered", n))
	}
	if again {
		text += th.Paint(ui.Muted, "  reading again …")
	}
	return text
}
