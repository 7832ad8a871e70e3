package port

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// wizardRecorder records the calls of panes.
type wizardRecorder struct {
	dir    string
	places []porter.Evidence
	sheet  *sheet
	names  int
	back   int
}

func (a *wizardRecorder) startPort(dir string) tea.Cmd                { a.dir = dir; return nil }
func (a *wizardRecorder) openViewer(places []porter.Evidence) tea.Cmd { a.places = places; return nil }
func (a *wizardRecorder) openSheet(text *sheet)                       { a.sheet = text }
func (a *wizardRecorder) openWriting() tea.Cmd                        { a.names++; return nil }
func (a *wizardRecorder) backToReview()                               { a.back++ }

// pressIn presses keys in a pane.
func pressIn(p pane, names ...string) (cmd tea.Cmd) {
	for _, k := range frametest.Keys(names...) {
		cmd = p.key(k.(tea.KeyPressMsg))
	}
	return cmd
}

// drawPlain draws a pane without colours.
func drawPlain(p pane) string { return ansi.Strip(p.view(ui.NewTheme(true))) }

// testResult returns a result with a field of each class, and questions about two of them.
func testResult() *resultView {
	fields := []porter.Field{
		{File: porter.Recipe, Path: "name", Written: "name", Value: "x", Class: porter.Copied},
		{
			File: porter.Recipe, Path: "model.path", Written: "model.path", Value: "/m",
			Class: porter.Translated, Rule: "a rule",
			Evidence: []porter.Evidence{{Artifact: "job.log", Line: 3, Column: 5, Raw: "/old/m", Key: "MODEL"}},
		},
		{File: porter.Recipe, Path: "gpu", Written: "gpu", Value: "?", Class: porter.Missing},
		{File: porter.Workload, Path: "users", Written: "users", Value: "[4]", Class: porter.Guessed},
	}
	return &resultView{
		res: &porter.Result{
			Fields:    fields,
			Artifacts: []porter.Artifact{{Name: "job.log", Present: true}, {Name: "bench.sh"}},
			Todos: []porter.Todo{
				{ID: "w", Kind: porter.Confirm, File: porter.Workload, Path: "users", Message: "is it 4?"},
				{
					ID: "g", Kind: porter.MustFix, File: porter.Recipe, Path: "gpu", Message: "which?",
					Candidates: []porter.Candidate{{Value: "gb200"}, {Value: "gb300"}},
				},
			},
		},
		docs: [2]document{
			{porter.Recipe, []line{
				{"# head", -1, false},
				{"name: x", 0, true},
				{"model:", -1, false},
				{"  path: /m", 1, true},
				{"gpu: '?'", 2, true},
			}},
			{porter.Workload, []line{{"users: [4]", 3, true}}},
		},
	}
}

