package port

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// focus is the pane that has the keys.
type focus int

const (
	onFile focus = iota
	onQuestions
	onArtifacts
	panes
)

// review is a result being looked at: the written files, where each line comes from,
// the artifacts, and the questions, which are answered here.
type review struct {
	wizard wizard
	job    *porting
	w, h   int
	boxes  boxes
	focus  focus

	files     files
	artifacts artifacts
	questions questions
	origin    origin
	answer    *answer   // being typed; nil: none
	root      *ui.Input // folder to look for the datasets in, being typed; nil: none
}

// begin is for another directory.
func (r *review) begin() {
	r.focus, r.answer, r.root = onFile, nil, nil
	r.files, r.artifacts, r.questions = files{}, artifacts{}, questions{}
	clear(r.origin.excerpts)
	r.show()
}

// show shows the result of the port. The cursors stay where they are.
func (r *review) show() {
	w := r.job.result
	r.files.written, r.artifacts.written = w, w
	r.questions.take(w)
	r.arrange()
	if r.focus == onQuestions {
		r.move(0)
	}
}

func (r *review) setSize(w, h int) {
	r.w, r.h = w, h
	r.arrange()
}

// arrange lays the parts out; candidates for the answer that is being typed need room.
func (r *review) arrange() {
	r.boxes = layout(r.w, r.h, r.answer.need())
	r.files.h = r.boxes.file.h
	r.files.scroll()
}

// typing says whether keys are text now.
func (r *review) typing() bool { return r.answer != nil || r.root != nil }

// fetch reads the excerpt for the line under the cursor.
func (r *review) fetch() tea.Cmd { return r.origin.fetch(r.job.dir, r.files.fieldHere()) }

// question is the one that is being answered, or the one under the cursor: in the
// list the selected one, in the file the one about the line's field.
func (r *review) question() (porter.Todo, bool) {
	switch {
	case r.answer != nil:
		return r.answer.asked, true
	case r.focus == onQuestions:
		return r.questions.here()
	}
	return r.questions.about(r.files.fieldHere())
}

// notAcceptable is why the question under the cursor can't be settled by saying
// that what is written stands; empty if it can.
func (r *review) notAcceptable() string {
	t, ok := r.question()
	switch {
	case !ok:
		return "no question"
	case t.Kind == porter.MustFix:
		return "needs a value"
	}
	return ""
}

// askable is the question under the cursor, or one about the field there: any value
// can be set. A remark about the whole run has none.
func (r *review) askable() (porter.Todo, bool) {
	if t, ok := r.question(); ok || r.focus != onFile {
		return t, ok && t.Path != ""
	}
	f := r.files.fieldHere()
	return porter.Todo{
		ID: f.ID(), Kind: ownValue, File: f.File, Path: f.Path,
		Message: "nothing is open here: a value of your own goes before what was read",
	}, f.Path != ""
}

// ask opens the input for what is under the cursor.
func (r *review) ask() {
	t, ok := r.askable()
	if !ok {
		return
	}
	if r.questions.pick(t.ID) {
		r.focus = onQuestions
	}
	r.answer = newAnswer(r.job.result, t)
	r.arrange()
}

// dropInput ends the typing of an answer or a folder.
func (r *review) dropInput() {
	r.answer, r.root = nil, nil
	r.arrange()
}

// paste takes a text that was pasted into what is being typed.
func (r *review) paste(text string) tea.Cmd {
	if r.root != nil {
		r.root.Insert(text)
	} else if r.answer != nil {
		r.answer.paste(text)
	}
	return nil
}

// places are where the artifact under the cursor, or those that the field rests on,
// are to be looked at.
func (r *review) places() []porter.Evidence {
	if r.focus == onArtifacts {
		if a, ok := r.artifacts.here(); ok && a.Present && a.Problem != "a directory" {
			return []porter.Evidence{{Artifact: a.Name}}
		}
		return nil
	}
	f := r.files.fieldHere()
	if t, ok := r.question(); ok && r.focus == onQuestions {
		if f, _ = r.job.result.fieldOf(t); len(f.Evidence) == 0 {
			f.Evidence = t.Evidence
		}
	}
	var out []porter.Evidence
	for _, e := range f.Evidence {
		if e.Artifact != "answer" {
			out = append(out, e)
		}
	}
	return out
}

