package port

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// answerRows is what typing an answer takes: the question, the input, what would be written.
const answerRows = 3

// todoTop is the first question in view.
func (s *Screen) todoTop() int {
	h := s.boxes.todos.h
	if s.pane == onTodos {
		h -= s.belowRows()
	}
	return max(min(s.todo-h/2, len(s.todos)-h), 0)
}

// belowRows is how many lines the selected question has below it.
func (s *Screen) belowRows() int {
	if t, ok := s.question(); ok {
		return len(s.below(t))
	}
	return 0
}

func (s *Screen) todoList() string {
	b := s.boxes.todos
	if s.search != nil {
		return ui.Box(" "+s.th.Paint(ui.Accent, "look for the datasets below › ")+s.search.Draw(s.th, max(s.w-32, 1), true)+
			"\n "+s.th.Paint(ui.Muted, "the files are told by their names, at any depth"), b.w, b.h)
	}
	if s.answer != nil {
		rows := s.selectedTodo(s.asked)
		for _, t := range s.todos[min(s.todo, len(s.todos)):] {
			if t.ID != s.asked.ID {
				rows = append(rows, s.todoRowOf(t))
			}
		}
		return ui.Box(strings.Join(rows, "\n"), b.w, b.h)
	}
	if len(s.todos) == 0 {
		return ui.Box(" "+s.th.Paint(ui.OK, "✓ nothing is open"), b.w, b.h)
	}
	var rows []string
	for i := s.todoTop(); i < len(s.todos) && len(rows) < b.h; i++ {
		if i == s.todo && s.pane == onTodos {
			rows = append(rows, s.selectedTodo(s.todos[i])...)
		} else {
			rows = append(rows, s.todoRowOf(s.todos[i]))
		}
	}
	return ui.Box(strings.Join(rows, "\n"), b.w, b.h)
}

func (s *Screen) todoRowOf(t porter.Todo) string {
	kind, name := s.todoName(t)
	return "   " + kind + "  " + name + "  " + s.th.Paint(ui.Muted, ui.Clean(t.Message))
}

// selectedTodo is a question with what is below it.
func (s *Screen) selectedTodo(t porter.Todo) []string {
	kind, name := s.todoName(t)
	return append([]string{s.th.Paint(ui.Accent, " ▸ ") + kind + "  " + s.th.Selected.Render(name) + "  " + ui.Clean(t.Message)}, s.below(t)...)
}

func (s *Screen) todoName(t porter.Todo) (kind, name string) {
	path := cmp.Or(t.Path[strings.LastIndexByte(t.Path, '.')+1:], "run")
	return s.th.Paint(kindRole(t.Kind), ui.Fit(string(t.Kind), 8)), ui.Fit(ui.Clean(path), min(24, s.boxes.todos.w/3))
}

// below are the lines under the selected question: the answer being typed, with
// what would be written and what could be chosen, or what stands there now.
func (s *Screen) below(t porter.Todo) []string {
	const lead = "             "
	if s.answer == nil {
		switch f, ok := s.fieldOf(t); {
		case len(t.Candidates) > 0:
			return []string{lead + s.th.Paint(ui.Muted, fmt.Sprintf("%s to choose from: ", candidates(len(t.Candidates)))) + ui.Clean(t.Candidates[0].Value)}
		case ok:
			return []string{lead + s.th.Paint(ui.Muted, "now "+ui.Clean(f.Value))}
		}
		return nil
	}
	rows := []string{lead + s.th.Paint(ui.Accent, "› ") + s.answer.Draw(s.th, max(s.w-17, 1), true)}
	at := s.offered(t)
	note := ""
	if n := len(t.Candidates); n > 0 && at >= 0 {
		note = fmt.Sprintf("%d of %s · ", at+1, candidates(n))
	} else if n > 0 {
		note = candidates(n) + ", ↓ chooses · "
	}
	switch {
	case s.refused != nil:
		rows = append(rows, s.wrapped(lead+"  ", ui.Bad, s.refused.Error(), s.w)...)
	case s.preview != "":
		rows = append(rows, lead+"  "+s.th.Paint(ui.Muted, note+"written as ")+s.th.Paint(ui.OK, ui.Clean(s.preview)))
	case note != "":
		rows = append(rows, lead+"  "+s.th.Paint(ui.Muted, strings.TrimSuffix(note, " · ")))
	}
	room := s.boxes.todos.h - 1 - len(rows)
	top := max(min(at-room/2, len(t.Candidates)-room), 0)
	for i := top; i < len(t.Candidates) && i < top+room; i++ {
		rows = append(rows, s.candidate(t.Candidates[i], i == at))
	}
	return rows
}

func candidates(n int) string {
	if n == 1 {
		return "1 candidate"
	}
	return fmt.Sprintf("%d candidates", n)
}

// candidate is one row of those that can be chosen: the path, and of a file its
// size and time.
func (s *Screen) candidate(c porter.Candidate, here bool) string {
	facts := ""
	if c.Size > 0 {
		facts = bytesText(c.Size)
	}
	if !c.Modified.IsZero() {
		facts += "  " + c.Modified.Format("2006-01-02 15:04")
	}
	mark, path := "   ", tail(ui.Clean(c.Value), max(s.w-20-ui.Width(facts), 8))
	if here {
		mark, path = s.th.Paint(ui.Accent, " ▸ "), s.th.Selected.Render(path)
	}
	return "            " + ui.Ends(mark+path, s.th.Paint(ui.Muted, facts)+" ", max(s.w-12, 1))
}

// previewed is a line as the answer that is being typed would have it.
func (s *Screen) previewed(l line) (string, bool) {
	t, ok := s.question()
	if f := s.field(l); !ok || s.answer == nil || s.preview == "" || !l.first || f.Path == "" || f.File != t.File || f.Path != t.Path {
		return "", false
	}
	key, _, found := strings.Cut(l.text, ": ")
	if !found {
		key = strings.TrimSuffix(l.text, ":")
	}
	return key + ": " + s.preview, true
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
