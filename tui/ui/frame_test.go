package ui

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
	"github.com/charmbracelet/x/ansi"
)

// checkSize fails unless a block is lines of exactly w cells, h of them.
func checkSize(t *testing.T, block string, w, h int) {
	t.Helper()
	lines := strings.Split(block, "\n")
	if len(lines) != h {
		t.Errorf("%d lines, want %d:\n%s", len(lines), h, ansi.Strip(block))
	}
	for _, l := range lines {
		if Width(l) != w {
			t.Errorf("a line of %d cells, want %d: %q", Width(l), w, ansi.Strip(l))
		}
	}
}

func bindings(n int) []key.Binding {
	var out []key.Binding
	for i := range n {
		out = append(out, key.NewBinding(key.WithKeys("x"), key.WithHelp("x", fmt.Sprintf("does %d.", i))))
	}
	return out
}

// The help always shows how to leave, and all other bindings or the number of those that
// do not fit.
func TestHelpCountsHiddenBindings(t *testing.T) {
	t.Parallel()
	leave := []key.Binding{Bind("q", "back", "q"), Bind("ctrl+c", "quit", "ctrl+c")}
	for _, c := range []struct{ n, w, h int }{
		{3, 60, 12},
		{15, 60, 12},
		{16, 60, 12},
		{17, 60, 12},
		{30, 60, 12},
		{30, 120, 12},
		{30, 80, 20},
		{200, 500, 200},
		{5, 60, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			help := NewTheme(true).Help("\x1b[5mrun\x07", [][]key.Binding{bindings(c.n), leave}, c.w, c.h)
			checkSize(t, help, c.w, c.h)
			if strings.ContainsAny(help, "\x07") || strings.Contains(help, "\x1b[5m") {
				t.Error("the help contains escape sequences of the title")
			}
			if c.h < 12 {
				return
			}
			text := ansi.Strip(help)
			if !strings.Contains(text, "back") || !strings.Contains(text, "quit") {
				t.Errorf("the help does not show how to leave:\n%s", text)
			}
			seen := strings.Count(text, "does ")
			if seen < c.n && !strings.Contains(text, fmt.Sprintf("%d more: enlarge the window", c.n-seen)) {
				t.Errorf("the help shows %d of %d bindings and does not count the others:\n%s", seen, c.n, text)
			}
			if seen == c.n && strings.Contains(text, "more:") {
				t.Errorf("the help shows all bindings and counts more:\n%s", text)
			}
		})
	}
}

// At any width the footer ends with a complete binding and the key of the help.
func TestFooterFits(t *testing.T) {
	t.Parallel()
	for w := MinWidth; w < 140; w++ {
		footer := NewTheme(true).Footer(bindings(12), "f1", w)
		checkSize(t, footer, w, 2)
		if text := ansi.Strip(footer); !strings.Contains(text, ". · f1 help ") {
			t.Errorf("width %d: %q", w, text)
		}
	}
}

// The buttons are in the frame, whatever the texts of the dialog.
func TestDialogFits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("/a/very/long/path", 40)
	for name, a := range map[string]Ask{
		"long word":    {Title: "Delete?", Body: long, Yes: "delete", No: "keep"},
		"many lines":   {Title: "Delete?", Body: strings.Repeat("a line\n\n", 60), Yes: "delete", No: "keep"},
		"long title":   {Title: "Cancel " + long, Body: "It runs.", Yes: "delete", No: "keep"},
		"long answers": {Title: "Cancel?", Body: long, Yes: "delete " + long, No: "keep " + long},
	} {
		for _, size := range [][2]int{{60, 16}, {80, 24}, {200, 60}} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				t.Parallel()
				w, h := size[0], size[1]
				block := Dialog{Ask: a, AcceptsKeys: true}.Draw(NewTheme(true), w, h)
				lines := strings.Split(ansi.Strip(block), "\n")
				if len(lines) > h {
					t.Errorf("%d lines in a frame of %d", len(lines), h)
				}
				for _, l := range lines {
					if Width(l) > w || Width(l) != Width(lines[0]) {
						t.Errorf("a line of %d cells in a frame of %d: %q", Width(l), w, l)
					}
				}
				for _, want := range []string{" keep", " delete", "y / n"} {
					if !strings.Contains(strings.Join(lines[len(lines)-5:], "\n"), want) {
						t.Errorf("no %q at the end of\n%s", want, ansi.Strip(block))
					}
				}
				checkSize(t, OverlayCentred(Box("", w, h), block, w, h), w, h)
			})
		}
	}
	short := ansi.Strip(Dialog{Ask: Ask{Title: "t", Body: "one\n\ntwo", Yes: "y", No: "n"}}.Draw(NewTheme(true), 60, 16))
	if strings.Contains(short, "…") || strings.Count(short, "\n") != 9 {
		t.Errorf("a short dialog is cut:\n%s", short)
	}
}

// FuzzChart draws any numbers: values that can't be drawn are gaps.
func FuzzChart(f *testing.F) {
	inf, big := math.Inf(1), math.MaxFloat64
	for _, values := range [][]float64{
		{1, inf, 2},
		{inf},
		{-inf, inf, math.NaN()},
		{0, 0},
		{-big, big},
		{1e300, -1e300},
		{5e-324, 0},
		{1e17, 1e17 + 16},
		{-1, 0.1, 1e9},
	} {
		var b []byte
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		f.Add(b, 30, 6)
	}
	f.Fuzz(func(t *testing.T, b []byte, w, h int) {
		if w < 1 || h < 1 || w > 300 || h > 100 {
			return
		}
		c := Curve{}
		for ; len(b) >= 8; b = b[8:] {
			c.Values = append(c.Values, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		checkSize(t, NewTheme(true).Chart(w, h, []float64{0, 0.5, 1, 7}, c, Curve{}), w, h)
	})
}

func TestChartOfInfinities(t *testing.T) {
	t.Parallel()
	th := NewTheme(true)
	inf, nan := math.Inf(1), math.NaN()
	got := th.Chart(20, 5, nil, Curve{Values: []float64{1, inf, 3, -inf, 2}})
	if want := th.Chart(20, 5, nil, Curve{Values: []float64{1, nan, 3, nan, 2}}); got != want {
		t.Errorf("an infinite value is not a gap:\n%s\nwant\n%s", got, want)
	}
	if got := ansi.Strip(th.Chart(40, 5, nil, Curve{Values: []float64{inf}})); !strings.Contains(got, "no values yet") {
		t.Errorf("a curve with only an infinite value:\n%s", got)
	}
}

func TestStateMark(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		"done": "✓", "failed": "✗", "timeout": "✗", "cancelled": "⊘", "pending": "◌", "unknown": "?", "": "?",
		"measuring": "●", "starting": "●",
	} {
		if got, _ := StateMark(state); got != want || Width(got) != 1 {
			t.Errorf("%q: %s, want %s", state, got, want)
		}
	}
}
