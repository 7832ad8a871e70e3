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

// sampleEngine is the real engine on the sample, with a workload path that is the same on
// all machines. It does not write files.
type sampleEngine struct {
	session.Session
	mu           sync.Mutex
	portCalls    []porter.Options
	written      []string
	exists       bool
	existingLine string // a diff line of the existing file
	recent       []string
	answerErr    error // error of a port with answers
}

func (l *sampleEngine) Port(ctx context.Context, dir string, opt porter.Options) (*porter.Result, error) {
	l.mu.Lock()
	l.portCalls = append(l.portCalls, opt)
	l.mu.Unlock()
	if l.answerErr != nil && len(opt.Answers) > 0 {
		return nil, l.answerErr
	}
	opt.WorkloadOut, opt.RecipeOut = "/data/w.yaml", ""
	return l.Session.Port(ctx, dir, opt)
}

// FileView opens an artifact and reports no growth.
func (l *sampleEngine) FileView(_ context.Context, path string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil, err
	}
	still := make(chan engine.LogGrowth)
	close(still)
	return logview.NewFileView(path), still, nil
}

func (l *sampleEngine) Recent(context.Context) ([]string, error) { return l.recent, nil }

func (l *sampleEngine) Targets(_ context.Context, _ *porter.Result, recipe, workload string) ([]session.Target, error) {
	out := []session.Target{{Path: recipe}, {Path: workload}, {Path: porter.ProvenancePath(recipe)}}
	if l.exists {
		diff := []string{"@@ -1,2 +1,2 @@", cmp.Or(l.existingLine, "-mine: 1"), "+name: x", " same"}
		out[0] = session.Target{Path: "/d/r.yaml", Exists: true, Added: 1, Removed: 1, Diff: diff}
		out[2].Exists, out[2].Same = true, true
	}
	return out, nil
}

func (l *sampleEngine) Write(_ context.Context, _ *porter.Result, recipe, workload string, force bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.exists && !force {
		return &porter.ExistsError{Paths: []string{recipe}}
	}
	l.written = append(l.written, fmt.Sprint(recipe, " ", workload, " ", force))
	return nil
}

func openScreen(t *testing.T, eng Engine, dir string) *Screen {
	t.Helper()
	s := New(eng, ui.NewTheme(true), dir)
	t.Cleanup(s.Close)
	s.SetSize(120, 36)
	if asked := drive(s, s.Init()); len(asked) > 0 {
		t.Fatalf("sent at the start: %v", asked)
	}
	return s
}

// drive runs a command of the screen and the commands that result from it. It returns the
// messages to the workbench.
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
		"review":    {sample, nil},
		"renamed":   {sample, []string{"n", "n", "n", "n", "n", "n"}},
		"question":  {sample, []string{"tab"}},
		"answering": {sample, []string{"tab", "e", "/", "d", "a", "t", "a"}},
		"artifact":  {sample, []string{"tab", "tab", "down", "down"}},
		"writing":   {sample, []string{"w"}},
		"viewer":    {sample, []string{"n", "n", "n", "n", "n", "n", "o"}},
		"diff":      {sample, []string{"d"}},
		"proof":     {sample, []string{"d", "d"}},
		"details":   {sample, []string{"tab", "i"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openScreen(t, &sampleEngine{}, c.dir)
			press(s, c.keys...)
			frametest.Golden(t, name, tui.New(nil, s, tui.Options{Dark: true}))
		})
	}
	t.Run("choosing", func(t *testing.T) {
		t.Parallel()
		s := openScreen(t, directoryEngine{&sampleEngine{}}, "")
		press(s, "down", "down")
		frametest.Golden(t, "choosing", tui.New(nil, s, tui.Options{Dark: true}))
	})
	t.Run("parent", func(t *testing.T) {
		t.Parallel()
		s := openScreen(t, directoryEngine{&sampleEngine{}}, "/results")
		frametest.Golden(t, "parent", tui.New(nil, s, tui.Options{Dark: true}))
	})
}

// directoryEngine is an engine with some directories and no files.
type directoryEngine struct{ *sampleEngine }

