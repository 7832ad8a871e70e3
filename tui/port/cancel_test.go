package port

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// pressHeld presses keys and returns the command of the last one without running it.
func pressHeld(t *testing.T, s *Screen, names ...string) tea.Cmd {
	t.Helper()
	press(s, names[:len(names)-1]...)
	cmd := s.Update(frametest.Keys(names[len(names)-1])[0])
	if cmd == nil {
		t.Fatalf("%v returned no command", names)
	}
	return cmd
}

// The names can be typed while an answer is being applied. Names and stage stay, whether
// the answer is applied or fails.
func TestNamesCanBeTypedWhilePorting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer string
		fails  bool
	}{{"gb200", false}, {"broken", true}} {
		eng := &sampleEngine{}
		s := openScreen(t, eng, sample)
		if c.fails {
			eng.answerErr = errors.New("input/output error")
		}
		s.review.files.goToField(porter.Recipe, "resources.gpu_type")
		port := pressHeld(t, s, "e", "ctrl+u", c.answer, "enter")
		press(s, "w", "ctrl+u", "m", "y", ".", "y")
		asked := drive(s, port)
		if s.stage != naming || s.writing.names[0].Value() != "my.y" {
			t.Errorf("%s: stage %d, name %q", c.answer, s.stage, s.writing.names[0].Value())
		}
		if failed := len(asked) == 1 && asked[0].(ui.Toast).Role == ui.Bad; failed != c.fails {
			t.Errorf("%s: sent %v", c.answer, asked)
		}
		if want := map[bool]int{true: 0, false: 1}[c.fails]; len(s.porting.opt.Answers) != want {
			t.Errorf("%s: %d answers, want %d", c.answer, len(s.porting.opt.Answers), want)
		}
	}
}

// Answers are reported as unsaved until they are written.
func TestAnswersAreUnsavedUntilWritten(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	var reporter ui.UnsavedReporter = s
	if reporter.Unsaved() {
		t.Error("unsaved without answers")
	}
	press(s, "tab", "e", "/", "d", "enter")
	if !reporter.Unsaved() {
		t.Error("an answer is not reported as unsaved")
	}
	press(s, "w")
	if !reporter.Unsaved() {
		t.Error("an answer is not reported as unsaved while the names are typed")
	}
	press(s, "enter")
	if reporter.Unsaved() {
		t.Error("written answers are reported as unsaved")
	}
}

func TestControlCharactersAreRemovedFromThePath(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	press(s, "w")
	s.writing.names[0].SetValue("a\x1b]0;owned\x07b.yaml")
	if v := s.View(); strings.Contains(v, "owned") || strings.ContainsRune(v, '\a') ||
		!strings.Contains(v, "ab.provenance.json") {
		t.Errorf("view %q", v)
	}
}

// endlessPortEngine is an engine whose ports run until they are cancelled.
type endlessPortEngine struct{ blockedEngine }

