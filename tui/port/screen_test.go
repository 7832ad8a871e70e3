package port

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

const sample = "../../testdata/bm_agentperf_dsv4_5p1d/c1010"

// lab is the real engine on the sample, with a workload path that is the same on
// every machine, and without writing.
type lab struct {
	session.Session
	mu      sync.Mutex
	ports   []porter.Options
	written []string
	exists  bool
	theirs  string // a line of the file that exists
	recent  []string
	fails   error // of a port with answers
}

func (l *lab) Port(ctx context.Context, dir string, opt porter.Options) (*porter.Result, error) {
	l.mu.Lock()
	l.ports = append(l.ports, opt)
	l.mu.Unlock()
	if l.fails != nil && len(opt.Answers) > 0 {
		return nil, l.fails
	}
	opt.WorkloadOut, opt.RecipeOut = "/data/w.yaml", ""
	return l.Session.Port(ctx, dir, opt)
}

// FileView opens an artifact, of which nobody says when it grows.
func (l *lab) FileView(_ context.Context, path string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil, err
	}
	still := make(chan engine.LogGrowth)
	close(still)
	return logview.NewFileView(path), still, nil
}

func (l *lab) Recent(context.Context) ([]string, error) { return l.recent, nil }

func (l *lab) Targets(_ context.Context, _ *porter.Result, recipe, workload string) ([]session.Target, error) {
	out := []session.Target{{Path: recipe}, {Path: workload}, {Path: porter.ProvenancePath(recipe)}}
	if l.exists {
		diff := []string{"@@ -1,2 +1,2 @@", cmp.Or(l.theirs, "-mine: 1"), "+name: x", " same"}
		out[0] = session.Target{Path: "/d/r.yaml", Exists: true, Added: 1, Removed: 1, Diff: diff}
		out[2].Exists, out[2].Same = true, true
	}
	return out, nil
}

func (l *lab) Write(_ context.Context, _ *porter.Result, recipe, workload string, force bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.exists && !force {
		return &porter.ExistsError{Paths: []string{recipe}}
	}
	l.written = append(l.written, fmt.Sprint(recipe, " ", workload, " ", force))
	return nil
}

func open(t *testing.T, eng Engine, dir string) *Screen {
	t.Helper()
	s := New(eng, ui.NewTheme(true), dir)
	t.Cleanup(s.Close)
	s.SetSize(120, 36)
	if asked := drive(s, s.Init()); len(asked) > 0 {
		t.Fatalf("asked at the start: %v", asked)
	}
	return s
}

// drive runs a command of the screen and what follows from it; what is asked of
// the workbench comes back.
func drive(s *Screen, cmd tea.Cmd) []tea.Msg {
	return frametest.Drive(s, cmd, func(msg tea.Msg) bool {
		switch msg.(type) {
		case ui.Open, ui.Replace, ui.Back, ui.Toast, ui.Ask, ui.Copy:
			return true
		}
		return false
	})
}

func press(s *Screen, keys ...string) (asked []tea.Msg) {
	for _, k := range frametest.Keys(keys...) {
		asked = append(asked, drive(s, s.Update(k))...)
	}
	return asked
}

func TestFrames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dir  string
		keys []string
	}{
		"looking":   {sample, nil},
		"renamed":   {sample, []string{"n", "n", "n", "n", "n", "n"}},
		"question":  {sample, []string{"tab"}},
		"answering": {sample, []string{"tab", "e", "/", "d", "a", "t", "a"}},
		"artifact":  {sample, []string{"tab", "tab", "down", "down"}},
		"writing":   {sample, []string{"w"}},
		"viewer":    {sample, []string{"n", "n", "n", "n", "n", "n", "o"}},
		"diff":      {sample, []string{"d"}},
		"proof":     {sample, []string{"d", "d"}},
		"whole":     {sample, []string{"tab", "i"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, &lab{}, c.dir)
			press(s, c.keys...)
			frametest.Golden(t, name, tui.New(nil, s, tui.Options{Dark: true}))
		})
	}
	t.Run("choosing", func(t *testing.T) {
		t.Parallel()
		s := open(t, tree{&lab{}}, "")
		press(s, "down", "down")
		frametest.Golden(t, "choosing", tui.New(nil, s, tui.Options{Dark: true}))
	})
	t.Run("parent", func(t *testing.T) {
		t.Parallel()
		s := open(t, tree{&lab{}}, "/results")
		frametest.Golden(t, "parent", tui.New(nil, s, tui.Options{Dark: true}))
	})
}

