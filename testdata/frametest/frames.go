// Package frametest looks at screens in tests: as golden frames at the three
// sizes that matter, and as a real program in a real pseudo-terminal whose
// output goes through a terminal emulator. It waits for what it is told to see
// and never sleeps.
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

// sizes are the terminals that every screen is looked at in.
var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

// Golden compares a model's frame at each size with testdata/<name>.<w>x<h>.txt,
// and the styled one at 120x40 with .ansi, so that a change of layout and one of
// colour are two differences. First it asserts that a frame has exactly its size.
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

// Frame is a model's frame at a size, which it is told first.
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

// Keys are key presses as a terminal sends them: names such as enter, esc, up,
// ctrl+s, space, or single characters.
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
