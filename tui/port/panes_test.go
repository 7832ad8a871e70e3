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

// asked records what panes ask of the screen.
type asked struct {
	dir    string
	places []porter.Evidence
	sheet  *sheet
	names  int
	back   int
}

func (a *asked) begin(dir string) tea.Cmd              { a.dir = dir; return nil }
func (a *asked) show(places []porter.Evidence) tea.Cmd { a.places = places; return nil }
func (a *asked) open(text *sheet)                      { a.sheet = text }
func (a *asked) nameFiles() tea.Cmd                    { a.names++; return nil }
func (a *asked) goBack()                               { a.back++ }

// keysTo presses keys in a pane.
func keysTo(p pane, names ...string) (cmd tea.Cmd) {
	for _, k := range frametest.Keys(names...) {
		cmd = p.key(k.(tea.KeyPressMsg))
	}
	return cmd
}

// plain is how a pane is drawn, without colours.
func plain(p pane) string { return ansi.Strip(p.view(ui.NewTheme(true))) }

// made is a result with a field of each kind, and questions about two of them.
func made() *written {
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
	return &written{
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

// ported is what the sample becomes.
func ported(t *testing.T) *written {
	t.Helper()
	res, err := (&lab{}).Port(t.Context(), sample, porter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := show(res)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestChooserAlone(t *testing.T) {
	t.Parallel()
	var host asked
	c := chooser{eng: tree{&lab{}}, ctx: t.Context(), wizard: &host, w: 60, h: 10}
	take := func(cmd tea.Cmd) { // what its commands come back with is for the chooser alone
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
	take(c.start(errors.New("the last one failed")))
	if v := plain(&c); !strings.Contains(v, "✗ the last one failed") || !strings.Contains(v, "recent     /old/bm_z/c32") {
		t.Errorf("drawn\n%s", v)
	}
	if keysTo(&c, "r") != nil {
		t.Error("the same folder is listed again")
	}
	if v := plain(&c); !strings.Contains(v, "▸ run        results/bm_a/c64") ||
		!strings.Contains(v, "2 run directories found") {
		t.Errorf("drawn\n%s", v)
	}
	if keysTo(&c, "down", "enter"); host.dir != "results/bm_a/c1010" {
		t.Errorf("chosen %q", host.dir)
	}
	c.mouse(ui.Mouse{Y: c.head() + 2})
	if c.rows[c.row].kind != "folder" || c.rows[c.row].path != "results" {
		t.Errorf("clicked %+v", c.rows[c.row])
	}
	if cmd := keysTo(&c, "enter"); c.path.Value() != "results/" || cmd == nil {
		t.Errorf("a folder is opened as %q", c.path.Value())
	}
	if got := keysTo(&c, "esc")(); got != (ui.Back{}) {
		t.Errorf("esc asks %v", got)
	}
}

func TestPortingAlone(t *testing.T) {
	t.Parallel()
	eng := &lab{}
	p := porting{eng: eng, ctx: t.Context(), w: 60}
	end := func(cmd tea.Cmd) portedMsg { return cmd().(tea.BatchMsg)[0]().(portedMsg) }
	m := end(p.begin(sample))
	if p.now == nil || !strings.Contains(plain(&p), "reading ") {
		t.Errorf("drawn %q", plain(&p))
	}
	p.at = porter.Progress{Name: "job.log", Done: 1, Total: 4}
	if !strings.Contains(plain(&p), "job.log") {
		t.Errorf("drawn %q", plain(&p))
	}
	if !p.ended(m) || p.ended(m) || p.now != nil || p.result != m.shown {
		t.Fatalf("ended with %v", m.err)
	}
	answer := p.answer(porter.Answer{ID: "x", Value: "1"})
	if toast, ok := p.answer(porter.Answer{ID: "y"})().(ui.Toast); !ok || len(p.opt.Answers) != 1 || !p.unsaved() {
		t.Errorf("two answers at a time: %v, %v", toast, p.opt.Answers)
	}
	end(answer)
	p.takeBack()
	if len(p.opt.Answers) != 0 || p.unsaved() {
		t.Errorf("taken back: %v", p.opt.Answers)
	}
	if p.giveUp(); p.undo() != nil || p.lookBelow("") != nil {
		t.Error("ported again for nothing")
	}
	p.lookBelow("/d")
	if p.saved(3); p.kept != 0 || p.opt.DatasetRoots[0] != "/d" {
		t.Errorf("%+v", p.opt)
	}
}

func TestFilesAlone(t *testing.T) {
	t.Parallel()
	f := files{written: made(), h: 3}
	if f.begin(); f.at[0] != 3 {
		t.Errorf("begins at line %d", f.at[0])
	}
	f.move(-9)
	f.nextNoted()
	f.nextNoted()
	if f.fieldHere().Path != "gpu" || f.top[0] != 2 {
		t.Errorf("at %q, from line %d", f.fieldHere().Path, f.top[0])
	}
	if !f.goTo(porter.Workload, "users") || f.doc != 1 || f.goTo(porter.Recipe, "users") {
		t.Error("a field is not where it is")
	}
	f.other()
	a := &answer{written: f.written, asked: porter.Todo{File: porter.Recipe, Path: "gpu"}, preview: "gb200"}
	v := ansi.Strip(f.view(ui.NewTheme(true), rect{w: 30, h: 3}, true, a))
	if lines := strings.Split(v, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "    4 t    path: /m") ||
		!strings.HasPrefix(lines[2], "→   5 T  gpu: gb200") {
		t.Errorf("drawn\n%s", v)
	}
}

func TestQuestionsAlone(t *testing.T) {
	t.Parallel()
	var q questions
	q.take(made())
	if here, _ := q.here(); here.ID != "g" {
		t.Errorf("the first is %q", here.ID)
	}
	v := ansi.Strip(q.view(ui.NewTheme(true), rect{w: 60, h: 3}, true, nil))
	if lines := strings.Split(v, "\n"); !strings.Contains(lines[0], "▸ must-fix  gpu") ||
		!strings.Contains(lines[1], "2 candidates to choose from: gb200") || !strings.Contains(lines[2], "users") {
		t.Errorf("drawn\n%s", v)
	}
	for y, want := range []int{0, 0, 1} {
		if got := q.click(y, 3, true); got != want {
			t.Errorf("a click on line %d moves by %d, want %d", y, got, want)
		}
	}
	if !q.pick("w") || q.at != 1 || q.pick("none") {
		t.Error("picked what is not there")
	}
	if about, ok := q.about(porter.Field{File: porter.Recipe, Path: "gpu"}); !ok || about.ID != "g" {
		t.Errorf("about the field: %+v", about)
	}
	q.written.res.Todos = nil
	if q.take(q.written); !strings.Contains(q.view(ui.NewTheme(true), rect{w: 60, h: 3}, true, nil), "nothing is open") {
		t.Error("nothing is open, and it does not say so")
	}
}

func TestAnswerAlone(t *testing.T) {
	t.Parallel()
	w := ported(t)
	gpu := porter.Field{File: porter.Recipe, Path: "resources.gpu_type"}
	todo := porter.Todo{ID: gpu.ID(), Kind: porter.MustFix, File: gpu.File, Path: gpu.Path}
	todo.Candidates = []porter.Candidate{{Value: "gb200"}, {Value: "gb300"}}
	a := newAnswer(w, todo)
	key := func(name string) (*porter.Answer, bool) { return a.key(frametest.Keys(name)[0].(tea.KeyPressMsg)) }
	if a.input.Value() != "gb200" || a.need() != 5 || (*answer)(nil).need() != 0 {
		t.Errorf("asked with %q, %d lines", a.input.Value(), a.need())
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
		t.Errorf("drawn\n%s", rows)
	}
	a.refused = errors.New("no such thing")
	if _, over := key("enter"); over {
		t.Error("what is refused is given")
	}
	a.refused = nil
	if given, over := key("enter"); !over || given == nil || *given != (porter.Answer{ID: todo.ID, Value: "gb200"}) {
		t.Errorf("given %v", given)
	}
	if given, over := key("esc"); given != nil || !over {
		t.Errorf("esc gives %v", given)
	}
}

// What stands there already is accepted, unless nobody asked.
func TestAnswerAsItIs(t *testing.T) {
	t.Parallel()
	w := ported(t)
	gpu := porter.Field{File: porter.Recipe, Path: "resources.gpu_type"}
	todo := porter.Todo{ID: gpu.ID(), File: gpu.File, Path: gpu.Path}
	for kind, want := range map[porter.TodoKind]bool{porter.Confirm: true, ownValue: false} {
		todo.Kind = kind
		a := newAnswer(w, todo)
		enter := frametest.Keys("enter")[0].(tea.KeyPressMsg)
		if given, over := a.key(enter); !over || (given != nil) != want || want && !given.Accepted {
			t.Errorf("%s: given %v", kind, given)
		}
	}
}

func TestArtifactsAlone(t *testing.T) {
	t.Parallel()
	a := artifacts{written: made()}
	v := ansi.Strip(a.view(ui.NewTheme(true), rect{w: 26, h: 2}, true, porter.Field{}))
	if lines := strings.Split(v, "\n"); !strings.HasPrefix(lines[0], "▸✓ job.log") || !strings.HasSuffix(lines[0], "1") ||
		!strings.HasPrefix(lines[1], " · bench.sh") || !strings.HasSuffix(lines[1], "-") {
		t.Errorf("drawn\n%s", v)
	}
	got := ansi.Strip(strings.Join(a.about(ui.NewTheme(true), 60), "\n"))
	if !strings.Contains(got, "1 fields rest on it") || !strings.Contains(got, "model.path") {
		t.Errorf("told\n%s", got)
	}
	a.move(9)
	if here, ok := a.here(); !ok || here.Name != "bench.sh" {
		t.Errorf("at %+v", here)
	}
}

// files of evidence, some of which can't be read.
type evidence struct {
	blocked
	read []string
}

func (e *evidence) Excerpt(_ context.Context, path string, line, column, length int) (session.Excerpt, error) {
	e.read = append(e.read, fmt.Sprint(path, " ", line, " ", column, " ", length))
	return session.Excerpt{Before: "MODEL=", Match: "/old/m", After: " more"}, nil
}

func TestOriginReadsOneExcerptAtATime(t *testing.T) {
	t.Parallel()
	eng := &evidence{}
	s := &Screen{stage: reviewing}
	s.porting = porting{dir: "/run", result: made()}
	s.review = review{job: &s.porting, wizard: s, origin: newOrigin(t.Context(), eng)}
	s.review.show()
	s.review.files.at[0] = 3
	cmd := s.review.fetch()
	if cmd == nil || s.review.fetch() != nil {
		t.Fatal("two are read at a time")
	}
	cmd().(paneMsg).apply(s)
	if s.review.fetch() != nil || len(eng.read) != 1 || eng.read[0] != "/run/job.log 3 5 6" {
		t.Errorf("read %q", eng.read)
	}
	got := ansi.Strip(strings.Join(s.review.about(ui.NewTheme(true), 40, 12), "\n"))
	for _, want := range []string{"t translated  a rule", "job.log:3  MODEL", "MODEL=/old/m more", "model.path"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestReviewAsksTheScreen(t *testing.T) {
	t.Parallel()
	var host asked
	job := porting{eng: &lab{}, ctx: t.Context(), dir: sample, result: ported(t)}
	r := review{wizard: &host, job: &job, origin: newOrigin(t.Context(), blocked{})}
	r.show()
	r.setSize(120, 30)
	r.files.begin()
	if keysTo(&r, "w", "o"); host.names != 1 || len(host.places) == 0 || host.places[0].Line == 0 {
		t.Errorf("asked %+v", host)
	}
	if keysTo(&r, "d"); host.sheet == nil || host.sheet.title != "raw against written" {
		t.Errorf("d opens %+v", host.sheet)
	}
	if host.sheet.other(); host.sheet.title != "old launch lines against the new job" {
		t.Errorf("d again opens %+v", host.sheet)
	}
	if keysTo(&r, "i"); host.sheet.title != "where it comes from" {
		t.Errorf("i opens %+v", host.sheet)
	}
	keysTo(&r, "tab", "tab", "enter")
	if f := r.files.fieldHere(); r.focus != onFile || !restsOn(f, r.artifacts.res.Artifacts[0].Name) {
		t.Errorf("enter on an artifact leads to %+v", f)
	}
	keysTo(&r, "tab", "e", "/", "d")
	if !r.typing() || r.answer.asked.Kind != porter.MustFix {
		t.Fatalf("asked %+v", r.answer)
	}
	if cmd := keysTo(&r, "enter"); r.typing() || cmd == nil || len(job.opt.Answers) != 1 ||
		!strings.HasSuffix(job.opt.Answers[0].Value, "/d") {
		t.Errorf("answered %v", job.opt.Answers)
	}
	keysTo(&r, "s")
	r.paste("/d")
	if keysTo(&r, "esc"); r.typing() {
		t.Error("the folder is typed on")
	}
}

func TestWritingAlone(t *testing.T) {
	t.Parallel()
	var host asked
	eng := &lab{exists: true}
	job := porting{eng: eng, ctx: t.Context(), dir: sample, result: made()}
	w := writing{eng: eng, ctx: t.Context(), wizard: &host, job: &job, w: 80, h: 20}
	w.names[0].SetValue("r.yaml")
	w.names[1].SetValue("w.yaml")
	check := w.start()
	if w.check() != nil {
		t.Error("two checks at a time")
	}
	s := &Screen{}
	s.writing = w
	check().(paneMsg).apply(s)
	w = s.writing
	if v := plain(&w); !strings.Contains(v, "is there: +1 −1 lines") ||
		!strings.Contains(v, "1 question must be answered") {
		t.Errorf("drawn\n%s", v)
	}
	if keysTo(&w, "tab", "x"); w.names[1].Value() != "w.yamlx" || w.typed() == w.found.names {
		t.Errorf("typed %q", w.typed())
	}
	write := keysTo(&w, "enter")
	if write == nil || keysTo(&w, "enter") != nil || !strings.Contains(plain(&w), "esc gives it up") {
		t.Error("written twice")
	}
	m := write().(writtenMsg)
	if !m.exists(m.err) || !w.ended(m) || w.ended(m) {
		t.Fatalf("ended with %v", m.err)
	}
	w.compared, w.compare = m.targets, targetDiff(m.targets)
	w.compare.open(ui.NewTheme(true), 80, 20)
	if ask, ok := keysTo(&w, "r")().(ui.Ask); !ok || ask.Body != "/d/r.yaml" || w.typing() ||
		!strings.Contains(plain(&w), "-mine: 1") {
		t.Errorf("asked %+v\n%s", ask, plain(&w))
	}
	if w.back(); w.compare != nil || !w.typing() {
		t.Error("the comparison stays")
	}
	if keysTo(&w, "esc"); host.back != 1 {
		t.Error("esc does not go back")
	}
}

func TestSheetAlone(t *testing.T) {
	t.Parallel()
	others := 0
	sh := &sheet{title: "a text", other: func() { others++ }, write: func(_ ui.Theme, w int) ([]string, int) {
		var lines []string
		for i := range 100 {
			lines = append(lines, fmt.Sprintf("line %d of %d cells", i, w))
		}
		return lines, 40
	}}
	sh.open(ui.NewTheme(true), 60, 11)
	if v := plain(sh); !strings.Contains(v, "a text") || !strings.Contains(v, "41–50 of 100") ||
		!strings.Contains(v, "line 40 of 60 cells") {
		t.Errorf("drawn\n%s", v)
	}
	for _, c := range []struct {
		key string
		top int
	}{{"pgdown", 50}, {"up", 49}, {"G", 90}, {"down", 90}, {"g", 0}, {"pgup", 0}, {"x", 0}} {
		if keysTo(sh, c.key); sh.top != c.top {
			t.Errorf("%s: from line %d, want %d", c.key, sh.top, c.top)
		}
	}
	sh.mouse(ui.Mouse{Wheel: 3})
	if keysTo(sh, "d"); sh.top != 3 || others != 1 || len(sh.keys()) != 8 {
		t.Errorf("from line %d, %d others", sh.top, others)
	}
	sh.layout(ui.NewTheme(true), 30, 200)
	if v := plain(sh); sh.top != 0 || !strings.Contains(v, "line 99 of 30 cells") || strings.Contains(v, "of 100") {
		t.Errorf("drawn\n%s", v)
	}
}

func TestViewerAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.log", "b.log"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("one\n"+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v := newViewer(t.Context(), &lab{}, ui.NewTheme(true))
	v.setSize(60, 5)
	run := func(cmd tea.Cmd) {
		frametest.Drive(updater{&v}, cmd, func(tea.Msg) bool { return false })
	}
	run(v.open(dir, []porter.Evidence{{Artifact: "a.log", Line: 2}, {Artifact: "b.log", Line: 1}}))
	if got := plain(&v); !strings.Contains(got, "a.log  place 1 of 2") || !strings.Contains(got, "▸      2  a.log") {
		t.Errorf("drawn\n%s", got)
	}
	run(keysTo(&v, "tab"))
	if got := plain(&v); !strings.Contains(got, "b.log  place 2 of 2") || !strings.Contains(got, "▸      1  one") {
		t.Errorf("drawn\n%s", got)
	}
	if keysTo(&v, "/"); !v.typing() {
		t.Error("a search is not typed")
	}
	v.paste("b.l")
	if keysTo(&v, "esc", "o"); v.shown() {
		t.Error("o does not close")
	}
}

// updater is a viewer as a test drives it.
type updater struct{ v *viewer }

func (u updater) Update(msg tea.Msg) tea.Cmd {
	return tea.Batch(u.v.pane.Update(msg.(logs.Msg)), u.v.pane.Fill())
}

func TestCandidateRow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 14, 41, 0, 0, time.UTC)
	c := porter.Candidate{Value: "/a/very/long/path/to/a/dataset.jsonl", Size: 300 << 10, Modified: at}
	row := ansi.Strip(candidateRow(ui.NewTheme(true), c, true, 60))
	if ui.Width(row) != 60 || !strings.Contains(row, "…") || !strings.Contains(row, "300 KB  2026-11-30 14:41") {
		t.Errorf("%q", row)
	}
}
