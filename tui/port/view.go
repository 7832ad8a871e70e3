package port

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// View draws the body.
func (s *Screen) View() string {
	switch s.stage {
	case choosing:
		return s.chooser()
	case reading:
		return s.reader()
	case writing:
		return s.form()
	}
	if s.boxes.wide {
		return s.columns()
	}
	return s.stack()
}

// chooserHead is the height of what stands above the list of choices.
const chooserHead = 3

// rowTop is the first choice in view.
func (s *Screen) rowTop() int {
	room := s.h - chooserHead
	return max(min(s.row-room/2, len(s.rows)-room), 0)
}

func (s *Screen) chooser() string {
	lines := []string{" " + s.th.Paint(ui.Muted, "run directory  ") + s.path.Draw(s.th, max(s.w-17, 1), true), " " + s.advice(), s.th.Line(s.w)}
	for i := s.rowTop(); i < len(s.rows) && len(lines) < s.h; i++ {
		c := s.rows[i]
		role := ui.Muted
		if c.kind == "run" || c.kind == "recent" {
			role = ui.Accent
		}
		kind, path := ui.Fit(c.kind, 9), tail(ui.Clean(c.path), s.w-14)
		if i == s.row {
			lines = append(lines, s.th.Selected.Render(ui.Fit("▸ "+kind+"  "+path, s.w)))
		} else {
			lines = append(lines, "  "+s.th.Paint(role, kind)+"  "+path)
		}
	}
	return strings.Join(lines, "\n")
}

// advice is the line under the typed path: what went wrong, or what was found.
func (s *Screen) advice() string {
	n := 0
	for _, c := range s.rows {
		if c.kind == "run" {
			n++
		}
	}
	switch {
	case s.err != nil:
		return s.th.Paint(ui.Bad, "✗ "+ui.Clean(s.err.Error()))
	case s.lookErr != nil && n == 0:
		return s.th.Paint(ui.Warn, "⚠ "+ui.Clean(s.lookErr.Error()))
	case s.lookBusy:
		return s.th.Paint(ui.Muted, "looking …")
	case n == 1:
		return s.th.Paint(ui.Muted, "1 run directory found")
	case n > 1:
		return s.th.Paint(ui.Muted, fmt.Sprintf("%d run directories found", n))
	}
	return s.th.Paint(ui.Muted, fmt.Sprintf("a folder c<N> of the harness; looked for up to %d levels below what is typed", lookDepth))
}

// tail is the end of a path, which tells paths apart, in w cells.
func tail(path string, w int) string {
	if n := ui.Width(path); n > w {
		return cutLeft(path, n-w+1)
	}
	return path
}

func (s *Screen) reader() string {
	lines := []string{" " + s.th.Paint(ui.Muted, "reading ") + tail(ui.Clean(s.dir), s.w-10)}
	p := s.progress
	if p.Name != "" {
		text := ui.Clean(p.Name)
		if p.Total > 0 {
			lines = append(lines, " "+s.th.Bar(min(40, s.w-4), float64(p.Done)/float64(p.Total), ui.Accent)+"  "+text)
		} else {
			lines = append(lines, " "+s.th.Paint(ui.Muted, p.Stage+" "+text))
		}
	}
	return strings.Join(lines, "\n")
}

func (s *Screen) form() string {
	labels := [2]string{"recipe", "workload"}
	lines := []string{s.factLine(), s.th.Line(s.w), "", "  " + s.th.Title.Render("Write the files"), ""}
	for i := range s.names {
		focused := i == s.name && !s.saving
		label := ui.Fit(labels[i], 10)
		if focused {
			label = s.th.Paint(ui.Accent, label)
		} else {
			label = s.th.Paint(ui.Muted, label)
		}
		lines = append(lines, "  "+label+s.names[i].Draw(s.th, max(s.w-14, 1), focused))
	}
	lines = append(lines, "  "+s.th.Paint(ui.Muted, ui.Fit("origin", 10)+ui.Clean(porter.ProvenancePath(s.names[0].Value()))), "")
	if s.saving {
		lines = append(lines, "  "+s.th.Paint(ui.Muted, "writing …  esc gives it up"))
	} else if n := s.written.res.Open(porter.MustFix); n > 0 {
		for _, l := range ui.Wrap(questions(n)+" must be answered before a run; the files can be written all the same", s.w-4) {
			lines = append(lines, "  "+s.th.Paint(ui.Warn, l))
		}
	}
	return strings.Join(lines, "\n")
}

