package runs

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// The filter and the path are text fields, which drop pasted line breaks.
func TestTextFields(t *testing.T) {
	t.Parallel()
	s, _ := loaded(&fakeEngine{runs: fourRuns()})
	s.SetSize(120, 36)
	press(s, "/")
	s.Update(tea.PasteMsg{Content: "dsv4\n"})
	if s.list.filter.Value() != "dsv4" || len(s.list.shown) != 3 {
		t.Errorf("filter %q shows %d runs", s.list.filter.Value(), len(s.list.shown))
	}
	press(s, "ctrl+u", "q", "n", "left", "w", "backspace", "enter")
	if s.list.filter.Value() != "qn" {
		t.Errorf("filter %q", s.list.filter.Value())
	}
	press(s, "n")
	s.Update(tea.PasteMsg{Content: "/a b/r.yaml\r\n"})
	press(s, "home", "right", "x")
	if got, want := press(s, "enter"), (ui.OpenEdit{Recipe: "/xa b/r.yaml"}); got != want {
		t.Errorf("opened %#v, want %#v", got, want)
	}
}

// The path of a recipe may start with ~.
func TestRecipePathWithHome(t *testing.T) {
	t.Setenv("HOME", "/home/of")
	s, _ := loaded(&fakeEngine{runs: fourRuns()})
	if got, want := press(s, "n", "~", "/", "r", "enter"), (ui.OpenEdit{Recipe: "/home/of/r"}); got != want {
		t.Errorf("opened %#v, want %#v", got, want)
	}
}

// Esc clears the filter and never closes the screen.
func TestEscapeNeverCloses(t *testing.T) {
	t.Parallel()
	s := New(nil, ui.NewTheme(true), nil)
	defer s.Close()
	s.list.filter.SetValue("x")
	for range 2 {
		cmd, handled := s.Escape()
		if !handled || s.list.filter.Value() != "" {
			t.Fatalf("handled %v, filter %q", handled, s.list.filter.Value())
		}
		if cmd != nil {
			if _, isToast := cmd().(ui.Toast); !isToast {
				t.Errorf("got %#v", cmd())
			}
		}
	}
}
