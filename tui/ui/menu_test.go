package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestMenuKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys   string // one letter each; D down, U up, E enter, X esc
		choice int
		closed bool
	}{
		{"E", 0, true},
		{"DE", 1, true},
		{"UE", 2, true},
		{"DDDE", 0, true},
		{"2", 1, true},
		{"9", -1, false},
		{"X", -1, true},
		{"z", -1, false},
	} {
		m := Menu{Items: []Item{{Text: "a"}, {Text: "b"}, {Text: "c"}}}
		choice, closed := -1, false
		for _, k := range c.keys {
			msg := tea.KeyPressMsg{Code: k, Text: string(k)}
			if code, ok := map[rune]rune{'D': tea.KeyDown, 'U': tea.KeyUp, 'E': tea.KeyEnter, 'X': tea.KeyEscape}[k]; ok {
				msg = tea.KeyPressMsg{Code: code}
			}
			choice, closed = m.Key(msg)
		}
		if choice != c.choice || closed != c.closed {
			t.Errorf("%s: %d %v, want %d %v", c.keys, choice, closed, c.choice, c.closed)
		}
	}
}

// A menu with long texts stays within its size, and a frame keeps its width under it.
func TestMenuStaysWithinItsSize(t *testing.T) {
	t.Parallel()
	th := NewTheme(true)
	m := Menu{
		Title: strings.Repeat("title 世界 ", 20), Body: strings.Repeat("body ", 200), Footer: strings.Repeat("foot ", 40),
	}
	for range 30 {
		note := "\x1b[31m" + strings.Repeat("note ", 40)
		m.Items = append(m.Items, Item{Text: strings.Repeat("text ", 40), Note: note, Role: Bad})
	}
	m.Cursor = 29
	for _, size := range [][2]int{{60, 12}, {80, 20}, {200, 56}} {
		w, h := size[0], size[1]
		box := m.Draw(th, w, h)
		if n := strings.Count(box, "\n") + 1; n > h || Width(strings.Split(box, "\n")[0]) > w {
			t.Errorf("%dx%d: %d lines of %d", w, h, n, Width(strings.Split(box, "\n")[0]))
		}
		if !strings.Contains(box, "▸") {
			t.Errorf("%dx%d: the item under the cursor is out of view", w, h)
		}
		under := strings.TrimSuffix(strings.Repeat(Fit(th.Paint(Warn, strings.Repeat("世界", 200)), w)+"\n", h), "\n")
		for _, at := range [][2]int{{0, 0}, {3, 2}, {w, h}, {-5, -5}} {
			for i, l := range strings.Split(Overlay(under, box, at[0], at[1], w), "\n") {
				if Width(l) != w {
					t.Errorf("%dx%d at %v: line %d is %d wide", w, h, at, i, Width(l))
				}
			}
		}
	}
}
