// Package frametest tests screens: as golden frames at three sizes, and as a program in a
// pseudo-terminal whose output is read by a terminal emulator. Tests wait for text on the screen
// instead of sleeping.
package frametest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/testdata/golden"
)

// sizes are the terminal sizes that every screen is tested at.
var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

// Golden compares a model's frame at each size with testdata/<name>.<w>x<h>.txt, without styles. It
// compares the frame at 120x40 with styles too, with .ansi, so that changes of layout and of colour
// are separate differences. Each frame must have exactly its size.
func Golden(t *testing.T, name string, m tea.Model) {
	t.Helper()
	for _, s := range sizes {
		frame := Frame(t, m, s[0], s[1])
		base := filepath.Join("testdata", fmt.Sprintf("%s.%dx%d", name, s[0], s[1]))
		golden.Equal(t, base+".txt", plain(frame))
		if s[0] == 120 {
			golden.Equal(t, base+".ansi", frame)
		}
	}
}

// Frame sets the size of a model and returns its frame.
func Frame(t *testing.T, m tea.Model, w, h int) string {
	t.Helper()
	m, _ = m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	frame := m.View().Content
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		t.Errorf("frame of %dx%d has %d lines", w, h, len(lines))
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			t.Errorf("frame of %dx%d: line %d is %d wide: %q", w, h, i+1, n, ansi.Strip(l))
		}
	}
	return frame
}

func plain(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// Keys returns the messages of key presses. Keys are names such as enter, esc, up, ctrl+s or space,
// or single characters.
func Keys(names ...string) []tea.Msg {
	out := make([]tea.Msg, 0, len(names))
	for _, n := range names {
		out = append(out, key(n))
	}
	return out
}

var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
	"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "f2": tea.KeyF2, "f3": tea.KeyF3,
}

func key(name string) tea.KeyPressMsg {
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
		if code, ok := named[c]; ok {
			return tea.KeyPressMsg{Code: code, Mod: tea.ModCtrl}
		}
		return tea.KeyPressMsg{Code: []rune(c)[0], Mod: tea.ModCtrl}
	}
	if code, ok := named[name]; ok {
		k := tea.KeyPressMsg{Code: code}
		if name == "space" {
			k.Text = " "
		}
		return k
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}
