package port

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// hold presses keys and keeps what the last one started from running.
func hold(t *testing.T, s *Screen, names ...string) tea.Cmd {
	t.Helper()
	press(s, names[:len(names)-1]...)
	cmd := s.Update(frametest.Keys(names[len(names)-1])[0])
	if cmd == nil {
		t.Fatalf("%v starts nothing", names)
	}
	return cmd
}

// While an answer is worked in, the names can be typed already: they stay, and so
// does the stage, whatever becomes of the answer.
func TestNamesTypedWhileAnAnswerIsWorkedIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer string
		fails  bool
	}{{"gb200", false}, {"broken", true}} {
		eng := &lab{}
		s := open(t, eng, sample)
		if c.fails {
			eng.fails = errors.New("the disk is gone")
		}
		s.review.files.goTo(porter.Recipe, "resources.gpu_type")
		port := hold(t, s, "e", "ctrl+u", c.answer, "enter")
		press(s, "w", "ctrl+u", "m", "y", ".", "y")
		asked := drive(s, port)
		if s.stage != naming || s.writing.names[0].Value() != "my.y" {
			t.Errorf("%s: stage %d, name %q", c.answer, s.stage, s.writing.names[0].Value())
		}
		if failed := len(asked) == 1 && asked[0].(ui.Toast).Role == ui.Bad; failed != c.fails {
			t.Errorf("%s: asked %v", c.answer, asked)
		}
		if want := map[bool]int{true: 0, false: 1}[c.fails]; len(s.porting.opt.Answers) != want {
			t.Errorf("%s: %d answers, want %d", c.answer, len(s.porting.opt.Answers), want)
		}
	}
}

// Answers are kept from being lost until they are written.
func TestAnswersAreUnsavedUntilWritten(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	var keeper ui.UnsavedReporter = s
	if keeper.Unsaved() {
		t.Error("nothing is answered")
	}
	press(s, "tab", "e", "/", "d", "enter")
	if !keeper.Unsaved() {
		t.Error("an answer could be lost unasked")
	}
	press(s, "w")
	if !keeper.Unsaved() {
		t.Error("an answer could be lost while the names are typed")
	}
	press(s, "enter")
	if keeper.Unsaved() {
		t.Error("what is written counts as not written")
	}
}

func TestTheOriginsPathIsClean(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	press(s, "w")
	s.writing.names[0].SetValue("a\x1b]0;owned\x07b.yaml")
	if v := s.View(); strings.Contains(v, "owned") || strings.ContainsRune(v, '\a') ||
		!strings.Contains(v, "ab.provenance.json") {
		t.Errorf("drawn: %q", v)
	}
}

// endless is an engine whose ports go on until they are given up.
type endless struct{ blocked }

func (endless) Port(ctx context.Context, _ string, _ porter.Options) (*porter.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// start runs the first of a batch, and answers when it has ended.
func start(cmd tea.Cmd) <-chan tea.Msg {
	ended := make(chan tea.Msg, 1)
	go func() { ended <- cmd().(tea.BatchMsg)[0]() }()
	return ended
}

// Leaving ends a port, not only the wait for it.
func TestAPortThatIsGivenUpEnds(t *testing.T) {
	t.Parallel()
	s := New(endless{}, ui.NewTheme(true), "")
	defer s.Close()
	s.SetSize(80, 20)
	s.chooser.path.SetValue("/r")
	s.chooser.list()
	ended := start(s.Update(frametest.Keys("enter")[0]))
	s.Leave()
	if m := (<-ended).(portedMsg); m.err == nil || s.porting.ctx.Err() != nil {
		t.Errorf("ended with %v, the screen's own work with %v", m.err, s.porting.ctx.Err())
	}
	// One that is asked for while another runs ends that one.
	ended = start(s.porting.port())
	next := start(s.porting.port())
	<-ended
	select {
	case m := <-next:
		t.Errorf("the later one ended too: %v", m)
	default:
	}
	s.Close()
	<-next
}

// stuck writes until it is given up.
type stuck struct{ *lab }

func (stuck) Write(ctx context.Context, _ *porter.Result, _, _ string, _ bool) error {
	<-ctx.Done()
	return ctx.Err()
}

// esc ends a write that takes too long; what it answers is of no use any more.
func TestEscEndsAWrite(t *testing.T) {
	t.Parallel()
	s := open(t, stuck{&lab{}}, sample)
	write := hold(t, s, "w", "enter")
	ended := make(chan tea.Msg, 1)
	go func() { ended <- write() }()
	if !strings.Contains(s.View(), "esc gives it up") || len(s.Keys()) != 1 {
		t.Errorf("nothing says how to end it:\n%s", s.View())
	}
	press(s, "esc")
	if s.stage != reviewing || s.writing.now != nil {
		t.Fatalf("stage %d", s.stage)
	}
	if cmd := s.Update(<-ended); cmd != nil {
		t.Errorf("asked %v", cmd())
	}
	// One that had come to its end before is said, and nothing is opened.
	s = open(t, &lab{}, sample)
	done := hold(t, s, "w", "enter")()
	press(s, "esc")
	asked := drive(s, s.Update(done))
	if toast, ok := asked[0].(ui.Toast); len(asked) != 1 || !ok || !strings.Contains(toast.Text, "is written") {
		t.Errorf("asked %v", asked)
	}
}

// The environment is read by the commands, and what is opened has no ~.
func TestHomeIsExpandedByTheCommand(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", "/not/yet")
	eng := &lab{}
	s := open(t, eng, sample)
	press(s, "w", "ctrl+u", "~", "/", "r", "tab", "ctrl+u", "~", "/", "w")
	write := hold(t, s, "enter")
	t.Setenv("HOME", home)
	asked := drive(s, write)
	want := ui.OpenEdit{Recipe: filepath.Join(home, "r"), Workload: filepath.Join(home, "w")}
	if len(asked) != 1 || asked[0] != want {
		t.Errorf("asked %v, want %v", asked, want)
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
		t.Errorf("%d datasets are not found below ~", n)
	}
}

// A click picks the question that is drawn there, below the selected one too.
func TestClickOnAQuestion(t *testing.T) {
	t.Parallel()
	s := open(t, &lab{}, sample)
	press(s, "tab")
	if s.review.questions.at != 0 || len(s.review.questions.todos) < 4 {
		t.Fatalf("question %d of %d", s.review.questions.at, len(s.review.questions.todos))
	}
	for _, c := range []struct{ row, want int }{{0, 0}, {1, 0}, {2, 1}, {1, 1}, {3, 2}, {0, 0}} {
		s.review.questions.at = max(s.review.questions.at, 0)
		drive(s, s.Update(ui.Mouse{X: s.review.boxes.todos.x + 1, Y: s.review.boxes.todos.y + c.row}))
		if s.review.questions.at != c.want {
			t.Errorf("a click on row %d picks question %d, want %d", c.row, s.review.questions.at, c.want)
		}
	}
}
