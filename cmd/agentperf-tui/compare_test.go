package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// roots is a folder with two runs of a harness, the second a little slower.
func (s *shell) roots() string {
	s.t.Helper()
	root := s.path("roots")
	for i, name := range []string{"one", "two"} {
		out := filepath.Join(root, name, "c1010", "agentperf")
		if err := os.MkdirAll(out, 0o755); err != nil {
			s.t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(sampleRun, "agentperf", "*"))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				s.t.Fatal(err)
			}
			if i == 1 && filepath.Base(f) == "requests.jsonl" {
				data = []byte(strings.ReplaceAll(string(data), `"ttft":1.`, `"ttft":1.9`))
			}
			if err := os.WriteFile(filepath.Join(out, filepath.Base(f)), data, 0o644); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return root
}

// Two runs compared by keyboard: the views of the comparison, and back.
func TestCompareByKeyboard(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	term := s.terminal(100, 30, "--root", s.roots())
	term.WaitFor("one/c1010")
	term.WaitFor("two/c1010")
	term.Press("c", "down", "c")
	term.WaitFor("the band")
	term.WaitFor("95 % WITHIN RUN")
	for _, step := range []struct{ key, want string }{
		{"t", "requests found in both"},
		{"g", "% of requests that wait at most so long"},
		{"l", "output speed p50 of a request"},
		{"r", "what identifies the two"},
		{"r", "IN TOLERANCE"},
		{"a", "Which run is the further reference?"},
		{"q", "IN TOLERANCE"},
	} {
		term.Press(step.key)
		term.WaitFor(step.want)
	}
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// A run that has ended, played back: faster, held, back, and left.
func TestPlaybackByKeyboard(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	root := s.roots()
	if err := os.RemoveAll(filepath.Join(root, "two")); err != nil {
		t.Fatal(err)
	}
	old := "one/c1010"
	term := s.terminal(100, 60, "watch", filepath.Join(root, old), "--playback", "100", "--interval", "100ms")
	term.WaitFor("state done")
	if code := term.Wait(); code != 0 {
		t.Errorf("watch --playback: exit %d", code)
	}
	files, err := filepath.Glob(filepath.Join(root, old, "agentperf", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files { // a run that has ended long ago
		if err := os.Chtimes(f, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	term = s.terminal(100, 30, "--root", root)
	term.WaitFor(old)
	term.Press("enter")
	term.WaitFor("p play back")
	term.Press("p")
	term.WaitFor("playback 10×")
	term.Press("+", "+", "+")
	term.WaitFor("playback 100×")
	term.WaitFor("2:29 of 2:29")
	term.Press("<")
	term.WaitFor("2:21 of 2:29")
	term.WaitFor("measured so far")
	term.Press("p")
	term.WaitFor("✓ done")
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
