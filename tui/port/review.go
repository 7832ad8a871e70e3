package port

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// focus is the focused part of the review.
type focus int

const (
	fileFocus focus = iota
	questionsFocus
	artifactsFocus
	focusCount
)

// review shows the result of a port: the files, the origin of each line, the artifacts,
// and the questions with their answers.
type review struct {
	wizard  wizard
	porting *porting
	w, h    int
	layout  reviewLayout
	focus   focus

	files       files
	artifacts   artifacts
	questions   questions
	origin      origin
	answer      *answer   // nil: no answer is being typed
	datasetRoot *ui.Input // directory of datasets; nil: not being typed
}

// reset prepares the review of another directory.
func (r *review) reset() {
	r.focus, r.answer, r.datasetRoot = fileFocus, nil, nil
	r.files, r.artifacts, r.questions = files{}, artifacts{}, questions{}
	clear(r.origin.excerpts)
	r.update()
}

// update shows the result of the port. The cursors stay.
func (r *review) update() {
	v := r.porting.result
	r.files.resultView, r.artifacts.resultView = v, v
	r.questions.setResult(v)
	r.arrange()
	if r.focus == questionsFocus {
		r.move(0)
	}
}

func (r *review) setSize(w, h int) {
	r.w, r.h = w, h
	r.arrange()
}

// arrange updates the layout, with space for the questions if they are focused, or for an answer.
func (r *review) arrange() {
	q, need, most := &r.questions, 0, r.h/2-2
	q.w, q.focused = r.w, r.focus == questionsFocus
	switch {
	case r.answer != nil:
		most = r.h * 2 / 3
		need = min(r.answer.neededLines(r.w), most)
	case q.focused:
		need = q.neededLines(most)
	}
	r.layout = arrangeReview(r.w, r.h, need)
	q.h = r.layout.questions.h
	r.files.h = r.layout.file.h
	r.files.scroll()
}

// typing reports whether keys are text.
func (r *review) typing() bool { return r.answer != nil || r.datasetRoot != nil }

// fetch reads the excerpt for the selected line.
func (r *review) fetch() tea.Cmd { return r.origin.fetch(r.porting.dir, r.files.currentField()) }

// question returns the question being answered, or the one selected in the list, or the
// one about the selected field.
func (r *review) question() (porter.Todo, bool) {
	switch {
	case r.answer != nil:
		return r.answer.question, true
	case r.focus == questionsFocus:
		return r.questions.current()
	}
	return r.questions.forField(r.files.currentField())
}

// acceptUnavailable returns why the current value of the selected question can't be
// confirmed; empty if it can.
func (r *review) acceptUnavailable() string {
	t, ok := r.question()
	switch {
	case !ok:
		return "no question"
	case !r.porting.result.res.CanAccept(t):
		return "needs a value"
	}
	return ""
}

// answerable returns the selected question, or a new one about the selected field, since
// any field can be set. It returns false for a note about the run.
func (r *review) answerable() (porter.Todo, bool) {
	if t, ok := r.question(); ok || r.focus != fileFocus {
		return t, ok && t.Path != ""
	}
	f := r.files.currentField()
	return porter.Todo{
		ID: f.ID(), Kind: userValue, File: f.File, Path: f.Path,
		Message: "no open question; a value set here overrides the artifacts",
	}, f.Path != ""
}

// openAnswer opens the input for the selected question or field.
func (r *review) openAnswer() {
	t, ok := r.answerable()
	if !ok {
		return
	}
	if r.questions.selectID(t.ID) {
		r.focus = questionsFocus
	}
	r.answer = newAnswer(r.porting.result, t)
	r.arrange()
}

// closeInput closes the input of an answer or a directory.
func (r *review) closeInput() {
	r.answer, r.datasetRoot = nil, nil
	r.arrange()
}

// paste inserts a pasted text into the open input.
func (r *review) paste(text string) tea.Cmd {
	if r.datasetRoot != nil {
		r.datasetRoot.Insert(text)
	} else if r.answer != nil {
		r.answer.paste(text)
	}
	return nil
}