func (directoryEngine) Port(_ context.Context, dir string, _ porter.Options) (*porter.Result, error) {
	if dir == "/results" {
		return nil, &porter.ParentError{Dir: dir, Runs: []string{"/results/bm_a/c64", "/results/bm_a/c1010"}}
	}
	return nil, fmt.Errorf("port %s: no run directory", dir)
}

func (directoryEngine) List(_ context.Context, dir string) ([]string, error) {
	switch dir {
	case ".":
		return []string{".git", "results", "runs"}, nil
	case "/results/":
		return []string{"bm_a", "bm_b"}, nil
	}
	return nil, fmt.Errorf("open %s: permission denied", dir)
}

func (directoryEngine) FindRuns(_ context.Context, root string, _ int) ([]string, error) {
	return map[string][]string{
		".": {"results/bm_a/c64", "results/bm_a/c1010"}, "/results/": {"/results/bm_a/c64", "/results/bm_a/c1010"},
	}[root], nil
}

func (directoryEngine) Recent(context.Context) ([]string, error) {
	return []string{"/old/bm_z/c32"}, nil
}

func TestFramesFillAnySize(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	m := tui.New(nil, s, tui.Options{Dark: true})
	for _, keys := range [][]string{nil, {"tab"}, {"e"}, {"esc", "w"}} {
		press(s, keys...)
		for _, size := range [][2]int{{60, 16}, {61, 17}, {109, 24}, {110, 24}, {110, 16}, {500, 200}} {
			frametest.Frame(t, m, size[0], size[1])
		}
	}
}

// Each field of the sample has a line, and a renamed field shows its origin with an
// excerpt of the log.
func TestEachFieldHasALine(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
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
	if !s.review.files.goToField(porter.Recipe, "backend.prefill_environment.UCX_TLS") {
		t.Fatal("no such field")
	}
	drive(s, s.fetch())
	got := strings.Join(s.review.details(s.th, 60, 20), "\n")
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
	eng := &sampleEngine{}
	s := openScreen(t, eng, "")
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
		t.Fatalf("sent %v, want %v", asked, want)
	}
	last := eng.portCalls[len(eng.portCalls)-1]
	if last.WorkloadOut != want.Workload || last.RecipeOut != want.Recipe {
		t.Errorf("ported for %q %q", last.RecipeOut, last.WorkloadOut)
	}
}

