package logs

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// For any log and any keys, the window has exactly its size, contains no control
// sequences except colours, and does not panic.
func FuzzPane(f *testing.F) {
	f.Add("one\n\x1b[31mtwo\x1b[2J\x00\xff\u202e\n日本語日本語\nERROR x\n10:00:01 y\n",
		"wkkjn/o\renE&t\rGg", uint8(20), uint8(4))
	f.Add(strings.Repeat("a long line ", 200)+"\n", "w\x1bjjk:2\ryaf", uint8(7), uint8(3))
	f.Fuzz(func(t *testing.T, text, keys string, w, h uint8) {
		if len(keys) > 60 || len(text) > 20_000 {
			return
		}
		r := newRig(t, int(w)%100, int(h)%40, text, "10:00:00 another\n")
		r.pressKeys(keys)
		r.grow(text+"more\n", len(text)%2 == 0)
		r.checkFrame()
		r.runCmd(r.p.Open(r.p.src.logs[0]))
		r.checkFrame()
		file := fileRig(t, int(w)%100, int(h)%40, text, Location{Line: int64(h) % 9, Column: int(w), Length: len(keys)})
		file.checkFrame()
		file.pressKeys(keys)
	})
}

// pressKeys presses keys and changes the size, and checks each frame.
func (r *rig) pressKeys(keys string) {
	r.t.Helper()
	for i, k := range keys {
		switch {
		case k == '\r':
			r.keys("enter")
		case k == '\x1b' && !r.p.Typing():
			cmd, _ := r.p.Escape()
			r.runCmd(cmd)
		case k == '\x1b':
			r.keys("esc")
		case k == '<':
			r.keys("pgup")
		case k == '>':
			r.keys("pgdown", "right")
		case unicode.IsPrint(k):
			r.keys(string(k))
		default:
			r.p.SetSize(int(k)%50, i%20)
			r.runCmd(r.p.Fill())
		}
		r.checkFrame()
	}
}

func (r *rig) checkFrame() {
	r.t.Helper()
	p := r.p
	v := p.View()
	if p.w <= 0 || p.win.h <= 0 {
		return
	}
	lines := strings.Split(v, "\n")
	if len(lines) != p.win.h {
		r.t.Fatalf("%d lines in a window of %d", len(lines), p.win.h)
	}
	for _, l := range lines {
		if ui.Width(l) != p.w {
			r.t.Fatalf("a line of %d cells in a window of %d: %q", ui.Width(l), p.w, l)
		}
		left, right := p.Title(true, p.w)
		if strings.ContainsFunc(ansi.Strip(l+left+right), func(c rune) bool {
			return unicode.IsControl(c) ||
				unicode.Is(unicode.Bidi_Control, c)
		}) {
			r.t.Fatalf("control characters in %q", l)
		}
	}
	if p.loading.fetch != nil && p.src.err == nil {
		r.t.Fatal("a fetch is still running")
	}
}