// factLine says what the run is, and what stands against running it.
func (s *Screen) factLine() string {
	res := s.written.res
	var open []string
	if n := res.Open(porter.MustFix); n > 0 {
		open = append(open, s.th.Paint(ui.Bad, fmt.Sprintf("%d must-fix", n)))
	}
	if n := res.Open(porter.Confirm); n > 0 {
		open = append(open, s.th.Paint(ui.Warn, fmt.Sprintf("%d to confirm", n)))
	}
	if len(open) == 2 && s.w < 80 {
		open = open[:1]
	}
	right := strings.Join(open, "  ") + " "
	if len(open) == 0 {
		right = s.th.Paint(ui.OK, "✓ nothing open ")
	}
	fits := func(parts []string) bool { return ui.Width(strings.Join(parts, " · "))+ui.Width(right)+2 <= s.w }
	facts := append([]string{res.Source}, s.written.facts...)
	if !fits(facts) { // the engine's name is the first to go, then the run's
		facts = facts[:len(facts)-1]
	}
	if !fits(facts) {
		facts = s.written.facts
	}
	for len(facts) > 1 && !fits(facts) {
		facts = facts[:len(facts)-1]
	}
	return ui.Ends(" "+ui.Clean(strings.Join(facts, " · ")), right, s.w)
}

// columns is the wide arrangement.
func (s *Screen) columns() string {
	b := s.boxes
	sep := s.th.Rule.Render(" │ ")
	head := ui.Beside(sep,
		ui.Fit(s.title(" ARTIFACTS", s.pane == onArtifacts), b.artifacts.w),
		ui.Fit(s.fileTitle(), b.file.w), ui.Fit(s.title("WHERE IT COMES FROM", false), b.origin.w))
	parts := []string{s.factLine(), s.th.Line(s.w), head}
	if b.file.h > 0 {
		parts = append(parts, ui.Beside(sep, s.artifacts(), s.file(), ui.Box(strings.Join(s.origin(b.origin.w, b.origin.h), "\n"), b.origin.w, b.origin.h)))
	}
	parts = append(parts, s.th.Titled(s.todoTitle(), "", s.w))
	if b.todos.h > 0 {
		parts = append(parts, s.todoList())
	}
	return strings.Join(parts, "\n")
}

// stack is the narrow one.
func (s *Screen) stack() string {
	b := s.boxes
	parts := []string{s.factLine(), s.th.Titled(s.fileTitle(), "", s.w)}
	if b.file.h > 0 {
		parts = append(parts, s.file())
	}
	parts = append(parts, s.th.Titled(s.title("where it comes from", false), "", s.w))
	if b.origin.h > 0 {
		parts = append(parts, ui.Box(" "+strings.Join(s.origin(b.origin.w-2, b.origin.h), "\n "), b.origin.w, b.origin.h))
	}
	parts = append(parts, s.th.Titled(s.todoTitle(), "", s.w))
	if b.todos.h > 0 {
		parts = append(parts, s.todoList())
	}
	return strings.Join(parts, "\n")
}

func (s *Screen) title(text string, focused bool) string {
	if focused {
		return s.th.Title.Render(text)
	}
	return s.th.Paint(ui.Muted, text)
}

func (s *Screen) fileTitle() string {
	name := func(d int, text string) string {
		if d == s.doc {
			if s.pane == onFile {
				return s.th.Title.Render(text)
			}
			return text
		}
		return s.th.Paint(ui.Muted, text)
	}
	return name(0, "recipe") + s.th.Rule.Render(" │ ") + name(1, "workload")
}

func (s *Screen) todoTitle() string {
	res := s.written.res
	text := s.title("OPEN", s.pane == onTodos)
	if n := len(res.Answers); n > 0 {
		text += s.th.Paint(ui.OK, fmt.Sprintf("  ✓ %d answered", n))
	}
	if s.porting {
		text += s.th.Paint(ui.Muted, "  reading again …")
	}
	return text
}

func (s *Screen) artifacts() string {
	b := s.boxes.artifacts
	count := resting(s.written.res)
	lines := make([]string, 0, b.h)
	for i, a := range s.written.res.Artifacts {
		sign, role := "✓", ui.OK
		switch {
		case !a.Present:
			sign, role = "·", ui.Muted
		case a.Problem != "":
			sign, role = "⚠", ui.Warn
		}
		n := "-"
		if c := count[a.Name]; c > 0 {
			n = fmt.Sprint(c)
		}
		name := ui.Clean(a.Name)
		if s.lit(a.Name) {
			name = s.th.Paint(ui.Accent, name)
		} else if !a.Present {
			name = s.th.Paint(ui.Muted, name)
		}
		mark := " "
		if s.pane == onArtifacts && i == s.artifact {
			mark = s.th.Paint(ui.Accent, "▸")
		}
		lines = append(lines, ui.Ends(mark+s.th.Paint(role, sign)+" "+name, s.th.Paint(ui.Muted, n), b.w))
	}
	if i := s.artifact; s.pane == onArtifacts && i < len(s.written.res.Artifacts) {
		a := s.written.res.Artifacts[i]
		lines = append(lines, "")
		for _, l := range ui.Wrap(strings.Trim(a.Found+"; "+a.Problem, "; "), b.w-3) {
			lines = append(lines, "   "+s.th.Paint(ui.Muted, l))
		}
	}
	return ui.Box(strings.Join(lines, "\n"), b.w, b.h)
}