func TestExistingFilesAreAskedAbout(t *testing.T) {
	t.Parallel()
	eng := &sampleEngine{exists: true}
	s := openScreen(t, eng, sample)
	if v := s.View(); len(press(s, "w", "enter")) > 0 || len(eng.written) > 0 || s.writing.diffSheet == nil {
		t.Fatalf("wrote %v:\n%s", eng.written, v)
	}
	if v := ansi.Strip(s.View()); !strings.Contains(v, "+1 −1 lines") || !strings.Contains(v, "-mine: 1") {
		t.Errorf("no diff:\n%s", v)
	}
	asked := press(s, "r")
	ask, ok := asked[0].(ui.Ask)
	if !ok || !ask.Danger || ask.Body != "/d/r.yaml" {
		t.Fatalf("sent %v", asked)
	}
	drive(s, s.Update(ui.Answer{ID: ask.ID}))
	if len(eng.written) > 0 || s.writing.diffSheet == nil {
		t.Fatalf("answering no wrote %v", eng.written)
	}
	s.Leave()
	if s.stage != naming || s.writing.diffSheet != nil {
		t.Fatalf("stage %d after Leave", s.stage)
	}
	drive(s, s.Update(ui.Answer{ID: ask.ID, Yes: true}))
	if len(eng.written) > 0 {
		t.Fatal("a late yes wrote the files")
	}
	press(s, "enter")
	eng.existingLine = "-theirs: 2"
	asked = drive(s, s.Update(ui.Answer{ID: ask.ID, Yes: true}))
	if _, ok := asked[0].(ui.Toast); !ok || len(eng.written) > 0 || !strings.Contains(ansi.Strip(s.View()), "-theirs: 2") {
		t.Fatalf("replaced a file that was not shown: sent %v, wrote %v", asked, eng.written)
	}
	asked = drive(s, s.Update(ui.Answer{ID: ask.ID, Yes: true}))
	if _, ok := asked[0].(ui.OpenEdit); !ok || len(eng.written) != 1 {
		t.Errorf("answering yes sent %v, wrote %v", asked, eng.written)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	eng := &sampleEngine{}
	s := openScreen(t, eng, sample)
	before := len(s.review.questions.todos)
	press(s, "tab", "e", "/", "d", "enter")
	if len(s.review.questions.todos) != before-1 || len(s.porting.result.res.Answers) != 1 {
		t.Fatalf("%d of %d questions left, answers %v", len(s.review.questions.todos), before, s.porting.result.res.Answers)
	}
	if asked := press(s, "a"); len(asked) != 1 { // the next one is must-fix and needs a value
		t.Errorf("accepted a placeholder: %v", asked)
	}
	press(s, "down", "a")
	if len(s.review.questions.todos) != before-2 || !s.porting.result.res.Answers[0].Accepted &&
		!s.porting.result.res.Answers[1].Accepted {
		t.Errorf("%d of %d questions left, answers %v", len(s.review.questions.todos), before, s.porting.result.res.Answers)
	}
	ask, ok := s.Leave()().(ui.Ask)
	if !ok || !ask.Danger {
		t.Errorf("Leave with answers sent %v", ask)
	}
	press(s, "u", "u")
	if len(s.review.questions.todos) != before {
		t.Errorf("%d of %d questions after undo", len(s.review.questions.todos), before)
	}
	if got := s.Leave()(); got != (ui.Back{}) {
		t.Errorf("Leave without answers sent %v", got)
	}
}

// An invalid answer is rejected, and the error is shown while it is typed.
func TestInvalidAnswerIsRejected(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	s.review.files.goToField(porter.Recipe, "resources.gpu_type")
	asked := press(s, "e", "ctrl+u", "[", "enter")
	if len(asked) != 0 || s.review.answer == nil || len(s.porting.opt.Answers) != 0 ||
		!strings.Contains(s.View(), "is not a YAML value") {
		t.Errorf("sent %v, answers %v:\n%s", asked, s.porting.opt.Answers, s.View())
	}
	press(s, "backspace", "g", "b", "2", "0", "0")
	if v := ansi.Strip(s.View()); !strings.Contains(v, "written as gb200") ||
		!strings.Contains(v, "i  gpus_per_node") && !strings.Contains(v, "gpu_type: gb200") {
		t.Errorf("no preview:\n%s", v)
	}
	press(s, "esc")
	if v := ansi.Strip(s.View()); strings.Contains(v, "gb200") {
		t.Errorf("the preview is still there:\n%s", v)
	}
}

func TestSearchDatasets(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	press(s, "s")
	drive(s, s.Update(tea.PasteMsg{Content: sample + "/datasets"}))
	if !s.Typing() {
		t.Error("not typing, so q would leave")
	}
	press(s, "enter")
	if n := s.porting.result.res.CountOpen(porter.MustFix); n != 0 || s.review.datasetRoot != nil {
		t.Errorf("%d must-fix questions left", n)
	}
	press(s, "s", "/", "n", "o", "w", "h", "e", "r", "e")
	if asked := press(s, "enter"); len(asked) != 1 || len(s.porting.opt.DatasetRoots) != 1 {
		t.Errorf("missing directory: sent %v, roots %v", asked, s.porting.opt.DatasetRoots)
	}
}

func TestLeaveReturnsToTheChooser(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{recent: []string{sample}}, "")
	press(s, "enter")
	if s.stage != reviewing {
		t.Fatalf("the recent directory was not opened: stage %d, %v", s.stage, s.chooser.err)
	}
	if cmd := s.Leave(); cmd != nil || s.stage != choosing {
		t.Errorf("stage %d after Leave", s.stage)
	}
	if asked := press(s, "esc"); len(asked) != 1 || asked[0] != (ui.Back{}) {
		t.Errorf("esc in the chooser sent %v", asked)
	}
}