// tree is an engine with some folders and no files.
type tree struct{ *lab }

func (tree) Port(_ context.Context, dir string, _ porter.Options) (*porter.Result, error) {
	if dir == "/results" {
		return nil, &porter.ParentError{Dir: dir, Runs: []string{"/results/bm_a/c64", "/results/bm_a/c1010"}}
	}
	return nil, fmt.Errorf("port %s: no run directory", dir)
}

func (tree) List(_ context.Context, dir string) ([]string, error) {
	switch dir {
	case ".":
		return []string{".git", "results", "runs"}, nil
	case "/results/":
		return []string{"bm_a", "bm_b"}, nil
	}
	return nil, fmt.Errorf("open %s: permission denied", dir)
}

func (tree) FindRuns(_ context.Context, root string, _ int) ([]string, error) {
	return map[string][]string{
		".": {"results/bm_a/c64", "results/bm_a/c1010"}, "/results/": {"/results/bm_a/c64", "/results/bm_a/c1010"},
	}[root], nil
}

func (tree) Recent(context.Context) ([]string, error) { return []string{"/old/bm_z/c32"}, nil }

func TestEverySizeIsDrawnWhole(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	m := tui.New(nil, s, tui.Options{Dark: true})
	for _, keys := range [][]string{nil, {"tab"}, {"e"}, {"esc", "w"}} {
		press(s, keys...)
		for _, size := range [][2]int{{60, 16}, {61, 17}, {109, 24}, {110, 24}, {110, 16}, {500, 200}} {
			frametest.Frame(t, m, size[0], size[1])
		}
	}
}

