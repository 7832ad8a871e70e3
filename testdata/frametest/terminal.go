package frametest

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Timeout limits every wait.
const Timeout = 30 * time.Second

// Terminal is a program that runs in a pseudo-terminal.
type Terminal struct {
	t   testing.TB
	cmd *exec.Cmd
	pty *os.File

	mu      sync.Mutex // guards emu's screen
	emu     *vt.Emulator
	changed chan struct{} // closed and replaced at each output
	raw     strings.Builder
	done    chan struct{} // closed when the program's output has ended
}

// Start runs a command in a terminal of w × h cells. If the program is still running at the end of
// the test, it is killed.
func Start(t testing.TB, w, h int, cmd *exec.Cmd) *Terminal {
	t.Helper()
	cmd.Env = append(cmd.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	if err != nil {
		t.Fatal(err)
	}
	term := &Terminal{
		t: t, cmd: cmd, pty: f, emu: vt.NewEmulator(w, h), changed: make(chan struct{}), done: make(chan struct{}),
	}
	replies := make(chan struct{})
	var ending atomic.Bool
	go func() { // pass the emulator's replies to queries of the program
		defer close(replies)
		buf := make([]byte, 256)
		for {
			n, err := term.emu.Read(buf)
			if err != nil || ending.Load() {
				return
			}
			_, _ = f.Write(buf[:n]) // fails if the program has ended
		}
	}()
	go term.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails if the program has ended
		<-term.done
		_ = cmd.Wait()
		// The emulator's Close must not be called during its Read. A last query makes Read
		// return instead. The cancel characters end a character or a sequence of which a killed
		// program wrote only a part; it would swallow the query.
		ending.Store(true)
		_, _ = term.emu.WriteString("\x18\x18\x18\x18\x1b[c")
		<-replies
		if err := f.Close(); err != nil {
			t.Log(err)
		}
	})
	return term
}

func (term *Terminal) read() {
	defer close(term.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := term.pty.Read(buf)
		term.mu.Lock()
		if n > 0 {
			_, _ = term.emu.Write(buf[:n]) // never fails
			term.raw.Write(buf[:n])
		}
		close(term.changed)
		term.changed = make(chan struct{})
		term.mu.Unlock()
		if err != nil { // the program has closed the terminal
			return
		}
	}
}

// Screen returns the text on the terminal.
func (term *Terminal) Screen() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.emu.String()
}

// Raw returns all bytes that the program has written.
func (term *Terminal) Raw() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.raw.String()
}

// WaitFor waits until the screen contains text, and returns the screen.
func (term *Terminal) WaitFor(text string) string {
	term.t.Helper()
	return term.WaitUntil("the text "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// WaitUntil waits until seen returns true, and returns the screen. what describes the condition.
func (term *Terminal) WaitUntil(what string, seen func(screen string) bool) string {
	term.t.Helper()
	deadline := time.NewTimer(Timeout)
	defer deadline.Stop()
	for {
		term.mu.Lock()
		screen, changed := term.emu.String(), term.changed
		term.mu.Unlock()
		if seen(screen) {
			return screen
		}
		select {
		case <-changed:
		case <-term.done:
			if s := term.Screen(); seen(s) {
				return s
			}
			term.t.Fatalf("the program ended; waiting for %s:\n%s", what, term.Screen())
		case <-deadline.C:
			term.t.Fatalf("timed out; waiting for %s:\n%s", what, term.Screen())
		}
	}
}

// keyBytes maps named keys to the bytes that a terminal sends.
var keyBytes = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "space": " ",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"pgup": "\x1b[5~", "pgdown": "\x1b[6~", "home": "\x1b[H", "end": "\x1b[F",
	"backspace": "\x7f", "delete": "\x1b[3~", "f2": "\x1bOQ", "f3": "\x1bOR",
	"ctrl+space": "\x00", "ctrl+home": "\x1b[1;5H", "ctrl+end": "\x1b[1;5F",
}

// Press sends keys: names, ctrl+x, or text.
func (term *Terminal) Press(keys ...string) {
	term.t.Helper()
	for _, k := range keys {
		out, ok := keyBytes[k]
		if c, ctrl := strings.CutPrefix(k, "ctrl+"); ctrl && !ok {
			out, ok = string(rune(c[0]&0x1f)), true
		}
		if !ok {
			out = k
		}
		if _, err := term.pty.WriteString(out); err != nil {
			term.t.Fatalf("press %s: %v", k, err)
		}
	}
}

// Signal sends the program a signal.
func (term *Terminal) Signal(s syscall.Signal) {
	term.t.Helper()
	if err := term.cmd.Process.Signal(s); err != nil {
		term.t.Fatal(err)
	}
}

// Wait waits until the program has ended and returns its exit code.
func (term *Terminal) Wait() int {
	term.t.Helper()
	select {
	case <-term.done:
	case <-time.After(Timeout):
		term.t.Fatalf("the program did not end:\n%s", term.Screen())
	}
	err := term.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		term.t.Fatal(err)
	}
	return term.cmd.ProcessState.ExitCode()
}
