package tui

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// TestMain runs the test binary as the program that panics, if PLAY_PANIC is set.
func TestMain(m *testing.M) {
	if os.Getenv("PLAY_PANIC") != "" {
		first := &fakeScreen{name: "runs"}
		_, err := tea.NewProgram(New(nil, &panicking{first}, Options{Dark: true})).Run()
		fmt.Println("ended:", err)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// panicking is a screen that panics at a key.
type panicking struct{ *fakeScreen }

func (p *panicking) Update(msg tea.Msg) tea.Cmd {
	if _, ok := msg.(tea.KeyPressMsg); ok {
		panic("a bug in a screen")
	}
	return nil
}

var _ ui.Screen = (*panicking)(nil)

// A panic in a screen restores the terminal: the program leaves the alternate screen,
// shows the cursor and prints the error.
func TestPanicRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "PLAY_PANIC=1")
	term := frametest.Start(t, 80, 24, cmd)
	term.WaitFor("body of runs")
	term.Press("x")
	if code := term.Wait(); code != 3 {
		t.Errorf("exit %d", code)
	}
	raw := term.Raw()
	if out, in := strings.LastIndex(raw, "\x1b[?1049l"), strings.LastIndex(raw, "\x1b[?1049h"); out < in {
		t.Error("the alternate screen was not left")
	}
	if strings.LastIndex(raw, "\x1b[?25h") < strings.LastIndex(raw, "\x1b[?25l") {
		t.Error("the cursor stays hidden")
	}
	if !strings.Contains(term.Screen(), "ended:") {
		t.Errorf("no error message:\n%s", term.Screen())
	}
}