// Every field of the sample stands on a line, and the one that was renamed tells
// where it comes from, with the part of the log that shows it.
func TestEveryFieldHasItsLine(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	found := map[int]int{}
	for _, d := range s.porting.result.docs {
		for _, l := range d.lines {
			if l.first {
				found[l.field]++
			}
		}
	}
	for i, f := range s.porting.result.res.Fields {
		if found[i] != 1 {
			t.Errorf("%s %s is on %d lines", f.File, f.Path, found[i])
		}
	}
	if !s.review.files.goTo(porter.Recipe, "backend.prefill_environment.UCX_TLS") {
		t.Fatal("no such field")
	}
	drive(s, s.fetch())
	got := strings.Join(s.review.about(s.th, 60, 20), "\n")
	for _, want := range []string{
		"translated", "rename DYN_UCX_TLS → UCX_TLS", "job.log:6", "DYN_UCX_TLS=cuda_ipc,cuda_copy,sm",
		"the harness script exported it",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestChooseAndWrite(t *testing.T) {
	t.Parallel()
	eng := &lab{}
	s := open(t, eng, "")
	drive(s, s.Update(tea.PasteMsg{Content: "../../testdata/bm"}))
	press(s, "tab")
	if got := s.chooser.path.Value(); got != "../../testdata/bm_agentperf_dsv4_5p1d/" {
		t.Fatalf("completed to %q", got)
	}
	press(s, "enter")
	if s.stage != reviewing || s.porting.dir != "../../testdata/bm_agentperf_dsv4_5p1d/c1010" {
		t.Fatalf("stage %d, directory %q", s.stage, s.porting.dir)
	}
	asked := press(s, "w", "enter")
	const stem = "bm_agentperf_dsv4_5p1d-c1010"
	want := ui.OpenEdit{Recipe: stem + ".yaml", Workload: stem + ".workload.yaml"}
	if len(asked) != 1 || asked[0] != want {
		t.Fatalf("asked %v, want %v", asked, want)
	}
	last := eng.ports[len(eng.ports)-1]
	if last.WorkloadOut != want.Workload || last.RecipeOut != want.Recipe {
		t.Errorf("the port that is written is for %q %q", last.RecipeOut, last.WorkloadOut)
	}
}

func TestExistingFilesAreAskedAbout(t *testing.T) {
	t.Parallel()
	eng := &lab{exists: true}
	s := open(t, eng, sample)
	if v := s.View(); len(press(s, "w", "enter")) > 0 || len(eng.written) > 0 || s.writing.compare == nil {
		t.Fatalf("wrote %v:\n%s", eng.written, v)
	}
	if v := ansi.Strip(s.View()); !strings.Contains(v, "+1 −1 lines") || !strings.Contains(v, "-mine: 1") {
		t.Errorf("no difference is shown:\n%s", v)
	}
	asked := press(s, "r")
	ask, ok := asked[0].(ui.Ask)
	if !ok || !ask.Danger || ask.Body != "/d/r.yaml" {
		t.Fatalf("asked %v", asked)
	}
	drive(s, s.Update(ui.Answer{ID: ask.ID}))
	if len(eng.written) > 0 || s.writing.compare == nil {
		t.Fatalf("No wrote %v", eng.written)
	}
	s.Leave()
	if s.stage != naming || s.writing.compare != nil {
		t.Fatalf("left to stage %d", s.stage)
	}
	drive(s, s.Update(ui.Answer{ID: ask.ID, Yes: true}))
	if len(eng.written) > 0 {
		t.Fatal("a yes for a question that is over wrote")
	}
	press(s, "enter")
	eng.theirs = "-theirs: 2"
	asked = drive(s, s.Update(ui.Answer{ID: ask.ID, Yes: true}))
	if _, ok := asked[0].(ui.Toast); !ok || len(eng.written) > 0 || !strings.Contains(ansi.Strip(s.View()), "-theirs: 2") {
		t.Fatalf("what was not shown is replaced: asked %v, wrote %v", asked, eng.written)
	}
	asked = drive(s, s.Update(ui.Answer{ID: ask.ID, Yes: true}))
	if _, ok := asked[0].(ui.OpenEdit); !ok || len(eng.written) != 1 {
		t.Errorf("Yes asked %v, wrote %v", asked, eng.written)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	eng := &lab{}
	s := open(t, eng, sample)
	before := len(s.review.questions.todos)
	press(s, "tab", "e", "/", "d", "enter")
	if len(s.review.questions.todos) != before-1 || len(s.porting.result.res.Answers) != 1 {
		t.Fatalf("%d of %d questions left, answers %v", len(s.review.questions.todos), before, s.porting.result.res.Answers)
	}
	if asked := press(s, "a"); len(asked) != 1 { // the next one is a must-fix: it needs a value
		t.Errorf("accepted a placeholder: %v", asked)
	}
	press(s, "down", "a")
	if len(s.review.questions.todos) != before-2 || !s.porting.result.res.Answers[0].Accepted &&
		!s.porting.result.res.Answers[1].Accepted {
		t.Errorf("%d of %d questions left, answers %v", len(s.review.questions.todos), before, s.porting.result.res.Answers)
	}
	ask, ok := s.Leave()().(ui.Ask)
	if !ok || !ask.Danger {
		t.Errorf("leaving with answers asks %v", ask)
	}
	press(s, "u", "u")
	if len(s.review.questions.todos) != before {
		t.Errorf("undone to %d of %d questions", len(s.review.questions.todos), before)
	}
	if got := s.Leave()(); got != (ui.Back{}) {
		t.Errorf("leaving without answers asks %v", got)
	}
}

// An answer that can't be is not given, and the reason is there while it is typed.
func TestAnswerThatCanNotBe(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	s.review.files.goTo(porter.Recipe, "resources.gpu_type")
	asked := press(s, "e", "ctrl+u", "[", "enter")
	if len(asked) != 0 || s.review.answer == nil || len(s.porting.opt.Answers) != 0 ||
		!strings.Contains(s.View(), "is not a YAML value") {
		t.Errorf("asked %v, answers %v:\n%s", asked, s.porting.opt.Answers, s.View())
	}
	press(s, "backspace", "g", "b", "2", "0", "0")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "written as gb200") ||
		!strings.Contains(v, "i  gpus_per_node") && !strings.Contains(v, "gpu_type: gb200") {
		t.Errorf("no preview:\n%s", v)
	}
	press(s, "esc")
	if v := ansi.Strip(s.View()); strings.Contains(v, "gb200") {
		t.Errorf("a preview is left:\n%s", v)
	}
}

func TestDatasetsAreSearched(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	press(s, "s")
	drive(s, s.Update(tea.PasteMsg{Content: sample + "/datasets"}))
	if !s.Typing() {
		t.Error("a path is typed, and q would leave")
	}
	press(s, "enter")
	if n := s.porting.result.res.CountOpen(porter.MustFix); n != 0 || s.review.root != nil {
		t.Errorf("%d must-fix questions left", n)
	}
	press(s, "s", "/", "n", "o", "w", "h", "e", "r", "e")
	if asked := press(s, "enter"); len(asked) != 1 || len(s.porting.opt.DatasetRoots) != 1 {
		t.Errorf("a folder that is not there: %v, roots %v", asked, s.porting.opt.DatasetRoots)
	}
}

func TestLeavingGoesBackToTheChoice(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{recent: []string{sample}}, "")
	press(s, "enter")
	if s.stage != reviewing {
		t.Fatalf("the recent one is not opened: stage %d, %v", s.stage, s.chooser.err)
	}
	if cmd := s.Leave(); cmd != nil || s.stage != choosing {
		t.Errorf("left to stage %d", s.stage)
	}
	if asked := press(s, "esc"); len(asked) != 1 || asked[0] != (ui.Back{}) {
		t.Errorf("esc on the choice: %v", asked)
	}
}

func TestWhatCanNotBePortedIsSaid(t *testing.T) {
	t.Parallel()
	s := open(t, tree{&lab{}}, "/nowhere")
	if s.stage != choosing || !strings.Contains(s.View(), "no run directory") {
		t.Errorf("stage %d:\n%s", s.stage, s.View())
	}
	s = open(t, tree{&lab{}}, "/results")
	if s.chooser.path.Value() != "/results/" || s.chooser.rows[0].path != "/results/bm_a/c64" {
		t.Errorf("a parent of runs: %q %v", s.chooser.path.Value(), s.chooser.rows)
	}
}

// blocked is an engine that answers nothing until it is left.
type blocked struct{}

func (blocked) Port(ctx context.Context, _ string, _ porter.Options) (*porter.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blocked) FindRuns(ctx context.Context, _ string, _ int) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blocked) List(ctx context.Context, _ string) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blocked) Recent(ctx context.Context) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() }