// move moves the cursor of the pane; in the list of questions the file follows.
func (r *review) move(by int) {
	switch r.focus {
	case onQuestions:
		r.questions.move(by)
		if t, ok := r.questions.here(); ok {
			r.files.goTo(t.File, t.Path)
		}
	case onArtifacts:
		r.artifacts.move(by)
	default:
		r.files.move(by)
	}
}

// goToResting goes to the first field that rests on the artifact under the cursor.
func (r *review) goToResting() {
	a, _ := r.artifacts.here()
	if fields := r.artifacts.resting(a.Name); len(fields) > 0 && r.files.goTo(fields[0].File, fields[0].Path) {
		r.focus = onFile
	}
}

func (r *review) mouse(m ui.Mouse) tea.Cmd {
	in := func(b rect) bool { return !r.typing() && m.In(b.x, b.y, b.w, b.h) }
	to := func(f focus, by int) {
		if r.focus = f; m.Wheel != 0 {
			by = m.Wheel
		}
		r.move(by)
	}
	list := r.boxes.artifacts
	if r.focus == onArtifacts && !r.boxes.wide {
		list = r.boxes.file
	}
	switch b := r.boxes; {
	case in(list):
		to(onArtifacts, r.artifacts.top(list.h)+m.Y-list.y-r.artifacts.at)
	case in(b.file):
		to(onFile, r.files.top[r.files.doc]+m.Y-b.file.y-r.files.at[r.files.doc])
	case in(b.todos):
		to(onQuestions, r.questions.click(m.Y-b.todos.y, b.todos.h, r.focus == onQuestions))
	}
	return r.fetch()
}

// whole is all that is known of what is under the cursor.
func (r *review) whole() *sheet {
	return &sheet{title: "where it comes from", write: func(th ui.Theme, w int) ([]string, int) {
		lines := r.about(th, max(w-2, 1), unlimited)
		for i := range lines {
			lines[i] = " " + lines[i]
		}
		return lines, 0
	}}
}

func (r *review) view(th ui.Theme) string {
	b, field := r.boxes, r.files.fieldHere()
	list := func(b rect) string { return r.artifacts.view(th, b, r.focus == onArtifacts, field) }
	file := func() string { return r.files.view(th, b.file, r.focus == onFile, r.answer) }
	fileTitle, originTitle := r.files.title(th, r.focus == onFile), "where it comes from"
	parts := []string{r.job.result.factLine(th, r.w)}
	if b.wide {
		parts = append(parts, th.RuleLine(r.w), th.Beside(
			ui.Fit(titled(th, " ARTIFACTS", r.focus == onArtifacts), b.artifacts.w),
			ui.Fit(fileTitle, b.file.w), ui.Fit(titled(th, strings.ToUpper(originTitle), false), b.origin.w)))
		if b.file.h > 0 {
			about := strings.Join(r.about(th, b.origin.w, b.origin.h), "\n")
			parts = append(parts, th.Beside(list(b.artifacts), file(), ui.Box(about, b.origin.w, b.origin.h)))
		}
	} else {
		if r.focus == onArtifacts {
			fileTitle, file = titled(th, "artifacts", true), func() string { return list(b.file) }
		}
		parts = append(parts, th.TitledRule(fileTitle, "", r.w))
		if b.file.h > 0 {
			parts = append(parts, file())
		}
		parts = append(parts, th.TitledRule(titled(th, originTitle, false), "", r.w))
		if b.origin.h > 0 {
			about := strings.Join(r.about(th, b.origin.w-2, b.origin.h), "\n ")
			parts = append(parts, ui.Box(" "+about, b.origin.w, b.origin.h))
		}
	}
	parts = append(parts, th.TitledRule(r.questions.title(th, r.focus == onQuestions, r.job.now != nil), "", r.w))
	if b.todos.h > 0 {
		parts = append(parts, r.questionsView(th))
	}
	return strings.Join(parts, "\n")
}

func (r *review) questionsView(th ui.Theme) string {
	b := r.boxes.todos
	if r.root == nil {
		return r.questions.view(th, b, r.focus == onQuestions, r.answer)
	}
	input := " " + th.Paint(ui.Accent, "look for the datasets below › ") + r.root.Draw(th, max(r.w-32, 1), true)
	return ui.Box(input+"\n "+th.Paint(ui.Muted, "the files are told by their names, at any depth"), b.w, b.h)
}

// titled is the title of a pane.
func titled(th ui.Theme, text string, focused bool) string {
	if focused {
		return th.Title.Render(text)
	}
	return th.Paint(ui.Muted, text)
}