// locations returns the locations to open: the selected artifact, or the evidence of the
// selected field.
func (r *review) locations() []porter.Evidence {
	if r.focus == artifactsFocus {
		if a, ok := r.artifacts.current(); ok && a.Present && a.Problem != "a directory" {
			return []porter.Evidence{{Artifact: a.Name}}
		}
		return nil
	}
	f := r.files.currentField()
	if t, ok := r.question(); ok && r.focus == questionsFocus {
		if f, _ = r.porting.result.fieldFor(t); len(f.Evidence) == 0 {
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

// move moves the cursor of the focused part. In the list of questions, the file follows.
func (r *review) move(by int) {
	switch r.focus {
	case questionsFocus:
		r.questions.move(by)
		if t, ok := r.questions.current(); ok {
			r.files.goToField(t.File, cmp.Or(t.Path, slices.Concat(t.Fields, []string{""})[0]))
		}
	case artifactsFocus:
		r.artifacts.move(by)
	default:
		r.files.move(by)
	}
}

// goToFirstField goes to the first field that comes from the selected artifact.
func (r *review) goToFirstField() {
	a, _ := r.artifacts.current()
	if fields := r.artifacts.fieldsFrom(a.Name); len(fields) > 0 && r.files.goToField(fields[0].File, fields[0].Path) {
		r.focus = fileFocus
	}
}

func (r *review) mouse(m ui.Mouse) tea.Cmd {
	in := func(b rect) bool { return !r.typing() && m.In(b.x, b.y, b.w, b.h) }
	moveIn := func(f focus, by int) {
		if r.focus = f; m.Wheel != 0 {
			by = m.Wheel
		}
		r.arrange()
		r.move(by)
	}
	list := r.layout.artifacts
	if r.focus == artifactsFocus && !r.layout.wide {
		list = r.layout.file
	}
	switch b := r.layout; {
	case in(list):
		moveIn(artifactsFocus, r.artifacts.firstVisible(list.h)+m.Y-list.y-r.artifacts.cursor)
	case in(b.file):
		moveIn(fileFocus, r.files.firstVisible[r.files.active]+m.Y-b.file.y-r.files.cursor[r.files.active])
	case in(b.questions):
		moveIn(questionsFocus, r.questions.rowDistance(m.Y-b.questions.y))
	}
	return r.fetch()
}

// detailsSheet returns a sheet with all details of the selected item.
func (r *review) detailsSheet() *sheet {
	return &sheet{title: "origin", render: func(th ui.Theme, w int) ([]string, int) {
		lines := r.details(th, max(w-2, 1), unlimited)
		for i := range lines {
			lines[i] = " " + lines[i]
		}
		return lines, 0
	}}
}

func (r *review) view(th ui.Theme) string {
	b, field := r.layout, r.files.currentField()
	list := func(b rect) string { return r.artifacts.view(th, b, r.focus == artifactsFocus, field) }
	file := func() string { return r.files.view(th, b.file, r.focus == fileFocus, r.answer) }
	fileTitle, originTitle := r.files.title(th, r.focus == fileFocus), "origin"
	parts := []string{r.porting.result.factLine(th, r.w)}
	if b.wide {
		parts = append(parts, th.RuleLine(r.w), th.Beside(
			ui.Fit(paneTitle(th, " ARTIFACTS", r.focus == artifactsFocus), b.artifacts.w),
			ui.Fit(fileTitle, b.file.w), ui.Fit(paneTitle(th, strings.ToUpper(originTitle), false), b.origin.w)))
		if b.file.h > 0 {
			about := strings.Join(r.details(th, b.origin.w, b.origin.h), "\n")
			parts = append(parts, th.Beside(list(b.artifacts), file(), ui.Box(about, b.origin.w, b.origin.h)))
		}
	} else {
		if r.focus == artifactsFocus {
			fileTitle, file = paneTitle(th, "artifacts", true), func() string { return list(b.file) }
		}
		parts = append(parts, th.TitledRule(fileTitle, "", r.w))
		if b.file.h > 0 {
			parts = append(parts, file())
		}
		parts = append(parts, th.TitledRule(paneTitle(th, originTitle, false), "", r.w))
		if b.origin.h > 0 {
			about := strings.Join(r.details(th, b.origin.w-2, b.origin.h), "\n ")
			parts = append(parts, ui.Box(" "+about, b.origin.w, b.origin.h))
		}
	}
	title := r.questions.title(th, r.porting.running != nil)
	more := ""
	if r.datasetRoot == nil && b.questions.h > 0 {
		more = th.Paint(ui.Muted, r.questions.hidden(r.answer))
	}
	parts = append(parts, th.TitledRule(title, more, r.w))
	if b.questions.h > 0 {
		parts = append(parts, r.questionsView(th))
	}
	return strings.Join(parts, "\n")
}

func (r *review) questionsView(th ui.Theme) string {
	b := r.layout.questions
	if r.datasetRoot == nil {
		return r.questions.view(th, r.answer)
	}
	input := " " + th.Paint(ui.Accent, "search datasets below › ") + r.datasetRoot.Draw(th, max(r.w-26, 1), true)
	return ui.Box(input+"\n "+th.Paint(ui.Muted, "files are found by name, at any depth"), b.w, b.h)
}

// paneTitle draws the title of a part.
func paneTitle(th ui.Theme, text string, focused bool) string {
	if focused {
		return th.Title.Render(text)
	}
	return th.Paint(ui.Muted, text)
}