func TestPortErrorsAreShown(t *testing.T) {
	t.Parallel()
	s := openScreen(t, directoryEngine{&sampleEngine{}}, "/nowhere")
	if s.stage != choosing || !strings.Contains(s.View(), "no run directory") {
		t.Errorf("stage %d:\n%s", s.stage, s.View())
	}
	s = openScreen(t, directoryEngine{&sampleEngine{}}, "/results")
	if s.chooser.path.Value() != "/results/" || s.chooser.rows[0].path != "/results/bm_a/c64" {
		t.Errorf("parent of run directories: %q %v", s.chooser.path.Value(), s.chooser.rows)
	}
}

// Enter opens the first run of the current directory, even if it is pressed before the directory is
// listed and an earlier port of another place is shown.
func TestEnterBeforeListing(t *testing.T) {
	t.Parallel()
	s := New(directoryEngine{&sampleEngine{}}, ui.NewTheme(true), "")
	defer s.Close()
	s.SetSize(80, 20)
	start := s.Init()
	s.Update(recentMsg{dirs: []string{"/old/bm_z/c32"}})
	if cmd := s.Update(frametest.Keys("enter")[0]); cmd != nil || s.stage != choosing {
		t.Fatalf("enter opened %v before the listing", s.chooser.rows)
	}
	drive(s, start)
	if s.chooser.err == nil || !strings.Contains(s.chooser.err.Error(), "port results/bm_a/c64") {
		t.Errorf("enter ported another directory: %v", s.chooser.err)
	}
	if s.chooser.accept {
		t.Error("the key is still pending")
	}
}

// blockedEngine is an engine whose calls block until they are cancelled.
type blockedEngine struct{}

func (blockedEngine) Port(ctx context.Context, _ string, _ porter.Options) (*porter.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blockedEngine) FindRuns(ctx context.Context, _ string, _ int) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blockedEngine) List(ctx context.Context, _ string) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blockedEngine) Recent(ctx context.Context) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blockedEngine) Excerpt(ctx context.Context, _ string, _, _, _ int) (session.Excerpt, error) {
	<-ctx.Done()
	return session.Excerpt{}, ctx.Err()
}

func (blockedEngine) Write(ctx context.Context, _ *porter.Result, _, _ string, _ bool) error {
	<-ctx.Done()
	return ctx.Err()
}

func (blockedEngine) Targets(ctx context.Context, _ *porter.Result, _, _ string) ([]session.Target, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blockedEngine) FileView(ctx context.Context, _ string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

// No key blocks, and a hanging directory does not block the next one.
func TestBlockedEngine(t *testing.T) {
	t.Parallel()
	s := New(blockedEngine{}, ui.NewTheme(true), "")
	defer s.Close()
	s.SetSize(80, 20)
	if s.Init() == nil {
		t.Fatal("Init returned no command")
	}
	look := s.Update(frametest.Keys("/")[0])
	list := look().(tea.BatchMsg)[0]
	pending := make(chan tea.Msg, 1)
	go func() { pending <- list() }()
	for _, k := range frametest.Keys("a", "tab", "down", "up") {
		if cmd := s.Update(k); cmd != nil {
			t.Errorf("%v listed the same directory again", k)
		}
		_ = s.View()
	}
	press := s.Update(frametest.Keys("/")[0])
	late := (<-pending).(listedMsg)
	if press == nil || late.err == nil || s.chooser.listing.path != "/a/" {
		t.Fatalf("another directory: listing %q, the previous one ended with %v", s.chooser.listing.path, late.err)
	}
	s.Update(late)
	if s.chooser.listing.err != nil || s.chooser.listing.pending != 2 {
		t.Errorf("the listing of the previous directory was not dropped: %+v", s.chooser.listing)
	}
	s.Update(frametest.Keys("enter")[0])
	if s.stage != reading {
		t.Fatalf("stage %d", s.stage)
	}
	_ = s.View()
	run := s.porting.running
	s.Leave()
	s.Update(portedMsg{run: run, err: errors.New("late")})
	if s.chooser.err != nil || s.stage != choosing {
		t.Errorf("the late result was not dropped: %v", s.chooser.err)
	}
}