func (endlessPortEngine) Port(ctx context.Context, _ string, _ porter.Options) (*porter.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// runFirst runs the first command of a batch in a goroutine and returns its message.
func runFirst(cmd tea.Cmd) <-chan tea.Msg {
	ended := make(chan tea.Msg, 1)
	go func() { ended <- cmd().(tea.BatchMsg)[0]() }()
	return ended
}

// Leave cancels the port itself, not only the wait for it.
func TestLeavingStopsThePort(t *testing.T) {
	t.Parallel()
	s := New(endlessPortEngine{}, ui.NewTheme(true), "")
	defer s.Close()
	s.SetSize(80, 20)
	s.chooser.path.SetValue("/r")
	s.chooser.updateRows()
	ended := runFirst(s.Update(frametest.Keys("enter")[0]))
	s.Leave()
	if m := (<-ended).(portedMsg); m.err == nil || s.porting.ctx.Err() != nil {
		t.Errorf("port ended with %v, context of the screen with %v", m.err, s.porting.ctx.Err())
	}
	// Another port cancels the running one.
	ended = runFirst(s.porting.port())
	next := runFirst(s.porting.port())
	<-ended
	select {
	case m := <-next:
		t.Errorf("the later port ended, too: %v", m)
	default:
	}
	s.Close()
	<-next
}

// endlessWriteEngine is an engine whose writes run until they are cancelled.
type endlessWriteEngine struct{ *sampleEngine }

func (endlessWriteEngine) Write(ctx context.Context, _ *porter.Result, _, _ string, _ bool) error {
	<-ctx.Done()
	return ctx.Err()
}

// esc cancels a write and drops its result.
func TestEscapeCancelsAWrite(t *testing.T) {
	t.Parallel()
	s := openScreen(t, endlessWriteEngine{&sampleEngine{}}, sample)
	write := pressHeld(t, s, "w", "enter")
	ended := make(chan tea.Msg, 1)
	go func() { ended <- write() }()
	if !strings.Contains(s.View(), "esc cancels") || len(s.Keys()) != 1 {
		t.Errorf("no hint to cancel:\n%s", s.View())
	}
	press(s, "esc")
	if s.stage != reviewing || s.writing.running != nil {
		t.Fatalf("stage %d", s.stage)
	}
	if cmd := s.Update(<-ended); cmd != nil {
		t.Errorf("sent %v", cmd())
	}
	// A write that succeeded before is reported, and the editor is not opened.
	s = openScreen(t, &sampleEngine{}, sample)
	done := pressHeld(t, s, "w", "enter")()
	press(s, "esc")
	asked := drive(s, s.Update(done))
	if toast, ok := asked[0].(ui.Toast); len(asked) != 1 || !ok || !strings.Contains(toast.Text, "was written") {
		t.Errorf("sent %v", asked)
	}
}

// Commands expand ~, so the opened paths have none.
func TestHomeIsExpandedByTheCommand(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", "/not/yet")
	eng := &sampleEngine{}
	s := openScreen(t, eng, sample)
	press(s, "w", "ctrl+u", "~", "/", "r", "tab", "ctrl+u", "~", "/", "w")
	write := pressHeld(t, s, "enter")
	t.Setenv("HOME", home)
	asked := drive(s, write)
	want := ui.OpenEdit{Recipe: filepath.Join(home, "r"), Workload: filepath.Join(home, "w")}
	if len(asked) != 1 || asked[0] != want {
		t.Errorf("sent %v, want %v", asked, want)
	}
	if want := fmt.Sprint(want.Recipe, " ", want.Workload, " false"); eng.written[0] != want {
		t.Errorf("wrote %s", eng.written[0])
	}
	abs, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(abs, "datasets"), filepath.Join(home, "d")); err != nil {
		t.Fatal(err)
	}
	press(s, "s", "~", "/", "d", "/", "enter")
	if n := s.porting.result.res.CountOpen(porter.MustFix); n != 0 {
		t.Errorf("%d datasets not found below ~", n)
	}
}

// A click selects the question at that line, also below the selected one.
func TestClickSelectsAQuestion(t *testing.T) {
	t.Parallel()
	s := openScreen(t, &sampleEngine{}, sample)
	press(s, "tab")
	if s.review.questions.cursor != 0 || len(s.review.questions.todos) < 4 {
		t.Fatalf("question %d of %d", s.review.questions.cursor, len(s.review.questions.todos))
	}
	for _, name := range []string{"user_assignments_path", "gpu_type", "load_balancer", "trajectory_path", "gpu_type"} {
		b := s.review.layout.questions
		row := slices.IndexFunc(strings.Split(ansi.Strip(s.View()), "\n")[b.y:], func(l string) bool {
			return strings.Contains(l, name+" ")
		})
		if row < 0 || row >= b.h {
			t.Fatalf("%s is on row %d:\n%s", name, row, ansi.Strip(s.View()))
		}
		for _, below := range []int{0, 1} { // its first line, and the next line of its message
			drive(s, s.Update(ui.Mouse{X: b.x + 1, Y: b.y + row + below}))
			if q, _ := s.review.questions.current(); !strings.HasSuffix(q.Path, name) {
				t.Errorf("a click on row %d selects %s, want %s", row+below, q.Path, name)
			}
		}
	}
}