// portSample ports the sample.
func portSample(t *testing.T) *resultView {
	t.Helper()
	res, err := (&sampleEngine{}).Port(t.Context(), sample, porter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := newResultView(res)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestChooser(t *testing.T) {
	t.Parallel()
	var host wizardRecorder
	c := chooser{eng: directoryEngine{&sampleEngine{}}, ctx: t.Context(), wizard: &host, w: 60, h: 10}
	take := func(cmd tea.Cmd) { // applies the messages of a command to the chooser
		s := &Screen{}
		s.chooser = c
		for _, look := range cmd().(tea.BatchMsg) {
			msgs := []tea.Msg{look()}
			if batch, ok := msgs[0].(tea.BatchMsg); ok {
				msgs = []tea.Msg{batch[0](), batch[1]()}
			}
			for _, m := range msgs {
				m.(paneMsg).apply(s)
			}
		}
		c = s.chooser
	}
	take(c.start(errors.New("the last port failed")))
	if v := drawPlain(&c); !strings.Contains(v, "✗ the last port failed") ||
		!strings.Contains(v, "recent     /old/bm_z/c32") {
		t.Errorf("view\n%s", v)
	}
	if pressIn(&c, "r") != nil {
		t.Error("the same directory was listed again")
	}
	if v := drawPlain(&c); !strings.Contains(v, "▸ run        results/bm_a/c64") ||
		!strings.Contains(v, "2 run directories found") {
		t.Errorf("view\n%s", v)
	}
	if pressIn(&c, "down", "enter"); host.dir != "results/bm_a/c1010" {
		t.Errorf("chosen %q", host.dir)
	}
	c.mouse(ui.Mouse{Y: c.headerHeight() + 2})
	if c.rows[c.cursor].kind != "directory" || c.rows[c.cursor].path != "results" {
		t.Errorf("click selected %+v", c.rows[c.cursor])
	}
	if cmd := pressIn(&c, "enter"); c.path.Value() != "results/" || cmd == nil {
		t.Errorf("directory opened as %q", c.path.Value())
	}
	if got := pressIn(&c, "esc")(); got != (ui.Back{}) {
		t.Errorf("esc sent %v", got)
	}
}

func TestPorting(t *testing.T) {
	t.Parallel()
	eng := &sampleEngine{}
	p := porting{eng: eng, ctx: t.Context(), w: 60}
	end := func(cmd tea.Cmd) portedMsg { return cmd().(tea.BatchMsg)[0]().(portedMsg) }
	m := end(p.begin(sample))
	if p.running == nil || !strings.Contains(drawPlain(&p), "reading ") {
		t.Errorf("view %q", drawPlain(&p))
	}
	p.progress = porter.Progress{Name: "job.log", Done: 1, Total: 4}
	if !strings.Contains(drawPlain(&p), "job.log") {
		t.Errorf("view %q", drawPlain(&p))
	}
	if !p.handleEnded(m) || p.handleEnded(m) || p.running != nil || p.result != m.result {
		t.Fatalf("ended with %v", m.err)
	}
	answer := p.answer(porter.Answer{ID: "x", Value: "1"})
	if toast, ok := p.answer(porter.Answer{ID: "y"})().(ui.Toast); !ok || len(p.opt.Answers) != 1 || !p.unsaved() {
		t.Errorf("a second answer while porting: %v, %v", toast, p.opt.Answers)
	}
	end(answer)
	p.revert()
	if len(p.opt.Answers) != 0 || p.unsaved() {
		t.Errorf("reverted: %v", p.opt.Answers)
	}
	if p.cancelRun(); p.undo() != nil || p.addDatasetRoot("") != nil {
		t.Error("ported again without a change")
	}
	p.addDatasetRoot("/d")
	if p.markSaved(3); p.savedAnswers != 0 || p.opt.DatasetRoots[0] != "/d" {
		t.Errorf("%+v", p.opt)
	}
}

func TestFilesPane(t *testing.T) {
	t.Parallel()
	f := files{resultView: testResult(), h: 3}
	if f.goToFirstTranslated(); f.cursor[0] != 3 {
		t.Errorf("cursor on line %d", f.cursor[0])
	}
	f.move(-9)
	f.nextNotCopied()
	f.nextNotCopied()
	if f.currentField().Path != "gpu" || f.firstVisible[0] != 2 {
		t.Errorf("at %q, from line %d", f.currentField().Path, f.firstVisible[0])
	}
	if !f.goToField(porter.Workload, "users") || f.active != 1 || f.goToField(porter.Recipe, "users") {
		t.Error("goToField: wrong field or file")
	}
	f.switchFile()
	a := &answer{resultView: f.resultView, question: porter.Todo{File: porter.Recipe, Path: "gpu"}, preview: "gb200"}
	v := ansi.Strip(f.view(ui.NewTheme(true), rect{w: 30, h: 3}, true, a))
	if lines := strings.Split(v, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "    4 t    path: /m") ||
		!strings.HasPrefix(lines[2], "→   5 T  gpu: gb200") {
		t.Errorf("view\n%s", v)
	}
}

func TestQuestionsPane(t *testing.T) {
	t.Parallel()
	q := questions{w: 60, h: 3, focused: true}
	q.setResult(testResult())
	if here, _ := q.current(); here.ID != "g" {
		t.Errorf("first question %q", here.ID)
	}
	v := ansi.Strip(q.view(ui.NewTheme(true), nil))
	if lines := strings.Split(v, "\n"); !strings.Contains(lines[0], "▸ must-fix  gpu") ||
		!strings.Contains(lines[1], "2 candidates: gb200") || !strings.Contains(lines[2], "users") {
		t.Errorf("view\n%s", v)
	}
	for y, want := range []int{0, 0, 1} {
		if got := q.rowDistance(y); got != want {
			t.Errorf("a click on line %d moves by %d questions, want %d", y, got, want)
		}
	}
	if !q.selectID("w") || q.cursor != 1 || q.selectID("none") {
		t.Error("selectID: wrong question")
	}
	if about, ok := q.forField(porter.Field{File: porter.Recipe, Path: "gpu"}); !ok || about.ID != "g" {
		t.Errorf("question about the field: %+v", about)
	}
	q.resultView.res.Todos = nil
	q.setResult(q.resultView)
	if v := q.view(ui.NewTheme(true), nil); !strings.Contains(v, "no open questions") {
		t.Error("no note that there are no open questions")
	}
}

func TestAnswerPane(t *testing.T) {
	t.Parallel()
	w := portSample(t)
	gpu := porter.Field{File: porter.Recipe, Path: "resources.gpu_type"}
	todo := porter.Todo{ID: gpu.ID(), Kind: porter.MustFix, File: gpu.File, Path: gpu.Path}
	todo.Candidates = []porter.Candidate{{Value: "gb200"}, {Value: "gb300"}}
	a := newAnswer(w, todo)
	key := func(name string) (*porter.Answer, bool) { return a.key(frametest.Keys(name)[0].(tea.KeyPressMsg)) }
	if a.input.Value() != "gb200" || a.neededLines(80) != 5 {
		t.Errorf("input %q, %d lines", a.input.Value(), a.neededLines(80))
	}
	for _, c := range []struct{ key, want string }{
		{"down", "gb300"}, {"down", "gb200"}, {"up", "gb300"}, {"x", "gb300x"}, {"down", "gb200"},
	} {
		if given, over := key(c.key); given != nil || over || a.input.Value() != c.want {
			t.Errorf("%s: %q, given %v", c.key, a.input.Value(), given)
		}
	}
	rows := ansi.Strip(strings.Join(a.rows(ui.NewTheme(true), 80, 9), "\n"))
	if !strings.Contains(rows, "1 of 2 candidates") || !strings.Contains(rows, " ▸ gb200") {
		t.Errorf("view\n%s", rows)
	}
	a.err = errors.New("not a known GPU type")
	if _, over := key("enter"); over {
		t.Error("an invalid value was answered")
	}
	a.err = nil
	if given, over := key("enter"); !over || given == nil || *given != (porter.Answer{ID: todo.ID, Value: "gb200"}) {
		t.Errorf("given %v", given)
	}
	if given, over := key("esc"); given != nil || !over {
		t.Errorf("esc gives %v", given)
	}
}

// An unchanged value is accepted if there was a question, and otherwise no answer.
func TestUnchangedAnswer(t *testing.T) {
	t.Parallel()
	w := portSample(t)
	gpu := porter.Field{File: porter.Recipe, Path: "resources.gpu_type"}
	todo := porter.Todo{ID: gpu.ID(), File: gpu.File, Path: gpu.Path}
	for kind, want := range map[porter.TodoKind]bool{porter.Confirm: true, userValue: false} {
		todo.Kind = kind
		a := newAnswer(w, todo)
		enter := frametest.Keys("enter")[0].(tea.KeyPressMsg)
		if given, over := a.key(enter); !over || (given != nil) != want || want && !given.Accepted {
			t.Errorf("%s: given %v", kind, given)
		}
	}
}

func TestArtifactsPane(t *testing.T) {
	t.Parallel()
	a := artifacts{resultView: testResult()}
	v := ansi.Strip(a.view(ui.NewTheme(true), rect{w: 26, h: 2}, true, porter.Field{}))
	if lines := strings.Split(v, "\n"); !strings.HasPrefix(lines[0], "▸✓ job.log") || !strings.HasSuffix(lines[0], "1") ||
		!strings.HasPrefix(lines[1], " · bench.sh") || !strings.HasSuffix(lines[1], "-") {
		t.Errorf("view\n%s", v)
	}
	got := ansi.Strip(strings.Join(a.details(ui.NewTheme(true), 60), "\n"))
	if !strings.Contains(got, "source of 1 field") || !strings.Contains(got, "model.path") {
		t.Errorf("details\n%s", got)
	}
	a.move(9)
	if here, ok := a.current(); !ok || here.Name != "bench.sh" {
		t.Errorf("current %+v", here)
	}
}

// excerptEngine is an engine that only reads excerpts.
type excerptEngine struct {
	blockedEngine
	read []string
}

func (e *excerptEngine) Excerpt(_ context.Context, path string, line, column, length int) (session.Excerpt, error) {
	e.read = append(e.read, fmt.Sprint(path, " ", line, " ", column, " ", length))
	return session.Excerpt{Before: "MODEL=", Match: "/old/m", After: " more"}, nil
}

func TestOriginReadsOneExcerptAtATime(t *testing.T) {
	t.Parallel()
	eng := &excerptEngine{}
	s := &Screen{stage: reviewing}
	s.porting = porting{dir: "/run", result: testResult()}
	s.review = review{porting: &s.porting, wizard: s, origin: newOrigin(t.Context(), eng)}
	s.review.update()
	s.review.files.cursor[0] = 3
	cmd := s.review.fetch()
	if cmd == nil || s.review.fetch() != nil {
		t.Fatal("two excerpts are read at the same time")
	}
	cmd().(paneMsg).apply(s)
	if s.review.fetch() != nil || len(eng.read) != 1 || eng.read[0] != "/run/job.log 3 5 6" {
		t.Errorf("read %q", eng.read)
	}
	got := ansi.Strip(strings.Join(s.review.details(ui.NewTheme(true), 40, 12), "\n"))
	for _, want := range []string{"t translated  a rule", "job.log:3  MODEL", "MODEL=/old/m more", "model.path"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestReviewPane(t *testing.T) {
	t.Parallel()
	var host wizardRecorder
	job := porting{eng: &sampleEngine{}, ctx: t.Context(), dir: sample, result: portSample(t)}
	r := review{wizard: &host, porting: &job, origin: newOrigin(t.Context(), blockedEngine{})}
	r.update()
	r.setSize(120, 30)
	r.files.goToFirstTranslated()
	if pressIn(&r, "w", "o"); host.names != 1 || len(host.places) == 0 || host.places[0].Line == 0 {
		t.Errorf("called %+v", host)
	}
	if pressIn(&r, "d"); host.sheet == nil || host.sheet.title != "fields, before/after" {
		t.Errorf("d opens %+v", host.sheet)
	}
	if host.sheet.toggle(); host.sheet.title != "launch lines, before/after" {
		t.Errorf("d again opens %+v", host.sheet)
	}
	if pressIn(&r, "i"); host.sheet.title != "origin" {
		t.Errorf("i opens %+v", host.sheet)
	}
	pressIn(&r, "tab", "tab", "enter")
	if f := r.files.currentField(); r.focus != fileFocus || !comesFrom(f, r.artifacts.res.Artifacts[0].Name) {
		t.Errorf("enter on an artifact selected %+v", f)
	}
	pressIn(&r, "tab", "e", "/", "d")
	if !r.typing() || r.answer.question.Kind != porter.MustFix {
		t.Fatalf("called %+v", r.answer)
	}
	if cmd := pressIn(&r, "enter"); r.typing() || cmd == nil || len(job.opt.Answers) != 1 ||
		!strings.HasSuffix(job.opt.Answers[0].Value, "/d") {
		t.Errorf("answered %v", job.opt.Answers)
	}
	pressIn(&r, "s")
	r.paste("/d")
	if pressIn(&r, "esc"); r.typing() {
		t.Error("esc did not close the input")
	}
}

func TestWritingPane(t *testing.T) {
	t.Parallel()
	var host wizardRecorder
	eng := &sampleEngine{exists: true}
	job := porting{eng: eng, ctx: t.Context(), dir: sample, result: testResult()}
	w := writing{eng: eng, ctx: t.Context(), wizard: &host, porting: &job, w: 80, h: 20}
	w.names[0].SetValue("r.yaml")
	w.names[1].SetValue("w.yaml")
	check := w.start()
	if w.check() != nil {
		t.Error("two checks run at the same time")
	}
	s := &Screen{}
	s.writing = w
	check().(paneMsg).apply(s)
	w = s.writing
	if v := drawPlain(&w); !strings.Contains(v, "exists: +1 −1 lines") ||
		!strings.Contains(v, "1 question must be answered") {
		t.Errorf("view\n%s", v)
	}
	if pressIn(&w, "tab", "x"); w.names[1].Value() != "w.yamlx" || w.typedNames() == w.checked.names {
		t.Errorf("typed %q", w.typedNames())
	}
	write := pressIn(&w, "enter")
	if write == nil || pressIn(&w, "enter") != nil || !strings.Contains(drawPlain(&w), "esc cancels") {
		t.Error("a second write started, or no hint to cancel")
	}
	m := write().(writtenMsg)
	if !m.isExists(m.err) || !w.handleEnded(m) || w.handleEnded(m) {
		t.Fatalf("ended with %v", m.err)
	}
	w.shownTargets, w.diffSheet = m.targets, targetDiff(m.targets)
	w.diffSheet.open(ui.NewTheme(true), 80, 20)
	if ask, ok := pressIn(&w, "r")().(ui.Ask); !ok || ask.Body != "/d/r.yaml" || w.typing() ||
		!strings.Contains(drawPlain(&w), "-mine: 1") {
		t.Errorf("sent %+v\n%s", ask, drawPlain(&w))
	}
	if w.closeDiff(); w.diffSheet != nil || !w.typing() {
		t.Error("the comparison is still open")
	}
	if pressIn(&w, "esc"); host.back != 1 {
		t.Error("esc does not go back")
	}
}

func TestSheet(t *testing.T) {
	t.Parallel()
	others := 0
	sh := &sheet{title: "a text", toggle: func() { others++ }, render: func(_ ui.Theme, w int) ([]string, int) {
		var lines []string
		for i := range 100 {
			lines = append(lines, fmt.Sprintf("line %d of %d cells", i, w))
		}
		return lines, 40
	}}
	sh.open(ui.NewTheme(true), 60, 11)
	if v := drawPlain(sh); !strings.Contains(v, "a text") || !strings.Contains(v, "41–50 of 100") ||
		!strings.Contains(v, "line 40 of 60 cells") {
		t.Errorf("view\n%s", v)
	}
	for _, c := range []struct {
		key string
		top int
	}{{"pgdown", 50}, {"up", 49}, {"G", 90}, {"down", 90}, {"g", 0}, {"pgup", 0}, {"x", 0}} {
		if pressIn(sh, c.key); sh.top != c.top {
			t.Errorf("%s: top line %d, want %d", c.key, sh.top, c.top)
		}
	}
	sh.mouse(ui.Mouse{Wheel: 3})
	if pressIn(sh, "d"); sh.top != 3 || others != 1 || len(sh.keys()) != 8 {
		t.Errorf("top line %d, toggled %d times", sh.top, others)
	}
	sh.layout(ui.NewTheme(true), 30, 200)
	if v := drawPlain(sh); sh.top != 0 || !strings.Contains(v, "line 99 of 30 cells") || strings.Contains(v, "of 100") {
		t.Errorf("view\n%s", v)
	}
}

func TestViewer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.log", "b.log"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("one\n"+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v := newViewer(t.Context(), &sampleEngine{}, ui.NewTheme(true))
	v.setSize(60, 5)
	run := func(cmd tea.Cmd) {
		frametest.Drive(viewerDriver{&v}, cmd, func(tea.Msg) bool { return false })
	}
	run(v.open(dir, []porter.Evidence{{Artifact: "a.log", Line: 2}, {Artifact: "b.log", Line: 1}}))
	if got := drawPlain(&v); !strings.Contains(got, "a.log  location 1 of 2") ||
		!strings.Contains(got, "▸      2  a.log") {
		t.Errorf("view\n%s", got)
	}
	run(pressIn(&v, "tab"))
	if got := drawPlain(&v); !strings.Contains(got, "b.log  location 2 of 2") || !strings.Contains(got, "▸      1  one") {
		t.Errorf("view\n%s", got)
	}
	if pressIn(&v, "/"); !v.typing() {
		t.Error("not typing after /")
	}
	v.paste("b.l")
	if pressIn(&v, "esc", "o"); v.shown() {
		t.Error("o did not close the viewer")
	}
}

// viewerDriver passes messages to a viewer.
type viewerDriver struct{ v *viewer }

func (u viewerDriver) Update(msg tea.Msg) tea.Cmd {
	return tea.Batch(u.v.pane.Update(msg.(logs.Msg)), u.v.pane.Fill())
}

func TestCandidateRow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 14, 41, 0, 0, time.UTC)
	c := porter.Candidate{Value: "/a/very/long/path/to/a/dataset.jsonl", Size: 300 << 10, Modified: at}
	row := ansi.Strip(candidateRow(ui.NewTheme(true), c, true, 60))
	if ui.Width(row) != 60 || !strings.Contains(row, "…") || !strings.Contains(row, "307 KB  2026-11-30 14:41") {
		t.Errorf("%q", row)
	}
}
