package port

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// View draws the body.
func (s *Screen) View() string {
	switch {
	case s.viewer.shown():
		return s.viewer.view(s.th)
	case s.sheet != nil:
		return s.sheet.draw(s.th)
	}
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

// head is the height of what stands above the list of choices.
func (s *Screen) head() int { return 2 + len(s.advice()) }

// rowTop is the first choice in view.
func (s *Screen) rowTop() int {
	room := s.h - s.head()
	return max(min(s.row-room/2, len(s.rows)-room), 0)
}

func (s *Screen) chooser() string {
	lines := []string{" " + s.th.Paint(ui.Muted, "run directory  ") + s.path.Draw(s.th, max(s.w-17, 1), true)}
	lines = append(append(lines, s.advice()...), s.th.Line(s.w))
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

// advice is what stands under the typed path: what went wrong, or what was found.
func (s *Screen) advice() []string {
	n := 0
	for _, c := range s.rows {
		if c.kind == "run" {
			n++
		}
	}
	switch {
	case s.err != nil:
		return s.wrapped(" ", ui.Bad, "✗ "+s.err.Error(), s.w)
	case s.lookErr != nil && n == 0:
		return s.wrapped(" ", ui.Warn, "⚠ "+s.lookErr.Error(), s.w)
	case s.pending > 0:
		return s.wrapped(" ", ui.Muted, "looking …", s.w)
	case n == 1:
		return s.wrapped(" ", ui.Muted, "1 run directory found", s.w)
	case n > 1:
		return s.wrapped(" ", ui.Muted, fmt.Sprintf("%d run directories found", n), s.w)
	}
	return s.wrapped(" ", ui.Muted, fmt.Sprintf("a folder c<N> of the harness; looked for up to %d levels below", lookDepth), s.w)
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
		parts = append(parts, ui.Beside(sep, s.artifacts(b.artifacts), s.file(), ui.Box(strings.Join(s.origin(b.origin.w, b.origin.h), "\n"), b.origin.w, b.origin.h)))
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
	if s.pane == onArtifacts {
		parts[1] = s.th.Titled(s.title("artifacts", true), "", s.w)
	}
	switch {
	case b.file.h > 0 && s.pane == onArtifacts:
		parts = append(parts, s.artifacts(b.file))
	case b.file.h > 0:
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

// lit says whether the line under the cursor rests on an artifact.
func (s *Screen) lit(name string) bool {
	return restsOn(s.field(s.here()), name)
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
		if p, changes := s.previewed(l); changes {
			rows = append(rows, s.th.Paint(ui.Accent, "→"+ui.Right(fmt.Sprint(i+1), 4)+" "+mark+"  "+ui.Fit(ui.Clean(p), b.w-9)))
			continue
		}
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