func (blocked) Excerpt(ctx context.Context, _ string, _, _, _ int) (session.Excerpt, error) {
	<-ctx.Done()
	return session.Excerpt{}, ctx.Err()
}

func (blocked) Write(ctx context.Context, _ *porter.Result, _, _ string, _ bool) error {
	<-ctx.Done()
	return ctx.Err()
}

func (blocked) Targets(ctx context.Context, _ *porter.Result, _, _ string) ([]session.Target, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blocked) FileView(ctx context.Context, _ string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

// No key waits for the engine; a folder that hangs does not hold up the next one.
func TestEngineThatBlocks(t *testing.T) {
	t.Parallel()
	s := New(blocked{}, ui.NewTheme(true), "")
	defer s.Close()
	s.SetSize(80, 20)
	if s.Init() == nil {
		t.Fatal("nothing is looked for")
	}
	look := s.Update(frametest.Keys("/")[0])
	list := look().(tea.BatchMsg)[0]
	hangs := make(chan tea.Msg, 1)
	go func() { hangs <- list() }()
	for _, k := range frametest.Keys("a", "tab", "down", "up") {
		if cmd := s.Update(k); cmd != nil {
			t.Errorf("%v looks at the same folder again", k)
		}
		_ = s.View()
	}
	press := s.Update(frametest.Keys("/")[0])
	late := (<-hangs).(lookedMsg)
	if press == nil || late.err == nil || s.chooser.folder.of != "/a/" {
		t.Fatalf("typed on to another folder: %q is looked at, the one before ended with %v", s.chooser.folder.of, late.err)
	}
	s.Update(late)
	if s.chooser.folder.err != nil || s.chooser.folder.pending != 2 {
		t.Errorf("an answer about the folder before was taken: %+v", s.chooser.folder)
	}
	s.Update(frametest.Keys("enter")[0])
	if s.stage != reading {
		t.Fatalf("stage %d", s.stage)
	}
	_ = s.View()
	run := s.porting.now
	s.Leave()
	s.Update(portedMsg{run: run, err: errors.New("late")})
	if s.chooser.err != nil || s.stage != choosing {
		t.Errorf("an answer that is of no use any more was taken: %v", s.chooser.err)
	}
}