// lit says whether the line under the cursor rests on an artifact.
func (s *Screen) lit(name string) bool {
	for _, e := range s.field(s.here()).Evidence {
		if e.Artifact == name || strings.HasPrefix(e.Artifact, name+"/") {
			return true
		}
	}
	return false
}

func (s *Screen) file() string {
	b := s.boxes.file
	doc := s.written.docs[s.doc]
	rows := make([]string, 0, b.h)
	for i := s.top[s.doc]; i < len(doc.lines) && len(rows) < b.h; i++ {
		l := doc.lines[i]
		mark, role := " ", ui.Plain
		if l.first {
			mark, role = letter(s.field(l).Class)
		}
		text := ui.Clean(l.text)
		num := ui.Right(fmt.Sprint(i+1), 4)
		here := i == s.at[s.doc]
		room := b.w - 9
		switch {
		case here && s.pane == onFile:
			rows = append(rows, s.th.Selected.Render("▸"+num+" ")+s.th.Style(role).Inherit(s.th.Selected).Render(mark)+s.th.Selected.Render("  "+ui.Fit(text, room)))
			continue
		case here:
			num = s.th.Paint(ui.Accent, num)
		default:
			num = s.th.Paint(ui.Muted, num)
		}
		body, comment, has := strings.Cut(text, " # ")
		if has {
			body += s.th.Paint(ui.Muted, " # "+comment)
		} else if strings.HasPrefix(text, "#") {
			body = s.th.Paint(ui.Muted, text)
		}
		rows = append(rows, " "+num+" "+s.th.Paint(role, mark)+"  "+ui.Fit(body, room))
	}
	return ui.Box(strings.Join(rows, "\n"), b.w, b.h)
}

// todoTop is the first question in view.
func (s *Screen) todoTop() int {
	h := s.boxes.todos.h
	if s.pane == onTodos {
		h-- // the candidates, or the input
	}
	return max(min(s.todo-h/2, len(s.todos)-h), 0)
}

func (s *Screen) todoList() string {
	b := s.boxes.todos
	if s.search != nil {
		return ui.Box(" "+s.th.Paint(ui.Accent, "look for the datasets below › ")+s.search.Draw(s.th, max(s.w-32, 1), true)+
			"\n "+s.th.Paint(ui.Muted, "the files are told by their names, at any depth"), b.w, b.h)
	}
	if len(s.todos) == 0 {
		return ui.Box(" "+s.th.Paint(ui.OK, "✓ nothing is open"), b.w, b.h)
	}
	var rows []string
	for i := s.todoTop(); i < len(s.todos) && len(rows) < b.h; i++ {
		t := s.todos[i]
		here := i == s.todo && s.pane == onTodos
		kind := s.th.Paint(kindRole(t.Kind), ui.Fit(string(t.Kind), 8))
		path := t.Path[strings.LastIndexByte(t.Path, '.')+1:]
		if path == "" {
			path = "run"
		}
		text := ui.Fit(ui.Clean(path), min(24, b.w/3)) + "  " + s.th.Paint(ui.Muted, ui.Clean(t.Message))
		if here {
			rows = append(rows, s.th.Paint(ui.Accent, " ▸ ")+kind+"  "+s.th.Selected.Render(ui.Fit(ui.Clean(path), min(24, b.w/3)))+"  "+ui.Clean(t.Message))
			rows = append(rows, s.below(t))
			continue
		}
		rows = append(rows, "   "+kind+"  "+text)
	}
	return ui.Box(strings.Join(rows, "\n"), b.w, b.h)
}

// below is the line under the selected question: the answer being typed, or what
// could be one.
func (s *Screen) below(t porter.Todo) string {
	lead := "             "
	if s.answer != nil {
		return lead + s.th.Paint(ui.Accent, "› ") + s.answer.Draw(s.th, max(s.w-17, 1), true)
	}
	if len(t.Candidates) > 0 {
		return lead + s.th.Paint(ui.Muted, fmt.Sprintf("%d candidates: ", len(t.Candidates))) + ui.Clean(t.Candidates[0].Value)
	}
	if f, ok := s.fieldOf(t); ok {
		return lead + s.th.Paint(ui.Muted, "now "+ui.Clean(f.Value))
	}
	return ""
}
