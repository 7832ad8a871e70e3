package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// harnessRuns writes two harness run directories, the second one slightly slower, and
// returns their parent.
func (s *shell) harnessRuns() string {
	s.t.Helper()
	root := s.path("harness")
	for i, name := range []string{"one", "two"} {
		out := filepath.Join(root, name, "c1010", "agentperf")
		if err := os.MkdirAll(out, 0o755); err != nil {
			s.t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(runstest.Sample(s.t), "agentperf", "*"))
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

// Compares two runs in the workbench and opens each view of the comparison.
func TestCompareInWorkbench(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	term := s.terminal(100, 30, "--root", s.harnessRuns())
	term.WaitFor("one/c1010")
	term.WaitFor("two/c1010")
	term.Press("c", "down", "c")
	term.WaitFor("the band")
	term.WaitFor("95 % WITHIN RUN")
	for _, step := range []struct{ key, want string }{
		{"t", "requests paired"},
		{"g", "TTFT CDF"},
		{"l", "output speed p50 per request"},
		{"r", "recipe or workload not available"},
		{"r", "IN TOLERANCE"},
		{"a", "Choose another reference"},
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

// Plays back a run that has ended, with the watch command and in the workbench: changes
// the speed, jumps back and closes the playback.
func TestPlaybackOfEndedRun(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	root := s.harnessRuns()
	if err := os.RemoveAll(filepath.Join(root, "two")); err != nil {
		t.Fatal(err)
	}
	ended := "one/c1010"
	term := s.terminal(100, 60, "watch", filepath.Join(root, ended), "--playback", "100", "--interval", "100ms")
	term.WaitFor("state done")
	if code := term.Wait(); code != 0 {
		t.Errorf("watch --playback: exit %d", code)
	}
	files, err := filepath.Glob(filepath.Join(root, ended, "agentperf", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files { // old files: the run is not running any more
		if err := os.Chtimes(f, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	term = s.terminal(100, 30, "--root", root)
	term.WaitFor(ended)
	term.Press("enter")
	term.WaitFor("p play back")
	term.Press("p")
	term.WaitFor("playback 10×")
	term.Press("+", "+", "+")
	term.WaitFor("playback 100×")
	term.WaitFor("2:29 of 2:29")
	term.Press("<")
	term.WaitFor("2:21 of 2:29")
	term.WaitFor("~ so far")
	term.Press("p")
	term.WaitFor("✓ done")
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
